/* Events of any device (rules S5). */
#include "config.h"

#include "tests/test_device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device, second;

enum { SIZE = 1 << 20 };

static void work(tn_stream *stream, char *memory)
{
  tn_with_stream(stream)
    for (int i = 0; i < 8; i++) tn_fill_bytes(memory, device, i, SIZE);
}

static void test_life(void)
{
  tn_stream *stream = tn_stream_new(device, 0);
  tn_event *event = tn_event_new(0);
  char *memory = tn_malloc(device, SIZE);
  tap_is_int(tn_event_query(event), TN_OK, "A067 a new event is complete");
  tap_is_int(tn_event_device(event).index, -1, "A070 and of no device");
  for (int i = 0; i < 3; i++) {
    work(stream, memory);
    tap_is_int(tn_event_record(event, stream), TN_OK, "A075 record");
    tap_ok(tn_device_equal(tn_event_device(event), device),
           "A071 it has the stream's device");
    tap_is_int(tn_event_synchronize(event), TN_OK, "A068 synchronize");
    tap_is_int(tn_event_query(event), TN_OK, "A068 then it is complete");
    tap_is_int(tn_event_synchronize(event), TN_OK, "A068 and stays so");
  }
  work(stream, memory);
  tn_event_record(event, stream);
  tn_event_retain(event);
  tn_event_release(event);
  while (tn_event_query(event) == TN_NOT_READY) {}
  tap_is_int(tn_event_query(event), TN_OK,
             "S5 asking again and again comes to an end");
  tap_is_int(tn_stream_query(stream), TN_OK, "S5 the stream too");
  tn_event_release(event);
  tn_event_release(NULL);
  tn_free(memory);
}

static void test_waiters(void)
{
  enum { WAITERS = 3 };
  tn_stream *producer = tn_stream_new(device, 0), *waiters[WAITERS];
  tn_event *event = tn_event_new(0);
  char *memory = tn_malloc(device, SIZE), got[WAITERS];
  work(producer, memory);
  tn_event_record(event, producer);
  for (int i = 0; i < WAITERS; i++) {
    waiters[i] = tn_stream_new(device, 0);
    tap_is_int(tn_stream_wait_event(waiters[i], event), TN_OK,
               "A076 a waiter of several");
    tn_with_stream(waiters[i])
      tn_copy(&got[i], test_host, memory + SIZE - 1, device, 1, false);
    tap_is_int(got[i], 7, "A076 sees what came before");
  }
  tap_is_int(tn_event_query(event), TN_OK, "A072 the event is done");
  tn_event_release(event);
  tn_free(memory);
}

static void test_two_devices(void)
{
  if (second.backend == 0) {
    tap_skip("A072 there is one device");
    return;
  }
  tn_stream *producer = tn_stream_new(device, 0);
  tn_stream *waiter = tn_stream_new(second, 0);
  tn_event *event = tn_event_new(0);
  char *memory = tn_malloc(device, SIZE);
  work(producer, memory);
  tn_event_record(event, producer);
  tap_is_int(tn_stream_wait_event(waiter, event), TN_OK,
             "A072 a stream of another device waits");
  tap_is_int(tn_stream_synchronize(waiter), TN_OK, "A072 and is done");
  tap_is_int(tn_event_query(event), TN_OK, "A072 after the event");
  tap_is_int(tn_event_record(event, waiter), TN_OK, "A079 recorded there");
  tap_ok(tn_device_equal(tn_event_device(event), second),
         "A079 the event is of that device");
  tn_event_release(event);
  tn_free(memory);
}

static void test_timing(void)
{
  float ms = -1;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING), *plain = tn_event_new(0);
  char *memory = tn_malloc(device, SIZE);
  tap_is_int(tn_event_elapsed(plain, end, &ms), TN_INVALID_ARGUMENT,
             "A069 A084 no time without timing");
  tap_has(tn_error_message(), "timing", "A069 which is said first");
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_INVALID_ARGUMENT,
             "A069 A084 nor without a record");
  tap_has(tn_error_message(), "recorded", "A069 which is said then");
  tn_event_record(start, stream);
  work(stream, memory);
  tn_event_record(end, stream);
  tn_event_synchronize(end);
  tn_status status = tn_event_elapsed(start, end, &ms);
  if (status == TN_UNSUPPORTED) {
    tap_has(tn_error_message(), "stream.elapsed",
            "X3 a backend without timing is named");
  } else {
    tap_is_int(status, TN_OK, "A068 elapsed time");
    tap_ok(ms > 0 && ms < 1e5f, "A068 is more than 0: %g ms", (double)ms);
  }
  tap_is_int(tn_event_elapsed(start, NULL, &ms), TN_INVALID_ARGUMENT,
             "S5 NULL is no event");
  tn_event_release(start);
  tn_event_release(end);
  tn_event_release(plain);
  tn_free(memory);
}

static void test_unfinished(tn_stream *stream)
{
  float ms = -1;
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING);
  tn_event_record(start, stream);
  tn_event_record(end, stream);
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_NOT_READY,
             "A084 no time before both are complete");
  tap_has(tn_error_message(), "not both complete", "A084 which is said");
  tn_event_release(start);
  tn_event_release(end);
}

static void test_gated(void)
{
  test_gate gate;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_event *event = tn_event_new(0), *before = tn_event_new(0);
  tn_event_record(before, stream);
  if (!test_gate_shut(&gate, stream)) {
    tap_skip("A068 the backend has no host functions to keep a stream busy");
    tn_event_release(event);
    tn_event_release(before);
    return;
  }
  tn_event_record(event, stream);
  tn_clear_error();
  tap_is_int(tn_event_query(event), TN_NOT_READY, "A068 not complete");
  tap_is_int(tn_last_status(), TN_OK, "A068 is no error");
  tap_is_int(tn_event_query(before), TN_OK, "S5 an earlier event is");
  tap_is_int(tn_event_synchronize_for(event, 2), TN_TIMEOUT,
             "S4 a wait with a limit");
  tap_has(tn_error_message(), "2 ms", "S4 which is named");
  test_unfinished(stream);
  test_gate_open(&gate);
  tap_is_int(tn_event_synchronize_for(event, 1e6), TN_OK,
             "S4 with a long one");
  tn_event_release(event);
  tn_event_release(before);
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  test_life();
  test_waiters();
  test_two_devices();
  test_timing();
  test_gated();
  return tap_done();
}
