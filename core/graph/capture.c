/* What captured streams record, and what they refuse. */
#include "config.h"

#include "core/exec/capture.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/graph/graph.h"

pthread_mutex_t tn_capture_lock = PTHREAD_MUTEX_INITIALIZER;

/* Guards the lists of marks; taken last. Moments are released by those who hold
 * locks of memory, which captures take while tn_capture_lock is held: so that
 * one is not for them. */
static pthread_mutex_t mark_lock = PTHREAD_MUTEX_INITIALIZER;

tn_graph *tn_graphs_capturing;
atomic_int tn_graphs_in_global_mode;

tn_status tn_graph_invalidate(tn_graph *graph, const char *format, ...)
{
  va_list arguments;
  if (!graph->is_invalid) {
    va_start(arguments, format);
    vsnprintf(graph->failure, sizeof graph->failure, format, arguments);
    va_end(arguments);
    graph->is_invalid = true;
  }
  return tn_error(graph->verdict, "%s", graph->failure);
}

tn_status tn_graph_invalidate_for_memory(tn_graph *graph, const char *call)
{
  if (!graph->is_invalid) graph->verdict = TN_OUT_OF_MEMORY;
  return tn_graph_invalidate(graph, "%s: no memory for the graph's %zu nodes",
                             call, graph->nodes.count);
}

/* The stream's lane, with the lock held; NULL, and no lock, if the capture is
 * over or invalid, with *status. */
static tn_lane *enter(tn_stream *stream, tn_status *status)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_lane *lane = atomic_load(&stream->lane);
  *status = TN_OK;
  if (!lane)
    *status = tn_error(TN_CAPTURE_VIOLATION, "the capture of the stream ended "
                       "in another thread");
  else if (lane->graph->is_invalid)
    *status = tn_graph_invalidate(lane->graph, "%s", "");
  if (*status == TN_OK) return lane;
  pthread_mutex_unlock(&tn_capture_lock);
  return NULL;
}

/* The lane's next node. On failure NULL: the capture is invalid. */
static tn_graph_node *append(tn_lane *lane, tn_graph_node_kind kind)
{
  tn_graph *graph = lane->graph;
  uint32_t number = (uint32_t)graph->nodes.count;
  tn_graph_node *node = tn_nodes_add(&graph->nodes);
  if (!node || tn_nodes_merge(&graph->nodes, &node->dependencies,
                              &lane->tails) != TN_OK)
    goto fail;
  lane->tails.count = 0;
  if (tn_numbers_add(&lane->tails, number) != TN_OK) goto fail;
  node->kind = kind;
  node->lane = lane->number;
  return node;
fail:
  tn_graph_invalidate_for_memory(graph, "capture");
  return NULL;
}

