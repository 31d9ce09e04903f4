/* Which dimensions a reduction runs over. */
#ifndef TN_TENSOR_OPS_REDUCTION_H
#define TN_TENSOR_OPS_REDUCTION_H

#include "tensor/tensor/tensor.h"

typedef struct tn_reduced {
  bool dims[TN_DIMS_MAX]; /* of the operand: gone, or of size 1 */
  bool keepdim;
  int64_t count;          /* elements that make one */
  int64_t sizes[TN_DIMS_MAX];
  int ndim;               /* of the result */
} tn_reduced;

/* No dimensions: all. */
tn_status tn_reduced_make(tn_reduced *reduced, const tn_tensor *t,
                          tn_shape dims, bool keepdim, const char *operation);

/* A gradient or result seen with the operand's number of dimensions, those
 * reduced having size 1. `shape` is that of the operand. */
tn_tensor *tn_reduced_restore(const tn_reduced *reduced, tn_tensor *y,
                              tn_shape shape);

/* The sum over the same dimensions, which are kept. */
tn_tensor *tn_reduced_sum(const tn_reduced *reduced, tn_tensor *t);

#endif
