/* The record of an operation: making it and giving it back. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/autograd/graph.h"
#include "tensor/autograd/wanted.h"

/* Where tn_node_data points to when there is no memory. */
static __thread char scratch[TN_NODE_DATA_MAX];

/* Later operations of a thread have larger numbers, and so has every node
 * than those it got its inputs from, in whatever thread. */
static __thread uint64_t last_sequence;

bool tn_grad_needed(tn_tensor *const *inputs, int count)
{
  if (!tn_is_grad_enabled()) return false;
  for (int i = 0; i < count; i++)
    if (inputs[i] && tn_history_needs_grad(inputs[i])) return true;
  return false;
}

bool tn_edge_set(tn_edge *edge, tn_tensor *t)
{
  edge->node = NULL;
  edge->leaf = NULL;
  edge->output = 0;
  edge->is_wanted = false;
  if (!t || !tn_dtype_is_float((tn_dtype)t->dtype)) return true;
  if (tn_view_is_outdated(t) && !tn_history_follow(t)) return false;
  tn_history *history = t->history;
  if (!history) return true;
  if (history->node) {
    edge->node = tn_node_retain(history->node);
    edge->output = history->output;
  } else if (history->requires_grad)
    edge->leaf = tn_retain(t);
  edge->is_wanted = edge->node || edge->leaf;
  return true;
}

void tn_edge_clear(tn_edge *edge)
{
  tn_node_release(edge->node);
  tn_release(edge->leaf);
  edge->node = NULL;
  edge->leaf = NULL;
}

static int64_t *describe_input(tn_edge *edge, const tn_tensor *t,
                               int64_t *sizes)
{
  edge->source = t;
  edge->sizes = sizes;
  edge->ndim = t ? t->ndim : 0;
  edge->dtype = t ? t->dtype : TN_F32;
  edge->place = t ? tn_tensor_place(t) : NULL;
  for (int i = 0; i < edge->ndim; i++) *sizes++ = t->sizes[i];
  return sizes;
}

static tn_node *allocate(tn_tensor *const *inputs, int count)
{
  size_t size = sizeof(tn_node) + (size_t)count * sizeof(tn_edge);
  for (int i = 0; i < count; i++)
    if (inputs[i]) size += (size_t)inputs[i]->ndim * sizeof(int64_t);
  tn_node *node = malloc(size);
  if (!node)
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the record of an "
                 "operation on %d tensors", count);
  return node;
}

static void clear(tn_node *node, const tn_node_kind *kind)
{
  tn_refs_init(&node->refs);
  node->is_failed = node->is_freed = node->has_forgotten = false;
  node->is_wrapped = false;
  node->output_count = 1;
  node->saved_count = 0;
  node->saved_capacity = TN_SAVED_INLINE;
  node->kind = kind;
  node->place = NULL;
  node->stream = node->far_stream = NULL;
  node->data = NULL;
  node->outputs = NULL;
  node->kept = NULL;
  node->saved = node->saved_inline;
}

tn_node *tn_node_new(const tn_node_kind *kind, tn_tensor *const *inputs,
                     int count)
{
  tn_node *node = allocate(inputs, count);
  if (!node) return NULL;
  clear(node, kind);
  node->input_count = count;
  int64_t *sizes = (int64_t *)(void *)&node->edges[count];
  uint64_t sequence = last_sequence;
  for (int i = 0; i < count; i++) {
    tn_edge *edge = &node->edges[i];
    sizes = describe_input(edge, inputs[i], sizes);
    if (!tn_edge_set(edge, inputs[i])) node->is_failed = true;
    if (edge->node && edge->node->sequence > sequence)
      sequence = edge->node->sequence;
  }
  node->sequence = last_sequence = sequence + 1;
  return node;
}

void *tn_node_data(tn_node *node, size_t size)
{
  if (!node || node->is_failed) return scratch;
  node->data = node->data_inline;
  if (size <= TN_DATA_INLINE) return node->data;
  node->data = size <= TN_NODE_DATA_MAX ? malloc(size) : NULL;
  if (node->data) return node->data;
  node->is_failed = true;
  tn_set_error(TN_OUT_OF_MEMORY, "no host memory for %zu bytes in the record "
               "of %s", size, node->kind->name);
  return scratch;
}

/* ---- outputs ---- */

void tn_node_place(tn_node *node, const tn_tensor *output)
{
  if (node->place) return;
  node->place = tn_tensor_place(output);
  node->stream = tn_stream_retain(tn_current_stream(node->place->device));
  for (int i = 0; i < node->input_count; i++) {
    const tn_edge *edge = &node->edges[i];
    if (!edge->is_wanted || edge->place == node->place) continue;
    node->far_stream =
      tn_stream_retain(tn_current_stream(edge->place->device));
    return;
  }
}

