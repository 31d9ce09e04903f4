#include "config.h"

#include "tensor/compute/elementwise.h"

#include "tensor/compute/convert.h"

/* Dimensions that the strided kernels take. */
#define KERNEL_DIMS 4

static inline tn_arg of_i64(int64_t value)
{
  return (tn_arg){ TN_ARG_KIND_I64, { .i64 = value } };
}

static inline tn_arg of_pointer(const void *pointer)
{
  return (tn_arg){ TN_ARG_KIND_PTR, { .ptr = pointer } };
}

static tn_status run_plain(tn_place *place, tn_kernel_entry *entry,
                           tn_tensor *const *operands, int count,
                           const tn_arg *numbers, int number_count)
{
  tn_arg args[TN_ARGS_MAX];
  int at = 0;
  tn_kernel *kernel = tn_place_kernel(place, entry);
  if (!kernel) return tn_last_status();
  for (int k = 0; k < count; k++)
    args[at++] = of_pointer(tn_tensor_address(operands[k]));
  for (int i = 0; i < number_count; i++) args[at++] = numbers[i];
  args[at++] = of_i64(operands[0]->numel);
  return tn_launch(kernel, operands[0]->numel, args, (size_t)at);
}

/* The innermost four dimensions in one launch; the kernel's order is
 * outermost first. */
static tn_status run_inner(tn_kernel *kernel, const tn_layout *layout,
                           char *const *addresses, int count,
                           const tn_arg *numbers, int number_count)
{
  tn_arg args[TN_ARGS_MAX];
  int at = 0, first = layout->ndim - KERNEL_DIMS;
  int64_t items = 1;
  for (int k = 0; k < count; k++) args[at++] = of_pointer(addresses[k]);
  for (int i = 0; i < number_count; i++) args[at++] = numbers[i];
  for (int i = first; i < layout->ndim; i++) {
    int64_t size = i < 0 ? 1 : layout->sizes[i];
    items *= size;
    args[at++] = of_i64(size);
  }
  for (int k = 0; k < count; k++)
    for (int i = first; i < layout->ndim; i++)
      args[at++] = of_i64(i < 0 ? 0 : layout->strides[k][i]);
  return tn_launch(kernel, items, args, (size_t)at);
}

/* Steps to the next index of the outer dimensions; false at the end. */
static bool next_index(const tn_layout *layout, int outer, int64_t *index)
{
  for (int i = outer - 1; i >= 0; i--) {
    if (++index[i] < layout->sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

static tn_status run_strided(tn_kernel *kernel, const tn_layout *layout,
                             tn_tensor *const *operands, int count,
                             const tn_arg *numbers, int number_count)
{
  int outer = layout->ndim > KERNEL_DIMS ? layout->ndim - KERNEL_DIMS : 0;
  int64_t index[TN_DIMS_MAX] = { 0 };
  do {
    char *addresses[TN_OPERANDS_MAX];
    for (int k = 0; k < count; k++) {
      int64_t offset = 0;
      for (int i = 0; i < outer; i++)
        offset += index[i] * layout->strides[k][i];
      int64_t item = (int64_t)tn_dtype_size((tn_dtype)operands[k]->dtype);
      addresses[k] = (char *)tn_tensor_address(operands[k]) + offset * item;
    }
    tn_status status = run_inner(kernel, layout, addresses, count, numbers,
                                 number_count);
    if (status != TN_OK) return status;
  } while (next_index(layout, outer, index));
  return TN_OK;
}

/* As one row, for kernels without a plain form. */
static void flatten(tn_layout *layout, int64_t numel, int count)
{
  layout->ndim = 1;
  layout->sizes[0] = numel;
  for (int k = 0; k < count; k++) layout->strides[k][0] = 1;
}

/* For kernels without a strided form: on copies in row order. */
static tn_status run_packed(tn_elementwise *op, tn_tensor *const *operands,
                            int count, const tn_arg *numbers,
                            int number_count)
{
  tn_tensor *packed[TN_OPERANDS_MAX] = { NULL }, *out = operands[0];
  tn_shape shape = tn_tensor_shape(out);
  tn_place *place = tn_tensor_place(out);
  tn_status status = TN_OK;
  for (int k = 0; k < count && status == TN_OK; k++) {
    tn_tensor *t = operands[k];
    tn_dtype dtype = (tn_dtype)t->dtype;
    if (t->is_contiguous && tn_shape_equal(tn_tensor_shape(t), shape))
      packed[k] = tn_retain(t);
    else if (k == 0)
      packed[k] = tn_tensor_new(place, dtype, shape, op->plain.name);
    else
      packed[k] = tn_tensor_converted(t, dtype, shape, op->plain.name);
    if (!packed[k]) status = tn_last_status();
  }
  if (status == TN_OK)
    status = run_plain(place, &op->plain, packed, count, numbers,
                       number_count);
  if (status == TN_OK && packed[0] != out)
    status = tn_tensor_convert(out, packed[0]);
  for (int k = 0; k < count; k++) tn_release(packed[k]);
  return status;
}

tn_status tn_elementwise_run(tn_elementwise *op, tn_tensor *const *operands,
                             int count, const tn_arg *numbers,
                             int number_count)
{
  tn_layout layout;
  tn_place *place = tn_tensor_place(operands[0]);
  if (operands[0]->numel == 0) return TN_OK;
  tn_layout_make(&layout, tn_tensor_shape(operands[0]), operands, count);
  if (layout.is_plain && op->plain.name)
    return run_plain(place, &op->plain, operands, count, numbers,
                     number_count);
  if (!op->strided.name)
    return run_packed(op, operands, count, numbers, number_count);
  tn_kernel *kernel = tn_place_kernel(place, &op->strided);
  if (!kernel) return tn_last_status();
  if (layout.is_plain) flatten(&layout, operands[0]->numel, count);
  return run_strided(kernel, &layout, operands, count, numbers, number_count);
}
