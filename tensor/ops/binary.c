#include "config.h"

#include "tensor/ops/binary.h"

#include "tensor/compute/convert.h"
#include "tensor/compute/number.h"
#include "tensor/ops/operands.h"

/* ---- computing ---- */

static tn_dtype real_of(const tn_binary *op, tn_dtype dtype)
{
  return op->is_real && !tn_dtype_is_float(dtype) ? TN_F32 : dtype;
}

static tn_dtype result_of(const tn_binary *op, tn_dtype dtype)
{
  return op->is_comparison ? TN_BOOL : dtype;
}

/* The kernel for a dtype; NULL with the error set. */
static tn_elementwise *kernel_of(tn_elementwise *kernels, tn_dtype dtype,
                                 const char *name)
{
  tn_elementwise *kernel = &kernels[tn_dtype_slot_of(dtype)];
  if (tn_elementwise_exists(kernel)) return kernel;
  tn_set_error(TN_DTYPE_MISMATCH, "%s: not of dtype %s: convert it with tn_to",
               name, tn_dtype_name(dtype));
  return NULL;
}

/* The arguments after the pointers. */
static int numbers_of(const tn_binary *op, tn_dtype dtype,
                      const double *number, tn_arg *args)
{
  int count = 0;
  if (number) args[count++] = tn_number_arg(dtype, *number);
  if (op->is_comparison)
    args[count++] = (tn_arg){ TN_ARG_KIND_I32, { .i32 = op->which } };
  return count;
}

static tn_status run(tn_binary *op, tn_elementwise *kernel,
                     const tn_operands *ready, tn_tensor *out,
                     const double *number)
{
  tn_arg args[2];
  tn_tensor *operands[3] = { out, ready->tensors[0], NULL };
  if (ready->count > 1) operands[2] = ready->tensors[1];
  return tn_elementwise_run(kernel, operands, 1 + ready->count, args,
                            numbers_of(op, ready->dtype, number, args));
}

static tn_tensor *run_new(tn_binary *op, tn_elementwise *kernel,
                          const tn_operands *ready, const double *number)
{
  tn_tensor *y = tn_tensor_new(tn_operands_place(ready),
                               result_of(op, ready->dtype),
                               tn_operands_shape(ready), op->name);
  if (!y || run(op, kernel, ready, y, number) == TN_OK) return y;
  tn_release(y);
  return NULL;
}

/* Into a tensor that is there, and may share memory with operands. */
static tn_status run_into(tn_binary *op, tn_elementwise *kernel,
                          tn_operands *ready, tn_tensor *out,
                          const double *number, const char *name)
{
  if (out->dtype == result_of(op, ready->dtype)) {
    tn_status status = TN_OK;
    for (int i = 0; i < ready->count && status == TN_OK; i++)
      status = tn_operands_part(ready, i, out, name);
    return status == TN_OK ? run(op, kernel, ready, out, number) : status;
  }
  tn_tensor *y = run_new(op, kernel, ready, number);
  if (!y) return tn_last_status();
  tn_status status = tn_tensor_convert(out, y);
  tn_release(y);
  return status;
}

/* ---- gradients ---- */

/* Of a tensor and a number, inputs[1] is NULL. */
static bool is_recorded(const tn_node_kind *kind, tn_tensor *const inputs[2])
{
  return kind && tn_grad_needed(inputs, inputs[1] ? 2 : 1);
}

static unsigned needs_of(const tn_binary *op, tn_tensor *const inputs[2])
{
  if (!inputs[1]) return op->for_number;
  return (tn_grad_needed(&inputs[0], 1) ? op->for_a : 0) |
         (tn_grad_needed(&inputs[1], 1) ? op->for_b : 0);
}

