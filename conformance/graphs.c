/* Rules G1 to G4, G6 and G7, by the backend's graphs or the core's. */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "conformance/check.h"

enum { COUNT = 1000 };

static tn_stream *stream, *side;
static float *memory;

static float *floats_new(void)
{
  void *new = conform_memory_new(conform_device, COUNT * 4);
  conform_ok(tn_fill_bytes(new, conform_device, 0, COUNT * 4), "a fill");
  return new;
}

static void add_one(float *y)
{
  conform_ok(conform_add_one(y, COUNT), "a launch");
}

static void is_value(const float *y, float wanted, const char *what)
{
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_floats(y, wanted, COUNT, "%s", what);
}

static void begin(void)
{
  stream = conform_stream_new(conform_device, 0);
  side = conform_stream_new(conform_device, 0);
  memory = floats_new();
  add_one(memory);
  conform_ok(conform_set(memory, 0, COUNT), "a launch");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

static tn_graph *graph_new(void)
{
  tn_graph *graph = tn_graph_new();
  conform_check(graph != NULL, "a graph");
  return graph;
}

static void run_replay(void)
{
  begin();
  tn_graph *graph = graph_new();
  conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
  conform_check(tn_is_current_stream_capturing(conform_device),
                "the stream is captured");
  for (int i = 0; i < 10; i++) add_one(memory);
  conform_ok(tn_graph_end(graph), "ending");
  is_value(memory, 0, "after the capture");
  for (int i = 0; i < 3; i++) conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 30, "after three replays");
  tn_with_stream(side) conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 40, "after one on another stream");
  tn_graph_reset(graph);
  tn_with_graph(graph, .stream = stream) { add_one(memory); }
  conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 41, "captured again in the same object");
  tn_graph_release(graph);
}

static void run_copies(void)
{
  begin();
  tn_graph *graph = graph_new();
  float *other = floats_new();
  tn_with_graph(graph, .stream = stream) {
    tn_copy(other, conform_device, memory, conform_device, COUNT * 4, true);
    add_one(other);
    tn_copy(memory, conform_device, other, conform_device, COUNT * 4, true);
    tn_fill_bytes(other, conform_device, 0, COUNT * 4);
  }
  for (int i = 0; i < 5; i++) conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 5, "copies, fills and launches, five times");
  is_value(other, 0, "the fill at the end");
  tn_graph_release(graph);
}

typedef enum deed {
  SYNCHRONIZE, SYNCHRONIZE_DEVICE, READ, WRITE, DEFAULT_WAITS, DEEDS
} deed;

static const char *const deed_names[] = {
  "synchronising", "synchronising the device", "a read on the host",
  "a copy of pageable memory", "a wait of the default stream",
};

static tn_status commit(deed which)
{
  static float host[COUNT];
  switch (which) {
  case SYNCHRONIZE: return tn_stream_synchronize(stream);
  case SYNCHRONIZE_DEVICE: return tn_synchronize(conform_device);
  case READ:
    return tn_copy(host, conform_nowhere, memory, conform_device,
                   sizeof host, false);
  case WRITE:
    return tn_copy(memory, conform_device, host, conform_nowhere,
                   sizeof host, true);
  default:
    return tn_stream_wait_stream(tn_default_stream(conform_device), stream);
  }
}

static void run_refusals(void)
{
  begin();
  for (deed which = 0; which < DEEDS; which++) {
    tn_graph *graph = graph_new();
    conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
    add_one(memory);
    conform_is(commit(which), TN_CAPTURE_VIOLATION, "%s in a capture",
               deed_names[which]);
    conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION,
               "the end of a capture with %s", deed_names[which]);
    tn_graph_release(graph);
    is_value(memory, (float)which, "nothing of it ran");
    tn_with_stream(stream) add_one(memory);
    is_value(memory, (float)which + 1, "the stream is usable");
  }
  tn_graph *graph = graph_new();
  conform_is(tn_graph_begin(graph,
                            .stream = tn_default_stream(conform_device)),
             TN_CAPTURE_VIOLATION, "a capture on the default stream");
  tn_graph_release(graph);
}

static void run_fork(void)
{
  begin();
  tn_graph *graph = graph_new();
  tn_event *event = conform_event_new(0);
  float *other = floats_new();
  tn_with_graph(graph, .stream = stream) {
    add_one(memory);
    conform_ok(tn_event_record(event, stream), "recording");
    conform_ok(tn_stream_wait_event(side, event), "forking");
    tn_with_stream(side) add_one(other);
    add_one(memory);
    conform_ok(tn_stream_wait_stream(stream, side), "joining");
    add_one(other);
  }
  for (int i = 0; i < 4; i++) conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 8, "the first stream's");
  is_value(other, 8, "both streams'");
  tn_graph_release(graph);
  graph = graph_new();
  conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
  add_one(memory);
  tn_stream_wait_stream(side, stream);
  tn_with_stream(side) add_one(memory);
  conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION,
             "the end with a stream that was not joined");
  tn_graph_release(graph);
  is_value(memory, 8, "nothing of it ran");
}

