/* The end of the library: the layers give back what they hold, in order. */
#ifndef TN_CORE_BASE_SHUTDOWN_H
#define TN_CORE_BASE_SHUTDOWN_H

#include <stdatomic.h>
#include <stdbool.h>

#include "tenon/status.h"

extern atomic_bool tn_shutdown_began; /* written by tn_shutdown only */
extern atomic_bool tn_shutdown_is_due; /* is to be armed after a wait */

/* In order of execution. */
typedef enum tn_shutdown_step {
  TN_SHUTDOWN_GATE,   /* core/device: no device is handed out any more */
  TN_SHUTDOWN_WAIT,   /* core/exec: waits for all queued work */
  TN_SHUTDOWN_GRAPH,  /* the rest destroy what is theirs, top down */
  TN_SHUTDOWN_LAUNCH,
  TN_SHUTDOWN_COPY,
  TN_SHUTDOWN_MEMORY,
  TN_SHUTDOWN_EXEC,
  TN_SHUTDOWN_DEVICE, /* closes devices, then ends plugins */
  TN_SHUTDOWN_STEP_COUNT
} tn_shutdown_step;

/* Sets a step's one hook; may be repeated with the same one. Hooks run once,
 * in one thread, and work on what they hold: tn_device_acquire refuses by
 * then. In a forked child only the gate is shut: what the others would give
 * back is the parent's. */
void tn_shutdown_hook(tn_shutdown_step step, void (*hook)(void));

/* Sees to it that tn_shutdown runs at exit before the exit handlers that are
 * registered by now; called after a driver was loaded or started, or compiled
 * something, since its handlers take away what our shutdown needs. */
void tn_shutdown_arm(void);

/* The same once the host has waited: for drivers that compile a kernel in a
 * thread of theirs when it first runs, as PoCL does. Called for each kernel. */
void tn_shutdown_arm_later(void);

/* After a wait of the host. */
static inline void tn_shutdown_see_wait(void)
{
  if (atomic_load_explicit(&tn_shutdown_is_due, memory_order_relaxed) &&
      atomic_exchange(&tn_shutdown_is_due, false))
    tn_shutdown_arm();
}

/* From a hook: no later step runs. For an end while work or threads of the
 * program are still at what would be given back. */
void tn_shutdown_abandon(void);

/* True as soon as the shutdown began: releasing then does nothing. */
static inline bool tn_is_shut_down(void)
{
  return atomic_load_explicit(&tn_shutdown_began, memory_order_acquire);
}

/* TN_SHUT_DOWN with its text. */
tn_status tn_refuse_shut_down(void);

#endif
