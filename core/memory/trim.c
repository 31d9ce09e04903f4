/* Giving segments back. */
#include "config.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/exec/capture.h"
#include "core/memory/address_table.h"
#include "core/memory/pinned.h"
#include "core/memory/pool.h"

/* Whether a wholly free segment is among those to give back. */
typedef bool (*choice)(const tn_segment *segment, const void *argument);

static bool is_wholly_free(const tn_segment *segment)
{
  return segment->first->state == TN_BLOCK_FREE && !segment->first->after;
}

/* Takes a wholly free segment out of everyone's sight, with a reference to
 * its stream; false if that is ending. The lock is held. */
static bool detach(tn_segment *segment, tn_segment **detached)
{
  tn_stream_cache *cache = segment->cache;
  tn_stream *stream = cache->stream;
  if (stream && !tn_stream_try_retain(stream)) return false;
  segment->stream = stream;
  tn_free_list_remove(&cache->lists[segment->is_small], segment->first);
  tn_segment_unlink(cache->allocator, segment);
  segment->next = *detached;
  segment->before = NULL;
  *detached = segment;
  return true;
}

static tn_segment *detach_all(tn_allocator *allocator, choice is_chosen,
                              const void *argument)
{
  tn_segment *detached = NULL;
  tn_brief_lock_take(&allocator->lock);
  tn_allocator_settle(allocator);
  for (tn_segment *s = allocator->segments, *next; s; s = next) {
    next = s->next;
    if (is_wholly_free(s) && is_chosen(s, argument)) detach(s, &detached);
  }
  tn_brief_lock_give(&allocator->lock);
  return detached;
}

/* Replays, and what reads their results, run on any stream. */
static bool is_of_graph(const tn_segment *segment)
{
  const tn_mem_pool *pool = segment->cache->pool;
  return pool && pool->id[0] != 0;
}

/* Not locked. The plugin must find all work on the memory complete. */
static void return_memory(tn_segment *detached)
{
  bool is_quiet = false;
  for (tn_segment *s = detached; s; s = s->next) {
    if (is_of_graph(s)) {
      if (!is_quiet) tn_streams_wait_idle(s->cache->allocator->state);
      is_quiet = true;
    } else if (s->stream && !tn_is_captured(s->stream))
      tn_stream_wait_idle(s->stream, TN_NO_LIMIT);
    tn_segment_free_memory(s->cache, s->size, s->address);
    tn_stream_release(s->stream);
  }
}

/* The lock is held. */
static void drop(tn_allocator *allocator, tn_segment *detached)
{
  while (detached) {
    tn_segment *next = detached->next;
    tn_allocator_trace_segment(TN_TRACE_SEGMENT_FREE, detached);
    tn_segment_count(detached, false);
    tn_block_struct_release(allocator, detached->first);
    free(detached);
    detached = next;
  }
}

