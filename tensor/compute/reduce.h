/* Reductions of tensors of any layout. */
#ifndef TN_TENSOR_COMPUTE_REDUCE_H
#define TN_TENSOR_COMPUTE_REDUCE_H

#include "tensor/tensor/tensor.h"

/* The kernels of a reduction from one dtype (kernels/README.md). Entries
 * without a name are not there. */
typedef struct tn_reduction tn_reduction;
struct tn_reduction {
  tn_kernel_entry rows, columns, short_rows;
  tn_reduction *levels; /* for what a first level leaves; NULL: the same */
  bool counts;          /* the last level takes the number of elements, those
                         * before it being `levels` */
  tn_dtype result;
};

typedef enum tn_reduction_name {
  TN_REDUCE_SUM,
  TN_REDUCE_MEAN,
  TN_REDUCE_PROD,
  TN_REDUCE_MAX,
  TN_REDUCE_MIN,
  TN_REDUCE_ANY,
  TN_REDUCE_ALL
} tn_reduction_name;

/* NULL if there are no kernels for the dtype: sum takes all; mean, prod, max
 * and min f32, f64 and (but the mean) i64; any and all u8 and bool. */
tn_reduction *tn_reduction_of(tn_reduction_name name, tn_dtype dtype);

/* y, contiguous, has as many elements as the dimensions of x that are not
 * `reduced`, in their order. */
tn_status tn_reduce_run(tn_reduction *reduction, tn_tensor *y, tn_tensor *x,
                        const bool *reduced);

/* y (i64) becomes the index of the greatest (or else smallest) element along
 * the dimensions that are reduced, taken as one. x is f32, f64 or i64 and has
 * at least one element along them. */
tn_status tn_reduce_place(bool greatest, tn_tensor *y, tn_tensor *x,
                          const bool *reduced);

/* x with the reduced dimensions behind the others and rows without gaps: x
 * itself (retained), a view or a copy. Of the caller. */
tn_tensor *tn_reduce_rows(tn_tensor *x, const bool *reduced);

#endif
