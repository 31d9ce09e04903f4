#include "config.h"

#include "core/memory/snapshot.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/memory/pool.h"

/* How much room a copy has. */
typedef struct room {
  size_t segments, blocks, events;
} room;

/* Locked. */
static room room_needed(const tn_allocator *allocator)
{
  room needed = { 0 };
  for (tn_segment *s = allocator->segments; s; s = s->next) {
    needed.segments++;
    for (tn_block *b = s->first; b; b = b->after) needed.blocks++;
  }
  if (allocator->trace) needed.events = allocator->trace->count;
  return needed;
}

static bool fits(room needed, room have)
{
  return needed.segments <= have.segments && needed.blocks <= have.blocks &&
         needed.events <= have.events;
}

static bool make_room(tn_snapshot *out, room *have, room needed)
{
  free(out->segments);
  free(out->blocks);
  free(out->events);
  /* Some more: other threads go on. */
  have->segments = needed.segments + needed.segments / 8 + 8;
  have->blocks = needed.blocks + needed.blocks / 8 + 64;
  have->events = needed.events + needed.events / 8 + 64;
  out->segments = calloc(have->segments, sizeof *out->segments);
  out->blocks = calloc(have->blocks, sizeof *out->blocks);
  out->events = calloc(have->events, sizeof *out->events);
  return out->segments && out->blocks && out->events;
}

static void copy_block(const tn_block *block, tn_seen_segment *segment,
                       tn_seen_block *out)
{
  bool is_active = block->state == TN_BLOCK_LIVE ||
                   block->state == TN_BLOCK_PENDING;
  *out = (tn_seen_block){
    .address = block->address, .size = block->size,
    .requested = is_active ? block->requested : 0,
    .state = (tn_block_state)block->state, .holder = block->holder };
  segment->count++;
  segment->requested += out->requested;
  if (is_active) segment->active += block->size;
  if (block->state == TN_BLOCK_LIVE) segment->allocated += block->size;
}

static void copy_segment(const tn_segment *s, tn_snapshot *out)
{
  const tn_stream_cache *cache = s->cache;
  tn_seen_segment *seen = &out->segments[out->segment_count++];
  *seen = (tn_seen_segment){
    .address = s->address, .size = s->size, .is_small = s->is_small,
    .stream = cache->stream_id, .first = out->block_count,
    .pool = { cache->pool ? cache->pool->id[0] : 0,
              cache->pool ? cache->pool->id[1] : 0 } };
  for (tn_block *b = s->first; b; b = b->after)
    copy_block(b, seen, &out->blocks[out->block_count++]);
}

static void copy_events(const tn_trace *trace, tn_snapshot *out)
{
  for (size_t i = 0; trace && i < trace->count; i++) {
    out->events[i] = *tn_trace_event_at(trace, i);
    tn_trace_note_retain(out->events[i].note);
  }
  out->event_count = trace ? trace->count : 0;
}

/* Locked. */
static void copy_all(tn_allocator *allocator, tn_snapshot *out)
{
  for (tn_segment *s = allocator->segments; s; s = s->next)
    copy_segment(s, out);
  if (allocator->trace)
    tn_trace_record(allocator->trace, (tn_trace_event){
      .action = TN_TRACE_SNAPSHOT,
      .size = tn_statistics_current(&allocator->statistics,
                                    TN_STATISTIC_reserved) });
  out->device = allocator->state->device;
  out->conf = allocator->conf;
  out->fraction = allocator->fraction;
  tn_statistics_read(&allocator->statistics, &out->stats);
}

static int compare(const void *one, const void *other)
{
  uint64_t a = ((const tn_seen_segment *)one)->address;
  uint64_t b = ((const tn_seen_segment *)other)->address;
  return (a > b) - (a < b);
}

/* Locked; false if there is not enough room. */
static bool try_copy(tn_allocator *allocator, bool is_inside, room have,
                     room *needed, tn_snapshot *out)
{
  if (is_inside) tn_pending_poll(allocator);
  tn_allocator_settle(allocator);
  *needed = room_needed(allocator);
  if (!fits(*needed, have)) return false;
  copy_events(allocator->trace, out);
  copy_all(allocator, out);
  return true;
}

tn_status tn_snapshot_take(tn_allocator *allocator, tn_snapshot *out)
{
  *out = (tn_snapshot){ 0 };
  room have = { 0 }, needed = { 0 };
  bool is_done = false;
  bool is_inside = tn_enter_to_release(allocator->state);
  while (!is_done) {
    if (!make_room(out, &have, needed)) break;
    tn_brief_lock_take(&allocator->lock);
    is_done = try_copy(allocator, is_inside, have, &needed, out);
    tn_brief_lock_give(&allocator->lock);
  }
  if (is_inside) tn_leave();
  if (!is_done) {
    tn_snapshot_free(out);
    return tn_error(TN_OUT_OF_MEMORY, "no memory for a snapshot of %zu blocks",
                    needed.blocks);
  }
  qsort(out->segments, out->segment_count, sizeof *out->segments, compare);
  return TN_OK;
}

void tn_snapshot_free(tn_snapshot *snapshot)
{
  for (size_t i = 0; i < snapshot->event_count; i++)
    tn_trace_note_release(snapshot->events[i].note);
  free(snapshot->segments);
  free(snapshot->blocks);
  free(snapshot->events);
  *snapshot = (tn_snapshot){ 0 };
}
