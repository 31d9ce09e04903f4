/* Graphs of the cpu backend: what is recorded, and how it runs. */
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#define COUNT 40000
#define CHAIN 6
#define RUNS 12

/* `mix` reads far from where it writes: pieces of one node depend on all of
 * the node before. `where` tells on which thread's stack each task ran. */
static const char source[] =
  "TN_KERNEL(mix, TN_OUT(float, y), TN_IN(float, x), TN_VAL(float, add),\n"
  "          TN_VAL(int64, n))\n"
  "{ TN_TASKS(i, n) {\n"
  "    float a = x[(i * 7919 + 13) % n], b = x[n - 1 - i];\n"
  "    for (int k = 0; k < 8; k++) a = a * 0.5f + b;\n"
  "    y[i] = a * 0.25f + add; } }\n"
  "TN_KERNEL(where, TN_OUT(int64, stack), TN_OUT(float, y),\n"
  "          TN_VAL(int64, n), TN_VAL(int32, turns))\n"
  "{ TN_TASKS(i, n) {\n"
  "    float x = (float)i;\n"
  "    for (int32 k = 0; k < turns; k++) x = x * 0.5f + 1.0f;\n"
  "    y[i] += x;\n"
  "    stack[i] = (int64)(uintptr_t)__builtin_frame_address(0); } }\n"
  "TN_KERNEL(count, TN_OUT(int32, y), TN_VAL(int32, step))\n"
  "{ TN_TASKS(i, 1) y[0] += step; }\n";

static tn_backend_device *device;
static tn_backend_stream *inline_stream, *stream, *other;
static tn_backend_module *module;
static sem_t gate, inside;

static void gate_pass(void *argument)
{
  (void)argument;
  sem_post(&inside);
  sem_wait(&gate);
}

/* Holds a stream until the gate is opened. */
static void hold(tn_backend_stream *on)
{
  plugin->stream->host_function(on, gate_pass, NULL, 0);
  sem_wait(&inside);
}

static tn_backend_stream *capture_begin(void)
{
  tn_backend_stream *on = plugin_stream(device, 0, 0);
  tap_is_int(plugin->graph->capture_begin(on), TN_OK, "G1: capture begins");
  return on;
}

static uint64_t capture_node(tn_backend_stream *on)
{
  uint64_t number = UINT64_MAX;
  if (plugin->graph->capture_node(on, &number))
    tap_ok(false, "a node is numbered: %s", plugin_error());
  return number;
}

static tn_backend_graph *capture_end(tn_backend_stream *on)
{
  tn_backend_graph *graph = NULL;
  tap_is_int(plugin->graph->capture_end(on, &graph), TN_OK,
             "G1: and ends with a graph");
  plugin->stream->destroy(on);
  return graph;
}

static bool launch(tn_backend_graph *graph, tn_backend_stream *on)
{
  return plugin->graph->launch(graph, on) == TN_OK;
}

/* ---- many nodes, each of which needs all of the one before ---- */

typedef struct chain {
  float *at[CHAIN + 1];
} chain;

static chain chain_new(void)
{
  chain c;
  for (int i = 0; i <= CHAIN; i++)
    c.at[i] = plugin_alloc(device, COUNT * sizeof(float));
  for (int i = 0; i < COUNT; i++) c.at[0][i] = (float)(i * 37 % 1001) * 0.125f;
  return c;
}

static void chain_free(chain *c)
{
  for (int i = 0; i <= CHAIN; i++)
    plugin_free(device, c->at[i], COUNT * sizeof(float));
}

/* Each run goes on from the last one's end. */
static void chain_queue(const chain *c, tn_backend_stream *on, bool is_capture)
{
  tn_backend_kernel *mix = plugin_kernel(module, "mix");
  for (int i = 0; i < CHAIN; i++) {
    float add = 0.5f * (float)i;
    uint64_t slots[] = { PLUGIN_POINTER(c->at[i + 1]),
                         PLUGIN_POINTER(c->at[i]), 0, COUNT };
    memcpy(&slots[2], &add, sizeof add);
    plugin_launch(on, mix, COUNT, slots);
    if (is_capture) capture_node(on);
  }
  const tn_copy_desc copy = {
    .struct_size = sizeof copy, .kind = TN_COPY_DEVICE_TO_DEVICE,
    .dst = PLUGIN_POINTER(c->at[0]), .src = PLUGIN_POINTER(c->at[CHAIN]),
    .row_bytes = COUNT * sizeof(float), .rows = 1, .depth = 1,
  };
  plugin->copy->copy(on, device, &copy);
  if (is_capture) capture_node(on);
}

