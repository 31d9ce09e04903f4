#include "config.h"

#include "core/memory/finish.h"

#include <pthread.h>

#include "core/base/shutdown.h"
#include "core/exec/finish.h"
#include "core/memory/address_table.h"
#include "core/memory/allocator.h"
#include "core/memory/pinned.h"

/* All work is complete, and every call is refused. Structs stay: programs may
 * hold blocks. */
static void give_back_segments(tn_allocator *allocator)
{
  tn_device_state *state = allocator->state;
  tn_alloc_desc desc = { .struct_size = sizeof desc,
                         .kind = TN_MEMORY_DEVICE };
  tn_brief_lock_take(&allocator->lock);
  for (tn_segment *s = allocator->segments; s; s = s->next) {
    desc.bytes = s->size;
    state->backend->alloc.free(state->handle, &desc, s->address);
  }
  tn_brief_lock_give(&allocator->lock);
}

static void finish(void)
{
  tn_pinned_destroy();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next)
    give_back_segments(a);
}

/* An allocator's lock may be held when the table's is taken; else no thread
 * holds two of these. */
static void before_fork(void)
{
  tn_pinned_lock();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next) {
    pthread_mutex_lock(&a->trim_lock);
    tn_brief_lock_take(&a->lock);
  }
  tn_address_table_lock();
}

static void after_fork(void)
{
  tn_address_table_unlock();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next) {
    tn_brief_lock_give(&a->lock);
    pthread_mutex_unlock(&a->trim_lock);
  }
  tn_pinned_unlock();
}

static void arm(void)
{
  pthread_atfork(before_fork, after_fork, after_fork);
  tn_shutdown_hook(TN_SHUTDOWN_MEMORY, finish);
}

void tn_memory_arm(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tn_exec_arm(); /* first: its locks may be taken while ours are held */
  pthread_once(&once, arm);
}
