/* Memory pools: caches of their own, beside the device's. */
#ifndef TN_CORE_MEMORY_POOL_H
#define TN_CORE_MEMORY_POOL_H

#include "core/memory/allocator.h"

struct tn_mem_pool {
  tn_refcount refs;
  uint64_t id[2]; /* {0, n} for the program's, {n, 0} for graphs' */
  tn_allocator *allocator;
  tn_mem_pool_options options;
  /* Under the allocator's lock: */
  bool is_released; /* there are no references: it lives on for its blocks */
  unsigned holds;
  size_t segments;
  struct tn_mem_pool *next; /* of the allocator */
};

/* This thread's pools, one for each device that has one; few. */
typedef struct tn_current_pools {
  unsigned count, capacity;
  tn_mem_pool **pools; /* referenced */
} tn_current_pools;

extern TN_HOT_THREAD_LOCAL tn_current_pools tn_current_pools_mine;

/* NULL: the device's own caches. By name: where the linker relaxes its access,
 * UBSan of gcc 12 takes a pointer to it for NULL. */
static inline tn_mem_pool *tn_pool_current_of(const tn_device_state *state)
{
  tn_mem_pool **pools = tn_current_pools_mine.pools;
  for (unsigned i = 0; i < tn_current_pools_mine.count; i++)
    if (pools[i]->allocator->state == state) return pools[i];
  return NULL;
}

/* Not locked: frees released pools that have no segment left. */
void tn_pool_bury(tn_allocator *allocator);

/* For core/graph. A capture makes (or is given) a pool, routes each stream
 * that it captures to it, and routes it back (NULL) when it ends: until then,
 * allocations for that stream come from the pool, in every thread (but for
 * those inside a tn_with_pool, which goes before). Blocks of the pool are
 * reused only for the pool. While there are holds, none of its memory goes
 * back to the device, wherever memory is short: replays use it. A hold needs a
 * reference of its own. The caller is inside tn_enter. */
tn_mem_pool *tn_pool_new_for_graph(tn_device_state *state);
tn_status tn_pool_route(tn_stream *stream, tn_mem_pool *pool);
void tn_pool_hold(tn_mem_pool *pool);
void tn_pool_let_go(tn_mem_pool *pool);

#endif
