#include "config.h"

#include <math.h>

#include "tensor/nn/optim.h"

static tn_kernel_entry plain[] = {
  TN_KERNEL_ENTRY("optim", "adam_f32"),
  TN_KERNEL_ENTRY("optim_f64", "adam_f64"),
};
static tn_kernel_entry amsgrad[] = {
  TN_KERNEL_ENTRY("optim", "adam_amsgrad_f32"),
  TN_KERNEL_ENTRY("optim_f64", "adam_amsgrad_f64"),
};

static tn_kernel_entry *kernels(const tn_optim *optim)
{
  return optim->adam.amsgrad ? amsgrad : plain;
}

static int state_count(const tn_optim *optim)
{
  return optim->adam.amsgrad ? 3 : 2;
}

/* By squaring, so that it does not depend on a C library's pow. */
static double power(double base, int64_t exponent)
{
  double result = 1;
  for (; exponent > 0; exponent >>= 1, base *= base)
    if (exponent & 1) result *= base;
  return result;
}

static int numbers(const tn_optim *optim, int64_t step, tn_dtype dtype,
                   tn_arg *args)
{
  const tn_optim_adam_options *of = &optim->adam;
  double lr = optim->lr, decay = of->weight_decay;
  const double values[] = {
    1 - of->beta1,
    of->beta2,
    1 - of->beta2,
    -(lr / (1 - power(of->beta1, step))),
    sqrt(1 - power(of->beta2, step)),
    of->eps,
    optim->is_decoupled ? 0 : decay,
    optim->is_decoupled ? 1 - lr * decay : 1,
    of->maximize ? -1 : 1,
  };
  int count = sizeof values / sizeof *values;
  for (int i = 0; i < count; i++) args[i] = tn_optim_number(dtype, values[i]);
  return count;
}

static const tn_optim_kind adam = { "adam", kernels, state_count, numbers };
static const tn_optim_kind adamw = { "adamw", kernels, state_count, numbers };

static tn_optim *make(const tn_optim_kind *kind, tn_tensor *const *parameters,
                      int n, double lr, tn_optim_adam_options options)
{
  options.beta1 = tn_optim_option(options.beta1, 0.9);
  options.beta2 = tn_optim_option(options.beta2, 0.999);
  options.eps = tn_optim_option(options.eps, 1e-8);
  options.weight_decay = tn_optim_option(options.weight_decay,
                                         kind == &adamw ? 0.01 : 0);
  if (tn_optim_check(kind->name, "beta1", options.beta1, 1) != TN_OK ||
      tn_optim_check(kind->name, "beta2", options.beta2, 1) != TN_OK ||
      tn_optim_check(kind->name, "eps", options.eps, INFINITY) != TN_OK ||
      tn_optim_check(kind->name, "weight decay", options.weight_decay,
                     INFINITY) != TN_OK)
    return NULL;
  tn_optim *optim = tn_optim_new(kind, parameters, n, lr);
  if (!optim) return NULL;
  optim->adam = options;
  optim->is_decoupled = kind == &adamw;
  return optim;
}

tn_optim *tn_optim_adam_with(tn_tensor *const *parameters, int n, double lr,
                             tn_optim_adam_options options)
{
  return make(&adam, parameters, n, lr, options);
}

tn_optim *tn_optim_adamw_with(tn_tensor *const *parameters, int n, double lr,
                              tn_optim_adam_options options)
{
  return make(&adamw, parameters, n, lr, options);
}
