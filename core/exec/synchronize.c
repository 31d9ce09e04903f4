/* Ends of queues, waiting for them, and the failures found there. */
#include "config.h"

#include <math.h>
#include <string.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/exec/capture.h"
#include "core/exec/stream.h"
#include "core/exec/tag.h"

/* The lock is held. */
static tn_status record(tn_stream *stream, uint32_t flags,
                        tn_moment **moment)
{
  tn_device_state *state = stream->state;
  tn_point point;
  tn_status status = state->backend->stream.record(stream->handle, flags,
                                                   &point);
  if (status != TN_OK) return tn_plugin_error(state, status, "record");
  *moment = tn_moment_new(state, &point);
  if (!*moment)
    return tn_error(TN_OUT_OF_MEMORY, "no memory for an event's moment");
  return TN_OK;
}

static tn_status flush(tn_stream *stream)
{
  tn_device_state *state = stream->state;
  if (!stream->is_unflushed) return TN_OK;
  stream->is_unflushed = false;
  if (!state->backend->stream.flush) return TN_OK;
  tn_status status = state->backend->stream.flush(stream->handle);
  if (status != TN_OK) tn_plugin_error(state, status, "flush");
  return status;
}

/* The end of a queue that is locked and not eager. Without new work it is the
 * same as before, and may be known to be past. */
static tn_status take(tn_stream *stream, uint32_t flags, tn_moment **moment)
{
  bool is_timed = flags & TN_RECORD_TIMING;
  if (stream->is_dirty || is_timed) {
    tn_moment *fresh = NULL;
    tn_status status = record(stream, flags & TN_RECORD_TIMING, &fresh);
    if (status != TN_OK) return status;
    tn_moment_release(stream->tail);
    stream->tail = fresh;
    stream->is_dirty = false;
    stream->is_unflushed = true;
  } else if (stream->tail && tn_moment_poll(stream->tail) == TN_OK) {
    tn_moment_release(stream->tail);
    stream->tail = NULL;
  }
  tn_moment_retain(stream->tail);
  *moment = stream->tail;
  return flags & TN_MOMENT_FLUSH ? flush(stream) : TN_OK;
}

tn_status tn_stream_moment(tn_stream *stream, uint32_t flags,
                           tn_moment **moment)
{
  *moment = NULL;
  if (tn_is_captured(stream)) return tn_capture_moment(stream, moment);
  if (stream->is_eager && !(flags & TN_RECORD_TIMING)) return TN_OK;
  if (stream->is_inline)
    return record(stream, flags & TN_RECORD_TIMING, moment);
  pthread_mutex_lock(&stream->lock);
  tn_status status = take(stream, flags, moment);
  pthread_mutex_unlock(&stream->lock);
  if (status != TN_OK) {
    tn_moment_release(*moment);
    *moment = NULL;
  }
  return status;
}

static tn_status report(tn_stream *stream, const tn_error_info *info)
{
  tn_device_state *state = stream->state;
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(state->device, device, sizeof device);
  if (info->status == TN_DEVICE_LOST) tn_device_lose(state);
  return tn_error(info->status, "%s: %s: %s", device, tn_tag_text(info->tag),
                  info->text[0] ? info->text
                                : tn_status_meaning(info->status));
}

tn_status tn_stream_take_failure(tn_stream *stream)
{
  if (stream->is_eager) return TN_OK;
  tn_device_state *state = stream->state;
  tn_error_info info = { .struct_size = sizeof info };
  tn_status status = TN_OK;
  pthread_mutex_lock(&stream->lock);
  if (stream->may_have_failed) {
    /* Looked at first: what still runs may fail after the look. */
    stream->may_have_failed =
        stream->is_dirty || tn_moment_poll(stream->tail) != TN_OK;
    status = state->backend->stream.take_error(stream->handle, &info);
  }
  pthread_mutex_unlock(&stream->lock);
  if (status != TN_OK) return tn_plugin_error(state, status, "failures");
  return info.status == TN_OK ? TN_OK : report(stream, &info);
}

