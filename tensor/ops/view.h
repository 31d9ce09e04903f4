/* What the view operations share. */
#ifndef TN_TENSOR_OPS_VIEW_H
#define TN_TENSOR_OPS_VIEW_H

#include "tensor/autograd/node.h"

/* A view of t, which belongs to the scope; data as of tn_view_finish. */
tn_tensor *tn_view_give(tn_tensor *t, tn_shape shape, const int64_t *strides,
                        int64_t offset, const tn_node_kind *kind,
                        const void *data, size_t size);

/* Of views that only regroup dimensions: the gradient is reshaped. */
tn_status tn_view_reshape_back(tn_node *node, tn_tensor **grads,
                               tn_tensor **results);

/* -1 with the error set where a 0-dimensional tensor has no such dimension;
 * else as tn_dim_of. */
int tn_view_dim_of(const tn_tensor *t, int dim, const char *operation);

#endif
