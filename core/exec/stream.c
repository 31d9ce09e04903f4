#include "config.h"

#include "core/exec/stream.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/exec/finish.h"
#include "core/exec/stream_pool.h"

tn_stream *tn_stream_new(tn_device device, int priority)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  if (tn_enter(state) != TN_OK) return NULL;
  tn_stream *stream = tn_stream_pool_next(state, priority);
  tn_leave();
  return stream;
}

static tn_stream *wrap(tn_device_state *state, void *native)
{
  const tn_backend *backend = state->backend;
  if (!backend->stream.wrap) {
    tn_refuse_absent(backend, "stream.wrap");
    return NULL;
  }
  tn_backend_stream *handle = NULL;
  tn_status status = backend->stream.wrap(state->handle, native, &handle);
  if (status != TN_OK) {
    tn_plugin_error(state, status, "wrap stream");
    return NULL;
  }
  return tn_stream_pool_add(state, handle, TN_STREAM_WRAPPED);
}

tn_stream *tn_stream_wrap(tn_device device, void *native)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  if (tn_enter(state) != TN_OK) return NULL;
  tn_stream *stream = wrap(state, native);
  tn_leave();
  return stream;
}

tn_stream *tn_default_stream(tn_device device)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  tn_stream *stream = atomic_load_explicit(&state->default_stream,
                                           memory_order_acquire);
  return stream ? stream : tn_stream_default_of(state);
}

tn_stream *tn_current_stream(tn_device device)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  return tn_stream_current_of(state);
}

tn_device tn_stream_device(const tn_stream *stream)
{
  return stream ? stream->state->device : (tn_device){ -1, -1 };
}

/* Only of wrapped ones: the others are the library's. */
tn_stream *tn_stream_retain(tn_stream *stream)
{
  if (stream && stream->origin == TN_STREAM_WRAPPED)
    tn_refcount_retain(&stream->refs);
  return stream;
}

bool tn_stream_try_retain(tn_stream *stream)
{
  if (stream->origin != TN_STREAM_WRAPPED) return true;
  unsigned count = atomic_load(&stream->refs.count);
  while (count != 0)
    if (atomic_compare_exchange_weak(&stream->refs.count, &count, count + 1))
      return true;
  return false;
}

/* The plugin's queue must be idle; its memory is then free for all. */
static void end_wrapped(tn_stream *stream)
{
  tn_stream_wait_idle(stream, TN_NO_LIMIT);
  void (*release)(tn_stream *) = atomic_load(&stream->cache_release);
  if (release) release(stream);
  tn_moment_release(stream->tail);
  stream->tail = NULL;
  stream->state->backend->stream.destroy(stream->handle);
  tn_leave();
}

void tn_stream_release(tn_stream *stream)
{
  if (!stream || stream->origin != TN_STREAM_WRAPPED) return;
  if (!tn_refcount_release(&stream->refs)) return;
  tn_error_state before;
  tn_error_save(&before);
  tn_stream_pool_remove(stream);
  if (tn_enter(stream->state) == TN_OK) end_wrapped(stream);
  tn_error_restore(&before);
  pthread_mutex_destroy(&stream->lock);
  free(stream);
}
