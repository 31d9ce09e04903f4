/* Rule G5: random numbers in graphs. */
#include "config.h"

#include "conformance/graphs.h"
#include "conformance/values.h"

enum { DRAWN = 10 };

/* The number-th draw after the seed, without a graph. */
static tn_tensor *drawn(uint64_t seed, int number)
{
  tn_tensor *t = NULL;
  tn_manual_seed(seed);
  for (int i = 0; i <= number; i++) t = tn_rand(TN_SHAPE(DRAWN));
  return conform_made(t, "random numbers");
}

static void replay(tn_graph *graph)
{
  conform_ok(tn_graph_replay(graph), "a replay");
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

static void run_sequence(void)
{
  graph_begin();
  drawn(1, 0);
  tn_graph *graph = graph_new();
  tn_tensor *first = NULL, *second = NULL;
  tn_with_graph(graph, .stream = graph_stream) {
    first = tn_rand(TN_SHAPE(DRAWN));
    second = tn_rand(TN_SHAPE(DRAWN));
  }
  tn_manual_seed(5);
  replay(graph);
  tn_tensor *kept = tn_clone(second), *eager = tn_rand(TN_SHAPE(DRAWN));
  replay(graph);
  conform_alike(kept, drawn(5, 1), "a replay draws what eager code draws");
  conform_alike(eager, drawn(5, 2), "which goes on behind it");
  conform_alike(first, drawn(5, 3), "as does the next replay");
  conform_alike(second, drawn(5, 4), "to its end");
  tn_graph_release(graph);
}

/* Several replays that are queued at once draw numbers of their own. */
static void run_queued(void)
{
  enum { REPLAYS = 5 };
  graph_begin();
  drawn(1, 0);
  tn_graph *graph = graph_new();
  tn_tensor *t = tn_empty(TN_SHAPE(DRAWN)), *kept[REPLAYS];
  tn_with_graph(graph, .stream = graph_stream) tn_uniform_(t, 0, 1, NULL);
  for (int i = 0; i < REPLAYS; i++) kept[i] = tn_zeros_like(t);
  replay(graph);
  tn_manual_seed(8);
  conform_delay delay = conform_delay_begin(graph_stream);
  tn_with_stream(graph_stream)
    for (int i = 0; i < REPLAYS; i++) {
      conform_ok(tn_graph_replay(graph), "a replay");
      tn_copy_(kept[i], t);
    }
  conform_delay_end(&delay);
  conform_ok(tn_synchronize(conform_device), "synchronising");
  for (int i = 0; i < REPLAYS; i++)
    conform_alike(kept[i], drawn(8, i), "replay %d of several that were "
                  "queued at once", i);
  tn_graph_release(graph);
}

static void run_seeds(void)
{
  static const uint64_t seeds[] = { 6, 128, 9999, 1ull << 60 };
  graph_begin();
  drawn(1, 0);
  tn_graph *graph = graph_new();
  tn_tensor *t = tn_empty(TN_SHAPE(DRAWN));
  tn_manual_seed(5);
  tn_with_graph(graph, .stream = graph_stream) tn_uniform_(t, 0, 1, NULL);
  for (int i = 0; i < 4; i++) {
    tn_manual_seed(seeds[i]);
    replay(graph);
    conform_alike(t, drawn(seeds[i], 0), "a seed that is set between replays");
  }
  tn_graph_release(graph);
}

static void run_generators(void)
{
  graph_begin();
  tn_graph *graph = graph_new();
  tn_generator *own = tn_generator_new(conform_device);
  tn_tensor *a = tn_empty(TN_SHAPE(DRAWN)), *b = tn_empty(TN_SHAPE(DRAWN));
  uint64_t offset = 99;
  drawn(1, 0);
  tn_with_graph(graph, .stream = graph_stream) {
    tn_uniform_(a, 0, 1, NULL);
    tn_uniform_(b, 0, 1, own);
  }
  tn_manual_seed(3);
  conform_ok(tn_generator_seed(own, 4), "a seed");
  replay(graph);
  conform_ok(tn_generator_state(own, NULL, &offset), "a state");
  conform_check(offset == (DRAWN + 3) / 4, "a generator moves by what is "
                "drawn from it: by %d", (int)offset);
  conform_alike(a, drawn(3, 0), "one generator's numbers");
  conform_alike(b, drawn(4, 0), "the other generator's");
  conform_ok(tn_graph_begin(graph, .stream = graph_stream), "beginning");
  tn_uniform_(b, 0, 1, own);
  conform_ok(tn_generator_seed(own, 4), "the same seed in a capture");
  conform_is(tn_generator_seed(own, 5), TN_CAPTURE_VIOLATION,
             "another seed in a capture");
  tn_graph_end(graph);
  tn_generator_release(own);
  tn_graph_release(graph);
}

/* A backward pass in a graph of its own drops what the forward pass did. */
static void run_dropout(void)
{
  graph_begin();
  tn_graph *forward = graph_new(), *backward = graph_new();
  tn_tensor *x = conform_leaf(DRAWN, 1), *y = NULL, *grad = NULL;
  tn_tensor *ones = conform_filled(DRAWN, 1);
  tn_dropout(ones, 0.5, true);
  conform_ok(tn_synchronize(conform_device), "synchronising");
  tn_with_graph(forward, .stream = graph_stream)
    y = tn_dropout(x, 0.5, true);
  tn_with_graph(backward, .stream = graph_stream,
                .pool = tn_graph_pool(forward))
    tn_grad_of(&y, 1, &x, 1, &grad, .grad_outputs = &ones);
  conform_made(grad, "a captured backward pass");
  for (int i = 0; i < 4; i++) {
    tn_manual_seed((uint64_t)i);
    replay(forward);
    replay(backward);
    conform_alike(grad, tn_detach(y), "the backward pass, seed %d", i);
    tn_manual_seed((uint64_t)i);
    conform_alike(tn_detach(y), tn_dropout(ones, 0.5, true),
                  "eager code, seed %d", i);
  }
  tn_graph_release(backward);
  tn_graph_release(forward);
}

#define G (CONFORM_GRAPH_BIT | CONFORM_TENSOR_BIT)
static const conform_test tests[] = {
  { "G5", "sequence", CONFORM_GRAPHS, G, false,
    "each replay draws anew, as eager code would", run_sequence },
  { "G5", "queued", CONFORM_GRAPHS, G | CONFORM_STREAM_BIT, false,
    "also of several that are queued", run_queued },
  { "G5", "seeds", CONFORM_GRAPHS, G, false,
    "seeds take effect between replays", run_seeds },
  { "G5", "generators", CONFORM_GRAPHS, G, false,
    "each generator has its own numbers", run_generators },
  { "G5", "dropout", CONFORM_GRAPHS, G, false,
    "a backward pass repeats the forward pass's choice", run_dropout },
};
CONFORM_SECTION(conform_graph_random, tests);
