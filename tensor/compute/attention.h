/* Scaled dot product attention by the built-in kernels. */
#ifndef TN_TENSOR_COMPUTE_ATTENTION_H
#define TN_TENSOR_COMPUTE_ATTENTION_H

#include "tensor/tensor/tensor.h"

/* Rows of numbers, in two levels of batches; strides in elements. */
typedef struct tn_row_batches {
  const void *address;
  int64_t outer, inner, row, column;
} tn_row_batches;

/* Rows of q, k and v have their elements side by side (column is 1). */
typedef struct tn_attention {
  tn_place *place;
  tn_dtype dtype;
  int64_t outer, inner, queries, keys, size, values;
  tn_row_batches q, k, v, mask; /* mask.address NULL: none */
  double scale;
  bool is_causal;
} tn_attention;

/* y: [outer][inner][queries][values], contiguous; stats: two numbers for each
 * row, for the way back. keys is not 0. */
tn_status tn_attention_run(const tn_attention *attention, void *y,
                           void *stats);

/* Gradients, contiguous, NULL for those not wanted; that of q and of k without
 * the factor `scale`. All of q, k, v, y and its gradient are contiguous; only
 * the mask has strides. mask_grad: [outer][inner][queries][keys]. */
typedef struct tn_attention_gradients {
  void *q, *k, *v, *mask;
} tn_attention_gradients;

tn_status tn_attention_back_run(const tn_attention *attention, const void *y,
                                const void *grad, const void *stats,
                                const tn_attention_gradients *to);

#endif
