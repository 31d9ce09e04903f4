/* Tenon: graphs, work that is recorded once and run again and again.
 *
 *     tn_graph *graph = tn_graph_new();
 *     tn_with_graph(graph) { ...launches, copies, fills... }
 *     for (...) tn_graph_replay(graph);
 *
 * Capture records and does not run. It follows the work: a stream that waits
 * for an event of a captured stream belongs to the capture from then on, and
 * must be waited for by the stream where it began before it ends. Memory that
 * captured streams allocate comes from a pool of the graph's, so that the
 * addresses stay good as long as the graph, as does pinned memory that its
 * copies use, though the program frees it.
 *
 * What a capture cannot hold (synchronising, reading on the host, copies from
 * or to pageable host memory, work of a default stream) is refused with
 * TN_CAPTURE_VIOLATION; the capture is invalid then (as it is for want of
 * host memory: TN_OUT_OF_MEMORY), tn_graph_end fails with what happened
 * first, and the streams are usable again.
 *
 * A capture is of one device. Thread-safe; replays of one graph run one after
 * the other. A host function in a graph may hold up those of other graphs: it
 * does not wait for them.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_GRAPH_H
#define TENON_GRAPH_H

#include <stdio.h>

#include "tenon/kernel.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_graph tn_graph;

/* What other threads may do meanwhile. Global: neither capture nor make the
 * library get device memory. Thread local: anything but wait for captured
 * streams, as tn_synchronize does; the thread that began ends. Relaxed: the
 * same, and any thread may end it. In a child that another thread forks,
 * captures of the first two modes are over. */
typedef enum tn_graph_mode {
  TN_GRAPH_GLOBAL,
  TN_GRAPH_THREAD_LOCAL,
  TN_GRAPH_RELAXED
} tn_graph_mode;

typedef struct tn_graph_options {
  tn_mem_pool *pool;  /* shared with other graphs; NULL: one of its own */
  tn_stream *stream;  /* is made current until the end, and stays so if
                       * another thread ends; NULL: the current stream of the
                       * default device */
  tn_graph_mode mode;
  char tn_end_;
} tn_graph_options;

/* NULL without memory. */
TN_API tn_graph *tn_graph_new(void);
TN_API tn_graph *tn_graph_retain(tn_graph *graph);

/* The last reference ends a capture that is not over and drops the graph's
 * pool, whose memory lives on for the blocks that are still held. Giving the
 * memory back waits for the device, since replays run on any stream. */
TN_API void tn_graph_release(tn_graph *graph);

/* Begins a capture: waits for the device, gives cached memory back, and
 * records from then on. What the graph held before is dropped. TN_CAPTURE_
 * VIOLATION: on a default stream, or during another capture (see mode). */
TN_API tn_status tn_graph_begin_with(tn_graph *graph,
                                     tn_graph_options options);

/* Ends it, whether it is valid or not; fails with what made it invalid. */
TN_API tn_status tn_graph_end(tn_graph *graph);

/* Queues the recorded work on the current stream of its device. It runs after
 * earlier replays of the graph, on whatever streams those were queued. Fails if
 * no capture ended well. */
TN_API tn_status tn_graph_replay(tn_graph *graph);

/* Drops what was recorded and the pool; ends a capture that is not over. */
TN_API tn_status tn_graph_reset(tn_graph *graph);

/* The pool of a graph that captures or has captured; borrowed. */
TN_API tn_mem_pool *tn_graph_pool(tn_graph *graph);

TN_API bool tn_is_current_stream_capturing(tn_device device);

/* The graph that the device's current stream is being captured into;
 * borrowed, NULL if there is none. */
TN_API tn_graph *tn_capturing_graph(tn_device device);

/* The number of the node that was captured last on the device's current
 * stream. */
TN_API tn_status tn_capturing_node(tn_device device, size_t *node);

/* ---- looking at it ---- */

typedef enum tn_graph_node_kind {
  TN_GRAPH_KERNEL,
  TN_GRAPH_COPY,
  TN_GRAPH_FILL,
  TN_GRAPH_HOST_FUNCTION
} tn_graph_node_kind;

typedef struct tn_graph_node_info {
  tn_graph_node_kind kind;
  const char *name;           /* of the kernel, or "copy host to device" ... */
  int64_t bytes;              /* of copies and fills; else 0 */
  int stream;                 /* 0 where the capture began, others by turn */
  size_t dependency_count;
  const uint32_t *dependencies; /* numbers of nodes, lower than its own; live
                                 * until the graph changes */
} tn_graph_node_info;

TN_API size_t tn_graph_node_count(const tn_graph *graph);
TN_API tn_status tn_graph_get_node(const tn_graph *graph, size_t number,
                                   tn_graph_node_info *out);

/* In DOT, for graphviz; as lines of text. */
TN_API tn_status tn_graph_dump(tn_graph *graph, FILE *dot);
TN_API tn_status tn_graph_list(tn_graph *graph, FILE *text);

/* How replays run, as snprintf writes it: "native: ..." where the backend runs
 * the graph as a whole, or "call by call: REASON". -1 with the error set if no
 * capture ended well. */
TN_API int tn_graph_path(tn_graph *graph, char *text, size_t size);

/* The vendor's handle of a native graph (CUgraphExec), borrowed until it is
 * captured anew or its arguments change. TN_UNSUPPORTED for others. */
TN_API tn_status tn_graph_native(tn_graph *graph, void **native);

/* ---- changing it ---- */

/* Argument `index` of a kernel node, for later replays; also while it is
 * captured. The kind of the argument stays. */
TN_API tn_status tn_graph_set_argument(tn_graph *graph, size_t node,
                                       size_t index, tn_arg value);

/* `hook` is called before each replay, in the order of being added; a failure
 * ends the replay before anything is queued. It may set arguments and must
 * not call the graph otherwise. forget (or NULL) is called when the graph
 * drops what it recorded. */
TN_API tn_status tn_graph_on_replay(tn_graph *graph,
                                    tn_status (*hook)(tn_graph *graph,
                                                      void *argument),
                                    void *argument,
                                    void (*forget)(void *argument));

/* ---- blocks ---- */

typedef struct tn_graph_guard {
  tn_graph *graph;
  tn_stream *stream;
  int active;
} tn_graph_guard;

/* As tn_graph_begin; without a stream in the options one of the pool of the
 * default device. The pop ends the capture; if that fails, replays do too. */
TN_API tn_graph_guard tn_graph_push(tn_graph *graph,
                                    tn_graph_options options);
TN_API void tn_graph_pop(tn_graph_guard *guard);

#ifndef __cplusplus
#define TN_GRAPH_OPTIONS_(function, graph, ...) \
  function(graph, (tn_graph_options){ __VA_ARGS__ })
#define tn_graph_begin(...) \
  TN_GRAPH_OPTIONS_(tn_graph_begin_with, __VA_ARGS__, .tn_end_ = 0)
#define tn_with_graph(...)                                                 \
  TN_BLOCK_(tn_graph_guard, TN_GLUE_(tn_guard_, __COUNTER__),              \
            TN_GRAPH_OPTIONS_(tn_graph_push, __VA_ARGS__, .tn_end_ = 0),   \
            tn_graph_pop)
#endif

#ifdef __cplusplus
}
#endif
#endif
