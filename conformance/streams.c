/* Rules S1, S4, S7 and S8: order, limits, pools, locks. */
#include "config.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

enum { SIZE = 200000 };

/* Ring upon ring: each copy reads what the one before it wrote. */
static void run_order(void)
{
  enum { BUFFERS = 5, STEPS = 60 };
  unsigned char *memory[BUFFERS], *in = conform_pinned_new(SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  for (int i = 0; i < BUFFERS; i++) {
    memory[i] = conform_memory_new(conform_device, SIZE);
    tn_fill_bytes(memory[i], conform_device, 200 + i, SIZE);
  }
  tn_synchronize(conform_device);
  conform_draw(in, SIZE, 31);
  tn_with_stream(stream) {
    conform_ok(tn_copy(memory[0], conform_device, in, conform_nowhere, SIZE,
                       true), "a copy");
    for (int i = 1; i <= STEPS; i++) {
      unsigned char *to = memory[i % BUFFERS];
      unsigned char *from = memory[(i - 1) % BUFFERS];
      conform_ok(tn_copy(to, conform_device, from, conform_device, SIZE,
                         true), "a copy");
      conform_ok(tn_fill_bytes(from, conform_device, i, SIZE), "a fill");
    }
  }
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  unsigned char *got = conform_host_new(SIZE);
  conform_fetch(conform_device, got, memory[STEPS % BUFFERS], SIZE);
  conform_same(got, in, SIZE, "what went through %d copies", STEPS);
  conform_all(conform_device, memory[(STEPS - 1) % BUFFERS], STEPS, SIZE,
              "the last fill came after the last copy");
}

/* What is behind a busy stream's work has not run. */
static void run_behind(void)
{
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  unsigned char *copy = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *other = conform_stream_new(conform_device, 0);
  tn_fill_bytes(memory, conform_device, 1, SIZE);
  tn_fill_bytes(copy, conform_device, 1, SIZE);
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(stream);
  tn_with_stream(stream) {
    conform_ok(tn_fill_bytes(memory, conform_device, 2, SIZE), "a fill");
    conform_ok(tn_copy(copy, conform_device, memory, conform_device, SIZE,
                       true), "a copy");
  }
  conform_linger();
  conform_is(tn_stream_query(stream), TN_NOT_READY,
             "asking a stream with work behind a host function that waits");
  tn_with_stream(other) {
    conform_all(conform_device, memory, 1, SIZE, "a fill behind it");
    conform_all(conform_device, copy, 1, SIZE, "a copy behind it");
  }
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_all(conform_device, memory, 2, SIZE, "then the fill");
  conform_all(conform_device, copy, 2, SIZE, "then the copy");
}

static void run_launch_behind(void)
{
  enum { COUNT = 5000 };
  float *memory = (float *)(void *)conform_memory_new(conform_device,
                                                      COUNT * 4);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *other = conform_stream_new(conform_device, 0);
  conform_ok(conform_set(memory, 0, COUNT), "a launch");
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(stream);
  tn_with_stream(stream)
    conform_ok(conform_set(memory, 5, COUNT), "a launch");
  conform_linger();
  tn_with_stream(other)
    conform_floats(memory, 0, COUNT, "a kernel behind a busy stream's work");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_floats(memory, 5, COUNT, "then the kernel ran");
}

/* While one stream is stuck in a host function, others go on. */
static void run_independent(void)
{
  enum { STREAMS = 8 };
  tn_stream *stuck = conform_stream_new(conform_device, 0);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(stuck);
  for (int i = 0; i < STREAMS; i++) {
    tn_stream *stream = conform_stream_new(conform_device, -(i % 2));
    tn_with_stream(stream)
      conform_ok(tn_fill_bytes(memory, conform_device, 3 + i, SIZE), "a fill");
    conform_ok(tn_stream_synchronize_for(stream, 5000),
               "stream %d, while another one is stuck", i);
    conform_all(conform_device, memory, (unsigned char)(3 + i), SIZE,
                "stream %d", i);
  }
  conform_is(tn_stream_query(stuck), TN_NOT_READY, "the stuck stream");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stuck), "synchronising");
}

static void post(void *semaphore) { sem_post(semaphore); }

