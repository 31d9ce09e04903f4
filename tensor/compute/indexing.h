/* Elements by index, and sums by index, by the built-in kernels. Indices are
 * i64, and contiguous unless said otherwise; all tensors are of one place. */
#ifndef TN_TENSOR_COMPUTE_INDEXING_H
#define TN_TENSOR_COMPUTE_INDEXING_H

#include "tensor/tensor/tensor.h"

/* TN_INVALID_ARGUMENT, naming the first index outside [0, count) and where it
 * is.  Waits for what is queued on the current stream; while that is captured,
 * nothing is checked. */
tn_status tn_index_check(const tn_tensor *index, int64_t count,
                         const char *operation);

/* y[i] = x[i + index[i] along], by the strides of x and index, which count as
 * having y's shape; an index outside [0, count) gives 0. */
tn_status tn_take_run(tn_tensor *y, const tn_tensor *x,
                      const tn_tensor *index, int64_t along, int64_t count);

/* y[..., index[i], ...] += x[..., i, ...] along dim, in the order of i: y and
 * x are contiguous, index has one dimension. */
tn_status tn_add_rows_run(tn_tensor *y, int dim, const tn_tensor *index,
                          const tn_tensor *x);

/* y[i with index[i] in place of i[dim]] += x[i], in row order: all are
 * contiguous, index and x of one shape. */
tn_status tn_add_scattered_run(tn_tensor *y, int dim, const tn_tensor *index,
                               const tn_tensor *x);

/* y = x where low <= column - row <= high, else 0. */
tn_status tn_triangle_run(tn_tensor *y, const tn_tensor *x, int64_t low,
                          int64_t high);

/* y[i][c] = index[i] == c; y is i64 and contiguous. */
tn_status tn_one_hot_run(tn_tensor *y, const tn_tensor *index);

#endif
