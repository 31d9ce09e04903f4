/* Tensors that are changed in place. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/autograd/graph.h"
#include "tensor/autograd/slices.h"

static bool is_fixed_leaf(const tn_tensor *t)
{
  return t->history && t->history->requires_grad && !t->history->node;
}

tn_status tn_inplace_begin(tn_tensor *t, const char *operation)
{
  if (tn_is_grad_enabled()) {
    if (is_fixed_leaf(t))
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: a leaf that requires a "
                          "gradient is changed in place only under no_grad",
                          operation);
    if (t->base && is_fixed_leaf(t->base))
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: a view of a leaf that "
                          "requires a gradient is changed in place only under "
                          "no_grad", operation);
  }
  if (tn_tensor_overlaps_itself(t))
    return tn_set_error(TN_OVERLAP, "%s: elements of shape %s share memory: "
                        "a clone can be changed in place", operation,
                        tn_shape_text(tn_tensor_shape(t)));
  return TN_OK;
}

/* Of an operation whose result does not depend on what was there. */
static tn_status no_gradient(tn_node *node, tn_tensor **grads,
                             tn_tensor **results)
{
  (void)node;
  (void)grads;
  (void)results;
  return TN_OK;
}

static const tn_node_kind overwrite_kind = { .name = "overwrite",
                                             .formula = no_gradient };

static bool rebase(tn_tensor *t, tn_node *node, int output)
{
  tn_node_place(node, t);
  tn_node_adopt_saved(node, t, output, false);
  if (node->is_failed) {
    tn_node_release(node);
    return false;
  }
  tn_tensor *root = t;
  if (t->base) {
    root = t->base;
    node = tn_slices_node(t, node);
    output = 0;
  }
  if (!node || !tn_history_count_change(root)) {
    tn_node_release(node);
    return false;
  }
  return tn_history_set_node(root, node, output);
}

tn_tensor *tn_inplace_end_at(tn_tensor *t, tn_node *node, int output)
{
  atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
  if (!tn_dtype_is_float((tn_dtype)t->dtype)) {
    tn_node_release(node);
    return t;
  }
  if (!node) {
    if (!tn_grad_needed(&t, 1)) return t;
    node = tn_node_new(&overwrite_kind, &t, 1);
    if (!node) return NULL;
  }
  return rebase(t, node, output) ? t : NULL;
}

tn_tensor *tn_inplace_end(tn_tensor *t, tn_node *node)
{
  return tn_inplace_end_at(t, node, 0);
}

tn_tensor *tn_inplace_end_recorded(tn_tensor *t, tn_node *node)
{
  if (node) return tn_inplace_end_at(t, node, 0);
  atomic_fetch_add_explicit(&t->storage->version, 1, memory_order_relaxed);
  return NULL;
}

tn_tensor *tn_view_finish(tn_tensor *view, tn_tensor *t,
                          const tn_node_kind *kind, const void *data,
                          size_t size)
{
  if (!view || !tn_dtype_is_float((tn_dtype)t->dtype)) return view;
  view->base = tn_retain(t->base ? t->base : t);
  atomic_store_explicit(&view->base_changes, tn_history_changes(view->base),
                        memory_order_relaxed);
  if (!tn_grad_needed(&t, 1)) return view;
  tn_node *node = tn_node_new(kind, &t, 1);
  if (size) memcpy(tn_node_data(node, size), data, size);
  return tn_node_finish(node, view);
}
