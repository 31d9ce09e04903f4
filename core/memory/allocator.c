#include "config.h"

#include "core/memory/allocator.h"

#include <stdlib.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/memory/address_table.h"
#include "core/memory/finish.h"

/* How many block structs are made at once: about a page. */
enum { STRUCTS = 4096 / sizeof(tn_block) };

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
  pthread_mutex_init(&allocator->trim_lock, NULL);
  pthread_cond_init(&allocator->trimmed, NULL);
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
  if (!allocator && (allocator = make(state)) != NULL) {
    allocator->next = atomic_load(&first);
    atomic_store(&first, allocator);
    atomic_store_explicit(&state->allocator, allocator, memory_order_release);
  }
  pthread_mutex_unlock(&list_lock);
  return allocator;
}

/* The stream ended: its cache waits for the next stream that has none. */
static void orphan_cache(tn_stream *stream)
{
  tn_stream_cache *cache = atomic_load(&stream->cache);
  tn_brief_lock_take(&cache->allocator->lock);
  cache->stream = NULL;
  tn_brief_lock_give(&cache->allocator->lock);
}

/* The lock is held. */
static tn_stream_cache *adopt_cache(tn_allocator *allocator)
{
  tn_stream_cache *cache = allocator->caches;
  while (cache && cache->stream) cache = cache->next;
  if (cache) return cache;
  cache = calloc(1, sizeof *cache);
  if (!cache) return NULL;
  cache->allocator = allocator;
  cache->next = allocator->caches;
  allocator->caches = cache;
  return cache;
}

static tn_stream_cache *make_cache(tn_stream *stream)
{
  tn_allocator *allocator = tn_allocator_of(stream->state);
  if (!allocator) return NULL;
  tn_brief_lock_take(&allocator->lock);
  tn_stream_cache *cache = atomic_load(&stream->cache);
  if (!cache && (cache = adopt_cache(allocator)) != NULL) {
    cache->stream = stream;
    atomic_store(&stream->cache_release, orphan_cache);
    atomic_store_explicit(&stream->cache, cache, memory_order_release);
  }
  tn_brief_lock_give(&allocator->lock);
  if (!cache) tn_error(TN_OUT_OF_MEMORY, "no memory for a stream's cache");
  return cache;
}

static inline tn_stream_cache *cache_of(tn_stream *stream)
{
  tn_stream_cache *cache = atomic_load_explicit(&stream->cache,
                                                memory_order_acquire);
  return __builtin_expect(cache != NULL, 1) ? cache : make_cache(stream);
}

static bool add_structs(tn_allocator *allocator)
{
  tn_block *blocks = calloc(STRUCTS, sizeof *blocks);
  if (!blocks) return false;
  for (int i = 0; i < STRUCTS; i++)
    tn_block_struct_release(allocator, &blocks[i]);
  return true;
}

tn_block *tn_block_struct(tn_allocator *allocator)
{
  if (!allocator->unused && !add_structs(allocator)) return NULL;
  tn_block *block = allocator->unused;
  allocator->unused = block->free_next;
  return block;
}

void tn_block_struct_release(tn_allocator *allocator, tn_block *block)
{
  block->free_next = allocator->unused;
  allocator->unused = block;
}

/* Free bytes in a segment that is cut, and so not to be given back. */
static uint64_t split_bytes(const tn_block *block)
{
  return block->before || block->after ? block->size : 0;
}

static tn_free_list *list_of(const tn_block *block)
{
  return &block->segment->cache->lists[block->is_small];
}

static void insert(tn_block *block)
{
  block->state = TN_BLOCK_FREE;
  tn_free_list_insert(list_of(block), block);
  tn_statistics_add(&block->allocator->statistics,
                    TN_STATISTIC_inactive_split, block->is_small,
                    split_bytes(block));
}

static void count_taken(tn_block *block)
{
  tn_statistics_subtract(&block->allocator->statistics,
                         TN_STATISTIC_inactive_split, block->is_small,
                         split_bytes(block));
}

static void take_out(tn_block *block)
{
  tn_free_list_remove(list_of(block), block);
  count_taken(block);
}

