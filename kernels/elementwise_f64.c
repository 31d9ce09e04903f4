/* Elementwise operations on f64. A module of its own, for devices without
 * double must build the others. */
#include <tenon/kernel_lang.h>

#define REAL double
#define SUFFIX f64
#define OF(name) tn_##name##_f64
#include "elementwise_real.h"
