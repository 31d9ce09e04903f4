#include "config.h"

#include "core/memory/extent.h"

#include "core/memory/pool.h"

/* Locked. */
static tn_segment *segment_around(tn_allocator *allocator, tn_address address)
{
  tn_segment *s = allocator->segments;
  while (s && (address < s->address || address - s->address >= s->size))
    s = s->next;
  return s;
}

/* Locked. */
static tn_block *live_block(const tn_segment *segment, tn_address address)
{
  tn_block *block = segment ? segment->first : NULL;
  while (block && address - block->address >= block->size)
    block = block->after;
  return block && block->state == TN_BLOCK_LIVE ? block : NULL;
}

tn_block *tn_block_around(tn_address address)
{
  tn_block *block = NULL;
  for (tn_allocator *a = tn_allocator_first(); a && !block; a = a->next) {
    tn_brief_lock_take(&a->lock);
    block = live_block(segment_around(a, address), address);
    tn_brief_lock_give(&a->lock);
  }
  return block;
}

/* Locked. */
static bool extent_in(tn_allocator *allocator, tn_address address,
                      tn_extent *extent)
{
  const tn_segment *segment = segment_around(allocator, address);
  const tn_block *block = live_block(segment, address);
  const tn_mem_pool *pool = segment ? segment->cache->pool : NULL;
  bool is_held = pool && pool->holds > 0;
  if (!block && !is_held) return false;
  *extent = (tn_extent){
    .state = allocator->state,
    .address = is_held ? segment->address : block->address,
    .bytes = is_held ? segment->size : block->size,
  };
  return true;
}

bool tn_extent_of(tn_address address, tn_extent *extent)
{
  bool is_found = false;
  for (tn_allocator *a = tn_allocator_first(); a && !is_found; a = a->next) {
    tn_brief_lock_take(&a->lock);
    is_found = extent_in(a, address, extent);
    tn_brief_lock_give(&a->lock);
  }
  return is_found;
}
