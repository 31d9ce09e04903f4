#include "config.h"

#include "tensor/compute/layout.h"

#include <string.h>

static int64_t stride_of(const tn_tensor *t, int from_end)
{
  int at = t->ndim - from_end;
  return at < 0 || t->sizes[at] == 1 ? 0 : t->strides[at];
}

static void take_dims(tn_layout *layout, tn_shape shape,
                      tn_tensor *const *operands, int count)
{
  for (int i = 0; i < shape.ndim; i++) {
    if (shape.sizes[i] == 1) continue;
    int at = layout->ndim++;
    layout->sizes[at] = shape.sizes[i];
    for (int k = 0; k < count; k++)
      layout->strides[k][at] = stride_of(operands[k], shape.ndim - i);
  }
}

static void swap_dims(tn_layout *layout, int a, int b, int count)
{
  int64_t size = layout->sizes[a];
  layout->sizes[a] = layout->sizes[b];
  layout->sizes[b] = size;
  for (int k = 0; k < count; k++) {
    int64_t stride = layout->strides[k][a];
    layout->strides[k][a] = layout->strides[k][b];
    layout->strides[k][b] = stride;
  }
}

/* Larger steps of the first operand that has a say go outside. */
static bool is_inside_out(const tn_layout *layout, int at, int count)
{
  for (int k = 0; k < count; k++) {
    int64_t outer = layout->strides[k][at], inner = layout->strides[k][at + 1];
    if (outer && inner && outer != inner) return outer < inner;
  }
  return false;
}

static void sort_dims(tn_layout *layout, int count)
{
  for (int last = layout->ndim - 1; last > 0; last--)
    for (int at = 0; at < last; at++)
      if (is_inside_out(layout, at, count))
        swap_dims(layout, at, at + 1, count);
}

static bool can_merge(const tn_layout *layout, int at, int count)
{
  for (int k = 0; k < count; k++)
    if (layout->strides[k][at] !=
        layout->strides[k][at + 1] * layout->sizes[at + 1])
      return false;
  return true;
}

static void merge_dims(tn_layout *layout, int count)
{
  int kept = 0;
  for (int at = 1; at < layout->ndim; at++) {
    swap_dims(layout, kept + 1, at, count);
    if (can_merge(layout, kept, count)) {
      layout->sizes[kept] *= layout->sizes[kept + 1];
      for (int k = 0; k < count; k++)
        layout->strides[k][kept] = layout->strides[k][kept + 1];
    } else
      kept++;
  }
  if (layout->ndim) layout->ndim = kept + 1;
}

static bool is_plain(const tn_layout *layout, int count)
{
  if (layout->ndim > 1) return false;
  for (int k = 0; k < count; k++)
    if (layout->ndim && layout->strides[k][0] != 1) return false;
  return true;
}

/* The usual case, without a look at every dimension. */
static bool are_alike(tn_shape shape, tn_tensor *const *operands, int count)
{
  for (int k = 0; k < count; k++)
    if (!operands[k]->is_contiguous ||
        !tn_shape_equal(tn_tensor_shape(operands[k]), shape))
      return false;
  return true;
}

void tn_layout_make(tn_layout *layout, tn_shape shape,
                    tn_tensor *const *operands, int count)
{
  layout->ndim = 0;
  layout->is_plain = are_alike(shape, operands, count);
  if (layout->is_plain) return;
  take_dims(layout, shape, operands, count);
  sort_dims(layout, count);
  merge_dims(layout, count);
  layout->is_plain = is_plain(layout, count);
}
