/* Orders of queued work, by hand: what waits for what, and what runs when
 * (rules S1, S3, S4, S5, S6, S7). */
#include "config.h"

#include "tests/manual_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

static char seen[64];

static void note_a(void *unused) { (void)unused, strcat(seen, "a"); }
static void note_b(void *unused) { (void)unused, strcat(seen, "b"); }
static void note_c(void *unused) { (void)unused, strcat(seen, "c"); }

static void begin(void) { seen[0] = 0; }

static void test_streams(void)
{
  int one, two;
  tn_stream *first = manual_stream(&one), *second = manual_stream(&two);
  begin();
  tap_is_int(tn_stream_query(first), TN_OK, "A050 a new stream is idle");
  tn_stream_call(first, note_a, NULL);
  tn_stream_call(first, note_b, NULL);
  tap_is_text(seen, "", "S1 queued work does not run in the call");
  tn_clear_error();
  tap_is_int(tn_stream_query(first), TN_NOT_READY, "S5 a busy stream says so");
  tap_is_int(tn_last_status(), TN_OK, "S5 which is no error");
  tap_is_int(tn_stream_wait_stream(second, first), TN_OK,
             "S5 a stream waits for another");
  tn_stream_call(second, note_c, NULL);
  tap_is_text(seen, "", "S5 waiting does not block the host");
  tap_is_int(tn_stream_synchronize(second), TN_OK, "S5 synchronize");
  tap_is_text(seen, "abc", "S5 the other stream's work came first, in order");
  tap_is_int(tn_stream_query(first), TN_OK, "S5 the other stream is done");
  tap_is_int(tn_stream_wait_stream(first, first), TN_OK,
             "S5 a stream may wait for itself");
  tap_is_int(manual->waiting(one), 0, "S5 which queues nothing");
  tn_stream_release(first);
  tn_stream_release(second);
}

static void test_events(void)
{
  int one, two;
  tn_stream *first = manual_stream(&one), *second = manual_stream(&two);
  tn_event *event = tn_event_new(0);
  begin();
  tap_is_int(tn_event_query(event), TN_OK, "A067 a new event is complete");
  tap_is_int(tn_event_synchronize(event), TN_OK, "A077 and not waited for");
  tap_is_int(tn_stream_wait_event(second, event), TN_OK,
             "A077 a wait for it is nothing");
  tap_is_int(manual->waiting(two), 0, "A077 and queues nothing");
  tap_is_int(tn_event_device(event).index, -1,
             "A070 it has no device before it is recorded");
  tn_stream_call(first, note_a, NULL);
  tap_is_int(tn_event_record(event, first), TN_OK, "S5 record");
  tap_ok(tn_device_equal(tn_event_device(event), manual_first),
         "A071 then it has the stream's device");
  tn_clear_error();
  tap_is_int(tn_event_query(event), TN_NOT_READY, "A068 not complete");
  tap_is_int(tn_last_status(), TN_OK, "A068 which is no error");
  tn_stream_wait_event(second, event);
  tn_stream_call(second, note_b, NULL);
  tn_stream_call(first, note_c, NULL);
  tn_event_record(event, first);
  tap_is_int(tn_stream_synchronize(second), TN_OK,
             "A075 the event is recorded again while it is waited for");
  tap_is_text(seen, "ab", "A075 the queued wait kept its meaning");
  tap_is_int(tn_event_query(event), TN_NOT_READY,
             "A075 the event has its new one");
  tap_is_int(tn_event_synchronize(event), TN_OK, "A075 and can be waited for");
  tap_is_text(seen, "abc", "A075 until the new record");
  tap_is_int(tn_event_query(event), TN_OK, "A068 then it is complete");
  tn_event_release(event);
}

static void test_limits(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_event *event = tn_event_new(0);
  begin();
  tn_stream_call(stream, note_a, NULL);
  tn_event_record(event, stream);
  tap_is_int(tn_stream_synchronize_for(stream, 5), TN_TIMEOUT,
             "S4 a stream is waited for within a limit");
  tap_has(tn_error_message(), "5 ms", "S4 the message names the limit");
  tap_is_int(tn_event_synchronize_for(event, 0), TN_TIMEOUT,
             "S4 and an event");
  tap_is_int(tn_event_synchronize_for(event, -3), TN_TIMEOUT,
             "S4 a limit below 0 counts as 0");
  tap_is_int(tn_stream_synchronize_for(stream, NAN), TN_INVALID_ARGUMENT,
             "S4 a limit that is no number is refused");
  tap_is_text(seen, "", "S4 nothing ran");
  tap_is_int(tn_event_synchronize_for(event, INFINITY), TN_OK,
             "S4 without end");
  tap_is_int(tn_stream_synchronize_for(stream, 0), TN_OK,
             "S4 a limit of 0 does for an idle stream");
  tn_event_release(event);
}

