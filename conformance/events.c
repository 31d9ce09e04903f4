/* Rule S5: events and waits. */
#include "config.h"

#include <pthread.h>
#include <stdint.h>
#include <string.h>

#include "conformance/check.h"

enum { SIZE = 200000 };

static void run_life(void)
{
  tn_event *event = conform_event_new(0);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  conform_is(tn_event_query(event), TN_OK, "an event never recorded");
  conform_ok(tn_event_synchronize(event), "waiting for it");
  conform_ok(tn_stream_wait_event(stream, event), "waiting for it in a stream");
  conform_check(tn_event_device(event).index == -1, "it is of no device");
  for (int i = 0; i < 10; i++) {
    tn_with_stream(stream) tn_fill_bytes(memory, conform_device, i, SIZE);
    conform_ok(tn_event_record(event, stream), "recording again");
    conform_check(tn_device_equal(tn_event_device(event), conform_device),
                  "it is of the stream's device");
    conform_ok(tn_event_synchronize(event), "waiting");
    conform_is(tn_event_query(event), TN_OK, "a complete event");
  }
  conform_check(!tn_event_new(128) && tn_last_status() == TN_INVALID_ARGUMENT,
                "unknown flags are refused");
}

/* An event behind a busy stream's work is not complete. */
static void run_busy(void)
{
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_event *before = conform_event_new(0), *after = conform_event_new(0);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_synchronize(conform_device);
  tn_with_stream(stream) tn_fill_bytes(memory, conform_device, 1, SIZE);
  conform_ok(tn_event_record(before, stream), "recording");
  conform_gate gate = conform_gate_shut(stream);
  conform_ok(tn_event_record(after, stream), "recording");
  conform_linger();
  tn_clear_error();
  conform_is(tn_event_query(after), TN_NOT_READY,
             "an event right behind a host function that waits");
  conform_is(tn_last_status(), TN_OK, "which is no error");
  conform_is(tn_event_query(before), TN_OK, "an event before it");
  conform_gate_open(&gate);
  conform_ok(tn_event_synchronize(after), "waiting");
  conform_is(tn_event_query(after), TN_OK, "then it is complete");
  conform_is(tn_stream_query(stream), TN_OK, "and so is the stream");
}

typedef struct opener {
  conform_gate gate;
  int is_open;
} opener;

static void *open_later(void *argument)
{
  opener *o = argument;
  conform_linger();
  __atomic_store_n(&o->is_open, 1, __ATOMIC_SEQ_CST);
  conform_gate_open(&o->gate);
  return NULL;
}

/* Waiting on the host takes as long as the work. */
static void run_waits(void)
{
  unsigned char *out = conform_pinned_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  unsigned char wanted[16];
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_event *event = conform_event_new(0);
  tn_synchronize(conform_device);
  for (int i = 0; i < 4; i++) {
    pthread_t thread;
    opener o = { .gate = conform_gate_shut(stream) };
    int value = i + 1;
    memset(out, 0, SIZE);
    memset(wanted, value, sizeof wanted);
    tn_with_stream(stream) {
      tn_fill_bytes(memory, conform_device, value, SIZE);
      tn_copy(out, conform_nowhere, memory, conform_device, SIZE, true);
    }
    conform_ok(tn_event_record(event, stream), "recording");
    if (pthread_create(&thread, NULL, open_later, &o) != 0)
      conform_fail("no thread");
    tn_status status = i % 2 ? tn_stream_synchronize(stream)
                             : tn_event_synchronize(event);
    conform_check(__atomic_load_n(&o.is_open, __ATOMIC_SEQ_CST) != 0,
                  "a wait returned while the stream was stuck");
    conform_ok(status, "waiting");
    conform_same(out + SIZE - 16, wanted, sizeof wanted,
                 "the copy before the event");
    pthread_join(thread, NULL);
  }
}

/* Without a gate: what is behind the event is there when the wait is over. */
static void run_waits_value(void)
{
  unsigned char *out = conform_pinned_new(SIZE), *wanted =
      conform_host_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_event *event = conform_event_new(0);
  tn_synchronize(conform_device);
  for (int i = 1; i <= 20; i++) {
    memset(out, 0, SIZE);
    memset(wanted, i, SIZE);
    tn_with_stream(stream) {
      tn_fill_bytes(memory, conform_device, i, SIZE);
      tn_copy(out, conform_nowhere, memory, conform_device, SIZE, true);
    }
    conform_ok(tn_event_record(event, stream), "recording");
    conform_ok(tn_event_synchronize(event), "waiting");
    conform_same(out, wanted, SIZE, "round %d: the copy before the event", i);
  }
}

