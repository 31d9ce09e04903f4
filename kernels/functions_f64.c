/* Functions of f64: what takes more than a few instructions. */
#include <tenon/kernel_math_f64.h>

#define REAL double
#define SUFFIX f64
#define OF(name) tn_##name##_f64
#include "functions_real.h"
