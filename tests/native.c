/* C functions as kernels, on cpu. */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static struct {
  void *p, *q;
  int32_t i;
  int64_t l;
  float f;
  double d;
  int calls;
} seen;

static void take_all(void *p, void *q, int32_t i, int64_t l, float f,
                     double d)
{
  seen.p = p, seen.q = q, seen.i = i, seen.l = l, seen.f = f, seen.d = d;
  seen.calls++;
}

static void (*as_any(void (*function)(void *, void *, int32_t, int64_t,
                                      float, double)))(void)
{
  return (void (*)(void))function;
}

static void take_nothing(void) { seen.calls++; }

static double give_double(void) { return ++seen.calls; }

static void test_values(void)
{
  tn_kernel *kernel = tn_kernel_native(device, as_any(take_all),
                                       "v(ppilfd)");
  if (!tap_ok(kernel != NULL, "a C function")) {
    tap_note("%s", tn_error_message());
    return;
  }
  tap_is_text(tn_kernel_signature(kernel), "v(ppilfd)", "its signature");
  int x, y;
  tap_is_int(tn_launch(kernel, 1000,
                       TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&y),
                               TN_ARG_I32(-7), TN_ARG_I64(INT64_MAX),
                               TN_ARG_F32(1.5f), TN_ARG_F64(-0.25))),
             TN_OK, "launched");
  tap_ok(seen.p == &x && seen.q == &y && seen.i == -7 &&
             seen.l == INT64_MAX && seen.f == 1.5f && seen.d == -0.25,
         "gets its arguments");
  tap_is_int(seen.calls, 1, "once, whatever the items");
  tap_is_int(tn_launch(kernel, 1,
                       TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&y),
                               TN_ARG_I64(-7), TN_ARG_I64(1),
                               TN_ARG_F32(1.5f), TN_ARG_F64(-0.25))),
             TN_INVALID_ARGUMENT, "a wrong argument is refused");
  tap_has(tn_error_message(), "argument 3", "by its number");
  tap_has(tn_error_message(), "TN_ARG_I32, not TN_ARG_I64", "and kinds");
  tap_is_int(tn_launch(kernel, 0,
                       TN_ARGS(TN_ARG_PTR(&x), TN_ARG_PTR(&y),
                               TN_ARG_I32(-7), TN_ARG_I64(1),
                               TN_ARG_F32(1.5f), TN_ARG_F64(-0.25))),
             TN_OK, "R21 0 items");
  tap_is_int(seen.calls, 1, "R21 call nothing");
  tn_kernel_release(kernel);
}

static void test_signatures(void)
{
  tn_kernel *nothing = tn_kernel_native(device, take_nothing, "v()");
  tn_kernel *result = tn_kernel_native(device, (void (*)(void))give_double,
                                       "d()");
  int before = seen.calls;
  tap_is_int(tn_launch(nothing, 1, NULL, 0), TN_OK, "no arguments");
  tap_is_int(tn_launch(result, 1, NULL, 0), TN_OK, "a result");
  tap_is_int(seen.calls, before + 2, "both were called");
  static const char *const bad[] = { "", "v", "v(", "v(x)", "(p)", "vv(p)",
                                     "v(p) ", "v(v)", "x(p)" };
  for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
    tap_ok(!tn_kernel_native(device, take_nothing, bad[i]) &&
               tn_last_status() == TN_INVALID_ARGUMENT,
           "\"%s\" is no signature", bad[i]);
  tap_ok(!tn_kernel_native(device, NULL, "v()"), "NULL is no function");
  tn_kernel_release(nothing);
  tn_kernel_release(result);
}

static int order[4], order_count;

static void note(void *unused, void *unused2, int32_t i, int64_t l, float f,
                 double d)
{
  (void)unused, (void)unused2, (void)l, (void)f, (void)d;
  order[order_count++] = i;
}

static tn_status launch_note(tn_kernel *kernel, int32_t i)
{
  return tn_launch(kernel, 1, TN_ARGS(TN_ARG_PTR(NULL), TN_ARG_PTR(NULL),
                                      TN_ARG_I32(i), TN_ARG_I64(0),
                                      TN_ARG_F32(0), TN_ARG_F64(0)));
}

static void test_streams(void)
{
  test_gate gate;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_kernel *kernel = tn_kernel_native(device, as_any(note), "v(ppilfd)");
  bool is_gated = test_gate_shut(&gate, stream);
  tap_ok(is_gated, "S1 a stream of cpu is asynchronous");
  tn_with_stream(stream) {
    launch_note(kernel, 1);
    launch_note(kernel, 2);
  }
  tap_is_int(order_count, 0, "S1 functions wait for their turn");
  tn_kernel_release(kernel);
  test_gate_open(&gate);
  tn_stream_synchronize(stream);
  tap_ok(order_count == 2 && order[0] == 1 && order[1] == 2,
         "S1 and are called in order, kernel or not");
}

int main(void)
{
  device = test_device();
  test_values();
  test_signatures();
  test_streams();
  return tap_done();
}
