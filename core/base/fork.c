#include "config.h"

#include "core/base/fork.h"

#include <pthread.h>

atomic_uint tn_forks;

static void enter_child(void)
{
  atomic_fetch_add_explicit(&tn_forks, 1, memory_order_relaxed);
}

static void watch(void) { pthread_atfork(NULL, NULL, enter_child); }

void tn_fork_mark(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}
