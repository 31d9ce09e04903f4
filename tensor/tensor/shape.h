/* Arithmetic of sizes and strides. All counts are of elements. */
#ifndef TN_TENSOR_TENSOR_SHAPE_H
#define TN_TENSOR_TENSOR_SHAPE_H

#include "tenon/tensor.h"

/* "[2, 3]" of a shape, in a buffer of the thread; four at a time are good. */
const char *tn_shape_text(tn_shape shape);

/* Sizes that are not negative, few enough, and whose product (and that in
 * bytes) fits into int64. */
tn_status tn_shape_check(tn_shape shape, size_t item, const char *operation,
                         int64_t *numel);

/* Sizes that are not negative, multiplied: 0 if there is a 0 among them, else
 * INT64_MAX where the product does not fit. That can only be of part of the
 * sizes of an empty tensor, which nothing is computed of. */
int64_t tn_sizes_product(const int64_t *sizes, int count);

/* Strides of row order. */
void tn_shape_strides(tn_shape shape, int64_t *strides);

/* A loop: sizes are few, and every operation compares some. */
static inline bool tn_shape_equal(tn_shape a, tn_shape b)
{
  bool is_equal = a.ndim == b.ndim;
  for (int i = 0; is_equal && i < a.ndim; i++)
    is_equal = a.sizes[i] == b.sizes[i];
  return is_equal;
}

/* 0 <= result < ndim (or 1 for a 0-dimensional tensor, whose dimensions -1 and
 * 0 are accepted), -1 with the error set. */
int tn_dim_of(int dim, int ndim, const char *operation);

/* sizes[] of the broadcast result; *ndim of it. */
tn_status tn_shape_broadcast(tn_shape a, tn_shape b, const char *operation,
                             int64_t *sizes, int *ndim);

#endif
