/* Blocks: given out, given back, cut and joined. */
#include "config.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/memory/address_table.h"
#include "core/memory/pool.h"

/* How many block structs are made at once: about a page. */
enum { STRUCTS = 4096 / sizeof(tn_block) };

/* The cache a new block of the stream comes from. */
static inline tn_stream_cache *cache_of(tn_stream *stream)
{
  tn_stream_cache *cache = atomic_load_explicit(&stream->cache,
                                                memory_order_acquire);
  tn_mem_pool *pool = NULL;
  if (__builtin_expect(tn_current_pools_mine.count != 0, 0))
    pool = tn_pool_current_of(stream->state);
  if (__builtin_expect(pool != NULL, 0))
    return tn_stream_cache_of(stream, pool);
  if (__builtin_expect(cache != NULL, 1)) return cache;
  cache = tn_stream_cache_of(stream, NULL);
  tn_stream_cache *none = NULL; /* or it was routed to a pool meanwhile */
  if (cache && !atomic_compare_exchange_strong(&stream->cache, &none, cache))
    return none;
  return cache;
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

/* Of a segment that is cut, and so not to be given back. */
static bool is_part(const tn_block *block)
{
  return block->before || block->after;
}

static tn_free_list *list_of(const tn_block *block)
{
  return &block->segment->cache->lists[block->is_small];
}

static void insert(tn_block *block)
{
  tn_statistics *statistics = &block->allocator->statistics;
  bool is_small = block->is_small;
  block->state = TN_BLOCK_FREE;
  tn_free_list_insert(list_of(block), block);
  if (!is_part(block)) {
    block->segment->free_since = block->allocator->clock;
    return;
  }
  tn_statistics_add(statistics, TN_STATISTIC_inactive_split, is_small,
                    block->size);
  tn_statistics_add(statistics, TN_STATISTIC_inactive_splits, is_small, 1);
}

static void take_out(tn_block *block)
{
  tn_statistics *statistics = &block->allocator->statistics;
  bool is_small = block->is_small;
  tn_free_list_remove(list_of(block), block);
  if (!is_part(block)) return;
  tn_statistics_subtract(statistics, TN_STATISTIC_inactive_split, is_small,
                         block->size);
  tn_statistics_subtract(statistics, TN_STATISTIC_inactive_splits, is_small,
                         1);
}

/* Large blocks are not cut for the sake of 1 MiB, and the largest not at
 * all. */
static bool is_worth_cutting(const tn_request *request, const tn_block *block)
{
  uint64_t rest = block->size - request->size;
  if (!request->allocator->is_caching) return false;
  if (request->is_small) return rest >= TN_BLOCK_UNIT;
  return rest > TN_SMALL_REQUEST &&
         request->size < request->allocator->conf.max_split_size;
}

static bool is_oversize(const tn_block *block)
{
  return !block->is_small &&
         block->size >= block->allocator->conf.max_split_size;
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

/* Marked in the block: the options may change meanwhile. */
static void count_oversize(tn_block *block, bool is_new)
{
  tn_statistics *statistics = &block->allocator->statistics;
  if (is_new == block->is_oversize) return;
  block->is_oversize = is_new;
  (is_new ? tn_oversize_add : tn_oversize_subtract)(
      &statistics->oversize_allocations);
}

/* What is seldom asked for: peaks while blocks are pending, oversize blocks,
 * a history. */
static __attribute__((noinline)) void watch_live(tn_block *block)
{
  tn_allocator *allocator = block->allocator;
  if (allocator->pending_count)
    tn_statistics_see_active(&allocator->statistics);
  if (is_oversize(block)) count_oversize(block, true);
  tn_allocator_trace_block(TN_TRACE_ALLOC, block);
}

static __attribute__((noinline)) void watch_freed(tn_block *block)
{
  count_oversize(block, false);
  tn_allocator_trace_block(TN_TRACE_FREE_REQUESTED, block);
}

static inline tn_block *make_live(const tn_request *request, tn_block *block)
{
  tn_statistics *statistics = &request->allocator->statistics;
  bool is_small = request->is_small;
  tn_refcount_init(&block->refs);
  block->state = TN_BLOCK_LIVE;
  block->requested = request->requested;
  block->holder = (tn_holder){ tn_memory_tag_mine, request->caller };
  tn_statistics_add(statistics, TN_STATISTIC_allocated, is_small, block->size);
  tn_statistics_add(statistics, TN_STATISTIC_requested, is_small,
                    block->requested);
  tn_statistics_add(statistics, TN_STATISTIC_allocations, is_small, 1);
  if (__builtin_expect(request->allocator->is_watched, 0)) watch_live(block);
  return block;
}

tn_block *tn_request_finish(const tn_request *request, tn_block *block)
{
  if (is_worth_cutting(request, block)) cut(request, block);
  return make_live(request, block);
}

static void settle(tn_stream_cache *cache);

/* Blocks that are not to be cut serve only requests near their size. */
static bool is_fit(const tn_request *request, const tn_block *block)
{
  const tn_conf *conf = &request->allocator->conf;
  if (request->is_small || conf->max_split_size == UINT64_MAX) return true;
  if (request->size < conf->max_split_size)
    return block->size < conf->max_split_size;
  return block->size - request->size < conf->max_non_split_rounding;
}

/* Whether a deferred large block is what would be found if it were joined now:
 * nothing before it to join, and no better fit in the list. */
static bool is_best(const tn_request *request, const tn_block *block)
{
  const tn_stream_cache *cache = request->cache;
  const tn_block *before = block->before, *after = block->after;
  bool has_after = after && after->state == TN_BLOCK_FREE;
  if (block->size != request->size &&
      (has_after || cache->deferred_count > 1 ||
       is_worth_cutting(request, block) || !is_fit(request, block)))
    return false;
  if (before && before->state <= TN_BLOCK_DEFERRED) return false;
  const tn_block *found = tn_free_list_find(&cache->lists[false],
                                            request->size);
  return !found || found == after ||
         found->size >= block->size + (has_after ? after->size : 0);
}

static inline bool is_right(const tn_request *request, const tn_block *block)
{
  if (__builtin_expect(request->is_small, 1))
    return block->size == request->size;
  return block->size >= request->size && is_best(request, block);
}

/* The block for the request, if it was given back a moment ago. */
static inline tn_block *take_deferred(const tn_request *request)
{
  tn_stream_cache *cache = request->cache;
  for (unsigned i = cache->deferred_count; i-- > 0; ) {
    tn_block *block = cache->deferred[i];
    if (!is_right(request, block)) continue;
    cache->deferred[i] = cache->deferred[--cache->deferred_count];
    return block;
  }
  return NULL;
}

tn_block *tn_request_from_cache(const tn_request *request)
{
  settle(request->cache);
  request->allocator->clock++;
  tn_block *block = tn_free_list_find(
      &request->cache->lists[request->is_small], request->size);
  if (!block || !is_fit(request, block)) return NULL;
  take_out(block);
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
  tn_statistics_subtract(&block->allocator->statistics,
                         TN_STATISTIC_requested, block->is_small,
                         block->requested);
  if (__builtin_expect(block->allocator->is_watched, 0))
    tn_allocator_trace_block(TN_TRACE_FREE_COMPLETED, block);
}

void tn_block_to_cache(tn_block *block)
{
  settle(block->segment->cache);
  count_unused(block);
  join_neighbours(block);
}

static inline void defer(tn_block *block)
{
  tn_stream_cache *cache = block->segment->cache;
  count_unused(block);
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
  if (__builtin_expect(allocator->is_watched, 0)) watch_freed(block);
  bool is_cached = !block->segment->is_uncached;
  if (!is_cached)
    tn_statistics_pend(statistics, block->is_small, block->size);
  else if (is_free_now(block)) defer(block);
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

static inline uint64_t rounded(const tn_allocator *allocator, uint64_t bytes)
{
  if (__builtin_expect(allocator->conf.is_rounding, 0))
    return tn_conf_round(&allocator->conf, bytes);
  return (bytes + (TN_BLOCK_UNIT - 1)) & ~(uint64_t)(TN_BLOCK_UNIT - 1);
}

tn_block *tn_block_for_stream(tn_stream *stream, size_t bytes,
                              const void *caller)
{
  tn_stream_cache *cache = cache_of(stream);
  if (__builtin_expect(!cache, 0)) return NULL;
  tn_allocator *allocator = cache->allocator;
  if (bytes == 0) return make_empty(allocator);
  tn_request request = { .allocator = allocator, .cache = cache,
                         .requested = bytes, .caller = caller };
  tn_block *block = NULL;
  if (__builtin_expect(bytes <= TN_LARGEST_REQUEST, 1)) {
    tn_brief_lock_take(&allocator->lock);
    request.size = rounded(allocator, bytes);
    request.is_small = request.size <= TN_SMALL_REQUEST;
    if (allocator->pending_count) tn_pending_poll(allocator);
    block = take_deferred(&request);
    block = __builtin_expect(block != NULL, 1)
        ? make_live(&request, block) : tn_request_from_cache(&request);
    tn_brief_lock_give(&allocator->lock);
  }
  return __builtin_expect(block != NULL, 1) ? block
                                            : tn_request_from_device(&request);
}

tn_block *tn_block_new_for(tn_device device, size_t bytes, const void *caller)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  if (tn_enter(state) != TN_OK) return NULL;
  tn_stream *stream = tn_stream_current_of(state);
  tn_block *block = stream ? tn_block_for_stream(stream, bytes, caller) : NULL;
  tn_leave();
  return block;
}

tn_block *tn_block_new(tn_device device, size_t bytes)
{
  return tn_block_new_for(device, bytes, __builtin_return_address(0));
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
