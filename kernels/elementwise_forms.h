/* The forms of elementwise kernels; a family defines the functions.
 *
 * Each operation has a contiguous kernel NAME_SUFFIX(y, operands, n) and one
 * over up to four dimensions, NAME_strided_SUFFIX(y, operands, sizes n3 n2 n1
 * n0, then for y and each operand strides in elements, outermost first).
 * Dimensions beyond what is needed have size 1. */

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

#define UNARY(T, suffix, name)                                             \
  TN_KERNEL(name##_##suffix, TN_OUT(T, y), TN_IN(T, a), TN_VAL(int64, n))  \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = of_##name(a[i]);                              \
  }                                                                        \
  TN_KERNEL(name##_strided_##suffix, TN_OUT(T, y), TN_IN(T, a), SIZES,     \
            STRIDES(y), STRIDES(a))                                        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *from = a + ROW_OF(a);                             \
      if (y0 == 1 && a0 == 1)                                              \
        TN_ROW(c) to[c] = of_##name(from[c]);                              \
      else                                                                 \
        TN_ROW(c) to[c * y0] = of_##name(from[c * a0]);                    \
    }                                                                      \
  }

#define BINARY(T, suffix, name)                                            \
  TN_KERNEL(name##_##suffix, TN_OUT(T, y), TN_IN(T, a), TN_IN(T, b),       \
            TN_VAL(int64, n))                                              \
  {                                                                        \
    TN_STREAM_FOR(i, n, T, y)                                              \
      TN_STREAMED(T, y, i) = of_##name(a[i], b[i]);                        \
  }                                                                        \
  TN_KERNEL(name##_strided_##suffix, TN_OUT(T, y), TN_IN(T, a),            \
            TN_IN(T, b), SIZES, STRIDES(y), STRIDES(a), STRIDES(b))        \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *p = a + ROW_OF(a);                                \
      TN_GLOBAL const T *q = b + ROW_OF(b);                                \
      if (y0 == 1 && a0 == 1 && b0 == 1)                                   \
        TN_ROW(c) to[c] = of_##name(p[c], q[c]);                           \
      else if (y0 == 1 && a0 == 1 && b0 == 0) {                            \
        const T same = *q;                                                 \
        TN_ROW(c) to[c] = of_##name(p[c], same);                           \
      } else                                                               \
        TN_ROW(c) to[c * y0] = of_##name(p[c * a0], q[c * b0]);            \
    }                                                                      \
  }

#define FILL(T, suffix)                                                    \
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

/* What every type has.  The greater and the smaller are comparisons, so that
 * a NaN on either side wins and the second of two equal numbers is taken. */
#define ARITHMETIC(T)                                                       \
  TN_FUNCTION T of_add(T a, T b) { return a + b; }                          \
  TN_FUNCTION T of_sub(T a, T b) { return a - b; }                          \
  TN_FUNCTION T of_mul(T a, T b) { return a * b; }                          \
  TN_FUNCTION T of_div(T a, T b) { return a / b; }                          \
  TN_FUNCTION T of_maximum(T a, T b) { return a > b || a != a ? a : b; }    \
  TN_FUNCTION T of_minimum(T a, T b) { return a < b || a != a ? a : b; }    \
  TN_FUNCTION T of_neg(T a) { return -a; }                                  \
  TN_FUNCTION T of_copy(T a) { return a; }                                  \
  TN_FUNCTION T of_relu(T a) { return a <= 0 ? 0 : a; }
