#include "layers/forward_table.h"

#include <stdlib.h>
#include <string.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_graph_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

/* Streams being captured by their backends, in the process. */
static int captures;

bool forward_is_captured(const forward_call *call)
{
  int32_t state = TN_CAPTURE_NONE;
  uint64_t id;
  if (!call->stream || !call->backend->graph.capture_info ||
      !__atomic_load_n(&captures, __ATOMIC_ACQUIRE))
    return false;
  return call->backend->graph.capture_info(call->stream->next, &state,
                                           &id) != TN_OK ||
         state != TN_CAPTURE_NONE;
}

static tn_status graph_capture_begin(tn_backend_stream *stream, int32_t mode)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(capture_begin, s->device, .stream = s);
  __atomic_add_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  tn_status status =
      CALL_ON(&call, call.backend->graph.capture_begin(s->next, mode));
  if (status != TN_OK) __atomic_sub_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  return status;
}

static tn_status captured(forward_call *call, tn_backend_graph *next,
                          tn_backend_graph **out)
{
  forward_graph *graph = calloc(1, sizeof *graph);
  if (!graph) {
    call->backend->graph.graph_destroy(next);
    return refuse_memory(call->backend, "graph");
  }
  *graph = (forward_graph){ next, call->device, NULL };
  call->graph = graph;
  *out = (tn_backend_graph *)graph;
  return TN_OK;
}

static tn_status graph_capture_end(tn_backend_stream *stream,
                                   tn_backend_graph **graph)
{
  forward_stream *s = STREAM(stream);
  tn_backend_graph *next;
  forward_call call = OF(capture_end, s->device, .stream = s);
  if (!begin_call(&call)) return call.status;
  tn_status status = call.backend->graph.capture_end(s->next, &next);
  __atomic_sub_fetch(&captures, 1, __ATOMIC_ACQ_REL);
  if (status == TN_OK) status = captured(&call, next, graph);
  return end_call(&call, status);
}

static tn_status graph_capture_info(tn_backend_stream *stream, int32_t *state,
                                    uint64_t *id)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(capture_info, s->device, .stream = s);
  return CALL_ON(&call, call.backend->graph.capture_info(s->next, state,
                                                         id));
}

static tn_status graph_nodes(tn_backend_graph *graph, tn_node_info *nodes,
                             uint64_t *count)
{
  forward_graph *g = GRAPH(graph);
  forward_call call = OF(nodes, g->device, .graph = g);
  return CALL_ON(&call, call.backend->graph.nodes(g->next, nodes, count));
}

static tn_status instantiated(forward_call *call, tn_backend_exec *next,
                              tn_backend_exec **out)
{
  forward_exec *exec = calloc(1, sizeof *exec);
  if (!exec) {
    call->backend->graph.exec_destroy(next);
    return refuse_memory(call->backend, "graph");
  }
  *exec = (forward_exec){ next, call->device, NULL };
  call->exec = exec;
  *out = (tn_backend_exec *)exec;
  return TN_OK;
}

static tn_status graph_instantiate(tn_backend_graph *graph,
                                   tn_backend_exec **exec)
{
  forward_graph *g = GRAPH(graph);
  tn_backend_exec *next;
  forward_call call = OF(instantiate, g->device, .graph = g);
  if (!begin_call(&call)) return call.status;
  tn_status status = call.backend->graph.instantiate(g->next, &next);
  if (status == TN_OK) status = instantiated(&call, next, exec);
  return end_call(&call, status);
}

static tn_status graph_launch(tn_backend_exec *exec,
                              tn_backend_stream *stream)
{
  forward_exec *e = EXEC(exec);
  forward_call call = OF(launch, e->device, .exec = e,
                         .stream = STREAM(stream));
  return CALL_ON(&call, call.backend->graph.launch(e->next,
                                                   next_stream(stream)));
}

static tn_status graph_update(tn_backend_exec *exec,
                              const tn_node_update *update)
{
  forward_exec *e = EXEC(exec);
  tn_node_update next = { .struct_size = 0 };
  size_t size = update->struct_size;
  memcpy(&next, update, size < sizeof next ? size : sizeof next);
  if (size > sizeof next) next.struct_size = sizeof next;
  tn_copy_desc copy;
  if (next.copy) {
    copy = copy_for_next(next.copy);
    next.copy = &copy;
  }
  forward_call call = OF(update, e->device, .exec = e, .slots = update->slots,
                         .copy = update->copy, .fill = update->fill);
  return CALL_ON(&call, call.backend->graph.update(e->next, &next));
}

static void graph_exec_destroy(tn_backend_exec *exec)
{
  forward_exec *e = EXEC(exec);
  forward_call call = OF(exec_destroy, e->device, .exec = e);
  begin_call(&call);
  call.backend->graph.exec_destroy(e->next);
  end_call(&call, TN_OK);
  free(e);
}

static void graph_graph_destroy(tn_backend_graph *graph)
{
  forward_graph *g = GRAPH(graph);
  forward_call call = OF(graph_destroy, g->device, .graph = g);
  begin_call(&call);
  call.backend->graph.graph_destroy(g->next);
  end_call(&call, TN_OK);
  free(g);
}

static tn_status graph_exchange_mode(tn_backend_device *device, int32_t *mode)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(exchange_mode, d, .bytes = 0);
  return CALL_ON(&call, d->backend->graph.exchange_mode(d->next, mode));
}

const tn_backend_graph_table forward_graph_table = {
  .struct_size = sizeof(tn_backend_graph_table),
  .capture_begin = graph_capture_begin,
  .capture_end = graph_capture_end,
  .capture_info = graph_capture_info,
  .nodes = graph_nodes,
  .instantiate = graph_instantiate,
  .launch = graph_launch,
  .update = graph_update,
  .exec_destroy = graph_exec_destroy,
  .graph_destroy = graph_graph_destroy,
  .exchange_mode = graph_exchange_mode,
};
