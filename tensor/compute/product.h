/* Products of matrices by the built-in kernels. */
#ifndef TN_TENSOR_COMPUTE_PRODUCT_H
#define TN_TENSOR_COMPUTE_PRODUCT_H

#include "tensor/tensor/tensor.h"

/* A factor: batches of matrices of any layout, in elements.  `across`: from
 * row to row of the left factor, from column to column of the right one;
 * `along`: along the dimension that is summed over. */
typedef struct tn_factor {
  const void *address;
  int64_t stride, across, along;
} tn_factor;

/* c[batches][m][n], contiguous, = a b, summed over k.  by_chunks: by the rule
 * for matrices even where there is but one row or column. */
typedef struct tn_product {
  tn_place *place;
  tn_dtype dtype;
  void *c;
  tn_factor a, b;
  int64_t batches, m, n, k;
  bool by_chunks;
  const void *bias; /* n numbers side by side, added to each row; or NULL */
} tn_product;

/* Whether a bias is added by the same launch; if not, it must be NULL. */
bool tn_product_takes_bias(const tn_product *product);

/* TN_UNSUPPORTED for bool and for k above 2^22; messages name the operation. */
tn_status tn_product_run(const tn_product *product, const char *operation);

#endif