/* A stream that waits does not run what comes behind, wherever it is. */
static void wait_in(tn_device at, bool by_event, tn_stream *producer)
{
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  unsigned char *copy = conform_memory_new(conform_device, SIZE);
  tn_stream *waiter = conform_stream_new(at, 0);
  tn_event *event = conform_event_new(0);
  tn_fill_bytes(memory, conform_device, 1, SIZE);
  tn_synchronize(conform_device);
  conform_gate gate = conform_gate_shut(producer);
  tn_with_stream(producer)
    conform_ok(tn_fill_bytes(memory, conform_device, 7, SIZE), "a fill");
  conform_ok(tn_event_record(event, producer), "recording");
  conform_ok(by_event ? tn_stream_wait_event(waiter, event)
                      : tn_stream_wait_stream(waiter, producer),
             "waiting in a stream");
  if (tn_device_equal(at, conform_device))
    tn_with_stream(waiter)
      conform_ok(tn_copy(copy, conform_device, memory, conform_device, SIZE,
                         true), "a copy behind the wait");
  conform_is(conform_poll(waiter, 20), TN_NOT_READY,
             "a stream that waits for a stuck one");
  conform_gate_open(&gate);
  conform_ok(tn_stream_synchronize(waiter), "synchronising the waiter");
  conform_is(tn_event_query(event), TN_OK, "the event that it waited for");
  if (tn_device_equal(at, conform_device))
    conform_all(conform_device, copy, 7, SIZE, "what it copied then");
}

static void run_wait_stream(void)
{
  wait_in(conform_device, false, conform_stream_new(conform_device, 0));
}

static void run_wait_event(void)
{
  wait_in(conform_device, true, conform_stream_new(conform_device, 0));
}

static void run_wait_across(void)
{
  tn_device second = conform_second();
  wait_in(second, true, conform_stream_new(conform_device, 0));
  wait_in(second, false, conform_stream_new(conform_device, 0));
}

/* One event, many waiters, and then it is recorded anew. */
static void run_again(void)
{
  enum { WAITERS = 6 };
  tn_stream *first = conform_stream_new(conform_device, 0);
  tn_stream *second = conform_stream_new(conform_device, 0), *waiters[WAITERS];
  tn_event *event = conform_event_new(0);
  tn_synchronize(conform_device);
  conform_gate one = conform_gate_shut(first), two = conform_gate_shut(second);
  conform_ok(tn_event_record(event, first), "recording");
  for (int i = 0; i < WAITERS; i++) {
    waiters[i] = conform_stream_new(conform_device, -(i % 2));
    conform_ok(tn_stream_wait_event(waiters[i], event), "waiter %d", i);
  }
  conform_ok(tn_event_record(event, second), "recording anew");
  conform_linger();
  for (int i = 0; i < WAITERS; i++)
    conform_is(tn_stream_query(waiters[i]), TN_NOT_READY, "waiter %d", i);
  conform_gate_open(&one);
  for (int i = 0; i < WAITERS; i++)
    conform_ok(tn_stream_synchronize_for(waiters[i], 5000),
               "waiter %d, for what the event meant then", i);
  conform_is(tn_event_query(event), TN_NOT_READY,
             "the event, which means another stream now");
  conform_gate_open(&two);
  conform_ok(tn_event_synchronize(event), "waiting for it");
}

static void check_times(tn_event *start, tn_event *end, tn_stream *stream)
{
  float ms = -1, none = -1;
  double before = conform_now();
  conform_ok(tn_event_record(start, stream), "recording");
  conform_ok(tn_event_synchronize(start), "waiting");
  double began = conform_now();
  conform_gate gate = conform_gate_shut(stream);
  double linger = conform_now();
  while (conform_now() < linger + 25) conform_linger();
  double least = conform_now() - began;
  conform_gate_open(&gate);
  conform_ok(tn_event_record(end, stream), "recording");
  conform_ok(tn_event_synchronize(end), "waiting");
  double most = conform_now() - before;
  conform_ok(tn_event_elapsed(start, end, &ms), "elapsed time");
  conform_check((double)ms >= least * 0.98 - 0.1 &&
                    (double)ms <= most * 1.02 + 0.1,
                "%g ms between two events that are %g to %g ms apart",
                (double)ms, least, most);
  conform_ok(tn_event_elapsed(start, start, &none), "elapsed time of one");
  conform_check(none >= 0 && none < 0.01f, "an event and itself are %g ms "
                "apart", (double)none);
}

