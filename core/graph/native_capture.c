/* The recording put through a stream of the backend's that captures. */
#include "config.h"

#include "core/graph/native_capture.h"

#include <stdlib.h>

#include "core/copy/copy_job.h"
#include "core/exec/tag.h"
#include "tenon/memory.h"

/* A capture that goes on. */
typedef struct capture {
  tn_device_state *state;
  const tn_backend *backend;
  tn_backend_stream *queue;
  const tn_nodes *nodes;
  uint64_t *numbers; /* the backend's, of the nodes so far */
  uint64_t *before;  /* room for the most that a node depends on */
} capture;

tn_status tn_native_refuse_memory(size_t count)
{
  return tn_error(TN_OUT_OF_MEMORY, "no memory to make a graph of %zu nodes "
                  "the backend's", count);
}

static tn_status order(const capture *c, const tn_graph_node *node)
{
  const tn_numbers *before = &node->dependencies;
  if (!c->backend->graph.capture_after) return TN_OK;
  for (uint32_t i = 0; i < before->count; i++)
    c->before[i] = c->numbers[before->items[i]];
  return c->backend->graph.capture_after(c->queue, c->before, before->count);
}

static tn_status queue(const capture *c, const tn_graph_node *node)
{
  switch (node->kind) {
  case TN_GRAPH_KERNEL:
    return node->kernel->launch(c->queue, node->kernel->handle,
                                &node->as.launch, node->slots);
  case TN_GRAPH_COPY:
    return tn_copy_call(c->state, c->queue, &node->as.copy);
  case TN_GRAPH_FILL:
    return c->backend->copy.fill(c->queue, c->state->handle, &node->as.fill);
  default:
    return c->backend->stream.host_function(c->queue, node->as.host.function,
                                            node->as.host.argument,
                                            TN_TAG_HOST_FUNCTION);
  }
}

static tn_status record(const capture *c)
{
  for (size_t i = 0; i < c->nodes->count; i++) {
    const tn_graph_node *node = &c->nodes->items[i];
    tn_status status = order(c, node);
    if (status == TN_OK) status = queue(c, node);
    if (status == TN_OK)
      status = c->backend->graph.capture_node(c->queue, &c->numbers[i]);
    if (status != TN_OK)
      return tn_plugin_error(c->state, status, "capture: node %zu, %s%s%s", i,
                             node->kind == TN_GRAPH_KERNEL ? "kernel \"" : "",
                             tn_graph_node_name(node),
                             node->kind == TN_GRAPH_KERNEL ? "\"" : "");
  }
  return TN_OK;
}

/* On a stream that is created. */
static tn_status record_all(const capture *c, tn_backend_graph **handle)
{
  tn_error_state first;
  tn_status status = c->backend->graph.capture_begin(c->queue);
  if (status != TN_OK)
    return tn_plugin_error(c->state, status, "begin of a native capture");
  tn_status recorded = record(c);
  tn_error_save(&first);
  status = c->backend->graph.capture_end(c->queue, handle);
  if (recorded == TN_OK)
    return status == TN_OK ? TN_OK
                           : tn_plugin_error(c->state, status, "making a "
                                             "graph of %zu nodes",
                                             c->nodes->count);
  if (status == TN_OK) c->backend->graph.destroy(*handle);
  tn_error_restore(&first);
  return recorded;
}

static tn_status take(capture *c, tn_backend_graph **handle)
{
  const tn_stream_desc desc = { .struct_size = sizeof desc };
  tn_status status = c->backend->stream.create(c->state->handle, &desc,
                                               &c->queue);
  if (status != TN_OK)
    return tn_plugin_error(c->state, status, "a stream to capture");
  status = record_all(c, handle);
  c->backend->stream.destroy(c->queue);
  return status;
}

static size_t most_before(const tn_nodes *nodes)
{
  size_t most = 1;
  for (size_t i = 0; i < nodes->count; i++)
    if (nodes->items[i].dependencies.count > most)
      most = nodes->items[i].dependencies.count;
  return most;
}

tn_status tn_native_capture(tn_device_state *state, const tn_nodes *nodes,
                               uint64_t *numbers, tn_backend_graph **handle)
{
  capture c = { state, state->backend, NULL, nodes, numbers, NULL };
  c.before = calloc(most_before(nodes), sizeof *c.before);
  if (!c.before) return tn_native_refuse_memory(nodes->count);
  tn_status status = take(&c, handle);
  if (status == TN_OUT_OF_MEMORY &&
      tn_empty_cache(state->device) == TN_OK)
    status = take(&c, handle);
  free(c.before);
  return status;
}
