/* Memory from the plugin, and what is done when there is too little. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/exec/capture.h"
#include "core/memory/pool.h"

static const tn_alloc_desc plain = {
  .struct_size = sizeof plain,
  .kind = TN_MEMORY_DEVICE,
};

static tn_status pool_alloc(const tn_stream_cache *cache, uint64_t bytes,
                            tn_address *address)
{
  const tn_mem_pool_options *options = &cache->pool->options;
  void *memory = options->alloc((size_t)bytes, cache->allocator->state->device,
                                cache->stream, options->context);
  *address = (tn_address)(uintptr_t)memory;
  return memory ? TN_OK : TN_OUT_OF_MEMORY;
}

static tn_status get_memory(const tn_stream_cache *cache, uint64_t bytes,
                            tn_address *address)
{
  tn_device_state *state = cache->allocator->state;
  if (cache->pool && cache->pool->options.alloc)
    return pool_alloc(cache, bytes, address);
  tn_alloc_desc desc = plain;
  desc.bytes = bytes;
  return state->backend->alloc.alloc(state->handle, &desc, address);
}

void tn_segment_free_memory(const tn_stream_cache *cache, uint64_t bytes,
                            tn_address address)
{
  tn_device_state *state = cache->allocator->state;
  if (cache->pool && cache->pool->options.free) {
    const tn_mem_pool_options *options = &cache->pool->options;
    options->free((void *)(uintptr_t)address, (size_t)bytes, state->device,
                  cache->stream, options->context);
    return;
  }
  tn_alloc_desc desc = plain;
  desc.bytes = bytes;
  state->backend->alloc.free(state->handle, &desc, address);
}

static void count_oversize(tn_segment *segment, bool is_new)
{
  tn_allocator *allocator = segment->cache->allocator;
  if (is_new)
    segment->is_oversize = !segment->is_small &&
                           segment->size >= allocator->conf.max_split_size;
  if (segment->is_oversize)
    (is_new ? tn_oversize_add : tn_oversize_subtract)(
        &allocator->statistics.oversize_segments);
}

void tn_segment_count(tn_segment *segment, bool is_new)
{
  tn_stream_cache *cache = segment->cache;
  tn_statistics *statistics = &cache->allocator->statistics;
  void (*count)(tn_statistics *, tn_statistic, bool, uint64_t) =
      is_new ? tn_statistics_add : tn_statistics_subtract;
  count(statistics, TN_STATISTIC_reserved, segment->is_small, segment->size);
  count(statistics, TN_STATISTIC_segments, segment->is_small, 1);
  count_oversize(segment, is_new);
  size_t change = is_new ? 1 : (size_t)-1;
  cache->segments += change;
  if (cache->pool) cache->pool->segments += change;
  if (is_new) statistics->device_allocs++;
  else statistics->device_frees++;
}

/* The lock is held. */
static void link_segment(tn_allocator *allocator, tn_segment *segment)
{
  segment->next = allocator->segments;
  if (segment->next) segment->next->before = segment;
  allocator->segments = segment;
}

void tn_segment_unlink(tn_allocator *allocator, tn_segment *segment)
{
  if (segment->next) segment->next->before = segment->before;
  if (segment->before) segment->before->next = segment->next;
  else allocator->segments = segment->next;
}

/* A segment of one block, which is in no list. The lock is held. */
static tn_block *add_segment(const tn_request *request, uint64_t bytes,
                             tn_address address)
{
  tn_allocator *allocator = request->allocator;
  tn_segment *segment = calloc(1, sizeof *segment);
  tn_block *block = segment ? tn_block_struct(allocator) : NULL;
  if (!block) {
    free(segment);
    tn_error(TN_OUT_OF_MEMORY, "no memory for a segment");
    return NULL;
  }
  *segment = (tn_segment){
    .address = address, .size = bytes, .is_small = request->is_small,
    .is_uncached = !allocator->is_caching, .cache = request->cache,
    .first = block,
  };
  block->is_small = request->is_small;
  block->size = bytes;
  block->allocator = allocator;
  block->segment = segment;
  block->holder = (tn_holder){ tn_memory_tag_mine, request->caller };
  block->before = block->after = NULL;
  atomic_store_explicit(&block->address, address, memory_order_relaxed);
  link_segment(allocator, segment);
  tn_segment_count(segment, true);
  tn_allocator_trace_segment(TN_TRACE_SEGMENT_ALLOC, segment);
  return block;
}

