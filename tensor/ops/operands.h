/* Operands of one operation made ready: on one place, of one dtype, with the
 * shape of the result known. */
#ifndef TN_TENSOR_OPS_OPERANDS_H
#define TN_TENSOR_OPS_OPERANDS_H

#include "tensor/ops/placement.h"

typedef struct tn_operands {
  tn_placement placement;
  tn_tensor *tensors[TN_PLACED_MAX]; /* borrowed until the end */
  unsigned cast;                     /* bit i: a copy of ours */
  int count;
  tn_dtype dtype;
  int64_t sizes[TN_DIMS_MAX];
  int ndim;
} tn_operands;

/* Broadcasts shapes and moves 0-dimensional cpu tensors. Operands from number
 * `first` on are cast to `dtype`. */
tn_status tn_operands_begin(tn_operands *ready, tn_tensor *const *operands,
                            int count, int first, tn_dtype dtype,
                            const char *operation);
void tn_operands_end(tn_operands *ready);

static inline tn_shape tn_operands_shape(const tn_operands *ready)
{
  return (tn_shape){ ready->sizes, ready->ndim };
}

static inline tn_place *tn_operands_place(const tn_operands *ready)
{
  return ready->placement.place;
}

/* Whether a result of shape and dtype can be put into t, on t's place; else
 * the error is set. */
tn_status tn_operands_fit(const tn_operands *ready, tn_dtype result,
                          const tn_tensor *t, const char *operation);

/* A tensor with the same elements as operand i that shares no memory with
 * `out`, unless it is the same elements: itself or a copy, which
 * tn_operands_end releases. */
tn_status tn_operands_part(tn_operands *ready, int i, const tn_tensor *out,
                           const char *operation);

/* Of an operation that writes to `out`: refuses inputs that require gradients
 * (grad mode on), and what tn_inplace_begin refuses. */
tn_status tn_out_begin(tn_tensor *out, tn_tensor *const *inputs, int count,
                       const char *operation);

#endif
