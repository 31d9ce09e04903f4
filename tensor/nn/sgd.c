#include "config.h"

#include <math.h>

#include "tensor/nn/optim.h"

static tn_kernel_entry plain[] = {
  TN_KERNEL_ENTRY("optim", "sgd_f32"),
  TN_KERNEL_ENTRY("optim_f64", "sgd_f64"),
};
static tn_kernel_entry with_momentum[] = {
  TN_KERNEL_ENTRY("optim", "sgd_momentum_f32"),
  TN_KERNEL_ENTRY("optim_f64", "sgd_momentum_f64"),
};

static tn_kernel_entry *kernels(const tn_optim *optim)
{
  return optim->sgd.momentum > 0 ? with_momentum : plain;
}

static int state_count(const tn_optim *optim)
{
  return optim->sgd.momentum > 0;
}

static int numbers(const tn_optim *optim, int64_t step, tn_dtype dtype,
                   tn_arg *args)
{
  const tn_optim_sgd_options *of = &optim->sgd;
  int at = 0;
  args[at++] = tn_optim_number(dtype, -optim->lr);
  args[at++] = tn_optim_number(dtype, of->weight_decay);
  args[at++] = tn_optim_number(dtype, of->maximize ? -1 : 1);
  if (of->momentum == 0) return at;
  args[at++] = tn_optim_number(dtype, of->momentum);
  args[at++] = tn_optim_number(dtype, 1 - of->dampening);
  args[at++] = (tn_arg){ TN_ARG_KIND_I32, { .i32 = of->nesterov } };
  args[at++] = (tn_arg){ TN_ARG_KIND_I32, { .i32 = step == 1 } };
  return at;
}

static const tn_optim_kind kind = { "sgd", kernels, state_count, numbers };

tn_optim *tn_optim_sgd_with(tn_tensor *const *parameters, int n, double lr,
                            tn_optim_sgd_options options)
{
  options.momentum = tn_optim_option(options.momentum, 0);
  options.dampening = tn_optim_option(options.dampening, 0);
  options.weight_decay = tn_optim_option(options.weight_decay, 0);
  if (tn_optim_check("sgd", "momentum", options.momentum, INFINITY)
        != TN_OK ||
      tn_optim_check("sgd", "weight decay", options.weight_decay, INFINITY)
        != TN_OK)
    return NULL;
  if (!isfinite(options.dampening)) {
    tn_set_error(TN_INVALID_ARGUMENT, "sgd: dampening %g: a finite number is "
                 "needed", options.dampening);
    return NULL;
  }
  if (options.nesterov && (options.momentum == 0 || options.dampening != 0)) {
    tn_set_error(TN_INVALID_ARGUMENT, "sgd: nesterov with momentum %g and "
                 "dampening %g: a momentum and no dampening is needed",
                 options.momentum, options.dampening);
    return NULL;
  }
  tn_optim *optim = tn_optim_new(&kind, parameters, n, lr);
  if (optim) optim->sgd = options;
  return optim;
}
