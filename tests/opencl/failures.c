/* Queued work that waits as long as we like, and work that fails: brought
 * about by a user event in front of a stream's commands. */
#include "config.h"

#include "tests/opencl/rig.h"
#include "tests/tap.h"

static tn_backend_kernel *kernel;
static tn_address memory;

/* PoCL still uses failed commands and user events after their release, so the
 * marker has an event, and those of a failure are kept. */
static cl_event gate, marker, kept[16];
static int kept_count;

static void close_gate_of(cl_command_queue queue)
{
  cl_int code;
  gate = raw.create_user_event(rig_native(TN_NATIVE_CONTEXT, NULL), &code);
  raw.enqueue_marker(queue, 1, &gate, &marker);
}

static void close_gate(void)
{
  close_gate_of(rig_native(TN_NATIVE_STREAM, stream));
}

static void open_gate(cl_int status)
{
  raw.set_user_event_status(gate, status);
  if (status < CL_COMPLETE) {
    kept[kept_count++] = gate;
    kept[kept_count++] = marker;
  } else {
    raw.release_event(marker);
    raw.release_event(gate);
  }
}

static tn_status launch_tagged(tn_tag tag)
{
  uint64_t slots[] = { memory, 100 };
  tn_backend_launch_desc desc = { .struct_size = sizeof desc, .items = 100,
                                  .tag = tag };
  return api->launch->launch(stream, kernel, &desc, slots);
}

static void test_limits(void)
{
  close_gate();
  launch_tagged(1);
  tn_point point = rig_record(stream, 0);
  tap_is_int(api->stream->query(device, &point), TN_NOT_READY,
             "S5 work that cannot run yet is not ready");
  tap_is_int(api->stream->host_wait(device, &point, 2000000), TN_TIMEOUT,
             "S4 a wait ends with its limit");
  tap_has(last_error, "2.000 ms", "S4 naming it");
  tn_error_info error = { .struct_size = sizeof error };
  tap_is_int(api->stream->take_error(stream, &error), TN_OK,
             "S6 asking for errors does not block");
  tap_is_int(error.status, TN_OK, "S6 and finds none yet");
  open_gate(CL_COMPLETE);
  tap_is_int(api->stream->host_wait(device, &point, 60000000000u), TN_OK,
             "S4 a wait within its limit");
  api->stream->point_release(device, &point);
}

/* More commands than the stream remembers at first. */
static void test_many(void)
{
  close_gate();
  tn_status status = TN_OK;
  for (int i = 0; i < 300; i++) status |= launch_tagged(1);
  tap_is_int(status, TN_OK, "S1 300 commands can wait in a stream");
  open_gate(CL_COMPLETE);
  rig_wait(stream);
  tn_error_info error = { .struct_size = sizeof error };
  api->stream->take_error(stream, &error);
  tap_is_int(error.status, TN_OK, "S1 and all run");
}

static void test_failure(void)
{
  close_gate();
  launch_tagged(41);
  launch_tagged(42);
  tn_point point = rig_record(stream, 0);
  open_gate(CL_OUT_OF_RESOURCES);
  tap_is_int(api->stream->host_wait(device, &point, UINT64_MAX), TN_OK,
             "S6 a point behind failed work is complete");
  tap_is_int(api->stream->query(device, &point), TN_OK,
             "S6 and stays so");
  api->stream->point_release(device, &point);
  tn_error_info error = { .struct_size = sizeof error };
  api->stream->take_error(stream, &error);
  tap_is_int(error.status, TN_LAUNCH_FAILED, "S6 the failure is reported");
  tap_is_int((long long)error.tag, 41, "S6 with the first command's tag");
  tap_has(error.text, "CL_", "S6 and the driver's code");
  api->stream->take_error(stream, &error);
  tap_is_int(error.status, TN_OK, "S6 once");
  tap_is_int(launch_tagged(43), TN_OK, "S6 the stream can be used again");
  rig_wait(stream);
  api->stream->take_error(stream, &error);
  tap_is_int(error.status, TN_OK, "S6 without further failures");
}

/* A copy that the host waits for reports its failure itself. */
static void test_copy(void)
{
  char byte = 0;
  close_gate();
  open_gate(CL_OUT_OF_RESOURCES);
  rig_wait(stream);
  tap_is_int(rig_read(&byte, memory, 1), TN_OK,
             "S6 a copy after a failure that was over");
  close_gate();
  launch_tagged(44);
  open_gate(CL_OUT_OF_RESOURCES);
  tn_status status = rig_read(&byte, memory, 1);
  tn_error_info error = { .struct_size = sizeof error };
  api->stream->take_error(stream, &error);
  tap_ok(status == TN_OK || status == TN_LAUNCH_FAILED,
         "S6 a copy behind a failure runs or fails");
  tap_is_int((long long)error.tag, 44,
             "S6 and what failed first is still reported");
}

/* What a queue's owner puts into it counts for points of its stream. */
static void test_borrowed(void)
{
  cl_int code;
  cl_command_queue queue =
      raw.create_queue(rig_native(TN_NATIVE_CONTEXT, NULL),
                       rig_native(TN_NATIVE_DEVICE, NULL), 0, &code);
  tn_backend_stream *wrapped = NULL;
  api->stream->wrap(device, queue, &wrapped);
  close_gate_of(queue);
  tn_point plain = rig_record(wrapped, 0);
  tn_point timed = rig_record(wrapped, TN_RECORD_TIMING);
  tap_is_int(api->stream->query(device, &plain), TN_NOT_READY,
             "S7 a point of a wrapped queue waits for its owner's commands");
  tap_is_int(api->stream->query(device, &timed), TN_NOT_READY,
             "S7 so does a timed one");
  open_gate(CL_COMPLETE);
  api->stream->host_wait(device, &timed, UINT64_MAX);
  tap_is_int(api->stream->query(device, &plain), TN_OK,
             "S7 and is complete after them");
  api->stream->point_release(device, &plain);
  api->stream->point_release(device, &timed);
  api->stream->destroy(wrapped);
  raw.release_queue(queue);
}

void test_failures(void)
{
  if (is_basic) {
    tap_skip("user events deadlock PoCL's \"basic\" devices");
    return;
  }
  tn_backend_module *module = rig_module(
      TN_MODULE_PORTABLE, "touch",
      "TN_KERNEL(touch, TN_OUT(float, y), TN_VAL(int64, n))"
      "{ TN_PARALLEL_FOR(i, n) y[i] = 1; }");
  kernel = rig_kernel(module, "touch");
  memory = rig_alloc(TN_MEMORY_DEVICE, 400);
  test_limits();
  test_many();
  test_failure();
  test_copy();
  test_borrowed();
  rig_free(TN_MEMORY_DEVICE, memory);
  api->launch->module_unload(module);
}
