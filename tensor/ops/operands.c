#include "config.h"

#include "tensor/ops/operands.h"

#include <string.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/convert.h"

static tn_status broadcast(tn_operands *ready, tn_tensor *const *operands,
                           const char *operation)
{
  ready->ndim = operands[0]->ndim;
  for (int i = 0; i < ready->ndim; i++)
    ready->sizes[i] = operands[0]->sizes[i];
  for (int i = 1; i < ready->count; i++) {
    tn_shape shape = tn_operands_shape(ready);
    tn_shape other = tn_tensor_shape(operands[i]);
    if (tn_shape_equal(shape, other)) continue;
    int64_t sizes[TN_DIMS_MAX];
    int ndim;
    tn_status status = tn_shape_broadcast(shape, other, operation, sizes,
                                          &ndim);
    if (status != TN_OK) return status;
    ready->ndim = ndim;
    memcpy(ready->sizes, sizes, (size_t)ndim * sizeof *sizes);
  }
  return TN_OK;
}

static tn_status replace(tn_operands *ready, int i, tn_dtype dtype,
                         const char *operation)
{
  tn_tensor *t = ready->tensors[i];
  tn_tensor *copy = tn_tensor_converted(t, dtype, tn_tensor_shape(t),
                                        operation);
  if (!copy) return tn_last_status();
  if (ready->cast >> i & 1) tn_release(t);
  ready->tensors[i] = copy;
  ready->cast |= 1u << i;
  return TN_OK;
}

static bool are_together(tn_tensor *const *operands, int count)
{
  for (int i = 1; i < count; i++)
    if (!tn_are_together(operands[0], operands[i])) return false;
  return true;
}

static tn_status place(tn_operands *ready, tn_tensor *const *operands,
                       const char *operation)
{
  if (!are_together(operands, ready->count))
    return tn_placement_begin(&ready->placement, operands, ready->count,
                              operation);
  ready->placement.place = tn_tensor_place(operands[0]);
  ready->placement.made = ready->placement.across = 0;
  ready->placement.count = ready->count;
  for (int i = 0; i < ready->count; i++)
    ready->placement.operands[i] = operands[i];
  return TN_OK;
}

tn_status tn_operands_begin(tn_operands *ready, tn_tensor *const *operands,
                            int count, int first, tn_dtype dtype,
                            const char *operation)
{
  ready->count = count;
  ready->cast = 0;
  ready->dtype = dtype;
  tn_status status = broadcast(ready, operands, operation);
  if (status == TN_OK) status = place(ready, operands, operation);
  if (status != TN_OK) return status;
  for (int i = 0; i < count; i++)
    ready->tensors[i] = ready->placement.operands[i];
  for (int i = first; i < count && status == TN_OK; i++)
    if (ready->tensors[i]->dtype != dtype)
      status = replace(ready, i, dtype, operation);
  if (status != TN_OK) tn_operands_end(ready);
  return status;
}

void tn_operands_end(tn_operands *ready)
{
  for (int i = 0; ready->cast && i < ready->count; i++)
    if (ready->cast >> i & 1) tn_release(ready->tensors[i]);
  ready->cast = 0;
  if (ready->placement.made | ready->placement.across)
    tn_placement_end(&ready->placement);
}

/* bool < integers < floats */
static int kind_of(tn_dtype dtype)
{
  return dtype == TN_BOOL ? 0 : tn_dtype_is_integer(dtype) ? 1 : 2;
}

tn_status tn_operands_fit(const tn_operands *ready, tn_dtype result,
                          const tn_tensor *t, const char *operation)
{
  tn_shape shape = tn_operands_shape(ready);
  if (!tn_shape_equal(shape, tn_tensor_shape(t)))
    return tn_set_error(TN_SHAPE_MISMATCH, "%s: the result has shape %s, the "
                        "tensor that takes it %s", operation,
                        tn_shape_text(shape),
                        tn_shape_text(tn_tensor_shape(t)));
  if (kind_of(result) > kind_of((tn_dtype)t->dtype))
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: the result is %s, which does "
                        "not go into a tensor of %s", operation,
                        tn_dtype_name(result),
                        tn_dtype_name((tn_dtype)t->dtype));
  if (tn_operands_place(ready) != tn_tensor_place(t))
    return tn_set_error(TN_DEVICE_MISMATCH, "%s: the result is on %s, the "
                        "tensor that takes it on %s", operation,
                        tn_operands_place(ready)->name,
                        tn_tensor_place(t)->name);
  return TN_OK;
}

tn_status tn_operands_part(tn_operands *ready, int i, const tn_tensor *out,
                           const char *operation)
{
  const tn_tensor *t = ready->tensors[i];
  if (!tn_tensors_meet(t, out) || tn_tensors_coincide(t, out)) return TN_OK;
  return replace(ready, i, (tn_dtype)t->dtype, operation);
}

tn_status tn_out_begin(tn_tensor *out, tn_tensor *const *inputs, int count,
                       const char *operation)
{
  if (tn_grad_needed(inputs, count))
    return tn_set_error(TN_UNSUPPORTED, "%s: a result in a given tensor has "
                        "no gradient: use it under no_grad, or the form "
                        "that makes a new tensor", operation);
  return tn_inplace_begin(out, operation);
}
