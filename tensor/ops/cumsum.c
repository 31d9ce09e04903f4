/* Running sums. */
#include "config.h"

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/rows.h"

typedef struct cumsum_data {
  int dim;
  bool backwards;
} cumsum_data;

/* Of f32, f64 or i64; of the caller. */
static tn_tensor *compute(tn_tensor *t, cumsum_data data)
{
  tn_tensor *x = tn_tensor_contiguous(t, "cumsum");
  tn_tensor *y = x ? tn_tensor_like(x, (tn_dtype)x->dtype, "cumsum") : NULL;
  int behind = t->ndim ? data.dim + 1 : 0;
  int64_t outer = tn_sizes_product(t->sizes, data.dim);
  int64_t n = t->ndim ? t->sizes[data.dim] : 1;
  int64_t inner = tn_sizes_product(t->sizes + behind, t->ndim - behind);
  if (y && tn_cumsum_run(y, x, outer, n, inner, data.backwards) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(x);
  return y;
}

static tn_tensor *cumsum(tn_tensor *t, cumsum_data data);

/* Every element is in the sums from its own place to the end. */
static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  cumsum_data data = *(const cumsum_data *)tn_node_data_of(node);
  data.backwards = !data.backwards;
  results[0] = cumsum(grads[0], data);
  return tn_node_check(node, results);
}

static const tn_node_kind kind = { "cumsum", formula, false, NULL };

static tn_tensor *cumsum(tn_tensor *t, cumsum_data data)
{
  tn_tensor *y = t ? compute(t, data) : NULL;
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(&kind, &t, 1);
    cumsum_data *kept = tn_node_data(node, sizeof data);
    if (kept) *kept = data;
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

tn_tensor *tn_cumsum(tn_tensor *t, int dim)
{
  if (!t) return NULL;
  cumsum_data data = { tn_dim_of(dim, t->ndim, "cumsum"), false };
  if (data.dim < 0) return NULL;
  if (tn_dtype_is_float((tn_dtype)t->dtype) || t->dtype == TN_I64)
    return cumsum(t, data);
  tn_tensor *result = NULL;
  tn_with_scope {
    result = cumsum(tn_to(t, .dtype = TN_I64), data);
    if (result) tn_keep(result);
  }
  return result;
}