/* old: a as it was. */
static tn_node *record(const tn_binary *op, const tn_node_kind *kind,
                       tn_tensor *const inputs[2], tn_tensor *old,
                       tn_tensor *y, double number)
{
  unsigned needs = needs_of(op, inputs);
  tn_node *node = tn_node_new(kind, inputs, inputs[1] ? 2 : 1);
  tn_node_save(node, needs & TN_NEEDS_A ? old : NULL);
  tn_node_save(node, needs & TN_NEEDS_B ? inputs[1] : NULL);
  tn_node_save_output(node, needs & TN_NEEDS_RESULT ? y : NULL);
  double *data = tn_node_data(node, sizeof *data);
  if (data) *data = number;
  return node;
}

static tn_tensor *finish(const tn_binary *op, const tn_node_kind *kind,
                         tn_tensor *const inputs[2], tn_tensor *y,
                         double number)
{
  if (y && is_recorded(kind, inputs))
    y = tn_node_finish(record(op, kind, inputs, inputs[0], y, number), y);
  return tn_scope_give(y);
}

/* ---- two tensors ---- */

tn_tensor *tn_binary_apply(tn_binary *op, tn_tensor *a, tn_tensor *b,
                           const double *scale)
{
  if (!a || !b) return NULL;
  tn_operands ready;
  tn_tensor *inputs[] = { a, b };
  tn_dtype dtype = real_of(op, tn_promote(a, b));
  tn_elementwise *kernel = kernel_of(op->tensors, dtype, op->name);
  if (!kernel ||
      tn_operands_begin(&ready, inputs, 2, 0, dtype, op->name) != TN_OK)
    return NULL;
  tn_tensor *y = run_new(op, kernel, &ready, scale);
  tn_operands_end(&ready);
  return finish(op, op->kind, inputs, y, scale ? *scale : 1);
}

/* A copy of a for the formula, if it needs what is about to be changed; it
 * belongs to the scope. */
static tn_tensor *keep_old(const tn_binary *op, const tn_node_kind *kind,
                           tn_tensor *const inputs[2])
{
  if (!is_recorded(kind, inputs) || !(needs_of(op, inputs) & TN_NEEDS_A))
    return inputs[0];
  return tn_clone(inputs[0]);
}

static tn_tensor *change(tn_binary *op, tn_elementwise *kernel,
                         const tn_node_kind *kind, tn_operands *ready,
                         tn_tensor *const inputs[2], const double *number,
                         double data)
{
  tn_tensor *a = inputs[0];
  if (tn_operands_fit(ready, result_of(op, ready->dtype), a, op->inplace) !=
          TN_OK ||
      tn_inplace_begin(a, op->inplace) != TN_OK)
    return NULL;
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return NULL;
  tn_tensor *old = keep_old(op, kind, inputs), *result = NULL;
  if (old &&
      run_into(op, kernel, ready, a, number, op->inplace) == TN_OK)
    result = is_recorded(kind, inputs)
                 ? tn_inplace_end_recorded(a, record(op, kind, inputs, old, a,
                                                     data))
                 : tn_inplace_end(a, NULL);
  tn_scope_pop(&scope);
  return result;
}

tn_tensor *tn_binary_apply_(tn_binary *op, tn_tensor *a, tn_tensor *b,
                            const double *scale)
{
  if (!a || !b) return NULL;
  tn_operands ready;
  tn_tensor *inputs[] = { a, b };
  tn_dtype dtype = real_of(op, tn_promote(a, b));
  tn_elementwise *kernel = kernel_of(op->tensors, dtype, op->inplace);
  if (!kernel ||
      tn_operands_begin(&ready, inputs, 2, 0, dtype, op->inplace) != TN_OK)
    return NULL;
  tn_tensor *result = change(op, kernel, op->kind, &ready, inputs, scale,
                             scale ? *scale : 1);
  tn_operands_end(&ready);
  return result;
}

