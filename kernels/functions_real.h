/* The functions of a floating type: REAL, SUFFIX and OF(name) as in
 * elementwise_real.h; and their gradients, where one kernel does better than
 * several. */
#include "elementwise_forms.h"

TN_FUNCTION REAL of_exp(REAL a) { return OF(exp)(a); }
TN_FUNCTION REAL of_exp_neg(REAL a) { return OF(exp_neg)(a); }
TN_FUNCTION REAL of_expm1(REAL a) { return OF(expm1)(a); }
TN_FUNCTION REAL of_log(REAL a) { return OF(log)(a); }
TN_FUNCTION REAL of_log1p(REAL a) { return OF(log1p)(a); }
TN_FUNCTION REAL of_rsqrt(REAL a) { return (REAL)1 / OF(sqrt)(a); }
TN_FUNCTION REAL of_sin(REAL a) { return OF(sin)(a); }
TN_FUNCTION REAL of_cos(REAL a) { return OF(cos)(a); }
TN_FUNCTION REAL of_tan(REAL a) { return OF(tan)(a); }
TN_FUNCTION REAL of_tanh(REAL a) { return OF(tanh)(a); }
TN_FUNCTION REAL of_erf(REAL a) { return OF(erf)(a); }
TN_FUNCTION REAL of_floor(REAL a) { return OF(floor)(a); }
TN_FUNCTION REAL of_ceil(REAL a) { return OF(ceil)(a); }
TN_FUNCTION REAL of_round(REAL a) { return OF(round)(a); }
TN_FUNCTION REAL of_reciprocal(REAL a) { return (REAL)1 / a; }
TN_FUNCTION REAL of_sign(REAL a) { return (REAL)((a > 0) - (a < 0)); }
TN_FUNCTION uint8 of_isnan(REAL a) { return a != a; }

TN_FUNCTION REAL of_sigmoid(REAL a)
{
  REAL e = OF(exp_neg)(-OF(abs)(a));
  return (a < 0 ? e : (REAL)1) / (1 + e);
}
TN_FUNCTION REAL of_silu(REAL a)
{
  return a * of_sigmoid(a);
}

/* a times the share of a normal distribution below a: exactly, and by tanh. */
#define ROOT_HALF ((REAL)0.70710678118654752)
#define ROOT_TWO_OVER_PI ((REAL)0.79788456080286536)
#define CUBE ((REAL)0.044715)
TN_FUNCTION REAL of_gelu(REAL a)
{
  return (REAL)0.5 * a * (1 + OF(erf)(a * ROOT_HALF));
}
TN_FUNCTION REAL of_gelu_tanh_inner(REAL a)
{
  return ROOT_TWO_OVER_PI * OF(fma)(CUBE * (a * a), a, a);
}
TN_FUNCTION REAL of_gelu_tanh(REAL a)
{
  return (REAL)0.5 * a * (1 + OF(tanh)(of_gelu_tanh_inner(a)));
}

FLAT_UNARY(REAL, SUFFIX, exp)
FLAT_UNARY(REAL, SUFFIX, exp_neg)
FLAT_UNARY(REAL, SUFFIX, expm1)
FLAT_UNARY(REAL, SUFFIX, log)
FLAT_UNARY(REAL, SUFFIX, log1p)
FLAT_UNARY(REAL, SUFFIX, rsqrt)
FLAT_UNARY(REAL, SUFFIX, sin)
FLAT_UNARY(REAL, SUFFIX, cos)
FLAT_UNARY(REAL, SUFFIX, tan)
FLAT_UNARY(REAL, SUFFIX, tanh)
FLAT_UNARY(REAL, SUFFIX, erf)
FLAT_UNARY(REAL, SUFFIX, floor)
FLAT_UNARY(REAL, SUFFIX, ceil)
FLAT_UNARY(REAL, SUFFIX, round)
FLAT_UNARY(REAL, SUFFIX, reciprocal)
FLAT_UNARY(REAL, SUFFIX, sign)
FLAT_UNARY_TO(uint8, REAL, SUFFIX, isnan)
FLAT_UNARY(REAL, SUFFIX, sigmoid)
FLAT_UNARY(REAL, SUFFIX, silu)
FLAT_UNARY(REAL, SUFFIX, gelu)
FLAT_UNARY(REAL, SUFFIX, gelu_tanh)

/* a is the incoming gradient, b the result or, where said, the argument. */
TN_FUNCTION REAL of_relu_backward(REAL a, REAL b)
{
  return b <= 0 ? 0 : a;
}
TN_FUNCTION REAL of_sigmoid_backward(REAL a, REAL b)
{
  return a * (1 - b) * b;
}
TN_FUNCTION REAL of_tanh_backward(REAL a, REAL b)
{
  return a * OF(fma)(-b, b, 1);
}
/* b is the argument from here on. */
TN_FUNCTION REAL of_silu_backward(REAL a, REAL b)
{
  REAL s = of_sigmoid(b);
  return a * (s * OF(fma)(b, 1 - s, 1));
}
TN_FUNCTION REAL of_gelu_backward(REAL a, REAL b)
{
  REAL below = (REAL)0.5 * (1 + OF(erf)(b * ROOT_HALF));
  REAL density = OF(exp_neg)((REAL)-0.5 * (b * b)) *
                 (REAL)0.39894228040143268;
  return a * OF(fma)(b, density, below);
}
TN_FUNCTION REAL of_gelu_tanh_backward(REAL a, REAL b)
{
  REAL t = OF(tanh)(of_gelu_tanh_inner(b));
  REAL slope = ROOT_TWO_OVER_PI * OF(fma)(3 * CUBE, b * b, 1);
  REAL left = (REAL)0.5 * (1 + t);
  REAL right = (REAL)0.5 * b * OF(fma)(-t, t, 1) * slope;
  return a * (left + right);
}

FLAT_BINARY(REAL, SUFFIX, relu_backward)
FLAT_BINARY(REAL, SUFFIX, sigmoid_backward)
FLAT_BINARY(REAL, SUFFIX, tanh_backward)
FLAT_BINARY(REAL, SUFFIX, silu_backward)
FLAT_BINARY(REAL, SUFFIX, gelu_backward)
FLAT_BINARY(REAL, SUFFIX, gelu_tanh_backward)
