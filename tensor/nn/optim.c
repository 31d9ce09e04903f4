#include "config.h"

#include "tensor/nn/optim.h"

#include <math.h>
#include <stdlib.h>

#include "tensor/autograd/node.h"
#include "tensor/nn/optim_capture.h"
#include "tensor/nn/optim_pack.h"
#include "tensor/tensor/tensor.h"

tn_status tn_optim_check(const char *optimiser, const char *option,
                         double value, double end)
{
  if (value >= 0 && value < end) return TN_OK;
  if (isinf(end))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: %s %g: 0 or more is needed",
                        optimiser, option, value);
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: %s %g: 0 or more and less "
                      "than %g is needed", optimiser, option, value, end);
}

double tn_optim_option(double given, double standard)
{
  if (given == 0) return standard;
  return given == TN_OPTIM_ZERO ? 0 : given;
}

tn_arg tn_optim_number(tn_dtype dtype, double value)
{
  if (dtype == TN_F64)
    return (tn_arg){ TN_ARG_KIND_F64, { .f64 = value } };
  return (tn_arg){ TN_ARG_KIND_F32, { .f32 = (float)value } };
}

static tn_status check_parameter(const char *name, tn_tensor *const *all,
                                 int number)
{
  const tn_tensor *t = all[number];
  if (!t)
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: parameter %d is NULL", name,
                        number);
  if (!tn_is_leaf(t))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: parameter %d was made by "
                        "an operation (%s): leaves can be optimised", name,
                        number, tn_grad_fn_name(t));
  if (!tn_dtype_is_float(tn_dtype_of(t)))
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: parameter %d is of dtype %s: "
                        "floats can be optimised", name, number,
                        tn_dtype_name(tn_dtype_of(t)));
  for (int i = 0; i < number; i++)
    if (all[i] == t)
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: parameters %d and %d are "
                          "the same tensor: each is given once", name, i,
                          number);
  return TN_OK;
}

static tn_status check_parameters(const char *name,
                                  tn_tensor *const *parameters, int n)
{
  if (n <= 0)
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: %d parameters: one or more "
                        "are needed", name, n);
  for (int i = 0; i < n; i++) {
    tn_status status = check_parameter(name, parameters, i);
    if (status != TN_OK) return status;
  }
  return TN_OK;
}

tn_optim *tn_optim_new(const tn_optim_kind *kind,
                       tn_tensor *const *parameters, int n, double lr)
{
  if (!parameters && n <= 0) return NULL; /* of a module that is NULL */
  if (!parameters) {
    tn_set_error(TN_INVALID_ARGUMENT, "%s: the parameters are NULL",
                 kind->name);
    return NULL;
  }
  if (check_parameters(kind->name, parameters, n) != TN_OK ||
      tn_optim_check(kind->name, "learning rate", lr, INFINITY) != TN_OK)
    return NULL;
  tn_optim *optim = calloc(1, sizeof *optim);
  if (optim) optim->members = calloc((size_t)n, sizeof *optim->members);
  if (!optim || !optim->members) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for an optimiser of %d "
                 "parameters", n);
    free(optim);
    return NULL;
  }
  tn_refs_init(&optim->refs);
  optim->kind = kind;
  optim->lr = lr;
  optim->count = n;
  for (int i = 0; i < n; i++)
    optim->members[i] =
        (tn_optim_member){ tn_retain(parameters[i]), 0, -1, 0 };
  return optim;
}

tn_optim *tn_optim_retain(tn_optim *optim)
{
  if (optim) tn_refs_retain(&optim->refs);
  return optim;
}

void tn_optim_release(tn_optim *optim)
{
  if (!optim || !tn_refs_release(&optim->refs)) return;
  for (int i = 0; i < optim->count; i++)
    tn_release(optim->members[i].parameter);
  tn_optim_packs_release(optim->packs, optim->pack_count);
  free(optim->members);
  free(optim);
}

