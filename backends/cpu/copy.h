/* The copy table. */
#ifndef TN_BACKENDS_CPU_COPY_H
#define TN_BACKENDS_CPU_COPY_H

#include "tenon/backend.h"

tn_status tn_cpu_copy_queue(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc);
tn_status tn_cpu_fill_queue(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc);

/* All cpu devices use the same memory, so every pair is a pair of peers and
 * nothing has to be enabled. */
tn_status tn_cpu_peer_query(tn_backend_device *device,
                            tn_backend_device *peer, int *possible);
tn_status tn_cpu_peer_enable(tn_backend_device *device,
                             tn_backend_device *peer);
tn_status tn_cpu_peer_disable(tn_backend_device *device,
                              tn_backend_device *peer);

#endif
