/* scaled_dot_product_attention. */
#include "config.h"

#include "tensor/compute/attention.h"

#include <inttypes.h>
#include <math.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/ops/placement.h"

#define NAME "scaled_dot_product_attention"

enum { Q, K, V, MASK, OPERANDS };

/* The dimensions before the last two, broadcast. */
typedef struct batch_shape {
  int64_t sizes[TN_DIMS_MAX];
  int ndim;
} batch_shape;

static tn_shape batch_of(const tn_tensor *t)
{
  return (tn_shape){ t->sizes, t->ndim - 2 };
}

static tn_shape shape_of_batch(const batch_shape *batch)
{
  return (tn_shape){ batch->sizes, batch->ndim };
}

static int64_t last_size(const tn_tensor *t, int from_end)
{
  return t->sizes[t->ndim - from_end];
}

static tn_status check_dtypes(tn_tensor *const *x)
{
  for (int i = Q; i <= V; i++) {
    if (!tn_dtype_is_float((tn_dtype)x[i]->dtype) ||
        x[i]->dtype != x[Q]->dtype)
      return tn_set_error(TN_DTYPE_MISMATCH, NAME ": dtypes %s, %s and %s: all "
                          "must be f32, or all f64",
                          tn_dtype_name((tn_dtype)x[Q]->dtype),
                          tn_dtype_name((tn_dtype)x[K]->dtype),
                          tn_dtype_name((tn_dtype)x[V]->dtype));
  }
  if (!x[MASK] || x[MASK]->dtype == TN_BOOL ||
      x[MASK]->dtype == x[Q]->dtype)
    return TN_OK;
  return tn_set_error(TN_DTYPE_MISMATCH, NAME ": a mask of dtype %s: bool and "
                      "%s are taken", tn_dtype_name((tn_dtype)x[MASK]->dtype),
                      tn_dtype_name((tn_dtype)x[Q]->dtype));
}

/* The mask must not be larger than batch, queries, keys. */
static tn_status check_mask(const tn_tensor *mask, const batch_shape *batch,
                            int64_t queries, int64_t keys)
{
  int64_t sizes[TN_DIMS_MAX + 2], result[TN_DIMS_MAX + 2];
  int ndim = batch->ndim, found;
  for (int i = 0; i < ndim; i++) sizes[i] = batch->sizes[i];
  sizes[ndim++] = queries;
  sizes[ndim++] = keys;
  tn_shape shape = { sizes, ndim };
  if (tn_shape_broadcast(tn_tensor_shape(mask), shape, NAME, result, &found) !=
      TN_OK)
    return tn_last_status();
  if (tn_shape_equal((tn_shape){ result, found }, shape)) return TN_OK;
  return tn_set_error(TN_SHAPE_MISMATCH, NAME ": mask %s is larger than %s",
                      tn_shape_text(tn_tensor_shape(mask)),
                      tn_shape_text(shape));
}

static tn_status check(tn_tensor *const *x, batch_shape *batch)
{
  for (int i = Q; i <= V; i++)
    if (x[i]->ndim < 2)
      return tn_set_error(TN_SHAPE_MISMATCH, NAME ": shape %s: two dimensions "
                          "or more are needed",
                          tn_shape_text(tn_tensor_shape(x[i])));
  if (check_dtypes(x) != TN_OK) return tn_last_status();
  if (last_size(x[Q], 1) != last_size(x[K], 1) ||
      last_size(x[K], 2) != last_size(x[V], 2))
    return tn_set_error(TN_SHAPE_MISMATCH, NAME ": q %s, k %s, v %s: rows of q "
                        "and k are of one size, k and v have as many rows",
                        tn_shape_text(tn_tensor_shape(x[Q])),
                        tn_shape_text(tn_tensor_shape(x[K])),
                        tn_shape_text(tn_tensor_shape(x[V])));
  if (tn_shape_broadcast(batch_of(x[Q]), batch_of(x[K]), NAME, batch->sizes,
                         &batch->ndim) != TN_OK ||
      tn_shape_broadcast(shape_of_batch(batch), batch_of(x[V]), NAME,
                         batch->sizes, &batch->ndim) != TN_OK)
    return tn_last_status();
  return x[MASK] ? check_mask(x[MASK], batch, last_size(x[Q], 2),
                              last_size(x[K], 2))
                 : TN_OK;
}

