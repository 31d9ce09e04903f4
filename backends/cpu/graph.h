/* The graph table: commands kept instead of run, to be run again at less
 * cost. A stream that captures puts them, as they would stand in its queue,
 * into a recording; a run goes through that in order. */
#ifndef TN_BACKENDS_CPU_GRAPH_H
#define TN_BACKENDS_CPU_GRAPH_H

#include "tenon/backend.h"

tn_status tn_cpu_graph_capture_begin(tn_backend_stream *stream);
tn_status tn_cpu_graph_capture_node(tn_backend_stream *stream,
                                    uint64_t *node);
tn_status tn_cpu_graph_capture_end(tn_backend_stream *stream,
                                   tn_backend_graph **graph);
tn_status tn_cpu_graph_launch(tn_backend_graph *graph,
                              tn_backend_stream *stream);
tn_status tn_cpu_graph_update(tn_backend_graph *graph,
                              const tn_node_update *update);
void tn_cpu_graph_destroy(tn_backend_graph *graph);

/* In a forked child: runs that were queued are the parent's, and count as
 * ended. */
void tn_cpu_graphs_after_fork(void);

#endif
