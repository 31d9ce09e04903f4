/* Tensors that a node keeps for its formula.
 *
 * What is kept is a view of the memory, which no later operation in place can
 * give another node: nodes never hold on to what was made after them, so that
 * there are no cycles. A leaf that requires a gradient cannot be changed with
 * gradients and is kept itself. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/autograd/graph.h"

static void fail(tn_node *node)
{
  node->is_failed = true;
}

static bool grow(tn_node *node)
{
  int capacity = 2 * node->saved_capacity;
  tn_saved *larger = malloc((size_t)capacity * sizeof *larger);
  if (!larger) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for %d tensors saved by "
                 "%s", capacity, node->kind->name);
    return false;
  }
  memcpy(larger, node->saved, (size_t)node->saved_count * sizeof *larger);
  if (node->saved != node->saved_inline) free(node->saved);
  node->saved = larger;
  node->saved_capacity = capacity;
  return true;
}

static tn_tensor *alias_of(const tn_tensor *t)
{
  return tn_tensor_view(t, tn_tensor_shape(t), t->strides, t->offset);
}

static bool hold(tn_saved *saved, tn_tensor *t)
{
  if (tn_view_is_outdated(t) && !tn_history_follow(t)) return false;
  tn_history *history = t->history;
  if (history && history->requires_grad && !history->node)
    saved->tensor = tn_retain(t);
  else
    saved->tensor = alias_of(t);
  if (!saved->tensor) return false;
  saved->version = atomic_load_explicit(&t->storage->version,
                                        memory_order_relaxed);
  if (!history || !history->node) return true;
  saved->node = tn_node_retain(history->node);
  saved->output = history->output;
  return true;
}

static void save(tn_node *node, tn_tensor *t, bool is_output)
{
  if (!node || node->is_failed) return;
  if (node->saved_count == node->saved_capacity && !grow(node)) {
    fail(node);
    return;
  }
  tn_saved *saved = &node->saved[node->saved_count++];
  *saved = (tn_saved){ .source = t, .is_output = is_output };
  if (!t) return;
  if (!is_output) {
    if (!hold(saved, t)) fail(node);
    return;
  }
  saved->tensor = alias_of(t);
  if (!saved->tensor) fail(node);
}

void tn_node_save(tn_node *node, tn_tensor *t)
{
  save(node, t, false);
}

void tn_node_save_output(tn_node *node, tn_tensor *t)
{
  save(node, t, true);
}

void tn_node_adopt_saved(tn_node *node, const tn_tensor *t, int output,
                         bool is_new)
{
  for (int i = 0; i < node->saved_count; i++) {
    tn_saved *saved = &node->saved[i];
    if (saved->source != t || !saved->tensor) continue;
    if (!saved->is_output && !is_new) continue;
    saved->is_output = true;
    saved->node = node;
    saved->output = output;
    saved->version = atomic_load_explicit(&t->storage->version,
                                          memory_order_relaxed);
  }
}

/* Under create_graph the formula itself is differentiated: the saved tensor
 * must say where it came from. */
static tn_tensor *with_history(const tn_saved *saved)
{
  tn_tensor *t = alias_of(saved->tensor);
  if (t && !tn_history_set_node(t, tn_node_retain(saved->node),
                                saved->output)) {
    tn_release(t);
    return NULL;
  }
  return tn_scope_give(t);
}

tn_tensor *tn_node_saved(tn_node *node, int number)
{
  const tn_saved *saved = &node->saved[number];
  if (node->is_freed) {
    tn_set_error(TN_INVALID_ARGUMENT, "backward of %s: its saved tensors were "
                 "freed by an earlier backward: retain_graph there keeps them",
                 node->kind->name);
    return NULL;
  }
  if (!saved->tensor) return NULL;
  unsigned version = atomic_load_explicit(&saved->tensor->storage->version,
                                          memory_order_relaxed);
  if (version != saved->version) {
    tn_set_error(TN_MODIFIED_IN_PLACE, "backward of %s: a tensor of shape %s "
                 "that it saved was changed in place afterwards: it is of "
                 "version %u, version %u is needed", node->kind->name,
                 tn_shape_text(tn_tensor_shape(saved->tensor)), version,
                 saved->version);
    return NULL;
  }
  if (!saved->node || !tn_is_grad_enabled()) return saved->tensor;
  if (!saved->is_output || !node->is_wrapped) return with_history(saved);
  tn_set_error(TN_UNSUPPORTED, "backward of %s: of a change in place of a "
               "view that saved its result there is no second derivative",
               node->kind->name);
  return NULL;
}
