/* Running sums along the middle of [outer][n][inner], everything without
 * gaps.  Blocks of 4096 are summed in order from 0; what came before them is
 * added afterwards: cumsum, then for more than one block cumsum_offsets and
 * cumsum_add.  blocks is ceil(n / 4096); offset is [outer][blocks][inner].
 * backwards is 1 for sums that run from the end to the beginning, else 0.
 * T's function: of_sum. */

#define BLOCK 4096

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

#define PARAMETERS                                                          \
  TN_VAL(int64, outer), TN_VAL(int64, n), TN_VAL(int64, inner),             \
    TN_VAL(int64, blocks), TN_VAL(int32, backwards)
/* Element i of a row, as sums come to it. */
#define ROW_AT(i) (row * n + (backwards ? n - 1 - (i) : (i)))
/* The part of a column that item `at` has to do with: `length` elements,
 * `step` apart, from `start` on. */
#define BLOCK_OF_COLUMN(at)                                                 \
  const int64 above = tn_quotient((at), inner);                             \
  const int64 row = tn_quotient(above, blocks);                             \
  const int64 first = (above - row * blocks) * BLOCK;                       \
  const int64 length = least(n - first, BLOCK);                             \
  const int64 step = backwards ? -inner : inner;                            \
  const int64 start = ROW_AT(first) * inner + ((at) - above * inner)

#define CUMSUM(T, suffix)                                                   \
  TN_KERNEL(cumsum_##suffix, TN_OUT(T, y), TN_IN(T, x), PARAMETERS)         \
  {                                                                         \
    TN_TASKS(at, outer * blocks * inner) {                                  \
      BLOCK_OF_COLUMN(at);                                                  \
      T sum = 0;                                                            \
      for (int64 i = 0; i < length; i++) {                                  \
        sum = of_sum(sum, x[start + i * step]);                             \
        y[start + i * step] = sum;                                          \
      }                                                                     \
    }                                                                       \
  }                                                                         \
  TN_KERNEL(cumsum_offsets_##suffix, TN_OUT(T, offset), TN_IN(T, y),        \
            PARAMETERS)                                                     \
  {                                                                         \
    TN_TASKS(at, outer * inner) {                                           \
      const int64 row = tn_quotient(at, inner);                             \
      const int64 column = at - row * inner;                                \
      T sum = 0;                                                            \
      for (int64 b = 0; b < blocks; b++) {                                  \
        const int64 last = least(n, (b + 1) * BLOCK) - 1;                   \
        offset[(row * blocks + b) * inner + column] = sum;                  \
        sum = of_sum(sum, y[ROW_AT(last) * inner + column]);                \
      }                                                                     \
    }                                                                       \
  }                                                                         \
  TN_KERNEL(cumsum_add_##suffix, TN_OUT(T, y), TN_IN(T, offset),            \
            PARAMETERS)                                                     \
  {                                                                         \
    TN_TASKS(at, outer * blocks * inner) {                                  \
      BLOCK_OF_COLUMN(at);                                                  \
      for (int64 i = 0; i < length; i++)                                    \
        y[start + i * step] = of_sum(offset[at], y[start + i * step]);      \
    }                                                                       \
  }
