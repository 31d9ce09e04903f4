/* The elementwise kernels of a floating type: REAL, SUFFIX, and OF(name), what
 * the kernel language calls the function `name` for it. */
#include "elementwise_forms.h"

TN_FUNCTION REAL of_add(REAL a, REAL b) { return a + b; }
TN_FUNCTION REAL of_sub(REAL a, REAL b) { return a - b; }
TN_FUNCTION REAL of_mul(REAL a, REAL b) { return a * b; }
TN_FUNCTION REAL of_div(REAL a, REAL b) { return a / b; }
TN_FUNCTION REAL of_neg(REAL a) { return -a; }
TN_FUNCTION REAL of_copy(REAL a) { return a; }
TN_FUNCTION REAL of_relu(REAL a) { return a <= 0 ? 0 : a; }
TN_FUNCTION REAL of_abs(REAL a) { return OF(abs)(a); }
TN_FUNCTION REAL of_sqrt(REAL a) { return OF(sqrt)(a); }

/* Comparisons, so that a NaN on either side wins and the second of two equal
 * numbers is taken. */
TN_FUNCTION REAL of_maximum(REAL a, REAL b)
{
  return a > b || a != a ? a : b;
}
TN_FUNCTION REAL of_minimum(REAL a, REAL b)
{
  return a < b || a != a ? a : b;
}
TN_FUNCTION REAL of_add_scaled(REAL a, REAL b, REAL alpha)
{
  return OF(fma)(alpha, b, a);
}

BINARY(REAL, SUFFIX, add)
BINARY(REAL, SUFFIX, sub)
BINARY(REAL, SUFFIX, mul)
BINARY(REAL, SUFFIX, div)
BINARY(REAL, SUFFIX, maximum)
BINARY(REAL, SUFFIX, minimum)
SCALAR(REAL, SUFFIX, add)
SCALAR(REAL, SUFFIX, mul)
SCALAR(REAL, SUFFIX, div)
SCALAR(REAL, SUFFIX, maximum)
SCALAR(REAL, SUFFIX, minimum)
SCALAR_FIRST(REAL, SUFFIX, sub)
SCALAR_FIRST(REAL, SUFFIX, div)
ADD_SCALED(REAL, SUFFIX)
CLAMP(REAL, SUFFIX)
ARANGE(REAL, SUFFIX)
COMPARE(REAL, SUFFIX)
UNARY(REAL, SUFFIX, neg)
UNARY(REAL, SUFFIX, abs)
UNARY(REAL, SUFFIX, copy)
UNARY(REAL, SUFFIX, relu)
UNARY(REAL, SUFFIX, sqrt)
FILL(REAL, SUFFIX)

#define AXPY(T, suffix) AXPY_(T, suffix)
#define AXPY_(T, suffix)                                                   \
  TN_KERNEL(axpy_##suffix, TN_OUT(T, y), TN_IN(T, a), TN_VAL(T, alpha),    \
            TN_VAL(int64, n))                                              \
  {                                                                        \
    TN_PARALLEL_FOR(i, n)                                                  \
      y[i] = OF(fma)(alpha, a[i], y[i]);                                   \
  }
/* y += alpha a, rounded once. */
AXPY(REAL, SUFFIX)
