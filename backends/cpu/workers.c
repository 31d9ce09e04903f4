#include "backends/cpu/workers.h"

#include <signal.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/control_word.h"
#include "backends/cpu/host.h"
#include "backends/cpu/park.h"

#define CHUNK_TIME 50000.0 /* ns; taking a chunk costs about 100 */
#define CHUNK_LEAST 5      /* at the end chunks shrink, to a fifth of that */
#define TOLD_TIME 1000.0   /* of a chunk that tells how long items take */
#define WAKE_TIME 60000.0  /* ns of work that pay for waking one helper */
#define DRIVER_SLEEPS (1u << 31)

/* Work being shared out; lives on the stack of its driver, the thread that
 * called run. */
typedef struct tn_cpu_job {
  const tn_cpu_work *work;
  int64_t size;             /* of a thread's first chunk */
  _Atomic int64_t next;     /* first item not taken yet */
  _Atomic uint32_t helpers; /* in it, and DRIVER_SLEEPS */
  struct tn_cpu_job *before, *after;
} tn_cpu_job;

static struct {
  int limit; /* threads that may work at once */
  pthread_mutex_t lock;
  tn_cpu_job *first, *last; /* under lock; urgent ones in front */
  pthread_t *threads;
  int started;
  bool is_full; /* no more threads are to be started */
  _Atomic int open; /* jobs in the list, and the urgent ones of them */
  _Atomic int urgent;
  _Atomic int working;  /* threads at work now */
  _Atomic int sleeping; /* helpers on `changes` */
  _Atomic uint32_t changes;
  _Atomic bool stopping;
} pool = { .limit = 1, .lock = PTHREAD_MUTEX_INITIALIZER };

static _Thread_local bool is_working
  __attribute__((tls_model("initial-exec")));

int tn_cpu_workers_count(void)
{
  return pool.limit;
}

void tn_cpu_workers_setup(int count)
{
  pool.limit = count;
}

/* All signals but those that a thread's own instructions cause: the program's
 * handlers are to hear of them. */
static sigset_t signals_of_others(void)
{
  static const int own[] = { SIGSEGV, SIGBUS, SIGFPE,  SIGILL,
                             SIGTRAP, SIGSYS, SIGABRT };
  sigset_t set;
  sigfillset(&set);
  for (size_t i = 0; i < sizeof own / sizeof *own; i++)
    sigdelset(&set, own[i]);
  return set;
}

int tn_cpu_thread_start(pthread_t *thread, void *(*function)(void *),
                        void *argument)
{
  sigset_t blocked = signals_of_others(), saved;
  pthread_sigmask(SIG_BLOCK, &blocked, &saved);
  int problem = pthread_create(thread, NULL, function, argument);
  pthread_sigmask(SIG_SETMASK, &saved, NULL);
  return problem;
}

void tn_cpu_thread_begin(const char *name)
{
  pthread_setname_np(pthread_self(), name);
  tn_cpu_control_set(TN_CPU_CONTROL_STANDARD);
}

/* --- chunks --- */

/* A thread that can have no helpers takes all at once: some kernels read
 * memory in longer pieces then. */
static bool is_alone(void)
{
  return pool.limit == 1;
}

/* What a chunk's end divides by: threads are not to write the same line. */
static int64_t step_of(int64_t size)
{
  return size >= 8192 ? 1024 : size >= 256 ? 64 : 1;
}

static bool chunk_take(tn_cpu_job *job, int64_t size, tn_range *range)
{
  const int64_t items = job->work->items, least = size / CHUNK_LEAST + 1;
  int64_t at = atomic_load_explicit(&job->next, memory_order_relaxed), end;
  do {
    int64_t left = items - at;
    int64_t share = is_alone() ? left : left / (2 * pool.limit);
    if (left <= 0) return false;
    if (share < least) share = least;
    if (share > size) share = size;
    end = at + (share < left ? share : left);
    int64_t step = step_of(share);
    int64_t missing = (step - end % step) % step;
    end = items - end <= missing ? items : end + missing;
  } while (!atomic_compare_exchange_weak_explicit(
    &job->next, &at, end, memory_order_relaxed, memory_order_relaxed));
  *range = (tn_range){ at, end == items ? INT64_MAX : end };
  return true;
}

/* The size of the next chunk after one of that size took so long. Items may be
 * far more than what there is to do: then those at the end take no time. */
