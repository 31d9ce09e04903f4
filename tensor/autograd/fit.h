/* Gradients in the form of what they are the gradients of. */
#ifndef TN_TENSOR_AUTOGRAD_FIT_H
#define TN_TENSOR_AUTOGRAD_FIT_H

#include "tensor/autograd/graph.h"

/* Sums a gradient over what was broadcast, and converts it to the dtype and
 * the device of an input; the result belongs to the scope (or is the gradient
 * itself). NULL on failure. */
tn_tensor *tn_gradient_fit(tn_tensor *gradient, const tn_edge *edge);

#endif
