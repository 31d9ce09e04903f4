/* Kernels over up to four dimensions, run over any number of them. */
#ifndef TN_TENSOR_COMPUTE_STRIDED_H
#define TN_TENSOR_COMPUTE_STRIDED_H

#include "tensor/compute/layout.h"

/* The addresses of the operands' first elements, and the sizes of elements
 * in bytes. */
typedef struct tn_strided {
  int count;
  char *addresses[TN_OPERANDS_MAX];
  size_t items[TN_OPERANDS_MAX];
} tn_strided;

void tn_strided_add(tn_strided *operands, const void *address, size_t item);

/* Launches kernel(pointers, sizes, strides, numbers) once for every index of
 * the dimensions before the last four. */
tn_status tn_strided_run(tn_kernel *kernel, const tn_layout *layout,
                         const tn_strided *operands, const tn_arg *numbers,
                         int number_count);

static inline tn_arg tn_arg_i64(int64_t value)
{
  return (tn_arg){ TN_ARG_KIND_I64, { .i64 = value } };
}

static inline tn_arg tn_arg_pointer(const void *pointer)
{
  return (tn_arg){ TN_ARG_KIND_PTR, { .ptr = pointer } };
}

#endif
