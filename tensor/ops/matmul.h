/* Products of tensors as the operations see them. */
#ifndef TN_TENSOR_OPS_MATMUL_H
#define TN_TENSOR_OPS_MATMUL_H

#include "tensor/compute/product.h"

/* A tensor as batches of matrices: the last two dimensions and those before.
 * One dimension alone is a row on the left, a column on the right. */
typedef struct tn_matrices {
  const tn_tensor *tensor;
  int batch_ndim;
  int64_t rows, columns, row_stride, column_stride;
} tn_matrices;

tn_matrices tn_matrices_of(const tn_tensor *t, bool is_left);
tn_matrices tn_matrices_transposed(tn_matrices of);

/* The product, in no scope, without history. dtypes and shapes are checked;
 * all are of one place. bias: one dimension, as long as rows of the result and
 * of their dtype, added to each; or NULL. */
tn_tensor *tn_matrices_multiply(tn_matrices a, tn_matrices b,
                                tn_tensor *bias, tn_place *place,
                                const char *operation);

#endif
