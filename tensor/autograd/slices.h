/* The node of a tensor of which a view was changed in place. */
#ifndef TN_TENSOR_AUTOGRAD_SLICES_H
#define TN_TENSOR_AUTOGRAD_SLICES_H

#include "tensor/autograd/graph.h"

/* Of view->base, after `inner` changed the view; takes over the reference to
 * inner. NULL without host memory. */
tn_node *tn_slices_node(tn_tensor *view, tn_node *inner);

#endif
