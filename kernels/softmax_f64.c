/* Softmax, its logarithm and the loss of classes, in f64: see softmax_forms.h
 * and loss_forms.h. */
#include <tenon/kernel_math_f64.h>

#include "loss_forms.h"
#include "softmax_forms.h"

TN_FUNCTION double of_max(double p, double v)
{
  return ((v > p) | (v != v)) ? v : p;
}
TN_FUNCTION double of_fma(double a, double b, double c)
{
  return tn_fma_f64(a, b, c);
}
TN_FUNCTION double of_exp_neg(double x) { return tn_exp_neg_f64(x); }
TN_FUNCTION double of_log(double x) { return tn_log_f64(x); }

#define INFINITE (1e300 * 1e300)

SOFTMAX(double, f64, -INFINITE)
LOG_SOFTMAX(double, f64, -INFINITE)
SOFTMAX_BACKWARD(double, f64)
LOG_SOFTMAX_BACKWARD(double, f64)

NLL(double, f64, INFINITE - INFINITE)
NLL_BACKWARD(double, f64, INFINITE - INFINITE)
