/* Steps of optimisers in f32: see optim_forms.h. */
#include <tenon/kernel_lang.h>

#include "optim_forms.h"

#define fma_(a, b, c) tn_fma(a, b, c)
#define sqrt_(x) tn_sqrt(x)

SLOPE(float)
SGD(float, f32)
ADAM(float, f32)