/* Host functions that block do not hold up those of other streams. */
static void run_functions_apart(void)
{
  sem_t called;
  struct timespec limit;
  tn_stream *stuck = conform_stream_new(conform_device, 0);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  sem_init(&called, 0, 0);
  conform_gate gate = conform_gate_shut(stuck);
  conform_ok(tn_stream_call(stream, post, &called), "a host function");
  conform_poll(stream, 5000);
  clock_gettime(CLOCK_REALTIME, &limit);
  limit.tv_sec += 2;
  conform_check(sem_timedwait(&called, &limit) == 0,
                "a host function is held up by one of another stream");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stuck), "synchronising");
}

typedef struct look {
  unsigned char *bytes;
  unsigned char value;
  int calls;
  bool is_right;
} look;

static void look_at(void *argument)
{
  look *l = argument;
  l->calls++;
  l->is_right = true;
  for (size_t i = 0; i < SIZE; i++) l->is_right &= l->bytes[i] == l->value;
}

/* A host function is called after what was queued before it, and before what
 * is queued after it. */
static void run_function_order(void)
{
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  unsigned char *out = conform_pinned_new(SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_synchronize(conform_device);
  for (int i = 1; i <= 20; i++) {
    look l = { .bytes = out, .value = (unsigned char)i };
    tn_with_stream(stream) {
      for (int k = 0; k < 8; k++)
        tn_fill_bytes(memory, conform_device, i, SIZE);
      tn_copy(out, conform_nowhere, memory, conform_device, SIZE, true);
      conform_ok(tn_stream_call(stream, look_at, &l), "a host function");
      tn_fill_bytes(memory, conform_device, 255, SIZE);
      tn_copy(out, conform_nowhere, memory, conform_device, SIZE, true);
    }
    conform_ok(tn_stream_synchronize(stream), "synchronising");
    conform_check(l.calls == 1, "a host function was called %d times",
                  l.calls);
    conform_check(l.is_right, "a host function saw other bytes than those "
                  "copied just before it");
  }
}

static void add(void *counter)
{
  __atomic_add_fetch((int *)counter, 1, __ATOMIC_SEQ_CST);
}

static void run_function_waits(void)
{
  int called = 0;
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_gate gate = conform_gate_shut(stream);
  conform_ok(tn_stream_call(stream, add, &called), "a host function");
  conform_linger();
  conform_check(__atomic_load_n(&called, __ATOMIC_SEQ_CST) == 0,
                "a host function was called before the one in front of it "
                "had ended");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_check(called == 1, "then it was called %d times", called);
}

/* Queued work gets done without anybody waiting for it. */
static void run_progress(void)
{
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_event *event = conform_event_new(0);
  tn_synchronize(conform_device);
  for (int i = 0; i < 5; i++) {
    tn_with_stream(stream)
      conform_ok(tn_fill_bytes(memory, conform_device, i, SIZE), "a fill");
    conform_ok(tn_event_record(event, stream), "recording");
    conform_ok(conform_poll(stream, 5000),
               "a stream that is only asked, for 5 s");
    conform_ok(tn_event_query(event), "an event of a stream that is done");
  }
}

/* A stream of another backend waits for it. */
static void run_progress_elsewhere(void)
{
  tn_device cpu = tn_device_of("cpu:0");
  if (cpu.backend <= 0) conform_absent("the cpu backend");
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *waiter = conform_stream_new(cpu, 0);
  tn_synchronize(conform_device);
  for (int i = 0; i < 5; i++) {
    tn_with_stream(stream)
      conform_ok(tn_fill_bytes(memory, conform_device, i, SIZE), "a fill");
    conform_ok(tn_stream_wait_stream(waiter, stream), "waiting in a stream");
    conform_ok(tn_stream_synchronize_for(waiter, 5000),
               "a cpu stream that waits for the device's");
    conform_is(tn_stream_query(stream), TN_OK,
               "the stream that was waited for");
  }
}

/* And the other way round. */
static void run_waits_elsewhere(void)
{
  tn_device cpu = tn_device_of("cpu:0");
  if (cpu.backend <= 0) conform_absent("the cpu backend");
  unsigned char *out = conform_pinned_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *producer = conform_stream_new(cpu, 0);
  tn_synchronize(conform_device);
  conform_gate probe = conform_gate_shut(stream);
  conform_gate_open(&probe);
  memset(out, 1, SIZE);
  conform_gate gate = conform_gate_shut(producer);
  tn_with_stream(producer)
    conform_ok(tn_fill_bytes(out, cpu, 2, SIZE), "a fill on cpu");
  conform_ok(tn_stream_wait_stream(stream, producer), "waiting in a stream");
  tn_with_stream(stream)
    conform_ok(tn_copy(memory, conform_device, out, conform_nowhere, SIZE,
                       true), "a copy");
  conform_linger();
  conform_is(tn_stream_query(stream), TN_NOT_READY,
             "a stream that waits for one of cpu that is stuck");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(stream), "synchronising");
  conform_all(conform_device, memory, 2, SIZE, "what came after the wait");
}

