/* Long graphs and wide ones (G1, G3): no stack is as deep as a graph is long,
 * and twice the nodes take twice the time. */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdlib.h>
#include <time.h>

#include "tests/tap.h"

enum { COUNT = 32, WIDTH = 60, LENGTH = 10000, STACK = 256 << 10 };

static tn_device device;
static tn_stream *stream, *side;
static tn_kernel *add_one;

static float *new_numbers(size_t count)
{
  float *y = tn_malloc(device, count * sizeof *y);
  if (y) tn_fill_bytes(y, device, 0, count * sizeof *y);
  tn_synchronize(device);
  return y;
}

static void add(float *y, const float *x, float value)
{
  tn_launch(add_one, COUNT, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                    TN_ARG_F32(value), TN_ARG_I64(COUNT)));
}

/* All elements if they are equal, else -1. */
static float value_of(const float *y)
{
  float host[COUNT];
  tn_synchronize(device);
  if (tn_copy(host, test_host, y, device, sizeof host, false) != TN_OK)
    return -1;
  for (int i = 1; i < COUNT; i++)
    if (host[i] != host[0]) return -1;
  return host[0];
}

/* ---- wide ---- */

/* Streams that are all different; fewer than asked for where there are no
 * more. */
static int take_streams(tn_stream **streams, int count)
{
  int taken = 0;
  for (int i = 0; i < 2 * count && taken < count; i++) {
    tn_stream *next = tn_stream_new(device, i & 1 ? -1 : 0);
    bool is_new = next != stream;
    for (int k = 0; k < taken; k++) is_new &= next != streams[k];
    if (is_new) streams[taken++] = next;
    else tn_stream_release(next);
  }
  return taken;
}

/* y += 1; on each branch z[i] = y + i; then y += 1000, which none may see. */
static void capture_wide(tn_graph *graph, float *y, float *z,
                         tn_stream **streams, int width)
{
  tn_with_graph(graph, .stream = stream) {
    add(y, y, 1);
    for (int i = 0; i < width; i++) {
      tn_stream_wait_stream(streams[i], stream);
      tn_with_stream(streams[i]) add(z + i * COUNT, y, (float)i);
    }
    for (int i = 0; i < width; i++) tn_stream_wait_stream(stream, streams[i]);
    add(y, y, 1000);
  }
}

static void test_wide(void)
{
  tn_stream *streams[WIDTH];
  int width = take_streams(streams, WIDTH), wrong = 0;
  float *y = new_numbers(COUNT), *z = new_numbers(WIDTH * COUNT);
  tn_graph *graph = tn_graph_new();
  capture_wide(graph, y, z, streams, width);
  tap_ok(tn_graph_node_count(graph) == (size_t)width + 2,
         "G3 forked %d wide and joined: %zu nodes", width,
         tn_graph_node_count(graph));
  for (int run = 1; run <= 3; run++) {
    tn_graph_replay(graph);
    for (int i = 0; i < width; i++)
      wrong += value_of(z + i * COUNT) !=
               (float)(run + 1000 * (run - 1) + i);
  }
  tap_is_int(wrong, 0, "G3 each branch runs after the fork, before the join");
  tap_ok(value_of(y) == 3003, "G3 and what joins runs once");
  tn_graph_release(graph);
  for (int i = 0; i < width; i++) tn_stream_release(streams[i]);
  tn_free(y);
  tn_free(z);
}

/* Waits for ever later work of a stream are one wait for the last. */
static void test_waits(void)
{
  float *y = new_numbers(COUNT), *z = new_numbers(COUNT);
  tn_graph_node_info info = { .dependency_count = 0 };
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    add(y, y, 1);
    tn_stream_wait_stream(side, stream);
    for (int i = 0; i < 100; i++) {
      tn_with_stream(side) add(z, z, 1);
      tn_stream_wait_stream(stream, side);
    }
    add(y, z, 0);
  }
  tn_graph_get_node(graph, tn_graph_node_count(graph) - 1, &info);
  tap_is_int((long long)info.dependency_count, 2, "G3 G7 a hundred waits for "
             "one stream: the node has two before it");
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 100, "G3 and comes after all of them");
  tn_graph_release(graph);
  tn_free(y);
  tn_free(z);
}

/* ---- long ---- */

/* On two streams by turns. */
static void capture_long(tn_graph *graph, float *y, int length)
{
  tn_with_graph(graph, .stream = stream) {
    for (int i = 0; i < length; i++) {
      tn_stream *own = i & 8 ? side : stream;
      if (i % 8 == 0) tn_stream_wait_stream(own, i & 8 ? stream : side);
      tn_with_stream(own) add(y, y, 1);
    }
    tn_stream_wait_stream(stream, side);
  }
}

static void *be_long(void *argument)
{
  float *y = argument;
  tn_graph *graph = tn_graph_new();
  tn_set_default_device(device);
  capture_long(graph, y, LENGTH);
  tn_graph_replay(graph);
  tn_graph_replay(graph);
  tn_synchronize(device);
  tn_graph_release(graph);
  return NULL;
}

static void test_long(void)
{
  float *y = new_numbers(COUNT);
  pthread_attr_t attributes;
  pthread_t thread;
  pthread_attr_init(&attributes);
  pthread_attr_setstacksize(&attributes, STACK);
  bool is_made = pthread_create(&thread, &attributes, be_long, y) == 0;
  if (is_made) pthread_join(thread, NULL);
  pthread_attr_destroy(&attributes);
  tap_ok(is_made && value_of(y) == 2 * LENGTH, "G1 %d nodes one after the "
         "other, by a thread with a stack of %d KiB", LENGTH, STACK >> 10);
  tn_free(y);
}

/* Of all threads, in ns. */
static double now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &time);
  return 1e9 * (double)time.tv_sec + (double)time.tv_nsec;
}

/* To capture, replay twice and drop a graph; the least of some tries. */
static double take_time(float *y, int length)
{
  double least = 0;
  for (int i = 0; i < 3; i++) {
    double start = now();
    tn_graph *graph = tn_graph_new();
    capture_long(graph, y, length);
    tn_graph_replay(graph);
    tn_graph_replay(graph);
    tn_synchronize(device);
    tn_graph_release(graph);
    double time = now() - start;
    if (i == 0 || time < least) least = time;
  }
  return least / length;
}

static void test_flat(void)
{
  float *y = new_numbers(COUNT);
  double some = take_time(y, LENGTH / 10), many = take_time(y, LENGTH);
  tap_ok(many < 3 * some, "G1 ten times the nodes take no longer each: %.0f "
         "and %.0f ns", some, many);
  tn_free(y);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  side = tn_stream_new(device, 0);
  tn_module *module = tn_module_builtin(device, "elementwise");
  add_one = module ? tn_kernel_get(module, "add_scalar_f32") : NULL;
  if (!tap_ok(stream && side && add_one, "G1 streams and a kernel: %s",
              tn_error_message()))
    return tap_done();
  test_wide();
  test_waits();
  test_long();
  test_flat();
  tn_kernel_release(add_one);
  tn_module_release(module);
  tn_stream_release(stream);
  tn_stream_release(side);
  return tap_done();
}