static void run_elapsed(void)
{
  float ms = -1;
  tn_event *start = conform_event_new(TN_EVENT_TIMING);
  tn_event *end = conform_event_new(TN_EVENT_TIMING);
  tn_event *plain = conform_event_new(0);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_is(tn_event_elapsed(plain, end, &ms), TN_INVALID_ARGUMENT,
             "elapsed time without timing");
  conform_is(tn_event_elapsed(start, end, &ms), TN_INVALID_ARGUMENT,
             "elapsed time of events never recorded");
  conform_ok(tn_event_record(start, stream), "recording");
  conform_ok(tn_event_record(end, stream), "recording");
  conform_ok(tn_event_synchronize(end), "waiting");
  tn_status status = tn_event_elapsed(start, end, &ms);
  if (status == TN_UNSUPPORTED) {
    conform_error_has("elapsed", "what is missing is named");
    conform_absent("stream.elapsed");
  }
  conform_ok(status, "elapsed time");
  check_times(start, end, stream);
}

/* What streams do in any order, held against a model: see conform_random. */
enum { BUFFERS = 5, STREAMS = 4, BYTES = 30000, STEPS = 300 };

static struct {
  unsigned char *memory, value;
  tn_stream *last;
} buffers[BUFFERS];

static void order(tn_stream *stream, int which)
{
  tn_event *event;
  tn_stream *last = buffers[which].last;
  if (last == stream) return;
  switch (conform_random(3)) {
  case 0:
    conform_ok(tn_stream_wait_stream(stream, last), "waiting");
    break;
  case 1:
    event = tn_event_new(0);
    conform_ok(tn_event_record(event, last), "recording");
    conform_ok(tn_stream_wait_event(stream, event), "waiting");
    tn_event_release(event);
    break;
  default:
    conform_ok(tn_stream_synchronize(last), "synchronising");
  }
  buffers[which].last = stream;
}

static void step(tn_stream *stream, int a, int b)
{
  order(stream, a);
  tn_set_stream(stream);
  if (conform_random(3) == 0) {
    buffers[a].value = (unsigned char)conform_random(256);
    conform_ok(tn_fill_bytes(buffers[a].memory, conform_device,
                             buffers[a].value, BYTES), "a fill");
  } else if (a != b) {
    order(stream, b);
    buffers[a].value = buffers[b].value;
    conform_ok(tn_copy(buffers[a].memory, conform_device, buffers[b].memory,
                       conform_device, BYTES, true), "a copy");
  }
}

static void run_random(void)
{
  tn_stream *streams[STREAMS];
  streams[0] = tn_default_stream(conform_device);
  for (int i = 1; i < STREAMS; i++)
    streams[i] = conform_stream_new(conform_device, -(i % 2));
  for (int i = 0; i < BUFFERS; i++) {
    buffers[i].memory = conform_memory_new(conform_device, BYTES);
    buffers[i].last = streams[0];
    tn_fill_bytes(buffers[i].memory, conform_device, 0, BYTES);
  }
  for (int i = 0; i < STEPS; i++)
    step(streams[conform_random(STREAMS)], (int)conform_random(BUFFERS),
         (int)conform_random(BUFFERS));
  conform_ok(tn_synchronize(conform_device), "synchronising the device");
  for (int i = 0; i < BUFFERS; i++)
    conform_all(conform_device, buffers[i].memory, buffers[i].value, BYTES,
                "buffer %d after %d random steps", i, STEPS);
}

#define E CONFORM_EVENT_BIT
#define S CONFORM_STREAM_BIT
static const conform_test tests[] = {
  { "S5", "life", CONFORM_MINIMAL, E, false,
    "events are complete until recorded, and recorded again", run_life },
  { "S5", "busy", CONFORM_STREAMS, E, false,
    "an event is complete when what is before it is", run_busy },
  { "S5", "waits", CONFORM_STREAMS, E | S, false,
    "waiting takes as long as the work", run_waits },
  { "S5", "waits_value", CONFORM_MINIMAL, E | S, false,
    "and then what it did is there", run_waits_value },
  { "S5", "wait_stream", CONFORM_STREAMS, S, false,
    "a stream waits for another", run_wait_stream },
  { "S5", "wait_event", CONFORM_STREAMS, E | S, false,
    "a stream waits for an event", run_wait_event },
  { "S5", "wait_across", CONFORM_STREAMS, E | S | CONFORM_TWO_BIT, false,
    "a stream waits for one of another device", run_wait_across },
  { "S5", "again", CONFORM_STREAMS, E | S, false,
    "waits keep what an event meant", run_again },
  { "S5", "elapsed", CONFORM_STREAMS, E, false,
    "elapsed time is that of the clock", run_elapsed },
  { "S5", "random", CONFORM_MINIMAL, E | S | CONFORM_COPY_BIT, false,
    "streams ordered at random give the values of one thread", run_random },
};
CONFORM_SECTION(conform_events, tests);
