/* The shape of a product's sums, and what all its kernels use.  A family
 * defines REAL, ZERO, FMA and NAMED. */
#define CHUNK 1024
#define LANES 64
#define BLOCK 4096
#define COLUMNS 64
#define PIECE 64 /* elements along k that one item packs */

/* REAL and NAMED are replaced on the way, so that texts have the words. */
#define KERNEL(name, ...) TN_KERNEL(name, __VA_ARGS__)

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }
TN_FUNCTION int64 parts(int64 n, int64 size)
{
  return tn_quotient(n + size - 1, size);
}

/* The lane, of 2^depth, that comes as number `turn` when the folding in
 * halves is done pairwise from the left: its bits in reverse. */
TN_FUNCTION int64 lane_of_turn(int64 turn, int32 depth)
{
  int64 lane = 0;
  for (int32 d = 0; d < depth; d++)
    lane |= ((turn >> d) & 1) << (depth - 1 - d);
  return lane;
}

/* SPREAD_TASKS(i, n, items): as TN_TASKS(i, n), for tasks that are larger on
 * cpu than what `items` of a launch are meant for: a range of items is as much
 * of the tasks as it is of the items. */
#ifdef TN_ON_CPU
TN_FUNCTION tn_range spread(tn_range range, int64 tasks, int64 items)
{
  const int64 each = tasks > 0 && items > tasks ? items / tasks : 1;
  const tn_range own = { least(range.begin / each, tasks),
                         least(range.end / each, tasks) };
  return own;
}
#define SPREAD_TASKS(i, n, items)                                      \
  for (tn_range own_ = spread(tn_range_, n, items); own_.begin < own_.end; \
       own_.begin = own_.end)                                          \
    for (int64 i = own_.begin; i < own_.end; i++)
#else
#define SPREAD_TASKS(i, n, items) TN_TASKS(i, n)
#endif