static void test_elapsed(void)
{
  int number;
  float ms = -1;
  tn_stream *stream = manual_stream(&number);
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING), *plain = tn_event_new(0);
  tap_is_int(tn_event_elapsed(start, plain, &ms), TN_INVALID_ARGUMENT,
             "A069 no elapsed time without timing");
  tap_has(tn_error_message(), "end event has no timing",
          "A069 which is looked at before whether they were recorded");
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_INVALID_ARGUMENT,
             "S5 nor without a record");
  tap_has(tn_error_message(), "never recorded", "S5 and says so");
  tn_event_record(start, stream);
  for (int i = 0; i < 3; i++) tn_stream_call(stream, note_a, NULL);
  tn_event_record(end, stream);
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_NOT_READY,
             "S5 nor before both are complete");
  begin();
  tn_stream_synchronize(stream);
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_OK, "S5 elapsed time");
  tap_is_int((int)ms, 3, "S5 of three commands");
  tn_event_record(end, tn_default_stream(manual_second));
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_DEVICE_MISMATCH,
             "S5 not between two devices");
  tap_has(tn_error_message(), "manual:1", "S5 which are named");
  tap_ok(!tn_event_new(6), "S5 unknown event flags are refused");
  tn_event_release(start);
  tn_event_release(end);
  tn_event_release(plain);
}

/* The stream of one device waits for that of another. */
static void test_devices(void)
{
  tn_stream *first = tn_default_stream(manual_first);
  tn_stream *second = tn_default_stream(manual_second);
  begin();
  tn_stream_call(second, note_a, NULL);
  tap_is_int(tn_stream_wait_stream(first, second), TN_OK,
             "A072 a stream waits for one of another device");
  tn_stream_call(first, note_b, NULL);
  tap_is_int(tn_synchronize(manual_first), TN_OK, "A072 synchronize a device");
  tap_is_text(seen, "ab", "A072 in order");
  tap_is_int(tn_current_device("manual").index, 0,
             "A039 the current device stays");
  tap_is_int(tn_synchronize(manual_second), TN_OK, "A039 also another one's");
  tap_is_int(tn_current_device("manual").index, 0, "A039 stays");
}

static void test_synchronize(void)
{
  int one, two;
  tn_stream *first = manual_stream(&one), *second = manual_stream(&two);
  begin();
  tn_stream_call(first, note_a, NULL);
  tn_stream_call(second, note_b, NULL);
  tap_is_int(tn_synchronize(manual_first), TN_OK, "S5 synchronize a device");
  tap_is_int((long)strlen(seen), 2, "S5 waits for all its streams");
}

static void test_failures(void)
{
  int one, two;
  tn_stream *first = manual_stream(&one), *second = manual_stream(&two);
  tn_event *event = tn_event_new(0);
  begin();
  tn_stream_call(first, note_a, NULL);
  tn_stream_call(first, note_b, NULL);
  manual->fail_next();
  tap_is_int(tn_stream_synchronize(first), TN_LAUNCH_FAILED,
             "S6 a failure of queued work is reported");
  tap_is_text(tn_error_message(), "manual:0: host function: failed as asked",
              "S6 naming device and work");
  tap_is_text(seen, "b", "S6 later work ran");
  tap_is_int(tn_stream_synchronize(first), TN_OK, "S6 once");
  tn_stream_call(first, note_a, NULL);
  tn_event_record(event, first);
  manual->fail_next();
  tap_is_int(tn_event_synchronize(event), TN_LAUNCH_FAILED,
             "S6 waiting for an event reports it");
  tap_is_int(tn_event_synchronize(event), TN_OK, "S6 once");
  tn_stream_call(second, note_a, NULL);
  manual->fail_next();
  manual->run(two, 1);
  tap_is_int(tn_stream_synchronize(first), TN_OK,
             "S6 not by another stream");
  tap_is_int(tn_synchronize(manual_second), TN_OK,
             "S6 not by another device");
  tap_is_int(tn_synchronize(manual_first), TN_LAUNCH_FAILED,
             "S6 but by its device");
  tap_is_int(tn_synchronize(manual_first), TN_OK, "S6 once");
  tn_stream_call(second, note_a, NULL);
  manual->fail_next();
  manual->run(two, 1);
  tap_is_int(tn_stream_query(second), TN_LAUNCH_FAILED, "S6 or by a query");
  tap_is_int(tn_stream_query(second), TN_OK, "S6 once");
  tn_event_release(event);
}

