/* Graphs that the backend runs as a whole, and those that it does not: the
 * rules are the same (G1, G5, G6). With an argument, what happens when an
 * entry of the graph table fails: graph_table.sh makes it. */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { COUNT = 32 };

static tn_device device;
static tn_stream *stream, *side;
static tn_kernel *add_one;
static const char *wanted; /* how all paths begin */

static float *new_numbers(size_t count)
{
  float *y = tn_malloc(device, count * sizeof *y);
  if (y) tn_fill_bytes(y, device, 0, count * sizeof *y);
  tn_synchronize(device);
  return y;
}

static tn_status add(float *y, const float *x, float value)
{
  return tn_launch(add_one, COUNT, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                           TN_ARG_F32(value),
                                           TN_ARG_I64(COUNT)));
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

static void check_path(tn_graph *graph, const char *begin, const char *what)
{
  char path[256] = "";
  tn_graph_path(graph, path, sizeof path);
  tap_ok(strncmp(path, begin, strlen(begin)) == 0, "G6 %s: %s", what, path);
}

/* A backend may keep its handles to itself. */
static void check_native(tn_graph *graph)
{
  void *native = graph;
  char name[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, name, sizeof name);
  tn_status status = tn_graph_native(graph, &native);
  tap_ok(status == TN_OK ? native != NULL
                         : status == TN_UNSUPPORTED && !native,
         "G6 the vendor's handle: %s", status ? tn_error_message() : "given");
  if (strncmp(wanted, "native", 6) != 0)
    tap_is_int(status, TN_UNSUPPORTED, "G6 which is refused call by call");
  else if (strncmp(name, "cuda:", 5) == 0)
    tap_is_int(status, TN_OK, "G6 which cuda has");
}

static void test_path(void)
{
  char path[8];
  float *y = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tap_is_int(tn_graph_path(graph, path, sizeof path), -1,
             "G6 before a capture there is no path");
  tn_with_graph(graph, .stream = stream) {
    add(y, y, 1);
    tap_is_int(tn_graph_path(graph, path, sizeof path), -1,
               "G6 nor within: %s", tn_error_message());
  }
  check_path(graph, wanted, "a kernel");
  check_native(graph);
  tap_ok(tn_graph_path(graph, path, sizeof path) > 7 && strlen(path) == 7,
         "G6 the text is cut as snprintf does");
  tap_is_int(tn_graph_path(graph, NULL, 1), -1, "G6 text cannot be NULL");
  tap_is_int(tn_graph_path(NULL, path, 8), -1, "G6 nor the graph");
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 3, "G1 a replay is a run");
  tn_graph_release(graph);
  tn_free(y);
}

static tn_status count_up(tn_graph *graph, void *argument)
{
  tn_status status = TN_OK;
  int *calls = argument;
  ++*calls;
  const tn_arg value = TN_ARG_F32((float)*calls);
  for (size_t node = 0; node < 3 && status == TN_OK; node += 2)
    status = tn_graph_set_argument(graph, node, 2, value);
  return status;
}

/* Replays that are queued keep the arguments that they were queued with. */
static void test_updates(void)
{
  int calls = 0;
  float *y = new_numbers(COUNT), *z = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    for (int i = 0; i < 3; i++) add(i == 1 ? z : y, i == 1 ? z : y, 100);
    tn_graph_on_replay(graph, count_up, &calls, NULL);
  }
  for (int i = 0; i < 5; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 2 * 15, "G5 arguments of a hook, each replay its own");
  tap_ok(value_of(z) == 500, "G5 other nodes keep theirs");
  tn_arg other = TN_ARG_PTR(y);
  tn_graph_set_argument(graph, 1, 0, other);
  tn_graph_replay(graph);
  tap_ok(value_of(z) == 500, "G1 an output is changed, too");
  check_path(graph, wanted, "after changes");
  tn_graph_release(graph);
  tn_free(y);
  tn_free(z);
}

/* On two streams that do not know of each other. */
static void test_streams(void)
{
  float *y = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream)
    for (int i = 0; i < 4; i++) add(y, y, 1);
  for (int i = 0; i < 20; i++)
    tn_with_stream(i & 1 ? side : stream) tn_graph_replay(graph);
  tap_ok(value_of(y) == 80, "G1 replays of one graph do not overlap, whatever "
         "their streams");
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 84, "G1 the default stream replays");
  tn_graph_release(graph);
  tn_free(y);
}

static void double_it(void *argument) { *(int *)argument *= 2; }

