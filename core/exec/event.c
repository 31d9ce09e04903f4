#include "config.h"

#include "core/exec/event.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/exec/stream.h"

struct tn_event {
  tn_refcount refs;
  unsigned flags;
  atomic_bool is_complete; /* of the last record; true without one */
  pthread_mutex_t lock;    /* guards the rest */
  bool is_recorded;
  tn_device device;  /* of the last record */
  tn_moment *moment; /* NULL: past, unless timed */
  /* For failures and for flushing; NULL for wrapped streams, which may end
   * before the event. */
  tn_stream *stream;
  bool is_flushed;
};

tn_event *tn_event_new(unsigned flags)
{
  if (tn_is_shut_down()) {
    tn_refuse_shut_down();
    return NULL;
  }
  if (flags & ~TN_EVENT_TIMING) {
    tn_error(TN_INVALID_ARGUMENT, "event flags 0x%x: only TN_EVENT_TIMING "
             "(0x%x) is known", flags, TN_EVENT_TIMING);
    return NULL;
  }
  tn_event *event = calloc(1, sizeof *event);
  if (!event) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for an event");
    return NULL;
  }
  tn_refcount_init(&event->refs);
  event->flags = flags;
  atomic_init(&event->is_complete, true);
  pthread_mutex_init(&event->lock, NULL);
  event->device = (tn_device){ -1, -1 };
  return event;
}

tn_event *tn_event_retain(tn_event *event)
{
  if (event) tn_refcount_retain(&event->refs);
  return event;
}

void tn_event_release(tn_event *event)
{
  if (!event || !tn_refcount_release(&event->refs)) return;
  tn_moment_release(event->moment);
  pthread_mutex_destroy(&event->lock);
  free(event);
}

/* Takes over the moment. Returns the former one. */
static tn_moment *set(tn_event *event, tn_stream *stream, tn_moment *moment)
{
  bool is_wrapped = stream->origin == TN_STREAM_WRAPPED;
  pthread_mutex_lock(&event->lock);
  tn_moment *old = event->moment;
  event->moment = moment;
  event->is_recorded = true;
  event->device = stream->state->device;
  event->stream = is_wrapped ? NULL : stream;
  event->is_flushed = is_wrapped;
  atomic_store_explicit(&event->is_complete, !moment || stream->is_eager,
                        memory_order_release);
  pthread_mutex_unlock(&event->lock);
  return old;
}

static tn_status record(tn_event *event, tn_stream *stream)
{
  uint32_t flags = 0;
  if (event->flags & TN_EVENT_TIMING) flags |= TN_RECORD_TIMING;
  if (stream->origin == TN_STREAM_WRAPPED) flags |= TN_MOMENT_FLUSH;
  tn_moment *moment;
  tn_status status = tn_stream_moment(stream, flags, &moment);
  if (status != TN_OK) return status;
  tn_moment_release(set(event, stream, moment));
  return TN_OK;
}

static tn_status refuse_null(void)
{
  return tn_error(TN_INVALID_ARGUMENT, "event is NULL");
}

tn_status tn_event_record(tn_event *event, tn_stream *stream)
{
  if (!event) return refuse_null();
  if (!stream) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = record(event, stream);
  tn_leave();
  return status;
}

tn_device tn_event_device(const tn_event *event)
{
  if (!event) return (tn_device){ -1, -1 };
  /* The lock is no part of the value. */
  pthread_mutex_t *lock = (pthread_mutex_t *)(uintptr_t)&event->lock;
  pthread_mutex_lock(lock);
  tn_device device = event->device;
  pthread_mutex_unlock(lock);
  return device;
}

static bool is_complete(tn_event *event)
{
  return atomic_load_explicit(&event->is_complete, memory_order_acquire);
}

/* The moment with a reference, and the stream to be flushed for it. */
static tn_moment *look(tn_event *event, tn_stream **stream)
{
  pthread_mutex_lock(&event->lock);
  tn_moment *moment = event->moment;
  tn_moment_retain(moment);
  *stream = event->stream;
  pthread_mutex_unlock(&event->lock);
  return moment;
}

/* The event is complete if it still means this moment. */
static void note_complete(tn_event *event, const tn_moment *moment)
{
  pthread_mutex_lock(&event->lock);
  if (event->moment == moment)
    atomic_store_explicit(&event->is_complete, true, memory_order_release);
  pthread_mutex_unlock(&event->lock);
}

static void flush(tn_event *event, tn_stream *stream)
{
  pthread_mutex_lock(&event->lock);
  bool needed = stream && event->stream == stream && !event->is_flushed;
  if (needed) event->is_flushed = true;
  pthread_mutex_unlock(&event->lock);
  if (!needed) return;
  tn_moment *moment;
  tn_stream_moment(stream, TN_MOMENT_FLUSH, &moment);
  tn_moment_release(moment);
}

tn_moment *tn_event_moment(tn_event *event)
{
  if (is_complete(event)) return NULL;
  tn_stream *stream;
  tn_moment *moment = look(event, &stream);
  flush(event, stream);
  return moment;
}

