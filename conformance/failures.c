/* Rule S6. Work is made to fail by the backend itself where it can be asked to,
 * TENON_NAME_FAIL=launch:N, which lets the N-th launch of the process fail
 * when it runs; else by the layer `fault` around it, in whose place the
 * backend's stream goes on. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

enum { COUNT = 1000, SIZE = COUNT * 4 };

static float *memory;
static unsigned char *other;

/* ---- what is to fail ---- */

static void set_hook(const char *list)
{
  char variable[80];
  snprintf(variable, sizeof variable, "TENON_%s_FAIL", conform_backend);
  for (char *c = variable; *c; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  setenv(variable, list, 1);
}

/* Goes inside of the layers that there are. */
static void set_layer(const char *entry, int number)
{
  char list[600];
  const char *others = getenv("TENON_LAYERS");
  snprintf(list, sizeof list, "%s%sfault:entry=%s,n=%d,status=LAUNCH_FAILED,"
           "late=yes", others ? others : "", others && *others ? "," : "",
           entry, number);
  setenv("TENON_LAYERS", list, 1);
}

static void open_device(void)
{
  if (!tn_default_stream(tn_device_of(conform_text)) &&
      strstr(tn_error_message(), "unknown layer \"fault\""))
    conform_absent("the layer \"fault\": it is not installed");
  conform_open();
  if (!conform_info().has_stream) conform_absent("stream");
  memory = (float *)(void *)conform_memory_new(conform_device, SIZE);
  other = conform_memory_new(conform_device, SIZE);
}

/* ---- launches ---- */

static void open_for_launches(void)
{
  open_device();
  if (!conform_info().has_launch) conform_absent("launch");
  conform_ok(conform_add_one(memory, COUNT), "a launch");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

/* The fourth launch of the process fails: it has two of another kernel around
 * it, as conform_add_one made two at first. */
static tn_status launch_three(tn_stream *stream)
{
  tn_status status = TN_OK;
  tn_with_stream(stream) {
    status = conform_add_one(memory, COUNT);
    if (status == TN_OK) status = conform_set(memory, 100, COUNT);
    if (status == TN_OK) status = conform_add_one(memory, COUNT);
  }
  return status;
}

/* Whether the kernel that was to fail has run. */
static bool has_set(void)
{
  float got[COUNT];
  conform_fetch(conform_device, got, memory, sizeof got);
  return got[0] >= 100;
}

/* In a process of its own: 0 if the backend fails when asked. */
static int try_hook(void *unused)
{
  (void)unused;
  set_hook("launch:4");
  open_for_launches();
  tn_status status = launch_three(conform_stream_new(conform_device, 0));
  return status == TN_OK && tn_synchronize(conform_device) == TN_OK &&
         has_set();
}

static void begin_launches(void)
{
  if (conform_fork(try_hook, NULL, 0) == 0) set_hook("launch:4");
  else set_layer("launch.launch", 4);
  open_for_launches();
}

/* A layer sees the launches of replays where those are call by call. */
static void begin_replays(void)
{
  if (conform_fork(try_hook, NULL, 0) == 0) set_hook("launch:4");
  else {
    set_layer("launch.launch", 4);
    setenv("TENON_GRAPH_CALLS", "1", 1);
  }
  open_for_launches();
}

/* ---- copies and fills: the first of the process fails ---- */

static void begin_copies(const char *entry)
{
  set_layer(entry, 1);
  open_device();
}

static tn_status copy_one(tn_stream *stream)
{
  tn_status status = TN_OK;
  tn_with_stream(stream)
    status = tn_copy(memory, conform_device, other, conform_device, SIZE,
                     true);
  return status;
}

static tn_status fill_one(tn_stream *stream)
{
  tn_status status = TN_OK;
  tn_with_stream(stream)
    status = tn_fill_bytes(other, conform_device, 1, SIZE);
  return status;
}

/* ---- how it is noticed ---- */

static tn_status wait_device(tn_stream *stream)
{
  (void)stream;
  return tn_synchronize(conform_device);
}

static tn_status wait_event(tn_stream *stream)
{
  static tn_event *event;
  if (!event) event = conform_event_new(0);
  conform_ok(tn_event_record(event, stream), "recording");
  return tn_event_synchronize(event);
}

static tn_status ask(tn_stream *stream) { return conform_poll(stream, 5000); }

static void is_told(tn_status status, const char *name)
{
  conform_is(status, TN_LAUNCH_FAILED, "work that fails");
  conform_error_has(name, "what failed is named");
  conform_error_has(conform_text, "the device is named");
}

/* Only once, and the stream goes on. */
static void goes_on(tn_stream *stream, tn_status (*wait)(tn_stream *),
                    tn_status (*work)(tn_stream *))
{
  tn_clear_error();
  conform_ok(wait(stream), "the failure is told once");
  conform_ok(work(stream), "work afterwards");
  conform_ok(wait(stream), "the stream goes on");
}

static void fail_launch(tn_status (*wait)(tn_stream *))
{
  begin_launches();
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(launch_three(stream), "queueing a launch that will fail");
  is_told(wait(stream), "fill_f32");
  conform_check(!strstr(tn_error_message(), "add_f32"),
                "another kernel is named");
  conform_check(!has_set(), "the kernel that failed has run");
  goes_on(stream, wait, launch_three);
  conform_check(has_set(), "the same kernel afterwards has run");
}

static void run_stream(void) { fail_launch(tn_stream_synchronize); }
static void run_device(void) { fail_launch(wait_device); }
static void run_event(void) { fail_launch(wait_event); }
static void run_query(void) { fail_launch(ask); }

static void run_copy(void)
{
  begin_copies("copy.copy");
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(copy_one(stream), "queueing a copy that will fail");
  is_told(tn_stream_synchronize(stream), "copy device to device");
  goes_on(stream, tn_stream_synchronize, copy_one);
}

static void run_fill(void)
{
  begin_copies("copy.fill");
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(fill_one(stream), "queueing a fill that will fail");
  tn_status status = tn_stream_synchronize(stream);
  if (status == TN_OK) {
    conform_all(conform_device, other, 1, SIZE, "a fill that did not fail");
    conform_absent("copy.fill");
  }
  is_told(status, "fill");
  goes_on(stream, tn_stream_synchronize, fill_one);
}

/* A blocking copy tells of what failed before it on its stream. */
static void run_blocking(void)
{
  begin_launches();
  float got[COUNT];
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(launch_three(stream), "queueing a launch that will fail");
  tn_with_stream(stream)
    is_told(tn_copy(got, conform_nowhere, memory, conform_device, SIZE,
                    false), "fill_f32");
  goes_on(stream, tn_stream_synchronize, launch_three);
}

/* Those who wait for another stream are not told. */
static void run_apart(void)
{
  begin_launches();
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_stream *aside = conform_stream_new(conform_device, 0);
  tn_event *event = conform_event_new(0);
  conform_ok(launch_three(stream), "queueing a launch that will fail");
  tn_with_stream(aside)
    conform_ok(tn_fill_bytes(other, conform_device, 1, SIZE), "a fill");
  conform_ok(tn_event_record(event, aside), "recording");
  conform_ok(tn_event_synchronize(event), "an event of another stream");
  conform_ok(tn_stream_synchronize(aside), "another stream");
  is_told(tn_stream_synchronize(stream), "fill_f32");
}

/* What fails in a replay is told as it would be without the graph. */
static void run_replay(void)
{
  begin_replays();
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_graph *graph = tn_graph_new();
  conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
  conform_ok(launch_three(stream), "capturing a launch that will fail");
  conform_ok(tn_graph_end(graph), "ending");
  for (int i = 0; i < 2; i++) {
    tn_with_stream(stream) conform_ok(tn_graph_replay(graph), "a replay");
    if (i) conform_ok(tn_stream_synchronize(stream), "the next replay");
    else is_told(tn_stream_synchronize(stream), "fill_f32");
    conform_check(has_set() == i, "the kernel that failed in the first replay "
                  "has%s run in %s", i ? " not" : "", i ? "the next" : "it");
    conform_ok(tn_stream_synchronize(stream), "the failure is told once");
  }
  tn_graph_release(graph);
}

#define S CONFORM_STREAM_BIT
#define L (CONFORM_LAUNCH_BIT | S)
#define C CONFORM_COPY_BIT
static const conform_test tests[] = {
  { "S6", "stream", CONFORM_STREAMS, L, true,
    "synchronising a stream tells of the kernel that failed", run_stream },
  { "S6", "device", CONFORM_STREAMS, L, true,
    "and so does synchronising the device", run_device },
  { "S6", "event", CONFORM_STREAMS, L | CONFORM_EVENT_BIT, true,
    "and waiting for an event", run_event },
  { "S6", "query", CONFORM_STREAMS, L, true,
    "and asking a stream that is done", run_query },
  { "S6", "blocking", CONFORM_STREAMS, L | C, true,
    "and a blocking copy on that stream", run_blocking },
  { "S6", "apart", CONFORM_STREAMS, L | CONFORM_EVENT_BIT, true,
    "other streams do not tell of it", run_apart },
  { "S6", "copy", CONFORM_STREAMS, C | S, true,
    "a copy that failed is named", run_copy },
  { "S6", "fill", CONFORM_STREAMS, C | S, true,
    "a fill that failed is named", run_fill },
  { "S6", "replay", CONFORM_GRAPHS, L | CONFORM_GRAPH_BIT, true,
    "and so is a kernel that failed in a replay", run_replay },
};
CONFORM_SECTION(conform_failures, tests);