static void run_memory(void)
{
  begin();
  tn_graph *graph = graph_new();
  float *inside = NULL;
  tn_with_graph(graph, .stream = stream) {
    inside = (float *)(void *)conform_memory_new(conform_device, COUNT * 4);
    tn_copy(inside, conform_device, memory, conform_device, COUNT * 4, true);
    add_one(inside);
    tn_copy(memory, conform_device, inside, conform_device, COUNT * 4, true);
    tn_free(inside);
  }
  tn_with_stream(stream) {
    void *after = conform_memory_new(conform_device, COUNT * 4);
    conform_check(after != inside, "the graph's memory is handed out");
    tn_free(after);
  }
  tn_empty_cache(conform_device);
  for (int i = 0; i < 5; i++) conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 5, "replays after the cache was emptied");
  tn_graph_release(graph);
}

static void run_given_back(void)
{
  begin();
  tn_empty_cache(conform_device);
  size_t before = tn_memory_reserved(conform_device);
  for (int i = 0; i < 12; i++) {
    tn_graph *graph = graph_new();
    conform_ok(tn_graph_begin(graph, .stream = stream), "beginning");
    void *inside = conform_memory_new(conform_device, (size_t)8 << 20);
    if (i % 2) tn_stream_synchronize(stream);
    tn_free(inside);
    if (i % 3) tn_graph_end(graph);
    tn_graph_release(graph);
  }
  tn_empty_cache(conform_device);
  conform_check(tn_memory_reserved(conform_device) == before,
                "%zu bytes are reserved after failed captures, %zu before",
                tn_memory_reserved(conform_device), before);
}

static void count_call(void *calls) { ++*(int *)calls; }

static void run_functions(void)
{
  begin();
  int calls = 0;
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = stream) {
    conform_ok(tn_stream_call(stream, count_call, &calls), "a host function");
  }
  conform_check(calls == 0, "it is called in the capture");
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_check(calls == 2, "it is called %d times in two replays", calls);
  tn_graph_release(graph);
}

static void run_argument(void)
{
  begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = stream) {
    conform_ok(conform_set(memory, 3, COUNT), "a launch");
  }
  conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 3, "as captured");
  tn_arg nine = TN_ARG_F32(9);
  conform_ok(tn_graph_set_argument(graph, 0, 1, nine), "another argument");
  conform_ok(tn_graph_replay(graph), "a replay");
  is_value(memory, 9, "as set");
  tn_graph_release(graph);
}

static void run_dump(void)
{
  begin();
  char *text = NULL;
  size_t size;
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = stream) {
    add_one(memory);
    tn_fill_bytes(memory, conform_device, 1, 64);
  }
  conform_check(tn_graph_node_count(graph) == 2, "%zu nodes",
                tn_graph_node_count(graph));
  FILE *file = open_memstream(&text, &size);
  conform_ok(tn_graph_dump(graph, file), "a dump");
  fclose(file);
  conform_check(strstr(text, "add_f32") != NULL, "the dump names kernels");
  free(text);
  tn_graph_release(graph);
}

#define G (CONFORM_GRAPH_BIT | CONFORM_LAUNCH_BIT)
static const conform_test tests[] = {
  { "G1", "replay", CONFORM_GRAPHS, G, false,
    "capture records and replay runs", run_replay },
  { "G1", "copies", CONFORM_GRAPHS, G | CONFORM_COPY_BIT, false,
    "copies and fills, too", run_copies },
  { "G1", "functions", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "and host functions", run_functions },
  { "G1", "argument", CONFORM_GRAPHS, G, false,
    "an argument is changed for later replays", run_argument },
  { "G2", "refusals", CONFORM_GRAPHS, G, false,
    "what a capture cannot hold is refused, and all stays usable",
    run_refusals },
  { "G3", "fork", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT | CONFORM_EVENT_BIT,
    false, "capture spreads to streams that wait, and they rejoin", run_fork },
  { "G4", "memory", CONFORM_GRAPHS, G | CONFORM_MEMORY_BIT, false,
    "memory of a capture is the graph's", run_memory },
  { "G4", "given_back", CONFORM_GRAPHS, G | CONFORM_MEMORY_BIT, false,
    "failed captures give theirs back", run_given_back },
  { "G7", "dump", CONFORM_GRAPHS, G, false,
    "graphs are dumped", run_dump },
};
CONFORM_SECTION(conform_graphs, tests);
