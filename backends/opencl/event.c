/* Points. The first word is an event, or 0 when all was complete at the
 * record; the second is the context that the event belongs to, which also
 * keeps the point from being {0, 0}. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "backends/opencl/error.h"
#include "backends/opencl/stream.h"

#define WAIT_BATCH 16

static cl_event point_event(const tn_point *point)
{
  return (cl_event)(uintptr_t)point->word[0];
}

static void set_point(tn_point *point, const tn_backend_stream *stream,
                      cl_event event)
{
  point->word[0] = (uint64_t)(uintptr_t)event;
  point->word[1] = (uint64_t)(uintptr_t)stream->device->context;
}

static bool is_complete(cl_event event)
{
  /* A failed command is over, too. */
  return tn_opencl_event_status(event) <= CL_COMPLETE;
}

/* Commands may lie in a queue until it is flushed. */
static void flush_event(cl_event event)
{
  cl_command_queue queue = NULL;
  if (cl_.GetEventInfo(event, CL_EVENT_COMMAND_QUEUE, sizeof queue, &queue,
                       NULL) == CL_SUCCESS && queue)
    cl_.Flush(queue);
}

/* A marker in the timing queue, behind the stream's latest command. */
static tn_status record_timed(tn_backend_stream *stream, tn_point *point)
{
  tn_backend_device *device = stream->device;
  cl_int code;
  if (!stream->timer) {
    stream->timer = tn_opencl_queue_new(device, CL_QUEUE_PROFILING_ENABLE, 0,
                                        &code);
    if (code) {
      stream->timer = NULL;
      return tn_opencl_check(code, "clCreateCommandQueue", device);
    }
  }
  tn_opencl_stream_sweep(stream);
  cl_event last = tn_opencl_stream_last(stream), event;
  if (last) cl_.Flush(stream->queue);
  code = cl_.EnqueueMarkerWithWaitList(stream->timer, last ? 1 : 0,
                                       last ? &last : NULL, &event);
  if (code)
    return tn_opencl_check(code, "clEnqueueMarkerWithWaitList", device);
  cl_.Flush(stream->timer);
  set_point(point, stream, event);
  return TN_OK;
}

/* The owner of a borrowed queue puts commands into it, too, which have no
 * event here; a marker stands behind them. */
static tn_status mark_borrowed(tn_backend_stream *stream)
{
  if (!stream->is_borrowed) return TN_OK;
  cl_event *event = tn_opencl_stream_begin(stream);
  if (!event) return TN_OUT_OF_MEMORY;
  cl_int code = cl_.EnqueueMarkerWithWaitList(stream->queue, 0, NULL, event);
  if (code)
    return tn_opencl_check(code, "clEnqueueMarkerWithWaitList",
                           stream->device);
  tn_opencl_stream_commit(stream, 0);
  return TN_OK;
}

tn_status tn_opencl_point_record(tn_backend_stream *stream, uint32_t flags,
                                 tn_point *point)
{
  if (flags & ~TN_RECORD_TIMING)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "record flags 0x%x: only 0x%x is known", flags,
                          TN_RECORD_TIMING);
  tn_status status = mark_borrowed(stream);
  if (status) return status;
  if (flags) return record_timed(stream, point);
  cl_event last = tn_opencl_stream_last(stream);
  if (last) cl_.RetainEvent(last);
  set_point(point, stream, last);
  return TN_OK;
}

static tn_status queue_barrier(tn_backend_stream *stream, cl_uint count,
                               const cl_event *events)
{
  if (!count) return TN_OK;
  cl_event *event = tn_opencl_stream_begin(stream);
  if (!event) return TN_OUT_OF_MEMORY;
  cl_int code = cl_.EnqueueBarrierWithWaitList(stream->queue, count, events,
                                               event);
  if (code)
    return tn_opencl_check(code, "clEnqueueBarrierWithWaitList",
                           stream->device);
  tn_opencl_stream_commit(stream, 0);
  return TN_OK;
}

tn_status tn_opencl_point_wait(tn_backend_stream *stream,
                               const tn_point *points, size_t count)
{
  uint64_t context = (uint64_t)(uintptr_t)stream->device->context;
  cl_event events[WAIT_BATCH];
  cl_uint used = 0;
  for (size_t i = 0; i < count; i++) {
    cl_event event = point_event(points + i);
    if (!event || is_complete(event)) continue;
    flush_event(event);
    if (points[i].word[1] != context) {
      /* An event means nothing in another context, and completing a user
       * event there from a callback deadlocks PoCL's "basic" devices. */
      cl_.WaitForEvents(1, &event);
      continue;
    }
    events[used++] = event;
    if (used < WAIT_BATCH) continue;
    tn_status status = queue_barrier(stream, used, events);
    if (status) return status;
    used = 0;
  }
  return queue_barrier(stream, used, events);
}

tn_status tn_opencl_point_query(tn_backend_device *device,
                                const tn_point *point)
{
  (void)device;
  cl_event event = point_event(point);
  if (!event || is_complete(event)) return TN_OK;
  flush_event(event); /* or asking again and again would never end */
  return is_complete(event) ? TN_OK : TN_NOT_READY;
}

