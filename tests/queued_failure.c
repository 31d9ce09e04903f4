/* Failures of queued work, made to happen by the rehearsal backend: reported
 * at the next synchronising call, once, naming the kernel or copy that failed;
 * and a device that is lost. */
#define _GNU_SOURCE /* setenv */
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

enum { COUNT = 1000 };

static const tn_device host;
static tn_device device;
static tn_kernel *fill, *copy;
static float *memory;

static tn_status set(float value)
{
  return tn_launch(fill, COUNT,
                   TN_ARGS(TN_ARG_PTR(memory), TN_ARG_F32(value),
                           TN_ARG_I64(COUNT)));
}

/* Copies the first element over the second. */
static tn_status copy_first(void)
{
  return tn_launch(copy, 1,
                   TN_ARGS(TN_ARG_PTR(memory + 1), TN_ARG_PTR(memory),
                           TN_ARG_I64(1)));
}

/* What the memory's last element is; -1 if it cannot be read. */
static float get(void)
{
  float value = -1;
  tn_copy(&value, host, memory + COUNT - 1, device, sizeof value, false);
  return value;
}

/* The second launch fails. */
static void test_launch(void)
{
  tn_stream *stream = tn_current_stream(device);
  tap_is_int(set(1), TN_OK, "S6 a first kernel is queued");
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "S6 and runs");
  tap_is_int(set(2), TN_OK, "S6 a kernel that will fail is queued");
  tap_is_int(copy_first(), TN_OK, "S6 another is queued behind it");
  tap_is_int(tn_stream_synchronize(stream), TN_LAUNCH_FAILED,
             "S6 synchronising reports the failure");
  tap_has(tn_error_message(), "fill_f32", "S6 naming the kernel that failed");
  tap_has(tn_error_message(), "remote:0", "S6 and the device");
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "S6 once");
  tap_is_int((long long)get(), 1, "S6 the kernel that failed did nothing");
}

/* The fourth launch fails, on a stream of its own. */
static void test_device(void)
{
  tn_stream *stream = tn_stream_new(device, 0);
  tn_with_stream(stream)
    tap_is_int(set(4), TN_OK, "S6 a kernel of a second stream will fail");
  tap_is_int(tn_synchronize(device), TN_LAUNCH_FAILED,
             "S6 synchronising the device reports it");
  tap_has(tn_error_message(), "fill_f32", "S6 naming the kernel");
  tap_is_int(tn_synchronize(device), TN_OK, "S6 once");
  tap_is_int(tn_stream_query(stream), TN_OK, "S6 and not by a query again");
  tn_stream_release(stream);
}

/* The fifth launch fails. */
static void test_query(void)
{
  tn_stream *stream = tn_current_stream(device);
  tn_status status;
  set(5);
  do status = tn_stream_query(stream);
  while (status == TN_NOT_READY);
  tap_is_int(status, TN_LAUNCH_FAILED, "S6 a query reports a failure");
  tap_is_int(tn_stream_query(stream), TN_OK, "S6 once");
}

/* The sixth launch takes the device away. */
static void test_lost(void)
{
  tn_device_info info;
  tn_device other = tn_device_of("remote:1");
  set(6);
  tap_is_int(tn_synchronize(device), TN_DEVICE_LOST,
             "S6 a lost device is reported");
  tap_is_int(set(7), TN_DEVICE_LOST, "S6 it takes no more work");
  tap_has(tn_error_message(), "remote:0", "S6 and is named");
  tap_ok(tn_malloc(device, 64) == NULL, "S6 it has no memory to give");
  tap_is_int(tn_device_get_info(device, &info), TN_OK,
             "S6 it can still be described");
  void *there = tn_malloc(other, 64);
  tap_ok(there != NULL, "S6 another device of the backend is unharmed");
  tn_free(there);
}

int main(void)
{
  setenv("TENON_REMOTE_FAIL", "launch:2,launch:4,launch:5,lost_launch:6", 1);
  device = tn_device_of("remote:0");
  tn_module *module = tn_module_builtin(device, "elementwise");
  fill = tn_kernel_get(module, "fill_f32");
  copy = tn_kernel_get(module, "copy_f32");
  memory = tn_malloc(device, COUNT * sizeof *memory);
  if (!tap_ok(fill && copy && memory, "kernels and memory are there"))
    tap_note("%s", tn_error_message());
  else {
    test_launch();
    test_device();
    test_query();
    test_lost();
  }
  tn_free(memory);
  tn_kernel_release(fill);
  tn_kernel_release(copy);
  tn_module_release(module);
  return tap_done();
}
