#include "config.h"

#include "tensor/autograd/fit.h"

static bool same_sizes(const tn_tensor *gradient, const tn_edge *edge)
{
  return tn_shape_equal(tn_tensor_shape(gradient),
                        (tn_shape){ edge->sizes, edge->ndim });
}

/* Over the dimensions in front that the input has not, and over those in
 * which it has size 1. */
static tn_tensor *sum_to_shape(tn_tensor *gradient, const tn_edge *edge)
{
  int64_t dims[TN_DIMS_MAX];
  int count = 0, extra = gradient->ndim - edge->ndim;
  tn_shape shape = { edge->sizes, edge->ndim };
  bool fits = extra >= 0;
  for (int i = 0; fits && i < gradient->ndim; i++) {
    if (i >= extra && edge->sizes[i - extra] == gradient->sizes[i]) continue;
    if (i >= extra && edge->sizes[i - extra] != 1) fits = false;
    dims[count++] = i;
  }
  if (!fits) {
    tn_set_error(TN_SHAPE_MISMATCH, "backward: a gradient of shape %s does "
                 "not sum to shape %s of its tensor",
                 tn_shape_text(tn_tensor_shape(gradient)),
                 tn_shape_text(shape));
    return NULL;
  }
  if (count > 0)
    gradient = tn_sum_dims(gradient, (tn_shape){ dims, count }, true);
  return tn_reshape(gradient, shape);
}

tn_tensor *tn_gradient_fit(tn_tensor *gradient, const tn_edge *edge)
{
  if (!same_sizes(gradient, edge)) gradient = sum_to_shape(gradient, edge);
  if (!gradient) return NULL;
  if (gradient->dtype == edge->dtype &&
      tn_tensor_place(gradient) == edge->place)
    return gradient;
  return tn_to(gradient, .device = edge->place->device,
               .dtype = (tn_dtype)edge->dtype);
}
