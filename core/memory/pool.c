#include "config.h"

#include "core/memory/pool.h"

#include <stdlib.h>

#include "core/base/error.h"

static atomic_uint_fast64_t next_id = 1;

static tn_mem_pool *make(tn_device_state *state,
                         const tn_mem_pool_options *options)
{
  tn_allocator *allocator = tn_allocator_of(state);
  if (!allocator) return NULL;
  tn_mem_pool *pool = calloc(1, sizeof *pool);
  if (!pool) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a memory pool");
    return NULL;
  }
  tn_refcount_init(&pool->refs);
  pool->allocator = allocator;
  pool->options = *options;
  tn_brief_lock_take(&allocator->lock);
  pool->next = allocator->pools;
  allocator->pools = pool;
  tn_brief_lock_give(&allocator->lock);
  return pool;
}

static tn_status refuse(const char *what)
{
  return tn_error(TN_UNSUPPORTED, "memory pool: %s is not there yet", what);
}

static tn_status check(const tn_mem_pool_options *options)
{
  if (options->use_on_oom) return refuse("use_on_oom");
  if (options->no_split) return refuse("no_split");
  if (!options->alloc != !options->free)
    return tn_error(TN_INVALID_ARGUMENT, "memory pool: there is %s function: "
                    "both are needed, or neither",
                    options->alloc ? "no free" : "no alloc");
  return TN_OK;
}

tn_mem_pool *tn_mem_pool_new_with(tn_device device,
                                  tn_mem_pool_options options)
{
  tn_device_state *state;
  if (check(&options) != TN_OK) return NULL;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  tn_mem_pool *pool = make(state, &options);
  if (pool) pool->id[1] = atomic_fetch_add(&next_id, 1);
  return pool;
}

tn_mem_pool *tn_pool_new_for_graph(tn_device_state *state)
{
  tn_mem_pool *pool = make(state, &(tn_mem_pool_options){ 0 });
  if (pool) pool->id[0] = atomic_fetch_add(&next_id, 1);
  return pool;
}

tn_mem_pool *tn_mem_pool_retain(tn_mem_pool *pool)
{
  if (pool) tn_refcount_retain(&pool->refs);
  return pool;
}

static void give_caches_back(tn_mem_pool *pool)
{
  for (tn_stream_cache *c = pool->allocator->caches; c; c = c->next)
    if (c->pool == pool) {
      c->pool = NULL;
      c->stream = NULL;
    }
}

/* Locked. Takes the dead ones out. */
static tn_mem_pool *take_dead(tn_allocator *allocator)
{
  tn_mem_pool *dead = NULL;
  for (tn_mem_pool **link = &allocator->pools; *link; ) {
    tn_mem_pool *pool = *link;
    if (!pool->is_released || pool->segments) {
      link = &pool->next;
      continue;
    }
    *link = pool->next;
    give_caches_back(pool);
    pool->next = dead;
    dead = pool;
  }
  return dead;
}

void tn_pool_bury(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  tn_mem_pool *dead = allocator->pools ? take_dead(allocator) : NULL;
  tn_brief_lock_give(&allocator->lock);
  while (dead) {
    tn_mem_pool *next = dead->next;
    if (dead->options.destroy) dead->options.destroy(dead->options.context);
    free(dead);
    dead = next;
  }
}

static void end(tn_mem_pool *pool)
{
  tn_allocator *allocator = pool->allocator;
  if (!tn_enter_to_release(allocator->state)) return;
  tn_brief_lock_take(&allocator->lock);
  tn_pending_poll(allocator);
  tn_brief_lock_give(&allocator->lock);
  tn_allocator_trim_pool(allocator, pool);
  tn_brief_lock_take(&allocator->lock);
  pool->is_released = true;
  tn_brief_lock_give(&allocator->lock);
  tn_pool_bury(allocator);
  tn_leave();
}

void tn_mem_pool_release(tn_mem_pool *pool)
{
  if (pool && tn_refcount_release(&pool->refs)) end(pool);
}

size_t tn_mem_pool_use_count(const tn_mem_pool *pool)
{
  return pool ? atomic_load(&pool->refs.count) : 0;
}

void tn_mem_pool_id(const tn_mem_pool *pool, uint64_t id[2])
{
  id[0] = pool ? pool->id[0] : 0;
  id[1] = pool ? pool->id[1] : 0;
}

tn_device tn_mem_pool_device(const tn_mem_pool *pool)
{
  return pool ? pool->allocator->state->device : (tn_device){ -1, -1 };
}

static bool is_listed(tn_address address, void *const *addresses,
                      size_t count)
{
  for (size_t i = 0; i < count; i++)
    if ((tn_address)(uintptr_t)addresses[i] == address) return true;
  return false;
}

/* Locked. The number of live blocks; SIZE_MAX if one is not listed. */
static size_t count_live(const tn_mem_pool *pool, void *const *addresses,
                         size_t count)
{
  size_t live = 0;
  for (tn_segment *s = pool->allocator->segments; s; s = s->next) {
    if (s->cache->pool != pool) continue;
    for (tn_block *b = s->first; b; b = b->after) {
      if (b->state != TN_BLOCK_LIVE) continue;
      if (!is_listed(b->address, addresses, count)) return SIZE_MAX;
      live++;
    }
  }
  return live;
}

bool tn_mem_pool_check_live(const tn_mem_pool *pool, void *const *addresses,
                            size_t count)
{
  if (!pool) return count == 0;
  tn_brief_lock_take(&pool->allocator->lock);
  size_t live = count_live(pool, addresses, count);
  tn_brief_lock_give(&pool->allocator->lock);
  return live == count;
}

tn_status tn_pool_route(tn_stream *stream, tn_mem_pool *pool)
{
  tn_stream_cache *cache = tn_stream_cache_of(stream, pool);
  if (!cache) return tn_last_status();
  atomic_store_explicit(&stream->cache, cache, memory_order_release);
  return TN_OK;
}

void tn_pool_hold(tn_mem_pool *pool)
{
  tn_brief_lock_take(&pool->allocator->lock);
  pool->holds++;
  tn_brief_lock_give(&pool->allocator->lock);
}

void tn_pool_let_go(tn_mem_pool *pool)
{
  tn_brief_lock_take(&pool->allocator->lock);
  pool->holds--;
  tn_brief_lock_give(&pool->allocator->lock);
}
