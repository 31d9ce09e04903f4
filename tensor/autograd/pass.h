/* One walk back through a graph. */
#ifndef TN_TENSOR_AUTOGRAD_PASS_H
#define TN_TENSOR_AUTOGRAD_PASS_H

#include "tensor/autograd/wanted.h"

typedef struct tn_pass tn_pass;

/* From outputs, given their gradients, to the leaves, which accumulate what
 * comes to them; with `wanted`, to its captures instead. Runs under the grad
 * mode and in the scope that the caller has set. */
tn_status tn_pass_run(tn_tensor *const *outputs, tn_tensor *const *gradients,
                      int count, tn_wanted *wanted, bool retain_graph);

#endif
