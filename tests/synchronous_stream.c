/* Streams of a backend that has none: the core supplies them, and all is
 * complete when its call returns (X3). */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <string.h>

#include "tenon/tenon.h"

static void mark(void *argument) { ++*(int *)argument; }

static void check_streams(tn_device device)
{
  int called = 0;
  tn_stream *stream = tn_stream_new(device, -1);
  tap_ok(stream != NULL, "X3 a stream of a backend without streams");
  if (!stream) return;
  tap_is_int(tn_stream_query(stream), TN_OK, "is always complete");
  tap_is_int(tn_stream_call(stream, mark, &called), TN_OK, "a host function");
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "after a wait");
  tap_is_int(called, 1, "was called once");
  tap_is_int(tn_stream_wait_stream(stream, tn_default_stream(device)), TN_OK,
             "streams wait for each other");
  tap_ok(tn_stream_wrap(device, &called) == NULL &&
             tn_last_status() == TN_UNSUPPORTED,
         "X3 A329 what cannot be supplied is refused");
  tap_is_text(tn_error_message(), "backend \"fake\" has no stream.wrap",
              "X3 A322 naming backend and function");
  tn_stream_release(stream);
}

static void check_events(tn_device device)
{
  float ms = -1;
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING);
  tap_is_int(tn_event_record(start, tn_default_stream(device)), TN_OK,
             "an event");
  tap_is_int(tn_event_record(end, tn_default_stream(device)), TN_OK,
             "another");
  tap_is_int(tn_event_query(end), TN_OK, "is complete at once");
  tap_is_int(tn_event_synchronize_for(end, 1), TN_OK, "waited for");
  tap_is_int(tn_event_elapsed(start, end, &ms), TN_OK, "the time between");
  tap_ok(ms >= 0 && ms < 60000, "is a time: %g ms", (double)ms);
  tn_event_release(start);
  tn_event_release(end);
}

static void check_copies(tn_device device)
{
  char in[] = "sixteen letters", out[sizeof in] = "";
  tn_device host = { 0, 0 };
  void *memory = tn_malloc(device, sizeof in);
  tap_ok(memory != NULL, "memory");
  tap_is_int(tn_copy(memory, device, in, host, sizeof in, true), TN_OK,
             "a copy to the device");
  tap_is_int(tn_fill_bytes(memory, device, 'S', 1), TN_OK,
             "X3 a fill, which the backend lacks");
  tap_is_int(tn_copy(out, host, memory, device, sizeof in, false), TN_OK,
             "a copy back");
  tap_is_text(out, "Sixteen letters", "has what was there");
  tn_free(memory);
  tap_is_int(tn_synchronize(device), TN_OK, "all is complete");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_path_set(folder, "");
  tn_device device = tn_device_of("fake:1");
  check_streams(device);
  check_events(device);
  check_copies(device);
  return tap_done();
}
