/* tril, triu and one_hot. */
#include "config.h"

#include <inttypes.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/indexing.h"
#include "tensor/ops/indexing.h"

static tn_status tril_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  const int64_t *diagonal = tn_node_data_of(node);
  results[0] = tn_tril(grads[0], *diagonal);
  return tn_node_check(node, results);
}

static tn_status triu_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  const int64_t *diagonal = tn_node_data_of(node);
  results[0] = tn_triu(grads[0], *diagonal);
  return tn_node_check(node, results);
}

static const tn_node_kind tril_kind = { .name = "tril",
                                        .formula = tril_formula };
static const tn_node_kind triu_kind = { .name = "triu",
                                        .formula = triu_formula };

static tn_tensor *triangle(tn_tensor *t, int64_t diagonal,
                           const tn_node_kind *kind)
{
  if (!t) return NULL;
  if (t->ndim < 2) {
    tn_set_error(TN_SHAPE_MISMATCH, "%s: shape %s: two dimensions or more are "
                 "needed", kind->name, tn_shape_text(tn_tensor_shape(t)));
    return NULL;
  }
  bool is_lower = kind == &tril_kind;
  tn_tensor *y = tn_tensor_like(t, (tn_dtype)t->dtype, kind->name);
  if (y && tn_triangle_run(y, t, is_lower ? INT64_MIN : diagonal,
                           is_lower ? diagonal : INT64_MAX) != TN_OK) {
    tn_release(y);
    return NULL;
  }
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(kind, &t, 1);
    int64_t *data = tn_node_data(node, sizeof *data);
    *data = diagonal;
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

tn_tensor *tn_tril(tn_tensor *t, int64_t diagonal)
{
  return triangle(t, diagonal, &tril_kind);
}

tn_tensor *tn_triu(tn_tensor *t, int64_t diagonal)
{
  return triangle(t, diagonal, &triu_kind);
}

/* One more than the greatest index; reads it. */
static int64_t count_classes(tn_tensor *indices)
{
  int64_t greatest = -1;
  if (indices->numel == 0) {
    tn_set_error(TN_INVALID_ARGUMENT, "one_hot: no indices, and no number of "
                 "classes");
    return -1;
  }
  tn_with_scope {
    tn_tensor *max = tn_max(indices);
    if (!max) return -1;
    greatest = tn_item_i64(max);
  }
  if (greatest >= 0 && greatest < INT64_MAX) return greatest + 1;
  tn_set_error(TN_INVALID_ARGUMENT, "one_hot: the greatest index is %" PRId64
               ": no number of classes is one more", greatest);
  return -1;
}

tn_tensor *tn_one_hot(tn_tensor *indices, int64_t classes)
{
  int64_t sizes[TN_DIMS_MAX + 1];
  if (!indices) return NULL;
  if (classes < -1 || classes == 0) {
    tn_set_error(TN_INVALID_ARGUMENT, "one_hot: %" PRId64 " classes: 1 or "
                 "more, or -1 to count them", classes);
    return NULL;
  }
  if (classes == -1 && (classes = count_classes(indices)) < 0) return NULL;
  tn_tensor *ready = tn_indices_of(indices, classes, "one_hot");
  if (!ready) return NULL;
  for (int i = 0; i < indices->ndim; i++) sizes[i] = indices->sizes[i];
  sizes[indices->ndim] = classes;
  tn_tensor *y = tn_tensor_new(tn_tensor_place(ready), TN_I64,
                               (tn_shape){ sizes, indices->ndim + 1 },
                               "one_hot");
  if (y && tn_one_hot_run(y, ready) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(ready);
  return tn_scope_give(y);
}
