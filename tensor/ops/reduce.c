/* Sums, products, extremes and their places, along dimensions. */
#include "config.h"

#include <string.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/reduce.h"
#include "tensor/ops/reduction.h"

typedef struct reduce_op {
  const char *name;
  tn_reduction_name kernels;
  const tn_node_kind *kind; /* NULL: no gradient */
} reduce_op;

/* ---- gradients ---- */

static tn_status sum_formula(tn_node *node, tn_tensor **grads,
                             tn_tensor **results)
{
  const tn_reduced *reduced = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  results[0] = tn_expand(tn_reduced_restore(reduced, grads[0], shape), shape);
  return tn_node_check(node, results);
}

static tn_status mean_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  const tn_reduced *reduced = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  tn_tensor *part = tn_div_scalar(grads[0], (double)reduced->count);
  results[0] = tn_expand(tn_reduced_restore(reduced, part, shape), shape);
  return tn_node_check(node, results);
}

/* The others' product: of all that are not 0, if no other one is. */
static tn_status prod_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  const tn_reduced *reduced = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  tn_tensor *x = tn_node_saved(node, 0);
  tn_tensor *zero = tn_eq_scalar(x, 0);
  tn_tensor *safe = tn_masked_fill(x, zero, 1), *product = safe;
  for (int i = 0; i < shape.ndim; i++)
    if (reduced->dims[i]) product = tn_prod_dim(product, i, true);
  tn_tensor *zeros = tn_reduced_sum(reduced, tn_to(zero, .dtype = TN_I64));
  tn_tensor *others = tn_masked_fill(
      tn_div(product, safe), tn_gt(zeros, zero), 0);
  results[0] = tn_mul(tn_reduced_restore(reduced, grads[0], shape), others);
  return tn_node_check(node, results);
}

/* Shared by equal extremes. */
static tn_status extreme_formula(tn_node *node, tn_tensor **grads,
                                 tn_tensor **results)
{
  const tn_reduced *reduced = tn_node_data_of(node);
  tn_shape shape = tn_node_input_shape(node, 0);
  tn_tensor *x = tn_node_saved(node, 0), *y = tn_node_saved(node, 1);
  tn_tensor *is_one = tn_eq(x, tn_reduced_restore(reduced, y, shape));
  tn_tensor *ones = is_one ? tn_to(is_one, .dtype = tn_dtype_of(x)) : NULL;
  tn_tensor *share = tn_div(tn_reduced_restore(reduced, grads[0], shape),
                            tn_reduced_sum(reduced, ones));
  results[0] = tn_mul(ones, share);
  return tn_node_check(node, results);
}

static const tn_node_kind sum_kind = { "sum", sum_formula, false, NULL };
static const tn_node_kind mean_kind = { "mean", mean_formula, false, NULL };
static const tn_node_kind prod_kind = { "prod", prod_formula, true, NULL };
static const tn_node_kind amax_kind = { "amax", extreme_formula, false, NULL };
static const tn_node_kind amin_kind = { "amin", extreme_formula, false, NULL };

/* ---- one reduction ---- */

/* For dtypes with kernels; of the caller. */
static tn_tensor *run(const reduce_op *op, tn_tensor *t,
                      const tn_reduced *reduced)
{
  tn_reduction *kernels = tn_reduction_of(op->kernels, (tn_dtype)t->dtype);
  tn_tensor *y =
      tn_tensor_new(tn_tensor_place(t), kernels->result,
                    (tn_shape){ reduced->sizes, reduced->ndim }, op->name);
  if (!y || tn_reduce_run(kernels, y, t, reduced->dims) == TN_OK) return y;
  tn_release(y);
  return NULL;
}