/* Whether the budget has room: then it is promised until it is counted. */
static bool promise(tn_allocator *allocator, uint64_t bytes)
{
  tn_brief_lock_take(&allocator->lock);
  uint64_t used = allocator->promised +
                  tn_statistics_current(&allocator->statistics,
                                        TN_STATISTIC_reserved);
  bool has_room = used <= allocator->limit &&
                  bytes <= allocator->limit - used;
  if (has_room) allocator->promised += bytes;
  tn_brief_lock_give(&allocator->lock);
  return has_room;
}

static void keep_promise(tn_allocator *allocator, uint64_t bytes)
{
  tn_brief_lock_take(&allocator->lock);
  allocator->promised -= bytes;
  tn_brief_lock_give(&allocator->lock);
}

tn_block *tn_segment_get(const tn_request *request, uint64_t bytes,
                         bool *is_short)
{
  tn_allocator *allocator = request->allocator;
  tn_address address;
  *is_short = !promise(allocator, bytes);
  if (*is_short) return NULL;
  tn_status status = get_memory(request->cache, bytes, &address);
  *is_short = status == TN_OUT_OF_MEMORY;
  if (status != TN_OK) {
    keep_promise(allocator, bytes);
    if (!*is_short)
      tn_plugin_error(allocator->state, status, "memory of %" PRIu64
                      " bytes", bytes);
    return NULL;
  }
  tn_brief_lock_take(&allocator->lock);
  tn_block *block = add_segment(request, bytes, address);
  if (block) tn_request_finish(request, block);
  allocator->promised -= bytes;
  tn_brief_lock_give(&allocator->lock);
  if (!block) tn_segment_free_memory(request->cache, bytes, address);
  return block;
}

uint64_t tn_segment_size(const tn_request *request)
{
  if (!request->allocator->is_caching) return request->requested;
  if (request->is_small) return TN_SMALL_SEGMENT;
  if (request->size < TN_OWN_SEGMENT) return TN_LARGE_SEGMENT;
  return (request->size + (TN_SEGMENT_STEP - 1)) & ~(TN_SEGMENT_STEP - 1);
}

static tn_block *look_again(const tn_request *request)
{
  tn_brief_lock_take(&request->allocator->lock);
  tn_block *block = tn_request_from_cache(request);
  tn_brief_lock_give(&request->allocator->lock);
  return block;
}

static void count_retry(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  allocator->statistics.retries++;
  allocator->statistics.syncs++;
  tn_brief_lock_give(&allocator->lock);
}

/* In the order of how much each costs. */
static tn_block *get_after_making_room(const tn_request *request,
                                       bool *is_short)
{
  tn_allocator *allocator = request->allocator;
  const tn_mem_pool *pool = request->cache->pool;
  uint64_t bytes = tn_segment_size(request);
  tn_block *block = NULL;
  if (tn_allocator_trim_oversized(request))
    block = tn_segment_get(request, bytes, is_short);
  if (block || !*is_short) return block;
  count_retry(allocator);
  if (tn_allocator_trim(allocator, pool))
    block = tn_segment_get(request, bytes, is_short);
  if (!block && *is_short && tn_pending_wait(allocator)) {
    block = look_again(request);
    if (!block && tn_allocator_trim(allocator, pool))
      block = tn_segment_get(request, bytes, is_short);
  }
  if (!block && *is_short && tn_allocator_trim_relatives(allocator))
    block = tn_segment_get(request, bytes, is_short);
  /* Rather a segment without room for others than none. */
  if (!block && *is_short && bytes > request->size)
    block = tn_segment_get(request, request->size, is_short);
  return block;
}

static tn_block *try_all(const tn_request *request, bool *is_short)
{
  tn_allocator *allocator = request->allocator;
  uint64_t bytes = tn_segment_size(request);
  uint64_t round = tn_allocator_trim_round(allocator);
  tn_allocator_collect(allocator);
  tn_block *block = tn_segment_get(request, bytes, is_short);
  if (!block && *is_short) block = get_after_making_room(request, is_short);
  /* Another thread may have made room, and have gone, in between. */
  if (!block && *is_short && round != tn_allocator_trim_round(allocator))
    block = tn_segment_get(request, bytes, is_short);
  return block;
}

tn_block *tn_request_from_device(const tn_request *request)
{
  if (request->requested > TN_LARGEST_REQUEST) {
    tn_error(TN_SIZE_OVERFLOW, "memory of %" PRIu64 " bytes: at most %" PRIu64
             " (1 EiB) can be asked for", request->requested,
             TN_LARGEST_REQUEST);
    return NULL;
  }
  if (tn_capture_check("memory of a device") != TN_OK) return NULL;
  tn_error_state before;
  tn_error_save(&before);
  bool is_short;
  tn_block *block = try_all(request, &is_short);
  if (!block && is_short) tn_request_refuse(request);
  if (block) tn_error_restore(&before);
  return block;
}
