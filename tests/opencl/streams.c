#include "config.h"

#include <string.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

#define ITEMS 4096

static tn_backend_module *module;
static tn_backend_kernel *double_up; /* y[i] = 2 y[i] + 1, `turns` times */
static tn_address memory;

static tn_status queue_steps(tn_backend_stream *on, int64_t turns)
{
  uint64_t slots[] = { memory, (uint64_t)turns, ITEMS };
  tn_backend_launch_desc desc = { .struct_size = sizeof desc,
                                  .items = ITEMS, .tag = 7 };
  return api->launch->launch(on, double_up, &desc, slots);
}

static uint32_t after_steps(uint64_t turns)
{
  uint32_t value = 0;
  while (turns--) value = 2 * value + 1;
  return value;
}

static void clear_memory(void)
{
  tn_fill_desc desc = { sizeof desc, 0, 4, memory, ITEMS, 0, 0 };
  api->copy->fill(stream, device, &desc);
}

static bool is_filled(tn_backend_stream *by, uint32_t value)
{
  static uint32_t back[ITEMS];
  tn_copy_desc desc = rig_copy_desc(NULL, (uintptr_t)back, device, memory,
                                    sizeof back);
  if (api->copy->copy(by, device, &desc)) return false;
  for (int i = 0; i < ITEMS; i++)
    if (back[i] != value) return false;
  return true;
}

static void test_order(void)
{
  clear_memory();
  for (int i = 0; i < 300; i++) queue_steps(stream, 1);
  tap_ok(is_filled(stream, after_steps(300)),
         "S1 300 launches on one stream run in order");
}

static void test_points(void)
{
  tn_backend_stream *other = rig_stream(device);
  tn_point idle = rig_record(other, 0);
  tap_ok(idle.word[0] || idle.word[1], "S5 a point is never {0, 0}");
  tap_is_int(api->stream->query(device, &idle), TN_OK,
             "S5 a point of an idle stream is complete");
  tap_is_int(api->stream->host_wait(device, &idle, 0), TN_OK,
             "S5 and waiting for it takes no time");
  api->stream->point_release(device, &idle);
  queue_steps(other, 200);
  tn_point point = rig_record(other, 0);
  while (api->stream->query(device, &point) == TN_NOT_READY) continue;
  tap_ok(true, "S5 asking again and again ends, without a flush");
  tap_is_int(api->stream->host_wait(device, &point, UINT64_MAX), TN_OK,
             "S5 a point can be waited for when it is complete");
  api->stream->destroy(other);
  tap_is_int(api->stream->query(device, &point), TN_OK,
             "S5 a point outlives its stream");
  api->stream->point_release(device, &point);
  tap_is_int(api->stream->record(stream, 8, &point), TN_INVALID_ARGUMENT,
             "unknown record flags are refused");
}

/* 40 streams, each waiting for all points so far. */
static void test_waits(void)
{
  enum { STREAMS = 40 };
  tn_backend_stream *streams[STREAMS];
  tn_point points[STREAMS];
  clear_memory();
  points[0] = rig_record(stream, 0);
  tn_status status = TN_OK;
  for (int i = 1; i < STREAMS; i++) {
    streams[i] = rig_stream(device);
    status |= api->stream->wait(streams[i], points, (size_t)i);
    status |= queue_steps(streams[i], 3);
    points[i] = rig_record(streams[i], 0);
  }
  status |= api->stream->wait(stream, points, STREAMS);
  tap_is_int(status, TN_OK, "S5 waits for many points");
  tap_ok(is_filled(stream, after_steps(3 * (STREAMS - 1))),
         "S5 order the work of many streams");
  for (int i = 0; i < STREAMS; i++) {
    api->stream->point_release(device, points + i);
    if (i) api->stream->destroy(streams[i]);
  }
}

static void test_times(void)
{
  tn_point start = rig_record(stream, TN_RECORD_TIMING);
  for (int i = 0; i < 20; i++) queue_steps(stream, 500);
  tn_point end = rig_record(stream, TN_RECORD_TIMING);
  tn_point plain = rig_record(stream, 0);
  api->stream->host_wait(device, &start, UINT64_MAX);
  api->stream->host_wait(device, &end, UINT64_MAX);
  double forth = -1, back = 1;
  tap_is_int(api->stream->elapsed(device, &start, &end, &forth), TN_OK,
             "S5 time between two timed points");
  api->stream->elapsed(device, &end, &start, &back);
  tap_ok(forth > 0 && back == -forth, "S5 is above none, and antisymmetric");
  tap_note("20 launches: %.3f ms", forth);
  tap_is_int(api->stream->elapsed(device, &start, &plain, &forth),
             TN_INVALID_ARGUMENT, "S5 a point without timing has no time");
  tap_has(last_error, "without timing", "S5 and the error says why");
  api->stream->point_release(device, &start);
  api->stream->point_release(device, &end);
  api->stream->point_release(device, &plain);
}

static void test_wrap(void)
{
  cl_int code;
  cl_context context = rig_native(TN_NATIVE_CONTEXT, NULL);
  cl_device_id id = rig_native(TN_NATIVE_DEVICE, NULL);
  cl_command_queue queue = raw.create_queue(context, id, 0, &code);
  tn_backend_stream *wrapped = NULL;
  tap_is_int(api->stream->wrap(device, queue, &wrapped), TN_OK,
             "S7 a native queue can be wrapped");
  clear_memory();
  rig_wait(stream);
  queue_steps(wrapped, 4);
  rig_wait(wrapped);
  tap_ok(is_filled(wrapped, after_steps(4)), "S7 and works as a stream");
  api->stream->destroy(wrapped);
  tap_is_int(raw.release_queue(queue), CL_SUCCESS,
             "S7 and stays its owner's");
  queue = raw.create_queue(context, id,
                           CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE, &code);
  if (!queue) return;
  tap_is_int(api->stream->wrap(device, queue, &wrapped), TN_INVALID_ARGUMENT,
             "S7 one that is out of order is refused");
  raw.release_queue(queue);
}

static void test_create(void)
{
  tn_stream_desc desc = { sizeof desc, 32, 0 };
  tn_backend_stream *made = NULL;
  tap_is_int(api->stream->create(device, &desc, &made), TN_INVALID_ARGUMENT,
             "unknown stream flags are refused");
  desc = (tn_stream_desc){ sizeof desc, TN_STREAM_DEFAULT, -1 };
  tap_is_int(api->stream->create(device, &desc, &made), TN_OK,
             "S7 a priority the device lacks is no error");
  tap_is_int(api->stream->flush(made), TN_OK, "a stream can be flushed");
  api->stream->destroy(made);
}

void test_streams(void)
{
  module = rig_module(
      TN_MODULE_PORTABLE, "steps",
      "TN_KERNEL(double_up, TN_OUT(uint32, y), TN_VAL(int64, turns),"
      "          TN_VAL(int64, n))"
      "{ TN_TASKS(i, n) for (int64 k = 0; k < turns; k++)"
      "    y[i] = 2 * y[i] + 1; }");
  double_up = rig_kernel(module, "double_up");
  memory = rig_alloc(TN_MEMORY_DEVICE, ITEMS * 4);
  if (!tap_ok(double_up && memory, "a kernel and memory for it")) return;
  test_create();
  test_order();
  test_points();
  test_waits();
  test_times();
  test_wrap();
  rig_free(TN_MEMORY_DEVICE, memory);
  api->launch->module_unload(module);
}
