/* In-order queues and points in them. */
#ifndef TN_CUDA_STREAM_H
#define TN_CUDA_STREAM_H

#include "backends/cuda/caller.h"

typedef struct tn_cuda_capture tn_cuda_capture;

struct tn_backend_stream {
  tn_backend_device *device;
  CUstream handle;
  tn_cuda_trail *trail;
  tn_cuda_capture *capture; /* NULL: what is queued runs */
  tn_cuda_caller *caller; /* NULL until a host function is queued */
  bool is_borrowed; /* the queue is another's */
};

/* What a point is: an event of the driver, taken from the device's spare ones
 * and given back at its release. */
struct tn_cuda_event {
  tn_cuda_event *next; /* among the spare ones */
  CUevent handle;
  tn_cuda_trail *trail; /* of the stream it was recorded on */
  uint64_t reach;       /* commands of the trail that are before it */
};

CUstream tn_cuda_stream_handle(const tn_backend_stream *stream);

/* Destroys the spare events, with the device's context current. */
void tn_cuda_events_free(tn_backend_device *device);

/* The points of event.c, which stand in the same table. */
tn_status tn_cuda_point_record(tn_backend_stream *stream, uint32_t flags,
                               tn_point *point);
tn_status tn_cuda_point_wait(tn_backend_stream *stream,
                             const tn_point *points, size_t count);
tn_status tn_cuda_point_query(tn_backend_device *device,
                              const tn_point *point);
tn_status tn_cuda_point_host_wait(tn_backend_device *device,
                                  const tn_point *point, uint64_t timeout);
void tn_cuda_point_release(tn_backend_device *device, const tn_point *point);
tn_status tn_cuda_point_elapsed(tn_backend_device *device,
                                const tn_point *start, const tn_point *end,
                                double *milliseconds);

extern const tn_backend_stream_table tn_cuda_stream_table;

#endif
