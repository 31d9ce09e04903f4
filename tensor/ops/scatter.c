/* gather and scatter_add: single elements by index. */
#include "config.h"

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/indexing.h"
#include "tensor/ops/indexing.h"
#include "tensor/ops/placement.h"

/* An index may be smaller than the tensor in all dimensions but dim. */
static bool fits(const tn_tensor *index, const tn_tensor *t, int dim)
{
  if (index->ndim != t->ndim) return false;
  for (int i = 0; i < t->ndim; i++)
    if (i != dim && index->sizes[i] > t->sizes[i]) return false;
  return true;
}

static bool check_fits(const tn_tensor *index, const tn_tensor *t, int dim,
                       const char *operation)
{
  if (index->numel == 0 || fits(index, t, dim)) return true;
  tn_set_error(TN_SHAPE_MISMATCH, "%s: index %s of a tensor %s: as many "
               "dimensions, none larger but dimension %d", operation,
               tn_shape_text(tn_tensor_shape(index)),
               tn_shape_text(tn_tensor_shape(t)), dim);
  return false;
}

/* The size along dim, 1 for no dimension. */
static int64_t size_along(const tn_tensor *t, int dim)
{
  return t->ndim ? t->sizes[dim] : 1;
}

/* ---- gather ---- */

static tn_status gather_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  const int *dim = tn_node_data_of(node);
  tn_tensor *index = tn_node_saved(node, 0);
  if (!index) return tn_last_status();
  tn_tensor *zeros = tn_new_zeros(grads[0], tn_node_input_shape(node, 0));
  results[0] = tn_scatter_add(zeros, *dim, index, grads[0]);
  return tn_node_check(node, results);
}

static const tn_node_kind gather_kind = { .name = "gather",
                                          .formula = gather_formula };

static tn_tensor *take_elements(const tn_tensor *t, int dim,
                                const tn_tensor *index)
{
  tn_tensor *y = tn_tensor_new(tn_tensor_place(t), (tn_dtype)t->dtype,
                               tn_tensor_shape(index), "gather");
  if (!y) return NULL;
  tn_tensor from = *t;
  int64_t along = t->ndim ? t->strides[dim] : 1;
  if (t->ndim) from.strides[dim] = 0;
  if (tn_take_run(y, &from, index, along, size_along(t, dim)) == TN_OK)
    return y;
  tn_release(y);
  return NULL;
}

tn_tensor *tn_gather(tn_tensor *t, int dim, tn_tensor *index)
{
  if (!t || !index) return NULL;
  int at = tn_dim_of(dim, t->ndim, "gather");
  if (at < 0 || !check_fits(index, t, at, "gather")) return NULL;
  tn_placement placement;
  tn_tensor *operands[] = { t, index };
  if (tn_placement_begin(&placement, operands, 2, "gather") != TN_OK)
    return NULL;
  tn_tensor *ready = tn_indices_of(placement.operands[1], size_along(t, at),
                                   "gather");
  tn_tensor *y = ready ? take_elements(placement.operands[0], at, ready)
                       : NULL;
  tn_placement_end(&placement);
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(&gather_kind, &t, 1);
    int *data = tn_node_data(node, sizeof *data);
    *data = at;
    tn_node_save(node, ready);
    y = tn_node_finish(node, y);
  }
  tn_release(ready);
  return tn_scope_give(y);
}

/* ---- scatter_add ---- */

static tn_status scatter_add_formula(tn_node *node, tn_tensor **grads,
                                     tn_tensor **results)
{
  const int *dim = tn_node_data_of(node);
  if (tn_node_wants(node, 0)) results[0] = grads[0];
  if (tn_node_wants(node, 1)) {
    tn_tensor *index = tn_node_saved(node, 0);
    if (!index) return tn_last_status();
    results[1] = index->numel
                     ? tn_gather(grads[0], *dim, index)
                     : tn_new_zeros(grads[0], tn_node_input_shape(node, 1));
  }
  return tn_node_check(node, results);
}

static const tn_node_kind scatter_add_kind = {
  .name = "scatter_add", .formula = scatter_add_formula
};

/* The part of values that an index covers; a view, so that its gradient has
 * zeros elsewhere. */
static tn_tensor *covered(tn_tensor *values, const tn_tensor *index)
{
  if (index->numel == 0) return values;
  for (int i = 0; values && i < index->ndim; i++)
    if (values->sizes[i] != index->sizes[i])
      values = tn_narrow(values, i, 0, index->sizes[i]);
  return values;
}

