/* Layer norm and its gradients, in f64: see layer_norm_forms.h. */
#include <tenon/kernel_lang.h>

#include "layer_norm_forms.h"

TN_FUNCTION double of_fma(double a, double b, double c)
{
  return tn_fma_f64(a, b, c);
}
TN_FUNCTION double of_sqrt(double x) { return tn_sqrt_f64(x); }

LAYER_NORM(double, f64)
LAYER_NORM_BACKWARD(double, f64)
LAYER_NORM_COLUMNS(double, f64)
