/* How several operands of one shape lie in memory, in as few dimensions as
 * that takes. */
#ifndef TN_TENSOR_COMPUTE_LAYOUT_H
#define TN_TENSOR_COMPUTE_LAYOUT_H

#include "tensor/tensor/tensor.h"

#define TN_OPERANDS_MAX 6

/* Dimensions outermost first, sorted by the strides of the first operand.
 * Sizes of 1 are gone. is_plain: every operand fills its memory without a
 * gap in the same order, so that it is one row of numel elements. */
typedef struct tn_layout {
  int ndim;
  bool is_plain;
  int64_t sizes[TN_DIMS_MAX];
  int64_t strides[TN_OPERANDS_MAX][TN_DIMS_MAX];
} tn_layout;

/* Operands with fewer dimensions, or sizes of 1, are broadcast to `shape`,
 * which they fit. */
void tn_layout_make(tn_layout *layout, tn_shape shape,
                    tn_tensor *const *operands, int count);

#endif