static void test_chain(tn_backend_stream *on, const char *where)
{
  chain wanted = chain_new(), found = chain_new();
  tn_backend_stream *capture = capture_begin();
  chain_queue(&found, capture, true);
  tap_ok(found.at[0][1] == wanted.at[0][1], "G1: nothing of it runs");
  tn_backend_graph *graph = capture_end(capture);
  bool same = graph != NULL;
  for (int i = 0; same && i < RUNS; i++) {
    chain_queue(&wanted, inline_stream, false);
    same = launch(graph, on);
    plugin_synchronize(device, on);
    same = same && memcmp(wanted.at[0], found.at[0],
                          COUNT * sizeof(float)) == 0;
  }
  tap_ok(same, "G1: %d runs %s give the bits of %d calls each", RUNS, where,
         CHAIN + 1);
  if (graph) plugin->graph->destroy(graph);
  chain_free(&found);
  chain_free(&wanted);
}

enum { TASKS = 64, TRIES = 2000, STACK = 65536 };

/* Whether the tasks ran on more than one. */
static bool stacks_differ(const int64_t *stack)
{
  int64_t least = stack[0], most = stack[0];
  for (int i = 1; i < TASKS; i++) {
    if (stack[i] < least) least = stack[i];
    if (stack[i] > most) most = stack[i];
  }
  return most - least > STACK;
}

/* Helpers may have no processor for many a run. */
static void test_together(void)
{
  int64_t stack[TASKS];
  float y[TASKS] = { 0 };
  tn_backend_kernel *where = plugin_kernel(module, "where");
  uint64_t slots[] = { PLUGIN_POINTER(stack), PLUGIN_POINTER(y), TASKS,
                       20000 };
  tn_backend_stream *on = capture_begin();
  plugin_launch(on, where, TASKS, slots);
  capture_node(on);
  tn_backend_graph *graph = capture_end(on);
  int runs = 0;
  do launch(graph, inline_stream);
  while (++runs < TRIES && !stacks_differ(stack));
  tap_ok(stacks_differ(stack), "G1: a long node runs on several threads");
  tap_note("in run %d", runs);
  bool right = true;
  for (int i = 0; i < TASKS; i++) right &= y[i] == 2.0f * (float)runs;
  tap_ok(right, "G1: each task once a run");
  plugin->graph->destroy(graph);
}

/* ---- runs and changes, in order ---- */

/* A graph of one launch that adds 1 to *y. */
static tn_backend_graph *counting_graph(int32_t *y, uint64_t *node)
{
  uint64_t slots[] = { PLUGIN_POINTER(y), 1 };
  tn_backend_stream *on = capture_begin();
  plugin_launch(on, plugin_kernel(module, "count"), 1, slots);
  *node = capture_node(on);
  return capture_end(on);
}

static void test_order(void)
{
  int32_t y = 0;
  uint64_t node;
  tn_point point;
  tn_backend_graph *graph = counting_graph(&y, &node);
  hold(stream);
  launch(graph, stream);
  launch(graph, other);
  plugin->stream->record(other, 0, &point);
  const uint64_t short_time = 2000000; /* ns; longer proves no more */
  tap_is_int(plugin->stream->host_wait(device, &point, short_time),
             TN_TIMEOUT, "G1: a run waits for the one before, elsewhere");
  sem_post(&gate);
  plugin_synchronize(device, other);
  tap_is_int(y, 2, "G1: and comes after it");
  launch(graph, inline_stream);
  tap_is_int(y, 3, "G1: on any stream");
  plugin->graph->destroy(graph);
}

