/* Conversion of one type to another; a family says how, by functions
 * TO_of_FROM. One form: cast_FROM_TO(y, a, sizes, strides), as in
 * elementwise_forms.h. */
#include "elementwise_forms.h"

#define CAST(from, F, to_type, T)                                          \
  TN_KERNEL(cast_##from##_##to_type, TN_OUT(T, y), TN_IN(F, a), SIZES,     \
            STRIDES(y), STRIDES(a))                                        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const F *p = a + ROW_OF(a);                                \
      if (y0 == 1 && a0 == 1)                                              \
        TN_ROW(c) to[c] = to_type##_of_##from(p[c]);                       \
      else                                                                 \
        TN_ROW(c) to[c * y0] = to_type##_of_##from(p[c * a0]);             \
    }                                                                      \
  }

/* A conversion that the language has right: integers wrap, what has no exact
 * value is rounded to the nearest. */
#define PLAIN_CAST(from, F, to_type, T)                                    \
  TN_FUNCTION T to_type##_of_##from(F a) { return (T)a; }                  \
  CAST(from, F, to_type, T)
#define TRUTH_CAST(from, F)                                                \
  TN_FUNCTION uint8 bool_of_##from(F a) { return a != 0; }                 \
  CAST(from, F, bool, uint8)

/* A floating number, cut to an integer: the nearest end of the range for what
 * is outside [low, high), 0 for a NaN. */
#define CUT_CAST(from, F, to_type, T, low, high, least, greatest)          \
  TN_FUNCTION T to_type##_of_##from(F a)                                   \
  {                                                                        \
    int32 inside = a >= (F)low && a < (F)high;                             \
    T cut = (T)(inside ? a : (F)0);                                        \
    cut = a >= (F)high ? greatest : cut;                                   \
    return a < (F)low ? least : cut;                                       \
  }                                                                        \
  CAST(from, F, to_type, T)
#define CUT_CASTS(from, F)                                                 \
  CUT_CAST(from, F, i64, int64, -9223372036854775808.0f,                   \
           9223372036854775808.0f, (int64)0x8000000000000000u,             \
           (int64)0x7fffffffffffffffu)                                     \
  CUT_CAST(from, F, i32, int32, -2147483648.0f, 2147483648.0f,             \
           (int32)0x80000000u, (int32)0x7fffffffu)                         \
  CUT_CAST(from, F, u8, uint8, 0.0f, 256.0f, 0, 255)
