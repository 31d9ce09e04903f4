/* Views whose elements may share memory: expand, as_strided; and detach. */
#include "config.h"

#include <inttypes.h>

#include "tensor/autograd/strided.h"
#include "tensor/ops/view.h"

/* ---- expand ---- */

/* Backward sums over what was expanded. */
static tn_status expand_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  (void)node;
  results[0] = grads[0];
  return TN_OK;
}

static const tn_node_kind expand_kind = { .name = "expand",
                                          .formula = expand_formula };

static tn_tensor *refuse_expansion(const tn_tensor *t, tn_shape shape)
{
  tn_set_error(TN_SHAPE_MISMATCH, "expand: shape %s to %s: sizes of 1 can be "
               "expanded, and dimensions added in front",
               tn_shape_text(tn_tensor_shape(t)), tn_shape_text(shape));
  return NULL;
}

/* From the innermost outward; false for sizes that do not fit. */
static bool expand_dims(const tn_tensor *t, tn_shape shape, int64_t *sizes,
                        int64_t *strides)
{
  int extra = shape.ndim - t->ndim;
  for (int i = shape.ndim - 1; i >= 0; i--) {
    bool is_there = i >= extra;
    int64_t size = is_there ? t->sizes[i - extra] : 1;
    sizes[i] = shape.sizes[i] == -1 && is_there ? size : shape.sizes[i];
    if (sizes[i] < 0 || (size != sizes[i] && size != 1)) return false;
    if (size != sizes[i]) strides[i] = 0;
    else if (is_there) strides[i] = t->strides[i - extra];
    else if (i + 1 == shape.ndim) strides[i] = 1;
    else if (__builtin_mul_overflow(sizes[i + 1], strides[i + 1], &strides[i]))
      strides[i] = 1; /* of size 1: not used */
  }
  return true;
}

tn_tensor *tn_expand(tn_tensor *t, tn_shape shape)
{
  int64_t sizes[TN_DIMS_MAX] = { 0 }, strides[TN_DIMS_MAX] = { 0 }, numel;
  if (!t) return NULL;
  if (shape.ndim > TN_DIMS_MAX || (shape.ndim > 0 && !shape.sizes)) {
    tn_shape_check(shape, 1, "expand", &numel);
    return NULL;
  }
  if (shape.ndim < t->ndim || !expand_dims(t, shape, sizes, strides))
    return refuse_expansion(t, shape);
  tn_shape wanted = { sizes, shape.ndim };
  if (tn_shape_check(wanted, tn_dtype_size((tn_dtype)t->dtype), "expand",
                     &numel) != TN_OK)
    return NULL;
  return tn_view_give(t, wanted, strides, t->offset, &expand_kind, NULL, 0);
}

/* ---- as_strided ---- */

/* One behind the last element, from the begin of the storage; false if that
 * is more than int64 can hold. */
static bool find_end(tn_shape shape, const int64_t *strides, int64_t offset,
                     int64_t *end)
{
  *end = offset;
  for (int i = 0; i < shape.ndim; i++)
    if (shape.sizes[i] == 0) return true;
  for (int i = 0; i < shape.ndim; i++) {
    int64_t reach;
    if (__builtin_mul_overflow(shape.sizes[i] - 1, strides[i], &reach) ||
        __builtin_add_overflow(*end, reach, end))
      return false;
  }
  return !__builtin_add_overflow(*end, 1, end);
}

static tn_status check_strides(const tn_tensor *t, tn_shape shape,
                               tn_shape strides, int64_t offset)
{
  int64_t numel, end, item = (int64_t)tn_dtype_size((tn_dtype)t->dtype);
  int64_t held = (int64_t)t->storage->bytes / item;
  tn_status status = tn_shape_check(shape, (size_t)item, "as_strided",
                                    &numel);
  if (status != TN_OK) return status;
  if (strides.ndim != shape.ndim || (strides.ndim > 0 && !strides.sizes))
    return tn_set_error(TN_SHAPE_MISMATCH, "as_strided: %d strides for shape "
                        "%s", strides.ndim, tn_shape_text(shape));
  for (int i = 0; i < strides.ndim; i++)
    if (strides.sizes[i] < 0)
      return tn_set_error(TN_INVALID_ARGUMENT, "as_strided: strides %s: 0 or "
                          "more are possible", tn_shape_text(strides));
  if (offset < 0 || !find_end(shape, strides.sizes, offset, &end) ||
      end > held)
    return tn_set_error(TN_INVALID_ARGUMENT, "as_strided: shape %s, strides "
                        "%s, offset %" PRId64 ": outside of a memory of "
                        "%" PRId64 " elements", tn_shape_text(shape),
                        tn_shape_text(strides), offset, held);
  return TN_OK;
}

tn_tensor *tn_as_strided(tn_tensor *t, tn_shape shape, tn_shape strides,
                         int64_t offset)
{
  tn_strided_data data;
  if (!t || check_strides(t, shape, strides, offset) != TN_OK) return NULL;
  tn_tensor *view = tn_tensor_view(t, shape, strides.sizes, offset);
  if (!view) return NULL;
  tn_strided_describe(&data, view, t);
  return tn_scope_give(tn_view_finish(view, t, &tn_as_strided_kind, &data,
                                      sizeof data));
}

/* ---- detach ---- */

tn_tensor *tn_detach(tn_tensor *t)
{
  if (!t) return NULL;
  return tn_scope_give(tn_tensor_view(t, tn_tensor_shape(t), t->strides,
                                      t->offset));
}
