/* Views of a part of a tensor: slice, narrow, select. */
#include "config.h"

#include <inttypes.h>

#include "tensor/ops/view.h"

typedef struct part {
  int64_t start, end, step;
  int dim;
} part;

static tn_status slice_formula(tn_node *node, tn_tensor **grads,
                               tn_tensor **results)
{
  const part *of = tn_node_data_of(node);
  tn_tensor *whole = tn_new_zeros(grads[0], tn_node_input_shape(node, 0));
  if (tn_copy_(tn_slice(whole, of->dim, of->start, of->end, of->step),
               grads[0]))
    results[0] = whole;
  return tn_node_check(node, results);
}

static tn_status select_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  const part *of = tn_node_data_of(node);
  tn_tensor *whole = tn_new_zeros(grads[0], tn_node_input_shape(node, 0));
  if (tn_copy_(tn_select(whole, of->dim, of->start), grads[0]))
    results[0] = whole;
  return tn_node_check(node, results);
}

static const tn_node_kind slice_kind = { .name = "slice",
                                         .formula = slice_formula };
static const tn_node_kind narrow_kind = { .name = "narrow",
                                          .formula = slice_formula };
static const tn_node_kind select_kind = { .name = "select",
                                          .formula = select_formula };

/* Of an empty view the offset says nothing, and may not fit. */
static int64_t offset_of(const tn_tensor *t, int dim, int64_t start)
{
  int64_t offset;
  if (__builtin_mul_overflow(start, t->strides[dim], &offset) ||
      __builtin_add_overflow(offset, t->offset, &offset))
    return t->offset;
  return offset;
}

/* start and end are within the size. */
static tn_tensor *take(tn_tensor *t, const part *of, const tn_node_kind *kind)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  for (int i = 0; i < t->ndim; i++) {
    sizes[i] = t->sizes[i];
    strides[i] = t->strides[i];
  }
  int64_t length = of->end - of->start;
  sizes[of->dim] = length / of->step + (length % of->step != 0);
  if (sizes[of->dim] > 1 &&
      __builtin_mul_overflow(strides[of->dim], of->step, &strides[of->dim]))
    strides[of->dim] = 1; /* of an empty tensor: not used */
  return tn_view_give(t, (tn_shape){ sizes, t->ndim }, strides,
                      offset_of(t, of->dim, of->start), kind, of,
                      sizeof *of);
}

static int64_t clamped(int64_t bound, int64_t size)
{
  if (bound < 0) bound += size;
  return bound < 0 ? 0 : bound > size ? size : bound;
}

tn_tensor *tn_slice(tn_tensor *t, int dim, int64_t start, int64_t end,
                    int64_t step)
{
  int at = t ? tn_view_dim_of(t, dim, "slice") : -1;
  if (at < 0) return NULL;
  if (step < 1) {
    tn_set_error(TN_INVALID_ARGUMENT, "slice: step %" PRId64 ": 1 or more is "
                 "possible", step);
    return NULL;
  }
  part of = { clamped(start, t->sizes[at]), clamped(end, t->sizes[at]), step,
              at };
  if (of.end < of.start) of.end = of.start;
  return take(t, &of, &slice_kind);
}

tn_tensor *tn_narrow(tn_tensor *t, int dim, int64_t start, int64_t length)
{
  int at = t ? tn_view_dim_of(t, dim, "narrow") : -1;
  if (at < 0) return NULL;
  int64_t size = t->sizes[at], from = start < 0 ? start + size : start;
  if (from < 0 || from > size || length < 0 || length > size - from) {
    tn_set_error(TN_INVALID_ARGUMENT, "narrow: %" PRId64 " elements from "
                 "%" PRId64 " on, of %" PRId64 " in dimension %d", length,
                 start, size, dim);
    return NULL;
  }
  part of = { from, from + length, 1, at };
  return take(t, &of, &narrow_kind);
}

tn_tensor *tn_select(tn_tensor *t, int dim, int64_t index)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  int at = t ? tn_view_dim_of(t, dim, "select") : -1, count = 0;
  if (at < 0) return NULL;
  int64_t size = t->sizes[at];
  if (index < -size || index >= size) {
    tn_set_error(TN_INVALID_ARGUMENT, "select: index %" PRId64 " in dimension "
                 "%d, of size %" PRId64, index, dim, size);
    return NULL;
  }
  part of = { .start = index < 0 ? index + size : index, .dim = at };
  for (int i = 0; i < t->ndim; i++) {
    if (i == at) continue;
    sizes[count] = t->sizes[i];
    strides[count++] = t->strides[i];
  }
  return tn_view_give(t, (tn_shape){ sizes, count }, strides,
                      offset_of(t, at, of.start), &select_kind, &of,
                      sizeof of);
}
