/* Rule G4: memory that captures allocate. */
#include "config.h"

#include <pthread.h>

#include "conformance/graphs.h"

static const size_t size = GRAPH_COUNT * 4;

/* total = total + 1 by memory of the graph's, which is freed in it. */
static void *queue_inside(float *total)
{
  float *inside = (float *)(void *)conform_memory_new(conform_device, size);
  tn_copy(inside, conform_device, total, conform_device, size, true);
  graph_add_one(inside);
  tn_copy(total, conform_device, inside, conform_device, size, true);
  tn_free(inside);
  return inside;
}

static void run_memory(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  void *inside = NULL, *after[20];
  tn_with_graph(graph, .stream = graph_stream)
    inside = queue_inside(graph_memory);
  tn_with_stream(graph_stream)
    for (int i = 0; i < 20; i++) {
      after[i] = conform_memory_new(conform_device, size);
      conform_check(after[i] != inside, "the graph's memory is handed out");
      tn_fill_bytes(after[i], conform_device, 0xee, size);
    }
  tn_empty_cache(conform_device);
  for (int i = 0; i < 5; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 5, "replays after the cache was emptied");
  for (int i = 0; i < 20; i++)
    conform_all(conform_device, after[i], 0xee, size,
                "memory that is not the graph's");
  tn_graph_release(graph);
}

/* Replays write where the capture wrote, and the block outlives the graph. */
static void run_kept(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  float *made = NULL;
  tn_with_graph(graph, .stream = graph_stream) {
    made = (float *)(void *)conform_memory_new(conform_device, size);
    tn_copy(made, conform_device, graph_memory, conform_device, size, true);
    graph_add_one(made);
  }
  for (int i = 0; i < 3; i++) {
    conform_ok(conform_set(graph_memory, (float)i, GRAPH_COUNT), "a launch");
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_ok(tn_graph_replay(graph), "a replay");
    graph_is(made, (float)i + 1, "what was allocated in a capture, replay %d",
             i);
  }
  tn_graph_release(graph);
  tn_empty_cache(conform_device);
  for (int i = 0; i < 20; i++)
    tn_fill_bytes(conform_memory_new(conform_device, size), conform_device,
                  0xee, size);
  graph_is(made, 3, "it outlives its graph");
  tn_free(made);
}

static void run_shared(void)
{
  graph_begin();
  tn_graph *graph = graph_new(), *sharing = graph_new();
  void *first = NULL, *second = NULL;
  tn_with_graph(graph, .stream = graph_stream)
    first = queue_inside(graph_memory);
  tn_with_graph(sharing, .stream = graph_stream,
                .pool = tn_graph_pool(graph))
    second = queue_inside(graph_memory);
  conform_check(first == second, "a pool that is shared is used again");
  for (int i = 0; i < 4; i++) {
    conform_ok(tn_graph_replay(graph), "a replay");
    conform_ok(tn_graph_replay(sharing), "a replay");
  }
  graph_is(graph_memory, 8, "two graphs with one pool, in their order");
  tn_graph_release(graph);
  for (int i = 0; i < 4; i++)
    conform_ok(tn_graph_replay(sharing), "a replay");
  graph_is(graph_memory, 12, "one of them, the other gone");
  tn_graph_release(sharing);
}

static void run_given_back(void)
{
  graph_begin();
  tn_empty_cache(conform_device);
  size_t before = tn_memory_reserved(conform_device);
  for (int i = 0; i < 12; i++) {
    tn_graph *graph = graph_capturing(graph_stream);
    void *inside = conform_memory_new(conform_device, (size_t)8 << 20);
    if (i % 2) tn_stream_synchronize(graph_stream);
    tn_free(inside);
    if (i % 3) tn_graph_end(graph);
    tn_graph_release(graph);
  }
  tn_empty_cache(conform_device);
  conform_check(tn_memory_reserved(conform_device) == before,
                "%zu bytes are reserved after failed captures, %zu before",
                tn_memory_reserved(conform_device), before);
}

