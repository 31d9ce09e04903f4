/* Rules G1 and G6: replays are queued like other work, in order with it and
 * with each other; what is replayed is what would have run. */
#include "config.h"

#include <stdlib.h>

#include "conformance/graphs.h"

/* Work before a replay comes before it, and work after it after all of it. */
static void run_ordered(void)
{
  graph_begin();
  float *kept = graph_floats();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream)
    for (int i = 0; i < 50; i++) graph_add_one(graph_memory);
  tn_stream *streams[] = { graph_stream, graph_side,
                           tn_default_stream(conform_device) };
  for (int i = 0; i < 3; i++) {
    conform_delay delay = { { NULL } };
    if (i < 2) delay = conform_delay_begin(streams[i]);
    tn_with_stream(streams[i]) {
      conform_ok(conform_set(graph_memory, (float)(1000 * i), GRAPH_COUNT),
                 "a launch");
      conform_ok(tn_graph_replay(graph), "a replay");
      tn_copy(kept, conform_device, graph_memory, conform_device,
              GRAPH_COUNT * 4, true);
      conform_ok(conform_set(graph_memory, -1, GRAPH_COUNT), "a launch");
    }
    conform_linger();
    conform_delay_end(&delay);
    graph_is(kept, (float)(1000 * i + 50), "on %s a replay follows what was "
             "queued before, and is over before what comes next",
             i == 0 ? "the stream" : i == 1 ? "another stream"
                                            : "the default stream");
    graph_is(graph_memory, -1, "what comes next");
  }
  tn_graph_release(graph);
}

/* Nothing of a replay waits for other streams, nor they for it. */
static void run_free(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) graph_add_one(graph_memory);
  conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 1, "a replay");
  conform_gate gate = conform_gate_shut(graph_side);
  tn_with_stream(graph_stream) conform_ok(tn_graph_replay(graph), "a replay");
  conform_is(conform_poll(graph_stream, 5000), TN_OK, "a replay beside a "
             "stream that waits");
  conform_is(tn_stream_query(graph_side), TN_NOT_READY, "that stream");
  conform_gate_open(&gate);
  graph_is(graph_memory, 2, "two replays");
  tn_graph_release(graph);
}

/* Replays of one graph come one after the other, whatever their streams. */
static void run_in_turn(void)
{
  enum { REPLAYS = 12 };
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream)
    for (int i = 0; i < 20; i++) graph_add_one(graph_memory);
  tn_stream *streams[] = { graph_stream, graph_side,
                           conform_stream_new(conform_device, 0) };
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  conform_delay delay = conform_delay_begin(graph_stream);
  for (int i = 0; i < REPLAYS; i++)
    tn_with_stream(streams[i % 3])
      conform_ok(tn_graph_replay(graph), "a replay");
  if (delay.gate.semaphore) {
    conform_linger();
    conform_is(tn_stream_query(streams[1]), TN_NOT_READY, "a replay behind "
               "one that waits on another stream");
  }
  conform_delay_end(&delay);
  graph_is(graph_memory, 20 * (REPLAYS + 1), "replays of one graph on three "
           "streams");
  tn_graph_release(graph);
}

/* Two graphs with pools of their own, side by side. */
static void run_beside(void)
{
  graph_begin();
  tn_stream *streams[] = { graph_stream, graph_side };
  float *totals[] = { graph_memory, graph_floats() };
  tn_graph *graphs[] = { graph_new(), graph_new() };
  for (int k = 0; k < 2; k++)
    tn_with_graph(graphs[k], .stream = streams[k]) {
      void *inside = conform_memory_new(conform_device, GRAPH_COUNT * 4);
      for (int i = 0; i <= k; i++) {
        tn_copy(inside, conform_device, totals[k], conform_device,
                GRAPH_COUNT * 4, true);
        graph_add_one(inside);
        tn_copy(totals[k], conform_device, inside, conform_device,
                GRAPH_COUNT * 4, true);
      }
      tn_free(inside);
    }
  for (int i = 0; i < 10; i++)
    for (int k = 0; k < 2; k++)
      tn_with_stream(streams[k])
        conform_ok(tn_graph_replay(graphs[k]), "a replay");
  graph_is(totals[0], 10, "one graph's");
  graph_is(totals[1], 20, "the other graph's");
  for (int k = 0; k < 2; k++) tn_graph_release(graphs[k]);
}

/* Replays that are queued run to their end, though the graph has gone; behind
 * work that keeps them waiting, for which a release may wait. */
static void run_released(void)
{
  enum { MANY = 1 << 20, TIMES = 20 };
  graph_begin();
  float *large = (float *)(void *)conform_memory_new(conform_device,
                                                     MANY * 4);
  float *kept = graph_floats();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream)
    for (int i = 0; i < 100; i++) graph_add_one(graph_memory);
  tn_with_stream(graph_stream) {
    for (int i = 0; i < TIMES; i++)
      conform_ok(conform_set(large, (float)i, MANY), "a launch");
    for (int i = 0; i < 3; i++)
      conform_ok(tn_graph_replay(graph), "a replay");
    tn_copy(kept, conform_device, graph_memory, conform_device,
            GRAPH_COUNT * 4, true);
  }
  tn_graph_release(graph);
  graph_is(kept, 300, "three replays of a graph that was released at once");
}

