/* Lies about graphs: runs, and their order with other work; and failures. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "tests/plugins/liar/liar.h"

/* ---- a stream that the core does not know ---- */

static _Thread_local tn_backend_device *latest; /* that got a stream */
static tn_backend_stream *the_default;          /* last one created */

static tn_status create_noted(tn_backend_device *device,
                              const tn_stream_desc *desc,
                              tn_backend_stream **stream)
{
  tn_status status = liar_base.stream.create(device, desc, stream);
  latest = device;
  if (status == TN_OK && desc->flags & TN_STREAM_DEFAULT)
    the_default = *stream;
  return status;
}

void liar_note_devices(void) { liar_own.stream.create = create_noted; }

tn_backend_stream *liar_aside(void)
{
  static tn_backend_stream *aside;
  const tn_stream_desc desc = { .struct_size = sizeof desc };
  if (!aside) liar_base.stream.create(latest, &desc, &aside);
  return aside;
}

static void flush(tn_backend_stream *stream)
{
  if (liar_base.stream.flush) liar_base.stream.flush(stream);
}

/* What is queued on `stream` from now on waits for what `other` has. */
static void queue_wait(tn_backend_stream *stream, tn_backend_stream *other)
{
  tn_point point;
  if (liar_base.stream.record(other, 0, &point) != TN_OK) return;
  liar_base.stream.wait(stream, &point, 1);
  liar_base.stream.point_release(latest, &point);
}

static void host_wait(tn_backend_stream *stream)
{
  tn_point point;
  if (liar_base.stream.record(stream, 0, &point) != TN_OK) return;
  flush(stream);
  liar_base.stream.host_wait(latest, &point, UINT64_MAX);
  liar_base.stream.point_release(latest, &point);
}

/* ---- how often ---- */

static tn_status launch_dropped(tn_backend_graph *graph,
                                tn_backend_stream *stream)
{
  static atomic_uint calls;
  if (++calls % 3 == 0) return TN_OK;
  return liar_base.graph.launch(graph, stream);
}

static tn_status launch_twice(tn_backend_graph *graph,
                              tn_backend_stream *stream)
{
  static atomic_uint calls;
  tn_status status = liar_base.graph.launch(graph, stream);
  if (status != TN_OK || ++calls % 3) return status;
  return liar_base.graph.launch(graph, stream);
}

/* ---- where ---- */

static tn_status launch_on_first(tn_backend_graph *graph,
                                 tn_backend_stream *stream)
{
  static tn_backend_stream *first;
  if (!first) first = stream;
  tn_status status = liar_base.graph.launch(graph, first);
  flush(first);
  return status;
}

static tn_status launch_not_on_default(tn_backend_graph *graph,
                                       tn_backend_stream *stream)
{
  if (stream == the_default)
    return liar_host->error(TN_UNSUPPORTED, "not on the default stream");
  return liar_base.graph.launch(graph, stream);
}

/* ---- when ---- */

static tn_status launch_and_wait(tn_backend_graph *graph,
                                 tn_backend_stream *stream)
{
  tn_status status = liar_base.graph.launch(graph, stream);
  if (status == TN_OK) host_wait(stream);
  return status;
}

/* Without what was queued before. */
static tn_status launch_ahead(tn_backend_graph *graph,
                              tn_backend_stream *stream)
{
  (void)stream;
  tn_status status = liar_base.graph.launch(graph, liar_aside());
  if (status == TN_OK) host_wait(liar_aside());
  return status;
}

/* What comes next does not wait for it. */
static tn_status launch_overtaken(tn_backend_graph *graph,
                                  tn_backend_stream *stream)
{
  tn_backend_stream *aside = liar_aside();
  queue_wait(aside, stream);
  flush(stream);
  tn_status status = liar_base.graph.launch(graph, aside);
  flush(aside);
  return status;
}

/* ---- runs that are made when their turn comes ---- */

typedef struct held_graph {
  tn_backend_graph *base;
  bool is_gone;
} held_graph;

static pthread_mutex_t held_lock = PTHREAD_MUTEX_INITIALIZER;

