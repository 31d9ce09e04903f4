/* Elementwise operations on f32. */
#include <tenon/kernel_math.h>

#include "elementwise_forms.h"

ARITHMETIC(float)

TN_FUNCTION float of_abs(float a) { return tn_abs(a); }
TN_FUNCTION float of_sqrt(float a) { return tn_sqrt(a); }
TN_FUNCTION float of_exp(float a) { return tn_exp(a); }
TN_FUNCTION float of_exp_neg(float a) { return tn_exp_neg(a); }
TN_FUNCTION float of_log(float a) { return tn_log(a); }
TN_FUNCTION float of_tanh(float a) { return tn_tanh(a); }
TN_FUNCTION float of_sin(float a) { return tn_sin(a); }
TN_FUNCTION float of_cos(float a) { return tn_cos(a); }
TN_FUNCTION float of_erf(float a) { return tn_erf(a); }

BINARY(float, f32, add)
BINARY(float, f32, sub)
BINARY(float, f32, mul)
BINARY(float, f32, div)
BINARY(float, f32, maximum)
BINARY(float, f32, minimum)
UNARY(float, f32, neg)
UNARY(float, f32, abs)
UNARY(float, f32, copy)
UNARY(float, f32, relu)
UNARY(float, f32, sqrt)
UNARY(float, f32, exp)
UNARY(float, f32, exp_neg)
UNARY(float, f32, log)
UNARY(float, f32, tanh)
UNARY(float, f32, sin)
UNARY(float, f32, cos)
UNARY(float, f32, erf)
FILL(float, f32)

/* y += alpha a, rounded once. */
TN_KERNEL(axpy_f32, TN_OUT(float, y), TN_IN(float, a), TN_VAL(float, alpha),
          TN_VAL(int64, n))
{
  TN_PARALLEL_FOR(i, n)
    y[i] = tn_fma(alpha, a[i], y[i]);
}
