#include "config.h"

#include "core/base/fork.h"

#include <pthread.h>
#include <stdatomic.h>

static atomic_uint generation;

static void enter_child(void)
{
  atomic_fetch_add_explicit(&generation, 1, memory_order_relaxed);
}

static void watch(void) { pthread_atfork(NULL, NULL, enter_child); }

void tn_fork_mark(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, watch);
}

unsigned tn_fork_generation(void)
{
  return atomic_load_explicit(&generation, memory_order_relaxed);
}

bool tn_is_forked_child(void) { return tn_fork_generation() != 0; }
