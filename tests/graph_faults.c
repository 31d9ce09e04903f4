/* A graph of every kind of command is captured, replayed, changed and replayed
 * again while a call of the driver fails (G2, G6, S6): either that does not
 * matter, or the failure is told by the call's name; no capture is left
 * behind, and the same again does well if the device is not lost.
 * cuda_graph_faults.sh lets every call fail in turn; TN_TEST_FAULT is its name.
 * With TN_TEST_ONCE there is no second time, to see which calls there are. */
#include "config.h"

#include "tests/test_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { COUNT = 32, TEXT = 512 };

static const size_t size = COUNT * sizeof(float);
static tn_device device;
static tn_stream *stream, *side;
static tn_kernel *add_one;
static float *y, *z, *pinned;

/* The first failure of a run. */
static tn_status failure;
static char message[TEXT];

static void expect(tn_status status)
{
  if (status == TN_OK || failure != TN_OK) return;
  failure = status;
  snprintf(message, sizeof message, "%s", tn_error_message());
}

static void add(float *to, const float *from, float value)
{
  expect(tn_launch(add_one, COUNT, TN_ARGS(TN_ARG_PTR(to), TN_ARG_PTR(from),
                                           TN_ARG_F32(value),
                                           TN_ARG_I64(COUNT))));
}

static void halve(void *argument)
{
  float *numbers = argument;
  for (int i = 0; i < COUNT; i++) numbers[i] /= 2;
}

/* y = y + 1, and beside it z = 0; pinned = y / 2; y = pinned + 3 + z. */
static void queue_all(void)
{
  add(y, y, 1);
  expect(tn_stream_wait_stream(side, stream));
  tn_with_stream(side) expect(tn_fill_bytes(z, device, 0, size));
  expect(tn_copy(pinned, test_host, y, device, size, true));
  expect(tn_stream_call(stream, halve, pinned));
  expect(tn_copy(y, device, pinned, test_host, size, true));
  expect(tn_stream_wait_stream(stream, side));
  add(z, z, 3);
  add(y, y, 3);
}

/* y = 4 before. */
static void run_all(tn_graph *graph)
{
  tn_arg seven = TN_ARG_F32(7);
  if (tn_graph_begin(graph, .stream = stream) != TN_OK)
    expect(tn_last_status());
  else {
    queue_all();
    expect(tn_graph_end(graph));
  }
  if (failure == TN_OK) expect(tn_graph_replay(graph)); /* 5.5 */
  if (failure == TN_OK) expect(tn_graph_set_argument(graph, 0, 2, seven));
  if (failure == TN_OK) expect(tn_graph_replay(graph)); /* 9.25 */
  if (failure == TN_OK) expect(tn_graph_replay(graph)); /* 11.125 */
  expect(tn_synchronize(device));
}

static bool is_all(const float *numbers, float value)
{
  float host[COUNT];
  if (tn_copy(host, test_host, numbers, device, size, false) != TN_OK)
    return false;
  for (int i = 0; i < COUNT; i++)
    if (host[i] != value) return false;
  return true;
}

static bool set_all(float *numbers, float value)
{
  float host[COUNT];
  for (int i = 0; i < COUNT; i++) host[i] = value;
  return tn_copy(numbers, device, host, test_host, size, false) == TN_OK;
}

static bool run(const char *what)
{
  char path[TEXT] = "no path";
  tn_graph *graph = tn_graph_new();
  failure = TN_OK;
  message[0] = 0;
  run_all(graph);
  tn_graph_path(graph, path, sizeof path);
  tap_note("%s: %s; %s", what, failure ? message : "no failure", path);
  tap_ok(!tn_is_current_stream_capturing(device), "G2 %s: no capture is left",
         what);
  tn_status status = TN_OK;
  tn_with_stream(side) status = tn_fill_bytes(z, device, 0, 0);
  tap_is_int(status, failure == TN_DEVICE_LOST ? TN_DEVICE_LOST : TN_OK,
             "G2 %s: streams are usable, unless the device is lost", what);
  tn_graph_release(graph);
  return failure == TN_OK;
}

static void test_fault(void)
{
  const char *fault = getenv("TN_TEST_FAULT");
  bool is_set = set_all(y, 4);
  fprintf(stderr, "# begin\n");
  bool is_good = run("with the fault");
  fprintf(stderr, "# end\n");
  if (is_good)
    tap_ok(is_set && is_all(y, 11.125f) && is_all(z, 3),
           "G6 it does not matter");
  else if (fault)
    tap_has(message, fault, "G6 S6 the call is named");
  else
    tap_ok(false, "G1 without a fault there is no failure: %s", message);
  if (getenv("TN_TEST_ONCE") || failure == TN_DEVICE_LOST) return;
  is_set = set_all(y, 4);
  tap_ok(run("again"), "G2 G6 then it does well: %s", message);
  tap_ok(is_set && is_all(y, 11.125f) && is_all(z, 3),
         "G1 and what it has to");
}

static bool prepare(tn_module **module)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  side = tn_stream_new(device, 0);
  y = tn_malloc(device, size);
  z = tn_malloc(device, size);
  pinned = tn_malloc_pinned(size);
  *module = tn_module_builtin(device, "elementwise");
  add_one = *module ? tn_kernel_get(*module, "add_scalar_f32") : NULL;
  if (!y || !z || !pinned || !add_one || !set_all(y, 0) ||
      !set_all(z, 0))
    return false;
  tn_with_stream(stream) add(y, y, 1);
  tn_with_stream(side) add(z, z, 1);
  return tn_synchronize(device) == TN_OK;
}

int main(void)
{
  tn_module *module;
  if (!tap_ok(prepare(&module), "G1 streams, memory and a kernel: %s",
              tn_error_message()))
    return tap_done();
  test_fault();
  tn_free(y);
  tn_free(z);
  tn_free(pinned);
  tn_kernel_release(add_one);
  tn_module_release(module);
  tn_stream_release(stream);
  tn_stream_release(side);
  return tap_done();
}
