/* Operations on two operands, element by element. */
#ifndef TN_TENSOR_OPS_BINARY_H
#define TN_TENSOR_OPS_BINARY_H

#include "tensor/autograd/node.h"
#include "tensor/compute/elementwise.h"

/* Which tensors a formula needs: saved as number 0, 1 and 2. */
enum { TN_NEEDS_A = 1, TN_NEEDS_B = 2, TN_NEEDS_RESULT = 4 };

typedef struct tn_binary {
  const char *name, *inplace;
  bool is_real;        /* integers are made f32 */
  bool is_comparison;  /* the result is bool */
  int which;           /* of kernels' compare */
  const tn_node_kind *kind; /* NULL: no gradient */
  unsigned for_a, for_b;    /* what the gradients of a and b need */
  const tn_node_kind *number_kind; /* of a tensor and a number, which is its
                                    * data; NULL: as of two tensors */
  unsigned for_number;
  tn_elementwise tensors[TN_SLOT_COUNT];
  tn_elementwise numbers[TN_SLOT_COUNT];
} tn_binary;

/* NULL operands give NULL. `scale`: of kernels that take it, else NULL. */
tn_tensor *tn_binary_apply(tn_binary *op, tn_tensor *a, tn_tensor *b,
                           const double *scale);
tn_tensor *tn_binary_apply_(tn_binary *op, tn_tensor *a, tn_tensor *b,
                            const double *scale);
tn_tensor *tn_binary_apply_out(tn_binary *op, tn_tensor *out, tn_tensor *a,
                               tn_tensor *b);
tn_tensor *tn_binary_number(tn_binary *op, tn_tensor *a, double number);
tn_tensor *tn_binary_number_(tn_binary *op, tn_tensor *a, double number);

/* A 0-dimensional tensor on t's place, of the dtype that t and the number
 * make; in no scope. */
tn_tensor *tn_number_tensor(const tn_tensor *t, double number,
                            const char *operation);

#endif
