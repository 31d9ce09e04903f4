/* Kernels over rows: softmax, layer norm, losses, running sums. Tensors are
 * contiguous, of one place, and f32 or f64 unless said otherwise. */
#ifndef TN_TENSOR_COMPUTE_ROWS_H
#define TN_TENSOR_COMPUTE_ROWS_H

#include "tensor/tensor/tensor.h"

/* A row's elements at most: sums of two levels. */
#define TN_ROW_MAX ((int64_t)4096 * 4096)

/* y from x, both rows of n. */
tn_status tn_softmax_run(bool logarithm, tn_tensor *y, tn_tensor *x,
                         int64_t n);

/* gx from gy and the result y. */
tn_status tn_softmax_backward_run(bool logarithm, tn_tensor *gx,
                                  tn_tensor *gy, tn_tensor *y, int64_t n);

/* mean and scale have one element for each row of n. */
tn_status tn_layer_norm_run(tn_tensor *y, tn_tensor *mean, tn_tensor *scale,
                            tn_tensor *x, tn_tensor *weight, tn_tensor *bias,
                            int64_t n, double eps);
tn_status tn_layer_norm_backward_run(tn_tensor *gx, tn_tensor *gy,
                                     tn_tensor *x, tn_tensor *mean,
                                     tn_tensor *scale, tn_tensor *weight,
                                     int64_t n);

/* The gradients of weight and bias, gw and gb, n elements each. */
tn_status tn_layer_norm_columns_run(tn_tensor *gw, tn_tensor *gb,
                                    tn_tensor *gy, tn_tensor *x,
                                    tn_tensor *mean, tn_tensor *scale,
                                    int64_t n);

/* y[r] = -x[r][target[r]], kept[r] = 1; 0 both where target is ignored.
 * target: i64. */
tn_status tn_nll_run(tn_tensor *y, tn_tensor *kept, tn_tensor *x,
                     tn_tensor *target, int64_t ignored);

/* step: from one row's gradient in gy to the next one's, 0 or 1. */
tn_status tn_nll_backward_run(tn_tensor *gx, tn_tensor *gy, int64_t step,
                              tn_tensor *target, int64_t ignored);

/* Of [outer][n][inner]; f32, f64 or i64. */
tn_status tn_cumsum_run(tn_tensor *y, tn_tensor *x, int64_t outer, int64_t n,
                        int64_t inner, bool backwards);

#endif
