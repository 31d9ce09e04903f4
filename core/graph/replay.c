/* Running what was recorded: one node after the other, in the order in which
 * they were captured, which respects all that they depend on. */
#include "config.h"

#include <inttypes.h>
#include <string.h>

#include "core/copy/copy_job.h"
#include "core/copy/fill.h"
#include "core/graph/graph.h"

/* A hook of the program's need not say why. */
static tn_status run_hook(tn_graph *graph, size_t number)
{
  const tn_graph_hook *hook = &graph->hooks[number];
  tn_status status = hook->hook(graph, hook->argument);
  return status == TN_OK || tn_last_status() == status
             ? status
             : tn_error(status, "replay: hook %zu failed", number);
}

static tn_status run_hooks(tn_graph *graph)
{
  tn_status status = TN_OK;
  for (size_t i = 0; i < graph->hook_count && status == TN_OK; i++)
    status = run_hook(graph, i);
  return status;
}

static tn_status refuse_launch(const tn_graph_node *node, tn_status status)
{
  return tn_plugin_error(node->kernel->state, status, "replay of kernel "
                         "\"%s\"", node->kernel->name);
}

static bool is_plain_launch(const tn_graph_node *node)
{
  return node->kind == TN_GRAPH_KERNEL && node->kernel->launch;
}

/* The launches from `at` on, up to what is something else, under one lock; one
 * where each is to be complete before the next. */
static tn_status run_launches(const tn_nodes *nodes, size_t *at,
                              tn_stream *stream)
{
  const tn_graph_node *node = &nodes->items[*at];
  const tn_graph_node *end = nodes->items + nodes->count;
  tn_backend_stream *queue = stream->queue;
  bool is_blocking = tn_is_launch_blocking();
  tn_status status = TN_OK;
  tn_stream_lock(stream);
  for (; node < end && is_plain_launch(node); node++) {
    status = node->kernel->launch(queue, node->kernel->handle,
                                  &node->as.launch, node->slots);
    if (__builtin_expect(status != TN_OK, 0)) break;
    if (__builtin_expect(is_blocking, 0)) {
      node++;
      break;
    }
  }
  tn_stream_unlock(stream);
  *at = (size_t)(node - nodes->items);
  return status == TN_OK ? tn_stream_settle(stream, TN_OK)
                         : refuse_launch(node, status);
}

static tn_status run_fill(const tn_fill_desc *desc, tn_stream *stream)
{
  const tn_fill fill = {
    .dst = desc->dst,
    .pattern_bytes = desc->pattern_bytes,
    .pattern = desc->pattern,
    .count = desc->count,
  };
  return tn_fill_queue(stream, &fill);
}

static tn_status run_node(const tn_graph_node *node, tn_stream *stream)
{
  switch (node->kind) {
  case TN_GRAPH_KERNEL:
    return tn_kernel_run(node->kernel, stream, &node->as.launch, node->slots);
  case TN_GRAPH_COPY:
    return tn_stream_settle(stream, tn_copy_queue_desc(stream,
                                                       &node->as.copy));
  case TN_GRAPH_FILL:
    return run_fill(&node->as.fill, stream);
  default:
    return tn_stream_call(stream, node->as.host.function,
                          node->as.host.argument);
  }
}

/* A replay runs after the one before, on whatever stream that was. If that
 * one is captured by now, its device was idle when the capture began. */
static tn_status order_runs(const tn_graph *graph, tn_stream *stream)
{
  tn_stream *latest = graph->latest;
  return latest && latest != stream && !tn_is_captured(latest)
             ? tn_copy_order(stream, latest)
             : TN_OK;
}

static void note_run(tn_graph *graph, tn_stream *stream)
{
  tn_stream *latest = graph->latest;
  if (latest == stream) return;
  graph->latest = tn_stream_retain(stream);
  tn_stream_release(latest);
}

