/* docs/numbers.md in plain C, continued: softmax, layer norm, losses, for one
 * row or one column at a time.  See numbers_reference.h. */
#ifndef TN_TESTS_NUMBERS_LAYERS_H
#define TN_TESTS_NUMBERS_LAYERS_H

#include <stdint.h>

/* y[n] from x[n]; the gradient gx[n] from gy[n] and y[n]. */
void ref_softmax_f32(const float *x, int64_t n, float *y);
void ref_softmax_f64(const double *x, int64_t n, double *y);
void ref_log_softmax_f32(const float *x, int64_t n, float *y);
void ref_log_softmax_f64(const double *x, int64_t n, double *y);
void ref_softmax_backward_f32(const float *gy, const float *y, int64_t n,
                              float *gx);
void ref_softmax_backward_f64(const double *gy, const double *y, int64_t n,
                              double *gx);
void ref_log_softmax_backward_f32(const float *gy, const float *y, int64_t n,
                                  float *gx);
void ref_log_softmax_backward_f64(const double *gy, const double *y,
                                  int64_t n, double *gx);

/* stats: mean and scale of the row. */
void ref_layer_norm_f32(const float *x, const float *weight, const float *bias,
                        int64_t n, float eps, float *y, float stats[2]);
void ref_layer_norm_f64(const double *x, const double *weight,
                        const double *bias, int64_t n, double eps, double *y,
                        double stats[2]);
void ref_layer_norm_backward_f32(const float *gy, const float *x,
                                 const float *weight, int64_t n,
                                 const float stats[2], float *gx);
void ref_layer_norm_backward_f64(const double *gy, const double *x,
                                 const double *weight, int64_t n,
                                 const double stats[2], double *gx);

/* The gradients of one column's weight and bias: gradient[0] and [1]. */
void ref_layer_norm_column_f32(const float *gy, const float *x,
                               const float *mean, const float *scale,
                               int64_t rows, int64_t n, float gradient[2]);
void ref_layer_norm_column_f64(const double *gy, const double *x,
                               const double *mean, const double *scale,
                               int64_t rows, int64_t n, double gradient[2]);

#endif
