/* Rules G2 and G3: what a capture refuses, and how it spreads. */
#include "config.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdint.h>

#include "conformance/graphs.h"

typedef enum deed {
  SYNCHRONIZE, SYNCHRONIZE_DEVICE, QUERY, READ, WRITE, DEFAULT_WAITS,
  REPLAY, DEEDS
} deed;

/* What is done, and a word that its message has. */
static const struct { const char *name, *word; } deeds[] = {
  { "synchronising", "wait of the host" },
  { "synchronising the device", "wait of the host" },
  { "a query", "query" },
  { "a read on the host", "host" },
  { "a copy of pageable memory", "pageable" },
  { "a wait of the default stream", "default stream" },
  { "a replay", "replay" },
};

static tn_graph *other; /* to be replayed in a capture */

static tn_status commit(deed which)
{
  static float host[GRAPH_COUNT];
  switch (which) {
  case SYNCHRONIZE: return tn_stream_synchronize(graph_stream);
  case SYNCHRONIZE_DEVICE: return tn_synchronize(conform_device);
  case QUERY: return tn_stream_query(graph_stream);
  case READ:
    return tn_copy(host, conform_nowhere, graph_memory, conform_device,
                   sizeof host, false);
  case WRITE:
    return tn_copy(graph_memory, conform_device, host, conform_nowhere,
                   sizeof host, true);
  case DEFAULT_WAITS:
    return tn_stream_wait_stream(tn_default_stream(conform_device),
                                 graph_stream);
  default: return tn_graph_replay(other);
  }
}

static void try_deed(deed which)
{
  tn_graph *graph = graph_capturing(graph_stream);
  graph_add_one(graph_memory);
  tn_clear_error();
  conform_is(commit(which), TN_CAPTURE_VIOLATION, "%s in a capture",
             deeds[which].name);
  conform_error_has(deeds[which].word, "the call is named");
  conform_is(conform_add_one(graph_memory, GRAPH_COUNT), TN_CAPTURE_VIOLATION,
             "a launch after %s", deeds[which].name);
  conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION,
             "the end of a capture with %s", deeds[which].name);
  conform_error_has(deeds[which].word, "the end tells what happened first");
  conform_check(!tn_is_current_stream_capturing(conform_device),
                "the capture is over");
  conform_is(tn_graph_replay(graph), TN_INVALID_ARGUMENT,
             "a replay of what is no graph");
  tn_graph_release(graph);
  graph_is(graph_memory, (float)which, "nothing of it ran");
  tn_with_stream(graph_stream) graph_add_one(graph_memory);
  graph_is(graph_memory, (float)which + 1, "the stream is usable");
}

static void run_refusals(void)
{
  graph_begin();
  other = graph_new();
  tn_with_graph(other, .stream = graph_side) {}
  for (deed which = 0; which < DEEDS; which++) try_deed(which);
  tn_graph *graph = graph_new();
  tn_clear_error();
  conform_is(tn_graph_begin(graph,
                            .stream = tn_default_stream(conform_device)),
             TN_CAPTURE_VIOLATION, "a capture on the default stream");
  conform_error_has("default stream", "the error names it");
  conform_is(tn_graph_end(graph), TN_INVALID_ARGUMENT,
             "an end without a beginning");
  tn_graph_release(graph);
}

/* What does not belong to a capture goes on beside it. */
static void run_beside(void)
{
  graph_begin();
  float *own = graph_floats();
  tn_graph *graph = graph_capturing(graph_stream), *nested = graph_new();
  graph_add_one(graph_memory);
  tn_with_stream(graph_side) {
    graph_add_one(own);
    conform_is(conform_poll(graph_side, 5000), TN_OK, "another stream during "
               "a capture");
    conform_ok(tn_stream_synchronize(graph_side), "synchronising it");
  }
  conform_is(tn_graph_begin(nested, .stream = graph_side),
             TN_CAPTURE_VIOLATION, "a second capture in global mode");
  conform_ok(tn_graph_end(graph), "the end of the first one");
  tn_graph_release(nested);
  graph_is(own, 1, "what ran beside the capture");
  conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 1, "what was captured");
  tn_graph_release(graph);
}