void tn_optim_zero_grad(tn_optim *optim)
{
  for (int i = 0; optim && i < optim->count; i++)
    if (tn_grad(optim->members[i].parameter))
      tn_set_grad(optim->members[i].parameter, NULL);
}

double tn_optim_lr(const tn_optim *optim)
{
  return optim ? optim->lr : NAN;
}

tn_status tn_optim_set_lr(tn_optim *optim, double lr)
{
  if (!optim)
    return tn_set_error(TN_INVALID_ARGUMENT, "the optimiser is NULL");
  tn_status status = tn_optim_check(optim->kind->name, "learning rate", lr,
                                    INFINITY);
  if (status == TN_OK) optim->lr = lr;
  return status;
}

/* ---- a step ---- */

static tn_status check_member(const tn_optim *optim, int number)
{
  tn_tensor *t = optim->members[number].parameter, *grad = tn_grad(t);
  if (!grad) return TN_OK;
  if (!tn_shape_equal(tn_tensor_shape(t), tn_tensor_shape(grad)))
    return tn_set_error(TN_SHAPE_MISMATCH, "%s: parameter %d has shape %s, "
                        "its gradient %s", optim->kind->name, number,
                        tn_shape_text(tn_tensor_shape(t)),
                        tn_shape_text(tn_tensor_shape(grad)));
  if (t->dtype != grad->dtype)
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: parameter %d is of dtype %s, "
                        "its gradient of %s", optim->kind->name, number,
                        tn_dtype_name((tn_dtype)t->dtype),
                        tn_dtype_name((tn_dtype)grad->dtype));
  if (tn_tensor_place(t) != tn_tensor_place(grad))
    return tn_set_error(TN_DEVICE_MISMATCH, "%s: parameter %d is on %s, its "
                        "gradient on %s", optim->kind->name, number,
                        tn_tensor_place(t)->name,
                        tn_tensor_place(grad)->name);
  return tn_inplace_begin(t, optim->kind->name);
}

/* The tensors of a pack as the kernel needs them: contiguous. */
typedef struct operands {
  tn_tensor *parameters[TN_OPTIM_SLOTS], *grads[TN_OPTIM_SLOTS];
  bool is_copy[TN_OPTIM_SLOTS]; /* to be copied back */
} operands;

static tn_status take_operands(const tn_optim *optim,
                               const tn_optim_pack *pack, operands *of)
{
  for (int i = 0; i < pack->count; i++) {
    tn_tensor *t = optim->members[pack->members[i]].parameter;
    tn_tensor *grad = tn_grad(t);
    of->parameters[i] = of->grads[i] = NULL;
    if (!grad || t->numel == 0) continue;
    of->is_copy[i] = !t->is_contiguous;
    of->parameters[i] = of->is_copy[i] ? tn_contiguous(t) : t;
    of->grads[i] = grad->is_contiguous ? grad : tn_contiguous(grad);
    if (!of->parameters[i] || !of->grads[i]) return tn_last_status();
  }
  return TN_OK;
}

static tn_arg of_pointer(const void *pointer)
{
  return (tn_arg){ TN_ARG_KIND_PTR, { .ptr = pointer } };
}

