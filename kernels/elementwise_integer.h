/* The elementwise kernels of an integer type: INTEGER, UNSIGNED (the unsigned
 * type of its size), SUFFIX, and IS_SIGNED, 1 or 0. Sums and products wrap. */
#include "elementwise_forms.h"

TN_FUNCTION INTEGER of_add(INTEGER a, INTEGER b)
{
  return (INTEGER)((UNSIGNED)a + (UNSIGNED)b);
}
TN_FUNCTION INTEGER of_sub(INTEGER a, INTEGER b)
{
  return (INTEGER)((UNSIGNED)a - (UNSIGNED)b);
}
TN_FUNCTION INTEGER of_mul(INTEGER a, INTEGER b)
{
  return (INTEGER)((UNSIGNED)a * (UNSIGNED)b);
}
TN_FUNCTION INTEGER of_add_scaled(INTEGER a, INTEGER b, INTEGER alpha)
{
  return of_add(a, of_mul(alpha, b));
}
TN_FUNCTION INTEGER of_maximum(INTEGER a, INTEGER b) { return a > b ? a : b; }
TN_FUNCTION INTEGER of_minimum(INTEGER a, INTEGER b) { return a < b ? a : b; }
TN_FUNCTION INTEGER of_neg(INTEGER a) { return of_sub(0, a); }
#if IS_SIGNED
TN_FUNCTION INTEGER of_abs(INTEGER a) { return a < 0 ? of_sub(0, a) : a; }
TN_FUNCTION INTEGER of_sign(INTEGER a) { return (a > 0) - (a < 0); }
#else
TN_FUNCTION INTEGER of_abs(INTEGER a) { return a; }
TN_FUNCTION INTEGER of_sign(INTEGER a) { return a > 0; }
#endif

/* What machines refuse, or do each in their way: a / 0 is 0 and leaves a;
 * the least number / -1 is itself and leaves 0. */
#if IS_SIGNED
TN_FUNCTION INTEGER of_floor_divide(INTEGER a, INTEGER b)
{
  INTEGER divisor = b == 0 || b == -1 ? 1 : b;
  INTEGER whole = a / divisor;
  INTEGER rest = a - whole * divisor;
  whole -= rest != 0 && (rest < 0) != (divisor < 0);
  return b == 0 ? 0 : b == -1 ? of_sub(0, a) : whole;
}
TN_FUNCTION INTEGER of_remainder(INTEGER a, INTEGER b)
{
  INTEGER divisor = b == 0 || b == -1 ? 1 : b;
  INTEGER rest = a % divisor;
  rest += rest != 0 && (rest < 0) != (divisor < 0) ? divisor : 0;
  return b == 0 ? a : rest;
}
#else
TN_FUNCTION INTEGER of_floor_divide(INTEGER a, INTEGER b)
{
  return b == 0 ? 0 : a / (b == 0 ? 1 : b);
}
TN_FUNCTION INTEGER of_remainder(INTEGER a, INTEGER b)
{
  return b == 0 ? a : a % (b == 0 ? 1 : b);
}
#endif

/* A negative power is rounded towards 0: only those of 1 and -1 are not 0. */
TN_FUNCTION INTEGER of_pow(INTEGER a, INTEGER b)
{
  INTEGER result = 1;
#if IS_SIGNED
  if (b < 0)
    return a == 1 ? 1 : a == -1 ? (b & 1 ? -1 : 1) : 0;
#endif
  for (; b; b >>= 1) {
    result = b & 1 ? of_mul(result, a) : result;
    a = of_mul(a, a);
  }
  return result;
}

BINARY(INTEGER, SUFFIX, add)
BINARY(INTEGER, SUFFIX, sub)
BINARY(INTEGER, SUFFIX, mul)
BINARY(INTEGER, SUFFIX, maximum)
BINARY(INTEGER, SUFFIX, minimum)
LONG_BINARY(INTEGER, SUFFIX, floor_divide)
LONG_BINARY(INTEGER, SUFFIX, remainder)
LONG_BINARY(INTEGER, SUFFIX, pow)
SCALAR(INTEGER, SUFFIX, add)
SCALAR(INTEGER, SUFFIX, mul)
SCALAR(INTEGER, SUFFIX, maximum)
SCALAR(INTEGER, SUFFIX, minimum)
SCALAR(INTEGER, SUFFIX, floor_divide)
SCALAR(INTEGER, SUFFIX, remainder)
SCALAR_FIRST(INTEGER, SUFFIX, sub)
ADD_SCALED(INTEGER, SUFFIX)
CLAMP(INTEGER, SUFFIX)
ARANGE(INTEGER, SUFFIX)
COMPARE(INTEGER, SUFFIX)
FLAT_UNARY(INTEGER, SUFFIX, neg)
FLAT_UNARY(INTEGER, SUFFIX, abs)
FLAT_UNARY(INTEGER, SUFFIX, sign)
