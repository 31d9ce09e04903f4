/* The forms of reductions along rows and along columns; a family defines the
 * functions.
 *
 * The order is that of docs/numbers.md: a sum of n <= 4096 values is the lane
 * sum; longer ones are cut into blocks of 4096, whose sums are summed by the
 * same rule.  One launch does one level: `blocks` is ceil(n / 4096), at least
 * 1, and the output has rows x blocks values; launch again with those as the
 * input until blocks is 1.  kernels/README.md has the sequence.
 *
 * T is what is read, R what is computed and written.  take(kept, value) is
 * used for both values and what lanes have kept. */

#define LANES 64
#define BLOCK 4096
#define TILE 32    /* short rows that one group takes */
#define COLUMNS 64 /* columns that one group takes */

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

/* Of two equal numbers the earlier one stays; a NaN comes before all numbers.
 */
#define ORDER_FLOATS(T)                                                     \
  TN_FUNCTION T of_max(T p, T v) { return ((v > p) | (v != v)) ? v : p; }   \
  TN_FUNCTION T of_min(T p, T v) { return ((v < p) | (v != v)) ? v : p; }   \
  TN_FUNCTION int32 beats_max(T v, T p)                                     \
  {                                                                         \
    return (v > p) | ((v != v) & (p == p));                                 \
  }                                                                         \
  TN_FUNCTION int32 beats_min(T v, T p)                                     \
  {                                                                         \
    return (v < p) | ((v != v) & (p == p));                                 \
  }                                                                         \
  TN_FUNCTION int32 ties(T v, T p)                                          \
  {                                                                         \
    return (v == p) | ((v != v) & (p != p));                                \
  }
#define ORDER_INTEGERS(T)                                                   \
  TN_FUNCTION T of_max(T p, T v) { return v > p ? v : p; }                  \
  TN_FUNCTION T of_min(T p, T v) { return v < p ? v : p; }                  \
  TN_FUNCTION int32 beats_max(T v, T p) { return v > p; }                   \
  TN_FUNCTION int32 beats_min(T v, T p) { return v < p; }                   \
  TN_FUNCTION int32 ties(T v, T p) { return v == p; }

/* Along rows: group g works on one block of one row.  stride: from row to
 * row. */
#define ROWS_PARAMETERS(T, R)                                               \
  TN_OUT(R, y), TN_IN(T, x), TN_VAL(int64, rows),                           \
    TN_VAL(int64, n), TN_VAL(int64, stride), TN_VAL(int64, blocks)
#define BLOCK_OF_ROW(T, g)                                                  \
  const int64 row = blocks == 1 ? (g) : tn_quotient((g), blocks);           \
  const int64 first = ((g) - row * blocks) * BLOCK;                         \
  const int64 length = least(n - first, BLOCK);                             \
  TN_GLOBAL const T *from = x + row * stride + first

#define REDUCE_ROWS(name, T, R, start, take, result, ...)                   \
  TN_KERNEL(name, __VA_ARGS__)                                              \
  {                                                                         \
    TN_SHARED(R, part, LANES);                                              \
    TN_GROUPS(g, rows * blocks) {                                           \
      BLOCK_OF_ROW(T, g);                                                   \
      TN_ITEMS(l, LANES) part[l] = start;                                   \
      TN_LANES(l, LANES, i, length, part[l] = take(part[l], from[i]));      \
      TN_TREE_PAIRS(t, u, LANES, part[t] = take(part[t], part[u]));         \
      TN_ITEMS(t, 1) y[g] = result;                                         \
    }                                                                       \
  }

/* Along short rows, n <= 64, one block each: a group takes 32 rows, whose
 * lanes lie side by side.  Lanes from n on would only add zeros. */
#define SHORT_PARAMETERS(T, R)                                              \
  TN_OUT(R, y), TN_IN(T, x), TN_VAL(int64, rows),                           \
    TN_VAL(int64, n), TN_VAL(int64, stride)
/* The bound, not a branch, leaves a step out: PoCL copies what follows a
 * branch that waits, and took half a minute for six of them. */
#define FOLD_SHORT(half, take)                                              \
  TN_ITEMS(t, (least(width, 2 * (half)) - (half)) * TILE)                   \
    part[t] = take(part[t], part[t + (half)*TILE]);