tn_tensor *tn_binary_apply_out(tn_binary *op, tn_tensor *out, tn_tensor *a,
                               tn_tensor *b)
{
  if (!out || !a || !b) return NULL;
  tn_operands ready;
  tn_tensor *inputs[] = { a, b, out };
  tn_dtype dtype = real_of(op, tn_promote(a, b));
  tn_elementwise *kernel = kernel_of(op->tensors, dtype, op->name);
  if (!kernel || tn_out_begin(out, inputs, 3, op->name) != TN_OK ||
      tn_operands_begin(&ready, inputs, 2, 0, dtype, op->name) != TN_OK)
    return NULL;
  tn_tensor *result = NULL;
  if (tn_operands_fit(&ready, result_of(op, dtype), out, op->name) == TN_OK &&
      run_into(op, kernel, &ready, out, NULL, op->name) == TN_OK)
    result = tn_inplace_end(out, NULL);
  tn_operands_end(&ready);
  return result;
}

/* ---- a tensor and a number ---- */

tn_tensor *tn_number_tensor(const tn_tensor *t, double number,
                            const char *operation)
{
  tn_tensor *made = tn_tensor_new(tn_tensor_place(t),
                                  tn_promote_number(t, number),
                                  (tn_shape){ NULL, 0 }, operation);
  if (!made || tn_tensor_fill(made, number) == TN_OK) return made;
  tn_release(made);
  return NULL;
}

/* Comparisons with what the dtype has not are made in one that has it. */
static tn_dtype number_dtype(const tn_binary *op, const tn_tensor *a,
                             double number)
{
  tn_dtype dtype = real_of(op, tn_promote_number(a, number));
  if (!op->is_comparison || tn_number_fits(dtype, number)) return dtype;
  return tn_number_fits(TN_I64, number) ? TN_I64 : TN_F64;
}

/* Whether there is a kernel for it whose gradient is known. */
static bool is_direct(const tn_binary *op, tn_tensor *a, tn_dtype dtype)
{
  if (!tn_elementwise_exists(&op->numbers[tn_dtype_slot_of(dtype)]))
    return false;
  return !op->kind || op->number_kind || !tn_grad_needed(&a, 1);
}

typedef tn_tensor *apply_function(tn_binary *op, tn_tensor *a, tn_tensor *b,
                                  const double *scale);

static tn_tensor *by_tensor(apply_function *apply, tn_binary *op,
                            tn_tensor *a, double number)
{
  tn_tensor *b = tn_number_tensor(a, number, op->name);
  tn_tensor *y = b ? apply(op, a, b, NULL) : NULL;
  tn_release(b);
  return y;
}

tn_tensor *tn_binary_number(tn_binary *op, tn_tensor *a, double number)
{
  if (!a) return NULL;
  tn_dtype dtype = number_dtype(op, a, number);
  if (!is_direct(op, a, dtype))
    return by_tensor(tn_binary_apply, op, a, number);
  tn_operands ready;
  tn_tensor *inputs[2] = { a, NULL };
  if (tn_operands_begin(&ready, inputs, 1, 0, dtype, op->name) != TN_OK)
    return NULL;
  tn_tensor *y = run_new(op, &op->numbers[tn_dtype_slot_of(dtype)], &ready,
                         &number);
  tn_operands_end(&ready);
  return finish(op, op->number_kind, inputs, y, number);
}

tn_tensor *tn_binary_number_(tn_binary *op, tn_tensor *a, double number)
{
  if (!a) return NULL;
  tn_dtype dtype = number_dtype(op, a, number);
  if (!is_direct(op, a, dtype))
    return by_tensor(tn_binary_apply_, op, a, number);
  tn_operands ready;
  tn_tensor *inputs[2] = { a, NULL };
  if (tn_operands_begin(&ready, inputs, 1, 0, dtype, op->inplace) != TN_OK)
    return NULL;
  tn_tensor *result =
      change(op, &op->numbers[tn_dtype_slot_of(dtype)], op->number_kind,
             &ready, inputs, &number, number);
  tn_operands_end(&ready);
  return result;
}
