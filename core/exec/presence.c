#include "config.h"

#include "core/exec/presence.h"

#include <errno.h>
#include <pthread.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "core/base/error.h"

#ifdef __linux__
#include <linux/membarrier.h>
#endif

TN_HOT_THREAD_LOCAL tn_presence *tn_presence_mine;

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_presence *all;
static tn_presence shared = { .needs_fence = true };
static atomic_bool is_shared_used;
static pthread_key_t key;
static bool has_key, has_membarrier;

#ifdef __linux__
static int membarrier(int command)
{
  return (int)syscall(SYS_membarrier, command, 0, 0);
}
#endif

/* Registering takes the kernel milliseconds once a process has threads, so it
 * is not done before it is needed. */
static bool order_all_threads(void)
{
#ifdef __linux__
  return has_membarrier &&
         membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED) == 0 &&
         membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED) == 0;
#else
  return false;
#endif
}

static void forget(void *argument)
{
  tn_presence *mine = argument;
  pthread_mutex_lock(&lock);
  if (mine->next) mine->next->before = mine->before;
  *(mine->before ? &mine->before->next : &all) = mine->next;
  pthread_mutex_unlock(&lock);
  free(mine);
  tn_presence_mine = NULL;
}

/* In a forked child the other threads are gone, and with them their calls. */
static void before_fork(void) { pthread_mutex_lock(&lock); }
static void after_fork(void) { pthread_mutex_unlock(&lock); }

static void in_child(void)
{
  tn_presence *mine = tn_presence_mine;
  for (tn_presence *p = all, *next; p; p = next) {
    next = p->next;
    if (p != mine) free(p);
  }
  all = mine == &shared ? NULL : mine;
  if (all) all->next = all->before = NULL;
  pthread_mutex_unlock(&lock);
}

static void start(void)
{
  has_key = pthread_key_create(&key, forget) == 0;
  pthread_atfork(before_fork, after_fork, in_child);
#ifdef __linux__
  int known = membarrier(MEMBARRIER_CMD_QUERY);
  has_membarrier = known > 0 && known & MEMBARRIER_CMD_PRIVATE_EXPEDITED;
#endif
}

static tn_presence *use_shared(void)
{
  atomic_store(&is_shared_used, true);
  return tn_presence_mine = &shared;
}

tn_presence *tn_presence_new(void)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, start);
  if (!has_key) return use_shared();
  tn_presence *mine = calloc(1, sizeof *mine);
  if (!mine) return use_shared();
  if (pthread_setspecific(key, mine) != 0) {
    free(mine);
    return use_shared();
  }
  mine->needs_fence = !has_membarrier;
  pthread_mutex_lock(&lock);
  mine->next = all;
  if (all) all->before = mine;
  all = mine;
  pthread_mutex_unlock(&lock);
  return tn_presence_mine = mine;
}

tn_status tn_enter_unusual(tn_device_state *state)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  return tn_device_acquire(state->device, &state);
}

bool tn_may_release_unusual(tn_device_state *state)
{
  if (tn_is_shut_down()) return false;
  tn_error_state before;
  tn_error_save(&before);
  bool may = tn_enter_unusual(state) == TN_OK;
  tn_error_restore(&before);
  return may;
}

static bool is_somebody_inside(void)
{
  bool found = false;
  pthread_mutex_lock(&lock);
  for (tn_presence *p = all; p && !found; p = p->next)
    found = p != tn_presence_mine &&
            atomic_load_explicit(&p->depth, memory_order_acquire) != 0;
  pthread_mutex_unlock(&lock);
  return found;
}

static bool is_alone(void)
{
  pthread_mutex_lock(&lock);
  bool alone = !all || (all == tn_presence_mine && !all->next);
  pthread_mutex_unlock(&lock);
  return alone;
}

bool tn_presence_drain(double seconds)
{
  if (atomic_load(&is_shared_used)) return false;
  if (is_alone()) return true;
  if (has_membarrier && !order_all_threads()) return false;
  atomic_thread_fence(memory_order_seq_cst);
  /* Nobody wakes us: the calls to be waited for must not pay for that. */
  for (double slept = 0, step = 20e-6; is_somebody_inside(); ) {
    if (slept >= seconds) return false;
    struct timespec time = { 0, (long)(step * 1e9) };
    nanosleep(&time, NULL);
    slept += step;
    if (step < 10e-3) step *= 2;
  }
  return true;
}
