/* What a stream's callers pay: queueing, asking, waiting. */
#include "config.h"

#include "bench/streams.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "bench/limit.h"
#include "bench/measure.h"

/* Queued before the stream is waited for; only the queueing is timed. */
enum { BATCH = 256, BATCHES = 40, ROUNDS = 15 };

typedef struct queueing {
  tn_device device;
  tn_stream *stream;
  tn_kernel *kernel;
  void *y, *x;
  tn_event *event;
} queueing;

static void die(const char *what)
{
  fprintf(stderr, "bench: %s: %s\n", what, tn_error_message());
  exit(1);
}

static void nothing(void *unused) { bench_keep(unused); }

static tn_status queue_launch(queueing *q)
{
  return tn_launch(q->kernel, 1, TN_ARGS(TN_ARG_PTR(q->y), TN_ARG_PTR(q->x),
                                         TN_ARG_F32(0.5f), TN_ARG_I64(1)));
}

static tn_status queue_fill(queueing *q)
{
  return tn_fill_bytes(q->y, q->device, 0, 64);
}

static tn_status queue_function(queueing *q)
{
  return tn_stream_call(q->stream, nothing, NULL);
}

static tn_status queue_record(queueing *q)
{
  tn_status status = queue_function(q);
  return status ? status : tn_event_record(q->event, q->stream);
}

static int by_value(const void *a, const void *b)
{
  double x = *(const double *)a, y = *(const double *)b;
  return (x > y) - (x < y);
}

static double median(double *values, int count)
{
  qsort(values, (size_t)count, sizeof *values, by_value);
  return values[count / 2];
}

/* Nanoseconds of one, in the batch in the middle: in some of them the system
 * takes the processor away. */
static double time_batches(queueing *q, tn_status (*one)(queueing *))
{
  double ns[BATCHES];
  for (int i = 0; i < BATCHES; i++) {
    double start = bench_now();
    for (int k = 0; k < BATCH; k++)
      if (one(q)) die("queueing");
    ns[i] = bench_now() - start;
    if (tn_stream_synchronize(q->stream)) die("waiting");
  }
  return median(ns, BATCHES) / BATCH;
}

static double time_mutexes(void)
{
  enum { COUNT = 100000 };
  double start = bench_now();
  limit_mutex_run(NULL, COUNT);
  return (bench_now() - start) / COUNT;
}

static void run_queueing(const char *name, queueing *q,
                         tn_status (*one)(queueing *))
{
  double ratios[ROUNDS], subject[ROUNDS], limit[ROUNDS];
  if (!bench_wanted(name)) return;
  time_batches(q, one); /* warms up */
  for (int i = 0; i < ROUNDS; i++) {
    subject[i] = time_batches(q, one);
    limit[i] = time_mutexes();
    ratios[i] = subject[i] / limit[i];
  }
  bench_case row = { .name = name, .subject = { "tenon", NULL, NULL },
                     .limit = { "mutex", NULL, NULL },
                     .goal = BENCH_AT_MOST, .wanted = 5 };
  bench_report(&row, ratios, ROUNDS, median(subject, ROUNDS),
               median(limit, ROUNDS));
}

static void query(void *event, int64_t count)
{
  for (int64_t i = 0; i < count; i++)
    if (tn_event_query(event)) die("query");
}

/* There and back between two threads that spin. */
static struct {
  _Alignas(64) atomic_long ping;
  _Alignas(64) atomic_long pong;
} table;

static void *answer(void *unused)
{
  for (long seen = 0;; seen++) {
    long now;
    while ((now = atomic_load_explicit(&table.ping,
                                       memory_order_acquire)) == seen)
      if (now < 0) return unused;
    if (now < 0) return unused;
    atomic_store_explicit(&table.pong, now, memory_order_release);
  }
}

/* The other thread is there for these rounds only: one that spins on would
 * keep a core from the stream's. */
static void ping_pong(void *unused, int64_t count)
{
  pthread_t thread;
  (void)unused;
  atomic_store(&table.ping, 0);
  atomic_store(&table.pong, 0);
  if (pthread_create(&thread, NULL, answer, NULL)) die("thread");
  for (long i = 1; i <= count; i++) {
    atomic_store_explicit(&table.ping, i, memory_order_release);
    while (atomic_load_explicit(&table.pong, memory_order_acquire) != i) {
    }
  }
  atomic_store(&table.ping, -1);
  pthread_join(thread, NULL);
}

static void wait_hot(void *argument, int64_t count)
{
  queueing *q = argument;
  for (int64_t i = 0; i < count; i++)
    if (queue_record(q) || tn_event_synchronize(q->event)) die("waiting");
}

static void run_waits(queueing *q)
{
  if (wait_hot(q, 1), tn_event_query(q->event)) die("query");
  bench_run(&(bench_case){
      .name = "query of a completed event",
      .subject = { "tenon", query, q->event },
      .limit = { "call", limit_call_run, NULL },
      .goal = BENCH_AT_MOST, .wanted = 4 });
  bench_run(&(bench_case){
      .name = "hot event wait: queue, record, wait",
      .subject = { "tenon", wait_hot, q },
      .limit = { "ping-pong", ping_pong, NULL },
      .goal = BENCH_AT_MOST, .wanted = 3 });
}

void bench_streams(tn_device cpu)
{
  tn_module *module = tn_module_builtin(cpu, "elementwise");
  queueing q = { .device = cpu, .stream = tn_stream_new(cpu, 0),
                 .kernel = tn_kernel_get(module, "axpy_f32"),
                 .y = tn_malloc(cpu, 4096), .x = tn_malloc(cpu, 4096),
                 .event = tn_event_new(0) };
  if (!q.stream || !q.kernel || !q.y || !q.x || !q.event) die("streams");
  tn_with_stream(q.stream) {
    run_queueing("enqueue a launch", &q, queue_launch);
    run_queueing("enqueue a fill of 64 bytes", &q, queue_fill);
    run_queueing("enqueue a host function", &q, queue_function);
  }
  run_waits(&q);
  tn_event_release(q.event);
  tn_free(q.y);
  tn_free(q.x);
  tn_kernel_release(q.kernel);
  tn_module_release(module);
}