static void give_segments_back(tn_allocator *allocator, tn_segment *detached)
{
  return_memory(detached);
  tn_brief_lock_take(&allocator->lock);
  drop(allocator, detached);
  bool has_pools = allocator->pools != NULL;
  tn_brief_lock_give(&allocator->lock);
  if (has_pools) tn_pool_bury(allocator);
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

static uint64_t begin(tn_allocator *allocator)
{
  pthread_mutex_lock(&allocator->trim_lock);
  uint64_t round = allocator->trim_round;
  allocator->trimming++;
  pthread_mutex_unlock(&allocator->trim_lock);
  return round;
}

/* Gives back what was detached after `begin`. */
static bool finish(tn_allocator *allocator, uint64_t round,
                   tn_segment *detached)
{
  if (detached) give_segments_back(allocator, detached);
  pthread_mutex_lock(&allocator->trim_lock);
  allocator->trimming--;
  if (detached) allocator->trim_round++;
  pthread_cond_broadcast(&allocator->trimmed);
  bool found = detached || wait_for_others(allocator, round);
  pthread_mutex_unlock(&allocator->trim_lock);
  return found;
}

static bool is_unclaimed(const tn_segment *segment, const void *own)
{
  const tn_mem_pool *pool = segment->cache->pool;
  return !pool || pool->is_released || (pool == own && pool->holds == 0);
}

bool tn_allocator_trim(tn_allocator *allocator, const tn_mem_pool *own)
{
  uint64_t round = begin(allocator);
  return finish(allocator, round, detach_all(allocator, is_unclaimed, own));
}

static bool is_of_pool(const tn_segment *segment, const void *pool)
{
  return segment->cache->pool == pool;
}

bool tn_allocator_trim_pool(tn_allocator *allocator, const tn_mem_pool *pool)
{
  uint64_t round = begin(allocator);
  return finish(allocator, round, detach_all(allocator, is_of_pool, pool));
}

/* Of the segments a request may have: the smallest that is large enough, or
 * else the largest. */
static tn_segment *best_for(const tn_request *request, uint64_t bytes)
{
  tn_segment *best = NULL;
  for (tn_segment *s = request->allocator->segments; s; s = s->next) {
    if (s->cache != request->cache || s->is_small || !is_wholly_free(s))
      continue;
    if (s->size < request->allocator->conf.max_split_size) continue;
    bool is_better = !best || (best->size < bytes ? s->size > best->size
                                                  : s->size >= bytes &&
                                                    s->size < best->size);
    if (is_better) best = s;
  }
  return best;
}

/* A pool that keeps its memory has nothing to give. */
static uint64_t size_wanted(const tn_request *request)
{
  const tn_mem_pool *pool = request->cache->pool;
  uint64_t least = request->allocator->conf.max_split_size;
  if (least == UINT64_MAX || (pool && pool->holds)) return 0;
  return request->size > least ? request->size : least;
}

static tn_segment *detach_oversized(const tn_request *request)
{
  tn_allocator *allocator = request->allocator;
  tn_segment *detached = NULL;
  tn_brief_lock_take(&allocator->lock);
  tn_allocator_settle(allocator);
  uint64_t wanted = size_wanted(request);
  while (wanted) {
    tn_segment *best = best_for(request, wanted);
    uint64_t size = best ? best->size : 0;
    if (!best || !detach(best, &detached)) break;
    wanted -= size < wanted ? size : wanted;
  }
  tn_brief_lock_give(&allocator->lock);
  return detached;
}

bool tn_allocator_trim_oversized(const tn_request *request)
{
  uint64_t round = begin(request->allocator);
  return finish(request->allocator, round, detach_oversized(request));
}

static bool is_collectable(const tn_segment *segment)
{
  return !segment->is_small && !segment->cache->pool &&
         is_wholly_free(segment);
}

static uint64_t age_of(const tn_segment *segment)
{
  return segment->cache->allocator->clock - segment->free_since;
}

/* UINT64_MAX: there are none. */
static uint64_t average_age(const tn_allocator *allocator)
{
  uint64_t sum = 0, count = 0;
  for (tn_segment *s = allocator->segments; s; s = s->next) {
    if (!is_collectable(s)) continue;
    sum += age_of(s);
    count++;
  }
  return count ? sum / count : UINT64_MAX;
}

/* Those of at least an age, until enough is found; true if there was one. */
static bool detach_older(tn_allocator *allocator, uint64_t age,
                         uint64_t *wanted, tn_segment **detached)
{
  bool found = false;
  for (tn_segment *s = allocator->segments, *next; s && *wanted; s = next) {
    next = s->next;
    uint64_t size = s->size;
    if (!is_collectable(s) || age_of(s) < age || !detach(s, detached))
      continue;
    found = true;
    *wanted -= size < *wanted ? size : *wanted;
  }
  return found;
}

static tn_segment *detach_oldest(tn_allocator *allocator, uint64_t wanted)
{
  tn_segment *detached = NULL;
  while (wanted && detach_older(allocator, average_age(allocator), &wanted,
                                &detached))
    ;
  return detached;
}

/* Bytes above the threshold; the lock is held. */
static uint64_t excess(const tn_allocator *allocator, uint64_t capacity)
{
  double threshold = allocator->conf.garbage_collection_threshold;
  uint64_t all = allocator->limit < capacity ? allocator->limit : capacity;
  uint64_t most = (uint64_t)(threshold * (double)all);
  uint64_t reserved = tn_statistics_current(&allocator->statistics,
                                            TN_STATISTIC_reserved);
  return reserved > most ? reserved - most : 0;
}

static bool is_collecting(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  bool is_on = allocator->conf.garbage_collection_threshold > 0;
  tn_brief_lock_give(&allocator->lock);
  return is_on;
}

bool tn_allocator_collect(tn_allocator *allocator)
{
  if (!is_collecting(allocator)) return false;
  uint64_t capacity = tn_allocator_capacity(allocator);
  uint64_t round = begin(allocator);
  tn_brief_lock_take(&allocator->lock);
  tn_allocator_settle(allocator);
  tn_segment *detached = detach_oldest(allocator, excess(allocator, capacity));
  tn_brief_lock_give(&allocator->lock);
  return finish(allocator, round, detached);
}

bool tn_allocator_trim_relatives(tn_allocator *allocator)
{
  bool found = tn_pinned_trim();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next)
    if (a != allocator && a->state->backend == allocator->state->backend)
      found |= tn_allocator_trim(a, NULL);
  return found;
}

uint64_t tn_allocator_trim_round(tn_allocator *allocator)
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
  tn_segment_unlink(allocator, segment);
  segment->next = NULL;
  tn_brief_lock_give(&allocator->lock);
  return_memory(segment);
  if (block->is_in_table) tn_address_table_remove(block);
  tn_brief_lock_take(&allocator->lock);
  tn_statistics_unpend(statistics, block->is_small, block->size);
  tn_statistics_subtract(statistics, TN_STATISTIC_requested, block->is_small,
                         block->requested);
  tn_allocator_trace_block(TN_TRACE_FREE_COMPLETED, block);
  drop(allocator, segment);
  bool has_pools = allocator->pools != NULL;
  tn_brief_lock_give(&allocator->lock);
  if (has_pools) tn_pool_bury(allocator);
  tn_error_restore(&before);
}
