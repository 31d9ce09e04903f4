/* Running kernels. */
#ifndef TN_BACKENDS_CPU_LAUNCH_H
#define TN_BACKENDS_CPU_LAUNCH_H

#include "backends/cpu/recording.h"
#include "tenon/backend.h"

/* Threads of a group: more than TN_TREE and any GPU take is refused here
 * too. */
#define TN_CPU_GROUP_MAX 1024

tn_status tn_cpu_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        const tn_backend_launch_desc *desc,
                        const uint64_t *slots);

/* Makes the node of a command that is a launch ready. */
void tn_cpu_launch_make_node(tn_cpu_node *node);

#endif