static void run_limit(void)
{
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_event *event = conform_event_new(0);
  conform_gate gate = conform_gate_shut(stream);
  conform_ok(tn_event_record(event, stream), "recording");
  for (int i = 0; i < 2; i++) {
    double start = conform_now();
    tn_status status = i ? tn_event_synchronize_for(event, 20)
                         : tn_stream_synchronize_for(stream, 20);
    double took = conform_now() - start;
    conform_is(status, TN_TIMEOUT, "a wait of 20 ms for a stuck stream");
    conform_check(took >= 19, "a wait of 20 ms ended after %g ms", took);
    conform_check(took < 3000, "a wait of 20 ms took %g ms", took);
  }
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize_for(stream, 1e5),
             "a long wait for a stream that goes on");
  conform_ok(tn_event_synchronize_for(event, 0), "no wait for what is done");
}

/* TENON_LAUNCH_BLOCKING is read when the device is opened. */
static void run_launch_blocking(void)
{
  setenv("TENON_LAUNCH_BLOCKING", "1", 1);
  conform_open();
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_with_stream(stream)
    for (int i = 0; i < 20; i++) {
      conform_ok(tn_fill_bytes(memory, conform_device, i, SIZE), "a fill");
      conform_is(tn_stream_query(stream), TN_OK,
                 "the stream after fill %d with TENON_LAUNCH_BLOCKING=1", i);
      tn_copy(memory, conform_device, memory + SIZE / 2, conform_device,
              SIZE / 2, true);
      conform_is(tn_stream_query(stream), TN_OK,
                 "the stream after copy %d with TENON_LAUNCH_BLOCKING=1", i);
    }
}

static int count_different(tn_stream **streams, int count)
{
  int different = 0;
  for (int i = 0; i < count; i++) {
    int j = 0;
    while (j < i && streams[j] != streams[i]) j++;
    different += j == i;
  }
  return different;
}

static void run_pool(void)
{
  enum { COUNT = 100, POOL = 32 };
  tn_stream *streams[COUNT], *urgent[COUNT];
  for (int i = 0; i < COUNT; i++)
    streams[i] = conform_stream_new(conform_device, 0);
  for (int i = 0; i < COUNT; i++)
    urgent[i] = conform_stream_new(conform_device, -1);
  conform_check(count_different(streams, COUNT) == POOL,
                "100 streams are %d", count_different(streams, COUNT));
  conform_check(count_different(urgent, COUNT) == POOL,
                "100 urgent streams are %d", count_different(urgent, COUNT));
  conform_check(streams[0] == streams[POOL], "the 33rd is the first again");
  tn_stream *standard = tn_default_stream(conform_device);
  for (int i = 0; i < POOL; i++)
    conform_check(streams[i] != standard && streams[i] != urgent[i],
                  "pools and the default stream are apart");
  conform_stream_new(conform_device, -10);
  conform_stream_new(conform_device, 10);
}

/* Each of them does its work. */
static void run_pool_work(void)
{
  enum { POOL = 64 };
  unsigned char *memory[POOL];
  tn_stream *streams[POOL];
  for (int i = 0; i < POOL; i++) {
    streams[i] = conform_stream_new(conform_device, i < 32 ? 0 : -1);
    memory[i] = conform_memory_new(conform_device, 5000);
  }
  tn_synchronize(conform_device);
  for (int i = 0; i < POOL; i++)
    tn_with_stream(streams[i])
      conform_ok(tn_fill_bytes(memory[i], conform_device, i + 1, 5000),
                 "a fill");
  conform_ok(tn_synchronize(conform_device), "synchronising the device");
  for (int i = 0; i < POOL; i++)
    conform_all(conform_device, memory[i], (unsigned char)(i + 1), 5000,
                "stream %d of the pools", i);
}

/* What a vendor's queue looks like is not known here, but NULL is none, or
 * the default one. */