/* Work outside of the capture that is not complete cannot be waited for. */
static void run_outside(void)
{
  graph_begin();
  tn_event *event = conform_event_new(0);
  tn_graph *graph = graph_capturing(graph_stream);
  graph_add_one(graph_memory);
  conform_gate gate = conform_gate_shut(graph_side);
  conform_ok(tn_event_record(event, graph_side), "recording");
  conform_is(tn_stream_wait_event(graph_stream, event), TN_CAPTURE_VIOLATION,
             "a wait for work outside of the capture");
  conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION, "the end");
  conform_is(tn_event_query(event), TN_NOT_READY, "the event");
  conform_gate_open(&gate);
  conform_ok(tn_event_synchronize(event), "the event afterwards");
  tn_graph_release(graph);
  graph_is(graph_memory, 0, "nothing of it ran");
}

/* Events that a capture recorded are its own until it is over. */
static void run_events(void)
{
  graph_begin();
  tn_event *event = conform_event_new(0);
  tn_event *timed[] = { conform_event_new(TN_EVENT_TIMING),
                        conform_event_new(TN_EVENT_TIMING) };
  float ms;
  tn_graph *graph = graph_capturing(graph_stream);
  graph_add_one(graph_memory);
  conform_ok(tn_event_record(event, graph_stream), "recording");
  conform_is(tn_event_query(event), TN_CAPTURE_VIOLATION,
             "a query of an event of the capture");
  conform_ok(tn_graph_end(graph), "the capture goes on");
  conform_ok(tn_event_query(event), "the event is past, as is the capture");
  tn_graph_release(graph);
  graph = graph_capturing(graph_stream);
  for (int i = 0; i < 2; i++)
    conform_ok(tn_event_record(timed[i], graph_stream), "recording");
  conform_ok(tn_graph_end(graph), "ending");
  conform_is(tn_event_elapsed(timed[0], timed[1], &ms), TN_INVALID_ARGUMENT,
             "elapsed time between events of a capture");
  tn_graph_release(graph);
}

/* ---- modes and threads ---- */

static void *get_memory(void *argument)
{
  tn_status *status = argument;
  void *memory = tn_malloc(conform_device, (size_t)64 << 20);
  *status = memory ? TN_OK : tn_last_status();
  if (memory) tn_free(memory);
  return NULL;
}

static void *end_it(void *argument)
{
  return (void *)(intptr_t)tn_graph_end(argument);
}

static void *in_thread(void *(*function)(void *), void *argument)
{
  pthread_t thread;
  void *result = NULL;
  conform_check(pthread_create(&thread, NULL, function, argument) == 0,
                "a thread");
  pthread_join(thread, &result);
  return result;
}

static void run_modes(void)
{
  static const tn_graph_mode modes[] = {
    TN_GRAPH_GLOBAL, TN_GRAPH_THREAD_LOCAL, TN_GRAPH_RELAXED
  };
  graph_begin();
  for (int i = 0; i < 3; i++) {
    tn_graph *graph = graph_new();
    tn_status status;
    conform_ok(tn_graph_begin(graph, .stream = graph_stream,
                              .mode = modes[i]), "beginning");
    graph_add_one(graph_memory);
    in_thread(get_memory, &status);
    tn_status wanted = i ? TN_OK : TN_CAPTURE_VIOLATION;
    conform_is(status, wanted, "memory for another thread, in mode %d", i);
    tn_status ended = (tn_status)(intptr_t)in_thread(end_it, graph);
    conform_is(ended, i < 2 ? TN_CAPTURE_VIOLATION : TN_OK,
               "the end by another thread, in mode %d", i);
    if (i < 2) conform_is(tn_graph_end(graph), wanted, "the end, in mode %d",
                          i);
    if (i) conform_ok(tn_graph_replay(graph), "a replay");
    graph_is(graph_memory, (float)i, "in mode %d", i);
    tn_graph_release(graph);
    conform_linger();
    if (tn_is_current_stream_capturing(conform_device))
      conform_fail("a capture goes on");
  }
}

