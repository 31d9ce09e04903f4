/* Rules G1 and G7: what a graph records and runs, by the backend's graphs or
 * the core's. */
#include "config.h"

#include "conformance/graphs.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

tn_stream *graph_stream, *graph_side;
float *graph_memory;

float *graph_floats(void)
{
  void *new = conform_memory_new(conform_device, GRAPH_COUNT * 4);
  conform_ok(tn_fill_bytes(new, conform_device, 0, GRAPH_COUNT * 4),
             "a fill");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  return new;
}

void graph_add_one(float *y)
{
  conform_ok(conform_add_one(y, GRAPH_COUNT), "a launch");
}

void graph_is(const float *y, float wanted, const char *format, ...)
{
  char text[200];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_floats(y, wanted, GRAPH_COUNT, "%s", text);
}

void graph_begin(void)
{
  graph_stream = conform_stream_new(conform_device, 0);
  graph_side = conform_stream_new(conform_device, 0);
  graph_memory = graph_floats();
  graph_add_one(graph_memory);
  conform_ok(conform_set(graph_memory, 0, GRAPH_COUNT), "a launch");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

tn_graph *graph_new(void)
{
  tn_graph *graph = tn_graph_new();
  conform_check(graph != NULL, "a graph");
  return graph;
}

tn_graph *graph_capturing(tn_stream *stream)
{
  tn_graph *graph = graph_new();
  conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
  return graph;
}

static void run_replay(void)
{
  graph_begin();
  conform_check(!tn_is_current_stream_capturing(conform_device),
                "no stream is captured at first");
  tn_graph *graph = graph_capturing(graph_stream);
  conform_check(tn_is_current_stream_capturing(conform_device),
                "the stream is captured");
  for (int i = 0; i < 10; i++) graph_add_one(graph_memory);
  conform_ok(tn_graph_end(graph), "ending");
  conform_check(!tn_is_current_stream_capturing(conform_device),
                "and then no more");
  graph_is(graph_memory, 0, "after the capture");
  for (int i = 0; i < 3; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 30, "after three replays");
  tn_with_stream(graph_side) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 40, "after one on another stream");
  tn_graph_reset(graph);
  tn_with_graph(graph, .stream = graph_stream) graph_add_one(graph_memory);
  conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 41, "captured again in the same object");
  tn_graph_release(graph);
}

/* Nothing of a capture runs, not even late. */
static void run_recorded(void)
{
  graph_begin();
  float *other = graph_floats();
  tn_graph *graph = graph_capturing(graph_stream);
  graph_add_one(graph_memory);
  tn_fill_bytes(other, conform_device, 0x55, GRAPH_COUNT * 4);
  tn_copy(graph_memory, conform_device, other, conform_device,
          GRAPH_COUNT * 4, true);
  conform_linger();
  conform_ok(tn_graph_end(graph), "ending");
  conform_linger();
  graph_is(graph_memory, 0, "what a captured launch and copy write to");
  graph_is(other, 0, "what a captured fill writes to");
  tn_graph_release(graph);
  conform_linger();
  graph_is(graph_memory, 0, "after the graph has gone");
}

static void run_copies(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  float *other = graph_floats();
  tn_with_graph(graph, .stream = graph_stream) {
    tn_copy(other, conform_device, graph_memory, conform_device,
            GRAPH_COUNT * 4, true);
    graph_add_one(other);
    tn_copy(graph_memory, conform_device, other, conform_device,
            GRAPH_COUNT * 4, true);
    tn_fill_bytes(other, conform_device, 0, GRAPH_COUNT * 4);
  }
  for (int i = 0; i < 5; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 5, "copies, fills and launches, five times");
  graph_is(other, 0, "the fill at the end");
  tn_graph_release(graph);
}

