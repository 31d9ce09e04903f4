/* The helper threads: all launches and large copies of the process share
 * them. As many threads as TENON_NUM_THREADS work at once, counting the
 * threads of streams that are running something; helpers step back while
 * those suffice. */
#ifndef TN_BACKENDS_CPU_WORKERS_H
#define TN_BACKENDS_CPU_WORKERS_H

#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>

#include "tenon/kernel_lang.h"

/* What is run: the kernel, with its arguments, over [begin, items), in chunks
 * of the pool's choosing of which the last ends at INT64_MAX. */
typedef struct tn_cpu_work {
  void (*run)(tn_range range, const uint64_t *slots);
  const uint64_t *slots;
  int64_t begin, items;
  double item_time; /* ns, as well as it is known */
  bool is_urgent;   /* of a stream of high priority: helpers prefer it */
} tn_cpu_work;

/* Runs the work on the calling thread and on helpers that have nothing else to
 * do, and returns when all of it is done. Returns the time of an item as
 * measured on those that the calling thread took first, in ns. */
double tn_cpu_workers_run(const tn_cpu_work *work);

/* Threads that may work at once. */
int tn_cpu_workers_count(void);

/* Called once, at load. Threads start when they are first of use. */
void tn_cpu_workers_setup(int count);

/* A thread of a stream begins to work, and ceases to, or waits. */
void tn_cpu_workers_enter(void);
void tn_cpu_workers_leave(void);

/* Whether a helper should leave work of that urgency: for other, urgent work,
 * or because enough threads have work of their own by now. */
bool tn_cpu_workers_step_back(bool is_urgent);

/* Ends the helper threads. Nothing is being run. */
void tn_cpu_workers_stop(void);

/* In a forked child: there are no helpers, and none will be started. */
void tn_cpu_workers_after_fork(void);

/* Starts a thread that takes none of the program's signals; 0 or an errno
 * value. What it runs calls begin first, which sets its name and its
 * floating-point control word. */
int tn_cpu_thread_start(pthread_t *thread, void *(*function)(void *),
                        void *argument);
void tn_cpu_thread_begin(const char *name);

#endif
