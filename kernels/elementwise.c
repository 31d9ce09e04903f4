/* Elementwise operations on f32; what takes more than a few instructions is in
 * functions.c. */
#include <tenon/kernel_lang.h>

#define REAL float
#define SUFFIX f32
#define OF(name) tn_##name
#include "elementwise_real.h"
