/* In-order queues, and what is known of the commands in them. */
#ifndef TN_OPENCL_STREAM_H
#define TN_OPENCL_STREAM_H

#include "backends/opencl/device.h"

/* A queued command. Each has an event, so that a failure names it; on PoCL
 * that costs 4 % of a launch. */
typedef struct tn_opencl_command {
  cl_event event;
  tn_tag tag;
} tn_opencl_command;

struct tn_backend_stream {
  tn_backend_device *device;
  cl_command_queue queue;
  cl_command_queue timer; /* with profiling, made for the first timed point:
                           * such queues slow every command down */
  bool is_borrowed;       /* the queue is another's */
  /* Commands not yet seen complete, the oldest at `first`, in a ring whose
   * capacity is a power of two. */
  tn_opencl_command *commands;
  size_t first, count, capacity;
  cl_int failure; /* the first not yet taken, CL_SUCCESS: none */
  tn_tag failure_tag;
};

/* A queue of the device. priority < 0 asks for an urgent one. */
cl_command_queue tn_opencl_queue_new(tn_backend_device *device,
                                     cl_command_queue_properties properties,
                                     int priority, cl_int *code);

/* CL_QUEUED ... CL_COMPLETE, or a negative code. */
cl_int tn_opencl_event_status(cl_event event);

/* Where the next command's event goes, NULL with the error set. If the
 * command was queued, commit follows; if not, nothing does. */
cl_event *tn_opencl_stream_begin(tn_backend_stream *stream);
void tn_opencl_stream_commit(tn_backend_stream *stream, tn_tag tag);

/* The latest command's event, borrowed; NULL if all are complete. */
cl_event tn_opencl_stream_last(tn_backend_stream *stream);

/* Blocks until the queue is empty; the code of the latest command, which had
 * `tag`. A failure that is answered here is not kept for take_error. */
cl_int tn_opencl_stream_finish(tn_backend_stream *stream, tn_tag tag);

/* Forgets commands that are complete, noting failures. */
void tn_opencl_stream_sweep(tn_backend_stream *stream);

cl_command_queue tn_opencl_stream_handle(const tn_backend_stream *stream);

/* The points of event.c, which stand in the same table. */
tn_status tn_opencl_point_record(tn_backend_stream *stream, uint32_t flags,
                                 tn_point *point);
tn_status tn_opencl_point_wait(tn_backend_stream *stream,
                               const tn_point *points, size_t count);
tn_status tn_opencl_point_query(tn_backend_device *device,
                                const tn_point *point);
tn_status tn_opencl_point_host_wait(tn_backend_device *device,
                                    const tn_point *point, uint64_t timeout);
void tn_opencl_point_release(tn_backend_device *device,
                             const tn_point *point);
tn_status tn_opencl_point_elapsed(tn_backend_device *device,
                                  const tn_point *start, const tn_point *end,
                                  double *milliseconds);

extern const tn_backend_stream_table tn_opencl_stream_table;

#endif
