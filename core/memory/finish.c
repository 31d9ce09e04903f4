#include "config.h"

#include "core/memory/finish.h"

#include <pthread.h>

#include "core/base/shutdown.h"
#include "core/exec/finish.h"
#include "core/memory/address_table.h"
#include "core/memory/oom.h"
#include "core/memory/pinned.h"
#include "core/memory/pool.h"

/* All work is complete, and every call is refused. Structs stay: programs may
 * hold blocks. What a program's own functions allocated is left: their context
 * may be gone. */
static void give_back_segments(tn_allocator *allocator)
{
  tn_brief_lock_take(&allocator->lock);
  for (tn_segment *s = allocator->segments; s; s = s->next) {
    bool is_foreign = s->cache->pool && s->cache->pool->options.free;
    if (!is_foreign) tn_segment_free_memory(s->cache, s->size, s->address);
  }
  tn_brief_lock_give(&allocator->lock);
}

static void finish(void)
{
  tn_pinned_destroy();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next)
    give_back_segments(a);
}

/* An allocator's lock may be held when the table's or the notes' is taken,
 * and the one of whoever sets options when those of conf.c, of allocators and
 * of pinned memory are; else no thread holds two of these. */
static void before_fork(void)
{
  tn_conf_lock();
  tn_pinned_lock();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next) {
    pthread_mutex_lock(&a->trim_lock);
    tn_brief_lock_take(&a->lock);
  }
  tn_address_table_lock();
  tn_trace_note_lock();
  tn_memory_tag_lock();
  tn_oom_lock();
}

static void after_fork(void)
{
  tn_oom_unlock();
  tn_memory_tag_unlock();
  tn_trace_note_unlock();
  tn_address_table_unlock();
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next) {
    tn_brief_lock_give(&a->lock);
    pthread_mutex_unlock(&a->trim_lock);
  }
  tn_pinned_unlock();
  tn_conf_unlock();
}

/* Whoever was giving segments back does not do so here: nobody waits for it. */
static void in_child(void)
{
  for (tn_allocator *a = tn_allocator_first(); a; a = a->next) {
    a->trimming = 0;
    pthread_cond_init(&a->trimmed, NULL);
  }
  after_fork();
}

static void arm(void)
{
  pthread_atfork(before_fork, after_fork, in_child);
  tn_shutdown_hook(TN_SHUTDOWN_MEMORY, finish);
}

void tn_memory_arm(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  tn_exec_arm(); /* first: its locks may be taken while ours are held */
  pthread_once(&once, arm);
}
