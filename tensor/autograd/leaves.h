/* The leaves that a tensor's gradient would come to. */
#ifndef TN_TENSOR_AUTOGRAD_LEAVES_H
#define TN_TENSOR_AUTOGRAD_LEAVES_H

#include "tenon/autograd.h"

/* Those that `output` depends on and which require a gradient, each once, in
 * the order in which they are met: an array from malloc of references. */
tn_status tn_leaves_of(const tn_tensor *output, tn_tensor ***leaves,
                       int *count);

#endif
