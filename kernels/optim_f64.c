/* Steps of optimisers in f64: see optim_forms.h. */
#include <tenon/kernel_lang.h>

#include "optim_forms.h"

#define fma_(a, b, c) tn_fma_f64(a, b, c)
#define sqrt_(x) tn_sqrt_f64(x)

SLOPE(double)
SGD(double, f64)
ADAM(double, f64)