static void test_wrap(void)
{
  manual_native native = { 0 };
  int number = manual->stream_count();
  tn_stream *stream = tn_stream_wrap(manual_first, &native);
  tap_ok(stream != NULL, "A064 a vendor's queue is wrapped");
  tap_ok(tn_device_equal(tn_stream_device(stream), manual_first),
         "A064 the device is kept");
  begin();
  tn_with_stream(stream) {
    tap_ok(tn_current_stream(manual_first) == stream,
           "A065 it can be the current stream");
    tn_stream_call(tn_current_stream(manual_first), note_a, NULL);
  }
  tn_stream_retain(stream);
  tn_stream_release(stream);
  tap_is_int(manual->stream_destroyed(number), 0,
             "S7 it lives as long as there are references");
  tn_stream_release(stream);
  tap_is_text(seen, "a", "S7 its work is complete when it ends");
  tap_is_int(manual->stream_destroyed(number), 1, "S7 and then it ends");
  native.is_destroyed = 1;
  tap_is_int(tn_synchronize(manual_first), TN_OK,
             "R14 nothing uses it afterwards");
}

static void test_asynchronous(void)
{
  test_streams();
  test_events();
  test_limits();
  test_elapsed();
  test_devices();
  test_synchronize();
  test_failures();
  test_wrap();
}

static void test_no_host_functions(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  char *memory = tn_malloc(manual_first, 16);
  begin();
  tn_with_stream(stream) tn_fill_bytes(memory, manual_first, 7, 16);
  tap_is_int(manual->waiting(number), 1, "S5 work is queued");
  tap_is_int(tn_stream_call(stream, note_a, NULL), TN_OK,
             "S5 a host function where the backend has none");
  tap_is_int(manual->waiting(number), 0, "S5 the queue was waited for");
  tap_is_text(seen, "a", "S5 and the function called on the spot");
  tn_free(memory);
}

static void test_blocking(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  begin();
  tap_is_int(tn_stream_call(stream, note_a, NULL), TN_OK,
             "S4 TENON_LAUNCH_BLOCKING=1: a call");
  tap_is_text(seen, "a", "S4 is complete when it returns");
  manual->fail_next();
  tap_is_int(tn_stream_call(stream, note_a, NULL), TN_LAUNCH_FAILED,
             "S4 and reports its own failure");
}

static void test_no_table(void)
{
  tn_stream *stream = tn_stream_new(manual_first, 0);
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING);
  float ms = -1;
  char *memory = tn_malloc(manual_first, 16);
  begin();
  tn_event_record(start, stream);
  tap_is_int(tn_stream_call(stream, note_a, NULL), TN_OK,
             "X3 without a stream table");
  tap_is_text(seen, "a", "X3 all is complete when its call returns");
  tn_with_stream(stream) tn_fill_bytes(memory, manual_first, 7, 16);
  tap_is_int(memory[15], 7, "X3 also on the core's streams");
  tn_event_record(end, stream);
  tap_is_int(tn_stream_wait_event(tn_default_stream(manual_first), end),
             TN_OK, "X3 waits are nothing");
  tap_is_int(tn_event_query(end), TN_OK, "X3 events are complete");
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_OK, "X3 and timed");
  tap_ok(ms >= 0 && ms < 1e6f, "X3 by the host's clock");
  tap_ok(!tn_stream_wrap(manual_first, &ms), "X3 nothing is wrapped");
  tap_has(tn_error_message(), "backend \"manual\" has no stream.wrap",
          "X3 and that is said by name");
  tn_event_release(start);
  tn_event_release(end);
  tn_free(memory);
}

int main(void)
{
  manual_part("", test_asynchronous);
  manual_part("nohost", test_no_host_functions);
  manual_part("notable", test_no_table);
  setenv("TENON_LAUNCH_BLOCKING", "1", 1);
  manual_part("", test_blocking);
  return tap_done();
}
