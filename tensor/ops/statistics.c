/* Spread and length: made of other operations. */
#include "config.h"

#include <string.h>

#include "tensor/autograd/node.h"
#include "tensor/ops/reduction.h"

/* What the formulas of std and norm need. */
typedef struct spread_data {
  tn_reduced reduced;
  double divisor;
} spread_data;

static tn_tensor *refuse_dtype(const char *name, const tn_tensor *t)
{
  tn_set_error(TN_DTYPE_MISMATCH, "%s: dtype %s: f32 and f64 are possible",
               name, tn_dtype_name((tn_dtype)t->dtype));
  return NULL;
}

static bool is_possible(const char *name, const tn_tensor *t, tn_shape dims,
                        tn_reduced *reduced)
{
  if (!t) return false;
  if (!tn_dtype_is_float((tn_dtype)t->dtype)) {
    refuse_dtype(name, t);
    return false;
  }
  return tn_reduced_make(reduced, t, dims, false, name) == TN_OK;
}

static double divisor_of(const tn_reduced *reduced, double correction)
{
  double divisor = (double)reduced->count - correction;
  return divisor > 0 ? divisor : 0;
}

/* The mean of squares of what differs from the mean; two passes. Its gradient
 * is that of its parts. */
static tn_tensor *var_of(tn_tensor *t, tn_shape dims, double divisor,
                         bool keepdim)
{
  tn_tensor *off = tn_sub(t, tn_mean_dims(t, dims, true));
  return tn_div_scalar(tn_sum_dims(tn_mul(off, off), dims, keepdim), divisor);
}

static tn_tensor *var(tn_tensor *t, tn_shape dims, double correction,
                      bool keepdim)
{
  tn_reduced reduced;
  tn_tensor *result = NULL;
  if (!is_possible("var", t, dims, &reduced)) return NULL;
  tn_with_scope {
    result = var_of(t, dims, divisor_of(&reduced, correction), keepdim);
    if (result) tn_keep(result);
  }
  return result;
}

/* grad / y, and 0 where y is: the root's slope is infinite there. */
static tn_tensor *share_of(const tn_reduced *reduced, tn_tensor *grad,
                           tn_tensor *y, tn_shape shape)
{
  tn_tensor *root = tn_reduced_restore(reduced, y, shape);
  return tn_masked_fill(tn_div(tn_reduced_restore(reduced, grad, shape), root),
                        tn_eq_scalar(root, 0), 0);
}

static tn_status std_formula(tn_node *node, tn_tensor **grads,
                             tn_tensor **results)
{
  const spread_data *data = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  tn_tensor *x = tn_node_saved(node, 0), *y = tn_node_saved(node, 1);
  tn_tensor *share = share_of(&data->reduced, grads[0], y, shape);
  tn_tensor *mean = tn_div_scalar(tn_reduced_sum(&data->reduced, x),
                                  (double)data->reduced.count);
  results[0] = tn_mul(tn_sub(x, mean), tn_div_scalar(share, data->divisor));
  return tn_node_check(node, results);
}

static tn_status norm_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  const spread_data *data = tn_node_data_of(node);
  tn_tensor *x = tn_node_saved(node, 0), *y = tn_node_saved(node, 1);
  results[0] = tn_mul(x, share_of(&data->reduced, grads[0], y,
                                  tn_node_input_shape(node, 0)));
  return tn_node_check(node, results);
}

static const tn_node_kind std_kind = { "std", std_formula, false, NULL };
static const tn_node_kind norm_kind = { "norm", norm_formula, false, NULL };

static tn_tensor *note(const tn_node_kind *kind, tn_tensor *t, tn_tensor *y,
                       const spread_data *data)
{
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(kind, &t, 1);
    void *kept = tn_node_data(node, sizeof *data);
    if (kept) memcpy(kept, data, sizeof *data);
    tn_node_save(node, t);
    tn_node_save(node, y);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* The caller's own reference, in no scope, of a result made in one. */
static tn_tensor *own(tn_tensor *t)
{
  return t ? tn_retain(t) : NULL;
}

static tn_tensor *std_of(tn_tensor *t, tn_shape dims, double correction,
                         bool keepdim)
{
  spread_data data;
  tn_tensor *y = NULL;
  if (!is_possible("std", t, dims, &data.reduced)) return NULL;
  data.divisor = divisor_of(&data.reduced, correction);
  tn_with_scope {
    tn_no_grad { y = own(tn_sqrt(var_of(t, dims, data.divisor, keepdim))); }
  }
  return note(&std_kind, t, y, &data);
}

static tn_tensor *norm(tn_tensor *t, tn_shape dims, bool keepdim)
{
  spread_data data = { .divisor = 1 };
  tn_tensor *y = NULL;
  if (!is_possible("norm", t, dims, &data.reduced)) return NULL;
  tn_with_scope {
    tn_no_grad { y = own(tn_sqrt(tn_sum_dims(tn_mul(t, t), dims, keepdim))); }
  }
  return note(&norm_kind, t, y, &data);
}

tn_tensor *tn_var(tn_tensor *t, double correction)
{
  return var(t, TN_SCALAR, correction, false);
}

tn_tensor *tn_var_dim(tn_tensor *t, int dim, double correction, bool keepdim)
{
  return var(t, TN_SHAPE(dim), correction, keepdim);
}

tn_tensor *tn_std(tn_tensor *t, double correction)
{
  return std_of(t, TN_SCALAR, correction, false);
}

tn_tensor *tn_std_dim(tn_tensor *t, int dim, double correction, bool keepdim)
{
  return std_of(t, TN_SHAPE(dim), correction, keepdim);
}

tn_tensor *tn_norm(tn_tensor *t)
{
  return norm(t, TN_SCALAR, false);
}

tn_tensor *tn_norm_dim(tn_tensor *t, int dim, bool keepdim)
{
  return norm(t, TN_SHAPE(dim), keepdim);
}
