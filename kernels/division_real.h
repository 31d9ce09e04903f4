/* Division that rounds down, what it leaves, and powers, of a floating type:
 * REAL, SUFFIX and OF(name) as in elementwise_real.h. */
#include "elementwise_forms.h"

/* What is left of a has the sign of b. */
TN_FUNCTION REAL of_remainder(REAL a, REAL b)
{
  REAL rest = OF(fmod)(a, b);
  return rest != 0 && (rest < 0) != (b < 0) ? rest + b : rest;
}

/* As Python's: the remainder is taken away first, so that the quotient is a
 * whole number but for rounding. */
TN_FUNCTION REAL of_floor_divide(REAL a, REAL b)
{
  REAL rest = OF(fmod)(a, b);
  REAL whole = (a - rest) / b;
  whole = rest != 0 && (rest < 0) != (b < 0) ? whole - 1 : whole;
  REAL down = OF(floor)(whole);
  down = whole - down > (REAL)0.5 ? down + 1 : down;
  down = whole == 0 ? OF(with_sign)((REAL)0, a / b) : down;
  return b == 0 ? a / b : down;
}
TN_FUNCTION REAL of_pow(REAL a, REAL b)
{
  return OF(pow)(a, b);
}

LONG_BINARY(REAL, SUFFIX, floor_divide)
LONG_BINARY(REAL, SUFFIX, remainder)
LONG_BINARY(REAL, SUFFIX, pow)