/* ---- layouts ---- */

static int64_t stride_of(const tn_tensor *t, int from_end)
{
  int at = t->ndim - from_end;
  return at < 0 || t->sizes[at] == 1 ? 0 : t->strides[at];
}

/* Batches in two levels; false if the strides need more. */
static bool describe(tn_attention *a, tn_tensor *const *x,
                     const batch_shape *batch)
{
  int64_t sizes[TN_DIMS_MAX], strides[OPERANDS][TN_DIMS_MAX];
  int levels = 0;
  for (int i = 0; i < batch->ndim; i++) {
    int64_t size = batch->sizes[i], step[OPERANDS];
    bool joins = levels > 0;
    if (size == 1) continue;
    for (int o = 0; o < OPERANDS; o++) {
      step[o] = x[o] ? stride_of(x[o], batch->ndim + 2 - i) : 0;
      joins = joins && (!x[o] || strides[o][levels - 1] == step[o] * size);
    }
    if (!joins) sizes[levels++] = 1;
    sizes[levels - 1] *= size;
    for (int o = 0; o < OPERANDS; o++) strides[o][levels - 1] = step[o];
  }
  if (levels > 2) return false;
  tn_row_batches *to[] = { &a->q, &a->k, &a->v, &a->mask };
  a->inner = levels > 0 ? sizes[levels - 1] : 1;
  a->outer = levels > 1 ? sizes[0] : 1;
  for (int o = 0; o < OPERANDS; o++) {
    if (!x[o]) continue;
    *to[o] = (tn_row_batches){ tn_tensor_address(x[o]),
                               levels > 1 ? strides[o][0] : 0,
                               levels > 0 ? strides[o][levels - 1] : 0,
                               stride_of(x[o], 2), stride_of(x[o], 1) };
  }
  return true;
}

/* The whole of what an operand is broadcast to, contiguous; in the scope. */
static tn_tensor *in_full(tn_tensor *t, const batch_shape *batch)
{
  int64_t sizes[TN_DIMS_MAX + 2];
  for (int i = 0; i < batch->ndim; i++) sizes[i] = batch->sizes[i];
  sizes[batch->ndim] = last_size(t, 2);
  sizes[batch->ndim + 1] = last_size(t, 1);
  tn_tensor *full = tn_expand(t, (tn_shape){ sizes, batch->ndim + 2 });
  return full ? tn_scope_give(tn_tensor_contiguous(full, NAME)) : NULL;
}

/* Elements of rows side by side. */
static bool has_dense_rows(const tn_tensor *t)
{
  return last_size(t, 1) == 1 || stride_of(t, 1) == 1;
}

/* A mask of at least two dimensions. */
static tn_tensor *with_rows(tn_tensor *mask)
{
  while (mask && mask->ndim < 2) mask = tn_unsqueeze(mask, 0);
  return mask;
}

/* All operands in row order, as large as their batches. */
static bool spread(tn_tensor **x, const batch_shape *batch)
{
  for (int o = 0; o < OPERANDS; o++)
    if (x[o] && !(x[o] = in_full(x[o], batch))) return false;
  return true;
}

/* Describes x[], of which copies are made where strides are of no use. */
static bool arrange(tn_attention *a, tn_tensor **x, const batch_shape *batch)
{
  a->place = tn_tensor_place(x[Q]);
  a->dtype = (tn_dtype)x[Q]->dtype;
  a->queries = last_size(x[Q], 2);
  a->keys = last_size(x[K], 2);
  a->size = last_size(x[Q], 1);
  a->values = last_size(x[V], 1);
  for (int o = Q; o <= V; o++)
    if (!has_dense_rows(x[o]) &&
        !(x[o] = tn_scope_give(tn_tensor_contiguous(x[o], NAME))))
      return false;
  if (describe(a, x, batch)) return true;
  return spread(x, batch) && describe(a, x, batch);
}

