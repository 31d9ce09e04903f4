/* What kernels over whole rows share: sums by the rule of docs/numbers.md
 * inside one group, and rows written past the caches.  A row has at most
 * 4096 x 4096 elements. */

#define LANES 64
#define BLOCK 4096

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

/* total[0] becomes the sum of n values: the statement, run for each i < n,
 * adds one to part[l].  part and total are shared arrays of LANES. */
#define ROW_TOTAL(total, l, i, n, ...)                                      \
  TN_ITEMS(l, LANES) total[l] = 0;                                          \
  for (int64 first = 0, turn = 0; first < n;                                \
       first += BLOCK, turn = (turn + 1) & (LANES - 1)) {                   \
    TN_ITEMS(l, LANES) part[l] = 0;                                         \
    TN_LANES(l, LANES, of_block, least(n - first, BLOCK), {                 \
      const int64 i = first + of_block;                                     \
      __VA_ARGS__;                                                          \
    });                                                                     \
    TN_TREE(part, LANES, +);                                                \
    TN_ITEMS(t, 1) total[turn] += part[0];                                  \
  }                                                                         \
  TN_TREE(total, LANES, +)

/* Rows of large outputs are made in a buffer on cpu and copied out without
 * their memory being read.  ROW_BUFFER before the groups, `to` from
 * ROW_OUTPUT, ROW_WRITTEN at a row's end, ROWS_WRITTEN behind the groups. */
#ifdef TN_ON_CPU
#define ROW_BUFFER(T)                                                       \
  T row_buffer[BLOCK] __attribute__((aligned(64)));                         \
  const int32 streamed =                                                    \
    n <= BLOCK && rows * n >= TN_STREAM_MINIMUM / (int64)sizeof(T)
#define ROW_OUTPUT(y, g) (streamed ? row_buffer : (y) + (g) * n)
#define ROW_WRITTEN(T, y, g)                                                \
  if (streamed)                                                             \
  tn_stream_copy_((char *)((y) + (g) * n), (const char *)row_buffer,        \
                  n * (int64)sizeof(T))
#ifdef __SSE2__
#define ROWS_WRITTEN() _mm_sfence()
#else
#define ROWS_WRITTEN()
#endif
#else
#define ROW_BUFFER(T)
#define ROW_OUTPUT(y, g) ((y) + (g) * n)
#define ROW_WRITTEN(T, y, g)
#define ROWS_WRITTEN()
#endif
