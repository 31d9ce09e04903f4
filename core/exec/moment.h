/* Moments: points in streams' queues with counted references, so that events,
 * waits and memory can hold the same one. */
#ifndef TN_CORE_EXEC_MOMENT_H
#define TN_CORE_EXEC_MOMENT_H

#include "core/base/refcount.h"
#include "core/device/device_state.h"

typedef struct tn_moment {
  tn_refcount refs;
  atomic_bool is_complete; /* never goes back */
  tn_device_state *state;
  tn_point point;
} tn_moment;

#define TN_NO_LIMIT UINT64_MAX /* nanoseconds */

/* A moment of a point that the plugin just recorded, which it owns from now
 * on. NULL without memory: the point was released. */
tn_moment *tn_moment_new(tn_device_state *state, const tn_point *point);

static inline void tn_moment_retain(tn_moment *moment)
{
  if (moment) tn_refcount_retain(&moment->refs);
}

/* NULL does nothing. After shutdown no plugin is called. */
void tn_moment_release(tn_moment *moment);

/* TN_OK, TN_NOT_READY (no error set) or what the device answers when it is
 * lost. Never blocks. NULL, as a moment known to be past: TN_OK. */
tn_status tn_moment_query(tn_moment *moment);

/* Blocks at most `timeout` nanoseconds; then TN_TIMEOUT, without an error
 * text: the caller knows what was waited for. No lock may be held. */
tn_status tn_moment_wait(tn_moment *moment, uint64_t timeout);

#endif
