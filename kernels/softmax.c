/* Softmax and its logarithm, in f32: see softmax_forms.h. */
#include <tenon/kernel_math.h>

#include "softmax_forms.h"

TN_FUNCTION float of_max(float p, float v)
{
  return ((v > p) | (v != v)) ? v : p;
}
TN_FUNCTION float of_fma(float a, float b, float c) { return tn_fma(a, b, c); }
TN_FUNCTION float of_exp_neg(float x) { return tn_exp_neg(x); }
TN_FUNCTION float of_log(float x) { return tn_log(x); }

#define LEAST tn_from_bits(0xff800000u) /* -infinity */

SOFTMAX(float, f32, LEAST)
LOG_SOFTMAX(float, f32, LEAST)
SOFTMAX_BACKWARD(float, f32)
LOG_SOFTMAX_BACKWARD(float, f32)
