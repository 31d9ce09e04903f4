/* The same elements in another shape. */
#include "config.h"

#include "tensor/ops/view.h"

#include <inttypes.h>

tn_tensor *tn_view_give(tn_tensor *t, tn_shape shape, const int64_t *strides,
                        int64_t offset, const tn_node_kind *kind,
                        const void *data, size_t size)
{
  tn_tensor *view = tn_tensor_view(t, shape, strides, offset);
  return tn_scope_give(tn_view_finish(view, t, kind, data, size));
}

tn_status tn_view_reshape_back(tn_node *node, tn_tensor **grads,
                               tn_tensor **results)
{
  results[0] = tn_reshape(grads[0], tn_node_input_shape(node, 0));
  return tn_node_check(node, results);
}

int tn_view_dim_of(const tn_tensor *t, int dim, const char *operation)
{
  if (t->ndim > 0) return tn_dim_of(dim, t->ndim, operation);
  tn_set_error(TN_INVALID_ARGUMENT, "%s: a 0-dimensional tensor has no "
               "dimension %d", operation, dim);
  return -1;
}

/* ---- sizes of which one may be -1 ---- */

static tn_status refuse_sizes(const tn_tensor *t, tn_shape shape,
                              const char *operation)
{
  return tn_set_error(TN_SHAPE_MISMATCH, "%s: shape %s for the %" PRId64
                      " elements of shape %s", operation, tn_shape_text(shape),
                      t->numel, tn_shape_text(tn_tensor_shape(t)));
}

static int count_unknown(tn_shape shape)
{
  int count = 0;
  for (int i = 0; i < shape.ndim; i++) count += shape.sizes[i] == -1;
  return count;
}

/* sizes[]: those of the shape, with what the unknown one must be. */
static tn_status find_sizes(const tn_tensor *t, tn_shape shape,
                            const char *operation, int64_t *sizes)
{
  int64_t known;
  int unknown = -1;
  if (shape.ndim > TN_DIMS_MAX || shape.ndim < 0 ||
      (shape.ndim > 0 && !shape.sizes))
    return tn_shape_check(shape, 1, operation, &known);
  if (count_unknown(shape) > 1)
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: shape %s: one size may be "
                        "-1", operation, tn_shape_text(shape));
  for (int i = 0; i < shape.ndim; i++) {
    sizes[i] = shape.sizes[i];
    if (sizes[i] != -1) continue;
    unknown = i;
    sizes[i] = 1;
  }
  tn_status status = tn_shape_check((tn_shape){ sizes, shape.ndim }, 1,
                                    operation, &known);
  if (status != TN_OK) return status;
  if (unknown < 0)
    return known == t->numel ? TN_OK : refuse_sizes(t, shape, operation);
  if (known == 0 || t->numel % known)
    return refuse_sizes(t, shape, operation);
  sizes[unknown] = t->numel / known;
  return TN_OK;
}

/* ---- strides ---- */

/* Dimensions of t that lie behind one another are one run; each run must be
 * made of whole new dimensions. From the innermost outward; false if t does
 * not allow it. */
static bool find_strides(const tn_tensor *t, tn_shape shape, int64_t *strides)
{
  int at = shape.ndim - 1;
  int64_t run = 1, covered = 1, step = t->ndim ? t->strides[t->ndim - 1] : 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    run *= t->sizes[i];
    bool goes_on = i > 0 && (t->sizes[i - 1] == 1 ||
                             t->strides[i - 1] == run * step);
    if (goes_on) continue;
    while (at >= 0 && (covered < run || shape.sizes[at] == 1)) {
      strides[at] = covered * step;
      covered *= shape.sizes[at--];
    }
    if (covered != run) return false;
    if (i > 0) step = t->strides[i - 1];
    run = covered = 1;
  }
  while (at >= 0) strides[at--] = 1; /* of a 0-dimensional t: all sizes 1 */
  return true;
}

static bool can_view(const tn_tensor *t, tn_shape shape, int64_t *strides)
{
  if (t->numel > 0 && !t->is_contiguous)
    return find_strides(t, shape, strides);
  tn_shape_strides(shape, strides);
  return true;
}

/* ---- the operations ---- */

static const tn_node_kind view_kind = { .name = "view",
                                        .formula = tn_view_reshape_back };

tn_tensor *tn_view(tn_tensor *t, tn_shape shape)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  if (!t || find_sizes(t, shape, "view", sizes) != TN_OK) return NULL;
  tn_shape wanted = { sizes, shape.ndim };
  if (can_view(t, wanted, strides))
    return tn_view_give(t, wanted, strides, t->offset, &view_kind, NULL, 0);
  tn_set_error(TN_SHAPE_MISMATCH, "view: shape %s of a tensor of shape %s with "
               "strides %s: these do not allow it; reshape copies",
               tn_shape_text(wanted), tn_shape_text(tn_tensor_shape(t)),
               tn_shape_text((tn_shape){ t->strides, t->ndim }));
  return NULL;
}

/* A copy in row order, which the view keeps alive. */
static tn_tensor *view_of_copy(tn_tensor *t, tn_shape shape)
{
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return NULL;
  tn_tensor *rows = tn_contiguous(t);
  tn_tensor *view = rows ? tn_retain(tn_view(rows, shape)) : NULL;
  tn_scope_pop(&scope);
  return tn_scope_give(view);
}

tn_tensor *tn_reshape(tn_tensor *t, tn_shape shape)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  if (!t || find_sizes(t, shape, "reshape", sizes) != TN_OK) return NULL;
  tn_shape wanted = { sizes, shape.ndim };
  if (can_view(t, wanted, strides))
    return tn_view_give(t, wanted, strides, t->offset, &view_kind, NULL, 0);
  return view_of_copy(t, wanted);
}

tn_tensor *tn_flatten(tn_tensor *t, int start_dim, int end_dim)
{
  if (!t) return NULL;
  int start = tn_dim_of(start_dim, t->ndim, "flatten");
  int end = start < 0 ? -1 : tn_dim_of(end_dim, t->ndim, "flatten");
  if (end < 0) return NULL;
  if (start > end) {
    tn_set_error(TN_INVALID_ARGUMENT, "flatten: the first dimension, %d, is "
                 "behind the last, %d", start_dim, end_dim);
    return NULL;
  }
  if (start == end && t->ndim) return tn_scope_give(tn_retain(t));
  int64_t sizes[TN_DIMS_MAX] = { 1 };
  int count = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (i > start && i <= end) continue;
    sizes[count++] = i == start
                         ? tn_sizes_product(t->sizes + i, end - start + 1)
                         : t->sizes[i];
  }
  return tn_reshape(t, (tn_shape){ sizes, count ? count : 1 });
}
