/* Memory from the plugin, and what is done when there is too little. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/memory/address_table.h"
#include "core/memory/allocator.h"
#include "core/memory/pinned.h"

static const tn_alloc_desc plain = {
  .struct_size = sizeof plain,
  .kind = TN_MEMORY_DEVICE,
};

static tn_status plugin_alloc(tn_device_state *state, uint64_t bytes,
                              tn_address *address)
{
  tn_alloc_desc desc = plain;
  desc.bytes = bytes;
  return state->backend->alloc.alloc(state->handle, &desc, address);
}

static void plugin_free(tn_device_state *state, uint64_t bytes,
                        tn_address address)
{
  tn_alloc_desc desc = plain;
  desc.bytes = bytes;
  state->backend->alloc.free(state->handle, &desc, address);
}

static void count_segment(tn_segment *segment, tn_statistics *statistics,
                          bool is_new)
{
  void (*count)(tn_statistics *, tn_statistic, bool, uint64_t) =
      is_new ? tn_statistics_add : tn_statistics_subtract;
  count(statistics, TN_STATISTIC_reserved, segment->is_small, segment->size);
  count(statistics, TN_STATISTIC_segments, segment->is_small, 1);
}

/* The lock is held. */
static void link_segment(tn_allocator *allocator, tn_segment *segment)
{
  segment->next = allocator->segments;
  if (segment->next) segment->next->before = segment;
  allocator->segments = segment;
}

static void unlink_segment(tn_allocator *allocator, tn_segment *segment)
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
  block->before = block->after = NULL;
  atomic_store_explicit(&block->address, address, memory_order_relaxed);
  link_segment(allocator, segment);
  count_segment(segment, &allocator->statistics, true);
  return block;
}

/* One try. NULL: *is_short if the device has no memory left, otherwise the
 * error is set. */
static tn_block *get_segment(const tn_request *request, uint64_t bytes,
                             bool *is_short)
{
  tn_allocator *allocator = request->allocator;
  tn_address address;
  tn_status status = plugin_alloc(allocator->state, bytes, &address);
  *is_short = status == TN_OUT_OF_MEMORY;
  if (status != TN_OK) {
    if (!*is_short)
      tn_plugin_error(allocator->state, status, "memory of %" PRIu64
                      " bytes", bytes);
    return NULL;
  }
  tn_brief_lock_take(&allocator->lock);
  tn_block *block = add_segment(request, bytes, address);
  if (block) tn_request_finish(request, block);
  tn_brief_lock_give(&allocator->lock);
  if (!block) plugin_free(allocator->state, bytes, address);
  return block;
}

static bool is_wholly_free(const tn_segment *segment)
{
  return segment->first->state == TN_BLOCK_FREE && !segment->first->after;
}

/* Takes the wholly free segments out of everyone's sight, with references to
 * their streams. The lock is held. */
static tn_segment *detach(tn_allocator *allocator)
{
  tn_segment *detached = NULL;
  tn_allocator_settle(allocator);
  for (tn_segment *s = allocator->segments, *next; s; s = next) {
    next = s->next;
    tn_stream *stream = s->cache->stream;
    if (!is_wholly_free(s)) continue;
    if (stream && !tn_stream_try_retain(stream)) continue;
    s->stream = stream;
    tn_free_list_remove(&s->cache->lists[s->is_small], s->first);
    unlink_segment(allocator, s);
    s->next = detached;
    detached = s;
  }
  return detached;
}

/* Not locked. The plugin must find all work on the memory complete. */
static void return_memory(tn_device_state *state, tn_segment *detached)
{
  for (tn_segment *s = detached; s; s = s->next) {
    if (s->stream) tn_stream_wait_idle(s->stream, TN_NO_LIMIT);
    tn_stream_release(s->stream);
    plugin_free(state, s->size, s->address);
  }
}

/* The lock is held. */
static void drop(tn_allocator *allocator, tn_segment *detached)
{
  while (detached) {
    tn_segment *next = detached->next;
    count_segment(detached, &allocator->statistics, false);
    tn_block_struct_release(allocator, detached->first);
    free(detached);
    detached = next;
  }
}

/* What others detached is as good as ours, when they are done. The trim_lock
 * is held. */
static bool wait_for_others(tn_allocator *allocator, uint64_t round)
{
  if (!allocator->trimming) return round != allocator->trim_round;
  while (allocator->trimming && round == allocator->trim_round)
    pthread_cond_wait(&allocator->trimmed, &allocator->trim_lock);
  return true;
}

static void give_segments_back(tn_allocator *allocator, tn_segment *detached)
{
  return_memory(allocator->state, detached);
  tn_brief_lock_take(&allocator->lock);
  drop(allocator, detached);
  tn_brief_lock_give(&allocator->lock);
}

