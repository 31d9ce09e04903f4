/* Random numbers into tensors: contiguous, f32 or f64. */
#ifndef TN_TENSOR_COMPUTE_RANDOM_H
#define TN_TENSOR_COMPUTE_RANDOM_H

#include "tensor/tensor/generator.h"
#include "tensor/tensor/tensor.h"

/* How many blocks of the stream a filled tensor takes. */
uint64_t tn_random_blocks(const tn_tensor *t);

/* low + u span; mean + z deviation. */
tn_status tn_uniform_run(tn_tensor *y, tn_random_piece piece, double low,
                         double span);
tn_status tn_normal_run(tn_tensor *y, tn_random_piece piece, double mean,
                        double deviation);

/* x scaled, or 0 with probability p; takes ceil(n / 4) blocks. */
tn_status tn_dropout_run(tn_tensor *y, tn_tensor *x, tn_random_piece piece,
                         double p, double scale);

#endif
