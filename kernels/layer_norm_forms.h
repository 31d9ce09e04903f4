/* Layer norm along rows of n elements and its gradients.  T's functions:
 * of_fma, of_sqrt. */

#include "row_forms.h"

#define COLUMNS 32 /* columns that one group takes */

/* y = (x - mean) scale weight + bias; mean and scale, one a row, are for the
 * gradients. */
#define LAYER_NORM(T, suffix)                                               \
  TN_KERNEL(layer_norm_##suffix, TN_OUT(T, y), TN_OUT(T, mean),             \
            TN_OUT(T, scale), TN_IN(T, x), TN_IN(T, weight),                \
            TN_IN(T, bias), TN_VAL(int64, rows), TN_VAL(int64, n),          \
            TN_VAL(T, eps))                                                 \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(T, total, LANES);                                             \
    TN_SHARED(T, spread, LANES);                                            \
    ROW_BUFFER(T);                                                          \
    TN_GROUPS(g, rows) {                                                    \
      TN_GLOBAL const T *from = x + g * n;                                  \
      TN_GLOBAL T *to = ROW_OUTPUT(y, g);                                   \
      ROW_TOTAL(total, l, i, n, part[l] += from[i]);                        \
      const T middle = total[0] / (T)n;                                     \
      ROW_TOTAL(spread, l, i, n, {                                          \
        const T d = from[i] - middle;                                       \
        part[l] = of_fma(d, d, part[l]);                                    \
      });                                                                   \
      const T factor = 1 / of_sqrt(spread[0] / (T)n + eps);                 \
      TN_LANES(l, LANES, i, n, {                                            \
        const T h = (from[i] - middle) * factor;                            \
        to[i] = of_fma(h, weight[i], bias[i]);                              \
      });                                                                   \
      TN_ITEMS(t, 1) {                                                      \
        mean[g] = middle;                                                   \
        scale[g] = factor;                                                  \
      }                                                                     \
      ROW_WRITTEN(T, y, g);                                                 \
    }                                                                       \
    ROWS_WRITTEN();                                                         \
  }

#define LAYER_NORM_BACKWARD(T, suffix)                                      \
  TN_KERNEL(layer_norm_backward_##suffix, TN_OUT(T, gx), TN_IN(T, gy),      \
            TN_IN(T, x), TN_IN(T, mean), TN_IN(T, scale),                   \
            TN_IN(T, weight), TN_VAL(int64, rows), TN_VAL(int64, n))        \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(T, total, LANES);                                             \
    TN_SHARED(T, along, LANES);                                             \
    ROW_BUFFER(T);                                                          \
    TN_GROUPS(g, rows) {                                                    \
      TN_GLOBAL const T *from = x + g * n;                                  \
      TN_GLOBAL const T *slope = gy + g * n;                                \
      TN_GLOBAL T *to = ROW_OUTPUT(gx, g);                                  \
      const T middle = mean[g], factor = scale[g];                          \
      ROW_TOTAL(total, l, i, n, part[l] += slope[i] * weight[i]);           \
      ROW_TOTAL(along, l, i, n, {                                           \
        const T h = (from[i] - middle) * factor;                            \
        part[l] = of_fma(slope[i] * weight[i], h, part[l]);                 \
      });                                                                   \
      const T level = total[0] / (T)n, tilt = along[0] / (T)n;              \
      TN_LANES(l, LANES, i, n, {                                            \
        const T h = (from[i] - middle) * factor;                            \
        to[i] = of_fma(-h, tilt, slope[i] * weight[i] - level) * factor;    \
      });                                                                   \
      ROW_WRITTEN(T, gx, g);                                                \
    }                                                                       \
    ROWS_WRITTEN();                                                         \
  }

/* The gradients of weight and bias: sums along the rows, of one block of 4096
 * rows each; gw[blocks][n], gb[blocks][n]. */
#define LAYER_NORM_COLUMNS(T, suffix)                                       \
  TN_KERNEL(layer_norm_columns_##suffix, TN_OUT(T, gw), TN_OUT(T, gb),      \
            TN_IN(T, gy), TN_IN(T, x), TN_IN(T, mean), TN_IN(T, scale),     \
            TN_VAL(int64, rows), TN_VAL(int64, n), TN_VAL(int64, blocks))   \
  {                                                                         \
    TN_SHARED(T, along, LANES * COLUMNS);                                   \
    TN_SHARED(T, total, LANES * COLUMNS);                                   \
    const int64 tiles = tn_quotient(n + COLUMNS - 1, COLUMNS);              \
    TN_GROUPS(g, blocks * tiles) {                                          \
      const int64 block = tn_quotient(g, tiles);                            \
      const int64 column = (g - block * tiles) * COLUMNS;                   \
      const int64 first = block * BLOCK;                                    \
      const int32 width = (int32)least(n - column, COLUMNS);                \
      TN_GLOBAL const T *from = x + first * n + column;                     \
      TN_GLOBAL const T *slope = gy + first * n + column;                   \
      TN_ITEMS(t, LANES * COLUMNS) {                                        \
        along[t] = 0;                                                       \
        total[t] = 0;                                                       \
      }                                                                     \
      TN_LANES(l, LANES, i, least(rows - first, BLOCK), {                   \
        const T middle = mean[first + i], factor = scale[first + i];        \
        for (int32 c = 0; c < width; c++) {                                 \
          const T h = (from[i * n + c] - middle) * factor;                  \
          const T s = slope[i * n + c];                                     \
          along[l * COLUMNS + c] = of_fma(s, h, along[l * COLUMNS + c]);    \
          total[l * COLUMNS + c] += s;                                      \
        }                                                                   \
      });                                                                   \
      TN_TREE_PAIRS(t, u, LANES, for (int32 c = 0; c < COLUMNS; c++) {      \
        along[t * COLUMNS + c] += along[u * COLUMNS + c];                   \
        total[t * COLUMNS + c] += total[u * COLUMNS + c];                   \
      });                                                                   \
      TN_ITEMS(t, width) {                                                  \
        gw[block * n + column + t] = along[t];                              \
        gb[block * n + column + t] = total[t];                              \
      }                                                                     \
    }                                                                       \
  }