static size_t free_bytes(void)
{
  size_t unused = 0, total;
  tn_empty_cache(conform_device);
  return tn_mem_get_info(conform_device, &unused, &total) == TN_OK ? unused
                                                                   : 0;
}

/* By how much less is free after a dozen graphs that came and went. */
static size_t lost_by_graphs(void)
{
  size_t before = free_bytes();
  for (int i = 0; i < 12; i++) {
    tn_graph *graph = graph_new();
    tn_with_graph(graph, .stream = graph_stream) {
      void *inside = conform_memory_new(conform_device, (size_t)4 << 20);
      graph_add_one(graph_memory);
      tn_free(inside);
    }
    conform_ok(tn_graph_replay(graph), "a replay");
    tn_graph_release(graph);
  }
  size_t after = free_bytes();
  return after < before ? before - after : 0;
}

/* A device does not fill up by captures that come and go. Others may take
 * memory of it meanwhile, so one time of several will do. */
static void run_repeated(void)
{
  enum { TIMES = 8, MOST = 32 << 20 };
  graph_begin();
  size_t lost = lost_by_graphs();
  size_t reserved = tn_memory_reserved(conform_device);
  int times = 1;
  do {
    lost = lost_by_graphs();
    conform_check(tn_memory_reserved(conform_device) == reserved,
                  "%zu bytes are reserved after more graphs, %zu before",
                  tn_memory_reserved(conform_device), reserved);
  } while (++times < TIMES && lost > MOST);
  conform_check(lost <= MOST, "%zu bytes less are free after 12 graphs", lost);
  graph_is(graph_memory, (float)(12 * times), "graphs, one after the other");
}

/* Streams that joined allocate from the pool, and other threads do not. */
static void *allocate_elsewhere(void *argument)
{
  void **out = argument;
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_with_stream(stream) *out = conform_memory_new(conform_device, size);
  return NULL;
}

static void run_streams(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  void *on_side = NULL, *elsewhere = NULL;
  pthread_t thread;
  conform_ok(tn_graph_begin(graph, .stream = graph_stream,
                            .mode = TN_GRAPH_THREAD_LOCAL), "beginning");
  conform_ok(tn_stream_wait_stream(graph_side, graph_stream), "forking");
  tn_with_stream(graph_side) on_side = queue_inside(graph_memory);
  conform_check(pthread_create(&thread, NULL, allocate_elsewhere,
                               &elsewhere) == 0, "a thread");
  pthread_join(thread, NULL);
  tn_fill_bytes(elsewhere, conform_device, 0, 1);
  conform_ok(tn_stream_wait_stream(graph_stream, graph_side), "joining");
  conform_ok(tn_graph_end(graph), "ending");
  tn_free(elsewhere);
  tn_with_stream(graph_side)
    for (int i = 0; i < 10; i++)
      conform_check(conform_memory_new(conform_device, size) != on_side,
                    "memory of a stream that joined is handed out");
  for (int i = 0; i < 3; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 3, "three replays");
  tn_graph_release(graph);
}

#define G (CONFORM_GRAPH_BIT | CONFORM_LAUNCH_BIT | CONFORM_MEMORY_BIT)
static const conform_test tests[] = {
  { "G4", "memory", CONFORM_GRAPHS, G, false,
    "memory of a capture is the graph's", run_memory },
  { "G4", "kept", CONFORM_GRAPHS, G, false,
    "it stays where it is, also when the graph has gone", run_kept },
  { "G4", "shared", CONFORM_GRAPHS, G, false,
    "graphs share it when asked", run_shared },
  { "G4", "given_back", CONFORM_GRAPHS, G, false,
    "failed captures give theirs back", run_given_back },
  { "G4", "repeated", CONFORM_GRAPHS, G, false,
    "and so do graphs that are gone", run_repeated },
  { "G4", "streams", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "streams that joined have part of it", run_streams },
};
CONFORM_SECTION(conform_graph_memory, tests);