static tn_status end_held(tn_backend_stream *stream,
                          tn_backend_graph **graph)
{
  held_graph *held = calloc(1, sizeof *held);
  *graph = (tn_backend_graph *)held;
  return liar_base.graph.capture_end(stream, &held->base);
}

static void run_held(void *argument)
{
  const held_graph *held = argument;
  pthread_mutex_lock(&held_lock);
  if (!held->is_gone) liar_base.graph.launch(held->base, liar_aside());
  pthread_mutex_unlock(&held_lock);
  host_wait(liar_aside());
}

static tn_status launch_held(tn_backend_graph *graph,
                             tn_backend_stream *stream)
{
  liar_aside();
  return liar_base.stream.host_function(stream, run_held, graph, 0);
}

static tn_status update_held(tn_backend_graph *graph,
                             const tn_node_update *change)
{
  pthread_mutex_lock(&held_lock);
  tn_status status =
      liar_base.graph.update(((held_graph *)graph)->base, change);
  pthread_mutex_unlock(&held_lock);
  return status;
}

static void destroy_never(tn_backend_graph *graph) { (void)graph; }

static void destroy_at_once(tn_backend_graph *graph)
{
  pthread_mutex_lock(&held_lock);
  ((held_graph *)graph)->is_gone = true;
  pthread_mutex_unlock(&held_lock);
}

/* ---- failures ---- */

static _Thread_local tn_backend_stream *replayed;

static tn_status launch_noted(tn_backend_graph *graph,
                              tn_backend_stream *stream)
{
  replayed = stream;
  return liar_base.graph.launch(graph, stream);
}

static tn_status take_swallowed(tn_backend_stream *stream,
                                tn_error_info *info)
{
  tn_status status = liar_base.stream.take_error(stream, info);
  if (stream == replayed) info->status = TN_OK;
  return status;
}

static tn_status take_untagged(tn_backend_stream *stream,
                               tn_error_info *info)
{
  tn_status status = liar_base.stream.take_error(stream, info);
  if (stream == replayed) info->tag = 0;
  return status;
}

static void lie_launch(tn_status (*entry)(tn_backend_graph *,
                                          tn_backend_stream *))
{
  liar_note_devices();
  liar_own.graph.launch = entry;
}

static void lie_dropped(void) { lie_launch(launch_dropped); }
static void lie_twice(void) { lie_launch(launch_twice); }
static void lie_first(void) { lie_launch(launch_on_first); }
static void lie_default(void) { lie_launch(launch_not_on_default); }
static void lie_blocks(void) { lie_launch(launch_and_wait); }
static void lie_ahead(void) { lie_launch(launch_ahead); }
static void lie_overtaken(void) { lie_launch(launch_overtaken); }

static void lie_held(void (*destroy)(tn_backend_graph *))
{
  lie_launch(launch_held);
  liar_own.graph.capture_end = end_held;
  liar_own.graph.update = update_held;
  liar_own.graph.destroy = destroy;
}

static void lie_late(void) { lie_held(destroy_never); }
static void lie_destroyed(void) { lie_held(destroy_at_once); }

static void lie_take(tn_status (*entry)(tn_backend_stream *, tn_error_info *))
{
  liar_own.graph.launch = launch_noted;
  liar_own.stream.take_error = entry;
}

static void lie_swallowed(void) { lie_take(take_swallowed); }
static void lie_untagged(void) { lie_take(take_untagged); }

const liar_lie liar_graph_lies[] = {
  { "graph_dropped", lie_dropped },
  { "graph_twice", lie_twice },
  { "graph_one_stream", lie_first },
  { "graph_not_on_default", lie_default },
  { "graph_blocks", lie_blocks },
  { "graph_ahead", lie_ahead },
  { "graph_overtaken", lie_overtaken },
  { "graph_arguments_late", lie_late },
  { "graph_destroyed_early", lie_destroyed },
  { "graph_error_swallowed", lie_swallowed },
  { "graph_error_untagged", lie_untagged },
  { NULL, NULL },
};