static tn_status refuse_late(tn_stream *stream, uint64_t timeout)
{
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(stream->state->device, device, sizeof device);
  return tn_error(TN_TIMEOUT, "%s: the stream is not done after %g ms",
                  device, (double)timeout / 1e6);
}

static tn_status wait_for_point(tn_stream *stream, uint64_t timeout)
{
  tn_device_state *state = stream->state;
  const tn_backend_stream_table *calls = &state->backend->stream;
  tn_point point;
  pthread_mutex_lock(&stream->lock);
  tn_status status = calls->record(stream->handle, 0, &point);
  bool has_point = status == TN_OK;
  stream->is_unflushed |= has_point;
  if (has_point) status = flush(stream);
  pthread_mutex_unlock(&stream->lock);
  if (status == TN_OK)
    status = calls->host_wait(state->handle, &point, timeout);
  if (has_point) calls->point_release(state->handle, &point);
  return status;
}

/* Without memory for a moment: whoever gives memory back relies on having
 * waited. If that fails too, the error of the first try stays. */
static tn_status wait_without_moment(tn_stream *stream, uint64_t timeout,
                                     const tn_error_state *before)
{
  tn_status status = wait_for_point(stream, timeout);
  if (status == TN_OK) tn_error_restore(before);
  return status == TN_OK || status == TN_TIMEOUT ? status : TN_OUT_OF_MEMORY;
}

/* A stream that another thread captures meanwhile was idle when that began, and
 * its capture is not to be spoilt. */
static tn_status wait_idle(tn_stream *stream, uint64_t timeout)
{
  tn_moment *moment;
  tn_error_state before;
  tn_error_save(&before);
  tn_status status = tn_stream_moment(stream, TN_MOMENT_FLUSH, &moment);
  if (status == TN_OK && !(moment && moment->mark))
    status = tn_moment_wait(moment, timeout);
  else if (status == TN_OUT_OF_MEMORY && !tn_is_captured(stream))
    status = wait_without_moment(stream, timeout, &before);
  tn_moment_release(moment);
  return status == TN_TIMEOUT ? refuse_late(stream, timeout) : status;
}

tn_status tn_stream_wait_idle(tn_stream *stream, uint64_t timeout)
{
  if (tn_is_captured(stream))
    return tn_capture_refuse(stream, "wait of the host (synchronising, "
                             "reading)");
  return wait_idle(stream, timeout);
}

/* Waits and reports: what a synchronising call does. */
static tn_status synchronize(tn_stream *stream, uint64_t timeout)
{
  tn_status status = tn_stream_wait_idle(stream, timeout);
  return status == TN_OK ? tn_stream_take_failure(stream) : status;
}

bool tn_is_launch_blocking(void)
{
  enum { UNREAD, OFF, ON };
  static atomic_int state = UNREAD;
  int now = atomic_load_explicit(&state, memory_order_relaxed);
  if (now == UNREAD) {
    now = tn_environment_is_on("TENON_LAUNCH_BLOCKING") ? ON : OFF;
    atomic_store_explicit(&state, now, memory_order_relaxed);
  }
  return now == ON;
}

tn_status tn_stream_settle(tn_stream *stream, tn_status status)
{
  if (status != TN_OK || stream->is_eager || !tn_is_launch_blocking() ||
      tn_is_captured(stream))
    return status;
  return synchronize(stream, TN_NO_LIMIT);
}

tn_status tn_limit_of(double milliseconds, uint64_t *nanoseconds)
{
  *nanoseconds = 0;
  if (isnan(milliseconds))
    return tn_error(TN_INVALID_ARGUMENT, "time limit is not a number");
  double limit = milliseconds * 1e6;
  *nanoseconds = limit <= 0 ? 0 : limit < 0x1p63 ? (uint64_t)limit
                                                 : TN_NO_LIMIT;
  return TN_OK;
}

