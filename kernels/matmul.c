/* Products of f32 matrices.
 *
 * The order of additions is that of docs/numbers.md: chunks of 1024 along k,
 * in each chunk in order with fma from +0, the chunks' sums by the lane sum.
 * Both factors are first copied into panels (pack_a, pack_b), then each item
 * computes one tile whose sums stay in registers; matmul_direct does without
 * panels, for small products.
 *
 * A product with one row or one column is a lane sum with fma (matvec,
 * vecmat) of blocks of 4096, whose sums are summed by sum_f32 and
 * sum_columns_f32 of reduce.c. */
#include <tenon/kernel_lang.h>

#define REAL float
#define ZERO 0.0f
#define FMA tn_fma
#define NAMED(name) name##_f32

#include "matmul_shape.h"
#ifdef TN_ON_CUDA
#include "matmul_blocks.h"
#else
#include "matmul_tiles.h"
#endif
#include "matmul_direct.h"
#include "matmul_lanes.h"
