#include "config.h"

#include "core/memory/allocator.h"

#include <stdlib.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/memory/finish.h"
#include "core/memory/pool.h"

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static _Atomic(tn_allocator *) first;

tn_allocator *tn_allocator_first(void) { return atomic_load(&first); }

static tn_allocator *make(tn_device_state *state)
{
  tn_allocator *allocator = calloc(1, sizeof *allocator);
  if (!allocator) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for an allocator");
    return NULL;
  }
  allocator->state = state;
  allocator->is_caching = !tn_environment_is_on("TENON_NO_MEMORY_CACHING");
  allocator->fraction = 1;
  allocator->limit = UINT64_MAX;
  pthread_mutex_init(&allocator->trim_lock, NULL);
  pthread_cond_init(&allocator->trimmed, NULL);
  return allocator;
}

/* Options that are set meanwhile find it in the list, or are found here. */
static tn_allocator *make_listed(tn_device_state *state)
{
  tn_conf conf;
  if (tn_conf_current(&conf) != TN_OK) return NULL;
  tn_allocator *allocator = make(state);
  if (!allocator) return NULL;
  allocator->next = atomic_load(&first);
  atomic_store(&first, allocator);
  tn_conf_current(&conf);
  tn_allocator_configure(allocator, &conf);
  atomic_store_explicit(&state->allocator, allocator, memory_order_release);
  return allocator;
}

tn_allocator *tn_allocator_of(tn_device_state *state)
{
  tn_allocator *allocator = atomic_load_explicit(&state->allocator,
                                                 memory_order_acquire);
  if (allocator) return allocator;
  tn_memory_arm();
  pthread_mutex_lock(&list_lock);
  allocator = atomic_load(&state->allocator);
  if (!allocator) allocator = make_listed(state);
  pthread_mutex_unlock(&list_lock);
  return allocator;
}

uint64_t tn_allocator_capacity(tn_allocator *allocator)
{
  tn_device_state *state = allocator->state;
  uint64_t unused, total;
  if (state->backend->alloc.mem_info &&
      state->backend->alloc.mem_info(state->handle, &unused, &total) == TN_OK)
    return total;
  return state->info.memory_total;
}

/* To the nearest byte, so that a budget given as bytes / capacity is those
 * bytes. */
void tn_allocator_limit(tn_allocator *allocator, double fraction)
{
  double bytes = fraction * (double)tn_allocator_capacity(allocator) + 0.5;
  tn_brief_lock_take(&allocator->lock);
  allocator->fraction = fraction;
  allocator->limit = fraction < 1 ? (uint64_t)bytes : UINT64_MAX;
  tn_brief_lock_give(&allocator->lock);
}

void tn_allocator_configure(tn_allocator *allocator, const tn_conf *conf)
{
  tn_brief_lock_take(&allocator->lock);
  allocator->conf = *conf;
  if (conf->max_split_size != UINT64_MAX) allocator->had_max_split = true;
  tn_allocator_set_watched(allocator);
  tn_brief_lock_give(&allocator->lock);
  if (conf->has_memory_fraction)
    tn_allocator_limit(allocator, conf->memory_fraction);
}

/* The stream ended: its caches wait for the next stream that has none. */
static void orphan_caches(tn_stream *stream)
{
  tn_allocator *allocator = atomic_load(&stream->state->allocator);
  tn_brief_lock_take(&allocator->lock);
  for (tn_stream_cache *c = allocator->caches; c; c = c->next)
    if (c->stream == stream) c->stream = NULL;
  tn_brief_lock_give(&allocator->lock);
}

static tn_stream_cache *find_cache(tn_allocator *allocator,
                                   const tn_stream *stream,
                                   const tn_mem_pool *pool)
{
  tn_stream_cache *cache = allocator->caches;
  while (cache && (cache->stream != stream || cache->pool != pool))
    cache = cache->next;
  return cache;
}

/* One that has nothing may change its pool. */
static tn_stream_cache *find_spare(tn_allocator *allocator)
{
  tn_stream_cache *cache = allocator->caches;
  while (cache && (cache->stream || cache->pool || cache->segments))
    cache = cache->next;
  return cache;
}

/* The lock is held. */
static tn_stream_cache *adopt_cache(tn_allocator *allocator,
                                    tn_mem_pool *pool)
{
  tn_stream_cache *cache = find_cache(allocator, NULL, pool);
  if (!cache) cache = find_spare(allocator);
  if (cache) return cache;
  cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  cache->allocator = allocator;
  cache->next = allocator->caches;
  allocator->caches = cache;
  return cache;
}

static void give_cache(tn_stream_cache *cache, tn_stream *stream,
                       tn_mem_pool *pool)
{
  bool is_default = stream->origin == TN_STREAM_OF_DEVICE;
  cache->stream = stream;
  cache->stream_id = is_default ? 0 : (uint64_t)(uintptr_t)stream;
  cache->pool = pool;
  atomic_store(&stream->cache_release, orphan_caches);
}

tn_stream_cache *tn_stream_cache_of(tn_stream *stream, tn_mem_pool *pool)
{
  tn_allocator *allocator = tn_allocator_of(stream->state);
  if (!allocator) return NULL;
  tn_brief_lock_take(&allocator->lock);
  tn_stream_cache *cache = find_cache(allocator, stream, pool);
  if (!cache && (cache = adopt_cache(allocator, pool)) != NULL)
    give_cache(cache, stream, pool);
  tn_brief_lock_give(&allocator->lock);
  if (!cache) tn_error(TN_OUT_OF_MEMORY, "no memory for a stream's cache");
  return cache;
}

static const uint64_t *pool_id(const tn_stream_cache *cache)
{
  static const uint64_t none[2];
  return cache->pool ? cache->pool->id : none;
}

static void trace(tn_trace_action action, const tn_stream_cache *cache,
                  uint64_t address, uint64_t size, tn_holder holder)
{
  if (!cache->allocator->trace) return;
  const uint64_t *pool = pool_id(cache);
  tn_trace_record(cache->allocator->trace, (tn_trace_event){
    .action = (uint8_t)action, .address = address, .size = size,
    .stream = cache->stream_id, .pool = { pool[0], pool[1] },
    .holder = holder });
}

void tn_allocator_trace_block(tn_trace_action action, const tn_block *block)
{
  trace(action, block->segment->cache, block->address, block->requested,
        block->holder);
}

void tn_allocator_trace_segment(tn_trace_action action,
                                const tn_segment *segment)
{
  trace(action, segment->cache, segment->address, segment->size,
        segment->first->holder);
}