/* The backend orders runs of one graph of its own. */
static tn_status run_whole(tn_graph *graph, tn_stream *stream)
{
  tn_lowering *lowering = graph->lowering;
  tn_status status = tn_lowering_update(lowering, &graph->nodes);
  if (status == TN_OK && lowering->is_anew) {
    status = order_runs(graph, stream);
    lowering->is_anew = status != TN_OK;
  }
  if (status != TN_OK) return status;
  note_run(graph, stream);
  return tn_lowering_run(lowering, &graph->nodes, stream);
}

/* The graph's lock is held, the caller is inside tn_enter. */
static tn_status run(tn_graph *graph, tn_stream *stream)
{
  const tn_nodes *nodes = &graph->nodes;
  tn_status status = run_hooks(graph);
  if (status == TN_OK && graph->lowering) return run_whole(graph, stream);
  if (status == TN_OK) status = order_runs(graph, stream);
  if (status == TN_OK) note_run(graph, stream);
  for (size_t at = 0; at < nodes->count && status == TN_OK; ) {
    if (is_plain_launch(&nodes->items[at]))
      status = run_launches(nodes, &at, stream);
    else
      status = run_node(&nodes->items[at++], stream);
  }
  return status;
}

static tn_status replay(tn_graph *graph)
{
  if (graph->stage != TN_GRAPH_READY)
    return tn_error(TN_INVALID_ARGUMENT, "replay: the graph has no capture "
                    "that ended well");
  tn_stream *stream = tn_stream_current_of(graph->state);
  if (!stream) return tn_last_status();
  if (tn_is_captured(stream))
    return tn_capture_refuse(stream, "replay of a graph");
  tn_status status = tn_enter(graph->state);
  if (status != TN_OK) return status;
  status = run(graph, stream);
  tn_leave();
  return status;
}

tn_status tn_graph_replay(tn_graph *graph)
{
  if (!graph) return tn_error(TN_INVALID_ARGUMENT, "graph is NULL");
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  pthread_mutex_lock(&graph->lock);
  tn_status status = replay(graph);
  pthread_mutex_unlock(&graph->lock);
  return status;
}

/* The locks are held: the capture's too, since nodes may be added. */
static tn_status set_argument(tn_graph *graph, size_t node, size_t index,
                              tn_arg value)
{
  if (node >= graph->nodes.count)
    return tn_error(TN_INVALID_ARGUMENT, "graph node %zu: there are %zu", node,
                    graph->nodes.count);
  tn_graph_node *at = &graph->nodes.items[node];
  if (at->kind != TN_GRAPH_KERNEL)
    return tn_error(TN_INVALID_ARGUMENT, "graph node %zu is a %s: kernels "
                    "have arguments", node, tn_graph_node_name(at));
  const tn_signature *signature = &at->kernel->signature;
  if (index >= signature->count)
    return tn_error(TN_INVALID_ARGUMENT, "graph node %zu: argument %zu: "
                    "kernel \"%s\" has %u", node, index, at->kernel->name,
                    signature->count);
  if (value.kind != (tn_arg_kind)signature->kinds[index])
    return tn_error(TN_INVALID_ARGUMENT, "graph node %zu: argument %zu of "
                    "kernel \"%s\" is %s, not %s", node, index,
                    at->kernel->name,
                    tn_arg_kind_name(signature->kinds[index]),
                    tn_arg_kind_name((int)value.kind));
  if (memcmp(&at->slots[index], &value.as, sizeof at->slots[index]) == 0)
    return TN_OK;
  memcpy(&at->slots[index], &value.as, sizeof at->slots[index]);
  tn_lowering_touch(graph->lowering, node);
  return TN_OK;
}

/* Called by a hook too. */
tn_status tn_graph_set_argument(tn_graph *graph, size_t node, size_t index,
                                tn_arg value)
{
  if (!graph) return tn_graph_refuse_null();
  tn_graph_lock_nodes(graph);
  tn_status status = set_argument(graph, node, index, value);
  tn_graph_unlock_nodes(graph);
  return status;
}
