/* Work that fails within a graph that runs as a whole (S6), on the rehearsal
 * backend: told once, by the stream that replayed, naming the kernel. */
#define _GNU_SOURCE /* setenv */
#include <stdlib.h>
#include <string.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

enum { COUNT = 100 };

static const tn_device host;
static tn_device device;
static tn_kernel *fill, *add;
static tn_stream *stream;
static float *memory;

static float get(void)
{
  float value = -1;
  tn_copy(&value, host, memory, device, sizeof value, false);
  return value;
}

static void set(float value)
{
  tn_launch(fill, COUNT, TN_ARGS(TN_ARG_PTR(memory), TN_ARG_F32(value),
                                 TN_ARG_I64(COUNT)));
}

/* memory = 1; then three times memory += 2 */
static tn_graph *capture(void)
{
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    set(1);
    for (int i = 0; i < 3; i++)
      tn_launch(add, COUNT, TN_ARGS(TN_ARG_PTR(memory), TN_ARG_PTR(memory),
                                    TN_ARG_F32(2), TN_ARG_I64(COUNT)));
  }
  return graph;
}

/* Launches 1 to 4, of which 2 fails; 5 to 8; 9 to 12, of which 9 fails. */
static void test_failures(void)
{
  char path[64] = "";
  tn_graph *graph = capture();
  tn_graph_path(graph, path, sizeof path);
  tap_ok(strncmp(path, "native", 6) == 0, "S6 the graph is native: %s", path);
  tn_with_stream(stream) tn_graph_replay(graph);
  tap_is_int(tn_stream_synchronize(stream), TN_LAUNCH_FAILED,
             "S6 the stream reports it");
  tap_has(tn_error_message(), "add_scalar_f32", "S6 naming the kernel");
  tap_has(tn_error_message(), "remote:0", "S6 and the device");
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "S6 once");
  tap_ok(get() == 5, "S6 the rest ran");
  tap_is_int(tn_graph_replay(graph), TN_OK, "S6 replayed on another stream");
  tap_is_int(tn_synchronize(device), TN_OK, "S6 without a failure");
  tap_ok(get() == 7, "S6 all of it ran");
  tn_graph_replay(graph);
  tap_is_int(tn_stream_synchronize(stream), TN_OK,
             "S6 a failure is of the stream that replayed");
  tap_is_int(tn_synchronize(device), TN_LAUNCH_FAILED, "S6 which tells");
  tap_has(tn_error_message(), "fill_f32", "S6 and names the other kernel");
  tn_graph_release(graph);
}

int main(void)
{
  setenv("TENON_REMOTE_GRAPHS", "1", 1);
  setenv("TENON_REMOTE_FAIL", "launch:2,launch:9", 1);
  device = tn_device_of("remote:0");
  tn_module *module = tn_module_builtin(device, "elementwise");
  fill = tn_kernel_get(module, "fill_f32");
  add = tn_kernel_get(module, "add_scalar_f32");
  memory = tn_malloc(device, COUNT * sizeof *memory);
  stream = tn_stream_new(device, 0);
  if (tap_ok(fill && add && memory && stream, "kernels, memory, a stream"))
    test_failures();
  tn_stream_release(stream);
  tn_free(memory);
  tn_kernel_release(fill);
  tn_kernel_release(add);
  tn_module_release(module);
  return tap_done();
}
