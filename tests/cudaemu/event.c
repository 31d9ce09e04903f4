#include <stdlib.h>
#include <time.h>

#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/host.h"

struct CUevent_st {
  emu_event *next;
  emu_context *context;
  unsigned generation;
  bool is_timed;
  const emu_stream *stream; /* recorded on; NULL: never */
  uint32_t step;
  uint64_t time; /* ns */
  order_clock clock;
  emu_mark mark; /* in place of all that: recorded while something captured */
};

static emu_event *past_events; /* queued records may still name them */

CUresult emu_EventCreate(CUevent *event, unsigned flags)
{
  CUresult code = emu_enter(EMU_EventCreate, EMU_CONTEXT);
  if (code) return code;
  if (!event || flags & ~3u) /* 1: blocking waits */
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  emu_event *made = calloc(1, sizeof *made);
  if (!made) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  made->context = emu_current();
  made->generation = made->context->generation;
  made->is_timed = !(flags & TN_CU_EVENT_DISABLE_TIMING);
  made->next = emu.events;
  emu.events = *event = made;
  return emu_leave(TN_CUDA_SUCCESS);
}

static CUresult enter_event(emu_call call, int needs, CUevent handle)
{
  CUresult code = emu_enter(call, EMU_CONTEXT | needs);
  if (code) return code;
  const emu_event *event = emu.events;
  while (event && event != handle) event = event->next;
  if (!event || event->generation != event->context->generation)
    return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  CUresult lost = event->context->lost;
  return lost ? emu_leave(lost) : TN_CUDA_SUCCESS;
}

CUresult emu_EventDestroy(CUevent event)
{
  CUresult code = enter_event(EMU_EventDestroy, 0, event);
  if (code) return code;
  emu_event **link = &emu.events;
  while (*link != event) link = &(*link)->next;
  *link = event->next;
  event->next = past_events;
  past_events = event;
  return emu_leave(TN_CUDA_SUCCESS);
}

static CUresult run_record(emu_command *command)
{
  struct timespec now;
  emu_event *event = command->payload;
  clock_gettime(CLOCK_MONOTONIC, &now);
  pthread_mutex_lock(&emu.lock);
  if (event->stream == command->stream && event->step == command->step)
    event->time = (uint64_t)now.tv_sec * 1000000000u + (uint64_t)now.tv_nsec;
  pthread_mutex_unlock(&emu.lock);
  return TN_CUDA_SUCCESS;
}

CUresult emu_EventRecord(CUevent event, CUstream handle)
{
  CUresult code = enter_event(EMU_EventRecord, 0, event);
  if (code) return code;
  emu_stream *stream = emu_stream_find(handle);
  if (!stream || stream->context != event->context)
    return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  code = emu_capture_admit(stream);
  if (!code && stream->capture)
    return emu_leave(emu_capture_mark(stream, &event->mark));
  if (!code) code = emu_enqueue(stream, "a record", run_record, event, NULL);
  if (code) return emu_leave(code);
  event->mark.capture = NULL;
  event->stream = stream;
  event->step = stream->queued;
  order_clock_free(&event->clock);
  if (!order_join(&event->clock, &stream->clock))
    code = TN_CUDA_ERROR_OUT_OF_MEMORY;
  return emu_leave(code);
}

/* For what was recorded by now; of any context. */
CUresult emu_StreamWaitEvent(CUstream handle, CUevent event, unsigned flags)
{
  CUresult code = enter_event(EMU_StreamWaitEvent, 0, event);
  if (code) return code;
  emu_stream *stream = emu_stream_find(handle);
  if (!stream) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  if (flags) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  code = emu_capture_admit(stream);
  if (code) return emu_leave(code);
  if (stream->capture || event->mark.capture)
    return emu_leave(emu_capture_join(stream, &event->mark));
  if (!event->stream) return emu_leave(TN_CUDA_SUCCESS);
  return emu_leave(emu_enqueue_wait(stream, event->stream, event->step,
                                    &event->clock));
}

/* What an event that is complete has to say: it is behind a failure, or not. */
static CUresult conclude(const emu_event *event)
{
  const emu_stream *stream = event->stream;
  if (stream && stream->failed && event->step >= stream->failed)
    return emu_context_tell(event->context);
  return event->context->lost;
}

CUresult emu_EventSynchronize(CUevent event)
{
  CUresult code = enter_event(EMU_EventSynchronize, EMU_UNSAFE, event);
  if (code) return code;
  if (event->mark.capture)
    return emu_leave(emu_capture_watch_mark(&event->mark));
  if (event->stream) emu_step_wait(event->stream, event->step, &event->clock);
  return emu_leave(conclude(event));
}

CUresult emu_EventQuery(CUevent event)
{
  CUresult code = enter_event(EMU_EventQuery, EMU_UNSAFE, event);
  if (code) return code;
  if (event->mark.capture)
    return emu_leave(emu_capture_watch_mark(&event->mark));
  if (event->stream && event->stream->complete < event->step)
    return emu_leave(TN_CUDA_ERROR_NOT_READY);
  emu_host_learn(&event->clock);
  return emu_leave(conclude(event));
}

static bool is_recorded(const emu_event *event)
{
  return event->stream || event->mark.capture;
}

static bool is_done(const emu_event *event)
{
  return event->stream->complete >= event->step;
}

/* Why there is no time between them, 0: there is. */
static CUresult check_times(emu_event *start, emu_event *end)
{
  if (start->context != end->context || !start->is_timed || !end->is_timed ||
      !is_recorded(start) || !is_recorded(end))
    return TN_CUDA_ERROR_INVALID_HANDLE;
  if (start->mark.capture) return emu_capture_watch_mark(&start->mark);
  if (end->mark.capture) return emu_capture_watch_mark(&end->mark);
  if (!is_done(start) || !is_done(end)) return TN_CUDA_ERROR_NOT_READY;
  return conclude(start) ? conclude(start) : conclude(end);
}

CUresult emu_EventElapsedTime(float *milliseconds, CUevent start, CUevent end)
{
  CUresult code = enter_event(EMU_EventElapsedTime, 0, start);
  if (code) return code;
  const emu_event *found = emu.events;
  while (found && found != end) found = found->next;
  if (!found) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  if (!milliseconds) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  code = check_times(start, end);
  if (code) return emu_leave(code);
  int64_t ns = (int64_t)(end->time - start->time);
  *milliseconds = (float)((double)ns / 1e6);
  return emu_leave(TN_CUDA_SUCCESS);
}
