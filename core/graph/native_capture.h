/* Making a recording a graph of the backend's. */
#ifndef TN_CORE_GRAPH_NATIVE_CAPTURE_H
#define TN_CORE_GRAPH_NATIVE_CAPTURE_H

#include "core/graph/node.h"

/* The graph, and the backend's numbers of its nodes; `numbers` has room for
 * all. The caller is inside tn_enter. On failure the error says at which
 * command. */
tn_status tn_native_capture(tn_device_state *state, const tn_nodes *nodes,
                            uint64_t *numbers, tn_backend_graph **handle);

tn_status tn_native_refuse_memory(size_t count);

#endif
