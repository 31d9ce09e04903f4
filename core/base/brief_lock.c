#include "config.h"

#include "core/base/brief_lock.h"

#include <sched.h>
#include <time.h>

static void pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#else
  atomic_signal_fence(memory_order_seq_cst);
#endif
}

static bool try_take(tn_brief_lock *lock)
{
  return !atomic_load_explicit(&lock->is_held, memory_order_relaxed) &&
         !atomic_exchange_explicit(&lock->is_held, true,
                                   memory_order_acquire);
}

/* A microsecond or so, then turns, then naps: the holder was preempted. */
void tn_brief_lock_wait(tn_brief_lock *lock)
{
  const struct timespec nap = { 0, 50000 };
  for (int tries = 0; !try_take(lock); tries++) {
    if (tries < 50) pause_core();
    else if (tries < 60) sched_yield();
    else nanosleep(&nap, NULL);
  }
}