bool tn_node_describe(tn_node *node, tn_tensor *const *outputs, int count)
{
  node->output_count = count;
  if (count == 1) return true;
  node->outputs = malloc((size_t)count * sizeof *node->outputs);
  if (!node->outputs) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the record of %d "
                 "outputs", count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    tn_node_output *output = &node->outputs[i];
    output->place = tn_tensor_place(outputs[i]);
    output->dtype = outputs[i]->dtype;
    output->ndim = outputs[i]->ndim;
    memcpy(output->sizes, outputs[i]->sizes, sizeof output->sizes);
  }
  return true;
}

/* The first output's history is in the node's memory, if there is none. */
bool tn_node_attach(tn_node *node, tn_tensor *t, int output)
{
  if (!tn_dtype_is_float((tn_dtype)t->dtype)) return true;
  tn_node_adopt_saved(node, t, output, !t->history);
  if (output > 0 || t->history)
    return tn_history_set_node(t, tn_node_retain(node), output);
  node->history = (tn_history){ .node = tn_node_retain(node),
                                .is_in_node = true };
  t->history = &node->history;
  return true;
}

static bool finish(tn_node *node, tn_tensor **outputs, int count)
{
  if (node->is_failed || !tn_node_describe(node, outputs, count))
    return false;
  tn_node_place(node, outputs[0]);
  for (int i = 0; i < count; i++)
    if (!tn_node_attach(node, outputs[i], i)) return false;
  return true;
}

bool tn_node_finish_all(tn_node *node, tn_tensor **outputs, int count)
{
  bool is_done = node && finish(node, outputs, count);
  tn_node_release(node);
  if (is_done) return true;
  for (int i = 0; i < count; i++) {
    tn_release(outputs[i]);
    outputs[i] = NULL;
  }
  return false;
}

tn_tensor *tn_node_finish(tn_node *node, tn_tensor *output)
{
  tn_node_finish_all(node, &output, 1);
  return output;
}

/* ---- for formulas ---- */

const void *tn_node_data_of(const tn_node *node)
{
  return node->data;
}

bool tn_node_wants(const tn_node *node, int input)
{
  const tn_edge *edge = &node->edges[input];
  if (!edge->is_wanted || !tn_wanted_now || node != tn_wanted_node)
    return edge->is_wanted;
  return tn_wanted_edge(tn_wanted_now, edge);
}

int tn_node_input_count(const tn_node *node)
{
  return node->input_count;
}

tn_shape tn_node_input_shape(const tn_node *node, int input)
{
  const tn_edge *edge = &node->edges[input];
  return (tn_shape){ edge->sizes, edge->ndim };
}

tn_status tn_node_check(const tn_node *node, tn_tensor *const *results)
{
  int i;
  for (i = 0; i < node->input_count; i++)
    if (!results[i] && tn_node_wants(node, i)) break;
  if (i == node->input_count) return TN_OK;
  tn_status status = tn_last_status();
  if (status != TN_OK) return status;
  return tn_set_error(TN_INVALID_ARGUMENT, "backward of %s: no gradient of "
                      "input %d", node->kind->name, i);
}

/* ---- lifetime ---- */

tn_node *tn_node_retain(tn_node *node)
{
  if (node) tn_refs_retain(&node->refs);
  return node;
}

void tn_node_forget(tn_node *node)
{
  if (node->kind->forget && !node->has_forgotten) {
    node->has_forgotten = true;
    if (node->data) node->kind->forget(node->data);
  }
  if (node->saved_count > 0) node->is_freed = true;
  for (int i = 0; i < node->saved_count; i++) {
    tn_saved *saved = &node->saved[i];
    if (!saved->is_output) tn_node_release(saved->node);
    tn_release(saved->tensor);
    saved->node = NULL;
    saved->tensor = NULL;
  }
}

static void free_kept(tn_node *node)
{
  while (node->kept) {
    tn_kept_grad *kept = node->kept;
    node->kept = kept->next;
    if (!tn_refs_release(&kept->refs)) continue;
    tn_release(kept->grad);
    free(kept);
  }
}

static void destroy(tn_node *node)
{
  tn_node_forget(node);
  for (int i = 0; i < node->input_count; i++) tn_edge_clear(&node->edges[i]);
  free_kept(node);
  tn_stream_release(node->stream);
  tn_stream_release(node->far_stream);
  if (node->data != node->data_inline) free(node->data);
  if (node->saved != node->saved_inline) free(node->saved);
  free(node->outputs);
  free(node);
}

/* Without recursion, for graphs are deep: what is given back while a node is
 * destroyed waits until that is done. */
void tn_node_release(tn_node *node)
{
  static __thread tn_node *waiting;
  static __thread bool is_busy;
  if (!node || !tn_refs_release(&node->refs)) return;
  node->next = waiting;
  waiting = node;
  if (is_busy) return;
  is_busy = true;
  while (waiting) {
    tn_node *next = waiting;
    waiting = next->next;
    destroy(next);
  }
  is_busy = false;
}