/* ---- the operation ---- */

/* What the way back needs besides tensors. */
typedef struct attention_data {
  batch_shape batch;
  double scale;
  bool is_causal;
} attention_data;

enum { SAVED_Y = OPERANDS, SAVED_STATS };

/* Gradients of operand o, as large as its batches; NULL if not wanted. */
static void *gradient(tn_node *node, int o, const tn_tensor *like,
                      tn_tensor **results, bool *failed)
{
  if (!tn_node_wants(node, o)) return NULL;
  results[o] = tn_scope_give(tn_tensor_like(like, (tn_dtype)like->dtype,
                                            NAME));
  if (!results[o]) *failed = true;
  return results[o] ? tn_tensor_address(results[o]) : NULL;
}

static tn_tensor *mask_gradient(tn_node *node, const tn_attention *a,
                                const batch_shape *batch)
{
  int64_t sizes[TN_DIMS_MAX + 2];
  if (!tn_node_wants(node, MASK)) return NULL;
  for (int i = 0; i < batch->ndim; i++) sizes[i] = batch->sizes[i];
  sizes[batch->ndim] = a->queries;
  sizes[batch->ndim + 1] = a->keys;
  return tn_scope_give(tn_tensor_new(a->place, a->dtype,
                                     (tn_shape){ sizes, batch->ndim + 2 },
                                     NAME));
}

/* x[]: in full, but for the mask, which is described by its strides. */
static tn_status run_back(tn_node *node, tn_tensor **x, tn_tensor *grad,
                          tn_tensor **results)
{
  const attention_data *data = tn_node_data_of(node);
  tn_attention a = { .scale = data->scale, .is_causal = data->is_causal };
  tn_tensor *y = tn_node_saved(node, SAVED_Y);
  tn_tensor *stats = tn_node_saved(node, SAVED_STATS);
  grad = grad ? tn_scope_give(tn_tensor_contiguous(grad, NAME)) : NULL;
  for (int o = Q; o <= V; o++)
    if (x[o]) x[o] = in_full(x[o], &data->batch);
  if (!y || !stats || !grad || !x[Q] || !x[K] || !x[V] ||
      !arrange(&a, x, &data->batch))
    return tn_last_status();
  bool failed = false;
  results[MASK] = mask_gradient(node, &a, &data->batch);
  tn_attention_gradients to = {
    gradient(node, Q, x[Q], results, &failed),
    gradient(node, K, x[K], results, &failed),
    gradient(node, V, x[V], results, &failed),
    results[MASK] ? tn_tensor_address(results[MASK]) : NULL
  };
  if (failed || (tn_node_wants(node, MASK) && !results[MASK]))
    return tn_last_status();
  return tn_attention_back_run(&a, tn_tensor_address(y),
                               tn_tensor_address(grad),
                               tn_tensor_address(stats), &to);
}

/* Nothing was seen: no influence. */
static tn_status no_influence(tn_node *node, tn_tensor *grad,
                              tn_tensor **results)
{
  for (int o = 0; o < OPERANDS; o++)
    if (tn_node_wants(node, o))
      results[o] = tn_new_zeros(grad, tn_node_input_shape(node, o));
  return tn_node_check(node, results);
}

static tn_status attention_formula(tn_node *node, tn_tensor **grads,
                                   tn_tensor **results)
{
  const attention_data *data = tn_node_data_of(node);
  tn_tensor *x[OPERANDS];
  tn_shape keys = tn_node_input_shape(node, K);
  if (grads[0]->numel == 0 || keys.sizes[keys.ndim - 2] == 0)
    return no_influence(node, grads[0], results);
  bool has_mask = tn_node_input_count(node) > MASK;
  for (int o = 0; o < OPERANDS; o++) {
    x[o] = o < MASK || has_mask ? tn_node_saved(node, o) : NULL;
    if (!x[o] && (o < MASK || has_mask)) return tn_last_status();
  }
  tn_status status = run_back(node, x, grads[0], results);
  if (status != TN_OK) return status;
  for (int o = Q; o <= K; o++)
    if (results[o]) results[o] = tn_mul_scalar_(results[o], data->scale);
  return tn_node_check(node, results);
}