/* Large blocks are not cut for the sake of 1 MiB. */
static bool is_worth_cutting(const tn_request *request, const tn_block *block)
{
  uint64_t rest = block->size - request->size;
  return request->allocator->is_caching &&
         (request->is_small ? rest >= TN_BLOCK_UNIT : rest > TN_SMALL_REQUEST);
}

static void set_address(tn_block *block, tn_address address)
{
  atomic_store_explicit(&block->address, address, memory_order_relaxed);
}

/* Without memory for a struct the block stays whole. */
static void cut(const tn_request *request, tn_block *block)
{
  tn_block *rest = tn_block_struct(request->allocator);
  if (!rest) return;
  rest->is_small = block->is_small;
  rest->allocator = block->allocator;
  rest->segment = block->segment;
  set_address(rest, block->address + request->size);
  rest->size = block->size - request->size;
  rest->before = block;
  rest->after = block->after;
  if (rest->after) rest->after->before = rest;
  block->after = rest;
  block->size = request->size;
  insert(rest);
}

static inline tn_block *make_live(const tn_request *request, tn_block *block)
{
  tn_statistics *statistics = &request->allocator->statistics;
  bool is_small = request->is_small;
  tn_refcount_init(&block->refs);
  block->state = TN_BLOCK_LIVE;
  block->requested = request->requested;
  tn_statistics_add(statistics, TN_STATISTIC_allocated, is_small, block->size);
  tn_statistics_add(statistics, TN_STATISTIC_active, is_small, block->size);
  tn_statistics_add(statistics, TN_STATISTIC_requested, is_small,
                    block->requested);
  tn_statistics_add(statistics, TN_STATISTIC_allocations, is_small, 1);
  return block;
}

tn_block *tn_request_finish(const tn_request *request, tn_block *block)
{
  if (is_worth_cutting(request, block)) cut(request, block);
  return make_live(request, block);
}

static void settle(tn_stream_cache *cache);

/* A block of just the size, if one was given back a moment ago. */
static inline tn_block *take_deferred(const tn_request *request)
{
  tn_stream_cache *cache = request->cache;
  for (unsigned i = cache->deferred_count; i-- > 0; ) {
    tn_block *block = cache->deferred[i];
    if (block->size != request->size) continue;
    cache->deferred[i] = cache->deferred[--cache->deferred_count];
    return block;
  }
  return NULL;
}

tn_block *tn_request_from_cache(const tn_request *request)
{
  settle(request->cache);
  tn_block *block = tn_free_list_take(
      &request->cache->lists[request->is_small], request->size);
  if (!block) return NULL;
  count_taken(block);
  return tn_request_finish(request, block);
}

/* Makes one block of two neighbours; `after`'s struct is given up. */
static void join(tn_block *block, tn_block *after)
{
  block->size += after->size;
  block->after = after->after;
  if (block->after) block->after->before = block;
  tn_block_struct_release(block->allocator, after);
}

/* Joins a block that nobody uses with its free neighbours. */
static void join_neighbours(tn_block *block)
{
  tn_block *before = block->before, *after = block->after;
  if (block->is_in_table) tn_address_table_remove(block);
  if (after && after->state == TN_BLOCK_FREE) {
    take_out(after);
    join(block, after);
  }
  if (before && before->state == TN_BLOCK_FREE) {
    take_out(before);
    join(before, block);
    block = before;
  }
  insert(block);
}

static void settle(tn_stream_cache *cache)
{
  for (unsigned i = 0; i < cache->deferred_count; i++)
    join_neighbours(cache->deferred[i]);
  cache->deferred_count = 0;
}

void tn_allocator_settle(tn_allocator *allocator)
{
  for (tn_stream_cache *c = allocator->caches; c; c = c->next) settle(c);
}

static inline void count_unused(tn_block *block)
{
  tn_statistics *statistics = &block->allocator->statistics;
  tn_statistics_subtract(statistics, TN_STATISTIC_active, block->is_small,
                         block->size);
  tn_statistics_subtract(statistics, TN_STATISTIC_requested, block->is_small,
                         block->requested);
}

void tn_block_to_cache(tn_block *block)
{
  settle(block->segment->cache);
  count_unused(block);
  join_neighbours(block);
}

