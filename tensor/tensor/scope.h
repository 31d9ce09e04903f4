/* Scopes: which tensors of a thread are released when a block ends. */
#ifndef TN_TENSOR_TENSOR_SCOPE_H
#define TN_TENSOR_TENSOR_SCOPE_H

#include "tenon/tensor.h"

/* Gives a new reference to the innermost scope of this thread, if there is
 * one. Returns t, or NULL (and t is released) without host memory. NULL is
 * passed on. */
tn_tensor *tn_scope_give(tn_tensor *t);

#endif