static void run_wrap(void)
{
  tn_clear_error();
  tn_stream *stream = tn_stream_wrap(conform_device, NULL);
  if (!stream && tn_last_status() == TN_UNSUPPORTED) {
    conform_error_has("wrap", "what is missing is named");
    conform_absent("stream.wrap");
  }
  conform_check(stream || tn_error_message()[0],
                "NULL is refused without a reason");
  if (stream) conform_ok(tn_stream_synchronize(stream), "synchronising");
  tn_stream_release(stream);
}

typedef struct patient {
  tn_stream *stream;
  sem_t began;
  tn_status status;
} patient;

static void *synchronize(void *argument)
{
  patient *p = argument;
  sem_post(&p->began);
  p->status = tn_stream_synchronize(p->stream);
  return NULL;
}

/* While one thread waits for a stream, others use it and the device. */
static void run_locks(void)
{
  pthread_t thread;
  int called = 0;
  patient p = { .stream = conform_stream_new(conform_device, 0) };
  tn_stream *other = conform_stream_new(conform_device, 0);
  tn_device before = tn_current_device(conform_backend);
  conform_gate gate = conform_gate_shut(p.stream);
  sem_init(&p.began, 0, 0);
  if (pthread_create(&thread, NULL, synchronize, &p) != 0) abort();
  while (sem_wait(&p.began) != 0) {}
  conform_linger();
  conform_is(tn_stream_query(p.stream), TN_NOT_READY, "asking meanwhile");
  conform_ok(tn_stream_call(p.stream, add, &called), "queueing meanwhile");
  tn_with_stream(other)
    conform_check(conform_works(conform_device), "other streams meanwhile");
  conform_gate_open(&gate);
  pthread_join(thread, NULL);
  conform_ok(p.status, "the thread that waited");
  conform_ok(tn_synchronize(conform_device), "synchronising the device");
  conform_check(called == 1, "what was queued meanwhile is done");
  conform_check(tn_device_equal(tn_current_device(conform_backend), before),
                "synchronising changes no current device");
}

#define S CONFORM_STREAM_BIT
static const conform_test tests[] = {
  { "S1", "order", CONFORM_MINIMAL, S | CONFORM_COPY_BIT, false,
    "one stream runs in order", run_order },
  { "S1", "behind", CONFORM_STREAMS, S | CONFORM_COPY_BIT, false,
    "copies and fills wait for what is before them", run_behind },
  { "S1", "launch_behind", CONFORM_STREAMS, S | CONFORM_LAUNCH_BIT, false,
    "and so do launches", run_launch_behind },
  { "S1", "independent", CONFORM_STREAMS, S, false,
    "streams do not wait for each other", run_independent },
  { "S1", "functions_apart", CONFORM_STREAMS, S, false,
    "nor do their host functions", run_functions_apart },
  { "S1", "function_order", CONFORM_MINIMAL, S | CONFORM_COPY_BIT, false,
    "host functions are called once, in order", run_function_order },
  { "S1", "function_waits", CONFORM_STREAMS, S, false,
    "and not before those in front of them have ended", run_function_waits },
  { "S1", "progress", CONFORM_MINIMAL, S | CONFORM_EVENT_BIT, false,
    "queued work gets done though nobody waits for it", run_progress },
  { "S5", "progress_elsewhere", CONFORM_MINIMAL, S | CONFORM_TWO_BIT, false,
    "and when another backend's stream waits for it",
    run_progress_elsewhere },
  { "S5", "waits_elsewhere", CONFORM_STREAMS, S | CONFORM_TWO_BIT, false,
    "a stream waits for one of another backend", run_waits_elsewhere },
  { "S4", "limit", CONFORM_STREAMS, S | CONFORM_EVENT_BIT, false,
    "waits keep their time limits", run_limit },
  { "S4", "launch_blocking", CONFORM_MINIMAL, S | CONFORM_COPY_BIT, true,
    "TENON_LAUNCH_BLOCKING=1 makes calls synchronous", run_launch_blocking },
  { "S7", "pool", CONFORM_MINIMAL, S, false,
    "32 streams for each priority, given in turn", run_pool },
  { "S7", "pool_work", CONFORM_MINIMAL, S, false,
    "each of them does its work", run_pool_work },
  { "S7", "wrap", CONFORM_STREAMS, S, false,
    "NULL is wrapped or refused, and missing entries are named", run_wrap },
  { "S8", "locks", CONFORM_STREAMS, S, false,
    "waiting holds up no other thread", run_locks },
};
CONFORM_SECTION(conform_streams, tests);