/* Before it is made, and of what has no arguments. */
static void test_kinds(void)
{
  static const char *const kinds[] = { "fill", "copy", "host function" };
  int number = 1;
  float *y = new_numbers(COUNT), *z = new_numbers(COUNT);
  tn_arg five = TN_ARG_F32(5);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    add(y, y, 1);
    tn_graph_set_argument(graph, 0, 2, five);
    tn_fill_bytes(z, device, 0, COUNT * sizeof *z);
    tn_copy(z, device, y, device, COUNT * sizeof *y, true);
    tn_stream_call(stream, double_it, &number);
  }
  for (size_t i = 0; i < 3; i++) {
    tap_is_int(tn_graph_set_argument(graph, i + 1, 2, five),
               TN_INVALID_ARGUMENT, "G1 a %s has no arguments", kinds[i]);
    tap_has(tn_error_message(), kinds[i], "G1 which is named");
  }
  tn_graph_replay(graph);
  tap_ok(value_of(z) == 5 && number == 2, "G1 G5 an argument that was set "
         "while it was captured");
  tn_graph_release(graph);
  tn_free(y);
  tn_free(z);
}

/* The streams of the capture are gone, and events of it. */
static void test_outlives(void)
{
  float *y = new_numbers(COUNT);
  tn_stream *own = tn_stream_new(device, 0), *fork = tn_stream_new(device, 0);
  tn_event *event = tn_event_new(0);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = own) {
    add(y, y, 1);
    tn_event_record(event, own);
    tn_stream_wait_event(fork, event);
    tn_with_stream(fork) add(y, y, 2);
    tn_stream_wait_stream(own, fork);
  }
  tn_event_release(event);
  tn_stream_release(own);
  tn_stream_release(fork);
  tn_empty_cache(device);
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 9, "G1 a graph outlives the streams and events of its "
         "capture");
  tn_graph_release(graph);
  tn_free(y);
}

/* Two graphs of two streams, whose runs are queued by turns. */
static void test_beside(void)
{
  float *y[2] = { new_numbers(COUNT), new_numbers(COUNT) };
  tn_stream *streams[2] = { stream, side };
  tn_graph *graphs[2] = { tn_graph_new(), tn_graph_new() };
  for (int k = 0; k < 2; k++)
    tn_with_graph(graphs[k], .stream = streams[k])
      for (int i = 0; i < 10; i++) add(y[k], y[k], (float)(k + 1));
  for (int i = 0; i < 20; i++)
    tn_with_stream(streams[i % 2]) tn_graph_replay(graphs[i % 2]);
  for (int k = 0; k < 2; k++) tn_graph_release(graphs[k]);
  tap_ok(value_of(y[0]) == 100 && value_of(y[1]) == 200,
         "G1 two graphs on two streams, and gone while they run");
  for (int k = 0; k < 2; k++) tn_free(y[k]);
}

enum { THREADS = 3, TURNS = 25 };

static tn_graph *shared;
static atomic_int replaying; /* threads */

static void *replay_often(void *argument)
{
  tn_stream *own = tn_stream_new(device, 0);
  size_t *failures = argument;
  for (int i = 0; i < TURNS; i++) {
    tn_with_stream(own) *failures += tn_graph_replay(shared) != TN_OK;
    sched_yield();
  }
  *failures += tn_stream_synchronize(own) != TN_OK;
  tn_stream_release(own);
  atomic_fetch_sub(&replaying, 1);
  return NULL;
}

/* Node 1 adds 1 or 2, as it was when its turn came. */
static void test_threads(void)
{
  pthread_t threads[THREADS];
  size_t failures[THREADS] = { 0 }, sum = 0;
  float *y = new_numbers(COUNT), *z = new_numbers(COUNT);
  shared = tn_graph_new();
  tn_with_graph(shared, .stream = stream) {
    add(y, y, 1);
    add(z, z, 1);
  }
  atomic_store(&replaying, THREADS);
  for (int k = 0; k < THREADS; k++)
    if (pthread_create(&threads[k], NULL, replay_often, &failures[k])) abort();
  for (int i = 0; atomic_load(&replaying) > 0; i++) {
    tn_arg value = TN_ARG_F32((float)(1 + i % 2));
    sum += tn_graph_set_argument(shared, 1, 2, value) != TN_OK;
    sched_yield();
  }
  for (int k = 0; k < THREADS; k++) {
    pthread_join(threads[k], NULL);
    sum += failures[k];
  }
  tap_is_int((long long)sum, 0, "G1 threads replay a graph while another sets "
             "an argument");
  float total = value_of(z);
  tap_ok(value_of(y) == THREADS * TURNS && total >= THREADS * TURNS &&
             total <= 2 * THREADS * TURNS,
         "G1 each replay ran once: %g and %g", (double)value_of(y),
         (double)total);
  tn_graph_release(shared);
  tn_free(y);
  tn_free(z);
}

/* Also where other arguments need another graph of the backend's. */
static void test_turns(void)
{
  test_gate gate;
  float *y = new_numbers(COUNT), *x = new_numbers(COUNT);
  tn_arg ten = TN_ARG_F32(10);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) { add(y, x, 1); }
  for (int i = 0; i < 2; i++)
    tn_with_stream(i ? stream : side) tn_graph_replay(graph);
  tn_synchronize(device);
  bool is_shut = test_gate_shut(&gate, stream);
  tn_with_stream(stream) tn_graph_replay(graph);
  tn_graph_set_argument(graph, 0, 2, ten);
  tn_with_stream(side) tn_graph_replay(graph);
  tap_is_int(tn_stream_synchronize_for(side, 100),
             is_shut ? TN_TIMEOUT : TN_OK, "G1 G5 a replay with other "
             "arguments waits for the one before, on another stream");
  test_gate_open(&gate);
  tap_ok(value_of(y) == 10, "G1 G5 and comes after it");
  tn_graph_release(graph);
  tn_free(y);
  tn_free(x);
}