static const tn_node_kind attention_kind = {
  .name = NAME, .formula = attention_formula, .once = true
};

/* -infinity where a bool mask is false, else 0. */
static tn_tensor *added_mask(tn_tensor *mask, const tn_tensor *like)
{
  if (!mask || mask->dtype != TN_BOOL) return mask;
  tn_tensor *zeros = tn_new_zeros(like, tn_tensor_shape(mask));
  return tn_masked_fill(zeros, tn_logical_not(mask), -INFINITY);
}

/* y and the statistics, of the caller. */
static bool run_forward(tn_tensor **x, const attention_data *data,
                        tn_tensor **y, tn_tensor **stats)
{
  tn_attention a = { .scale = data->scale, .is_causal = data->is_causal };
  int64_t sizes[TN_DIMS_MAX + 2];
  int ndim = data->batch.ndim;
  for (int i = 0; i < ndim; i++) sizes[i] = data->batch.sizes[i];
  sizes[ndim] = last_size(x[Q], 2);
  sizes[ndim + 1] = last_size(x[V], 1);
  *y = tn_tensor_new(tn_tensor_place(x[Q]), (tn_dtype)x[Q]->dtype,
                     (tn_shape){ sizes, ndim + 2 }, NAME);
  if (!*y || (*y)->numel == 0) return *y;
  if (!arrange(&a, x, &data->batch)) return false;
  if (a.keys == 0)
    return tn_fill_bytes((*y)->storage->address, a.place->device, 0,
                         (*y)->storage->bytes) == TN_OK;
  sizes[ndim + 1] = 2;
  *stats = tn_tensor_new(a.place, a.dtype, (tn_shape){ sizes, ndim + 2 },
                         NAME);
  return *stats && tn_attention_run(&a, tn_tensor_address(*y),
                                    tn_tensor_address(*stats)) == TN_OK;
}

/* x[]: of one place, the mask added; inputs[]: what gradients are for. */
static tn_tensor *attend(tn_tensor **x, tn_tensor *const *inputs,
                         const attention_data *data)
{
  tn_tensor *y = NULL, *stats = NULL, *arranged[OPERANDS];
  int count = x[MASK] ? OPERANDS : MASK;
  for (int o = 0; o < OPERANDS; o++) arranged[o] = x[o];
  if (!run_forward(arranged, data, &y, &stats)) {
    tn_release(y);
    y = NULL;
  }
  if (y && tn_grad_needed(inputs, count)) {
    tn_node *node = tn_node_new(&attention_kind, inputs, count);
    *(attention_data *)tn_node_data(node, sizeof *data) = *data;
    for (int o = 0; o < OPERANDS; o++) tn_node_save(node, x[o]);
    tn_node_save(node, y);
    tn_node_save(node, stats);
    y = tn_node_finish(node, y);
  }
  tn_release(stats);
  return y;
}

tn_tensor *tn_scaled_dot_product_attention(tn_tensor *q, tn_tensor *k,
                                           tn_tensor *v, tn_tensor *mask,
                                           bool causal, double scale)
{
  tn_tensor *y = NULL, *inputs[] = { q, k, v, mask };
  attention_data data = { .is_causal = causal, .scale = scale };
  tn_placement placement;
  if (!q || !k || !v || check(inputs, &data.batch) != TN_OK) return NULL;
  if (scale == 0 && q->ndim >= 2)
    data.scale = 1 / sqrt((double)last_size(q, 1));
  if (tn_placement_begin(&placement, inputs, OPERANDS, NAME) != TN_OK)
    return NULL;
  tn_with_scope {
    tn_tensor **x = placement.operands;
    inputs[MASK] = with_rows(added_mask(x[MASK], x[Q]));
    tn_tensor *all[] = { x[Q], x[K], x[V], inputs[MASK] };
    if (inputs[MASK] || !mask) y = attend(all, inputs, &data);
  }
  tn_placement_end(&placement);
  return tn_scope_give(y);
}
