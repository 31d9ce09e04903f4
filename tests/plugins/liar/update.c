/* Lies about changes of graphs; and graphs of which there are two each. */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/plugins/liar/liar.h"

enum { SLOTS = 32, NODES = 4096 };

static tn_status update_nothing(tn_backend_graph *graph,
                                const tn_node_update *change)
{
  (void)graph, (void)change;
  return TN_OK;
}

static tn_status update_once(tn_backend_graph *graph,
                             const tn_node_update *change)
{
  static atomic_uint calls;
  return ++calls > 1 ? TN_OK : liar_base.graph.update(graph, change);
}

static tn_status update_invalid(tn_backend_graph *graph,
                                const tn_node_update *change)
{
  (void)graph, (void)change;
  return liar_host->error(TN_INVALID_ARGUMENT, "no changes of graphs");
}

/* ---- another node, too: the last one of the same kernel ---- */

static tn_backend_kernel *launched;
static struct {
  tn_backend_kernel *kernel;
  uint64_t node;
} nodes[NODES];
static size_t node_count;

static tn_status launch_noted(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  launched = kernel;
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

static tn_status node_noted(tn_backend_stream *stream, uint64_t *node)
{
  tn_status status = liar_base.graph.capture_node(stream, node);
  if (status != TN_OK || !launched || node_count == NODES) return status;
  nodes[node_count].kernel = launched;
  nodes[node_count++].node = *node;
  launched = NULL;
  return TN_OK;
}

static tn_status begin_noted(tn_backend_stream *stream)
{
  node_count = 0;
  launched = NULL;
  return liar_base.graph.capture_begin(stream);
}

static tn_status update_another(tn_backend_graph *graph,
                                const tn_node_update *change)
{
  tn_node_update another = *change;
  for (size_t i = 0; i < node_count; i++)
    if (nodes[i].kernel == change->kernel) another.node = nodes[i].node;
  tn_status status = liar_base.graph.update(graph, change);
  return status == TN_OK ? liar_base.graph.update(graph, &another) : status;
}

/* ---- one run too late ---- */

static struct {
  tn_backend_graph *graph; /* NULL: none */
  tn_node_update change;
  uint64_t slots[SLOTS];
} later;

static tn_status apply_later(void)
{
  tn_backend_graph *graph = later.graph;
  later.graph = NULL;
  return graph ? liar_base.graph.update(graph, &later.change) : TN_OK;
}

static tn_status update_later(tn_backend_graph *graph,
                              const tn_node_update *change)
{
  tn_kernel_info info = { .struct_size = sizeof info };
  size_t count = 0;
  tn_status status = apply_later();
  if (status == TN_OK)
    status = liar_base.launch.kernel_info(change->kernel, &info);
  if (status != TN_OK) return status;
  for (const char *p = info.signature; (p = strchr(p, '(')); p++) count++;
  memcpy(later.slots, change->slots, count * sizeof *later.slots);
  later.change = *change;
  later.change.slots = later.slots;
  later.graph = graph;
  return TN_OK;
}

static tn_status launch_then_update(tn_backend_graph *graph,
                                    tn_backend_stream *stream)
{
  tn_status status = liar_base.graph.launch(graph, stream);
  return status == TN_OK && later.graph == graph ? apply_later() : status;
}

/* ---- two graphs of each capture, which run beside each other ---- */

typedef struct twin {
  tn_backend_graph *graphs[2];
  unsigned runs;
  tn_backend_stream *apart; /* where the second one runs */
} twin;

static _Thread_local tn_backend_device *device_of_last;
static _Thread_local tn_backend_stream *captured, *second;

static tn_status create_noted(tn_backend_device *device,
                              const tn_stream_desc *desc,
                              tn_backend_stream **stream)
{
  device_of_last = device;
  return liar_base.stream.create(device, desc, stream);
}

static tn_status begin_two(tn_backend_stream *stream)
{
  const tn_stream_desc desc = { .struct_size = sizeof desc };
  tn_status status =
      liar_base.stream.create(device_of_last, &desc, &second);
  if (status == TN_OK) status = liar_base.graph.capture_begin(second);
  if (status == TN_OK) status = liar_base.graph.capture_begin(stream);
  captured = stream;
  return status;
}

static tn_status launch_two(tn_backend_stream *stream,
                            tn_backend_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            const uint64_t *slots)
{
  if (captured && stream == captured)
    liar_base.launch.launch(second, kernel, desc, slots);
  return liar_base.launch.launch(stream, kernel, desc, slots);
}

static tn_status node_of_two(tn_backend_stream *stream, uint64_t *node)
{
  liar_base.graph.capture_node(second, node);
  return liar_base.graph.capture_node(stream, node);
}

static tn_status end_two(tn_backend_stream *stream, tn_backend_graph **graph)
{
  twin *two = calloc(1, sizeof *two);
  *graph = (tn_backend_graph *)two;
  captured = NULL;
  liar_base.graph.capture_end(second, &two->graphs[1]);
  liar_base.stream.destroy(second);
  return liar_base.graph.capture_end(stream, &two->graphs[0]);
}

static tn_status launch_one_of_two(tn_backend_graph *graph,
                                   tn_backend_stream *stream)
{
  twin *two = (twin *)graph;
  if (++two->runs == 2) two->apart = stream;
  return liar_base.graph.launch(two->graphs[stream == two->apart], stream);
}

static void destroy_two(tn_backend_graph *graph)
{
  twin *two = (twin *)graph;
  for (int i = 0; i < 2; i++) liar_base.graph.destroy(two->graphs[i]);
  free(two);
}

static void lie_nothing(void) { liar_own.graph.update = update_nothing; }
static void lie_once(void) { liar_own.graph.update = update_once; }
static void lie_status(void) { liar_own.graph.update = update_invalid; }

static void lie_another(void)
{
  liar_own.launch.launch = launch_noted;
  liar_own.graph.capture_begin = begin_noted;
  liar_own.graph.capture_node = node_noted;
  liar_own.graph.update = update_another;
}

static void lie_later(void)
{
  liar_own.graph.update = update_later;
  liar_own.graph.launch = launch_then_update;
}

/* Of launches only, by cpu, which has no capture_after. */
static void lie_at_once(void)
{
  liar_own.stream.create = create_noted;
  liar_own.launch.launch = launch_two;
  liar_own.graph.capture_begin = begin_two;
  liar_own.graph.capture_node = node_of_two;
  liar_own.graph.capture_end = end_two;
  liar_own.graph.launch = launch_one_of_two;
  liar_own.graph.update = NULL;
  liar_own.graph.destroy = destroy_two;
}

const liar_lie liar_update_lies[] = {
  { "update_ignored", lie_nothing },
  { "update_once", lie_once },
  { "update_status", lie_status },
  { "update_another", lie_another },
  { "update_late", lie_later },
  { "graph_at_once", lie_at_once },
  { NULL, NULL },
};
