/* Streams of backward passes: each formula on its operation's, ordered with
 * the caller's before and after (rules B1-B3, A270-A277, R65). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { N = 1000, WAYS = 5 };

static tn_device device;
static tn_stream *ambient, *first, *second;

static tn_tensor *filled(double value)
{
  return tn_full(TN_SHAPE(N), value, .device = device);
}

static tn_tensor *leaf(double value)
{
  return tn_requires_grad_(filled(value), true);
}

/* Whether all elements, as the current stream sees them, are `value`. */
static bool all_are(tn_tensor *t, double value)
{
  static float values[N];
  if (!t || tn_read(t, values, sizeof values) != TN_OK) return false;
  for (int i = 0; i < N; i++) {
    if ((double)values[i] == value) continue;
    tap_note("element %d is %g, not %g", i, (double)values[i], value);
    return false;
  }
  return true;
}

/* Keeps a stream busy; false where that cannot be, or where the caller's
 * stream runs each call at once and so would wait for ever. */
static bool is_inline;

static bool shut(test_gate *gate, tn_stream *stream)
{
  return !is_inline && test_gate_shut(gate, stream);
}

static void find_out(void)
{
  test_gate gate;
  is_inline = !test_gate_shut(&gate, ambient);
  if (!is_inline) test_gate_open(&gate);
}

/* All that is queued is done, so that what comes next begins from there. */
static void settle(void)
{
  tn_stream_synchronize(ambient);
  tn_stream_synchronize(first);
  tn_stream_synchronize(second);
}

/* ---- B1 ---- */

static tn_stream *seen;

static tn_status forward(tn_function_context *context,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **outputs, int n_outputs)
{
  (void)context;
  (void)n_inputs;
  (void)n_outputs;
  outputs[0] = tn_mul_scalar(inputs[0], 2);
  return outputs[0] ? TN_OK : tn_last_status();
}

static tn_status backward(tn_function_context *context,
                          tn_tensor *const *grads, int n_outputs,
                          tn_tensor **results, int n_inputs)
{
  (void)context;
  (void)n_outputs;
  (void)n_inputs;
  seen = tn_current_stream(device);
  results[0] = tn_mul_scalar(grads[0], 2);
  return results[0] ? TN_OK : tn_last_status();
}

static const tn_function watched = { "watched", forward, backward, NULL };

static void test_each_on_its_own(void)
{
  tn_tensor *x = leaf(1), *y = NULL;
  settle();
  tn_with_stream(first) tn_function_apply(&watched, NULL, &x, 1, &y, 1);
  tn_stream_wait_stream(ambient, first);
  tn_tensor *loss = tn_sum(y);
  seen = NULL;
  tap_ok(tn_backward(loss) == TN_OK && seen == first,
         "B1 A270 a formula runs on its operation's stream");
  tap_ok(tn_current_stream(device) == ambient,
         "B1 A270 the caller's current stream stays");
  tap_ok(all_are(tn_grad(x), 2), "B2 the gradient can be used there");
}

/* ---- B2 ---- */

/* The gradient that the pass begins with is still to be computed. */
static void test_root_gradient(void)
{
  test_gate gate;
  tn_tensor *x = leaf(1), *y = NULL, *given = filled(0), *ones = filled(1);
  settle();
  tn_with_stream(first) y = tn_mul_scalar(x, 3);
  if (!shut(&gate, ambient)) {
    settle(); /* what ran there read x, which ends now */
    tap_skip("B2 the stream cannot be kept busy");
    return;
  }
  tn_copy_(given, ones);
  tn_status status = tn_backward_with(y, given);
  test_gate_open(&gate);
  tap_ok(status == TN_OK && all_are(tn_grad(x), 3),
         "B2 A273 formulas wait for the gradient that the pass begins with");
}

/* The caller uses gradients while the formulas' stream is still busy. */
static void test_usable_at_once(void)
{
  test_gate gate;
  tn_tensor *x = leaf(1), *y = NULL, *copy = filled(0);
  settle();
  tn_with_stream(first) y = tn_mul_scalar(x, 3);
  if (!shut(&gate, first)) {
    settle(); /* what ran there read x, which ends now */
    tap_skip("B2 the stream cannot be kept busy");
    return;
  }
  tn_status status = tn_backward_with(y, filled(2));
  tn_tensor *grad = tn_grad(x), *other = NULL;
  if (grad) tn_copy_(copy, grad);
  tn_status status_of = tn_grad_of(&(tn_tensor *){ tn_mul_scalar(x, 1) }, 1,
                                   &x, 1, &other,
                                   .grad_outputs = &grad);
  test_gate_open(&gate);
  tap_ok(status == TN_OK && all_are(copy, 6),
         "B2 A271 R65 gradients are usable on the caller's stream at once");
  tap_ok(status_of == TN_OK && all_are(other, 6), "B2 returned ones alike");
}

static void test_returned(void)
{
  test_gate gate;
  tn_tensor *x = leaf(1), *y = NULL, *grad = NULL, *copy = filled(0);
  settle();
  tn_with_stream(first) y = tn_mul_scalar(x, 3);
  if (!shut(&gate, first)) {
    settle(); /* what ran there read x, which ends now */
    tap_skip("B2 the stream cannot be kept busy");
    return;
  }
  tn_tensor *given = filled(2);
  tn_status status = tn_grad_of(&y, 1, &x, 1, &grad, .grad_outputs = &given);
  if (grad) tn_copy_(copy, grad);
  test_gate_open(&gate);
  tap_ok(status == TN_OK && all_are(copy, 6),
         "B2 A272 returned gradients are usable at once");
}

