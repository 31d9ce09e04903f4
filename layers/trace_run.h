/* When queued work ran: a timed point behind each piece of it, read once it
 * is complete. */
#ifndef TN_LAYERS_TRACE_RUN_H
#define TN_LAYERS_TRACE_RUN_H

#include "layers/forward.h"

/* What the layer keeps of a device. */
typedef struct trace_device {
  int64_t process;
  const char *name; /* "cpu:0 memory" */
  uint64_t allocated;
  bool is_inline; /* its default stream has run when a call returns */
  struct trace_stream *synchronous; /* of a backend without streams */
} trace_device;

/* A stream was created, or NULL: of a device without streams. */
struct trace_stream *trace_stream_begin(forward_device *device,
                                        forward_stream *stream);
/* Waits for what is pending. */
void trace_stream_end(forward_stream *stream);

/* The call, which began at `begin` and ends now, queued work. */
void trace_stream_queued(const forward_call *call, uint64_t begin,
                         uint64_t end, uint64_t correlation);
/* The stream will wait for others: work from now on begins after that. */
void trace_stream_waits(const forward_call *call);
/* A chance to read what has completed. */
void trace_stream_poll(forward_stream *stream);

/* Of a call, for the file: "elementwise/add_f32", NULL if none. */
const char *trace_name_of(const forward_call *call);

#endif
