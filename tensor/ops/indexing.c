/* embedding and index_select: whole rows by index. */
#include "config.h"

#include "tensor/ops/indexing.h"

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/indexing.h"
#include "tensor/ops/placement.h"

static tn_tensor *as_i64(tn_tensor *indices, const char *operation)
{
  tn_tensor *result = NULL;
  if (indices->dtype == TN_I64) return tn_tensor_contiguous(indices, operation);
  if (indices->dtype != TN_I32) {
    tn_set_error(TN_DTYPE_MISMATCH, "%s: indices of dtype %s: i64 and i32 are "
                 "taken", operation, tn_dtype_name((tn_dtype)indices->dtype));
    return NULL;
  }
  tn_with_scope {
    tn_tensor *cast = tn_to(indices, .dtype = TN_I64);
    if (cast) result = tn_tensor_contiguous(cast, operation);
  }
  return result;
}

tn_tensor *tn_indices_of(tn_tensor *indices, int64_t count,
                         const char *operation)
{
  tn_tensor *result = as_i64(indices, operation);
  if (!result || tn_index_check(result, count, operation) == TN_OK)
    return result;
  tn_release(result);
  return NULL;
}

/* ---- rows added ---- */

static tn_status rows_added_formula(tn_node *node, tn_tensor **grads,
                                    tn_tensor **results)
{
  const int *dim = tn_node_data_of(node);
  tn_tensor *index = tn_node_saved(node, 0);
  if (!index) return tn_last_status();
  results[0] = tn_index_select(grads[0], *dim, index);
  return tn_node_check(node, results);
}

static const tn_node_kind rows_added_kind = { .name = "index_add",
                                              .formula = rows_added_formula };

static tn_tensor *zeros(const tn_tensor *like, tn_shape shape,
                        const char *operation)
{
  tn_tensor *y = tn_tensor_new(tn_tensor_place(like), (tn_dtype)like->dtype,
                               shape, operation);
  if (!y || y->storage->bytes == 0 ||
      tn_fill_bytes(y->storage->address, tn_tensor_place(y)->device, 0,
                    y->storage->bytes) == TN_OK)
    return y;
  tn_release(y);
  return NULL;
}