static void run_large(void)
{
  enum { NODES = 3000 };
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream)
    for (int i = 0; i < NODES; i++) graph_add_one(graph_memory);
  for (int i = 0; i < 2; i++) conform_ok(tn_graph_replay(graph), "a replay");
  graph_is(graph_memory, 2 * NODES, "two replays of %d nodes", NODES);
  tn_graph_release(graph);
}

static void run_empty(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  tn_with_graph(graph, .stream = graph_stream) {}
  conform_check(tn_graph_node_count(graph) == 0, "it has no nodes");
  for (int i = 0; i < 3; i++) conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  tn_graph_release(graph);
}

/* ---- G6 ---- */

/* Steps that depend on their order: additions, copies and fills among a few
 * pieces of memory, on streams that wait for those before. */
enum { STREAMS = 3, PIECES = 4, STEPS = 40 };

typedef struct program {
  tn_stream *streams[STREAMS];
  float *pieces[PIECES];
  uint32_t choices[STEPS];
} program;

static void queue_step(const program *p, uint32_t c, int *last)
{
  int at = (int)(c % STREAMS);
  float *from = p->pieces[c / 4 % PIECES], *to = p->pieces[c / 16 % PIECES];
  size_t size = GRAPH_COUNT * 4;
  if (*last != at)
    conform_ok(tn_stream_wait_stream(p->streams[at], p->streams[*last]),
               "a wait");
  *last = at;
  tn_with_stream(p->streams[at]) {
    if (c / 64 % 4 == 0)
      conform_ok(tn_fill_bytes(to, conform_device, 0, size), "a fill");
    else if (c / 64 % 4 == 1 && from != to)
      conform_ok(tn_copy(to, conform_device, from, conform_device, size,
                         true), "a copy");
    else graph_add_one(to);
  }
}

static void queue_all(const program *p)
{
  int last = 0;
  for (int i = 0; i < STEPS; i++) queue_step(p, p->choices[i], &last);
  if (last != 0)
    conform_ok(tn_stream_wait_stream(p->streams[0], p->streams[last]),
               "joining");
  for (int i = 1; i < STREAMS; i++)
    if (i != last)
      conform_ok(tn_stream_wait_stream(p->streams[0], p->streams[i]),
                 "joining");
}

static void fetch_all(const program *p, float (*values)[GRAPH_COUNT])
{
  conform_ok(tn_synchronize(conform_device), "synchronising");
  for (int i = 0; i < PIECES; i++)
    conform_fetch(conform_device, values[i], p->pieces[i],
                  GRAPH_COUNT * sizeof(float));
}

static void clear_all(const program *p)
{
  for (int i = 0; i < PIECES; i++)
    conform_ok(tn_fill_bytes(p->pieces[i], conform_device, 0,
                             GRAPH_COUNT * 4), "a fill");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

static void try_program(program *p)
{
  static float wanted[PIECES][GRAPH_COUNT], got[PIECES][GRAPH_COUNT];
  tn_graph *graph = graph_new();
  for (int i = 0; i < STEPS; i++) p->choices[i] = conform_random(1u << 20);
  clear_all(p);
  for (int i = 0; i < 3; i++) queue_all(p);
  fetch_all(p, wanted);
  clear_all(p);
  tn_with_graph(graph, .stream = p->streams[0]) queue_all(p);
  fetch_all(p, got);
  for (int i = 0; i < PIECES; i++)
    conform_check(got[i][0] == 0, "nothing of the capture ran");
  for (int i = 0; i < 3; i++) conform_ok(tn_graph_replay(graph), "a replay");
  fetch_all(p, got);
  for (int k = 0; k < PIECES; k++)
    for (int i = 0; i < GRAPH_COUNT; i++)
      conform_check(got[k][i] == wanted[k][i], "a random program of %d steps "
                    "on %d streams, replayed three times: element %d of piece "
                    "%d is %g in place of %g", STEPS, STREAMS, i, k,
                    (double)got[k][i], (double)wanted[k][i]);
  tn_graph_release(graph);
}

static void run_random(void)
{
  static program p;
  graph_begin();
  p.streams[0] = graph_stream;
  for (int i = 1; i < STREAMS; i++)
    p.streams[i] = conform_stream_new(conform_device, 0);
  for (int i = 0; i < PIECES; i++) p.pieces[i] = graph_floats();
  for (int i = 0; i < 10; i++) try_program(&p);
}

#define G (CONFORM_GRAPH_BIT | CONFORM_LAUNCH_BIT)
static const conform_test tests[] = {
  { "G1", "ordered", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "replays are ordered like other work of the stream", run_ordered },
  { "G1", "free", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "and wait for no other", run_free },
  { "G1", "in_turn", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "replays of one graph come one after the other", run_in_turn },
  { "G1", "beside", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "those of two run side by side", run_beside },
  { "G1", "released", CONFORM_GRAPHS, G | CONFORM_MEMORY_BIT, false,
    "queued replays outlive their graph", run_released },
  { "G1", "large", CONFORM_GRAPHS, G, false,
    "graphs have as many nodes as they like", run_large },
  { "G1", "empty", CONFORM_GRAPHS, G, false,
    "or none", run_empty },
  { "G6", "random", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "random programs do when replayed what they do", run_random },
};
CONFORM_SECTION(conform_replays, tests);
