/* Products of f64 matrices: those of matmul.c in double.  A module of its
 * own, for devices without double must build the others. */
#include <tenon/kernel_lang.h>

#define REAL double
#define ZERO 0.0
#define FMA tn_fma_f64
#define NAMED(name) name##_f64

#include "matmul_shape.h"
#include "matmul_tiles.h"
#include "matmul_direct.h"
#include "matmul_lanes.h"
