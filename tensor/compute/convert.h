/* Copies between tensors of one place: any layouts, any dtypes. */
#ifndef TN_TENSOR_COMPUTE_CONVERT_H
#define TN_TENSOR_COMPUTE_CONVERT_H

#include "tensor/tensor/tensor.h"

/* to = from, which is broadcast and cast. They have no memory in common,
 * unless they are the same elements. */
tn_status tn_tensor_convert(tn_tensor *to, tn_tensor *from);

/* A new tensor of another dtype or shape (which `from` can be broadcast to),
 * row by row, of the caller. */
tn_tensor *tn_tensor_converted(tn_tensor *from, tn_dtype dtype,
                               tn_shape shape, const char *operation);

/* All elements, of any layout. */
tn_status tn_tensor_fill(tn_tensor *t, double value);

#endif
