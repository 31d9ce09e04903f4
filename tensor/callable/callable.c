#include "config.h"

#include "tensor/callable/graphed.h"

tn_tensor *tn_callable_call(const tn_callable *callable, tn_tensor **inputs,
                            int n)
{
  bool has_inputs = n == 0 || (n > 0 && inputs);
  if (callable && callable->call && has_inputs)
    return callable->call(callable->self, inputs, n);
  if (has_inputs)
    tn_set_error(TN_INVALID_ARGUMENT, "callable: there is nothing to call");
  else
    tn_set_error(TN_INVALID_ARGUMENT, "callable: %d inputs%s", n,
                 inputs ? "" : " in a list that is NULL");
  return NULL;
}

void tn_callable_release(tn_callable *callable)
{
  if (!callable) return;
  tn_callable released = *callable;
  *callable = (tn_callable){ 0 };
  if (released.forget) released.forget(released.self);
}

static tn_tensor *call_module(void *self, tn_tensor **inputs, int n)
{
  return tn_nn_forward_with(self, inputs, n);
}

static void release_module(void *self)
{
  tn_nn_module_release(self);
}

tn_callable tn_nn_callable(tn_nn_module *module)
{
  if (!module) return (tn_callable){ 0 };
  return (tn_callable){ call_module, tn_nn_module_retain(module),
                        release_module };
}

tn_nn_module *tn_callable_module(const tn_callable *callable)
{
  return callable->call == call_module ? callable->self : NULL;
}
