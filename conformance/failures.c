/* Rule S6, where the backend can be made to fail: TENON_NAME_FAIL=launch:N
 * lets the N-th launch of the process fail when it runs. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

enum { COUNT = 1000 };

static float *memory;

static void begin(const char *list)
{
  char variable[80];
  snprintf(variable, sizeof variable, "TENON_%s_FAIL", conform_backend);
  for (char *c = variable; *c; c++)
    if (*c >= 'a' && *c <= 'z') *c = (char)(*c - 'a' + 'A');
  setenv(variable, list, 1);
  conform_open();
  if (!conform_info().has_launch) conform_absent("launch");
  memory = (float *)(void *)conform_memory_new(conform_device, COUNT * 4);
  tn_fill_bytes(memory, conform_device, 0, COUNT * 4);
  conform_ok(conform_add_one(memory, COUNT), "a launch");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

/* The kernel that was to fail: has it run? */
static bool has_set(void)
{
  float got[COUNT];
  conform_fetch(conform_device, got, memory, sizeof got);
  return got[0] >= 100;
}

/* The fourth launch fails: the first one with two of another kernel around it,
 * as conform_add_one made two before. */
static void fail_on(tn_stream *stream, tn_status (*wait)(tn_stream *))
{
  tn_status status = TN_OK;
  tn_with_stream(stream) {
    status = conform_add_one(memory, COUNT);
    if (status == TN_OK) status = conform_set(memory, 100, COUNT);
    if (status == TN_OK) status = conform_add_one(memory, COUNT);
  }
  if (status == TN_OK) status = wait(stream);
  if (status == TN_OK && has_set())
    conform_absent("work that fails when asked by TENON_NAME_FAIL");
  conform_is(status, TN_LAUNCH_FAILED, "a failing launch");
  conform_error_has("fill_f32", "the kernel that failed is named");
  conform_check(!strstr(tn_error_message(), "add_f32"),
                "another kernel is named");
  conform_error_has(conform_text, "the device is named");
  tn_clear_error();
  conform_ok(wait(stream), "the failure is told once");
  tn_with_stream(stream)
    conform_ok(conform_add_one(memory, COUNT), "a launch afterwards");
  conform_ok(wait(stream), "the stream goes on");
}

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

static void run_stream(void)
{
  begin("launch:4");
  fail_on(conform_stream_new(conform_device, 0), tn_stream_synchronize);
}

static void run_device(void)
{
  begin("launch:4");
  fail_on(conform_stream_new(conform_device, 0), wait_device);
}

static void run_event(void)
{
  begin("launch:4");
  fail_on(conform_stream_new(conform_device, 0), wait_event);
}

#define L (CONFORM_LAUNCH_BIT | CONFORM_STREAM_BIT)
static const conform_test tests[] = {
  { "S6", "stream", CONFORM_STREAMS, L, true,
    "synchronising a stream tells of the kernel that failed", run_stream },
  { "S6", "device", CONFORM_STREAMS, L, true,
    "and so does synchronising the device", run_device },
  { "S6", "event", CONFORM_STREAMS, L | CONFORM_EVENT_BIT, true,
    "and waiting for an event", run_event },
};
CONFORM_SECTION(conform_failures, tests);