/* ---- B3 ---- */

static void test_accumulation(void)
{
  test_gate gates[2];
  tn_tensor *x = leaf(1), *parts[2 * WAYS], *sum = NULL;
  settle();
  for (int i = 0; i < 2 * WAYS; i++)
    tn_with_stream(i % 2 ? second : first)
      parts[i] = tn_mul_scalar(x, i % 2 ? 3 : 2);
  tn_stream_wait_stream(ambient, first);
  tn_stream_wait_stream(ambient, second);
  for (int i = 0; i < 2 * WAYS; i++)
    sum = sum ? tn_add(sum, parts[i]) : parts[i];
  bool is_shut = shut(&gates[0], first);
  bool is_shut_too = shut(&gates[1], second);
  tn_status status = tn_backward_with(sum, filled(1));
  tn_tensor *copy = tn_grad(x) ? tn_mul_scalar(tn_grad(x), 1) : NULL;
  if (is_shut_too) test_gate_open(&gates[1]);
  if (is_shut) test_gate_open(&gates[0]);
  tap_ok(status == TN_OK && all_are(copy, 5 * WAYS),
         "B3 A272 gradients from two streams are summed");
}

/* One stream's result is the other's operand. */
static void test_crossing(void)
{
  test_gate gate;
  tn_tensor *x = leaf(2), *y = NULL, *z = NULL;
  settle();
  tn_with_stream(first) y = tn_mul(x, x);
  tn_stream_wait_stream(second, first);
  tn_with_stream(second) {
    tn_record_stream(y, second);
    z = tn_mul(tn_mul(y, y), x);
  }
  settle();
  bool is_shut = shut(&gate, second);
  tn_status status = tn_backward_with(z, filled(1));
  tn_tensor *copy = tn_grad(x) ? tn_mul_scalar(tn_grad(x), 1) : NULL;
  if (is_shut) test_gate_open(&gate);
  tap_ok(status == TN_OK && all_are(copy, 80),
         "B3 A277 gradients that go to another stream are waited for");
}

/* What was saved comes from a stream that nobody waits for. */
static void test_saved_memory(void)
{
  test_gate gate;
  tn_tensor *x = leaf(2), *y = NULL, *loss = NULL;
  settle();
  tn_with_scope {
    tn_with_stream(second) y = tn_mul_scalar(tn_detach(x), 3);
    tn_stream_wait_stream(first, second);
    tn_with_stream(first) {
      tn_record_stream(y, first);
      loss = tn_keep(tn_mul(x, y));
    }
  }
  settle();
  if (!shut(&gate, first)) {
    settle(); /* what ran there read x, which ends now */
    tap_skip("B2 the stream cannot be kept busy");
    return;
  }
  tn_status status = tn_backward_with(loss, filled(1));
  tn_tensor *spoiler[8];
  tn_with_stream(second)
    for (int i = 0; i < 8; i++) spoiler[i] = filled(NAN);
  tn_stream_synchronize(second);
  test_gate_open(&gate);
  tap_ok(status == TN_OK && spoiler[7] && all_are(tn_grad(x), 6),
         "B2 what a pass frees is not used again while it is read");
}

/* ---- several devices ---- */

static void test_two_devices(void)
{
  tn_device other = test_second_device();
  if (tn_device_equal(other, (tn_device){ 0, 0 })) {
    tap_skip("B1 there is one device");
    return;
  }
  tn_tensor *x = leaf(2), *moved = tn_to(x, .device = other);
  tap_ok(moved && tn_requires_grad(moved), "B1 to another device and back");
  tn_tensor *y = tn_mul(tn_to(tn_mul(moved, moved), .device = device), x);
  tap_ok(tn_backward_with(y, filled(1)) == TN_OK &&
         all_are(tn_grad(x), 12), "B1 gradients follow");
  tn_tensor *w = tn_requires_grad_(
    tn_full(TN_SCALAR, 3, .device = tn_device_of("cpu:0")), true);
  tn_set_grad(x, NULL);
  y = tn_mul(x, w);
  tap_ok(y && tn_backward_with(y, filled(1)) == TN_OK &&
         tn_device_equal(tn_device_of_tensor(tn_grad(w)),
                         tn_device_of("cpu:0")) &&
         tn_item(tn_grad(w)) == 2 * N,
         "B1 a 0-dimensional cpu tensor's gradient is on cpu");
}

static void run_all(void)
{
  find_out();
  tn_with_scope test_each_on_its_own();
  tn_with_scope test_root_gradient();
  tn_with_scope test_usable_at_once();
  tn_with_scope test_returned();
  tn_with_scope test_accumulation();
  tn_with_scope test_crossing();
  tn_with_scope test_saved_memory();
  tn_with_scope test_two_devices();
}

int main(void)
{
  device = test_device();
  first = tn_stream_new(device, 0);
  second = tn_stream_new(device, 0);
  tap_note("the caller's stream is the default one");
  ambient = tn_default_stream(device);
  run_all();
  tap_note("the caller's stream is another one");
  ambient = tn_stream_new(device, 0);
  tn_with_stream(ambient) run_all();
  tn_stream_release(first);
  tn_stream_release(second);
  tn_stream_release(ambient);
  return tap_done();
}
