/* Operations on one operand, element by element. */
#ifndef TN_TENSOR_OPS_UNARY_H
#define TN_TENSOR_OPS_UNARY_H

#include "tensor/autograd/node.h"
#include "tensor/compute/elementwise.h"

/* What a formula needs, saved as number 0. */
typedef enum tn_unary_need {
  TN_NEEDS_NOTHING,
  TN_NEEDS_ARGUMENT,
  TN_NEEDS_OUTPUT
} tn_unary_need;

typedef struct tn_unary {
  const char *name, *inplace;
  bool is_real; /* integers are made f32 */
  tn_unary_need need;
  const tn_node_kind *kind;
  tn_elementwise kernels[TN_SLOT_COUNT];
} tn_unary;

/* `numbers` are passed to the kernel and kept for the formula; there may be
 * none. NULL gives NULL. */
tn_tensor *tn_unary_apply(tn_unary *op, tn_tensor *t, const double *numbers,
                          int count);
tn_tensor *tn_unary_apply_(tn_unary *op, tn_tensor *t, const double *numbers,
                           int count);
tn_tensor *tn_unary_apply_out(tn_unary *op, tn_tensor *out, tn_tensor *t);

#endif
