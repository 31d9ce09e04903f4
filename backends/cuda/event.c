/* Points. The first word is an event, or 0 when nothing is to be waited for;
 * the second keeps the point from being {0, 0}. */
#include "config.h"

#include <stdlib.h>
#include <time.h>

#include "backends/cuda/stream.h"

static tn_cuda_event *point_event(const tn_point *point)
{
  return (tn_cuda_event *)(uintptr_t)point->word[0];
}

static void set_point(tn_point *point, tn_cuda_event *event, bool is_timed)
{
  point->word[0] = (uint64_t)(uintptr_t)event;
  point->word[1] = is_timed ? 2 : 1;
}

static bool is_timed(const tn_point *point) { return point->word[1] == 2; }

static tn_cuda_event *take_spare(tn_backend_device *device, bool timed)
{
  pthread_mutex_lock(&device->lock);
  tn_cuda_event *event = device->spare_events[timed];
  if (event) device->spare_events[timed] = event->next;
  pthread_mutex_unlock(&device->lock);
  return event;
}

static void give_spare(tn_backend_device *device, tn_cuda_event *event,
                       bool timed)
{
  pthread_mutex_lock(&device->lock);
  event->next = device->spare_events[timed];
  device->spare_events[timed] = event;
  pthread_mutex_unlock(&device->lock);
}

void tn_cuda_events_free(tn_backend_device *device)
{
  for (int timed = 0; timed < 2; timed++)
    for (tn_cuda_event *event; (event = take_spare(device, timed)) != NULL;) {
      cu_.EventDestroy(event->handle);
      free(event);
    }
}

/* With the device's context current. */
static tn_status take_event(tn_backend_device *device, bool timed,
                            tn_cuda_event **taken)
{
  tn_cuda_event *event = take_spare(device, timed);
  if (!event) {
    event = calloc(1, sizeof *event);
    if (!event)
      return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for a point");
    CUresult code =
        cu_.EventCreate(&event->handle, timed ? TN_CU_EVENT_DEFAULT
                                              : TN_CU_EVENT_DISABLE_TIMING);
    if (code) {
      free(event);
      return tn_cuda_check(code, "cuEventCreate", device);
    }
  }
  *taken = event;
  return TN_OK;
}

static tn_status record_event(tn_backend_stream *stream, bool timed,
                              tn_point *point)
{
  tn_backend_device *device = stream->device;
  tn_cuda_event *event = NULL;
  tn_status status = take_event(device, timed, &event);
  if (status) return status;
  CUresult code = cu_.EventRecord(event->handle, stream->handle);
  if (code) {
    give_spare(device, event, timed);
    return tn_cuda_check(code, "cuEventRecord", device);
  }
  event->trail = stream->trail;
  event->reach = __atomic_load_n(&stream->trail->queued, __ATOMIC_RELAXED);
  set_point(point, event, timed);
  return TN_OK;
}

/* On a lost device all is complete; take_error says what happened. */
tn_status tn_cuda_point_record(tn_backend_stream *stream, uint32_t flags,
                               tn_point *point)
{
  if (flags & ~TN_RECORD_TIMING)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "record flags 0x%x: only 0x%x is known", flags,
                          TN_RECORD_TIMING);
  tn_backend_device *device = stream->device;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  tn_status status = code ? tn_cuda_check(code, "binding the context", device)
                          : record_event(stream, flags != 0, point);
  tn_cuda_leave(device, former);
  if (status != TN_DEVICE_LOST) return status;
  set_point(point, NULL, false);
  return TN_OK;
}

tn_status tn_cuda_point_wait(tn_backend_stream *stream,
                             const tn_point *points, size_t count)
{
  tn_backend_device *device = stream->device;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  for (size_t i = 0; i < count && !code; i++) {
    tn_cuda_event *event = point_event(points + i);
    if (event)
      code = cu_.StreamWaitEvent(stream->handle, event->handle, 0);
  }
  tn_cuda_leave(device, former);
  return tn_cuda_check(code, "cuStreamWaitEvent", device);
}