#define REDUCE_SHORT(name, T, R, start, take, result, ...)                  \
  TN_KERNEL(name, __VA_ARGS__)                                              \
  {                                                                         \
    TN_SHARED(R, part, LANES * TILE);                                       \
    TN_GROUPS(g, tn_quotient(rows + TILE - 1, TILE)) {                      \
      const int32 width = (int32)n;                                         \
      const int32 here = (int32)least(rows - g * TILE, TILE);               \
      TN_GLOBAL const T *from = x + g * TILE * stride;                      \
      TN_ITEMS(r, here) {                                                   \
        for (int32 c = 0; c < width; c++)                                   \
          part[c * TILE + r] = take(start, from[r * stride + c]);           \
      }                                                                     \
      FOLD_SHORT(32, take)                                                  \
      FOLD_SHORT(16, take)                                                  \
      FOLD_SHORT(8, take)                                                   \
      FOLD_SHORT(4, take)                                                   \
      FOLD_SHORT(2, take)                                                   \
      FOLD_SHORT(1, take)                                                   \
      TN_ITEMS(t, here) y[g * TILE + t] = result;                           \
    }                                                                       \
  }

/* Along columns: x[outer][n][inner], the inner dimension contiguous; stride
 * from one outer to the next, step along n.  y[outer][blocks][inner].  A
 * group takes one block of 64 columns. */
#define COLUMNS_PARAMETERS(T, R)                                            \
  TN_OUT(R, y), TN_IN(T, x), TN_VAL(int64, outer),                          \
    TN_VAL(int64, n), TN_VAL(int64, inner), TN_VAL(int64, stride),          \
    TN_VAL(int64, step), TN_VAL(int64, blocks)
#ifdef TN_ON_CPU
#include "column_strips.h"
#else
#define BLOCK_OF_COLUMNS(T, g)                                              \
  const int64 above = tn_quotient((g), tiles);                              \
  const int64 column = ((g) - above * tiles) * COLUMNS;                     \
  const int64 row = tn_quotient(above, blocks);                             \
  const int64 first = (above - row * blocks) * BLOCK;                       \
  const int64 length = least(n - first, BLOCK);                             \
  const int32 width = (int32)least(inner - column, COLUMNS);                \
  TN_GLOBAL const T *from = x + row * stride + first * step + column

#define REDUCE_COLUMNS(name, T, R, start, take, result, ...)                \
  TN_KERNEL(name, __VA_ARGS__)                                              \
  {                                                                         \
    TN_SHARED(R, part, LANES * COLUMNS);                                    \
    const int64 tiles = tn_quotient(inner + COLUMNS - 1, COLUMNS);          \
    TN_GROUPS(g, outer * blocks * tiles) {                                  \
      BLOCK_OF_COLUMNS(T, g);                                               \
      TN_ITEMS(t, LANES * COLUMNS) part[t] = start;                         \
      if (width == COLUMNS)                                                 \
        TN_LANES(l, LANES, i, length,                                       \
                 for (int32 c = 0; c < COLUMNS; c++) part[l * COLUMNS + c]  \
                   = take(part[l * COLUMNS + c], from[i * step + c]));      \
      else                                                                  \
        TN_LANES(l, LANES, i, length,                                       \
                 for (int32 c = 0; c < width; c++) part[l * COLUMNS + c]    \
                   = take(part[l * COLUMNS + c], from[i * step + c]));      \
      TN_TREE_PAIRS(t, u, LANES,                                            \
                    for (int32 c = 0; c < COLUMNS; c++) part[t * COLUMNS + c] \
                      = take(part[t * COLUMNS + c], part[u * COLUMNS + c])); \
      TN_ITEMS(t, width) y[above * inner + column + t] = result;            \
    }                                                                       \
  }
#endif

/* Where the greatest (smallest) is: the lowest index of equal ones.
 *
 * The second form reads what the first one wrote for blocks > 1: values x and
 * their indices in the row. */
#define ARG_ROWS(name, T, start, beats, index, ...)                         \
  TN_KERNEL(name, __VA_ARGS__)                                              \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(int32, place, LANES);                                         \
    TN_GROUPS(g, rows * blocks) {                                           \
      BLOCK_OF_ROW(T, g);                                                   \
      TN_ITEMS(l, LANES) {                                                  \
        part[l] = start;                                                    \
        place[l] = l < length ? l : 0x7fffffff;                             \
      }                                                                     \
      TN_LANES(l, LANES, i, length, {                                       \
        const int32 better = beats(from[i], part[l]);                       \
        place[l] = better ? (int32)i : place[l];                            \
        part[l] = better ? from[i] : part[l];                               \
      });                                                                   \
      TN_TREE_PAIRS(t, u, LANES, {                                          \
        const int32 better =                                                \
          beats(part[u], part[t]) |                                         \
          (ties(part[u], part[t]) & (place[u] < place[t]));                 \
        place[t] = better ? place[u] : place[t];                            \
        part[t] = better ? part[u] : part[t];                               \
      });                                                                   \
      TN_ITEMS(t, 1) {                                                      \
        y[g] = part[0];                                                     \
        at[g] = index;                                                      \
      }                                                                     \
    }                                                                       \
  }
#define ARG_PARAMETERS(T) TN_OUT(int64, at), ROWS_PARAMETERS(T, T)
