/* The forms of elementwise kernels; a family defines the functions of_NAME.
 *
 * An operation has a contiguous kernel NAME_SUFFIX(y, operands, n); the most
 * used ones have one over up to four dimensions too, NAME_strided_SUFFIX(y,
 * operands, sizes n3 n2 n1 n0, then for y and each operand strides in
 * elements, outermost first). Dimensions beyond what is needed have size 1. */

/* Where row r of n1 n2 n3 rows begins, from strides named NAME1 ... NAME3. */
#define ROW_OF(name) (i1 * name##1 + i2 * name##2 + i3 * name##3)
#define ROW_INDICES(r)                     \
  const int64 rest = tn_quotient(r, n1);   \
  const int64 i1 = r - rest * n1;          \
  const int64 i3 = tn_quotient(rest, n2);  \
  const int64 i2 = rest - i3 * n2
#define SIZES \
  TN_VAL(int64, n3), TN_VAL(int64, n2), TN_VAL(int64, n1), TN_VAL(int64, n0)
#define STRIDES(name)                           \
  TN_VAL(int64, name##3), TN_VAL(int64, name##2), \
  TN_VAL(int64, name##1), TN_VAL(int64, name##0)

/* Each macro goes through another, so that T and suffix may be macros. Names
 * may not: OpenCL C has macros exp, log and so on; they are joined at once, to
 * of_NAME, the function, and NAME_, how the kernel's name begins. */

/* NAME_SUFFIX(y, a, n), the result being of type Y. */
#define FLAT_UNARY_TO(Y, T, suffix, name)                                  \
  FLAT_UNARY_(Y, T, suffix, of_##name, name##_)
#define FLAT_UNARY(T, suffix, name)                                        \
  FLAT_UNARY_(T, T, suffix, of_##name, name##_)
#define FLAT_UNARY_(Y, T, suffix, function, name)                          \
  TN_KERNEL(name##suffix, TN_OUT(Y, y), TN_IN(T, a), TN_VAL(int64, n))     \
  {                                                                        \
    TN_STREAM_FOR(i, n, Y, y)                                              \
      TN_STREAMED(Y, y, i) = function(a[i]);                               \
  }

#define STRIDED_UNARY_(T, suffix, function, name)                          \
  TN_KERNEL(name##strided_##suffix, TN_OUT(T, y), TN_IN(T, a), SIZES,     \
            STRIDES(y), STRIDES(a))                                        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *from = a + ROW_OF(a);                             \
      if (y0 == 1 && a0 == 1)                                              \
        TN_ROW(c) to[c] = function(from[c]);                               \
      else                                                                 \
        TN_ROW(c) to[c * y0] = function(from[c * a0]);                     \
    }                                                                      \
  }

#define UNARY(T, suffix, name) UNARY_(T, suffix, of_##name, name##_)
#define UNARY_(T, suffix, function, name)    \
  FLAT_UNARY_(T, T, suffix, function, name)  \
  STRIDED_UNARY_(T, suffix, function, name)

/* NAME_SUFFIX(y, a, b, n) */
#define FLAT_BINARY(T, suffix, name)                                       \
  FLAT_BINARY_(T, suffix, of_##name, name##_)
#define FLAT_BINARY_(T, suffix, function, name)                            \
  TN_KERNEL(name##suffix, TN_OUT(T, y), TN_IN(T, a), TN_IN(T, b),       \
            TN_VAL(int64, n))                                              \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = function(a[i], b[i]);                         \
  }

#define STRIDED_BINARY_(T, suffix, function, name)                         \
  TN_KERNEL(name##strided_##suffix, TN_OUT(T, y), TN_IN(T, a),            \
            TN_IN(T, b), SIZES, STRIDES(y), STRIDES(a), STRIDES(b))        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      if (y0 == 1 && a0 == 1 && b0 == 1)                                   \
        TN_ROW(c) to[c] = function(p[c], q[c]);                            \
      else if (y0 == 1 && a0 == 1 && b0 == 0) {                            \
        const T same = *q;                                                 \
        TN_ROW(c) to[c] = function(p[c], same);                            \
      } else                                                               \
        TN_ROW(c) to[c * y0] = function(p[c * a0], q[c * b0]);             \
    }                                                                      \
  }

#define BINARY(T, suffix, name) BINARY_(T, suffix, of_##name, name##_)
#define BINARY_(T, suffix, function, name)  \
  FLAT_BINARY_(T, suffix, function, name)   \
  STRIDED_BINARY_(T, suffix, function, name)

/* For long functions: a compiler meets them twice, not four times. */
#define LONG_BINARY(T, suffix, name)                                       \
  LONG_BINARY_(T, suffix, of_##name, name##_)
#define LONG_BINARY_(T, suffix, function, name)                            \
  FLAT_BINARY_(T, suffix, function, name)                                  \
  TN_KERNEL(name##strided_##suffix, TN_OUT(T, y), TN_IN(T, a),            \
            TN_IN(T, b), SIZES, STRIDES(y), STRIDES(a), STRIDES(b))        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      TN_ROW(c) to[c * y0] = function(p[c * a0], q[c * b0]);               \
    }                                                                      \
  }

/* NAME_scalar_SUFFIX(y, a, s, n), and scalar_NAME_SUFFIX(y, a, s, n), which
 * takes s first. */