/* What the driver says of an event, as a status. What is behind a failure is
 * complete, and the failure is kept for take_error. */
static tn_status conclude(tn_backend_device *device, tn_cuda_event *event,
                          CUresult code, const char *call)
{
  if (code == TN_CUDA_SUCCESS) {
    tn_cuda_trail_reach(event->trail, event->reach);
    return TN_OK;
  }
  if ((int)code == TN_CUDA_ERROR_NOT_READY) return TN_NOT_READY;
  if (!tn_cuda_is_sticky(code)) return tn_cuda_check(code, call, device);
  tn_cuda_fail(device, code);
  return TN_OK;
}

static tn_status ask_event(tn_backend_device *device, tn_cuda_event *event,
                           CUresult (*call)(CUevent), const char *name)
{
  if (tn_cuda_is_lost(device)) return TN_OK;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = call(event->handle);
  tn_cuda_leave(device, former);
  return conclude(device, event, code, name);
}

tn_status tn_cuda_point_query(tn_backend_device *device,
                              const tn_point *point)
{
  tn_cuda_event *event = point_event(point);
  return event ? ask_event(device, event, cu_.EventQuery, "cuEventQuery")
               : TN_OK;
}

static uint64_t now_ns(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
}

/* The driver has no wait with a limit: asked again after a pause that grows
 * with the time already waited, from 1 us to 1 ms. */
static tn_status poll_event(tn_backend_device *device, tn_cuda_event *event,
                            uint64_t timeout)
{
  uint64_t start = now_ns(), waited = 0;
  for (;;) {
    tn_status status = ask_event(device, event, cu_.EventQuery,
                                 "cuEventQuery");
    if (status != TN_NOT_READY) return status;
    waited = now_ns() - start;
    if (waited >= timeout) break;
    uint64_t pause = waited / 8, rest = timeout - waited;
    if (pause < 1000) pause = 1000;
    if (pause > 1000000) pause = 1000000;
    if (pause > rest) pause = rest;
    struct timespec time = { .tv_nsec = (long)pause };
    nanosleep(&time, NULL);
  }
  return tn_host->error(TN_TIMEOUT, "%s was not done after %.3f ms",
                        device->info.name, (double)timeout / 1e6);
}

tn_status tn_cuda_point_host_wait(tn_backend_device *device,
                                  const tn_point *point, uint64_t timeout)
{
  tn_cuda_event *event = point_event(point);
  if (!event) return TN_OK;
  if (timeout != UINT64_MAX) return poll_event(device, event, timeout);
  return ask_event(device, event, cu_.EventSynchronize,
                   "cuEventSynchronize");
}

/* The driver took note of every wait when it was queued, so the event may be
 * recorded anew while others still wait for this point. */
void tn_cuda_point_release(tn_backend_device *device, const tn_point *point)
{
  tn_cuda_event *event = point_event(point);
  if (event) give_spare(device, event, is_timed(point));
}

tn_status tn_cuda_point_elapsed(tn_backend_device *device,
                                const tn_point *start, const tn_point *end,
                                double *milliseconds)
{
  const tn_point *points[] = { start, end };
  for (int i = 0; i < 2; i++)
    if (!point_event(points[i]) || !is_timed(points[i]))
      return tn_host->error(TN_INVALID_ARGUMENT,
                            "the %s point has no time: it was recorded "
                            "without timing, or on a lost device",
                            i ? "end" : "start");
  float elapsed = 0;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code)
    code = cu_.EventElapsedTime(&elapsed, point_event(start)->handle,
                                point_event(end)->handle);
  tn_cuda_leave(device, former);
  if (code) return tn_cuda_check(code, "cuEventElapsedTime", device);
  *milliseconds = (double)elapsed;
  return TN_OK;
}
