/* Layer norm and its gradients, in f32: see layer_norm_forms.h. */
#include <tenon/kernel_lang.h>

#include "layer_norm_forms.h"

TN_FUNCTION float of_fma(float a, float b, float c) { return tn_fma(a, b, c); }
TN_FUNCTION float of_sqrt(float x) { return tn_sqrt(x); }

LAYER_NORM(float, f32)
LAYER_NORM_BACKWARD(float, f32)
LAYER_NORM_COLUMNS(float, f32)
