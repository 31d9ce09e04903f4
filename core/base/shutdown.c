#include "config.h"

#include "core/base/shutdown.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "tenon/device.h"

typedef void hook_function(void);

static _Atomic(hook_function *) hooks[TN_SHUTDOWN_STEP_COUNT];
atomic_bool tn_shutdown_began, tn_shutdown_is_due;
static atomic_bool is_abandoned;

void tn_shutdown_hook(tn_shutdown_step step, void (*hook)(void))
{
  atomic_store(&hooks[step], hook);
}

void tn_shutdown_arm(void) { atexit(tn_shutdown); }

/* Exit handlers cannot be taken back, and a compiler has registered its own
 * long before so many kernels: a program may get one for each step. */
void tn_shutdown_arm_later(void)
{
  static atomic_uint kernels;
  if (atomic_load_explicit(&kernels, memory_order_relaxed) >= 1000) return;
  atomic_fetch_add_explicit(&kernels, 1, memory_order_relaxed);
  atomic_store(&tn_shutdown_is_due, true);
}

tn_status tn_refuse_shut_down(void)
{
  return tn_error(TN_SHUT_DOWN, "the library has shut down");
}

void tn_shutdown_abandon(void) { atomic_store(&is_abandoned, true); }

static void run(tn_shutdown_step step)
{
  if (atomic_load(&is_abandoned)) return;
  hook_function *hook = atomic_load(&hooks[step]);
  if (hook) hook();
}

void tn_shutdown(void)
{
  if (atomic_exchange(&tn_shutdown_began, true)) return;
  run(TN_SHUTDOWN_GATE);
  for (int step = TN_SHUTDOWN_GATE + 1;
       step < TN_SHUTDOWN_STEP_COUNT && !tn_is_forked_child(); step++)
    run((tn_shutdown_step)step);
}
