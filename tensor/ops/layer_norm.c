/* Layer norm. */
#include "config.h"

#include <inttypes.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/rows.h"

static const char name[] = "layer_norm";

typedef struct norm_data {
  bool has_weight;
  int ndim; /* of what a mean is taken of */
  int64_t n;
} norm_data;

static tn_status check_part(const tn_tensor *x, const tn_tensor *part,
                            tn_shape shape, const char *which)
{
  if (!part) return TN_OK;
  if (tn_tensor_place(part) != tn_tensor_place(x))
    return tn_set_error(TN_DEVICE_MISMATCH, "%s: the input is on %s and the "
                        "%s on %s: they must be on one device (move one with "
                        "tn_to)", name, tn_tensor_place(x)->name, which,
                        tn_tensor_place(part)->name);
  if (part->dtype != x->dtype)
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: the input is %s and the %s "
                        "%s: they must be of one dtype", name,
                        tn_dtype_name((tn_dtype)x->dtype), which,
                        tn_dtype_name((tn_dtype)part->dtype));
  if (tn_shape_equal(tn_tensor_shape(part), shape)) return TN_OK;
  return tn_set_error(TN_SHAPE_MISMATCH, "%s: the %s has shape %s: %s is "
                      "needed", name, which,
                      tn_shape_text(tn_tensor_shape(part)),
                      tn_shape_text(shape));
}

static tn_status check_input(const tn_tensor *x, tn_shape shape)
{
  if (!tn_dtype_is_float((tn_dtype)x->dtype))
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: dtype %s: f32 and f64 are "
                        "possible", name, tn_dtype_name((tn_dtype)x->dtype));
  bool fits = shape.ndim >= 1 && shape.ndim <= x->ndim && shape.sizes;
  for (int i = 1; fits && i <= shape.ndim; i++)
    fits = shape.sizes[shape.ndim - i] == x->sizes[x->ndim - i];
  if (!fits)
    return tn_set_error(TN_SHAPE_MISMATCH, "%s: the input's shape %s does not "
                        "end in %s", name, tn_shape_text(tn_tensor_shape(x)),
                        tn_shape_text(shape));
  return TN_OK;
}

static tn_status check(const tn_tensor *x, tn_shape shape,
                       const tn_tensor *weight, const tn_tensor *bias,
                       norm_data *data)
{
  tn_status status = check_input(x, shape);
  if (status == TN_OK) status = check_part(x, weight, shape, "weight");
  if (status == TN_OK) status = check_part(x, bias, shape, "bias");
  if (status != TN_OK) return status;
  *data = (norm_data){ weight != NULL, shape.ndim,
                       tn_sizes_product(shape.sizes, shape.ndim) };
  if (data->n <= TN_ROW_MAX) return TN_OK;
  return tn_set_error(TN_UNSUPPORTED, "%s: a mean over %" PRId64 " elements: "
                      "at most %" PRId64 " are supported", name, data->n,
                      TN_ROW_MAX);
}

/* The part itself, without gaps, or `value` all over; of the caller. */
static tn_tensor *part_or(tn_tensor *part, const tn_tensor *x, int64_t n,
                          double value)
{
  if (part) return tn_tensor_contiguous(part, name);
  tn_tensor *all = NULL;
  tn_with_scope {
    tn_no_grad { all = tn_retain(tn_new_full(x, TN_SHAPE(n), value)); }
  }
  return all;
}

/* ---- gradient ---- */

static tn_tensor *input_gradient(const norm_data *data, tn_tensor *gy,
                                 tn_tensor *x, tn_tensor *mean,
                                 tn_tensor *scale, tn_tensor *weight)
{
  tn_tensor *full = part_or(weight, x, data->n, 1);
  tn_tensor *gx = full ? tn_tensor_like(x, (tn_dtype)x->dtype, name) : NULL;
  if (gx && tn_layer_norm_backward_run(gx, gy, x, mean, scale, full,
                                       data->n) != TN_OK) {
    tn_release(gx);
    gx = NULL;
  }
  tn_release(full);
  return tn_scope_give(gx);
}

