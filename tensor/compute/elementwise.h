/* Built-in kernels that work element by element, on operands of any layout. */
#ifndef TN_TENSOR_COMPUTE_ELEMENTWISE_H
#define TN_TENSOR_COMPUTE_ELEMENTWISE_H

#include "tensor/compute/layout.h"

/* The two forms of a kernel (kernels/README.md); one of them may be missing:
 * its name is NULL. */
typedef struct tn_elementwise {
  tn_kernel_entry plain, strided;
} tn_elementwise;
#define TN_ELEMENTWISE(family, operation, dtype)                           \
  { TN_KERNEL_ENTRY(family, operation "_" dtype),                          \
    TN_KERNEL_ENTRY(family, operation "_strided_" dtype) }

#define TN_ELEMENTWISE_FLAT(family, operation, dtype)                      \
  { .plain = TN_KERNEL_ENTRY(family, operation "_" dtype) }

/* Whether there is a kernel at all. */
static inline bool tn_elementwise_exists(const tn_elementwise *kernel)
{
  return kernel->plain.name || kernel->strided.name;
}

/* Runs it over the shape of operands[0], which is written. `numbers`: further
 * arguments, after the pointers. Operands are of one place, and are broadcast
 * to the shape; operands[0] has no memory in common with another one, unless
 * they are the same elements. */
tn_status tn_elementwise_run(tn_elementwise *kernel,
                             tn_tensor *const *operands, int count,
                             const tn_arg *numbers, int number_count);

#endif
