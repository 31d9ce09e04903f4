/* Blocks that were given back while other streams use them. */
#include "config.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/memory/allocator.h"

static tn_pending_queue *find_queue(tn_allocator *allocator,
                                    const tn_stream *stream)
{
  tn_pending_queue *queue = allocator->pending;
  while (queue && queue->stream != stream) queue = queue->next;
  return queue;
}

tn_status tn_pending_prepare(tn_allocator *allocator, const tn_stream *stream)
{
  if (find_queue(allocator, stream)) return TN_OK;
  tn_pending_queue *queue = calloc(1, sizeof *queue);
  if (!queue)
    return tn_error(TN_OUT_OF_MEMORY, "no memory to record a stream");
  queue->stream = stream;
  queue->next = allocator->pending;
  allocator->pending = queue;
  return TN_OK;
}

static void append(tn_pending_queue *queue, tn_block *block)
{
  block->free_next = NULL;
  if (queue->last) queue->last->free_next = block;
  else queue->first = block;
  queue->last = block;
}

void tn_pending_add(tn_block *block)
{
  tn_allocator *allocator = block->allocator;
  block->state = TN_BLOCK_PENDING;
  tn_statistics_pend(&allocator->statistics, block->is_small, block->size);
  append(find_queue(allocator, block->uses.items[0].stream), block);
  allocator->pending_count++;
  tn_allocator_set_watched(allocator);
}

static tn_block *pop(tn_pending_queue *queue)
{
  tn_block *block = queue->first;
  queue->first = block->free_next;
  if (!queue->first) queue->last = NULL;
  return block;
}

/* The first block whose use on the queue's own stream is not past holds up
 * those behind it: they were given back later. */
static void poll_queue(tn_allocator *allocator, tn_pending_queue *queue)
{
  while (queue->first) {
    tn_block *block = queue->first;
    bool is_free = tn_uses_are_past(&block->uses);
    if (!is_free && block->uses.items[0].stream == queue->stream) return;
    pop(queue);
    if (is_free) {
      allocator->pending_count--;
      tn_allocator_set_watched(allocator);
      tn_statistics_unpend(&allocator->statistics, block->is_small,
                           block->size);
      tn_block_to_cache(block);
    } else {
      append(find_queue(allocator, block->uses.items[0].stream), block);
    }
  }
}

void tn_pending_poll(tn_allocator *allocator)
{
  for (tn_pending_queue *q = allocator->pending; q; q = q->next)
    poll_queue(allocator, q);
}

/* What the block that was given back longest ago waits for, referenced. */
static tn_moment *first_moment(const tn_allocator *allocator)
{
  for (tn_pending_queue *q = allocator->pending; q; q = q->next)
    if (q->first && q->first->uses.count) {
      tn_moment *moment = q->first->uses.items[0].moment;
      tn_moment_retain(moment);
      return moment;
    }
  return NULL;
}

static unsigned count_uses(const tn_allocator *allocator)
{
  unsigned count = 0;
  for (tn_pending_queue *q = allocator->pending; q; q = q->next)
    for (tn_block *b = q->first; b; b = b->free_next) count += b->uses.count;
  return count;
}

/* One moment after the other: this allocates nothing. (A moment that has
 * failed is past.) No more of them than there are now: other threads may go
 * on giving blocks back. */
bool tn_pending_wait(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  unsigned left = count_uses(allocator);
  tn_brief_lock_give(&allocator->lock);
  bool were_there = left != 0;
  for (; left; left--) {
    tn_brief_lock_take(&allocator->lock);
    tn_pending_poll(allocator);
    tn_moment *moment = first_moment(allocator);
    tn_brief_lock_give(&allocator->lock);
    if (!moment) break;
    tn_moment_wait(moment, TN_NO_LIMIT);
    tn_moment_release(moment);
  }
  tn_brief_lock_take(&allocator->lock);
  tn_pending_poll(allocator);
  tn_brief_lock_give(&allocator->lock);
  return were_there;
}