static bool check_values(const tn_tensor *t, const tn_tensor *index,
                         const tn_tensor *values)
{
  if (t->dtype != values->dtype) {
    tn_set_error(TN_DTYPE_MISMATCH, "scatter_add: %s values into %s: dtypes "
                 "differ", tn_dtype_name((tn_dtype)values->dtype),
                 tn_dtype_name((tn_dtype)t->dtype));
    return false;
  }
  if (index->numel == 0 || fits(index, values, -1)) return true;
  tn_set_error(TN_SHAPE_MISMATCH, "scatter_add: values %s for an index %s: as "
               "many dimensions, none smaller",
               tn_shape_text(tn_tensor_shape(values)),
               tn_shape_text(tn_tensor_shape(index)));
  return false;
}

/* Adds to y, which is contiguous; operands of one place. */
static tn_status add_elements(tn_tensor *y, int dim, const tn_tensor *index,
                              tn_tensor *values)
{
  tn_tensor *rows = tn_tensor_contiguous(values, "scatter_add");
  if (!rows) return tn_last_status();
  tn_status status = tn_add_scattered_run(y, dim, index, rows);
  tn_release(rows);
  return status;
}

/* A contiguous copy of t with the values added. */
static tn_tensor *added(tn_tensor *t, int dim, const tn_tensor *index,
                        tn_tensor *values)
{
  tn_tensor *y = tn_tensor_like(t, (tn_dtype)t->dtype, "scatter_add");
  if (!y) return NULL;
  if (tn_tensor_move(y, t) == TN_OK &&
      (index->numel == 0 || add_elements(y, dim, index, values) == TN_OK))
    return y;
  tn_release(y);
  return NULL;
}

static tn_node *record(tn_tensor *t, int dim, tn_tensor *index,
                       tn_tensor *values)
{
  tn_tensor *inputs[] = { t, values };
  tn_node *node = tn_node_new(&scatter_add_kind, inputs, 2);
  int *data = tn_node_data(node, sizeof *data);
  *data = dim;
  tn_node_save(node, node && tn_node_wants(node, 1) ? index : NULL);
  return node;
}

/* Both forms: into a copy of t, or into t. */
static tn_tensor *scatter_add(tn_tensor *t, int dim, tn_tensor *index,
                              tn_tensor *values, bool in_place)
{
  tn_placement placement;
  tn_tensor *operands[] = { t, index, values };
  tn_tensor *inputs[] = { t, values };
  if (tn_placement_begin(&placement, operands, 3, "scatter_add") != TN_OK)
    return NULL;
  tn_tensor *ready = tn_indices_of(placement.operands[1], size_along(t, dim),
                                   "scatter_add");
  tn_tensor *y = ready ? added(placement.operands[0], dim, ready,
                               placement.operands[2])
                       : NULL;
  tn_placement_end(&placement);
  if (y && in_place) {
    tn_status status = tn_tensor_move(t, y);
    tn_release(y);
    y = status == TN_OK ? t : NULL;
  }
  if (y) {
    bool is_recorded = tn_grad_needed(inputs, 2);
    tn_node *node = is_recorded ? record(t, dim, ready, values) : NULL;
    if (in_place)
      y = is_recorded ? tn_inplace_end_recorded(t, node)
                      : tn_inplace_end(t, NULL);
    else if (is_recorded)
      y = tn_node_finish(node, y);
  }
  tn_release(ready);
  return y;
}

tn_tensor *tn_scatter_add(tn_tensor *t, int dim, tn_tensor *index,
                          tn_tensor *values)
{
  tn_tensor *y = NULL;
  if (!t || !index || !values) return NULL;
  int at = tn_dim_of(dim, t->ndim, "scatter_add");
  if (at < 0 || !check_fits(index, t, at, "scatter_add") ||
      !check_values(t, index, values))
    return NULL;
  tn_with_scope {
    values = covered(values, index);
    if (values) y = scatter_add(t, at, index, values, false);
  }
  return tn_scope_give(y);
}

tn_tensor *tn_scatter_add_(tn_tensor *t, int dim, tn_tensor *index,
                           tn_tensor *values)
{
  tn_tensor *y = NULL;
  if (!t || !index || !values) return NULL;
  int at = tn_dim_of(dim, t->ndim, "scatter_add_");
  if (at < 0 || !check_fits(index, t, at, "scatter_add_") ||
      !check_values(t, index, values) ||
      tn_inplace_begin(t, "scatter_add_") != TN_OK)
    return NULL;
  tn_with_scope {
    values = covered(values, index);
    if (values) y = scatter_add(t, at, index, values, true);
  }
  return y;
}
