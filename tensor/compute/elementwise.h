/* Built-in kernels that work element by element, on operands of any layout. */
#ifndef TN_TENSOR_COMPUTE_ELEMENTWISE_H
#define TN_TENSOR_COMPUTE_ELEMENTWISE_H

#include "tensor/compute/layout.h"

/* The two forms of a kernel (kernels/README.md). */
typedef struct tn_elementwise {
  tn_kernel_entry plain, strided;
} tn_elementwise;
#define TN_ELEMENTWISE(family, operation, dtype)                           \
  { TN_KERNEL_ENTRY(family, operation "_" dtype),                          \
    TN_KERNEL_ENTRY(family, operation "_strided_" dtype) }

/* Runs it over the shape of operands[0], which is written. `numbers`: further
 * arguments, after the pointers. Operands are of one place. */
tn_status tn_elementwise_run(tn_elementwise *kernel,
                             tn_tensor *const *operands, int count,
                             const tn_arg *numbers, int number_count);

#endif
