#include "layers/forward_table.h"

#include <stdlib.h>
#include <string.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_graph_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

static tn_status graph_capture_begin(tn_backend_stream *stream)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(capture_begin, s->device, .stream = s);
  tn_status status =
      CALL_ON(&call, call.backend->graph.capture_begin(s->next));
  s->is_captured = status == TN_OK;
  return status;
}

static tn_status graph_capture_after(tn_backend_stream *stream,
                                     const uint64_t *nodes, size_t count)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(capture_after, s->device, .stream = s);
  return CALL_ON(&call, call.backend->graph.capture_after(s->next, nodes,
                                                          count));
}

static tn_status graph_capture_node(tn_backend_stream *stream, uint64_t *node)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(capture_node, s->device, .stream = s);
  return CALL_ON(&call, call.backend->graph.capture_node(s->next, node));
}

static tn_status captured(forward_call *call, tn_backend_graph *next,
                          tn_backend_graph **out)
{
  forward_graph *graph = calloc(1, sizeof *graph);
  if (!graph) {
    call->backend->graph.destroy(next);
    return refuse_memory(call->backend, "graph");
  }
  *graph = (forward_graph){ next, call->device, NULL };
  call->graph = graph;
  *out = (tn_backend_graph *)graph;
  return TN_OK;
}

/* The next backend's capture ends whatever the hook says. */
static tn_status graph_capture_end(tn_backend_stream *stream,
                                   tn_backend_graph **graph)
{
  forward_stream *s = STREAM(stream);
  tn_backend_graph *next;
  forward_call call = OF(capture_end, s->device, .stream = s);
  bool goes_on = begin_call(&call);
  tn_status status = call.backend->graph.capture_end(s->next, &next);
  s->is_captured = false;
  if (!goes_on) {
    if (status == TN_OK) call.backend->graph.destroy(next);
    return call.status;
  }
  if (status == TN_OK) status = captured(&call, next, graph);
  return end_call(&call, status);
}

static tn_status graph_launch(tn_backend_graph *graph,
                              tn_backend_stream *stream)
{
  forward_graph *g = GRAPH(graph);
  forward_call call = OF(launch, g->device, .graph = g,
                         .stream = STREAM(stream));
  return CALL_ON(&call, call.backend->graph.launch(g->next,
                                                   next_stream(stream)));
}

static tn_status graph_update(tn_backend_graph *graph,
                              const tn_node_update *update)
{
  forward_graph *g = GRAPH(graph);
  tn_node_update next = { .struct_size = 0 };
  size_t size = update->struct_size;
  memcpy(&next, update, size < sizeof next ? size : sizeof next);
  if (size > sizeof next) next.struct_size = sizeof next;
  next.kernel = KERNEL(update->kernel)->next;
  forward_call call = OF(update, g->device, .graph = g,
                         .kernel = KERNEL(update->kernel),
                         .launch = update->launch, .slots = update->slots);
  return CALL_ON(&call, call.backend->graph.update(g->next, &next));
}

static void graph_destroy(tn_backend_graph *graph)
{
  forward_graph *g = GRAPH(graph);
  forward_call call = OF(destroy, g->device, .graph = g);
  begin_call(&call);
  call.backend->graph.destroy(g->next);
  end_call(&call, TN_OK);
  free(g);
}

const tn_backend_graph_table forward_graph_table = {
  .struct_size = sizeof(tn_backend_graph_table),
  .capture_begin = graph_capture_begin,
  .capture_after = graph_capture_after,
  .capture_node = graph_capture_node,
  .capture_end = graph_capture_end,
  .launch = graph_launch,
  .update = graph_update,
  .destroy = graph_destroy,
};
