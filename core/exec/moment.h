/* Moments: points in streams' queues with counted references, so that events,
 * waits and memory can hold the same one. */
#ifndef TN_CORE_EXEC_MOMENT_H
#define TN_CORE_EXEC_MOMENT_H

#include "core/base/brief_lock.h"
#include "core/base/refcount.h"
#include "core/device/device_state.h"

typedef struct tn_moment {
  tn_refcount refs;
  atomic_bool is_complete; /* never goes back */
  tn_device_state *state;
  tn_point point;
  struct tn_capture_mark *mark; /* in a capture, and without a point */
  /* Under the lock of the device's list: */
  bool is_listed; /* the point is not released */
  bool is_dead;   /* without references, since the shutdown began */
  struct tn_moment *next, *before;
} tn_moment;

/* All moments of a device, so that the end can release their points. */
typedef struct tn_moment_list {
  tn_brief_lock lock;
  tn_moment *first;
} tn_moment_list;

#define TN_NO_LIMIT UINT64_MAX /* nanoseconds */

/* A moment of a point that the plugin just recorded, which it owns from now
 * on. NULL without memory: the point was released. */
tn_moment *tn_moment_new(tn_device_state *state, const tn_point *point);

/* A moment in a capture, which takes over the mark; NULL without memory. */
tn_moment *tn_moment_of_capture(tn_device_state *state,
                                struct tn_capture_mark *mark);

static inline void tn_moment_retain(tn_moment *moment)
{
  if (moment) tn_refcount_retain(&moment->refs);
}

/* NULL does nothing. From the shutdown on, and in a forked child that may not
 * use the backend, no plugin is called. */
void tn_moment_release(tn_moment *moment);

/* For the end: releases the points of all moments of a device. */
void tn_moment_list_finish(tn_moment_list *list);

/* TN_OK, TN_NOT_READY (no error set) or what the device answers when it is
 * lost. Never blocks. NULL, as a moment known to be past: TN_OK. */
tn_status tn_moment_query(tn_moment *moment);

/* The same without an error text. */
tn_status tn_moment_poll(tn_moment *moment);

/* Blocks at most `timeout` nanoseconds; then TN_TIMEOUT, without an error
 * text: the caller knows what was waited for. No lock may be held. */
tn_status tn_moment_wait(tn_moment *moment, uint64_t timeout);

#endif
