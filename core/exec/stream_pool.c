#include "config.h"

#include "core/exec/stream_pool.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/exec/finish.h"

/* Guards all pools: streams are made seldom. */
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;

static tn_stream_pool *pool_of(tn_device_state *state)
{
  tn_stream_pool *pool = atomic_load_explicit(&state->streams,
                                              memory_order_relaxed);
  if (pool) return pool;
  pool = calloc(1, sizeof *pool);
  if (!pool) tn_error(TN_OUT_OF_MEMORY, "no memory for streams");
  atomic_store_explicit(&state->streams, pool, memory_order_release);
  return pool;
}

/* The lock is held. */
static tn_stream *add(tn_device_state *state, tn_backend_stream *handle,
                      tn_stream_origin origin)
{
  const tn_backend *backend = state->backend;
  tn_stream_pool *pool = pool_of(state);
  tn_stream *stream = pool ? calloc(1, sizeof *stream) : NULL;
  if (!stream) {
    backend->stream.destroy(handle);
    tn_error(TN_OUT_OF_MEMORY, "no memory for a stream");
    return NULL;
  }
  stream->state = state;
  stream->handle = handle;
  stream->queue = backend->has_stream ? handle : NULL;
  stream->is_inline = backend->has_stream &&
                      origin == TN_STREAM_OF_DEVICE &&
                      state->info.capabilities & TN_CAP_INLINE_DEFAULT;
  stream->is_eager = stream->is_inline || !backend->has_stream;
  stream->origin = origin;
  tn_refcount_init(&stream->refs);
  pthread_mutex_init(&stream->lock, NULL);
  stream->next = pool->all;
  pool->all = stream;
  return stream;
}

static tn_stream *create(tn_device_state *state, uint32_t flags, int priority,
                         tn_stream_origin origin)
{
  const tn_stream_desc desc = { sizeof desc, flags, priority };
  tn_backend_stream *handle = NULL;
  tn_status status = state->backend->stream.create(state->handle, &desc,
                                                   &handle);
  if (status != TN_OK) {
    tn_plugin_error(state, status, "new stream");
    return NULL;
  }
  return add(state, handle, origin);
}

tn_stream *tn_stream_pool_add(tn_device_state *state,
                              tn_backend_stream *handle,
                              tn_stream_origin origin)
{
  tn_exec_arm();
  pthread_mutex_lock(&lock);
  tn_stream *stream = add(state, handle, origin);
  pthread_mutex_unlock(&lock);
  return stream;
}

tn_stream *tn_stream_default_of(tn_device_state *state)
{
  tn_exec_arm();
  pthread_mutex_lock(&lock);
  tn_stream *stream = atomic_load(&state->default_stream);
  if (!stream) {
    stream = create(state, TN_STREAM_DEFAULT, 0, TN_STREAM_OF_DEVICE);
    atomic_store_explicit(&state->default_stream, stream,
                          memory_order_release);
  }
  pthread_mutex_unlock(&lock);
  return stream;
}

tn_stream *tn_stream_pool_next(tn_device_state *state, int priority)
{
  tn_exec_arm();
  int row = priority < 0 ? 1 : 0;
  tn_stream *stream = NULL;
  pthread_mutex_lock(&lock);
  tn_stream_pool *pool = pool_of(state);
  if (pool) {
    tn_stream **place = &pool->pooled[row][pool->next[row]];
    if (!*place) *place = create(state, 0, -row, TN_STREAM_OF_POOL);
    stream = *place;
    if (stream) pool->next[row] = (pool->next[row] + 1) % TN_POOL_STREAMS;
  }
  pthread_mutex_unlock(&lock);
  return stream;
}

void tn_stream_pool_remove(tn_stream *stream)
{
  pthread_mutex_lock(&lock);
  tn_stream_pool *pool = atomic_load(&stream->state->streams);
  tn_stream **link = &pool->all;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  pthread_mutex_unlock(&lock);
}

/* The first of the list, or the one after `stream`, with a reference. */
static tn_stream *step(tn_device_state *state, tn_stream *stream)
{
  pthread_mutex_lock(&lock);
  tn_stream_pool *pool = atomic_load(&state->streams);
  tn_stream *next = stream ? stream->next : pool ? pool->all : NULL;
  while (next && !tn_stream_try_retain(next)) next = next->next;
  pthread_mutex_unlock(&lock);
  return next;
}

tn_status tn_stream_visit(tn_device_state *state,
                          tn_status (*visit)(tn_stream *, void *),
                          void *argument)
{
  tn_status status = TN_OK;
  tn_stream *stream = step(state, NULL);
  while (stream) {
    if (status == TN_OK) status = visit(stream, argument);
    /* Held until its successor is: a stream that is referenced stays in the
     * list. */
    tn_stream *next = status == TN_OK ? step(state, stream) : NULL;
    tn_stream_release(stream);
    stream = next;
  }
  return status;
}

void tn_stream_pool_destroy(tn_device_state *state)
{
  pthread_mutex_lock(&lock);
  tn_stream_pool *pool = atomic_load(&state->streams);
  for (tn_stream *s = pool ? pool->all : NULL; s; s = s->next) {
    pthread_mutex_lock(&s->lock);
    tn_moment_release(s->tail);
    s->tail = NULL;
    state->backend->stream.destroy(s->handle);
    s->handle = s->queue = NULL;
    pthread_mutex_unlock(&s->lock);
  }
  if (pool) tn_moment_list_finish(&pool->moments);
  pthread_mutex_unlock(&lock);
}

/* In a forked child: a thread of the parent may have held any of the locks in
 * a call of a plugin, which has forgotten it too. */
static void free_locks(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_stream_pool *pool = atomic_load(&state->streams);
  if (pool) tn_brief_lock_give(&pool->moments.lock);
  for (tn_stream *s = pool ? pool->all : NULL; s; s = s->next) {
    pthread_mutex_init(&s->lock, NULL);
    s->is_dirty = s->is_unflushed = true;
  }
}

static void take_list(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_stream_pool *pool = atomic_load(&state->streams);
  if (pool) tn_brief_lock_take(&pool->moments.lock);
}

static void give_list(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_stream_pool *pool = atomic_load(&state->streams);
  if (pool) tn_brief_lock_give(&pool->moments.lock);
}

void tn_stream_pool_before_fork(void)
{
  pthread_mutex_lock(&lock);
  tn_device_visit(take_list, NULL);
}

void tn_stream_pool_after_fork(void)
{
  tn_device_visit(give_list, NULL);
  pthread_mutex_unlock(&lock);
}

void tn_stream_pool_in_child(void)
{
  tn_device_visit(free_locks, NULL);
  pthread_mutex_unlock(&lock);
}
