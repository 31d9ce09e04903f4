/* The life of a graph. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/log.h"
#include "core/graph/graph.h"
#include "core/memory/allocator.h"
#include "core/memory/pool.h"

tn_status tn_graph_refuse_null(void)
{
  return tn_error(TN_INVALID_ARGUMENT, "graph is NULL");
}

void tn_graph_lock_nodes(const tn_graph *graph)
{
  pthread_mutex_lock(&((tn_graph *)(uintptr_t)graph)->lock);
  pthread_mutex_lock(&tn_capture_lock);
}

void tn_graph_unlock_nodes(const tn_graph *graph)
{
  pthread_mutex_unlock(&tn_capture_lock);
  pthread_mutex_unlock(&((tn_graph *)(uintptr_t)graph)->lock);
}

/* Hooks are called with the lock, and set arguments. */
static void init_lock(pthread_mutex_t *lock)
{
  pthread_mutexattr_t attributes;
  pthread_mutexattr_init(&attributes);
  pthread_mutexattr_settype(&attributes, PTHREAD_MUTEX_RECURSIVE);
  pthread_mutex_init(lock, &attributes);
  pthread_mutexattr_destroy(&attributes);
}

tn_graph *tn_graph_new(void)
{
  if (tn_is_shut_down()) {
    tn_refuse_shut_down();
    return NULL;
  }
  tn_graph *graph = calloc(1, sizeof *graph);
  if (!graph) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a graph");
    return NULL;
  }
  tn_graph_arm();
  tn_refcount_init(&graph->refs);
  init_lock(&graph->lock);
  return graph;
}

tn_graph *tn_graph_retain(tn_graph *graph)
{
  if (graph) tn_refcount_retain(&graph->refs);
  return graph;
}

static void drop_hooks(tn_graph *graph)
{
  for (size_t i = 0; i < graph->hook_count; i++)
    if (graph->hooks[i].forget)
      graph->hooks[i].forget(graph->hooks[i].argument);
  graph->hook_count = 0;
}

static void drop_pool(tn_graph *graph)
{
  tn_mem_pool *pool = graph->pool;
  graph->pool = NULL;
  if (!pool) return;
  tn_pool_let_go(pool);
  tn_mem_pool_release(pool);
}

/* Takes it off the list of those that capture; tn_capture_lock is held. */
static void unlist(tn_graph *graph)
{
  tn_graph **link = &tn_graphs_capturing;
  while (*link != graph) link = &(*link)->next;
  *link = graph->next;
  if (graph->mode == TN_GRAPH_GLOBAL)
    atomic_fetch_sub(&tn_graphs_in_global_mode, 1);
}

static void check_joined(tn_graph *graph)
{
  const tn_lane *loose;
  if (!tn_lanes_find_unjoined(graph, &loose))
    tn_graph_invalidate_for_memory(graph, "end of capture");
  else if (loose)
    tn_graph_invalidate(graph, "end of capture: stream %d of the capture has "
                        "work that the stream where it began did not wait "
                        "for", loose->number);
}

void tn_graph_close(tn_graph *graph)
{
  if (!graph->is_invalid) check_joined(graph);
  tn_lanes_end(graph);
  tn_graph_end_marks(graph);
  unlist(graph);
  graph->stage = graph->is_invalid ? TN_GRAPH_EMPTY : TN_GRAPH_READY;
}

/* What became of a capture that was closed; not locked. */
static tn_status conclude(tn_graph *graph)
{
  if (pthread_equal(graph->owner, pthread_self()))
    tn_stream_pop(&graph->guard);
  graph->guard.active = 0;
  return graph->is_invalid ? tn_error(graph->verdict, "%s", graph->failure)
                           : TN_OK;
}

/* The graph's lock is held, so that nobody captures it again meanwhile. */
static void stop(tn_graph *graph)
{
  pthread_mutex_lock(&tn_capture_lock);
  bool is_going_on = graph->stage == TN_GRAPH_CAPTURING;
  if (is_going_on) tn_graph_close(graph);
  pthread_mutex_unlock(&tn_capture_lock);
  if (is_going_on) conclude(graph);
}

/* The graph's lock is held. */
static void drop(tn_graph *graph)
{
  tn_lowering_free(graph->lowering);
  graph->lowering = NULL;
  tn_nodes_clear(&graph->nodes);
  drop_hooks(graph);
  drop_pool(graph);
  tn_stream_release(graph->latest);
  graph->latest = NULL;
  graph->stage = TN_GRAPH_EMPTY;
}

void tn_graph_release(tn_graph *graph)
{
  if (!graph || !tn_refcount_release(&graph->refs)) return;
  tn_error_state before;
  tn_error_save(&before);
  stop(graph);
  drop(graph);
  tn_error_restore(&before);
  free(graph->hooks);
  pthread_mutex_destroy(&graph->lock);
  free(graph);
}

tn_status tn_graph_reset(tn_graph *graph)
{
  if (!graph) return tn_graph_refuse_null();
  tn_error_state before;
  tn_error_save(&before);
  pthread_mutex_lock(&graph->lock);
  stop(graph);
  tn_error_restore(&before);
  drop(graph);
  pthread_mutex_unlock(&graph->lock);
  return TN_OK;
}

