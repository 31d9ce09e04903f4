/* Softmax and its logarithm along rows of n elements, and their gradients: a
 * group a row.  T's functions: of_max, of_fma, of_exp_neg, of_log. */

#include "row_forms.h"

/* peak[0] becomes the greatest of the row. */
#define ROW_PEAK(least_of_all)                                              \
  TN_ITEMS(l, LANES) peak[l] = least_of_all;                                \
  TN_LANES(l, LANES, i, n, peak[l] = of_max(peak[l], from[i]));             \
  TN_TREE_PAIRS(t, u, LANES, peak[t] = of_max(peak[t], peak[u]))

#define SOFTMAX(T, suffix, least_of_all)                                    \
  TN_KERNEL(softmax_##suffix, TN_OUT(T, y), TN_IN(T, x),                    \
            TN_VAL(int64, rows), TN_VAL(int64, n))                          \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(T, peak, LANES);                                              \
    TN_SHARED(T, total, LANES);                                             \
    ROW_BUFFER(T);                                                          \
    TN_GROUPS(g, rows) {                                                    \
      TN_GLOBAL const T *from = x + g * n;                                  \
      TN_GLOBAL T *to = ROW_OUTPUT(y, g);                                   \
      ROW_PEAK(least_of_all);                                               \
      const T high = peak[0];                                               \
      ROW_TOTAL(total, l, i, n, {                                           \
        const T e = of_exp_neg(from[i] - high);                             \
        to[i] = e;                                                          \
        part[l] += e;                                                       \
      });                                                                   \
      const T share = 1 / total[0];                                         \
      TN_LANES(l, LANES, i, n, to[i] *= share);                             \
      ROW_WRITTEN(T, y, g);                                                 \
    }                                                                       \
    ROWS_WRITTEN();                                                         \
  }

#define LOG_SOFTMAX(T, suffix, least_of_all)                                \
  TN_KERNEL(log_softmax_##suffix, TN_OUT(T, y), TN_IN(T, x),                \
            TN_VAL(int64, rows), TN_VAL(int64, n))                          \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(T, peak, LANES);                                              \
    TN_SHARED(T, total, LANES);                                             \
    ROW_BUFFER(T);                                                          \
    TN_GROUPS(g, rows) {                                                    \
      TN_GLOBAL const T *from = x + g * n;                                  \
      TN_GLOBAL T *to = ROW_OUTPUT(y, g);                                   \
      ROW_PEAK(least_of_all);                                               \
      const T high = peak[0];                                               \
      ROW_TOTAL(total, l, i, n, part[l] += of_exp_neg(from[i] - high));     \
      const T whole = of_log(total[0]);                                     \
      TN_LANES(l, LANES, i, n, to[i] = (from[i] - high) - whole);           \
      ROW_WRITTEN(T, y, g);                                                 \
    }                                                                       \
    ROWS_WRITTEN();                                                         \
  }

/* gx from gy and the result y. */
#define BACKWARD(T, name, add, value)                                       \
  TN_KERNEL(name, TN_OUT(T, gx), TN_IN(T, gy), TN_IN(T, y),                 \
            TN_VAL(int64, rows), TN_VAL(int64, n))                          \
  {                                                                         \
    TN_SHARED(T, part, LANES);                                              \
    TN_SHARED(T, total, LANES);                                             \
    ROW_BUFFER(T);                                                          \
    TN_GROUPS(g, rows) {                                                    \
      TN_GLOBAL const T *slope = gy + g * n;                                \
      TN_GLOBAL const T *at = y + g * n;                                    \
      TN_GLOBAL T *to = ROW_OUTPUT(gx, g);                                  \
      ROW_TOTAL(total, l, i, n, add);                                       \
      const T sum = total[0];                                               \
      TN_LANES(l, LANES, i, n, to[i] = value);                              \
      ROW_WRITTEN(T, gx, g);                                                \
    }                                                                       \
    ROWS_WRITTEN();                                                         \
  }
#define SOFTMAX_BACKWARD(T, suffix)                                         \
  BACKWARD(T, softmax_backward_##suffix,                                    \
           part[l] = of_fma(slope[i], at[i], part[l]),                      \
           at[i] * (slope[i] - sum))
#define LOG_SOFTMAX_BACKWARD(T, suffix)                                     \
  BACKWARD(T, log_softmax_backward_##suffix, part[l] += slope[i],           \
           of_fma(-of_exp_neg(at[i]), sum, slope[i]))
