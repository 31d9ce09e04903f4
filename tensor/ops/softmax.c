/* Softmax and its logarithm along a dimension. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/rows.h"
#include "tensor/ops/row_dim.h"

typedef struct softmax_data {
  int dim;
  bool logarithm;
} softmax_data;

static tn_tensor *note(const tn_node_kind *kind, tn_tensor *const *inputs,
                       int count, tn_tensor *const *saved, int saved_count,
                       tn_tensor *y, softmax_data data)
{
  if (y && tn_grad_needed(inputs, count)) {
    tn_node *node = tn_node_new(kind, inputs, count);
    void *kept = tn_node_data(node, sizeof data);
    if (kept) memcpy(kept, &data, sizeof data);
    for (int i = 0; i < saved_count; i++) tn_node_save(node, saved[i]);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* ---- the gradient, which can be differentiated itself ---- */

static tn_tensor *compute_backward(tn_tensor *gy, tn_tensor *y,
                                   softmax_data data)
{
  tn_tensor *g = tn_row_operand(gy, data.dim, "softmax");
  tn_tensor *rows = tn_row_operand(y, data.dim, "softmax");
  tn_tensor *gx =
      g && rows ? tn_tensor_like(rows, (tn_dtype)rows->dtype, "softmax")
                : NULL;
  int64_t n = rows && rows->ndim ? rows->sizes[rows->ndim - 1] : 1;
  if (gx &&
      tn_softmax_backward_run(data.logarithm, gx, g, rows, n) != TN_OK) {
    tn_release(gx);
    gx = NULL;
  }
  tn_release(g);
  tn_release(rows);
  return tn_row_result(gx, data.dim, "softmax");
}

static tn_tensor *softmax_backward(tn_tensor *gy, tn_tensor *y,
                                   softmax_data data);

/* gx = y (gy - sum(gy y)), in gy and in y, for the gradient v of gx. */
static tn_status softmax_second(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  const softmax_data *data = tn_node_data_of(node);
  tn_tensor *gy = tn_node_saved(node, 0), *y = tn_node_saved(node, 1);
  tn_tensor *v = grads[0];
  if (tn_node_wants(node, 0)) results[0] = softmax_backward(v, y, *data);
  if (tn_node_wants(node, 1)) {
    tn_tensor *sum = tn_sum_dim(tn_mul(gy, y), data->dim, true);
    tn_tensor *other = tn_sum_dim(tn_mul(v, y), data->dim, true);
    results[1] = tn_sub(tn_mul(v, tn_sub(gy, sum)), tn_mul(gy, other));
  }
  return tn_node_check(node, results);
}

/* gx = gy - exp(y) sum(gy). */
static tn_status log_softmax_second(tn_node *node, tn_tensor **grads,
                                    tn_tensor **results)
{
  const softmax_data *data = tn_node_data_of(node);
  tn_tensor *gy = tn_node_saved(node, 0), *y = tn_node_saved(node, 1);
  tn_tensor *weighted = tn_mul(grads[0], tn_exp(y));
  if (tn_node_wants(node, 0))
    results[0] = tn_sub(grads[0], tn_sum_dim(weighted, data->dim, true));
  if (tn_node_wants(node, 1))
    results[1] = tn_neg(tn_mul(weighted, tn_sum_dim(gy, data->dim, true)));
  return tn_node_check(node, results);
}

static const tn_node_kind second_kinds[] = {
  { "softmax_backward", softmax_second, false, NULL },
  { "log_softmax_backward", log_softmax_second, false, NULL },
};

static tn_tensor *softmax_backward(tn_tensor *gy, tn_tensor *y,
                                   softmax_data data)
{
  if (!gy || !y) return NULL;
  tn_tensor *both[] = { gy, y };
  return note(&second_kinds[data.logarithm], both, 2, both, 2,
              compute_backward(gy, y, data), data);
}

static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  const softmax_data *data = tn_node_data_of(node);
  results[0] = softmax_backward(grads[0], tn_node_saved(node, 0), *data);
  return tn_node_check(node, results);
}

/* ---- the operation ---- */

static const tn_node_kind kinds[] = {
  { "softmax", formula, false, NULL },
  { "log_softmax", formula, false, NULL },
};

static tn_tensor *compute(tn_tensor *t, softmax_data data)
{
  const char *name = kinds[data.logarithm].name;
  tn_tensor *x = tn_row_operand(t, data.dim, name);
  tn_tensor *y = x ? tn_tensor_like(x, (tn_dtype)x->dtype, name) : NULL;
  int64_t n = t->ndim ? t->sizes[data.dim] : 1;
  if (y && tn_softmax_run(data.logarithm, y, x, n) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(x);
  return tn_row_result(y, data.dim, name);
}

static bool is_possible(const tn_tensor *t, int dim, const char *name)
{
  if (!tn_dtype_is_float((tn_dtype)t->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "%s: dtype %s: f32 and f64 are possible",
                 name, tn_dtype_name((tn_dtype)t->dtype));
    return false;
  }
  if (t->ndim == 0 || t->sizes[dim] <= TN_ROW_MAX) return true;
  tn_set_error(TN_UNSUPPORTED, "%s: %" PRId64 " elements along dimension %d: "
               "at most %" PRId64 " are supported", name, t->sizes[dim], dim,
               TN_ROW_MAX);
  return false;
}

static tn_tensor *softmax(tn_tensor *t, int dim, bool logarithm)
{
  const char *name = kinds[logarithm].name;
  if (!t) return NULL;
  dim = tn_dim_of(dim, t->ndim, name);
  if (dim < 0 || !is_possible(t, dim, name)) return NULL;
  softmax_data data = { dim, logarithm };
  tn_tensor *y = compute(t, data);
  return note(&kinds[logarithm], &t, 1, &y, 1, y, data);
}

tn_tensor *tn_softmax(tn_tensor *t, int dim)
{
  return softmax(t, dim, false);
}

tn_tensor *tn_log_softmax(tn_tensor *t, int dim)
{
  return softmax(t, dim, true);
}
