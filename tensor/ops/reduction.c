#include "config.h"

#include "tensor/ops/reduction.h"

#include <inttypes.h>

#include "tenon/ops.h"

static tn_status mark(tn_reduced *reduced, const tn_tensor *t, tn_shape dims,
                      const char *operation)
{
  for (int i = 0; i < t->ndim; i++) reduced->dims[i] = dims.ndim == 0;
  if (dims.ndim < 0 || dims.ndim > TN_DIMS_MAX ||
      (dims.ndim > 0 && !dims.sizes))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: a list of %d dimensions%s: "
                        "0 to %d are possible", operation, dims.ndim,
                        dims.sizes ? "" : " that is NULL", TN_DIMS_MAX);
  for (int i = 0; i < dims.ndim; i++) {
    int64_t given = dims.sizes[i];
    if (given < INT32_MIN || given > INT32_MAX)
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: dimension %" PRId64
                          " of %d", operation, given, t->ndim);
    int dim = tn_dim_of((int)given, t->ndim, operation);
    if (dim < 0) return tn_last_status();
    if (t->ndim == 0) continue;
    if (reduced->dims[dim])
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: dimension %d is given "
                          "twice", operation, dim);
    reduced->dims[dim] = true;
  }
  return TN_OK;
}

tn_status tn_reduced_make(tn_reduced *reduced, const tn_tensor *t,
                          tn_shape dims, bool keepdim, const char *operation)
{
  tn_status status = mark(reduced, t, dims, operation);
  if (status != TN_OK) return status;
  int64_t gone[TN_DIMS_MAX];
  int count = 0;
  reduced->keepdim = keepdim;
  reduced->ndim = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (reduced->dims[i]) gone[count++] = t->sizes[i];
    if (!reduced->dims[i] || keepdim)
      reduced->sizes[reduced->ndim++] = reduced->dims[i] ? 1 : t->sizes[i];
  }
  reduced->count = tn_sizes_product(gone, count);
  return TN_OK;
}

tn_tensor *tn_reduced_restore(const tn_reduced *reduced, tn_tensor *y,
                              tn_shape shape)
{
  int64_t sizes[TN_DIMS_MAX];
  for (int i = 0; i < shape.ndim; i++)
    sizes[i] = reduced->dims[i] ? 1 : shape.sizes[i];
  return tn_reshape(y, (tn_shape){ sizes, shape.ndim });
}

tn_tensor *tn_reduced_sum(const tn_reduced *reduced, tn_tensor *t)
{
  int64_t dims[TN_DIMS_MAX];
  int count = 0;
  for (int i = 0; t && i < t->ndim; i++)
    if (reduced->dims[i]) dims[count++] = i;
  return count ? tn_sum_dims(t, (tn_shape){ dims, count }, true) : t;
}