/* Shared by a waiting thread and the driver's callback; freed by the one
 * that leaves last. */
typedef struct alarm_bell {
  pthread_mutex_t lock;
  pthread_cond_t rung;
  int holders;
  bool is_complete;
} alarm_bell;

static void drop_bell(alarm_bell *bell)
{
  pthread_mutex_lock(&bell->lock);
  int holders = --bell->holders;
  pthread_mutex_unlock(&bell->lock);
  if (holders) return;
  pthread_cond_destroy(&bell->rung);
  pthread_mutex_destroy(&bell->lock);
  free(bell);
}

static void CL_CALLBACK ring_bell(cl_event event, cl_int status,
                                  void *argument)
{
  (void)event;
  (void)status;
  alarm_bell *bell = argument;
  pthread_mutex_lock(&bell->lock);
  bell->is_complete = true;
  pthread_cond_signal(&bell->rung);
  pthread_mutex_unlock(&bell->lock);
  drop_bell(bell);
}

static alarm_bell *new_bell(void)
{
  alarm_bell *bell = calloc(1, sizeof *bell);
  if (!bell) return NULL;
  bell->holders = 2;
  pthread_condattr_t monotonic;
  pthread_condattr_init(&monotonic);
  pthread_condattr_setclock(&monotonic, CLOCK_MONOTONIC);
  pthread_cond_init(&bell->rung, &monotonic);
  pthread_condattr_destroy(&monotonic);
  pthread_mutex_init(&bell->lock, NULL);
  return bell;
}

static struct timespec time_after(uint64_t nanoseconds)
{
  struct timespec moment;
  clock_gettime(CLOCK_MONOTONIC, &moment);
  /* A limit of years is none; cut it before the sum can overflow. */
  uint64_t seconds = nanoseconds / 1000000000u;
  if (seconds > 1000000000u) seconds = 1000000000u;
  moment.tv_sec += (time_t)seconds;
  moment.tv_nsec += (long)(nanoseconds % 1000000000u);
  if (moment.tv_nsec >= 1000000000) {
    moment.tv_nsec -= 1000000000;
    moment.tv_sec++;
  }
  return moment;
}

static tn_status wait_until(tn_backend_device *device, cl_event event,
                            const struct timespec *limit)
{
  alarm_bell *bell = new_bell();
  if (!bell)
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory to wait");
  cl_int code = cl_.SetEventCallback(event, CL_COMPLETE, ring_bell, bell);
  if (code) {
    bell->holders = 1;
    drop_bell(bell);
    return tn_opencl_check(code, "clSetEventCallback", device);
  }
  int result = 0;
  pthread_mutex_lock(&bell->lock);
  while (!bell->is_complete && result == 0)
    result = pthread_cond_timedwait(&bell->rung, &bell->lock, limit);
  bool complete = bell->is_complete;
  pthread_mutex_unlock(&bell->lock);
  drop_bell(bell);
  return complete ? TN_OK : TN_TIMEOUT;
}

tn_status tn_opencl_point_host_wait(tn_backend_device *device,
                                    const tn_point *point, uint64_t timeout)
{
  cl_event event = point_event(point);
  if (!event || is_complete(event)) return TN_OK;
  if (timeout == UINT64_MAX) {
    cl_int code = cl_.WaitForEvents(1, &event);
    if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) return TN_OK;
    return tn_opencl_check(code, "clWaitForEvents", device);
  }
  struct timespec limit = time_after(timeout);
  flush_event(event);
  tn_status status = is_complete(event) ? TN_OK
                                        : wait_until(device, event, &limit);
  if (status == TN_TIMEOUT)
    return tn_host->error(TN_TIMEOUT, "%s was not done after %.3f ms",
                          device->info.name, (double)timeout / 1e6);
  return status;
}

void tn_opencl_point_release(tn_backend_device *device, const tn_point *point)
{
  (void)device;
  cl_event event = point_event(point);
  if (event) cl_.ReleaseEvent(event);
}

tn_status tn_opencl_point_elapsed(tn_backend_device *device,
                                  const tn_point *start, const tn_point *end,
                                  double *milliseconds)
{
  cl_event events[2] = { point_event(start), point_event(end) };
  cl_ulong moments[2];
  for (int i = 0; i < 2; i++) {
    cl_int code = events[i] ? cl_.GetEventProfilingInfo(
                                  events[i], CL_PROFILING_COMMAND_END,
                                  sizeof moments[i], moments + i, NULL)
                            : CL_PROFILING_INFO_NOT_AVAILABLE;
    if (code)
      return tn_host->error(TN_INVALID_ARGUMENT,
                            "the %s point has no time (%s): it was recorded "
                            "without timing, or what it stands for failed",
                            i ? "end" : "start", tn_opencl_code_name(code));
  }
  *milliseconds = ((double)moments[1] - (double)moments[0]) / 1e6;
  (void)device;
  return TN_OK;
}
