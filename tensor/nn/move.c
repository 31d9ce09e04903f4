/* Modules to another device or dtype, in place. */
#include "config.h"

#include <stdlib.h>

#include "tensor/autograd/node.h"
#include "tensor/nn/module.h"
#include "tensor/nn/walk.h"
#include "tensor/tensor/tensor.h"

/* Floats take the dtype; other tensors only the device. */
static tn_status move_tensor(tn_tensor *t, tn_to_options options)
{
  if (!tn_dtype_is_float(tn_dtype_of(t))) options.dtype = TN_DTYPE_DEFAULT;
  tn_tensor *moved = tn_to_with(t, options);
  if (!moved) return tn_last_status();
  if (moved != t) tn_tensor_take(t, moved);
  return TN_OK;
}

static tn_status move_all(tn_tensor *const *tensors, int n,
                          tn_to_options options)
{
  tn_status status = TN_OK;
  for (int i = 0; i < n && status == TN_OK; i++) {
    tn_scope_guard scope = tn_scope_push();
    if (!scope.active) return tn_last_status();
    tn_grad_mode_guard mode = tn_grad_mode_push(false);
    status = move_tensor(tensors[i], options);
    tn_tensor *grad = tn_grad(tensors[i]);
    if (status == TN_OK && grad) status = move_tensor(grad, options);
    tn_grad_mode_pop(&mode);
    tn_scope_pop(&scope);
  }
  return status;
}

static tn_status move_kind(tn_nn_module *module, bool of_buffers,
                           tn_to_options options)
{
  int n;
  tn_tensor **tensors = tn_nn_tensors(module, of_buffers, &n);
  if (!tensors) return tn_last_status();
  tn_status status = move_all(tensors, n, options);
  free(tensors);
  return status;
}

tn_nn_module *tn_nn_to_with(tn_nn_module *module, tn_to_options options)
{
  if (!module) return NULL;
  if (options.dtype && !tn_dtype_is_float(options.dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "tn_nn_to: dtype %s: parameters are "
                 "floats", tn_dtype_name(options.dtype));
    return NULL;
  }
  options.copy = false;
  bool has_moved = move_kind(module, false, options) == TN_OK &&
                   move_kind(module, true, options) == TN_OK;
  return has_moved ? module : NULL;
}