/* What comes after a fill, or before the next, sees all of it. */
static void run_fills(void)
{
  enum { FILLS = 8 };
  graph_begin();
  unsigned char *kept[FILLS];
  for (int i = 0; i < FILLS; i++)
    kept[i] = (unsigned char *)graph_floats();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream)
    for (int i = 0; i < FILLS; i++) {
      tn_fill_bytes(graph_memory, conform_device, i + 1, GRAPH_COUNT * 4);
      tn_copy(kept[i], conform_device, graph_memory, conform_device,
              GRAPH_COUNT * 4, true);
    }
  for (int k = 0; k < 4; k++) {
    conform_ok(tn_graph_replay(graph), "a replay");
    conform_ok(tn_synchronize(conform_device), "synchronising");
    for (int i = 0; i < FILLS; i++)
      conform_all(conform_device, kept[i], (unsigned char)(i + 1),
                  GRAPH_COUNT * 4, "fill %d of replay %d", i, k);
  }
  tn_graph_release(graph);
}

/* Pinned memory is read and written when the graph runs. */
static void run_pinned(void)
{
  graph_begin();
  size_t size = GRAPH_COUNT * 4;
  float *in = (float *)(void *)conform_pinned_new(size);
  float *out = (float *)(void *)conform_pinned_new(size);
  tn_graph *graph = graph_capturing(graph_stream);
  conform_ok(tn_copy(graph_memory, conform_device, in, conform_nowhere, size,
                     true), "a copy from pinned memory");
  graph_add_one(graph_memory);
  conform_ok(tn_copy(out, conform_nowhere, graph_memory, conform_device, size,
                     true), "a copy to pinned memory");
  conform_ok(tn_graph_end(graph), "ending");
  for (int k = 1; k <= 3; k++) {
    for (int i = 0; i < GRAPH_COUNT; i++) in[i] = (float)(k * i);
    conform_ok(tn_graph_replay(graph), "a replay");
    conform_ok(tn_synchronize(conform_device), "synchronising");
    for (int i = 0; i < GRAPH_COUNT; i++)
      conform_check(out[i] == (float)(k * i + 1), "replay %d of copies from "
                    "and to pinned memory: element %d is %g in place of %d",
                    k, i, (double)out[i], k * i + 1);
  }
  tn_graph_release(graph);
}

static void count_call(void *calls) { ++*(int *)calls; }

static void run_functions(void)
{
  graph_begin();
  int calls = 0;
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    conform_ok(tn_stream_call(graph_stream, count_call, &calls),
               "a host function");
  }
  conform_check(calls == 0, "it is called in the capture");
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_check(calls == 2, "it is called %d times in two replays", calls);
  tn_graph_release(graph);
}

/* Another argument is for later replays, and of that node alone. */
static void run_argument(void)
{
  graph_begin();
  float *other = graph_floats();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    conform_ok(conform_set(graph_memory, 3, GRAPH_COUNT), "a launch");
    conform_ok(conform_set(other, 4, GRAPH_COUNT), "a launch");
  }
  conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 3, "as captured");
  for (int i = 0; i < 3; i++) {
    tn_arg value = TN_ARG_F32((float)(9 + i));
    conform_ok(conform_set(other, 0, GRAPH_COUNT), "a launch");
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_ok(tn_graph_set_argument(graph, 0, 1, value),
               "another argument");
    conform_ok(tn_graph_replay(graph), "a replay");
    graph_is(graph_memory, (float)(9 + i), "as set");
    graph_is(other, 4, "the other node, as captured");
  }
  conform_ok(conform_set(other, 0, GRAPH_COUNT), "a launch");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  tn_arg address = TN_ARG_PTR(other);
  conform_ok(tn_graph_set_argument(graph, 0, 0, address), "another address");
  conform_ok(tn_graph_set_argument(graph, 1, 1, (tn_arg)TN_ARG_F32(11)),
             "another argument");
  conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(other, 11, "two arguments that were set");
  graph_is(graph_memory, 11, "memory that is no argument any more");
  tn_graph_release(graph);
}

/* Replays that are queued already keep the arguments that they had. */
static void run_argument_later(void)
{
  enum { REPLAYS = 6 };
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    conform_ok(conform_set(graph_memory, 0, GRAPH_COUNT), "a launch");
  }
  float *kept[REPLAYS];
  for (int i = 0; i < REPLAYS; i++) kept[i] = graph_floats();
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_delay delay = conform_delay_begin(graph_stream);
  tn_with_stream(graph_stream)
    for (int i = 0; i < REPLAYS; i++) {
      tn_arg value = TN_ARG_F32((float)(100 + i));
      conform_ok(tn_graph_set_argument(graph, 0, 1, value), "an argument");
      conform_ok(tn_graph_replay(graph), "a replay");
      tn_copy(kept[i], conform_device, graph_memory, conform_device,
              GRAPH_COUNT * 4, true);
    }
  conform_delay_end(&delay);
  for (int i = 0; i < REPLAYS; i++)
    graph_is(kept[i], (float)(100 + i), "replay %d of several that were "
             "queued with arguments of their own", i);
  tn_graph_release(graph);
}

