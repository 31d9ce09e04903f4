/* One run of a graph. What its nodes take is measured in the first runs; then
 * those that take long enough are cut into pieces, on which helper threads
 * work that join for the whole run: they are woken once, not for each node.
 * The order of the nodes and what a piece computes stay the same, so nothing
 * but speed depends on the times. */
#ifndef TN_BACKENDS_CPU_GRAPH_RUN_H
#define TN_BACKENDS_CPU_GRAPH_RUN_H

#include "backends/cpu/recording.h"

/* What is known of the nodes; used by one run at a time. */
typedef struct tn_cpu_plan tn_cpu_plan;

/* NULL without memory. */
tn_cpu_plan *tn_cpu_plan_new(uint32_t count);
void tn_cpu_plan_free(tn_cpu_plan *plan); /* NULL: nothing */

/* In the thread of a stream, which is at work. */
void tn_cpu_graph_run(const tn_cpu_recording *recording, tn_cpu_plan *plan,
                      bool is_urgent);

/* In the caller's. */
void tn_cpu_graph_run_inline(const tn_cpu_recording *recording,
                             tn_cpu_plan *plan, bool is_urgent);

#endif