static int64_t size_adjust(int64_t size, double time)
{
  if (time < CHUNK_TIME / 2)
    return size < INT64_MAX / 8 ? size * 4 : size;
  return time > CHUNK_TIME * 2 ? (size + 1) / 2 : size;
}

bool tn_cpu_workers_step_back(bool is_urgent)
{
  return (!is_urgent && atomic_load(&pool.urgent)) ||
         atomic_load(&pool.working) > pool.limit;
}

/* A chunk that was taken, and more until none is left. Returns the time of an
 * item of the first one that took long enough to tell: in some there is nothing
 * to do. */
static double chunks_run(tn_cpu_job *job, tn_range range, bool is_helper)
{
  const tn_cpu_work *work = job->work;
  double told = 0, items = 0;
  int64_t size = job->size;
  uint64_t begin = tn_cpu_clock(), start = begin;
  do {
    work->run(range, work->slots);
    int64_t end = range.end == INT64_MAX ? work->items : range.end;
    uint64_t now = tn_cpu_clock();
    double time = (double)(now - start), count = (double)(end - range.begin);
    if (told == 0 && time > TOLD_TIME) told = time / count;
    items += count;
    if (is_helper && tn_cpu_workers_step_back(work->is_urgent)) break;
    size = size_adjust(size, time / count * (double)size);
    start = now;
  } while (chunk_take(job, size, &range));
  if (told == 0 && items > 0) told = (double)(start - begin) / items;
  return told;
}

/* --- helpers --- */

/* A job that a helper may join: none while enough threads are at work. */
static tn_cpu_job *job_join(void)
{
  tn_cpu_job *found = NULL;
  pthread_mutex_lock(&pool.lock);
  if (atomic_load(&pool.working) < pool.limit)
    for (found = pool.first; found; found = found->after)
      if (atomic_load(&found->next) < found->work->items) break;
  if (found) {
    atomic_fetch_add(&found->helpers, 1);
    atomic_fetch_add(&pool.working, 1);
  }
  pthread_mutex_unlock(&pool.lock);
  return found;
}

/* After this the job may be gone. */
static void job_leave(tn_cpu_job *job)
{
  uint32_t before = atomic_fetch_sub(&job->helpers, 1);
  if (before == (DRIVER_SLEEPS | 1)) tn_cpu_unpark(&job->helpers, 1);
  tn_cpu_workers_leave();
}

static void change_await(uint32_t seen)
{
  tn_cpu_spin spin = { 0 };
  while (atomic_load(&pool.changes) == seen) {
    if (tn_cpu_spin_again(&spin)) continue;
    atomic_fetch_add(&pool.sleeping, 1);
    if (atomic_load(&pool.changes) == seen)
      tn_cpu_park(&pool.changes, seen, TN_CPU_NO_DEADLINE);
    atomic_fetch_sub(&pool.sleeping, 1);
  }
}

static void change_announce(int wake)
{
  atomic_fetch_add(&pool.changes, 1);
  if (wake > 0 && atomic_load(&pool.sleeping) > 0)
    tn_cpu_unpark(&pool.changes, wake);
}

static void *helper_main(void *argument)
{
  tn_cpu_thread_begin("tenon-worker");
  while (!atomic_load(&pool.stopping)) {
    uint32_t seen = atomic_load(&pool.changes);
    tn_cpu_job *job = job_join();
    tn_range range;
    if (job) {
      is_working = true;
      if (chunk_take(job, job->size, &range)) chunks_run(job, range, true);
      job_leave(job);
    } else if (!atomic_load(&pool.stopping)) {
      change_await(seen);
    }
  }
  return argument;
}

/* Under the lock; an errno value if not all could be started. */
static int helpers_start(void)
{
  int problem = 0;
  if (!pool.threads)
    pool.threads = calloc((size_t)pool.limit, sizeof *pool.threads);
  if (!pool.threads) return 0;
  while (!problem && !pool.is_full && pool.started < pool.limit - 1) {
    problem = tn_cpu_thread_start(&pool.threads[pool.started], helper_main,
                                  NULL);
    pool.started += !problem;
  }
  pool.is_full = true;
  return problem;
}

/* --- drivers --- */

static void job_make(tn_cpu_job *job, const tn_cpu_work *work,
                     double item_time)
{
  memset(job, 0, sizeof *job);
  job->work = work;
  job->size = is_alone() ? work->items - work->begin
                         : (int64_t)(CHUNK_TIME / item_time) + 1;
  atomic_init(&job->next, work->begin);
}

