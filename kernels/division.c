/* Floor division, remainder and powers of f32: loops and long functions. */
#include <tenon/kernel_math.h>

#define REAL float
#define SUFFIX f32
#define OF(name) tn_##name
#include "division_real.h"
