#include "config.h"

#include "tensor/ops/reduction.h"

#include "tenon/ops.h"

static tn_status mark(tn_reduced *reduced, const tn_tensor *t, tn_shape dims,
                      const char *operation)
{
  for (int i = 0; i < t->ndim; i++) reduced->dims[i] = dims.ndim == 0;
  for (int i = 0; i < dims.ndim; i++) {
    int64_t given = dims.sizes[i];
    int wanted = given < INT32_MIN || given > INT32_MAX ? INT32_MAX
                                                        : (int)given;
    int dim = tn_dim_of(wanted, t->ndim, operation);
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
  reduced->keepdim = keepdim;
  reduced->count = 1;
  reduced->ndim = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (reduced->dims[i]) reduced->count *= t->sizes[i];
    if (!reduced->dims[i] || keepdim)
      reduced->sizes[reduced->ndim++] = reduced->dims[i] ? 1 : t->sizes[i];
  }
  return status;
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
