/* Graphs: what a stream captured, ready to run. */
#ifndef TN_CUDA_GRAPH_H
#define TN_CUDA_GRAPH_H

#include "backends/cuda/stream.h"

/* Queues a host function into a stream's capture; the stream table's entry
 * for streams that are captured. The driver calls such functions one after
 * the other. */
tn_status tn_cuda_capture_function(tn_backend_stream *stream,
                                   void (*function)(void *), void *argument);

void *tn_cuda_graph_handle(const void *graph);

extern const tn_backend_graph_table tn_cuda_graph_table;

#endif