static void test_update(void)
{
  int32_t y = 0;
  uint64_t node;
  tn_backend_graph *graph = counting_graph(&y, &node);
  uint64_t slots[] = { PLUGIN_POINTER(&y), 100 };
  tn_node_update update = { .struct_size = sizeof update, .node = node,
                            .slots = slots };
  hold(stream);
  launch(graph, stream);
  plugin->graph->update(graph, &update);
  launch(graph, stream);
  slots[1] = 10000;
  plugin->graph->update(graph, &update);
  sem_post(&gate);
  plugin_synchronize(device, stream);
  tap_is_int(y, 101, "G6: a change reaches the runs after it alone");
  launch(graph, inline_stream);
  tap_is_int(y, 10101, "G6: the next one the next");
  update.node = 7;
  tap_is_int(plugin->graph->update(graph, &update), TN_INVALID_ARGUMENT,
             "G6: what is no launch is refused");
  tap_is_text(plugin_error(), "graph update: node 7 of 1 is no launch",
         "G6: by its number");
  plugin->graph->destroy(graph);
}

static void test_destroy(void)
{
  int32_t y = 0;
  uint64_t node;
  tn_backend_graph *graph = counting_graph(&y, &node);
  hold(stream);
  launch(graph, stream);
  launch(graph, other);
  plugin->graph->destroy(graph);
  sem_post(&gate);
  plugin_synchronize(device, stream);
  plugin_synchronize(device, other);
  tap_is_int(y, 2, "G1: runs that are queued outlive the graph");
}

/* ---- other commands ---- */

static void add_seven(void *argument)
{
  *(int32_t *)argument += 7;
}

static void test_commands(void)
{
  int32_t y[4] = { 1, 1, 1, 1 };
  tn_backend_stream *on = capture_begin();
  tn_fill_desc fill = { .struct_size = sizeof fill, .dst = PLUGIN_POINTER(y),
                        .pattern = 5, .pattern_bytes = 4, .count = 3 };
  plugin->copy->fill(on, device, &fill);
  uint64_t first = capture_node(on);
  fill.count = 0;
  plugin->copy->fill(on, device, &fill);
  uint64_t nothing = capture_node(on);
  plugin->stream->host_function(on, add_seven, &y[1], 0);
  uint64_t last = capture_node(on);
  tap_ok(first != nothing && nothing != last && first != last,
         "G1: each command has a number, also one that does nothing");
  tn_backend_graph *graph = capture_end(on);
  tap_ok(y[0] == 1 && y[1] == 1, "G1: fills and functions wait, too");
  launch(graph, inline_stream);
  tap_ok(y[0] == 5 && y[1] == 12 && y[3] == 1, "G1: they run, inline");
  y[0] = 0;
  launch(graph, stream);
  plugin_synchronize(device, stream);
  tap_ok(y[0] == 5 && y[1] == 12, "G1: and on a stream");
  plugin->graph->destroy(graph);
}

static void test_misuse(void)
{
  uint64_t node;
  tn_backend_graph *graph = NULL;
  tap_is_int(plugin->graph->capture_end(stream, &graph),
             TN_CAPTURE_VIOLATION, "G1: an end without a begin");
  tap_is_int(plugin->graph->capture_node(stream, &node),
             TN_CAPTURE_VIOLATION, "G1: a node without a capture");
  tn_backend_stream *on = capture_begin();
  tap_is_int(plugin->graph->capture_begin(on), TN_CAPTURE_VIOLATION,
             "G1: a capture in a capture");
  graph = capture_end(on);
  tap_ok(launch(graph, inline_stream) && launch(graph, stream),
         "G1: a graph without nodes runs");
  plugin_synchronize(device, stream);
  plugin->graph->destroy(graph);
}

static void test_all(void)
{
  test_chain(inline_stream, "inline");
  test_chain(stream, "on a stream");
  test_together();
  test_order();
  test_update();
  test_destroy();
  test_commands();
  test_misuse();
}

int main(void)
{
  sem_init(&gate, 0, 0);
  sem_init(&inside, 0, 0);
  setenv("TENON_NUM_THREADS", "3", 1);
  unsetenv("TENON_CPU_CHAOS");
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  stream = plugin_stream(device, 0, 0);
  other = plugin_stream(device, 0, -1);
  module = plugin_module(device, "graph", source);
  if (tap_ok(module && plugin->graph, "G1: the cpu has graphs of its own"))
    test_all();
  plugin->launch->module_unload(module);
  plugin->stream->destroy(other);
  plugin->stream->destroy(stream);
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
