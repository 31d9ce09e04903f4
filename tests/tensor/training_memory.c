/* What a training run leaves behind: nothing, on the device, of pinned memory
 * and on the host (rules M1, G4, C1). */
#include "config.h"

#include "tests/test_device.h"

#include <malloc.h>

#include "tests/tap.h"

#define ROWS 8
#define WIDTH 12
#define CLASSES 5

/* SMALLEST: of malloc's pieces, in bytes. */
enum { WARM = 20, STEPS = 20, SMALLEST = 32 };

static tn_device device;

typedef struct trainer {
  tn_nn_module *model;
  tn_optim *optim;
  tn_tensor *x, *target; /* referenced; x in pinned memory */
} trainer;

static trainer begin(void)
{
  trainer of = { 0 };
  tn_manual_seed(11);
  of.model = tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(WIDTH, 16, true), tn_nn_function("gelu", tn_gelu),
      tn_nn_layer_norm(TN_SHAPE(16), 1e-5, true), tn_nn_dropout(0.25),
      tn_nn_linear(16, CLASSES, true)));
  of.optim = tn_optim_adamw(TN_NN_PARAMETERS(of.model), 0.01);
  tn_with_scope {
    tn_tensor *x = tn_randn(TN_SHAPE(ROWS, WIDTH),
                            .device = tn_device_of("cpu"));
    of.x = tn_retain(tn_pin_memory(x));
  }
  of.target = tn_zeros(TN_SHAPE(ROWS), .dtype = TN_I64);
  tn_synchronize(device); /* other streams use them */
  return of;
}

static void end(trainer *of)
{
  tn_release(of->x);
  tn_release(of->target);
  tn_optim_release(of->optim);
  tn_nn_module_release(of->model);
}

static tn_status step_on(trainer *of, tn_tensor *x)
{
  tn_tensor *scores = tn_nn_forward(of->model, x);
  tn_status status = tn_backward(tn_cross_entropy(scores, of->target));
  return status == TN_OK ? tn_optim_step(of->optim) : status;
}

static tn_status step(trainer *of)
{
  tn_status status = TN_OK;
  tn_with_scope {
    tn_optim_zero_grad(of->optim);
    status = step_on(of, tn_to(of->x, device));
  }
  return status;
}

static size_t pinned(bool reserved)
{
  tn_memory_stats stats = { 0 };
  tn_host_memory_get_stats(&stats);
  return reserved ? stats.reserved.all.current : stats.allocated.all.current;
}

/* Nothing is held, and nothing stays once the caches are emptied. */
static void check_nothing(const char *what)
{
  tap_is_int(tn_synchronize(device), TN_OK, "%s: done", what);
  tap_is_int((long long)tn_memory_allocated(device), 0,
             "M1 %s: no memory of the device is held", what);
  tap_is_int((long long)pinned(false), 0, "M1 %s: nor pinned memory",
             what);
  tn_empty_cache(device);
  tn_empty_host_cache();
  tn_memory_stats stats = { 0 };
  tn_memory_get_stats(device, &stats);
  tap_is_int((long long)stats.reserved.all.current, 0,
             "M1 %s: none is reserved after tn_empty_cache", what);
  tap_is_int((long long)stats.num_device_alloc,
             (long long)stats.num_device_free,
             "M1 %s: each of %lld segments was given back", what,
             (long long)stats.num_device_alloc);
  tap_is_int((long long)pinned(true), 0, "M1 %s: no pinned memory either",
             what);
}

static void test_eager(void)
{
  trainer of = begin();
  bool is_good = true;
  for (int i = 0; i < WARM; i++) is_good &= step(&of) == TN_OK;
  tap_ok(is_good && tn_memory_allocated(device) > 0, "eager: %d steps: %s",
         WARM, tn_error_message());
  end(&of);
  check_nothing("eager");
}

static void test_stream(void)
{
  trainer of = begin();
  tn_stream *stream = tn_stream_new(device, 0);
  bool is_good = true;
  tn_with_stream(stream)
    for (int i = 0; i < WARM; i++) is_good &= step(&of) == TN_OK;
  tap_ok(is_good, "a stream: %d steps: %s", WARM, tn_error_message());
  end(&of);
  tn_stream_release(stream);
  check_nothing("a stream");
}

/* Steps over gradients that stay, as a graph. */
static void test_graph(void)
{
  trainer of = begin();
  tn_stream *stream = tn_stream_new(device, 0);
  tn_graph *graph = tn_graph_new();
  tn_tensor *x = tn_to(of.x, device);
  tn_status status = TN_OK;
  tn_with_scope status = step_on(&of, x);
  tn_synchronize(device);
  tn_graph_begin(graph, .stream = stream);
  tn_with_scope if (status == TN_OK) status = step_on(&of, x);
  tap_ok(tn_graph_end(graph) == TN_OK && status == TN_OK,
         "G4 a graph: a step is captured: %s", tn_error_message());
  for (int i = 0; i < WARM; i++) tn_graph_replay(graph);
  tn_graph_release(graph);
  tn_stream_release(stream);
  tn_release(x);
  end(&of);
  check_nothing("a graph");
}

static void test_callable(void)
{
  trainer of = begin();
  tn_callable eager = tn_nn_callable(of.model), graphed = { 0 };
  tn_tensor *x = tn_to(of.x, device);
  bool is_good = tn_make_graphed_callables(&eager, 1, &x, 1, &graphed) ==
                 TN_OK;
  for (int i = 0; i < WARM && is_good; i++)
    tn_with_scope {
      tn_optim_zero_grad(of.optim);
      tn_tensor *scores = tn_callable_call(&graphed, &x, 1);
      is_good = tn_backward(tn_cross_entropy(scores, of.target)) == TN_OK &&
                tn_optim_step(of.optim) == TN_OK;
    }
  tap_ok(is_good, "C1 a callable: %d steps: %s", WARM, tn_error_message());
  tn_callable_release(&graphed);
  tn_callable_release(&eager);
  tn_release(x);
  end(&of);
  check_nothing("a callable");
}

/* The least that the host's heap grew by in one of three rounds of steps: a
 * step's leak is in each of them, what others keep once is not. -1: this malloc
 * does not say. */
static long long heap_growth(trainer *of)
{
  long long least = -1;
  for (int round = 0; round < 3; round++) {
    long long before = (long long)mallinfo2().uordblks;
    for (int i = 0; i < STEPS; i++) step(of);
    tn_synchronize(device);
    long long growth = (long long)mallinfo2().uordblks - before;
    if (before == 0) return -1;
    if (growth < 0) growth = 0;
    if (least < 0 || growth < least) least = growth;
  }
  return least;
}

static void test_heap(void)
{
  trainer of = begin();
  for (int i = 0; i < WARM; i++) step(&of);
  tn_synchronize(device);
  size_t held = tn_memory_allocated(device);
  long long growth = heap_growth(&of);
  tap_is_int((long long)tn_memory_allocated(device), (long long)held,
             "M1 more steps hold no more of the device");
  if (growth >= 0)
    tap_ok(growth * 2 < (long long)STEPS * SMALLEST,
           "M1 nor of the host's heap: %lld bytes in %d steps", growth, STEPS);
  else
    tap_skip("this malloc does not say what is used");
  end(&of);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  test_eager();
  test_stream();
  test_graph();
  test_callable();
  test_heap();
  check_nothing("all of it");
  return tap_done();
}