/* The graph and the references to its kernel are gone before it has run. */
static void test_end(void)
{
  float *y = new_numbers(COUNT);
  for (int i = 0; i < 5; i++) {
    tn_graph *graph = tn_graph_new();
    tn_with_graph(graph, .stream = stream)
      for (int k = 0; k < 10; k++) add(y, y, 1);
    tn_with_stream(side) tn_graph_replay(graph);
    if (i & 1) tn_graph_reset(graph);
    tn_graph_release(graph);
  }
  tap_ok(value_of(y) == 50, "G1 what is queued runs when the graph is gone");
  tn_free(y);
}

static void test_function(void)
{
  int number = 1;
  float *y = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    add(y, y, 1);
    tn_stream_call(stream, double_it, &number);
    add(y, y, 1);
  }
  check_path(graph, "", "a host function");
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(y) == 6 && number == 8, "G1 host functions among kernels");
  tn_graph_release(graph);
  tn_free(y);
}

static void test_fills(void)
{
  float *y = new_numbers(COUNT), *z = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    add(z, z, 1);
    tn_fill_bytes(y, device, 0, COUNT * sizeof *y);
    add(y, z, 1);
    tn_copy(z, device, y, device, COUNT * sizeof *y, true);
  }
  check_path(graph, "", "a fill and a copy");
  for (int i = 0; i < 3; i++) tn_graph_replay(graph);
  tap_ok(value_of(z) == 6, "G1 fills and copies among kernels");
  tn_graph_release(graph);
  tn_free(y);
  tn_free(z);
}

/* ---- entries that fail ---- */

/* The first capture: it fails as a whole, and the second does not. */
static void test_failed_end(void)
{
  float *y = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_graph_begin(graph, .stream = stream);
  add(y, y, 1);
  tap_is_int(tn_graph_end(graph), TN_LAUNCH_FAILED, "G6 the capture fails: %s",
             tn_error_message());
  tap_is_int(tn_graph_replay(graph), TN_INVALID_ARGUMENT,
             "G6 and has left nothing to replay");
  tap_ok(add(y, y, 1) == TN_OK && value_of(y) == 1,
         "G6 the stream is usable");
  tn_with_graph(graph, .stream = stream) { add(y, y, 1); }
  check_path(graph, wanted, "the next capture");
  tn_graph_replay(graph);
  tap_ok(value_of(y) == 2, "G6 runs");
  tn_graph_release(graph);
  tn_free(y);
}

/* The first replay, or the first with other arguments. */
static void test_failed_replay(void)
{
  float *y = new_numbers(COUNT);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) { add(y, y, 1); }
  tn_arg five = TN_ARG_F32(5);
  tn_graph_set_argument(graph, 0, 2, five);
  tap_is_int(tn_graph_replay(graph), TN_LAUNCH_FAILED,
             "G6 S6 the replay fails: %s", tn_error_message());
  tap_has(tn_error_message(), "replay", "G6 S6 the error says what failed");
  tap_ok(value_of(y) == 0, "G6 nothing ran");
  tap_is_int(tn_graph_replay(graph), TN_OK, "G6 the next one does not");
  tap_ok(value_of(y) == 5, "G6 and has the new argument");
  tn_graph_release(graph);
  tn_free(y);
}

static void test_all(void)
{
  test_path();
  test_updates();
  test_streams();
  test_kinds();
  test_outlives();
  test_beside();
  test_threads();
  test_turns();
  test_end();
  test_function();
  test_fills();
}

static bool prepare(tn_module **module)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  side = tn_stream_new(device, 0);
  *module = tn_module_builtin(device, "elementwise");
  add_one = *module ? tn_kernel_get(*module, "add_scalar_f32") : NULL;
  return tap_ok(stream && side && add_one, "G1 streams and a kernel: %s",
                tn_error_message());
}

/* TN_TEST_PATH: how paths begin; else as the device's facts say. */
static void choose_wanted(void)
{
  tn_device_info info;
  tn_device_get_info(device, &info);
  wanted = getenv("TN_TEST_PATH");
  if (!wanted) wanted = info.has_graph ? "native: " : "call by call: ";
}

int main(int count, char **arguments)
{
  tn_module *module;
  if (!prepare(&module)) return tap_done();
  choose_wanted();
  if (count < 2) test_all();
  else if (!strcmp(arguments[1], "end")) test_failed_end();
  else test_failed_replay();
  tn_kernel_release(add_one);
  tn_module_release(module);
  tn_stream_release(stream);
  tn_stream_release(side);
  return tap_done();
}
