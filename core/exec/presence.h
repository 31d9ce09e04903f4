/* Which threads are inside the library, so that its end can wait for them.
 *
 * A call that uses a device is bracketed by tn_enter and tn_leave. That costs
 * two plain stores: the shutdown, which happens once, pays for the ordering
 * (membarrier). */
#ifndef TN_CORE_EXEC_PRESENCE_H
#define TN_CORE_EXEC_PRESENCE_H

#include <stdatomic.h>
#include <stdbool.h>

#include "core/base/fork.h"
#include "core/base/shutdown.h"
#include "core/base/thread.h"
#include "core/device/device_state.h"

typedef struct tn_presence {
  atomic_uint depth; /* calls of this thread in progress; written by it only */
  bool needs_fence;  /* the system has no membarrier */
  struct tn_presence *next, *before;
} tn_presence;

extern TN_HOT_THREAD_LOCAL tn_presence *tn_presence_mine;

/* This thread's record, made at its first call. Never NULL: threads for which
 * there is no memory share one that makes the shutdown give nothing back. */
tn_presence *tn_presence_new(void);

/* The refusal after shutdown or in a forked child, or TN_OK if the child may
 * go on (cpu). */
tn_status tn_enter_unusual(tn_device_state *state);
bool tn_may_release_unusual(tn_device_state *state);

static inline void tn_presence_set(tn_presence *mine, int change)
{
  unsigned depth = atomic_load_explicit(&mine->depth, memory_order_relaxed);
  atomic_store_explicit(&mine->depth, depth + (unsigned)change,
                        memory_order_release);
}

static inline void tn_leave(void)
{
  tn_presence_set(tn_presence_mine, -1);
}

/* Shows this thread, and whether something happened that hardly ever does:
 * the shutdown began, or this is a forked child. */
static inline bool tn_presence_begin(void)
{
  tn_presence *mine = tn_presence_mine;
  if (__builtin_expect(!mine, 0)) mine = tn_presence_new();
  tn_presence_set(mine, 1);
  if (__builtin_expect(mine->needs_fence, 0))
    atomic_thread_fence(memory_order_seq_cst);
  else
    atomic_signal_fence(memory_order_seq_cst);
  return tn_is_shut_down() || tn_is_forked_child();
}

/* Enters the library for work on a device. On success tn_leave must follow;
 * calls nest. */
static inline tn_status tn_enter(tn_device_state *state)
{
  if (__builtin_expect(!tn_presence_begin(), 1)) return TN_OK;
  tn_status status = tn_enter_unusual(state);
  if (status != TN_OK) tn_leave();
  return status;
}

/* The same for giving back: false, and no error set, when there is nothing to
 * give back to (any more). */
static inline bool tn_enter_to_release(tn_device_state *state)
{
  if (__builtin_expect(!tn_presence_begin(), 1)) return true;
  bool is_inside = tn_may_release_unusual(state);
  if (!is_inside) tn_leave();
  return is_inside;
}

/* For the shutdown, after tn_is_shut_down became true: waits until no other
 * thread is inside, at most `seconds`. False if one still is. */
bool tn_presence_drain(double seconds);

#endif
