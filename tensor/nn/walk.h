/* All tensors of a module. */
#ifndef TN_TENSOR_NN_WALK_H
#define TN_TENSOR_NN_WALK_H

#include "tenon/nn.h"

/* Parameters or buffers of the module and all in it, each once, to be freed;
 * never NULL but on failure. */
tn_tensor **tn_nn_tensors(const tn_nn_module *module, bool of_buffers,
                          int *n);

#endif
