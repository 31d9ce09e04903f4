/* A kernel that fails, and how long nobody says so (rule S6). Run by
 * cuda_failures.sh for many seeds:
 *   cuda_late STREAMS [graph]
 * STREAMS: how many of them have work of their own meanwhile; graph: the kernel
 * is one of a graph, which runs as a whole.
 * Its last line says which of the calls after the kernel told. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

enum { COUNT = 1000, BYTES = COUNT * (int)sizeof(float), STREAMS = 3 };

static const tn_device host = { 0, 0 };
static tn_device device;
static tn_stream *streams[STREAMS];
static tn_kernel *fill, *axpy;
static float *memory[STREAMS];
static tn_graph *graph; /* NULL: the kernel is launched by itself */

static tn_status fill_on(int stream, float value)
{
  tn_status status = TN_OK;
  tn_with_stream(streams[stream])
    status = tn_launch(fill, COUNT,
                       TN_ARGS(TN_ARG_PTR(memory[stream]),
                               TN_ARG_F32(value), TN_ARG_I64(COUNT)));
  return status;
}

/* Reads at address 4096: CUDA_ERROR_ILLEGAL_ADDRESS, at some time. */
static tn_status fail(int stream)
{
  return tn_launch(axpy, COUNT,
                   TN_ARGS(TN_ARG_PTR(memory[stream]),
                           TN_ARG_PTR((void *)4096), TN_ARG_F32(1),
                           TN_ARG_I64(COUNT)));
}

static tn_status fail_on(int stream)
{
  tn_status status = TN_OK;
  tn_with_stream(streams[stream])
    status = graph ? tn_graph_replay(graph) : fail(stream);
  return status;
}

/* Kernels that are right before and after it. */
static void capture(void)
{
  char path[80] = "";
  graph = tn_graph_new();
  tn_with_graph(graph, .stream = streams[1]) {
    for (int i = 0; i < 20; i++) fill_on(1, 1);
    fail(1);
    fill_on(1, 2);
  }
  tn_graph_path(graph, path, sizeof path);
  bool is_native = strncmp(path, "native: ", 8) == 0;
  tap_ok(is_native == !getenv("TENON_LAUNCH_BLOCKING"), "G6 %s", path);
}

/* Calls that have nothing to do with the kernel that failed. */
static tn_status work(int number)
{
  static void *blocks[8];
  switch (number % 4) {
    case 0:
      /* More than what is cached. */
      blocks[number / 4] = tn_malloc(device, 30u << 20);
      return blocks[number / 4] ? TN_OK : tn_last_status();
    case 1: {
      tn_stream *made = tn_stream_new(device, -1);
      tn_status status = made ? TN_OK : tn_last_status();
      tn_stream_release(made);
      return status;
    }
    case 2: {
      tn_status status = TN_OK;
      tn_with_stream(streams[0])
        status = tn_fill_bytes(memory[0], device, 7, BYTES);
      return status;
    }
    default:
      return fill_on(0, (float)number);
  }
}

/* The number of the call that told, from 0; of the one that waits, if none
 * before it did. */
static int find_teller(void)
{
  tn_status status = TN_OK;
  int number = 0;
  for (; number < 16; number++) {
    status = work(number);
    if (status != TN_OK) break;
  }
  if (status == TN_OK) status = tn_synchronize(device);
  tap_is_int(status, TN_DEVICE_LOST, "S6 the device is lost");
  return number;
}

static void check_named(void)
{
  tap_has(tn_error_message(), "kernel \"axpy_f32\"",
          "S6 the message names the kernel");
  tap_has(tn_error_message(), "CUDA_ERROR_ILLEGAL_ADDRESS", "S6 and the code");
}

static void check_lost(void)
{
  float got[COUNT];
  for (int i = 0; i < 2; i++) {
    tap_is_int(tn_synchronize(device), TN_DEVICE_LOST,
               "S6 it stays lost to who waits");
    tap_is_int(fill_on(1, 1), TN_DEVICE_LOST, "S6 to launches");
    tap_is_int(tn_copy(got, host, memory[1], device, BYTES, false),
               TN_DEVICE_LOST, "S6 to copies");
    tap_ok(!tn_malloc(device, 30u << 20), "S6 it has no memory to give");
  }
}

static void test(int busy)
{
  float got[COUNT];
  for (int i = 0; i < STREAMS; i++) fill_on(i, (float)i);
  tap_is_int(tn_synchronize(device), TN_OK, "S6 work before it");
  tn_copy(got, host, memory[1], device, BYTES, false);
  tap_ok(got[0] == 1 && got[COUNT - 1] == 1, "S6 is done");
  for (int i = 2; i < 2 + busy; i++) fill_on(i, 5);
  if (getenv("TENON_LAUNCH_BLOCKING")) {
    tap_is_int(fail_on(1), TN_DEVICE_LOST, "S4 a kernel that fails");
    check_named();
    tap_ok(!strstr(tn_error_message(), "instead"), "S4 beyond doubt");
  } else {
    tap_is_int(fail_on(1), TN_OK, "S6 a kernel that will fail is queued");
    int teller = find_teller();
    check_named();
    printf("# told by call %d\n", teller);
  }
  check_lost();
}

int main(int argc, char **argv)
{
  if (argc < 2) return 2;
  device = tn_device_of("cuda:0");
  tn_module *module = tn_module_builtin(device, "elementwise");
  fill = tn_kernel_get(module, "fill_f32");
  axpy = tn_kernel_get(module, "axpy_f32");
  for (int i = 0; i < STREAMS; i++) {
    streams[i] = tn_stream_new(device, 0);
    memory[i] = tn_malloc(device, BYTES);
  }
  if (tap_ok(fill && axpy && memory[STREAMS - 1], "kernels and memory")) {
    if (argc > 2) capture();
    test(atoi(argv[1]));
  }
  return tap_done();
}
