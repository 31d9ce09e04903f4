/* Kernels on a device whose backend only holds and copies memory: the core
 * runs them on the cpu, over mirrors of whole blocks (X3). */
#include "config.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/tenon.h"
#include "tests/tap.h"

static const char source[] =
    "TN_KERNEL(axpy, TN_OUT(float, y), TN_IN(float, x), TN_VAL(float, a),\n"
    "          TN_VAL(int64, n))\n"
    "{ TN_PARALLEL_FOR(i, n) y[i] += a * x[i]; }\n"
    "TN_KERNEL(scale, TN_OUT(double, y), TN_IN(double, x), TN_VAL(int64, n))\n"
    "{ TN_PARALLEL_FOR(i, n) y[i] = x ? 3 * x[i] : 7; }\n";

/* A block that is copied long enough for another thread to come between. */
enum { COUNT = 1000, TURNS = 200, LARGE = 1 << 18 };

static const tn_device host = { 0, 0 };
static tn_device device;
static tn_kernel *axpy, *scale;

static tn_status run_axpy(float *y, const float *x, float a, int64_t n)
{
  return tn_launch(axpy, n, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                    TN_ARG_F32(a), TN_ARG_I64(n)));
}

/* A block that holds 0, 1, 2 ... */
static float *counting(void)
{
  float values[COUNT];
  for (int i = 0; i < COUNT; i++) values[i] = (float)i;
  float *block = tn_malloc(device, sizeof values);
  tap_is_int(tn_copy(block, device, values, host, sizeof values, false),
             TN_OK, "a block");
  return block;
}

/* Whether y[i] is `scale * i + offset` from `first` on, and i before. */
static bool holds(const float *block, int first, float factor, float offset)
{
  float got[COUNT];
  if (tn_copy(got, host, block, device, sizeof got, false) != TN_OK)
    return false;
  for (int i = 0; i < COUNT; i++)
    if (got[i] != (i < first ? (float)i : factor * (float)i + offset))
      return false;
  return true;
}

static void test_blocks(void)
{
  float *y = counting(), *x = counting();
  tap_is_int(run_axpy(y, x, 2, COUNT), TN_OK, "X3 a kernel is launched");
  tap_ok(holds(y, 0, 3, 0), "X3 and computes");
  tap_ok(holds(x, 0, 1, 0), "its input is as it was");
  tap_is_int(run_axpy(x + 500, x + 499, 1, COUNT - 500), TN_OK,
             "X3 two arguments in the middle of one block");
  float got[COUNT];
  tn_copy(got, host, x, device, sizeof got, false);
  tap_ok(got[499] == 499 && got[500] == 999, "share its mirror");
  tap_is_int(run_axpy(x, x, 1, 10), TN_OK, "X3 in place");
  tn_copy(got, host, x, device, sizeof got, false);
  tap_ok(got[9] == 18 && got[10] == 10, "only what is written changes");
  tap_is_int(tn_launch(scale, 8, TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(NULL),
                                         TN_ARG_I64(8))),
             TN_OK, "NULL is handed on");
  double sevens[8];
  tn_copy(sevens, host, y, device, sizeof sevens, false);
  tap_ok(sevens[7] == 7, "N5 and f64 works, whatever the backend says");
  tn_free(x);
  tn_free(y);
}

static void refused(void *y, const void *x, const char *what,
                    const char *argument, const char *reason)
{
  tap_is_int(run_axpy(y, x, 1, 4), TN_INVALID_ARGUMENT, "%s is refused",
             what);
  tap_has(tn_error_message(), argument, "by the argument's name");
  tap_has(tn_error_message(), reason, "with the reason");
}

static void test_refusals(void)
{
  static float on_host[4];
  float *y = counting();
  float *other = tn_malloc(tn_device_of("cpu:0"), 64);
  refused(on_host, y, "host memory", "argument \"y\"", "of template:0");
  refused(y, other, "memory of another device", "argument \"x\"",
          "memory of cpu:0");
  refused(y, (const void *)64, "no memory", "argument \"x\" is 0x40",
          "no memory of any device");
  tn_free(other);
  tn_free(y);
  tap_ok(!tn_module_load(device, "x", .language = "native"),
         "X3 a language of the backend's own is refused");
  tap_has(tn_error_message(), "backend \"template\" has no launch table",
          "by name");
}