#define SCALAR(T, suffix, name)                                            \
  SCALAR_(T, suffix, of_##name, name##_)
#define SCALAR_(T, suffix, function, name)                                 \
  TN_KERNEL(name##scalar_##suffix, TN_OUT(T, y), TN_IN(T, a),             \
            TN_VAL(T, s), TN_VAL(int64, n))                                \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = function(a[i], s);                            \
  }
#define SCALAR_FIRST(T, suffix, name)                                      \
  SCALAR_FIRST_(T, suffix, of_##name, scalar_##name##_)
#define SCALAR_FIRST_(T, suffix, function, name)                           \
  TN_KERNEL(name##suffix, TN_OUT(T, y), TN_IN(T, a),           \
            TN_VAL(T, s), TN_VAL(int64, n))                                \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = function(s, a[i]);                            \
  }

/* add_scaled: a + alpha b */
#define ADD_SCALED(T, suffix) ADD_SCALED_(T, suffix)
#define ADD_SCALED_(T, suffix)                                             \
  TN_KERNEL(add_scaled_##suffix, TN_OUT(T, y), TN_IN(T, a), TN_IN(T, b),   \
            TN_VAL(T, alpha), TN_VAL(int64, n))                            \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = of_add_scaled(a[i], b[i], alpha);             \
  }                                                                        \
  TN_KERNEL(add_scaled_strided_##suffix, TN_OUT(T, y), TN_IN(T, a),        \
            TN_IN(T, b), TN_VAL(T, alpha), SIZES, STRIDES(y), STRIDES(a),  \
            STRIDES(b))                                                    \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      if (y0 == 1 && a0 == 1 && b0 == 1)                                   \
        TN_ROW(c) to[c] = of_add_scaled(p[c], q[c], alpha);                \
      else                                                                 \
        TN_ROW(c) to[c * y0] = of_add_scaled(p[c * a0], q[c * b0], alpha); \
    }                                                                      \
  }

/* clamp_SUFFIX(y, a, low, high, n): the smaller of high and the greater of a
 * and low. */
#define CLAMP(T, suffix) CLAMP_(T, suffix)
#define CLAMP_(T, suffix)                                                  \
  TN_KERNEL(clamp_##suffix, TN_OUT(T, y), TN_IN(T, a), TN_VAL(T, low),     \
            TN_VAL(T, high), TN_VAL(int64, n))                             \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = of_minimum(of_maximum(a[i], low), high);      \
  }

/* arange_SUFFIX(y, start, step, n): start + i step. */
#define ARANGE(T, suffix) ARANGE_(T, suffix)
#define ARANGE_(T, suffix)                                                 \
  TN_KERNEL(arange_##suffix, TN_OUT(T, y), TN_VAL(T, start),               \
            TN_VAL(T, step), TN_VAL(int64, n))                             \
  {                                                                        \
    TN_PARALLEL_FOR(i, n)                                                  \
      y[i] = of_add_scaled(start, (T)i, step);                             \
  }

/* All six comparisons: the result is 1 if a < b and the lowest bit of which
 * is set, or a = b and the next one is, or a > b and the third; else 0; and
 * the other way round if the fourth is set. */
#define COMPARED(T)                                                        \
  TN_FUNCTION uint8 of_compare(T a, T b, int32 which)                      \
  {                                                                        \
    int32 holds = ((a < b) & which) | ((a == b) & which >> 1) |            \
                  ((a > b) & which >> 2);                                  \
    return (uint8)((holds ^ which >> 3) & 1);                              \
  }
#define COMPARE(T, suffix) COMPARE_(T, suffix)
#define COMPARE_(T, suffix)                                                \
  COMPARED(T)                                                              \
  TN_KERNEL(compare_##suffix, TN_OUT(uint8, y), TN_IN(T, a), TN_IN(T, b),  \
            TN_VAL(int32, which), TN_VAL(int64, n))                        \
  {                                                                        \
    TN_PARALLEL_FOR(i, n)                                                  \
      y[i] = of_compare(a[i], b[i], which);                                \
  }                                                                        \
  TN_KERNEL(compare_scalar_##suffix, TN_OUT(uint8, y), TN_IN(T, a),        \
            TN_VAL(T, s), TN_VAL(int32, which), TN_VAL(int64, n))          \
  {                                                                        \
    TN_PARALLEL_FOR(i, n)                                                  \
      y[i] = of_compare(a[i], s, which);                                   \
  }                                                                        \
  TN_KERNEL(compare_strided_##suffix, TN_OUT(uint8, y), TN_IN(T, a),       \
            TN_IN(T, b), TN_VAL(int32, which), SIZES, STRIDES(y),          \
            STRIDES(a), STRIDES(b))                                        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL uint8 *to = y + ROW_OF(y);                                 \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      if (y0 == 1 && a0 == 1 && b0 == 1)                                   \
        TN_ROW(c) to[c] = of_compare(p[c], q[c], which);                   \
      else                                                                 \
        TN_ROW(c) to[c * y0] = of_compare(p[c * a0], q[c * b0], which);    \
    }                                                                      \
  }

#define FILL(T, suffix) FILL_(T, suffix)
#define FILL_(T, suffix)                                                   \
  TN_KERNEL(fill_##suffix, TN_OUT(T, y), TN_VAL(T, value),                 \
            TN_VAL(int64, n))                                              \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = value;                                        \
  }                                                                        \
  TN_KERNEL(fill_strided_##suffix, TN_OUT(T, y), TN_VAL(T, value), SIZES,  \
            STRIDES(y))                                                    \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_ROW(c) to[c * y0] = value;                                        \
    }                                                                      \
  }
