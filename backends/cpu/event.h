/* Points: {stream, count of commands}, or, with timing, {record | 1, count}. */
#ifndef TN_BACKENDS_CPU_EVENT_H
#define TN_BACKENDS_CPU_EVENT_H

#include "tenon/backend.h"

tn_status tn_cpu_event_record(tn_backend_stream *stream, uint32_t flags,
                              tn_point *point);

/* On an inline stream the calling thread waits; work of other streams that
 * itself waits for this thread (a host function) then never ends. */
tn_status tn_cpu_event_wait(tn_backend_stream *stream, const tn_point *points,
                            size_t count);
tn_status tn_cpu_event_query(tn_backend_device *device,
                             const tn_point *point);
tn_status tn_cpu_event_host_wait(tn_backend_device *device,
                                 const tn_point *point, uint64_t timeout);
void tn_cpu_event_release(tn_backend_device *device, const tn_point *point);
tn_status tn_cpu_event_elapsed(tn_backend_device *device,
                               const tn_point *start, const tn_point *end,
                               double *milliseconds);

#endif
