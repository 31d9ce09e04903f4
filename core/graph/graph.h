/* Graphs: the core records them, and replays those that a backend does not run
 * as a whole. */
#ifndef TN_CORE_GRAPH_GRAPH_H
#define TN_CORE_GRAPH_GRAPH_H

#include "core/exec/capture.h"
#include "core/graph/lowering.h"
#include "core/graph/node.h"
#include "tenon/graph.h"

typedef enum tn_graph_state {
  TN_GRAPH_EMPTY,
  TN_GRAPH_CAPTURING,
  TN_GRAPH_READY
} tn_graph_state;

/* A stream in a capture. */
typedef struct tn_lane {
  tn_graph *graph;
  tn_stream *stream; /* referenced */
  int number;
  bool was_eager, was_inline; /* of the stream, which is neither meanwhile */
  tn_numbers tails; /* nodes that the stream's next one depends on */
  struct tn_lane *next;
} tn_lane;

/* The node part of a moment in a capture. */
typedef struct tn_capture_mark {
  tn_graph *graph;   /* NULL once the capture is over */
  tn_moment *moment; /* that it is of */
  tn_numbers tails;
  struct tn_capture_mark *next, *before; /* of the graph */
} tn_capture_mark;

typedef struct tn_graph_hook {
  tn_status (*hook)(tn_graph *graph, void *argument);
  void *argument;
  void (*forget)(void *argument);
} tn_graph_hook;

struct tn_graph {
  tn_refcount refs;
  _Atomic(tn_graph_state) stage; /* under tn_capture_lock, like all to
                                  * `failure`; but looked at without it */
  tn_graph_mode mode;
  pthread_t owner;
  tn_device_state *state;
  tn_lane *lanes;        /* the first one is where it began, and last */
  int lane_count;
  tn_capture_mark *marks; /* written under the marks' lock too */
  bool is_invalid;
  tn_status verdict; /* TN_OUT_OF_MEMORY: for want of the host's memory */
  char failure[TN_ERROR_TEXT_SIZE]; /* what happened first */
  tn_graph *next;        /* of those that capture */

  pthread_mutex_t lock;  /* one replay at a time; guards the rest; recursive,
                          * taken before tn_capture_lock */
  tn_nodes nodes;
  tn_lowering *lowering; /* NULL: replays are call by call, for this reason */
  char doubt[TN_ERROR_TEXT_SIZE];
  tn_mem_pool *pool;     /* referenced and held */
  tn_stream *latest;     /* of replays; referenced */
  tn_stream_guard guard; /* of the stream that was made current */
  tn_graph_hook *hooks;
  size_t hook_count, hook_capacity;
};

/* Guards all captures of the process: they are rare. */
extern pthread_mutex_t tn_capture_lock;

/* ---- graph.c ---- */

tn_status tn_graph_refuse_null(void);

/* For those who look at the nodes: a capture that goes on adds some, a reset
 * takes them away. */
void tn_graph_lock_nodes(const tn_graph *graph);
void tn_graph_unlock_nodes(const tn_graph *graph);

/* Locked. Ends a capture: its streams are usable, and the graph is ready or, if
 * the capture is invalid, empty. */
void tn_graph_close(tn_graph *graph);

/* ---- fork.c ---- */

/* Before the first graph: forked children find no lock of a thread that they
 * do not have, and no capture. */
void tn_graph_arm(void);

/* ---- lane.c; tn_capture_lock is held ---- */

/* Makes the stream a part of the capture, after `tails`. */
tn_status tn_lane_add(tn_graph *graph, tn_stream *stream,
                      const tn_numbers *tails);

/* Gives all streams back. */
void tn_lanes_end(tn_graph *graph);

/* The first lane with work that the origin did not wait for; NULL: none. False
 * without memory to look for it. */
bool tn_lanes_find_unjoined(const tn_graph *graph, const tn_lane **found);

/* ---- capture.c ---- */

/* Locked. Makes the capture invalid, unless it is already, and sets the
 * error to what happened first. */
tn_status tn_graph_invalidate(tn_graph *graph, const char *format, ...)
    TN_PRINTF(2, 3);

/* Locked. The same with TN_OUT_OF_MEMORY. */
tn_status tn_graph_invalidate_for_memory(tn_graph *graph, const char *call);

/* Locked. Moments of the capture are complete from now on. */
void tn_graph_end_marks(tn_graph *graph);

/* Locked. Those that capture now. */
extern tn_graph *tn_graphs_capturing;

/* How many of them are in global mode, for those who only look. */
extern atomic_int tn_graphs_in_global_mode;

#endif