/* In the scope, as all that follow. */
static tn_tensor *run_and_note(const reduce_op *op, tn_tensor *t,
                               const tn_reduced *reduced)
{
  tn_tensor *y = run(op, t, reduced);
  if (y && op->kind && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(op->kind, &t, 1);
    void *data = tn_node_data(node, sizeof *reduced);
    if (data) memcpy(data, reduced, sizeof *reduced);
    if (op->kind->formula == prod_formula) tn_node_save(node, t);
    if (op->kind->formula == extreme_formula) {
      tn_node_save(node, t);
      tn_node_save(node, y);
    }
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* Small integers by way of i64, and back for the extremes. */
static tn_tensor *run_as_i64(const reduce_op *op, tn_tensor *t,
                             const tn_reduced *reduced)
{
  tn_tensor *result = NULL;
  tn_dtype dtype = op->kernels == TN_REDUCE_PROD ? TN_I64
                                                 : (tn_dtype)t->dtype;
  tn_with_scope {
    tn_tensor *wide = tn_to(t, .dtype = TN_I64);
    tn_tensor *y = wide ? tn_scope_give(run(op, wide, reduced)) : NULL;
    result = y ? tn_to(y, .dtype = dtype) : NULL;
    if (result) tn_keep(result);
  }
  return result;
}

static tn_tensor *run_on_truth(const reduce_op *op, tn_tensor *t,
                               const tn_reduced *reduced)
{
  tn_tensor *result = NULL;
  tn_with_scope {
    tn_tensor *truth = tn_ne_scalar(t, 0);
    result = truth ? tn_scope_give(run(op, truth, reduced)) : NULL;
    if (result) tn_keep(result);
  }
  return result;
}

static bool is_extreme(const reduce_op *op)
{
  return op->kernels == TN_REDUCE_MAX || op->kernels == TN_REDUCE_MIN;
}

static tn_status refuse_empty(const char *name, const tn_tensor *t)
{
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: shape %s has no element to "
                      "take along the dimensions given", name,
                      tn_shape_text(tn_tensor_shape(t)));
}

static tn_tensor *reduce(const reduce_op *op, tn_tensor *t, tn_shape dims,
                         bool keepdim)
{
  tn_reduced reduced;
  if (!t || tn_reduced_make(&reduced, t, dims, keepdim, op->name) != TN_OK)
    return NULL;
  if (is_extreme(op) && reduced.count == 0) {
    refuse_empty(op->name, t);
    return NULL;
  }
  if (tn_reduction_of(op->kernels, (tn_dtype)t->dtype))
    return run_and_note(op, t, &reduced);
  if (op->kernels == TN_REDUCE_MEAN) {
    tn_set_error(TN_DTYPE_MISMATCH, "%s: dtype %s: floats have a mean",
                 op->name, tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  if (op->kernels == TN_REDUCE_ANY || op->kernels == TN_REDUCE_ALL)
    return run_on_truth(op, t, &reduced);
  return run_as_i64(op, t, &reduced);
}

/* ---- the calls ---- */

static const reduce_op sum = { "sum", TN_REDUCE_SUM, &sum_kind };
static const reduce_op mean = { "mean", TN_REDUCE_MEAN, &mean_kind };
static const reduce_op prod = { "prod", TN_REDUCE_PROD, &prod_kind };
static const reduce_op amax = { "amax", TN_REDUCE_MAX, &amax_kind };
static const reduce_op amin = { "amin", TN_REDUCE_MIN, &amin_kind };
static const reduce_op max = { "max", TN_REDUCE_MAX, &amax_kind };
static const reduce_op min = { "min", TN_REDUCE_MIN, &amin_kind };
static const reduce_op any = { "any", TN_REDUCE_ANY, NULL };
static const reduce_op all = { "all", TN_REDUCE_ALL, NULL };

#define CALLS(name)                                                       \
  tn_tensor *tn_##name(tn_tensor *t)                                      \
  {                                                                       \
    return reduce(&name, t, TN_SCALAR, false);                            \
  }                                                                       \
  tn_tensor *tn_##name##_dim(tn_tensor *t, int dim, bool keepdim)         \
  {                                                                       \
    return reduce(&name, t, TN_SHAPE(dim), keepdim);                      \
  }
CALLS(sum)
CALLS(mean)
CALLS(prod)
CALLS(amax)
CALLS(amin)
CALLS(max)
CALLS(min)
CALLS(any)
CALLS(all)

tn_tensor *tn_sum_dims(tn_tensor *t, tn_shape dims, bool keepdim)
{
  return reduce(&sum, t, dims, keepdim);
}

tn_tensor *tn_mean_dims(tn_tensor *t, tn_shape dims, bool keepdim)
{
  return reduce(&mean, t, dims, keepdim);
}

/* ---- places ---- */

/* t is of a dtype with kernels. */
static tn_tensor *find(bool greatest, tn_tensor *t, const tn_reduced *reduced,
                       const char *name)
{
  tn_tensor *y =
      tn_tensor_new(tn_tensor_place(t), TN_I64,
                    (tn_shape){ reduced->sizes, reduced->ndim }, name);
  if (!y || tn_reduce_place(greatest, y, t, reduced->dims) == TN_OK)
    return tn_scope_give(y);
  tn_release(y);
  return NULL;
}

static tn_tensor *place_of(bool greatest, tn_tensor *t, tn_shape dims,
                           bool keepdim, const char *name)
{
  tn_reduced reduced;
  if (!t || tn_reduced_make(&reduced, t, dims, keepdim, name) != TN_OK)
    return NULL;
  if (reduced.count == 0) {
    refuse_empty(name, t);
    return NULL;
  }
  if (tn_reduction_of(TN_REDUCE_MAX, (tn_dtype)t->dtype))
    return find(greatest, t, &reduced, name);
  tn_tensor *result = NULL;
  tn_with_scope {
    tn_tensor *wide = tn_to(t, .dtype = TN_I64);
    result = wide ? find(greatest, wide, &reduced, name) : NULL;
    if (result) tn_keep(result);
  }
  return result;
}

tn_tensor *tn_argmax(tn_tensor *t)
{
  return place_of(true, t, TN_SCALAR, false, "argmax");
}

tn_tensor *tn_argmax_dim(tn_tensor *t, int dim, bool keepdim)
{
  return place_of(true, t, TN_SHAPE(dim), keepdim, "argmax");
}

tn_tensor *tn_argmin(tn_tensor *t)
{
  return place_of(false, t, TN_SCALAR, false, "argmin");
}

tn_tensor *tn_argmin_dim(tn_tensor *t, int dim, bool keepdim)
{
  return place_of(false, t, TN_SHAPE(dim), keepdim, "argmin");
}
