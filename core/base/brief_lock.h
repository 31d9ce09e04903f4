/* A lock for a few dozen instructions, at half the price of a mutex. Whoever
 * waits gives its turn away when the holder seems to have lost its own. */
#ifndef TN_CORE_BASE_BRIEF_LOCK_H
#define TN_CORE_BASE_BRIEF_LOCK_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct tn_brief_lock {
  atomic_bool is_held;
} tn_brief_lock;

void tn_brief_lock_wait(tn_brief_lock *lock);

static inline void tn_brief_lock_take(tn_brief_lock *lock)
{
  if (__builtin_expect(atomic_exchange_explicit(&lock->is_held, true,
                                                memory_order_acquire), 0))
    tn_brief_lock_wait(lock);
}

static inline void tn_brief_lock_give(tn_brief_lock *lock)
{
  atomic_store_explicit(&lock->is_held, false, memory_order_release);
}

#endif
