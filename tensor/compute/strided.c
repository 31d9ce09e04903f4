#include "config.h"

#include "tensor/compute/strided.h"

/* Dimensions that the kernels take. */
#define KERNEL_DIMS 4

void tn_strided_add(tn_strided *operands, const void *address, size_t item)
{
  operands->addresses[operands->count] = (char *)(uintptr_t)address;
  operands->items[operands->count++] = item;
}

static tn_status run_inner(tn_kernel *kernel, const tn_layout *layout,
                           const tn_strided *operands,
                           const int64_t *offsets, const tn_arg *numbers,
                           int number_count)
{
  tn_arg args[TN_ARGS_MAX];
  int at = 0, first = layout->ndim - KERNEL_DIMS;
  int64_t items = 1;
  for (int k = 0; k < operands->count; k++)
    args[at++] = tn_arg_pointer(operands->addresses[k] +
                                offsets[k] * (int64_t)operands->items[k]);
  for (int i = first; i < layout->ndim; i++) {
    int64_t size = i < 0 ? 1 : layout->sizes[i];
    items *= size;
    args[at++] = tn_arg_i64(size);
  }
  for (int k = 0; k < operands->count; k++)
    for (int i = first; i < layout->ndim; i++)
      args[at++] = tn_arg_i64(i < 0 ? 0 : layout->strides[k][i]);
  for (int i = 0; i < number_count; i++) args[at++] = numbers[i];
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

tn_status tn_strided_run(tn_kernel *kernel, const tn_layout *layout,
                         const tn_strided *operands, const tn_arg *numbers,
                         int number_count)
{
  int outer = layout->ndim > KERNEL_DIMS ? layout->ndim - KERNEL_DIMS : 0;
  int64_t index[TN_DIMS_MAX] = { 0 };
  do {
    int64_t offsets[TN_OPERANDS_MAX] = { 0 };
    for (int k = 0; k < operands->count; k++)
      for (int i = 0; i < outer; i++)
        offsets[k] += index[i] * layout->strides[k][i];
    tn_status status = run_inner(kernel, layout, operands, offsets, numbers,
                                 number_count);
    if (status != TN_OK) return status;
  } while (next_index(layout, outer, index));
  return TN_OK;
}
