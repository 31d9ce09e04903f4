/* Streams, as the layers above queue work on them. */
#ifndef TN_CORE_EXEC_STREAM_H
#define TN_CORE_EXEC_STREAM_H

#include <pthread.h>

#include "core/base/refcount.h"
#include "core/base/thread.h"
#include "core/device/device_state.h"
#include "core/exec/moment.h"
#include "core/exec/presence.h"
#include "tenon/stream.h"

/* Default and pooled streams live as long as the process; wrapped ones as
 * long as there are references. */
typedef enum tn_stream_origin {
  TN_STREAM_OF_DEVICE,
  TN_STREAM_OF_POOL,
  TN_STREAM_WRAPPED
} tn_stream_origin;

struct tn_stream {
  tn_device_state *state;
  /* What copies, fills and launches are given: NULL where the backend has no
   * streams of its own. */
  tn_backend_stream *queue;
  /* All is complete when its call returns, and no lock is needed. */
  bool is_inline;
  /* All is complete when its call returns. */
  bool is_eager;
  uint8_t origin; /* tn_stream_origin */
  tn_backend_stream *handle; /* for the stream table; NULL once destroyed */
  tn_refcount refs;          /* of a wrapped one */
  tn_stream *next;           /* of the device's list; under its pool's lock */

  /* core/memory: this stream's cached blocks, and what becomes of them when a
   * wrapped stream ends. */
  _Atomic(struct tn_stream_cache *) cache;
  _Atomic(void (*)(tn_stream *)) cache_release;

  /* core/graph: while the stream is captured. */
  _Atomic(struct tn_lane *) lane;

  /* Serialises the plugin's calls and guards the rest. */
  pthread_mutex_t lock;
  tn_moment *tail;    /* the last one taken, NULL: none or known to be past */
  bool is_dirty;      /* something was queued after the tail */
  bool is_unflushed;  /* the same, since the last flush */
  bool may_have_failed; /* something ran since the last look for failures */
};

/* The device's default stream and this thread's current one. NULL with the
 * error set when the plugin cannot make it. */
tn_stream *tn_stream_default_of(tn_device_state *state);

/* This thread's streams other than default ones; few. */
typedef struct tn_current_streams {
  unsigned count;
  unsigned capacity;
  tn_stream **streams; /* referenced */
} tn_current_streams;

extern TN_HOT_THREAD_LOCAL tn_current_streams tn_current_streams_mine;

static inline tn_stream *tn_stream_current_of(tn_device_state *state)
{
  const tn_current_streams *mine = &tn_current_streams_mine;
  for (unsigned i = 0; i < mine->count; i++)
    if (mine->streams[i]->state == state) return mine->streams[i];
  tn_stream *stream = atomic_load_explicit(&state->default_stream,
                                           memory_order_acquire);
  if (__builtin_expect(stream != NULL, 1)) return stream;
  return tn_stream_default_of(state);
}

/* A reference, unless the last one is gone and the stream is about to end. */
bool tn_stream_try_retain(tn_stream *stream);

/* Takes the stream for plugin calls that queue work; the caller is inside
 * tn_enter. Never held while blocking, nor two at once. Inline streams take
 * no lock. */
static inline void tn_stream_lock(tn_stream *stream)
{
  if (stream->is_inline) return;
  pthread_mutex_lock(&stream->lock);
  stream->is_dirty = stream->is_unflushed = stream->may_have_failed = true;
}

static inline void tn_stream_unlock(tn_stream *stream)
{
  if (!stream->is_inline) pthread_mutex_unlock(&stream->lock);
}

/* TENON_LAUNCH_BLOCKING=1: every call is complete when it returns. */
bool tn_is_launch_blocking(void);

/* After work was queued with `status`: with TENON_LAUNCH_BLOCKING=1 waits for
 * it and returns its failure; otherwise returns `status`. */
tn_status tn_stream_settle(tn_stream *stream, tn_status status);

/* The present end of the queue. NULL with TN_OK if all is complete already.
 * `flags`: TN_RECORD_TIMING (then never NULL), and TN_MOMENT_FLUSH: somebody
 * is about to wait for it elsewhere. */
#define TN_MOMENT_FLUSH (1u << 31)
tn_status tn_stream_moment(tn_stream *stream, uint32_t flags,
                           tn_moment **moment);

/* Makes `waiter` wait for a moment (of any device; NULL: does nothing). The
 * moment's stream was flushed. Blocks the calling thread where the waiter
 * cannot wait by itself. */
tn_status tn_stream_wait_moment(tn_stream *waiter, tn_moment *moment);

/* Waits for all that is queued, without taking its failure; at most `timeout`
 * nanoseconds (then TN_TIMEOUT, with the error set). */
tn_status tn_stream_wait_idle(tn_stream *stream, uint64_t timeout);

/* The same for all of a device's streams but captured ones, without a limit.
 * Failures are left for others to report. */
void tn_streams_wait_idle(tn_device_state *state);

/* tn_synchronize for all but captured streams, whose captures go on. */
tn_status tn_streams_synchronize(tn_device_state *state);

/* The first failure of queued work since the last call, with its text set and
 * naming the command. */
tn_status tn_stream_take_failure(tn_stream *stream);

/* Visits a device's streams with a reference and without a lock held, until
 * `visit` fails; gives that status. */
tn_status tn_stream_visit(tn_device_state *state,
                          tn_status (*visit)(tn_stream *, void *),
                          void *argument);

/* A time limit in nanoseconds from milliseconds: below 0 counts as 0. */
tn_status tn_limit_of(double milliseconds, uint64_t *nanoseconds);

#endif