/* Empty slots have the addresses of the first one that is not. */
static tn_status launch(tn_optim *optim, const tn_optim_pack *pack,
                        const operands *of, int first, int32_t which)
{
  tn_arg args[TN_ARGS_MAX];
  int at = 0, states = optim->kind->state_count(optim);
  int64_t items = 0;
  tn_kernel *kernel = tn_place_kernel(
      pack->place,
      optim->kind->kernels(optim) + (pack->dtype == TN_F64 ? 1 : 0));
  if (!kernel) return tn_last_status();
  int slot[TN_OPTIM_SLOTS];
  for (int i = 0; i < TN_OPTIM_SLOTS; i++)
    slot[i] = i < pack->count && of->parameters[i] ? i : first;
  for (int i = 0; i < TN_OPTIM_SLOTS; i++)
    args[at++] = of_pointer(tn_tensor_address(of->parameters[slot[i]]));
  for (int k = 0; k < states; k++)
    args[at++] = of_pointer(tn_tensor_address(pack->states[k]));
  for (int i = 0; i < TN_OPTIM_SLOTS; i++)
    args[at++] = of_pointer(tn_tensor_address(of->grads[slot[i]]));
  for (int i = 0; i < TN_OPTIM_SLOTS; i++) {
    int64_t n = i < pack->count ? pack->begins[i + 1] - pack->begins[i] : 0;
    if (which >> i & 1 && n > items) items = n;
    args[at++] = (tn_arg){ TN_ARG_KIND_I64, { .i64 = n } };
  }
  args[at++] = (tn_arg){ TN_ARG_KIND_I32, { .i32 = which } };
  int64_t step = optim->members[pack->members[first]].steps + 1;
  size_t numbers = (size_t)at;
  at += optim->kind->numbers(optim, step, pack->dtype, args + at);
  tn_status status = tn_launch(kernel, items, args, (size_t)at);
  tn_graph *graph = tn_capturing_graph(pack->place->device);
  if (status != TN_OK || !graph || items == 0) return status;
  return tn_optim_capture(graph, optim, (int)(pack - optim->packs), first,
                          which, numbers);
}

/* One launch for all that are in the same step, the usual case. */
static tn_status step_pack(tn_optim *optim, const tn_optim_pack *pack)
{
  operands of;
  int32_t left = 0;
  tn_status status = take_operands(optim, pack, &of);
  for (int i = 0; i < pack->count; i++)
    if (of.parameters[i]) left |= 1 << i;
  while (left && status == TN_OK) {
    int first = __builtin_ctz((unsigned)left);
    int32_t which = 0;
    for (int i = first; i < pack->count; i++)
      if (left >> i & 1 && optim->members[pack->members[i]].steps ==
                               optim->members[pack->members[first]].steps)
        which |= 1 << i;
    status = launch(optim, pack, &of, first, which);
    left &= ~which;
  }
  for (int i = 0; i < pack->count && status == TN_OK; i++)
    if (of.parameters[i] && of.is_copy[i] &&
        !tn_copy_(optim->members[pack->members[i]].parameter,
                  of.parameters[i]))
      status = tn_last_status();
  return status;
}

static bool is_captured(const tn_optim_member *member)
{
  return tn_capturing_graph(tn_tensor_place(member->parameter)->device);
}

/* What is kept must be there before: it would be made anew, all zeros, by
 * each replay. */
static tn_status check_capture(const tn_optim *optim)
{
  for (int i = 0; i < optim->count; i++)
    if (is_captured(&optim->members[i]) && optim->members[i].pack < 0)
      return tn_set_error(TN_CAPTURE_VIOLATION, "%s: the first step cannot be "
                          "captured into a graph: take one before",
                          optim->kind->name);
  return TN_OK;
}

static tn_status step(tn_optim *optim)
{
  tn_status status = TN_OK;
  for (int i = 0; i < optim->count && status == TN_OK; i++)
    status = check_member(optim, i);
  if (status == TN_OK) status = check_capture(optim);
  if (status == TN_OK) status = tn_optim_pack_all(optim);
  for (int i = 0; i < optim->pack_count && status == TN_OK; i++)
    status = step_pack(optim, &optim->packs[i]);
  for (int i = 0; i < optim->count && status == TN_OK; i++) {
    tn_optim_member *member = &optim->members[i];
    if (!tn_grad(member->parameter)) continue;
    if (!is_captured(member)) member->steps++;
    if (!tn_inplace_end(member->parameter, NULL)) status = tn_last_status();
  }
  return status;
}

tn_status tn_optim_step(tn_optim *optim)
{
  if (!optim)
    return tn_set_error(TN_INVALID_ARGUMENT, "the optimiser is NULL");
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_grad_mode_guard mode = tn_grad_mode_push(false);
  tn_status status = step(optim);
  tn_grad_mode_pop(&mode);
  tn_scope_pop(&scope);
  return status;
}