/* Work of a thread of its own, which goes on until it is told. */
typedef struct other_work {
  atomic_bool is_over;
  atomic_int launches;
  float *memory;
  atomic_int status; /* of what failed */
} other_work;

static void *work_on(void *argument)
{
  other_work *work = argument;
  while (!work->is_over && work->status == TN_OK) {
    tn_with_stream(graph_side)
      work->status = conform_add_one(work->memory, GRAPH_COUNT);
    if (++work->launches % 20 == 0 && work->status == TN_OK)
      work->status = tn_stream_synchronize(graph_side);
  }
  return NULL;
}

/* Whether the other one did something while a graph was made of what was
 * captured. */
static bool make_graph(const other_work *work)
{
  enum { NODES = 500 };
  tn_graph *graph = graph_capturing(graph_stream);
  for (int i = 0; i < NODES; i++) graph_add_one(graph_memory);
  int before = work->launches;
  conform_ok(tn_graph_end(graph), "ending");
  tn_graph_release(graph);
  return work->launches > before;
}

static void run_making(void)
{
  enum { ENOUGH = 50 };
  graph_begin();
  other_work work = { .memory = graph_floats() };
  pthread_t thread;
  conform_check(pthread_create(&thread, NULL, work_on, &work) == 0,
                "a thread");
  double limit = conform_now() + 1000;
  for (int done = 0; done < ENOUGH && work.status == TN_OK &&
                     conform_now() < limit; )
    done += make_graph(&work);
  work.is_over = true;
  pthread_join(thread, NULL);
  conform_is((tn_status)work.status, TN_OK, "work of another thread while "
             "graphs are made");
  graph_is(work.memory, (float)work.launches, "what it did");
  graph_is(graph_memory, 0, "what was only captured");
}

/* ---- G3 ---- */

static void run_fork(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  tn_event *event = conform_event_new(0);
  float *own = graph_floats();
  tn_with_graph(graph, .stream = graph_stream) {
    graph_add_one(graph_memory);
    conform_ok(tn_event_record(event, graph_stream), "recording");
    conform_ok(tn_stream_wait_event(graph_side, event), "forking");
    tn_with_stream(graph_side) {
      conform_check(tn_is_current_stream_capturing(conform_device),
                    "a stream that waits for the capture is in it");
      graph_add_one(own);
    }
    graph_add_one(graph_memory);
    conform_ok(tn_stream_wait_stream(graph_stream, graph_side), "joining");
    graph_add_one(own);
  }
  graph_is(own, 0, "nothing of it ran");
  for (int i = 0; i < 4; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 8, "the first stream's");
  graph_is(own, 8, "both streams'");
  tn_graph_release(graph);
  tn_with_stream(graph_side) graph_add_one(own);
  graph_is(own, 9, "the other stream's own work afterwards");
}