/* Large blocks are few, and joined at once. */
static inline void defer(tn_block *block)
{
  tn_stream_cache *cache = block->segment->cache;
  count_unused(block);
  if (!block->is_small) {
    join_neighbours(block);
    return;
  }
  if (cache->deferred_count == TN_DEFERRED_MAX) settle(cache);
  block->state = TN_BLOCK_DEFERRED;
  cache->deferred[cache->deferred_count++] = block;
}

/* Locked. False if the block has users elsewhere: it waits for them. */
static bool is_free_now(tn_block *block)
{
  if (__builtin_expect(block->uses.count == 0, 1)) return true;
  if (tn_uses_are_past(&block->uses)) return true;
  tn_pending_add(block);
  return false;
}

static void give_back(tn_block *block)
{
  tn_allocator *allocator = block->allocator;
  tn_statistics *statistics = &allocator->statistics;
  tn_brief_lock_take(&allocator->lock);
  tn_statistics_subtract(statistics, TN_STATISTIC_allocated, block->is_small,
                         block->size);
  tn_statistics_subtract(statistics, TN_STATISTIC_allocations,
                         block->is_small, 1);
  bool is_cached = !block->segment->is_uncached;
  if (is_cached && is_free_now(block)) defer(block);
  tn_brief_lock_give(&allocator->lock);
  if (!is_cached) tn_segment_give_back(block);
}

static tn_block *make_empty(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  tn_block *block = tn_block_struct(allocator);
  tn_brief_lock_give(&allocator->lock);
  if (!block) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a block");
    return NULL;
  }
  block->state = TN_BLOCK_LIVE;
  block->allocator = allocator;
  block->segment = NULL;
  block->requested = 0;
  set_address(block, 0);
  tn_refcount_init(&block->refs);
  return block;
}

static void give_back_empty(tn_block *block)
{
  tn_brief_lock_take(&block->allocator->lock);
  tn_block_struct_release(block->allocator, block);
  tn_brief_lock_give(&block->allocator->lock);
}

tn_block *tn_block_for_stream(tn_stream *stream, size_t bytes)
{
  tn_stream_cache *cache = cache_of(stream);
  if (__builtin_expect(!cache, 0)) return NULL;
  tn_allocator *allocator = cache->allocator;
  if (bytes == 0) return make_empty(allocator);
  const tn_request request = {
    .allocator = allocator,
    .cache = cache,
    .requested = bytes,
    .size = (bytes + (TN_BLOCK_UNIT - 1)) & ~(uint64_t)(TN_BLOCK_UNIT - 1),
    .is_small = bytes <= TN_SMALL_REQUEST,
  };
  tn_block *block = NULL;
  if (__builtin_expect(bytes <= TN_LARGEST_REQUEST, 1)) {
    tn_brief_lock_take(&allocator->lock);
    if (allocator->pending_count) tn_pending_poll(allocator);
    block = take_deferred(&request);
    block = __builtin_expect(block != NULL, 1)
        ? make_live(&request, block) : tn_request_from_cache(&request);
    tn_brief_lock_give(&allocator->lock);
  }
  return __builtin_expect(block != NULL, 1) ? block
                                            : tn_request_from_device(&request);
}

tn_block *tn_block_new(tn_device device, size_t bytes)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  if (tn_enter(state) != TN_OK) return NULL;
  tn_stream *stream = tn_stream_current_of(state);
  tn_block *block = stream ? tn_block_for_stream(stream, bytes) : NULL;
  tn_leave();
  return block;
}

tn_block *tn_block_retain(tn_block *block)
{
  if (block) tn_refcount_retain(&block->refs);
  return block;
}

void tn_block_release(tn_block *block)
{
  if (!block) return;
  if (!tn_refcount_is_unique(&block->refs) &&
      !tn_refcount_release(&block->refs))
    return;
  if (!tn_enter_to_release(block->allocator->state)) return;
  if (block->segment) give_back(block);
  else give_back_empty(block);
  tn_leave();
}

void *tn_block_address(const tn_block *block)
{
  return block ? (void *)(uintptr_t)block->address : NULL;
}

size_t tn_block_size(const tn_block *block)
{
  return block ? (size_t)block->requested : 0;
}

tn_device tn_block_device(const tn_block *block)
{
  return block ? block->allocator->state->device : (tn_device){ -1, -1 };
}