/* tn_capture_lock is held. Rules of the modes; another capture goes on. */
static tn_status check_others(const tn_graph *graph, tn_stream *stream,
                              tn_graph_mode mode)
{
  for (const tn_graph *g = tn_graphs_capturing; g; g = g->next) {
    if (g == graph)
      return tn_error(TN_CAPTURE_VIOLATION, "capture: the graph is being "
                      "captured already");
    if (g->mode == TN_GRAPH_GLOBAL || mode == TN_GRAPH_GLOBAL)
      return tn_error(TN_CAPTURE_VIOLATION, "capture: another capture goes on "
                      "in this process, and one of the two is in global "
                      "mode: thread_local and relaxed ones go side by side");
  }
  if (tn_is_captured(stream))
    return tn_error(TN_CAPTURE_VIOLATION, "capture: the stream is being "
                    "captured into another graph");
  return TN_OK;
}

static tn_status check_options(const tn_graph_options *options,
                               const tn_stream *stream)
{
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(stream->state->device, device, sizeof device);
  if ((unsigned)options->mode > TN_GRAPH_RELAXED)
    return tn_error(TN_INVALID_ARGUMENT, "capture: mode %d: global (0), "
                    "thread_local (1) and relaxed (2) are known",
                    (int)options->mode);
  if (stream->origin == TN_STREAM_OF_DEVICE)
    return tn_error(TN_CAPTURE_VIOLATION, "capture on %s: the default stream "
                    "cannot be captured: use one from tn_stream_new",
                    device);
  if (options->pool && options->pool->allocator->state != stream->state)
    return tn_error(TN_DEVICE_MISMATCH, "capture on %s: the pool is of "
                    "another device", device);
  return TN_OK;
}

static tn_stream *choose_stream(const tn_graph_options *options)
{
  return options->stream ? options->stream
                         : tn_current_stream(tn_default_device());
}

/* The device is quiet, so that memory which is cached for its streams and for
 * transfers can be given back and nothing captured depends on what came
 * before. Other captures go on. */
static tn_status make_quiet(tn_stream *stream)
{
  tn_status status = tn_streams_synchronize(stream->state);
  if (status == TN_OK) status = tn_empty_cache(stream->state->device);
  return status == TN_OK ? tn_empty_host_cache() : status;
}

static tn_status take_pool(tn_graph *graph, tn_mem_pool *pool)
{
  graph->pool = pool ? tn_mem_pool_retain(pool)
                     : tn_pool_new_for_graph(graph->state);
  if (!graph->pool) return tn_last_status();
  tn_pool_hold(graph->pool);
  return TN_OK;
}

/* tn_capture_lock is held. */
static tn_status start(tn_graph *graph, tn_stream *stream,
                       const tn_graph_options *options)
{
  graph->is_invalid = false;
  graph->verdict = TN_CAPTURE_VIOLATION;
  graph->failure[0] = 0;
  graph->mode = options->mode;
  graph->owner = pthread_self();
  tn_status status = take_pool(graph, options->pool);
  if (status == TN_OK) status = tn_lane_add(graph, stream, NULL);
  if (status != TN_OK) return status;
  graph->next = tn_graphs_capturing;
  tn_graphs_capturing = graph;
  if (graph->mode == TN_GRAPH_GLOBAL)
    atomic_fetch_add(&tn_graphs_in_global_mode, 1);
  graph->stage = TN_GRAPH_CAPTURING;
  return TN_OK;
}

static tn_status check_others_locked(const tn_graph *graph, tn_stream *stream,
                                     tn_graph_mode mode)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_status status = check_others(graph, stream, mode);
  pthread_mutex_unlock(&tn_capture_lock);
  return status;
}

/* The graph's lock is held: nobody else begins to capture it meanwhile. */
static tn_status begin_anew(tn_graph *graph, tn_stream *stream,
                            const tn_graph_options *options,
                            tn_stream_guard guard)
{
  tn_status status = check_others_locked(graph, stream, options->mode);
  if (status != TN_OK) return status;
  drop(graph);
  graph->state = stream->state;
  pthread_mutex_lock(&tn_capture_lock);
  status = check_others(graph, stream, options->mode);
  if (status == TN_OK) status = start(graph, stream, options);
  if (status == TN_OK) graph->guard = guard;
  pthread_mutex_unlock(&tn_capture_lock);
  if (status != TN_OK) drop_pool(graph);
  return status;
}

/* The caller is inside tn_enter. The pool may be what the graph has, and
 * drops. */
static tn_status begin(tn_graph *graph, tn_stream *stream,
                       const tn_graph_options *options, tn_stream_guard guard)
{
  tn_status status = check_options(options, stream);
  if (status == TN_OK)
    status = check_others_locked(graph, stream, options->mode);
  if (status == TN_OK) status = make_quiet(stream);
  if (status != TN_OK) return status;
  tn_mem_pool *pool = tn_mem_pool_retain(options->pool);
  pthread_mutex_lock(&graph->lock);
  status = begin_anew(graph, stream, options, guard);
  pthread_mutex_unlock(&graph->lock);
  tn_mem_pool_release(pool);
  return status;
}

