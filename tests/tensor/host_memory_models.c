#include "config.h"

#include "tests/tensor/host_memory.h"

#include <string.h>

/* ---- a module of the program, with a part and a buffer ---- */

static tn_tensor *forward(tn_nn_module *self, tn_tensor *const *inputs, int n)
{
  tn_tensor *scale = tn_nn_parameter(self, "scale");
  tn_tensor *shift = tn_nn_buffer(self, "shift");
  if (n != 1 || !scale || !shift) return NULL;
  return tn_add(tn_mul(tn_nn_forward(tn_nn_child(self, "part"), inputs[0]),
                       scale), shift);
}

static tn_nn_module *make(void)
{
  static const tn_nn_class of = { "scaled", forward, NULL };
  tn_nn_module *module = tn_nn_module_new(&of, NULL);
  if (!module) return NULL;
  tn_tensor *scale = ones(TN_SHAPE(3), true), *shift = ones(TN_SHAPE(3), false);
  if (scale && shift &&
      tn_nn_register_parameter(module, "scale", scale) == TN_OK &&
      tn_nn_register_buffer(module, "shift", shift) == TN_OK &&
      tn_nn_add(module, "part", tn_nn_linear(4, 3, true, .device = device)))
    return module;
  tn_nn_module_release(module);
  return NULL;
}

bool use_own_module(void)
{
  char name[40];
  tn_nn_module *module = make();
  if (!module) return false;
  tn_nn_module_release(tn_nn_module_retain(module));
  tn_tensor *x = ones(TN_SHAPE(2, 4), false);
  tn_tensor *y = x ? tn_nn_forward_with(module, &x, 1) : NULL;
  bool is_good = y && tn_backward(tn_sum(y)) == TN_OK &&
                 tn_grad(tn_nn_parameter(module, "part.weight")) &&
                 tn_nn_parameter_name(module, 0, name, sizeof name) > 0 &&
                 tn_nn_xavier_uniform_(tn_nn_parameter(module, "part.weight"),
                                       1) &&
                 tn_nn_kaiming_uniform_(tn_nn_parameter(module, "part.weight"),
                                        1);
  tn_nn_zero_grad(module);
  is_good = is_good && tn_nn_to(module, .dtype = TN_F32, .device = device) &&
            tn_nn_requires_grad_(module, false) == TN_OK;
  tn_nn_eval(module);
  is_good = is_good && tn_nn_forward(module, x);
  tn_nn_module_release(module);
  return is_good;
}

/* ---- optimisers ---- */

static bool step(tn_nn_module *model, tn_optim *optim, tn_tensor *rows)
{
  if (!optim) return false;
  tn_optim_zero_grad(optim);
  tn_tensor *y = rows ? tn_nn_forward(model, rows) : NULL;
  return y && tn_backward(tn_sum(y)) == TN_OK &&
         tn_optim_step(optim) == TN_OK &&
         tn_optim_set_lr(optim, tn_optim_lr(optim) / 2) == TN_OK;
}

bool use_optimisers(void)
{
  tn_nn_module *model = tn_nn_sequential(TN_NN_MODULES(
    tn_nn_embedding(5, 4, .device = device),
    tn_nn_linear(4, 2, false, .device = device)));
  int n = 0;
  tn_tensor *const *all = tn_nn_parameters(model, &n);
  tn_tensor *rows = tn_arange(0, 4, 1, .device = device);
  tn_optim *made[3] = { 0 };
  if (all) {
    made[0] = tn_optim_sgd(all, n, 1e-2, .momentum = 0.9, .nesterov = true);
    made[1] = tn_optim_adam(all, n, 1e-2, .amsgrad = true);
    made[2] = tn_optim_adamw(all, n, 1e-2, .maximize = true);
  }
  bool is_good = rows != NULL;
  for (int i = 0; i < 3; i++) {
    for (int k = 0; k < 2; k++)
      is_good = is_good && step(model, made[i], rows);
    tn_optim_release(tn_optim_retain(made[i]));
    tn_optim_release(made[i]);
  }
  tn_nn_module_release(model);
  return is_good;
}

/* ---- two modules, graphed together ---- */

static bool run(const tn_callable *graphed, tn_tensor *x)
{
  tn_tensor *hidden = tn_callable_call(&graphed[0], &x, 1);
  tn_tensor *y = hidden ? tn_callable_call(&graphed[1], &hidden, 1) : NULL;
  return y && tn_backward(tn_sum(y)) == TN_OK && tn_grad(x);
}

static bool graph_both(const tn_callable *eager)
{
  tn_callable graphed[2];
  tn_tensor *samples[] = { ones(TN_SHAPE(2, 4), true),
                           ones(TN_SHAPE(2, 3), true) };
  tn_tensor *x = ones(TN_SHAPE(2, 4), true);
  if (!samples[0] || !samples[1] || !x ||
      tn_make_graphed_callables(eager, 2, samples, 1, graphed,
                                .num_warmup_iters = 1) != TN_OK)
    return false;
  bool is_good = run(graphed, x) && run(graphed, x);
  tn_callable_release(&graphed[0]);
  tn_callable_release(&graphed[1]);
  return is_good;
}

bool use_graphed_modules(void)
{
  tn_nn_module *first = tn_nn_sequential(TN_NN_MODULES(
    tn_nn_linear(4, 3, true, .device = device), tn_nn_dropout(0.5)));
  tn_nn_module *second = tn_nn_linear(3, 2, true, .device = device);
  tn_callable eager[2] = { { NULL, NULL, NULL }, { NULL, NULL, NULL } };
  bool is_good = first && second;
  if (is_good) {
    eager[0] = tn_nn_callable(first);
    eager[1] = tn_nn_callable(second);
    is_good = eager[0].call && eager[1].call && graph_both(eager);
  }
  tn_callable_release(&eager[0]);
  tn_callable_release(&eager[1]);
  tn_nn_module_release(first);
  tn_nn_module_release(second);
  return is_good;
}