bool tn_allocator_trim(tn_allocator *allocator)
{
  pthread_mutex_lock(&allocator->trim_lock);
  uint64_t round = allocator->trim_round;
  allocator->trimming++;
  pthread_mutex_unlock(&allocator->trim_lock);
  tn_brief_lock_take(&allocator->lock);
  tn_segment *detached = detach(allocator);
  tn_brief_lock_give(&allocator->lock);
  if (detached) give_segments_back(allocator, detached);
  pthread_mutex_lock(&allocator->trim_lock);
  allocator->trimming--;
  if (detached) allocator->trim_round++;
  pthread_cond_broadcast(&allocator->trimmed);
  bool found = detached || wait_for_others(allocator, round);
  pthread_mutex_unlock(&allocator->trim_lock);
  return found;
}

static uint64_t round_of(tn_allocator *allocator)
{
  pthread_mutex_lock(&allocator->trim_lock);
  uint64_t round = allocator->trim_round;
  pthread_mutex_unlock(&allocator->trim_lock);
  return round;
}

void tn_segment_give_back(tn_block *block)
{
  tn_allocator *allocator = block->allocator;
  tn_statistics *statistics = &allocator->statistics;
  tn_segment *segment = block->segment;
  tn_error_state before;
  tn_error_save(&before);
  tn_uses_wait(&block->uses);
  tn_brief_lock_take(&allocator->lock);
  tn_stream *stream = segment->cache->stream;
  segment->stream = stream && tn_stream_try_retain(stream) ? stream : NULL;
  unlink_segment(allocator, segment);
  segment->next = NULL;
  tn_brief_lock_give(&allocator->lock);
  return_memory(allocator->state, segment);
  if (block->is_in_table) tn_address_table_remove(block);
  tn_brief_lock_take(&allocator->lock);
  tn_statistics_subtract(statistics, TN_STATISTIC_active, block->is_small,
                         block->size);
  tn_statistics_subtract(statistics, TN_STATISTIC_requested, block->is_small,
                         block->requested);
  drop(allocator, segment);
  tn_brief_lock_give(&allocator->lock);
  tn_error_restore(&before);
}

/* What else may hold the backend's memory: its other devices, and pinned
 * memory. */
static bool trim_relatives(tn_allocator *allocator)
{
  bool found = tn_pinned_trim();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next)
    if (a != allocator && a->state->backend == allocator->state->backend)
      found |= tn_allocator_trim(a);
  return found;
}

static uint64_t capacity_of(tn_device_state *state)
{
  uint64_t unused, total;
  if (state->backend->alloc.mem_info &&
      state->backend->alloc.mem_info(state->handle, &unused, &total) == TN_OK)
    return total;
  return state->info.memory_total;
}

static void refuse(const tn_request *request)
{
  tn_allocator *allocator = request->allocator;
  tn_brief_lock_take(&allocator->lock);
  allocator->statistics.ooms++;
  uint64_t reserved = tn_statistics_current(&allocator->statistics,
                                            TN_STATISTIC_reserved);
  uint64_t allocated = tn_statistics_current(&allocator->statistics,
                                             TN_STATISTIC_allocated);
  tn_brief_lock_give(&allocator->lock);
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(allocator->state->device, device, sizeof device);
  tn_error(TN_OUT_OF_MEMORY, "%s: no memory for %" PRIu64 " bytes: capacity "
           "%" PRIu64 ", reserved %" PRIu64 ", of which allocated %" PRIu64,
           device, request->requested, capacity_of(allocator->state),
           reserved, allocated);
}

static uint64_t segment_size(const tn_request *request)
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

/* In the order of how much each costs. */
static tn_block *get_after_making_room(const tn_request *request,
                                       bool *is_short)
{
  tn_allocator *allocator = request->allocator;
  uint64_t bytes = segment_size(request);
  tn_brief_lock_take(&allocator->lock);
  allocator->statistics.retries++;
  tn_brief_lock_give(&allocator->lock);
  tn_block *block = NULL;
  if (tn_allocator_trim(allocator))
    block = get_segment(request, bytes, is_short);
  if (!block && *is_short && tn_pending_wait(allocator)) {
    block = look_again(request);
    if (!block && tn_allocator_trim(allocator))
      block = get_segment(request, bytes, is_short);
  }
  if (!block && *is_short && trim_relatives(allocator))
    block = get_segment(request, bytes, is_short);
  /* Rather a segment without room for others than none. */
  if (!block && *is_short && bytes > request->size)
    block = get_segment(request, request->size, is_short);
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
  tn_error_state before;
  tn_error_save(&before);
  bool is_short;
  uint64_t round = round_of(request->allocator);
  tn_block *block = get_segment(request, segment_size(request), &is_short);
  if (!block && is_short) block = get_after_making_room(request, &is_short);
  /* Another thread may have made room, and have gone, in between. */
  if (!block && is_short && round != round_of(request->allocator))
    block = get_segment(request, segment_size(request), &is_short);
  if (!block && is_short) refuse(request);
  if (block) tn_error_restore(&before);
  return block;
}