static tn_status synchronize_within(tn_stream *stream, uint64_t timeout)
{
  if (!stream) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = synchronize(stream, timeout);
  tn_leave();
  return status;
}

tn_status tn_stream_synchronize(tn_stream *stream)
{
  return synchronize_within(stream, TN_NO_LIMIT);
}

tn_status tn_stream_synchronize_for(tn_stream *stream, double ms)
{
  uint64_t timeout;
  tn_status status = tn_limit_of(ms, &timeout);
  return status == TN_OK ? synchronize_within(stream, timeout) : status;
}

static tn_status query(tn_stream *stream)
{
  tn_moment *moment;
  if (tn_is_captured(stream)) return tn_capture_refuse(stream, "stream query");
  tn_status status = tn_stream_moment(stream, TN_MOMENT_FLUSH, &moment);
  if (status != TN_OK) return status;
  status = tn_moment_query(moment);
  tn_moment_release(moment);
  return status == TN_OK ? tn_stream_take_failure(stream) : status;
}

tn_status tn_stream_query(tn_stream *stream)
{
  if (!stream) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = query(stream);
  tn_leave();
  return status;
}

static tn_status flush_one(tn_stream *stream, void *argument)
{
  (void)argument;
  tn_moment *moment;
  tn_status status = tn_stream_moment(stream, TN_MOMENT_FLUSH, &moment);
  tn_moment_release(moment);
  return status;
}

static tn_status wait_one(tn_stream *stream, void *argument)
{
  (void)argument;
  return tn_stream_wait_idle(stream, TN_NO_LIMIT);
}

static tn_status take_one(tn_stream *stream, void *argument)
{
  (void)argument;
  return tn_stream_take_failure(stream);
}

/* The status, if it is not of a capture that began since it was looked for. */
static tn_status without_capture(tn_status status,
                                 const tn_error_state *before)
{
  if (status != TN_CAPTURE_VIOLATION) return status;
  tn_error_restore(before);
  return TN_OK;
}

static tn_status flush_uncaptured(tn_stream *stream, void *argument)
{
  tn_error_state before;
  if (tn_is_captured(stream)) return TN_OK;
  tn_error_save(&before);
  return without_capture(flush_one(stream, argument), &before);
}

static tn_status wait_uncaptured(tn_stream *stream, void *argument)
{
  tn_error_state before;
  (void)argument;
  if (tn_is_captured(stream)) return TN_OK;
  tn_error_save(&before);
  return without_capture(wait_idle(stream, TN_NO_LIMIT), &before);
}

static tn_status wait_one_quietly(tn_stream *stream, void *argument)
{
  wait_uncaptured(stream, argument);
  return TN_OK;
}

void tn_streams_wait_idle(tn_device_state *state)
{
  tn_stream_visit(state, flush_one, NULL);
  tn_stream_visit(state, wait_one_quietly, NULL);
}

/* Flushes all before waiting for one, as one may need another. */
static tn_status synchronize_device(tn_device_state *state)
{
  tn_status status = tn_stream_visit(state, flush_one, NULL);
  if (status == TN_OK) status = tn_stream_visit(state, wait_one, NULL);
  if (status == TN_OK) status = tn_stream_visit(state, take_one, NULL);
  return status;
}

tn_status tn_streams_synchronize(tn_device_state *state)
{
  tn_status status = tn_stream_visit(state, flush_uncaptured, NULL);
  if (status == TN_OK) status = tn_stream_visit(state, wait_uncaptured, NULL);
  if (status == TN_OK) status = tn_stream_visit(state, take_one, NULL);
  return status;
}

tn_status tn_synchronize(tn_device device)
{
  tn_device_state *state;
  tn_status status = tn_device_acquire(device, &state);
  if (status == TN_OK) status = tn_enter(state);
  if (status != TN_OK) return status;
  status = synchronize_device(state);
  tn_leave();
  return status;
}