/* Of weight and bias. */
static tn_status part_gradients(tn_node *node, tn_tensor *gy, tn_tensor *x,
                                tn_tensor *mean, tn_tensor *scale,
                                tn_tensor **results)
{
  const norm_data *data = tn_node_data_of(node);
  tn_shape shape = { x->sizes + x->ndim - data->ndim, data->ndim };
  tn_dtype dtype = (tn_dtype)x->dtype;
  tn_tensor *gw = tn_tensor_new(tn_tensor_place(x), dtype, shape, name);
  tn_tensor *gb = tn_tensor_new(tn_tensor_place(x), dtype, shape, name);
  gw = tn_scope_give(gw);
  gb = tn_scope_give(gb);
  if (!gw || !gb) return tn_last_status();
  tn_status status =
      tn_layer_norm_columns_run(gw, gb, gy, x, mean, scale, data->n);
  if (tn_node_wants(node, 1)) results[1] = gw;
  if (tn_node_wants(node, 2)) results[2] = gb;
  return status;
}

static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  const norm_data *data = tn_node_data_of(node);
  tn_tensor *x = tn_node_saved(node, 0);
  tn_tensor *mean = tn_node_saved(node, 1), *scale = tn_node_saved(node, 2);
  tn_tensor *weight = data->has_weight ? tn_node_saved(node, 3) : NULL;
  if (!x || !mean || !scale || (data->has_weight && !weight))
    return tn_last_status();
  tn_tensor *gy = tn_scope_give(tn_tensor_contiguous(grads[0], name));
  x = tn_scope_give(tn_tensor_contiguous(x, name));
  if (!gy || !x) return tn_last_status();
  if (tn_node_wants(node, 0))
    results[0] = input_gradient(data, gy, x, mean, scale, weight);
  if (tn_node_wants(node, 1) || tn_node_wants(node, 2)) {
    tn_status status = part_gradients(node, gy, x, mean, scale, results);
    if (status != TN_OK) return status;
  }
  return tn_node_check(node, results);
}

static const tn_node_kind kind = { name, formula, true, NULL };

/* ---- the operation ---- */

/* The result, and one mean and scale for each row; of the caller. */
typedef struct normed {
  tn_tensor *y, *mean, *scale;
} normed;

static normed compute(tn_tensor *t, tn_tensor *weight, tn_tensor *bias,
                      int64_t n, double eps)
{
  tn_dtype dtype = (tn_dtype)t->dtype;
  int64_t rows = t->numel ? t->numel / n : 0;
  tn_tensor *x = tn_tensor_contiguous(t, name);
  tn_tensor *w = part_or(weight, t, n, 1), *b = part_or(bias, t, n, 0);
  tn_place *place = tn_tensor_place(t);
  normed to = { tn_tensor_like(t, dtype, name),
                tn_tensor_new(place, dtype, (tn_shape){ &rows, 1 }, name),
                tn_tensor_new(place, dtype, (tn_shape){ &rows, 1 }, name) };
  if (!x || !w || !b || !to.y || !to.mean || !to.scale ||
      tn_layer_norm_run(to.y, to.mean, to.scale, x, w, b, n, eps) != TN_OK) {
    tn_release(to.y);
    to.y = NULL;
  }
  tn_release(x);
  tn_release(w);
  tn_release(b);
  return to;
}

tn_tensor *tn_layer_norm(tn_tensor *x, tn_shape shape, tn_tensor *weight,
                         tn_tensor *bias, double eps)
{
  norm_data data;
  if (!x || check(x, shape, weight, bias, &data) != TN_OK) return NULL;
  tn_tensor *inputs[] = { x, weight, bias };
  normed made = compute(x, weight, bias, data.n, eps);
  if (made.y && tn_grad_needed(inputs, 3)) {
    tn_node *node = tn_node_new(&kind, inputs, 3);
    norm_data *kept = tn_node_data(node, sizeof data);
    if (kept) *kept = data;
    tn_node_save(node, x);
    tn_node_save(node, made.mean);
    tn_node_save(node, made.scale);
    tn_node_save(node, weight);
    made.y = tn_node_finish(node, made.y);
  }
  tn_release(made.mean);
  tn_release(made.scale);
  return tn_scope_give(made.y);
}
