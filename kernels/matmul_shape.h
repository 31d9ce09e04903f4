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
