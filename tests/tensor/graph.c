/* Graphs of tensor operations: their memory and their random numbers (rules
 * G4, G5; rows A201, A207, A217, A230 to A238, R28). */
#include "config.h"

#include "tests/test_device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define COUNT 10

static tn_device device;
static tn_stream *stream;

static bool is_same(tn_tensor *a, tn_tensor *b)
{
  float x[COUNT], y[COUNT];
  return a && b && tn_read(a, x, sizeof x) == TN_OK &&
         tn_read(b, y, sizeof y) == TN_OK && memcmp(x, y, sizeof x) == 0;
}

/* What tn_rand gives as the number-th draw after the seed. */
static tn_tensor *draw(uint64_t seed, int number)
{
  tn_tensor *t = NULL;
  tn_manual_seed(seed);
  for (int i = 0; i <= number; i++)
    t = tn_rand(TN_SHAPE(COUNT), .device = device);
  return t;
}

static void draw_one(void)
{
  tn_rand(TN_SHAPE(1), .device = device);
}

/* Work that does not depend on the current stream's former one. */
static void replay(tn_graph *graph)
{
  tn_graph_replay(graph);
  tn_synchronize(device);
}

static void test_sequence(void)
{
  tn_graph *graph = tn_graph_new();
  tn_with_scope {
    tn_tensor *first = NULL, *second = NULL;
    tn_manual_seed(1);
    tn_with_graph(graph, .stream = stream) {
      first = tn_rand(TN_SHAPE(COUNT), .device = device);
      second = tn_rand(TN_SHAPE(COUNT), .device = device);
    }
    tn_manual_seed(5);
    replay(graph);
    tn_tensor *kept = tn_clone(second);
    tn_tensor *eager = tn_rand(TN_SHAPE(COUNT), .device = device);
    replay(graph);
    tap_ok(is_same(kept, draw(5, 1)), "G5 A230 a replay draws as eager code");
    tap_ok(is_same(eager, draw(5, 2)), "G5 A230 which goes on behind it");
    tap_ok(is_same(first, draw(5, 3)) && is_same(second, draw(5, 4)),
           "G5 A230 as does the next replay");
  }
  tn_graph_release(graph);
}

static void test_seeds(void)
{
  static const uint64_t seeds[] = { 6, 128, 9999 };
  tn_graph *graph = tn_graph_new();
  tn_with_scope {
    tn_tensor *t = tn_empty(TN_SHAPE(COUNT), .device = device);
    tn_manual_seed(5);
    tn_with_graph(graph, .stream = stream) { tn_uniform_(t, 0, 1, NULL); }
    for (int i = 0; i < 3; i++) {
      tn_manual_seed(seeds[i]);
      replay(graph);
      tap_ok(is_same(t, draw(seeds[i], 0)) && !is_same(t, draw(5, 0)),
             "G5 R28 A231 seed %d takes effect at the replay", (int)seeds[i]);
    }
  }
  tn_graph_release(graph);
}

static void test_generators(void)
{
  tn_graph *graph = tn_graph_new();
  tn_generator *own = tn_generator_new(device);
  tn_with_scope {
    tn_tensor *a = tn_empty(TN_SHAPE(COUNT), .device = device);
    tn_tensor *b = tn_empty(TN_SHAPE(COUNT), .device = device);
    tn_with_graph(graph, .stream = stream) {
      tn_uniform_(a, 0, 1, NULL);
      tn_uniform_(b, 0, 1, own);
    }
    tn_manual_seed(3);
    tn_generator_seed(own, 4);
    uint64_t offset = 99;
    replay(graph);
    tn_generator_state(own, NULL, &offset);
    tap_is_int((long long)offset, (COUNT + 3) / 4,
               "G5 A233 each generator moves by what is drawn from it");
    tap_ok(is_same(a, draw(3, 0)) && is_same(b, draw(4, 0)),
           "G5 A233 and gives its own numbers");
    tn_graph_begin(graph, .stream = stream);
    tn_uniform_(b, 0, 1, own);
    tap_is_int(tn_generator_seed(own, 4), TN_OK, "G5 A235 the same seed");
    tap_is_int(tn_generator_seed(own, 5), TN_CAPTURE_VIOLATION,
               "G5 A235 another seed in a capture: %s", tn_error_message());
    tn_graph_end(graph);
  }
  tn_generator_release(own);
  tn_graph_release(graph);
}

/* Every way to draw, on memory that stays. */
typedef enum way {
  UNIFORM_, NORMAL_, RAND, RANDN, RAND_LIKE, RANDN_LIKE, DROPOUT, WAYS
} way;

