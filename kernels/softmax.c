/* Softmax, its logarithm and the loss of classes, in f32: see softmax_forms.h
 * and loss_forms.h. */
#include <tenon/kernel_math.h>

#include "loss_forms.h"
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

#define NOT_A_NUMBER tn_from_bits(0x7fc00000u)
NLL(float, f32, NOT_A_NUMBER)
NLL_BACKWARD(float, f32, NOT_A_NUMBER)
