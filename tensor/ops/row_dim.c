#include "config.h"

#include "tensor/ops/row_dim.h"

#include "tensor/compute/contiguous.h"

/* Dimension `from` moved to `to`; of the caller. */
static tn_tensor *moved(tn_tensor *t, int from, int to)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  for (int i = 0; i < t->ndim; i++) {
    int at = i == to ? from : i;
    if (from < to && i >= from && i < to) at = i + 1;
    if (from > to && i > to && i <= from) at = i - 1;
    sizes[i] = t->sizes[at];
    strides[i] = t->strides[at];
  }
  return tn_tensor_view(t, (tn_shape){ sizes, t->ndim }, strides, t->offset);
}

static tn_tensor *moved_copy(tn_tensor *t, int from, int to,
                             const char *operation)
{
  tn_tensor *view = moved(t, from, to);
  tn_tensor *copy = view ? tn_tensor_contiguous(view, operation) : NULL;
  tn_release(view);
  return copy;
}

tn_tensor *tn_row_operand(tn_tensor *t, int dim, const char *operation)
{
  if (dim >= t->ndim - 1) return tn_tensor_contiguous(t, operation);
  return moved_copy(t, dim, t->ndim - 1, operation);
}

tn_tensor *tn_row_result(tn_tensor *rows, int dim, const char *operation)
{
  if (!rows || dim >= rows->ndim - 1) return rows;
  tn_tensor *y = moved_copy(rows, rows->ndim - 1, dim, operation);
  tn_release(rows);
  return y;
}
