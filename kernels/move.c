/* Moving elements, whatever they mean: by size only. i32 serves for f32, and
 * i64 for f64, on devices without double too. */
#include <tenon/kernel_lang.h>

#include "elementwise_forms.h"

/* where: a where the condition is not 0, else b. masked_fill: the value where
 * the mask is not 0, else a. */
#define MOVE(T, suffix)                                                    \
  TN_FUNCTION T same_##suffix(T a) { return a; }                           \
  STRIDED_UNARY_(T, suffix, same_##suffix, copy_)                          \
  FILL(T, suffix)                                                          \
  TN_KERNEL(where_##suffix, TN_OUT(T, y), TN_IN(uint8, condition),         \
            TN_IN(T, a), TN_IN(T, b), TN_VAL(int64, n))                    \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = condition[i] ? a[i] : b[i];                   \
  }                                                                        \
  TN_KERNEL(where_strided_##suffix, TN_OUT(T, y),                          \
            TN_IN(uint8, condition), TN_IN(T, a), TN_IN(T, b), SIZES,      \
            STRIDES(y), STRIDES(c), STRIDES(a), STRIDES(b))                \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const uint8 *o = condition + ROW_OF(c);                    \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      TN_ROW(at)                                                           \
        to[at * y0] = o[at * c0] ? p[at * a0] : q[at * b0];                \
    }                                                                      \
  }                                                                        \
  TN_KERNEL(masked_fill_##suffix, TN_OUT(T, y), TN_IN(T, a),               \
            TN_IN(uint8, mask), TN_VAL(T, value), TN_VAL(int64, n))        \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = mask[i] ? value : a[i];                       \
  }

MOVE(uint8, u8)
MOVE(int32, i32)
MOVE(int64, i64)
