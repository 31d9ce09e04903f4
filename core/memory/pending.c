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
  append(find_queue(allocator, block->uses.items[0].stream), block);
  allocator->pending_count++;
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

static tn_status collect(tn_allocator *allocator, tn_uses *all)
{
  tn_status status = TN_OK;
  for (tn_pending_queue *q = allocator->pending; q; q = q->next)
    for (tn_block *b = q->first; b && status == TN_OK; b = b->free_next)
      status = tn_uses_collect(&b->uses, all);
  return status;
}

bool tn_pending_wait(tn_allocator *allocator)
{
  tn_uses all = { 0 };
  tn_brief_lock_take(&allocator->lock);
  bool are_there = allocator->pending_count != 0;
  collect(allocator, &all);
  tn_brief_lock_give(&allocator->lock);
  tn_uses_wait(&all);
  tn_brief_lock_take(&allocator->lock);
  tn_pending_poll(allocator);
  tn_brief_lock_give(&allocator->lock);
  return are_there;
}
