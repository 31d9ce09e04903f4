/* What can be asked of graphs and captures. */
#include "config.h"

#include <stdio.h>

#include "core/device/native.h"
#include "core/graph/graph.h"

tn_mem_pool *tn_graph_pool(tn_graph *graph)
{
  if (!graph) {
    tn_graph_refuse_null();
    return NULL;
  }
  pthread_mutex_lock(&graph->lock);
  tn_mem_pool *pool = graph->pool;
  pthread_mutex_unlock(&graph->lock);
  if (!pool)
    tn_error(TN_INVALID_ARGUMENT, "the graph has no pool before it captures");
  return pool;
}

/* The graph's lock is held. */
static int print_path(const tn_graph *graph, char *text, size_t size)
{
  if (graph->lowering)
    return snprintf(text, size, "native: backend \"%s\" runs it as a whole",
                    graph->state->backend->name);
  return snprintf(text, size, "call by call: %s", graph->doubt);
}

int tn_graph_path(tn_graph *graph, char *text, size_t size)
{
  if (!graph || (!text && size)) {
    tn_error(TN_INVALID_ARGUMENT, "path of a graph: %s is NULL",
             graph ? "text" : "graph");
    return -1;
  }
  pthread_mutex_lock(&graph->lock);
  int length = graph->stage == TN_GRAPH_READY ? print_path(graph, text, size)
                                              : -1;
  pthread_mutex_unlock(&graph->lock);
  if (length < 0)
    tn_error(TN_INVALID_ARGUMENT, "path of a graph: it has no capture that "
             "ended well");
  return length;
}

tn_status tn_graph_native(tn_graph *graph, void **native)
{
  if (!graph) return tn_graph_refuse_null();
  if (!native)
    return tn_error(TN_INVALID_ARGUMENT, "no place for the native handle");
  *native = NULL;
  pthread_mutex_lock(&graph->lock);
  tn_status status =
      graph->lowering
          ? tn_native_handle(graph->state, TN_NATIVE_GRAPH,
                             graph->lowering->handle, native)
          : tn_error(TN_UNSUPPORTED, "the graph is not native: %s",
                     graph->stage == TN_GRAPH_READY
                         ? graph->doubt
                         : "it has no capture that ended well");
  pthread_mutex_unlock(&graph->lock);
  return status;
}

tn_graph *tn_capturing_graph(tn_device device)
{
  tn_stream *stream = tn_current_stream(device);
  if (!stream || !tn_is_captured(stream)) return NULL;
  pthread_mutex_lock(&tn_capture_lock);
  const tn_lane *lane = atomic_load(&stream->lane);
  tn_graph *graph = lane ? lane->graph : NULL;
  pthread_mutex_unlock(&tn_capture_lock);
  return graph;
}

static tn_status last_node(const tn_lane *lane, size_t *node)
{
  if (!lane || lane->tails.count != 1)
    return tn_error(TN_INVALID_ARGUMENT, "no node was captured last on the "
                    "current stream");
  *node = lane->tails.items[0];
  return TN_OK;
}

tn_status tn_capturing_node(tn_device device, size_t *node)
{
  tn_stream *stream = tn_current_stream(device);
  if (!stream) return tn_last_status();
  if (!node) return tn_error(TN_INVALID_ARGUMENT, "node is NULL");
  pthread_mutex_lock(&tn_capture_lock);
  tn_status status = last_node(atomic_load(&stream->lane), node);
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

bool tn_is_current_stream_capturing(tn_device device)
{
  return tn_capturing_graph(device) != NULL;
}
