/* What the operations by index share. */
#ifndef TN_TENSOR_OPS_INDEXING_H
#define TN_TENSOR_OPS_INDEXING_H

#include "tensor/tensor/tensor.h"

/* Indices as contiguous i64, all within [0, count): the caller's reference.
 * NULL with the error set. */
tn_tensor *tn_indices_of(tn_tensor *indices, int64_t count,
                         const char *operation);

/* Zeros of a shape to which the rows of g along dim were added, row i to row
 * index[i], in order; g's dtype and place. Differentiable. */
tn_tensor *tn_rows_added(tn_shape shape, int dim, tn_tensor *index,
                         tn_tensor *g);

#endif
