/* Where a view lies in the memory of its base, and what that means for
 * gradients. */
#ifndef TN_TENSOR_AUTOGRAD_STRIDED_H
#define TN_TENSOR_AUTOGRAD_STRIDED_H

#include "tensor/autograd/node.h"

typedef struct tn_strided_data {
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  int64_t base_strides[TN_DIMS_MAX];
  int64_t offset; /* from the base's first element */
  int ndim;
} tn_strided_data;

void tn_strided_describe(tn_strided_data *data, const tn_tensor *view,
                         const tn_tensor *base);

/* A copy of the gradient of a base, in *slice the part of it that is a
 * view's; both belong to the scope. NULL on failure, and *slice too. */
tn_tensor *tn_strided_spread(const tn_strided_data *data, tn_tensor *grad,
                             tn_tensor **slice);

/* Of a view of which only its place in the base's memory is known; its data
 * is a tn_strided_data. */
extern const tn_node_kind tn_as_strided_kind;

#endif