tn_tensor *tn_rows_added(tn_shape shape, int dim, tn_tensor *index,
                         tn_tensor *g)
{
  if (!index || !g) return NULL;
  tn_tensor *y = zeros(g, shape, "index_add");
  tn_tensor *rows = y ? tn_tensor_contiguous(g, "index_add") : NULL;
  if (!rows || tn_add_rows_run(y, dim, index, rows) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(rows);
  if (y && tn_grad_needed(&g, 1)) {
    tn_node *node = tn_node_new(&rows_added_kind, &g, 1);
    int *data = tn_node_data(node, sizeof *data);
    *data = dim;
    tn_node_save(node, index);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* ---- index_select ---- */

static tn_status index_select_formula(tn_node *node, tn_tensor **grads,
                                      tn_tensor **results)
{
  const int *dim = tn_node_data_of(node);
  tn_tensor *index = tn_node_saved(node, 0);
  if (!index) return tn_last_status();
  results[0] = tn_rows_added(tn_node_input_shape(node, 0), *dim, index,
                             grads[0]);
  return tn_node_check(node, results);
}

static const tn_node_kind index_select_kind = {
  .name = "index_select", .formula = index_select_formula
};

/* Of one place; index is ready. */
static tn_tensor *select_rows(const tn_tensor *t, int dim,
                              const tn_tensor *index)
{
  int64_t sizes[TN_DIMS_MAX];
  for (int i = 0; i < t->ndim; i++) sizes[i] = t->sizes[i];
  sizes[dim] = index->numel;
  tn_tensor *y = tn_tensor_new(tn_tensor_place(t), (tn_dtype)t->dtype,
                               (tn_shape){ sizes, t->ndim }, "index_select");
  if (!y) return NULL;
  tn_tensor from = *t, at = *index;
  from.strides[dim] = 0;
  for (int i = 0; i < t->ndim; i++) at.strides[i] = i == dim;
  if (tn_take_run(y, &from, &at, t->strides[dim], t->sizes[dim]) == TN_OK)
    return y;
  tn_release(y);
  return NULL;
}

tn_tensor *tn_index_select(tn_tensor *t, int dim, tn_tensor *index)
{
  if (!t || !index) return NULL;
  int at = tn_dim_of(dim, t->ndim, "index_select");
  if (at < 0) return NULL;
  if (t->ndim == 0 || index->ndim > 1) {
    tn_set_error(TN_SHAPE_MISMATCH, "index_select: shape %s by indices %s: "
                 "one dimension or more, by indices of at most one",
                 tn_shape_text(tn_tensor_shape(t)),
                 tn_shape_text(tn_tensor_shape(index)));
    return NULL;
  }
  tn_placement placement;
  tn_tensor *operands[] = { t, index };
  if (tn_placement_begin(&placement, operands, 2, "index_select") != TN_OK)
    return NULL;
  tn_tensor *ready = tn_indices_of(placement.operands[1], t->sizes[at],
                                   "index_select");
  tn_tensor *y = ready ? select_rows(placement.operands[0], at, ready) : NULL;
  tn_placement_end(&placement);
  if (y && tn_grad_needed(&t, 1)) {
    tn_node *node = tn_node_new(&index_select_kind, &t, 1);
    int *data = tn_node_data(node, sizeof *data);
    *data = at;
    tn_node_save(node, ready);
    y = tn_node_finish(node, y);
  }
  tn_release(ready);
  return tn_scope_give(y);
}

/* ---- embedding ---- */

static tn_status embedding_formula(tn_node *node, tn_tensor **grads,
                                   tn_tensor **results)
{
  tn_tensor *index = tn_node_saved(node, 0);
  if (!index) return tn_last_status();
  tn_shape shape = tn_node_input_shape(node, 0);
  tn_tensor *rows = tn_reshape(grads[0],
                               TN_SHAPE(index->numel, shape.sizes[1]));
  results[0] = tn_rows_added(shape, 0, index, rows);
  return tn_node_check(node, results);
}

static const tn_node_kind embedding_kind = { .name = "embedding",
                                             .formula = embedding_formula };

static tn_tensor *look_up(const tn_tensor *weight, const tn_tensor *index)
{
  int64_t sizes[TN_DIMS_MAX + 1];
  int last = index->ndim;
  for (int i = 0; i < last; i++) sizes[i] = index->sizes[i];
  sizes[last] = weight->sizes[1];
  tn_tensor *y = tn_tensor_new(tn_tensor_place(weight),
                               (tn_dtype)weight->dtype,
                               (tn_shape){ sizes, last + 1 }, "embedding");
  if (!y) return NULL;
  tn_tensor from = *weight, at = *index;
  for (int i = 0; i < last; i++) from.strides[i] = 0;
  from.strides[last] = weight->strides[1];
  at.strides[last] = 0;
  if (tn_take_run(y, &from, &at, weight->strides[0], weight->sizes[0]) ==
      TN_OK)
    return y;
  tn_release(y);
  return NULL;
}

tn_tensor *tn_embedding(tn_tensor *weight, tn_tensor *indices)
{
  if (!weight || !indices) return NULL;
  if (weight->ndim != 2) {
    tn_set_error(TN_SHAPE_MISMATCH, "embedding: weight %s: two dimensions are "
                 "needed", tn_shape_text(tn_tensor_shape(weight)));
    return NULL;
  }
  tn_placement placement;
  tn_tensor *operands[] = { weight, indices };
  if (tn_placement_begin(&placement, operands, 2, "embedding") != TN_OK)
    return NULL;
  tn_tensor *ready = tn_indices_of(placement.operands[1], weight->sizes[0],
                                   "embedding");
  tn_tensor *y = ready ? look_up(placement.operands[0], ready) : NULL;
  tn_placement_end(&placement);
  if (y && tn_grad_needed(&weight, 1)) {
    tn_node *node = tn_node_new(&embedding_kind, &weight, 1);
    tn_node_save(node, ready);
    y = tn_node_finish(node, y);
  }
  tn_release(ready);
  return tn_scope_give(y);
}