/* Branches read what was forked off, and the join reads all of them. */
static void run_diamond(void)
{
  enum { WAYS = 4, LONG = 30 };
  graph_begin();
  size_t size = GRAPH_COUNT * 4;
  tn_stream *ways[WAYS];
  float *parts[WAYS], *kept = graph_floats();
  for (int i = 0; i < WAYS; i++) {
    ways[i] = conform_stream_new(conform_device, 0);
    parts[i] = graph_floats();
  }
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {
    for (int i = 0; i < LONG; i++) graph_add_one(graph_memory);
    for (int k = 0; k < WAYS; k++) {
      conform_ok(tn_stream_wait_stream(ways[k], graph_stream), "forking");
      tn_with_stream(ways[k]) {
        tn_copy(parts[k], conform_device, graph_memory, conform_device, size,
                true);
        for (int i = 0; i < (k + 1) * 5; i++) graph_add_one(parts[k]);
      }
    }
    for (int k = 0; k < WAYS; k++)
      conform_ok(tn_stream_wait_stream(graph_stream, ways[k]), "joining");
    tn_copy(kept, conform_device, parts[WAYS - 1], conform_device, size,
            true);
    for (int k = 0; k < WAYS; k++)
      tn_copy(graph_memory, conform_device, parts[k], conform_device, size,
              true);
  }
  for (int i = 1; i <= 6; i++) {
    conform_ok(tn_graph_replay(graph), "a replay");
    graph_is(kept, (float)(i * LONG + WAYS * 5 * i), "replay %d: what the "
             "longest branch made of what it was forked from", i);
    graph_is(graph_memory, (float)(i * LONG + WAYS * 5 * i),
             "replay %d: what the last one left", i);
  }
  tn_graph_release(graph);
}

static void run_unjoined(void)
{
  graph_begin();
  for (int i = 0; i < 2; i++) {
    tn_graph *graph = graph_capturing(graph_stream);
    graph_add_one(graph_memory);
    conform_ok(tn_stream_wait_stream(graph_side, graph_stream), "forking");
    if (i) conform_ok(tn_stream_wait_stream(graph_stream, graph_side),
                      "joining");
    tn_with_stream(graph_side) graph_add_one(graph_memory);
    conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION,
               "the end with a stream that was %s", i
               ? "joined, and got work after it" : "not joined");
    conform_is(tn_graph_replay(graph), TN_INVALID_ARGUMENT, "a replay");
    tn_graph_release(graph);
    graph_is(graph_memory, (float)i, "nothing of it ran");
    tn_with_stream(graph_side) graph_add_one(graph_memory);
    graph_is(graph_memory, (float)i + 1, "the other stream is usable");
  }
}

static void run_two_devices(void)
{
  tn_device second = conform_second();
  tn_stream *elsewhere = conform_stream_new(second, 0);
  graph_begin();
  tn_graph *graph = graph_capturing(graph_stream);
  graph_add_one(graph_memory);
  conform_is(tn_stream_wait_stream(elsewhere, graph_stream),
             TN_CAPTURE_VIOLATION, "a stream of another device");
  conform_error_has("one device", "the reason");
  conform_is(tn_graph_end(graph), TN_CAPTURE_VIOLATION, "the end");
  tn_graph_release(graph);
  graph_is(graph_memory, 0, "nothing of it ran");
  conform_ok(tn_synchronize(second), "the other device");
}

#define G (CONFORM_GRAPH_BIT | CONFORM_LAUNCH_BIT)
static const conform_test tests[] = {
  { "G2", "refusals", CONFORM_GRAPHS, G, false,
    "what a capture cannot hold is refused, and all stays usable",
    run_refusals },
  { "G2", "beside", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "what does not belong to it goes on", run_beside },
  { "G2", "outside", CONFORM_GRAPHS,
    G | CONFORM_STREAM_BIT | CONFORM_EVENT_BIT, false,
    "work outside is not waited for", run_outside },
  { "G2", "events", CONFORM_GRAPHS, G | CONFORM_EVENT_BIT, false,
    "events of a capture are its own", run_events },
  { "G2", "modes", CONFORM_GRAPHS, G, false,
    "what other threads may do depends on the mode", run_modes },
  { "G2", "making", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "they go on while a graph is made", run_making },
  { "G3", "fork", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT | CONFORM_EVENT_BIT,
    false, "capture spreads to streams that wait, and they rejoin",
    run_fork },
  { "G3", "diamond", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "branches run after what they were forked from, before the join",
    run_diamond },
  { "G3", "unjoined", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "streams that were not joined are refused", run_unjoined },
  { "G3", "two_devices", CONFORM_GRAPHS, G | CONFORM_TWO_BIT, false,
    "and streams of another device", run_two_devices },
};
CONFORM_SECTION(conform_captures, tests);
