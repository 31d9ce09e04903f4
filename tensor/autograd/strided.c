#include "config.h"

#include "tensor/autograd/strided.h"

#include <string.h>

/* The piece of memory that a base and its view lie in: `begin` counts from
 * the base's first element. */
typedef struct strided_range {
  int64_t begin, length;
} strided_range;

void tn_strided_describe(tn_strided_data *data, const tn_tensor *view,
                         const tn_tensor *base)
{
  memset(data, 0, sizeof *data);
  data->ndim = view->ndim;
  data->offset = view->offset - base->offset;
  for (int i = 0; i < view->ndim; i++) {
    data->sizes[i] = view->sizes[i];
    data->strides[i] = view->strides[i];
  }
  for (int i = 0; i < base->ndim; i++)
    data->base_strides[i] = base->strides[i];
}

/* One behind the last element, counted from the first; 0 if there is none. */
static int64_t reach_of(tn_shape shape, const int64_t *strides)
{
  int64_t reach = 1;
  for (int i = 0; i < shape.ndim; i++) {
    if (shape.sizes[i] == 0) return 0;
    reach += (shape.sizes[i] - 1) * strides[i];
  }
  return reach;
}

static tn_shape view_shape(const tn_strided_data *data)
{
  return (tn_shape){ data->sizes, data->ndim };
}

static strided_range range_of(const tn_strided_data *data, tn_shape base)
{
  int64_t end = reach_of(base, data->base_strides);
  int64_t view_reach = reach_of(view_shape(data), data->strides);
  strided_range range = { 0, 0 };
  if (view_reach > 0) {
    if (data->offset < 0) range.begin = data->offset;
    if (data->offset + view_reach > end) end = data->offset + view_reach;
  }
  range.length = end - range.begin;
  return range;
}

static tn_tensor *view_in(tn_tensor *memory, const tn_strided_data *data,
                          strided_range range)
{
  return tn_as_strided(memory, view_shape(data),
                       (tn_shape){ data->strides, data->ndim },
                       data->offset - range.begin);
}

static tn_tensor *base_in(tn_tensor *memory, const tn_strided_data *data,
                          tn_shape base, strided_range range)
{
  return tn_as_strided(memory, base,
                       (tn_shape){ data->base_strides, base.ndim },
                       -range.begin);
}

tn_tensor *tn_strided_spread(const tn_strided_data *data, tn_tensor *grad,
                             tn_tensor **slice)
{
  tn_shape base = tn_tensor_shape(grad);
  strided_range range = range_of(data, base);
  tn_tensor *memory = tn_new_zeros(grad, TN_SHAPE(range.length));
  tn_tensor *whole = memory ? base_in(memory, data, base, range) : NULL;
  *slice = NULL;
  if (!whole || !tn_copy_(whole, grad)) return NULL;
  *slice = view_in(memory, data, range);
  return *slice ? whole : NULL;
}

/* ---- as_strided ---- */

/* The numbers of the elements of a view in a piece of memory, in the view's
 * shape. */
static tn_tensor *numbers_of(const tn_tensor *view)
{
  tn_place *place = tn_tensor_place(view);
  tn_tensor *numbers = tn_full(tn_tensor_shape(view), (double)view->offset,
                               .device = place->device, .dtype = TN_I64);
  for (int i = 0; numbers && i < view->ndim; i++) {
    int64_t sizes[TN_DIMS_MAX];
    for (int k = 0; k < view->ndim; k++)
      sizes[k] = k == i ? view->sizes[i] : 1;
    tn_tensor *steps = tn_arange(0, (double)view->sizes[i], 1,
                                 .device = place->device, .dtype = TN_I64);
    steps = tn_mul_scalar(steps, (double)view->strides[i]);
    numbers = tn_add(numbers, tn_reshape(steps, (tn_shape){ sizes,
                                                            view->ndim }));
  }
  return tn_reshape(numbers, TN_SHAPE(-1));
}

/* memory[element] += value, for all elements of a view that may coincide. */
static tn_tensor *gather_into(tn_tensor *memory, tn_tensor *view,
                              tn_tensor *values)
{
  tn_tensor *numbers = numbers_of(view);
  tn_tensor *flat = tn_reshape(values, TN_SHAPE(-1));
  if (!numbers || !flat) return NULL;
  return tn_scatter_add(memory, 0, numbers, flat);
}

/* An element of the base that has several places in the tensor gets an equal
 * part at each. */
static tn_tensor *shared_out(tn_tensor *memory, tn_tensor *base)
{
  tn_tensor *ones = tn_ones(tn_tensor_shape(base),
                            .device = tn_tensor_place(base)->device,
                            .dtype = (tn_dtype)base->dtype);
  tn_tensor *zeros = tn_zeros_like(memory);
  if (!ones || !zeros) return NULL;
  return tn_div(memory, gather_into(zeros, base, ones));
}

static tn_status as_strided_formula(tn_node *node, tn_tensor **grads,
                                    tn_tensor **results)
{
  const tn_strided_data *data = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  strided_range range = range_of(data, shape);
  tn_tensor *memory = tn_new_zeros(grads[0], TN_SHAPE(range.length));
  tn_tensor *view = memory ? view_in(memory, data, range) : NULL;
  tn_tensor *base = memory ? base_in(memory, data, shape, range) : NULL;
  if (!view || !base) return tn_last_status();
  if (tn_tensor_overlaps_itself(view))
    memory = gather_into(memory, view, grads[0]);
  else if (!tn_copy_(view, grads[0]))
    return tn_last_status();
  if (tn_tensor_overlaps_itself(base)) memory = shared_out(memory, base);
  results[0] = memory ? base_in(memory, data, shape, range) : NULL;
  return tn_node_check(node, results);
}

const tn_node_kind tn_as_strided_kind = { .name = "as_strided",
                                          .formula = as_strided_formula };
