#include "config.h"

#include "core/base/error.h"
#include "core/graph/graph.h"
#include "core/launch/finish.h"
#include "core/memory/finish.h"

static void before_fork(void)
{
  pthread_mutex_lock(&tn_capture_lock);
  tn_lowerings_lock();
}

static void after_fork(void)
{
  tn_lowerings_unlock();
  pthread_mutex_unlock(&tn_capture_lock);
}

/* tn_capture_lock is held. Nobody in the child can end these captures, which
 * would forbid it what they forbid other threads. */
static void end_of_absent_threads(void)
{
  tn_error_state before;
  tn_error_save(&before);
  for (tn_graph *g = tn_graphs_capturing, *next; g; g = next) {
    next = g->next;
    if (g->mode == TN_GRAPH_RELAXED || pthread_equal(g->owner, pthread_self()))
      continue;
    tn_graph_invalidate(g, "fork: the thread that captures is in the parent "
                        "only");
    tn_graph_close(g);
  }
  tn_error_restore(&before);
}

static void in_child(void)
{
  tn_lowerings_unlock();
  end_of_absent_threads();
  pthread_mutex_unlock(&tn_capture_lock);
}

static void arm(void) { pthread_atfork(before_fork, after_fork, in_child); }

void tn_graph_arm(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  /* First: their locks may be taken while ours are held. */
  tn_memory_arm();
  tn_launch_arm();
  pthread_once(&once, arm);
}
