#include "config.h"

#include "tensor/ops/unary.h"

#include <string.h>

#include "tensor/compute/convert.h"
#include "tensor/compute/number.h"
#include "tensor/ops/operands.h"

enum { NUMBERS_MAX = 2 };

static tn_dtype dtype_of(const tn_unary *op, const tn_tensor *t)
{
  tn_dtype dtype = (tn_dtype)t->dtype;
  return op->is_real && !tn_dtype_is_float(dtype) ? TN_F32 : dtype;
}

static tn_elementwise *kernel_of(tn_unary *op, tn_dtype dtype,
                                 const char *name)
{
  tn_elementwise *kernel = &op->kernels[tn_dtype_slot_of(dtype)];
  if (tn_elementwise_exists(kernel)) return kernel;
  tn_set_error(TN_DTYPE_MISMATCH, "%s: not of dtype %s: convert it with tn_to",
               name, tn_dtype_name(dtype));
  return NULL;
}

static tn_status run(tn_elementwise *kernel, const tn_operands *ready,
                     tn_tensor *out, const double *numbers, int count)
{
  tn_arg args[NUMBERS_MAX];
  for (int i = 0; i < count; i++)
    args[i] = tn_number_arg(ready->dtype, numbers[i]);
  return tn_elementwise_run(kernel, (tn_tensor *[]){ out, ready->tensors[0] },
                            2, args, count);
}

static tn_tensor *run_new(tn_unary *op, tn_elementwise *kernel,
                          const tn_operands *ready, const double *numbers,
                          int count)
{
  tn_tensor *y = tn_tensor_new(tn_operands_place(ready), ready->dtype,
                               tn_operands_shape(ready), op->name);
  if (!y || run(kernel, ready, y, numbers, count) == TN_OK) return y;
  tn_release(y);
  return NULL;
}

static tn_status run_into(tn_unary *op, tn_elementwise *kernel,
                          tn_operands *ready, tn_tensor *out,
                          const double *numbers, int count)
{
  if (out->dtype == ready->dtype) {
    tn_status status = tn_operands_part(ready, 0, out, op->name);
    return status == TN_OK ? run(kernel, ready, out, numbers, count) : status;
  }
  tn_tensor *y = run_new(op, kernel, ready, numbers, count);
  tn_status status = y ? tn_tensor_convert(out, y) : tn_last_status();
  tn_release(y);
  return status;
}

static tn_node *record(const tn_unary *op, tn_tensor *t, tn_tensor *old,
                       tn_tensor *y, const double *numbers, int count)
{
  tn_node *node = tn_node_new(op->kind, &t, 1);
  if (op->need == TN_NEEDS_ARGUMENT) tn_node_save(node, old);
  if (op->need == TN_NEEDS_OUTPUT) tn_node_save_output(node, y);
  size_t size = (size_t)count * sizeof *numbers;
  void *data = count ? tn_node_data(node, size) : NULL;
  if (data) memcpy(data, numbers, size);
  return node;
}

tn_tensor *tn_unary_apply(tn_unary *op, tn_tensor *t, const double *numbers,
                          int count)
{
  if (!t) return NULL;
  tn_operands ready;
  tn_dtype dtype = dtype_of(op, t);
  tn_elementwise *kernel = kernel_of(op, dtype, op->name);
  if (!kernel || tn_operands_begin(&ready, &t, 1, 0, dtype, op->name) != TN_OK)
    return NULL;
  tn_tensor *y = run_new(op, kernel, &ready, numbers, count);
  tn_operands_end(&ready);
  if (y && tn_grad_needed(&t, 1))
    y = tn_node_finish(record(op, t, t, y, numbers, count), y);
  return tn_scope_give(y);
}

static tn_tensor *change(tn_unary *op, tn_elementwise *kernel,
                         tn_operands *ready, tn_tensor *t,
                         const double *numbers, int count)
{
  if (tn_operands_fit(ready, ready->dtype, t, op->inplace) != TN_OK ||
      tn_inplace_begin(t, op->inplace) != TN_OK)
    return NULL;
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return NULL;
  bool is_recorded = tn_grad_needed(&t, 1);
  tn_tensor *old = t, *result = NULL;
  if (is_recorded && op->need == TN_NEEDS_ARGUMENT) old = tn_clone(t);
  if (old && run_into(op, kernel, ready, t, numbers, count) == TN_OK)
    result = is_recorded
                 ? tn_inplace_end_recorded(t, record(op, t, old, t, numbers,
                                                     count))
                 : tn_inplace_end(t, NULL);
  tn_scope_pop(&scope);
  return result;
}

tn_tensor *tn_unary_apply_(tn_unary *op, tn_tensor *t, const double *numbers,
                           int count)
{
  if (!t) return NULL;
  tn_operands ready;
  tn_dtype dtype = dtype_of(op, t);
  tn_elementwise *kernel = kernel_of(op, dtype, op->inplace);
  if (!kernel ||
      tn_operands_begin(&ready, &t, 1, 0, dtype, op->inplace) != TN_OK)
    return NULL;
  tn_tensor *result = change(op, kernel, &ready, t, numbers, count);
  tn_operands_end(&ready);
  return result;
}

tn_tensor *tn_unary_apply_out(tn_unary *op, tn_tensor *out, tn_tensor *t)
{
  if (!out || !t) return NULL;
  tn_operands ready;
  tn_dtype dtype = dtype_of(op, t);
  tn_elementwise *kernel = kernel_of(op, dtype, op->name);
  if (!kernel ||
      tn_out_begin(out, (tn_tensor *[]){ t, out }, 2, op->name) != TN_OK ||
      tn_operands_begin(&ready, &t, 1, 0, dtype, op->name) != TN_OK)
    return NULL;
  tn_tensor *result = NULL;
  if (tn_operands_fit(&ready, dtype, out, op->name) == TN_OK &&
      run_into(op, kernel, &ready, out, NULL, 0) == TN_OK)
    result = tn_inplace_end(out, NULL);
  tn_operands_end(&ready);
  return result;
}