static void test_facts(void)
{
  tn_device_info info;
  tap_is_int(tn_device_get_info(device, &info), TN_OK, "the device's facts");
  tap_ok(!info.has_launch && !info.has_stream, "X3 say what it lacks");
  tap_ok(!info.host_access && info.f64, "and what its kernels can");
  tn_module *module = tn_module_builtin(device, "elementwise");
  tap_ok(module != NULL, "X3 the library's own kernels are there");
  tap_ok(tn_module_builtin(device, "elementwise") == module, "once");
  tn_module_release(module);
  tn_module_release(module);
}

/* The two ends of one block, each with a stream and a thread of its own. */
static void *run_kernels(void *block)
{
  tn_status status = TN_OK;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_with_stream(stream)
    for (int i = 0; i < TURNS && status == TN_OK; i++)
      status = run_axpy(block, block, 1, COUNT);
  tn_stream_release(stream);
  return status == TN_OK ? block : NULL;
}

/* Each number is written once, so that none that is lost comes again. */
static void *count_up(void *end)
{
  tn_status status = TN_OK;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_with_stream(stream)
    for (int i = 0; i < COUNT && status == TN_OK; i++) {
      float value = (float)i;
      status = tn_copy((float *)end + i, device, &value, host, sizeof value,
                       false);
    }
  tn_stream_release(stream);
  return status == TN_OK ? end : NULL;
}

static void test_threads(void)
{
  float *block = tn_malloc(device, LARGE * sizeof *block);
  float *end = block + LARGE - COUNT;
  pthread_t threads[2];
  void *results[2];
  tn_fill_bytes(block, device, 0, LARGE * sizeof *block);
  pthread_create(&threads[0], NULL, run_kernels, block);
  pthread_create(&threads[1], NULL, count_up, end);
  for (int i = 0; i < 2; i++) pthread_join(threads[i], &results[i]);
  tap_ok(results[0] && results[1], "kernels at one end of a block, copies at "
         "the other");
  tap_ok(holds(end, 0, 1, 0), "X3 kernels lose nothing that is copied beside "
         "them");
  tn_free(block);
}

/* A graph whose memory was given back while it was captured, and was cut
 * anew since. */
static void test_graph(void)
{
  float *y = counting();
  tn_stream *stream = tn_stream_new(device, 0);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) {
    float *x = tn_malloc(device, 400000);
    tn_fill_bytes(x, device, 0, 400000);
    run_axpy(x + 90000, y, 2, COUNT);
    run_axpy(y, x + 90000, 1, COUNT);
    tn_free(x);
  }
  tap_ok(holds(y, 0, 1, 0), "G1 runs nothing");
  tap_is_int(tn_graph_replay(graph), TN_OK, "G1 a replay");
  tap_ok(holds(y, 0, 3, 0), "G1 computes");
  tap_is_int(tn_graph_replay(graph), TN_OK, "another");
  tap_ok(holds(y, 0, 9, 0), "computes on");
  tn_graph_release(graph);
  tn_stream_release(stream);
  tn_free(y);
}

int main(void)
{
  device = tn_device_of("template:0");
  tn_module *module = tn_module_load(device, source, .name = "mirrored");
  tap_ok(module != NULL, "X3 portable source for a backend that has no launch "
         "table");
  if (!module) {
    tap_note("%s", tn_error_message());
    return tap_done();
  }
  axpy = tn_kernel_get(module, "axpy");
  scale = tn_kernel_get(module, "scale");
  test_facts();
  test_blocks();
  test_refusals();
  test_threads();
  test_graph();
  tn_kernel_release(axpy);
  tn_kernel_release(scale);
  tn_module_release(module);
  return tap_done();
}
