/* Tensors that gradients are accumulated in. */
#include "config.h"

#include <stdlib.h>

#include "tensor/autograd/graph.h"

bool tn_requires_grad(const tn_tensor *t)
{
  return t && tn_history_needs_grad(t);
}

bool tn_is_leaf(const tn_tensor *t)
{
  return t && !(t->history && t->history->node);
}

tn_tensor *tn_requires_grad_(tn_tensor *t, bool requires_grad)
{
  if (!t) return NULL;
  if (requires_grad && !tn_dtype_is_float((tn_dtype)t->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "requires_grad_: dtype %s: floats can "
                 "have gradients", tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  if (t->history && t->history->node) {
    if (requires_grad) return t;
    tn_set_error(TN_INVALID_ARGUMENT, "requires_grad_: the tensor was made "
                 "by an operation: detach gives one without a gradient");
    return NULL;
  }
  if (!requires_grad && !t->history) return t;
  tn_history *history = tn_history_of(t);
  if (!history) return NULL;
  history->requires_grad = requires_grad;
  return t;
}

tn_tensor *tn_grad(const tn_tensor *t)
{
  return t && t->history ? t->history->grad : NULL;
}