static tn_tensor *drawn(way which, tn_tensor *t)
{
  switch (which) {
  case UNIFORM_: return tn_uniform_(t, -2, 3, NULL);
  case NORMAL_: return tn_normal_(t, 1, 0.5, NULL);
  case RAND: return tn_rand(TN_SHAPE(COUNT), .device = device);
  case RANDN: return tn_randn(TN_SHAPE(COUNT), .device = device);
  case RAND_LIKE: return tn_rand_like(t);
  case RANDN_LIKE: return tn_randn_like(t);
  default: return tn_dropout(t, 0.5, true);
  }
}

static void test_ways(void)
{
  static const char *const names[] = { "uniform_", "normal_", "rand", "randn",
                                       "rand_like", "randn_like", "dropout" };
  for (way which = 0; which < WAYS; which++) tn_with_scope {
    tn_graph *graph = tn_graph_new();
    tn_tensor *t = tn_ones(TN_SHAPE(COUNT), .device = device), *y = NULL;
    tn_tensor *own = tn_clone(t);
    tn_with_graph(graph, .stream = stream) { y = drawn(which, t); }
    tap_ok(y && (y != t || is_same(y, own)),
           "G5 A232 A202 %s: a capture draws nothing", names[which]);
    tn_manual_seed(11);
    draw_one();
    tn_tensor *wanted = drawn(which, own);
    tn_tensor *first = tn_clone(wanted), *second = drawn(which, own);
    tn_manual_seed(11);
    draw_one();
    replay(graph);
    bool is_right = is_same(y, first);
    replay(graph);
    tap_ok(is_right && is_same(y, second) && !is_same(first, second),
           "G5 A232 %s: replays after an eager draw", names[which]);
    tn_graph_release(graph);
  }
}

/* The backward pass, in a graph of its own, repeats the forward's choice. */
static void test_dropout(void)
{
  tn_graph *forward = tn_graph_new(), *backward = tn_graph_new();
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(COUNT), .device = device,
                           .requires_grad = true);
    tn_tensor *y = NULL, *grad = NULL;
    tn_tensor *ones = tn_ones(TN_SHAPE(COUNT), .device = device);
    tn_with_graph(forward, .stream = stream) { y = tn_dropout(x, 0.5, true); }
    tn_with_graph(backward, .stream = stream,
                  .pool = tn_graph_pool(forward)) {
      tn_grad_of(&y, 1, &x, 1, &grad, .grad_outputs = &ones);
    }
    tap_ok(y && grad, "G5 dropout is captured: %s", tn_error_message());
    for (int i = 0; i < 4; i++) {
      tn_manual_seed((uint64_t)i);
      replay(forward);
      replay(backward);
      tap_ok(is_same(y, grad), "G5 A236 replay %d: the same elements", i);
      tn_manual_seed((uint64_t)i);
      tap_ok(is_same(y, tn_dropout(ones, 0.5, true)), "G5 as eager code");
    }
  }
  tn_graph_release(forward);
  tn_graph_release(backward);
}

static void test_memory(void)
{
  tn_graph *graph = tn_graph_new();
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(1000), .device = device), *y = NULL;
    tn_with_graph(graph, .stream = stream) {
      y = x;
      for (int i = 0; i < 10; i++) y = tn_add_scalar(y, 1);
    }
    replay(graph);
    tap_ok(tn_item(tn_sum(y)) == 11000, "G1 A201 ten additions");
    tn_mul_scalar_(x, 2);
    tn_synchronize(device);
    replay(graph);
    tap_ok(tn_item(tn_sum(y)) == 12000, "G1 A224 of an input that changed");
    tn_graph_release(graph);
    tap_ok(tn_item(tn_sum(y)) == 12000,
           "G4 A210 an output outlives its graph");
  }
}

static void test_reading(void)
{
  tn_graph *graph = tn_graph_new();
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SCALAR, .device = device);
    tn_graph_begin(graph, .stream = stream);
    tn_item(x);
    tap_is_int(tn_last_status(), TN_CAPTURE_VIOLATION, "G2 A217 item: %s",
               tn_error_message());
    tap_is_int(tn_graph_end(graph), TN_CAPTURE_VIOLATION, "G2 A217 the end");
    tap_ok(tn_item(x) == 1, "G2 A217 and after it");
  }
  tn_graph_release(graph);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  stream = tn_stream_new(device, 0);
  test_sequence();
  test_seeds();
  test_generators();
  test_ways();
  test_dropout();
  test_memory();
  test_reading();
  tn_stream_release(stream);
  return tap_done();
}
