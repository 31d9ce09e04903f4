/* docs/numbers.md in plain C, continued: reductions of other types, softmax,
 * layer norm, losses.  See numbers_reference.h. */
#ifndef TN_TESTS_NUMBERS_ROWS_H
#define TN_TESTS_NUMBERS_ROWS_H

#include <stdint.h>

/* A reduction along n elements, `step` elements apart; the result is written
 * to y. Types as the names say; sums of i32 and u8 are i64. */
typedef void ref_reduction(const void *x, int64_t n, int64_t step, void *y);

ref_reduction ref_prod_f32;
ref_reduction ref_sum_f64, ref_prod_f64, ref_mean_f64, ref_max_f64,
  ref_min_f64;
ref_reduction ref_sum_i64, ref_sum_i32, ref_sum_u8, ref_prod_i64, ref_max_i64,
  ref_min_i64, ref_any_u8, ref_all_u8;
/* Results are int64 indices. */
ref_reduction ref_argmax_f64, ref_argmin_f64, ref_argmax_i64, ref_argmin_i64;

/* Running sums: y has n elements, `step` apart too. */
ref_reduction ref_cumsum_f32, ref_cumsum_f64, ref_cumsum_i64;

#endif
