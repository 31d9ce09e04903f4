/* Waits of streams for streams and events, of any two devices, and host
 * functions. */
#include "config.h"

#include "core/base/error.h"
#include "core/exec/capture.h"
#include "core/exec/event.h"
#include "core/exec/stream.h"
#include "core/exec/tag.h"

static tn_status wait_in_queue(tn_stream *waiter, tn_moment *moment)
{
  tn_device_state *state = waiter->state;
  tn_stream_lock(waiter);
  tn_status status = state->backend->stream.wait(waiter->handle,
                                                 &moment->point, 1);
  tn_stream_unlock(waiter);
  if (status != TN_OK) tn_plugin_error(state, status, "wait in a stream");
  return status;
}

/* Runs on a thread of the waiter's backend. A device that is lost holds up
 * nobody. */
static void wait_for_other(void *argument)
{
  tn_error_state before;
  tn_error_save(&before);
  tn_moment_wait(argument, TN_NO_LIMIT);
  tn_moment_release(argument);
  tn_error_restore(&before);
}

/* Queues a host function; `argument` is the function's only if it will run. */
static tn_status queue_function(tn_stream *stream, void (*function)(void *),
                                void *argument, tn_tag tag)
{
  tn_device_state *state = stream->state;
  tn_stream_lock(stream);
  tn_status status = state->backend->stream.host_function(
      stream->handle, function, argument, tag);
  tn_stream_unlock(stream);
  if (status != TN_OK) tn_plugin_error(state, status, "host function");
  return status;
}

static tn_status wait_across(tn_stream *waiter, tn_moment *moment)
{
  tn_moment_retain(moment);
  tn_status status = queue_function(waiter, wait_for_other, moment,
                                    TN_TAG_OTHER_DEVICE);
  if (status != TN_OK) tn_moment_release(moment);
  return status;
}

tn_status tn_stream_wait_moment(tn_stream *waiter, tn_moment *moment)
{
  tn_status past = tn_moment_query(moment);
  if (past != TN_NOT_READY) return past;
  if (moment->mark || tn_is_captured(waiter))
    return tn_capture_wait(waiter, moment);
  const tn_backend *backend = waiter->state->backend;
  if (waiter->is_eager) return tn_moment_wait(moment, TN_NO_LIMIT);
  if (moment->state->backend == backend) return wait_in_queue(waiter, moment);
  if (backend->stream.host_function) return wait_across(waiter, moment);
  return tn_moment_wait(moment, TN_NO_LIMIT);
}

tn_status tn_stream_wait_stream(tn_stream *waiter, tn_stream *other)
{
  if (!waiter || !other) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  tn_status status = tn_enter(waiter->state);
  if (status != TN_OK) return status;
  tn_moment *moment = NULL;
  if (waiter != other) {
    status = tn_enter(other->state);
    if (status == TN_OK) {
      status = tn_stream_moment(other, TN_MOMENT_FLUSH, &moment);
      tn_leave();
    }
  }
  if (status == TN_OK) status = tn_stream_wait_moment(waiter, moment);
  tn_moment_release(moment);
  tn_leave();
  return status;
}

tn_status tn_stream_wait_event(tn_stream *stream, tn_event *event)
{
  if (!stream || !event)
    return tn_error(TN_INVALID_ARGUMENT, "%s is NULL",
                    stream ? "event" : "stream");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  tn_moment *moment = tn_event_moment(event);
  status = tn_stream_wait_moment(stream, moment);
  tn_moment_release(moment);
  tn_leave();
  return status;
}

static tn_status call(tn_stream *stream, void (*function)(void *),
                      void *argument)
{
  if (tn_is_captured(stream))
    return tn_capture_function(stream, function, argument);
  if (!stream->is_eager && stream->state->backend->stream.host_function) {
    tn_status status = queue_function(stream, function, argument,
                                      TN_TAG_HOST_FUNCTION);
    return tn_stream_settle(stream, status);
  }
  tn_status status = tn_stream_wait_idle(stream, TN_NO_LIMIT);
  if (status == TN_OK) function(argument);
  return status;
}

tn_status tn_stream_call(tn_stream *stream, void (*function)(void *),
                         void *argument)
{
  if (!stream || !function)
    return tn_error(TN_INVALID_ARGUMENT, "%s is NULL",
                    stream ? "function" : "stream");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = call(stream, function, argument);
  tn_leave();
  return status;
}
