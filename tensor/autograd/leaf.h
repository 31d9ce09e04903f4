/* Tensors that gradients are accumulated in. */
#ifndef TN_TENSOR_AUTOGRAD_LEAF_H
#define TN_TENSOR_AUTOGRAD_LEAF_H

#include "tensor/autograd/history.h"

/* The sum of two gradients, of the caller; takes over both references.
 * Memory that nobody else has is reused, unless grad mode is on. NULL on
 * failure. */
tn_tensor *tn_gradient_sum(tn_tensor *a, tn_tensor *b);

/* The same gradient in memory of the current stream; takes over the
 * reference. NULL on failure. */
tn_tensor *tn_gradient_copy(tn_tensor *t);

/* Adds a gradient to one that is kept (*grad may be NULL); takes over the
 * reference. */
tn_status tn_gradient_accumulate(tn_tensor **grad, tn_tensor *more);

#endif
