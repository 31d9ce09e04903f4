/* This thread's current streams, and the guard around a change. */
#include "config.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/exec/stream.h"

TN_HOT_THREAD_LOCAL tn_current_streams tn_current_streams_mine;

static pthread_key_t key;
static bool has_key;

static void release_all(void *argument)
{
  tn_current_streams *mine = argument;
  for (unsigned i = 0; i < mine->count; i++)
    tn_stream_release(mine->streams[i]);
  free(mine->streams);
  *mine = (tn_current_streams){ 0 };
}

static void start(void)
{
  has_key = pthread_key_create(&key, release_all) == 0;
}

static bool grow(tn_current_streams *mine)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  unsigned capacity = mine->capacity ? 2 * mine->capacity : 4;
  tn_stream **larger = has_key && pthread_setspecific(key, mine) == 0
      ? realloc(mine->streams, capacity * sizeof *larger) : NULL;
  if (!larger) return false;
  mine->streams = larger;
  mine->capacity = capacity;
  return true;
}

/* Default streams are what a device has without an entry. */
static void forget(tn_current_streams *mine, unsigned i)
{
  tn_stream *stream = mine->streams[i];
  mine->streams[i] = mine->streams[--mine->count];
  tn_stream_release(stream);
}

static tn_status set(tn_stream *stream)
{
  tn_current_streams *mine = &tn_current_streams_mine;
  unsigned i = 0;
  while (i < mine->count && mine->streams[i]->state != stream->state) i++;
  if (stream->origin == TN_STREAM_OF_DEVICE) {
    if (i < mine->count) forget(mine, i);
    return TN_OK;
  }
  if (i == mine->count) {
    if (i == mine->capacity && !grow(mine))
      return tn_error(TN_OUT_OF_MEMORY, "no memory for a current stream");
    mine->streams[mine->count++] = tn_stream_retain(stream);
    return TN_OK;
  }
  tn_stream *old = mine->streams[i];
  mine->streams[i] = tn_stream_retain(stream);
  tn_stream_release(old);
  return TN_OK;
}

tn_status tn_set_stream(tn_stream *stream)
{
  if (!stream) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  return set(stream);
}

tn_stream_guard tn_stream_push(tn_stream *stream)
{
  tn_stream_guard guard = { 0 };
  if (!stream) {
    tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
    return guard;
  }
  guard.device = tn_device_push(stream->state->device);
  if (!guard.device.active) return guard;
  guard.saved = tn_stream_retain(tn_stream_current_of(stream->state));
  if (!guard.saved || set(stream) != TN_OK) {
    tn_stream_release(guard.saved);
    guard.saved = NULL;
    tn_device_pop(&guard.device);
    return guard;
  }
  guard.active = 1;
  return guard;
}

void tn_stream_pop(tn_stream_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  set(guard->saved); /* cannot fail: the entry is there, or is given up */
  tn_stream_release(guard->saved);
  guard->saved = NULL;
  tn_device_pop(&guard->device);
}