static void run_dump(void)
{
  graph_begin();
  char *text = NULL;
  size_t size;
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    graph_add_one(graph_memory);
    tn_fill_bytes(graph_memory, conform_device, 1, 64);
  }
  for (int i = 0; i < 2; i++) {
    FILE *file = open_memstream(&text, &size);
    conform_ok(i ? tn_graph_list(graph, file) : tn_graph_dump(graph, file),
               "a dump");
    fclose(file);
    conform_check(strstr(text, "add_f32") != NULL, "it names kernels");
    conform_check(i || strncmp(text, "digraph", 7) == 0, "it is DOT");
    conform_check(!i || strstr(text, "64 bytes"), "it tells sizes");
    free(text);
  }
  tn_graph_release(graph);
}

static void run_nodes(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    graph_add_one(graph_memory);
    conform_ok(tn_stream_wait_stream(graph_side, graph_stream), "forking");
    tn_with_stream(graph_side)
      tn_fill_bytes(graph_memory, conform_device, 1, 64);
    tn_stream_call(graph_stream, count_call, NULL);
    conform_ok(tn_stream_wait_stream(graph_stream, graph_side), "joining");
    graph_add_one(graph_memory);
  }
  static const struct {
    tn_graph_node_kind kind;
    int stream;
    size_t dependencies;
  } wanted[] = { { TN_GRAPH_KERNEL, 0, 0 }, { TN_GRAPH_FILL, 1, 1 },
                 { TN_GRAPH_HOST_FUNCTION, 0, 1 }, { TN_GRAPH_KERNEL, 0, 2 } };
  conform_check(tn_graph_node_count(graph) == 4, "%zu nodes in place of 4",
                tn_graph_node_count(graph));
  for (size_t i = 0; i < 4; i++) {
    tn_graph_node_info info;
    conform_ok(tn_graph_get_node(graph, i, &info), "a node");
    conform_check(info.kind == wanted[i].kind &&
                      info.stream == wanted[i].stream &&
                      info.dependency_count == wanted[i].dependencies,
                  "node %zu is of kind %d, on stream %d, with %zu before it",
                  i, (int)info.kind, info.stream, info.dependency_count);
    for (size_t k = 0; k < info.dependency_count; k++)
      conform_check(info.dependencies[k] < i, "node %zu depends on later ones",
                    i);
  }
  tn_graph_release(graph);
}

#define G (CONFORM_GRAPH_BIT | CONFORM_LAUNCH_BIT)
static const conform_test tests[] = {
  { "G1", "replay", CONFORM_GRAPHS, G, false,
    "capture records and replay runs", run_replay },
  { "G1", "recorded", CONFORM_GRAPHS, G | CONFORM_COPY_BIT, false,
    "nothing of a capture runs", run_recorded },
  { "G1", "copies", CONFORM_GRAPHS, G | CONFORM_COPY_BIT, false,
    "copies and fills are replayed, too", run_copies },
  { "G1", "fills", CONFORM_GRAPHS, G | CONFORM_COPY_BIT, false,
    "all of a fill comes before what comes next", run_fills },
  { "G1", "pinned", CONFORM_GRAPHS,
    G | CONFORM_COPY_BIT | CONFORM_PINNED_BIT, false,
    "and copies of pinned memory, as it is then", run_pinned },
  { "G1", "functions", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "and host functions", run_functions },
  { "G1", "argument", CONFORM_GRAPHS, G, false,
    "an argument is changed for later replays", run_argument },
  { "G1", "argument_later", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "and not for those that are queued", run_argument_later },
  { "G7", "dump", CONFORM_GRAPHS, G, false,
    "graphs are dumped", run_dump },
  { "G7", "nodes", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "their nodes are listed", run_nodes },
};
CONFORM_SECTION(conform_graphs, tests);