/* The stream is made current first: there may be no memory for that. */
static tn_status begin_on(tn_graph *graph, tn_stream *stream,
                          const tn_graph_options *options)
{
  tn_stream_guard guard = tn_stream_push(stream);
  if (!guard.active) return tn_last_status();
  tn_status status = begin(graph, stream, options, guard);
  if (status != TN_OK) tn_stream_pop(&guard);
  return status;
}

tn_status tn_graph_begin_with(tn_graph *graph, tn_graph_options options)
{
  if (!graph) return tn_graph_refuse_null();
  tn_stream *stream = choose_stream(&options);
  if (!stream) return tn_last_status();
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = begin_on(graph, stream, &options);
  tn_leave();
  return status;
}

/* tn_capture_lock is held. */
static tn_status check_end(const tn_graph *graph)
{
  if (graph->stage != TN_GRAPH_CAPTURING)
    return tn_error(TN_INVALID_ARGUMENT, "end of capture: the graph is not "
                    "being captured");
  if (graph->mode != TN_GRAPH_RELAXED &&
      !pthread_equal(graph->owner, pthread_self()))
    return tn_error(TN_CAPTURE_VIOLATION, "end of capture: the thread that "
                    "began it must end it, unless its mode is relaxed");
  return TN_OK;
}

/* What the backend refuses for good is replayed call by call; other failures
 * are the capture's. */
static tn_status make_native(tn_graph *graph)
{
  tn_status status = tn_lowering_make(graph->state, &graph->nodes,
                                      &graph->lowering);
  if (status != TN_UNSUPPORTED && status != TN_CAPTURE_VIOLATION)
    return status;
  snprintf(graph->doubt, sizeof graph->doubt, "%s", tn_error_message());
  tn_log(TN_LOG_INFO, "a graph is replayed call by call: %s", graph->doubt);
  return TN_OK;
}

static tn_status lower(tn_graph *graph)
{
  tn_status status = tn_enter(graph->state);
  if (status != TN_OK) return status;
  tn_error_state before;
  tn_error_save(&before);
  tn_lowering_doubt(graph->state, &graph->nodes, graph->doubt,
                    sizeof graph->doubt);
  status = graph->doubt[0] ? TN_OK : make_native(graph);
  if (status == TN_OK) tn_error_restore(&before);
  tn_leave();
  return status;
}

/* Gives back what it captured, and keeps the error. */
static void give_up(tn_graph *graph)
{
  tn_error_state failure;
  tn_error_save(&failure);
  tn_graph_reset(graph);
  tn_error_restore(&failure);
}

/* The graph's lock is held: others find it before its end or after it. */
static tn_status end(tn_graph *graph)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_status status = check_end(graph);
  if (status == TN_OK) tn_graph_close(graph);
  pthread_mutex_unlock(&tn_capture_lock);
  if (status != TN_OK) return status;
  status = conclude(graph);
  if (status == TN_OK) status = lower(graph);
  if (status != TN_OK) give_up(graph);
  return status;
}

tn_status tn_graph_end(tn_graph *graph)
{
  if (!graph) return tn_graph_refuse_null();
  pthread_mutex_lock(&graph->lock);
  tn_status status = end(graph);
  pthread_mutex_unlock(&graph->lock);
  return status;
}

tn_graph_guard tn_graph_push(tn_graph *graph, tn_graph_options options)
{
  tn_graph_guard guard = { 0 };
  if (!options.stream)
    options.stream = guard.stream = tn_stream_new(tn_default_device(), 0);
  if (options.stream && tn_graph_begin_with(graph, options) == TN_OK) {
    guard.graph = graph;
    guard.active = 1;
  } else
    tn_stream_release(guard.stream);
  return guard;
}

void tn_graph_pop(tn_graph_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  tn_graph_end(guard->graph);
  tn_stream_release(guard->stream);
}

/* ---- hooks ---- */

static tn_status add_hook(tn_graph *graph, const tn_graph_hook *hook)
{
  if (graph->hook_count == graph->hook_capacity) {
    size_t capacity = graph->hook_capacity ? 2 * graph->hook_capacity : 4;
    tn_graph_hook *larger = realloc(graph->hooks, capacity * sizeof *larger);
    if (!larger)
      return tn_error(TN_OUT_OF_MEMORY, "no memory for a graph's hook");
    graph->hooks = larger;
    graph->hook_capacity = capacity;
  }
  graph->hooks[graph->hook_count++] = *hook;
  return TN_OK;
}

tn_status tn_graph_on_replay(tn_graph *graph,
                             tn_status (*hook)(tn_graph *, void *),
                             void *argument, void (*forget)(void *))
{
  if (!graph) return tn_graph_refuse_null();
  if (!hook) return tn_error(TN_INVALID_ARGUMENT, "the hook is NULL");
  pthread_mutex_lock(&graph->lock);
  tn_status status = add_hook(graph, &(tn_graph_hook){ hook, argument,
                                                       forget });
  pthread_mutex_unlock(&graph->lock);
  return status;
}