static void job_link(tn_cpu_job *job)
{
  bool in_front = job->work->is_urgent;
  *(in_front ? &job->after : &job->before) =
    in_front ? pool.first : pool.last;
  if (job->after) job->after->before = job;
  if (job->before) job->before->after = job;
  if (!job->before) pool.first = job;
  if (!job->after) pool.last = job;
  atomic_fetch_add(&pool.open, 1);
  atomic_fetch_add(&pool.urgent, in_front);
}

static void job_unlink(tn_cpu_job *job)
{
  *(job->before ? &job->before->after : &pool.first) = job->after;
  *(job->after ? &job->after->before : &pool.last) = job->before;
  atomic_fetch_sub(&pool.open, 1);
  atomic_fetch_sub(&pool.urgent, job->work->is_urgent);
}

/* Makes the job known, and wakes as many helpers as it pays. */
static void job_open(tn_cpu_job *job, int wake)
{
  int problem = 0;
  pthread_mutex_lock(&pool.lock);
  if (wake > 0 && !pool.is_full) problem = helpers_start();
  int started = pool.started;
  job_link(job);
  pthread_mutex_unlock(&pool.lock);
  if (problem)
    tn_cpu_host->log(TN_LOG_WARNING,
                     "cpu: %d of %d threads run: cannot start more: %s",
                     started + 1, pool.limit, strerror(problem));
  change_announce(wake);
}

static void job_close(tn_cpu_job *job)
{
  tn_cpu_spin spin = { 0 };
  pthread_mutex_lock(&pool.lock);
  job_unlink(job);
  pthread_mutex_unlock(&pool.lock);
  uint32_t helpers;
  while ((helpers = atomic_load(&job->helpers)) & ~DRIVER_SLEEPS) {
    if (tn_cpu_spin_again(&spin)) continue;
    if (atomic_compare_exchange_strong(&job->helpers, &helpers,
                                       helpers | DRIVER_SLEEPS))
      tn_cpu_park(&job->helpers, helpers | DRIVER_SLEEPS,
                  TN_CPU_NO_DEADLINE);
  }
}

/* How many sleeping helpers the work is worth waking. */
static int wake_count(const tn_cpu_work *work, double item_time)
{
  double worth =
    (double)(work->items - work->begin) * item_time / WAKE_TIME;
  return worth < pool.limit - 1 ? (int)worth : pool.limit - 1;
}

/* The first chunk is the driver's, however soon helpers come. */
double tn_cpu_workers_run(const tn_cpu_work *work)
{
  double item_time = work->item_time > 0.01 ? work->item_time : 0.01;
  double measured = 0;
  bool enters = !is_working;
  tn_cpu_job job;
  tn_range range;
  if (enters) tn_cpu_workers_enter();
  job_make(&job, work, item_time);
  bool has_work = chunk_take(&job, job.size, &range);
  bool is_shared = has_work && range.end != INT64_MAX;
  if (is_shared) job_open(&job, wake_count(work, item_time));
  if (has_work) measured = chunks_run(&job, range, false);
  if (is_shared) job_close(&job);
  if (enters) tn_cpu_workers_leave();
  return measured > 0 ? measured : item_time;
}

void tn_cpu_workers_enter(void)
{
  is_working = true;
  atomic_fetch_add(&pool.working, 1);
}

void tn_cpu_workers_leave(void)
{
  is_working = false;
  atomic_fetch_sub(&pool.working, 1);
  /* A helper may have been held back because this thread was at work. */
  if (atomic_load(&pool.open) > 0) change_announce(1);
}

/* --- the end, and forks --- */

void tn_cpu_workers_stop(void)
{
  atomic_store(&pool.stopping, true);
  change_announce(INT_MAX);
  for (int i = 0; i < pool.started; i++) pthread_join(pool.threads[i], NULL);
  free(pool.threads);
  pool.threads = NULL;
  pool.started = 0;
}

void tn_cpu_workers_after_fork(void)
{
  pthread_mutex_init(&pool.lock, NULL);
  pool.limit = 1;
  pool.first = pool.last = NULL;
  pool.started = 0;
  pool.is_full = true;
  is_working = false;
  atomic_store(&pool.open, 0);
  atomic_store(&pool.urgent, 0);
  atomic_store(&pool.working, 0);
  atomic_store(&pool.sleeping, 0);
}