/* What both ways of asking end with. */
static tn_status conclude(tn_event *event, tn_moment *moment,
                          tn_stream *stream, tn_status status)
{
  if (status == TN_OK) note_complete(event, moment);
  tn_moment_release(moment);
  if (status != TN_OK || !stream) return status;
  return tn_stream_take_failure(stream);
}

static tn_status query(tn_event *event)
{
  tn_stream *stream;
  tn_moment *moment = look(event, &stream);
  tn_status status = tn_moment_query(moment);
  if (status == TN_NOT_READY && moment->mark)
    status = tn_error(TN_CAPTURE_VIOLATION, "event query: the event was "
                      "recorded in a capture that goes on");
  if (status == TN_NOT_READY) flush(event, stream);
  if (status != TN_OK) stream = NULL;
  return conclude(event, moment, stream, status);
}

static tn_status wait_within(tn_event *event, uint64_t timeout)
{
  tn_stream *stream;
  tn_moment *moment = look(event, &stream);
  flush(event, stream);
  tn_status status = tn_moment_wait(moment, timeout);
  if (status == TN_TIMEOUT)
    tn_error(status, "the event is not complete after %g ms",
             (double)timeout / 1e6);
  return conclude(event, moment, stream, status);
}

/* The device to enter the library for; none while the event is complete. */
static tn_status enter(tn_event *event, bool *inside)
{
  *inside = false;
  if (is_complete(event)) return TN_OK;
  tn_stream *stream;
  tn_moment *moment = look(event, &stream);
  tn_status status = moment ? tn_enter(moment->state) : TN_OK;
  *inside = moment && status == TN_OK;
  tn_moment_release(moment);
  return status;
}

tn_status tn_event_query(tn_event *event)
{
  if (!event) return refuse_null();
  bool inside;
  tn_status status = enter(event, &inside);
  if (!inside) return status;
  status = query(event);
  tn_leave();
  return status;
}

static tn_status synchronize_within(tn_event *event, uint64_t timeout)
{
  if (!event) return refuse_null();
  bool inside;
  tn_status status = enter(event, &inside);
  if (!inside) return status;
  status = wait_within(event, timeout);
  tn_leave();
  return status;
}

tn_status tn_event_synchronize(tn_event *event)
{
  return synchronize_within(event, TN_NO_LIMIT);
}

tn_status tn_event_synchronize_for(tn_event *event, double ms)
{
  uint64_t timeout;
  tn_status status = tn_limit_of(ms, &timeout);
  return status == TN_OK ? synchronize_within(event, timeout) : status;
}

/* A timed, recorded event's moment, with a reference. */
static tn_status look_timed(tn_event *event, const char *which,
                            tn_moment **moment)
{
  tn_stream *stream;
  *moment = look(event, &stream);
  if (*moment) return TN_OK;
  return tn_error(TN_INVALID_ARGUMENT, "%s event was never recorded", which);
}

static tn_status refuse_devices(tn_device_state *start, tn_device_state *end)
{
  char first[TN_DEVICE_TEXT_SIZE], last[TN_DEVICE_TEXT_SIZE];
  tn_device_format(start->device, first, sizeof first);
  tn_device_format(end->device, last, sizeof last);
  return tn_error(TN_DEVICE_MISMATCH, "no elapsed time between events on %s "
                  "and %s: it is of one device", first, last);
}

static tn_status measure(tn_moment *start, tn_moment *end, float *ms)
{
  tn_device_state *state = start->state;
  if (end->state != state)
    return refuse_devices(state, end->state);
  tn_status status = tn_moment_query(start);
  if (status == TN_OK) status = tn_moment_query(end);
  if (status == TN_NOT_READY)
    return tn_error(status, "the events are not both complete");
  if (status != TN_OK) return status;
  if (start->mark || end->mark)
    return tn_error(TN_INVALID_ARGUMENT, "no elapsed time: the %s event was "
                    "recorded in a capture, which is no moment",
                    start->mark ? "start" : "end");
  if (!state->backend->stream.elapsed)
    return tn_refuse_absent(state->backend, "stream.elapsed");
  double elapsed;
  status = state->backend->stream.elapsed(state->handle, &start->point,
                                          &end->point, &elapsed);
  if (status != TN_OK) return tn_plugin_error(state, status, "elapsed time");
  *ms = (float)elapsed;
  return TN_OK;
}

static tn_status elapsed(tn_event *start, tn_event *end, float *ms)
{
  tn_moment *first = NULL, *last = NULL;
  tn_status status = look_timed(start, "start", &first);
  if (status == TN_OK) status = look_timed(end, "end", &last);
  if (status == TN_OK) status = tn_enter(first->state);
  if (status == TN_OK) {
    status = measure(first, last, ms);
    tn_leave();
  }
  tn_moment_release(first);
  tn_moment_release(last);
  return status;
}

tn_status tn_event_elapsed(tn_event *start, tn_event *end, float *ms)
{
  if (!start || !end) return refuse_null();
  if (!ms) return tn_error(TN_INVALID_ARGUMENT, "ms is NULL");
  if (!(start->flags & end->flags & TN_EVENT_TIMING))
    return tn_error(TN_INVALID_ARGUMENT, "%s event has no timing: make it "
                    "with TN_EVENT_TIMING",
                    start->flags & TN_EVENT_TIMING ? "end" : "start");
  return elapsed(start, end, ms);
}
