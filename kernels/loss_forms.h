/* The loss of classes: x has a row of `classes` logarithms of probabilities
 * for each target.  Targets equal to `ignored` do not count; others outside
 * [0, classes) give a NaN. */

/* y[r] = -x[r][target[r]], and kept[r] 1, or both 0 for an ignored target. */
#define NLL(T, suffix, nan)                                                 \
  TN_KERNEL(nll_##suffix, TN_OUT(T, y), TN_OUT(T, kept), TN_IN(T, x),       \
            TN_IN(int64, target), TN_VAL(int64, rows),                      \
            TN_VAL(int64, classes), TN_VAL(int64, ignored))                 \
  {                                                                         \
    TN_TASKS(r, rows) {                                                     \
      const int64 t = target[r];                                            \
      const int32 counts = t != ignored;                                    \
      if (counts && t >= 0 && t < classes)                                  \
        y[r] = -x[r * classes + t];                                         \
      else                                                                  \
        y[r] = counts ? nan : 0;                                            \
      kept[r] = (T)counts;                                                  \
    }                                                                       \
  }

/* gx is -gy at the targets, 0 elsewhere; gy[r step]. */
#define NLL_BACKWARD(T, suffix, nan)                                        \
  TN_KERNEL(nll_backward_##suffix, TN_OUT(T, gx), TN_IN(T, gy),             \
            TN_IN(int64, target), TN_VAL(int64, rows),                      \
            TN_VAL(int64, classes), TN_VAL(int64, ignored),                 \
            TN_VAL(int64, step))                                            \
  {                                                                         \
    TN_ROWS(r, rows, classes) {                                             \
      const int64 t = target[r];                                            \
      const int32 counts = t != ignored;                                    \
      const T slope = t >= 0 && t < classes ? -gy[r * step] : nan;          \
      TN_GLOBAL T *to = gx + r * classes;                                   \
      TN_ROW(c) to[c] = c == t && counts ? slope : 0;                       \
    }                                                                       \
  }
