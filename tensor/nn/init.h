/* First values of parameters. */
#ifndef TN_TENSOR_NN_INIT_H
#define TN_TENSOR_NN_INIT_H

#include "tenon/tensor.h"

/* Uniform in [-bound, bound), remembering no gradient. */
tn_tensor *tn_nn_uniform_within_(tn_tensor *t, double bound);

#endif
