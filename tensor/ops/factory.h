/* Placing new tensors. */
#ifndef TN_TENSOR_OPS_FACTORY_H
#define TN_TENSOR_OPS_FACTORY_H

#include "tensor/tensor/tensor.h"

/* An undefined tensor as options say, in no scope; requires_grad is left for
 * tn_factory_finish. */
tn_tensor *tn_factory_new(tn_shape shape, tn_tensor_options options,
                          const char *operation);

/* Sets requires_grad and gives it to the scope; NULL is passed on. */
tn_tensor *tn_factory_finish(tn_tensor *t, tn_tensor_options options);

#endif
