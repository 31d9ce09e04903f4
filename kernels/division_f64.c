/* Floor division, remainder and powers of f64: loops and long functions. */
#include <tenon/kernel_math_f64.h>

#define REAL double
#define SUFFIX f64
#define OF(name) tn_##name##_f64
#include "division_real.h"