static tn_status leave(tn_graph_node *node)
{
  tn_status status = node ? TN_OK : tn_last_status();
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

tn_status tn_capture_launch(tn_stream *stream, tn_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            const uint64_t *slots)
{
  tn_status status;
  size_t size = kernel->signature.count * sizeof *slots;
  uint64_t *copy = malloc(size ? size : 1);
  tn_lane *lane = enter(stream, &status);
  if (lane && !copy) tn_graph_invalidate_for_memory(lane->graph, "capture");
  tn_graph_node *node = lane && copy ? append(lane, TN_GRAPH_KERNEL) : NULL;
  if (!node) {
    free(copy);
    return lane ? leave(NULL) : status;
  }
  memcpy(copy, slots, size);
  node->slots = copy;
  node->kernel = tn_kernel_retain(kernel);
  node->as.launch = *desc;
  return leave(node);
}

tn_status tn_capture_copy(tn_stream *stream, const tn_copy_desc *desc)
{
  tn_status status;
  if (desc->kind != TN_COPY_DEVICE_TO_DEVICE &&
      !(desc->flags & TN_COPY_PINNED))
    return tn_capture_refuse(stream, "copy from or to pageable host memory");
  tn_address held[2];
  tn_graph_node_hold(held, desc);
  tn_lane *lane = enter(stream, &status);
  tn_graph_node *node = lane ? append(lane, TN_GRAPH_COPY) : NULL;
  if (node) {
    node->as.copy = *desc;
    memcpy(node->pinned, held, sizeof held);
  }
  if (lane) status = leave(node);
  if (!node) tn_graph_node_let_go(held);
  return status;
}

tn_status tn_capture_fill(tn_stream *stream, const tn_fill_desc *desc)
{
  tn_status status;
  tn_lane *lane = enter(stream, &status);
  if (!lane) return status;
  tn_graph_node *node = append(lane, TN_GRAPH_FILL);
  if (node) node->as.fill = *desc;
  return leave(node);
}

tn_status tn_capture_function(tn_stream *stream, void (*function)(void *),
                              void *argument)
{
  tn_status status;
  tn_lane *lane = enter(stream, &status);
  if (!lane) return status;
  tn_graph_node *node = append(lane, TN_GRAPH_HOST_FUNCTION);
  if (node) {
    node->as.host.function = function;
    node->as.host.argument = argument;
  }
  return leave(node);
}

static const char *device_text(const tn_device_state *state, char *text)
{
  tn_device_format(state->device, text, TN_DEVICE_TEXT_SIZE);
  return text;
}

tn_status tn_capture_refuse(tn_stream *stream, const char *call)
{
  tn_status status;
  char device[TN_DEVICE_TEXT_SIZE];
  tn_lane *lane = enter(stream, &status);
  if (!lane) return status;
  status = tn_graph_invalidate(lane->graph, "%s: not possible on a stream of "
                               "%s that is being captured into a graph", call,
                               device_text(stream->state, device));
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

tn_status tn_capture_refuse_moment(const tn_moment *moment, const char *call)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_status status = TN_OK;
  if (moment->mark->graph)
    status = tn_graph_invalidate(moment->mark->graph, "%s: the event was "
                                 "recorded in a capture that goes on", call);
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

tn_status tn_capture_check(const char *call)
{
  tn_status status = TN_OK;
  if (atomic_load_explicit(&tn_graphs_in_global_mode,
                           memory_order_relaxed) == 0)
    return TN_OK;
  pthread_mutex_lock(&tn_capture_lock);
  for (tn_graph *g = tn_graphs_capturing; g; g = g->next)
    if (g->mode == TN_GRAPH_GLOBAL && !pthread_equal(g->owner,
                                                     pthread_self()))
      status = tn_graph_invalidate(g, "%s: not possible while another thread "
                                   "captures a graph in global mode", call);
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

/* ---- moments ---- */

void tn_capture_marks_lock(void) { pthread_mutex_lock(&mark_lock); }
void tn_capture_marks_unlock(void) { pthread_mutex_unlock(&mark_lock); }

static void link_mark(tn_graph *graph, tn_capture_mark *mark)
{
  tn_capture_marks_lock();
  mark->graph = graph;
  mark->before = NULL;
  mark->next = graph->marks;
  if (mark->next) mark->next->before = mark;
  graph->marks = mark;
  tn_capture_marks_unlock();
}

/* mark_lock is held. */
static void unlink_mark(tn_capture_mark *mark)
{
  if (mark->next) mark->next->before = mark->before;
  if (mark->before) mark->before->next = mark->next;
  else mark->graph->marks = mark->next;
  mark->graph = NULL;
}

void tn_capture_mark_release(tn_capture_mark *mark)
{
  tn_capture_marks_lock();
  if (mark->graph) unlink_mark(mark);
  tn_capture_marks_unlock();
  tn_numbers_clear(&mark->tails);
  free(mark);
}

void tn_graph_end_marks(tn_graph *graph)
{
  tn_capture_marks_lock();
  while (graph->marks) {
    tn_capture_mark *mark = graph->marks;
    unlink_mark(mark);
    atomic_store_explicit(&mark->moment->is_complete, true,
                          memory_order_release);
  }
  tn_capture_marks_unlock();
}

/* Locked. The mark (NULL: there is no memory) is of what the lane has now. */
static tn_status fill_mark(tn_capture_mark *mark, const tn_lane *lane)
{
  tn_graph *graph = lane->graph;
  if (mark && tn_nodes_merge(&graph->nodes, &mark->tails,
                             &lane->tails) == TN_OK)
    mark->moment = tn_moment_of_capture(lane->stream->state, mark);
  if (!mark || !mark->moment)
    return tn_graph_invalidate_for_memory(graph, "moment of a capture");
  link_mark(graph, mark);
  return TN_OK;
}

tn_status tn_capture_moment(tn_stream *stream, tn_moment **moment)
{
  tn_status status;
  *moment = NULL;
  tn_capture_mark *mark = calloc(1, sizeof *mark);
  tn_lane *lane = enter(stream, &status);
  if (lane) {
    status = fill_mark(mark, lane);
    pthread_mutex_unlock(&tn_capture_lock);
  }
  if (status == TN_OK) {
    *moment = mark->moment;
    return TN_OK;
  }
  if (mark) tn_numbers_clear(&mark->tails);
  free(mark);
  return status;
}

/* Locked. */
static tn_status join(tn_graph *graph, tn_stream *waiter,
                      const tn_numbers *tails)
{
  char own[TN_DEVICE_TEXT_SIZE], other[TN_DEVICE_TEXT_SIZE];
  if (waiter->state != graph->state)
    return tn_graph_invalidate(graph, "capture on %s: a stream of %s waits "
                               "for it: a capture is of one device",
                               device_text(graph->state, own),
                               device_text(waiter->state, other));
  if (waiter->origin == TN_STREAM_OF_DEVICE)
    return tn_graph_invalidate(graph, "capture on %s: the default stream "
                               "waits for it, and cannot be captured",
                               device_text(graph->state, own));
  return tn_lane_add(graph, waiter, tails);
}

/* What the capture then lacks is an edge, or a stream. */
static tn_status check_memory(tn_graph *graph, tn_status status)
{
  return status == TN_OUT_OF_MEMORY
             ? tn_graph_invalidate_for_memory(graph, "wait in a capture")
             : status;
}

/* Locked. */
static tn_status wait(tn_stream *waiter, const tn_capture_mark *mark)
{
  tn_lane *lane = atomic_load(&waiter->lane);
  if (!mark)
    return lane ? tn_graph_invalidate(lane->graph, "wait in a captured "
                                      "stream: for work outside of the "
                                      "capture that is not complete")
                : TN_OK;
  tn_graph *graph = mark->graph;
  if (!graph) return TN_OK;
  if (graph->is_invalid) return tn_graph_invalidate(graph, "%s", "");
  if (!lane) return check_memory(graph, join(graph, waiter, &mark->tails));
  if (lane->graph == graph)
    return check_memory(graph, tn_nodes_merge(&graph->nodes, &lane->tails,
                                              &mark->tails));
  tn_graph_invalidate(graph, "a stream of another capture waits for it");
  return tn_graph_invalidate(lane->graph, "wait in a captured stream: for "
                             "another capture");
}

tn_status tn_capture_wait(tn_stream *waiter, tn_moment *moment)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_status status = wait(waiter, moment->mark);
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}
