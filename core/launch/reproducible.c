/* Whether vendors' routines are kept out (rule N2). */
#include "config.h"

#include <stdatomic.h>

#include "core/base/environment.h"
#include "tenon/kernel.h"

enum { UNREAD, OFF, ON };
static atomic_int state = UNREAD;

void tn_set_reproducible(bool reproducible)
{
  atomic_store_explicit(&state, reproducible ? ON : OFF,
                        memory_order_relaxed);
}

bool tn_is_reproducible(void)
{
  int now = atomic_load_explicit(&state, memory_order_relaxed);
  if (now != UNREAD) return now == ON;
  int wanted = tn_environment_is_on("TENON_REPRODUCIBLE") ? ON : OFF;
  /* Unless another thread has set it meanwhile. */
  if (atomic_compare_exchange_strong(&state, &now, wanted)) now = wanted;
  return now == ON;
}
