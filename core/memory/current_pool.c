/* This thread's pools, and the guard around a change. */
#include "config.h"

#include <stdlib.h>

#include "core/base/error.h"
#include "core/memory/pool.h"

TN_HOT_THREAD_LOCAL tn_current_pools tn_current_pools_mine;

static pthread_key_t key;
static bool has_key;

static void release_all(void *argument)
{
  tn_current_pools *mine = argument;
  tn_current_pools rest = *mine;
  *mine = (tn_current_pools){ 0 };
  for (unsigned i = 0; i < rest.count; i++)
    tn_mem_pool_release(rest.pools[i]);
  free(rest.pools);
}

static void start(void)
{
  has_key = pthread_key_create(&key, release_all) == 0;
}

static bool grow(tn_current_pools *mine)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  unsigned capacity = mine->capacity ? 2 * mine->capacity : 4;
  tn_mem_pool **larger = has_key && pthread_setspecific(key, mine) == 0
      ? realloc(mine->pools, capacity * sizeof *larger) : NULL;
  if (!larger) return false;
  mine->pools = larger;
  mine->capacity = capacity;
  return true;
}

static unsigned place_of(const tn_allocator *allocator)
{
  const tn_current_pools *mine = &tn_current_pools_mine;
  unsigned i = 0;
  while (i < mine->count && mine->pools[i]->allocator != allocator) i++;
  return i;
}

tn_mem_pool_guard tn_mem_pool_push(tn_mem_pool *pool)
{
  tn_mem_pool_guard guard = { 0 };
  tn_current_pools *mine = &tn_current_pools_mine;
  if (!pool) {
    tn_error(TN_INVALID_ARGUMENT, "memory pool is NULL");
    return guard;
  }
  if (tn_is_shut_down()) {
    tn_refuse_shut_down();
    return guard;
  }
  unsigned i = place_of(pool->allocator);
  if (i == mine->count && i == mine->capacity && !grow(mine)) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a current memory pool");
    return guard;
  }
  if (i < mine->count) guard.saved = mine->pools[i]; /* with its reference */
  else mine->count++;
  mine->pools[i] = guard.entered = tn_mem_pool_retain(pool);
  guard.active = 1;
  return guard;
}

void tn_mem_pool_pop(tn_mem_pool_guard *guard)
{
  tn_current_pools *mine = &tn_current_pools_mine;
  if (!guard || !guard->active) return;
  guard->active = 0;
  unsigned i = place_of(guard->entered->allocator);
  tn_mem_pool *left = i < mine->count ? mine->pools[i] : NULL;
  if (guard->saved && left) mine->pools[i] = guard->saved;
  else if (left) mine->pools[i] = mine->pools[--mine->count];
  guard->saved = NULL;
  tn_mem_pool_release(left);
}
