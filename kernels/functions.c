/* Functions of f32: what takes more than a few instructions. */
#include <tenon/kernel_math.h>

#define REAL float
#define SUFFIX f32
#define OF(name) tn_##name
#include "functions_real.h"
