/* Rules B1 to B3: each formula runs on the stream of its operation, and a pass
 * is ordered like any other call of the caller's stream. */
#include "config.h"

#include <math.h>

#include "conformance/values.h"

enum { N = 1000 };

static tn_stream *ambient, *first, *second;

/* All that is queued is done: what comes next begins from there. */
static void settle(void)
{
  conform_ok(tn_synchronize(conform_device), "synchronising");
}

/* The caller's stream is one of its own; kernels are there. */
static void begin(void)
{
  ambient = conform_stream_new(conform_device, 0);
  first = conform_stream_new(conform_device, 0);
  second = conform_stream_new(conform_device, 0);
  tn_tensor *x = conform_leaf(N, 1);
  conform_ok(tn_backward_with(tn_mul(tn_mul_scalar(x, 3), x),
                              conform_filled(N, 1)), "a backward pass");
  conform_is_all(tn_grad(x), 6, "its gradient");
  settle();
}

/* y = x times 3, on the first stream. */
static tn_tensor *tripled(tn_tensor *x)
{
  tn_tensor *y = NULL;
  settle();
  tn_with_stream(first) y = tn_mul_scalar(x, 3);
  return conform_made(y, "a product on another stream");
}

/* ---- B1 ---- */

static tn_stream *seen;
static tn_device seen_device;

static tn_status double_it(tn_function_context *context,
                           tn_tensor *const *inputs, int n_inputs,
                           tn_tensor **outputs, int n_outputs)
{
  (void)context, (void)n_inputs, (void)n_outputs;
  outputs[0] = tn_mul_scalar(inputs[0], 2);
  return outputs[0] ? TN_OK : tn_last_status();
}

static tn_status double_back(tn_function_context *context,
                             tn_tensor *const *grads, int n_outputs,
                             tn_tensor **results, int n_inputs)
{
  (void)context, (void)n_outputs, (void)n_inputs;
  seen_device = tn_device_of_tensor(grads[0]);
  seen = tn_current_stream(seen_device);
  results[0] = tn_mul_scalar(grads[0], 2);
  return results[0] ? TN_OK : tn_last_status();
}

static const tn_function watched = { "watched", double_it, double_back,
                                     NULL };

static void run_current(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 1), *y = NULL, *grad = NULL;
    tn_tensor *ones = conform_filled(N, 1);
    for (int i = 0; i < 2; i++) {
      seen = NULL;
      settle();
      tn_with_stream(first) tn_function_apply(&watched, NULL, &x, 1, &y, 1);
      conform_ok(i ? tn_grad_of(&y, 1, &x, 1, &grad, .grad_outputs = &ones)
                   : tn_backward_with(y, ones), "a backward pass");
      conform_check(seen == first, "%s: the formula runs on its operation's "
                    "stream", i ? "grad_of" : "backward");
      conform_check(tn_current_stream(conform_device) == ambient,
                    "the caller's stream is current again");
    }
    conform_is_all(tn_grad(x), 2, "the gradient");
    conform_is_all(grad, 2, "the gradient that was returned");
  }
}

/* What is queued on a stream comes before the formulas there, and the
 * caller's stream comes after them. */
static void run_queued(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 1), *y = tripled(x);
    tn_tensor *ones = conform_filled(N, 1);
    settle();
    conform_gate gate = conform_gate_shut(first);
    conform_ok(tn_backward_with(y, ones), "a backward pass");
    conform_is(conform_poll(second, 5000), TN_OK, "a stream that has nothing "
               "to do with it");
    conform_linger();
    conform_is(tn_stream_query(first), TN_NOT_READY, "the formula's stream, "
               "behind a function that waits");
    conform_is(tn_stream_query(ambient), TN_NOT_READY, "the caller's stream, "
               "which waits for it");
    conform_gate_open(&gate);
    conform_is_all(tn_grad(x), 3, "the gradient");
  }
}

static void run_two_devices(void)
{
  tn_device other = conform_second();
  begin();
  tn_tensor *x = conform_leaf(N, 2), *y = NULL;
  tn_tensor *moved = tn_to(x, .device = other);
  conform_check(tn_requires_grad(conform_made(moved, "a copy")),
                "a copy on another device belongs to the graph");
  conform_ok(tn_function_apply(&watched, NULL, &moved, 1, &y, 1),
             "an operation on the other device");
  tn_tensor *z = tn_mul(tn_to(y, .device = conform_device), x);
  conform_ok(tn_backward_with(z, conform_filled(N, 1)), "a backward pass");
  conform_check(tn_device_equal(seen_device, other) &&
                    seen == tn_current_stream(other),
                "a formula runs on its operation's device");
  conform_is_on(tn_grad(x), conform_device, "the gradient");
  conform_is_all(tn_grad(x), 8, "through two devices and back");
}

/* ---- B2 ---- */

/* The gradient that the pass begins with is still to be computed. */
static void run_root(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 1), *y = tripled(x);
    tn_tensor *given = conform_filled(N, 7), *twos = conform_filled(N, 2);
    settle();
    conform_delay delay = conform_delay_begin(ambient);
    tn_copy_(given, twos);
    conform_ok(tn_backward_with(y, given), "a backward pass");
    conform_delay_end(&delay);
    conform_is_all(tn_grad(x), 6, "the gradient of one that is made just "
                   "before the pass");
  }
}

/* The caller uses gradients while the formulas' stream is still busy. */
static void run_usable(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 1), *y = tripled(x), *z = tripled(x);
    tn_tensor *twos = conform_filled(N, 2), *copy = conform_filled(N, 0);
    tn_tensor *other = conform_filled(N, 0), *grad = NULL;
    settle();
    conform_delay delay = conform_delay_begin(first);
    conform_ok(tn_backward_with(y, twos), "a backward pass");
    tn_copy_(copy, tn_grad(x));
    conform_ok(tn_grad_of(&z, 1, &x, 1, &grad, .grad_outputs = &twos),
               "a backward pass");
    tn_copy_(other, grad);
    conform_delay_end(&delay);
    conform_is_all(copy, 6, "a gradient, used at once on the caller's stream");
    conform_is_all(other, 6, "one that was returned, used at once");
  }
}

/* Nothing is done for the default stream, which other code uses. */
static void run_default(void)
{
  begin();
  tn_tensor *x = conform_leaf(N, 1), *y = tripled(x);
  tn_tensor *twos = conform_filled(N, 2), *copy = conform_filled(N, 0);
  settle();
  tn_with_stream(tn_default_stream(conform_device)) {
    conform_ok(tn_backward_with(y, twos), "a backward pass");
    tn_copy_(copy, tn_grad(x));
    conform_is_all(copy, 6, "a gradient, used on the default stream");
  }
}

/* What was saved comes from a stream that nobody waits for any more, and is
 * freed by the pass while it is still to be read. */
static void run_saved_memory(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 2), *y = NULL, *loss = NULL;
    tn_tensor *ones = conform_filled(N, 1), *spoiler[8];
    settle();
    tn_with_scope {
      tn_with_stream(second) y = tn_mul_scalar(tn_detach(x), 3);
      conform_ok(tn_stream_wait_stream(first, second), "a wait");
      tn_with_stream(first) {
        tn_record_stream(y, first);
        loss = tn_keep(tn_mul(x, y));
      }
    }
    settle();
    conform_delay delay = conform_delay_begin(first);
    conform_ok(tn_backward_with(loss, ones), "a backward pass");
    tn_with_stream(second)
      for (int i = 0; i < 8; i++) spoiler[i] = conform_filled(N, NAN);
    conform_ok(tn_stream_synchronize(second), "synchronising");
    conform_delay_end(&delay);
    conform_is_all(tn_grad(x), 6, "what a pass freed was used again before "
                   "the pass had read it");
    conform_made(spoiler[7], "memory");
  }
}

/* ---- B3 ---- */

static void run_sum(void)
{
  enum { WAYS = 10 };
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 1), *parts[WAYS], *sum = NULL;
    tn_tensor *ones = conform_filled(N, 1), *copy = conform_filled(N, 0);
    settle();
    for (int i = 0; i < WAYS; i++)
      tn_with_stream(i % 2 ? second : first)
        parts[i] = tn_mul_scalar(x, i % 2 ? 3 : 2);
    tn_stream_wait_stream(ambient, first);
    tn_stream_wait_stream(ambient, second);
    for (int i = 0; i < WAYS; i++)
      sum = sum ? tn_add(sum, parts[i]) : parts[i];
    settle();
    conform_delay one = conform_delay_begin(first);
    conform_delay two = conform_delay_begin(second);
    conform_ok(tn_backward_with(sum, ones), "a backward pass");
    tn_copy_(copy, tn_grad(x));
    conform_delay_end(&two);
    conform_delay_end(&one);
    conform_is_all(copy, 5 * WAYS / 2, "gradients from two streams");
  }
}

/* One stream's result is the other's operand. */
static void run_crossing(void)
{
  begin();
  tn_with_stream(ambient) {
    tn_tensor *x = conform_leaf(N, 2), *y = NULL, *z = NULL;
    tn_tensor *ones = conform_filled(N, 1), *copy = conform_filled(N, 0);
    settle();
    tn_with_stream(first) y = tn_mul(x, x);
    tn_stream_wait_stream(second, first);
    tn_with_stream(second) {
      tn_record_stream(y, second);
      z = tn_mul(tn_mul(y, y), x);
    }
    settle();
    conform_delay delay = conform_delay_begin(second);
    conform_ok(tn_backward_with(z, ones), "a backward pass");
    tn_copy_(copy, tn_grad(x));
    conform_delay_end(&delay);
    conform_is_all(copy, 80, "a gradient that goes from stream to stream");
  }
}

/* ---- programs of the seed ---- */

enum { LEAVES = 3, STREAMS = 3, STEPS = 24 };

/* Sums, differences and doublings of small whole numbers, which are exact in
 * any order; each on a stream that waits for those of its operands. */
static tn_tensor *build(tn_tensor *const *leaves, tn_stream *const *streams,
                        const uint32_t *choices)
{
  tn_tensor *made[LEAVES + STEPS];
  int where[LEAVES + STEPS];
  for (int i = 0; i < LEAVES; i++) made[i] = leaves[i], where[i] = -1;
  for (int i = LEAVES; i < LEAVES + STEPS; i++) {
    uint32_t c = choices[i - LEAVES];
    int own = (int)(c % STREAMS), a = i - 1 - (int)(c / 8 % 3);
    int b = (int)(c / 64 % (uint32_t)i);
    for (int k = 0; k < 2; k++) {
      int at = k ? b : a;
      if (!streams || where[at] < 0 || where[at] == own) continue;
      tn_stream_wait_stream(streams[own], streams[where[at]]);
    }
    tn_stream_guard guard = { 0 };
    if (streams) guard = tn_stream_push(streams[own]);
    made[i] = c >> 16 & 1 ? tn_sub(tn_mul_scalar(made[a], 2), made[b])
                          : tn_add(made[a], tn_mul_scalar(made[b], -1));
    tn_stream_pop(&guard);
    if (streams) {
      tn_record_stream(made[a], streams[own]);
      tn_record_stream(made[b], streams[own]);
    }
    where[i] = own;
  }
  int last = where[LEAVES + STEPS - 1];
  if (streams) tn_stream_wait_stream(ambient, streams[last]);
  return conform_made(made[LEAVES + STEPS - 1], "a random program");
}

static void try_program(tn_stream *const *streams)
{
  uint32_t choices[STEPS];
  tn_tensor *leaves[LEAVES], *wanted[LEAVES], *got[LEAVES], *y;
  tn_tensor *ones = conform_filled(N, 1);
  for (int i = 0; i < STEPS; i++) choices[i] = conform_random(1u << 20);
  for (int i = 0; i < LEAVES; i++) leaves[i] = conform_leaf(N, i + 1);
  y = build(leaves, NULL, choices);
  conform_ok(tn_grad_of(&y, 1, leaves, LEAVES, wanted, .grad_outputs = &ones,
                        .allow_unused = true), "on one stream");
  settle();
  y = build(leaves, streams, choices);
  conform_ok(tn_grad_of(&y, 1, leaves, LEAVES, got, .grad_outputs = &ones,
                        .allow_unused = true), "on several streams");
  for (int i = 0; i < LEAVES; i++)
    if (wanted[i] || got[i])
      conform_alike(got[i], wanted[i], "a random program on %d streams has "
                    "the gradients that it has on one: leaf %d", STREAMS, i);
  settle();
}

static void run_random(void)
{
  begin();
  tn_stream *streams[STREAMS];
  for (int i = 0; i < STREAMS; i++)
    streams[i] = conform_stream_new(conform_device, 0);
  for (int i = 0; i < 8; i++)
    tn_with_scope tn_with_stream(ambient) try_program(streams);
}

#define V (CONFORM_TENSOR_BIT | CONFORM_STREAM_BIT)
static const conform_test tests[] = {
  { "B1", "current", CONFORM_FULL, V, false,
    "the stream of an operation is current in its formula", run_current },
  { "B1", "queued", CONFORM_FULL, V, false,
    "formulas come behind what is queued there", run_queued },
  { "B1", "two_devices", CONFORM_FULL, V | CONFORM_TWO_BIT, false,
    "and run on their operations' devices", run_two_devices },
  { "B2", "root", CONFORM_FULL, V, false,
    "formulas wait for the gradient that the pass begins with", run_root },
  { "B2", "usable", CONFORM_FULL, V, false,
    "gradients can be used at once on the caller's stream", run_usable },
  { "B2", "default", CONFORM_FULL, V, false,
    "also where that is the default stream", run_default },
  { "B2", "saved_memory", CONFORM_FULL, V | CONFORM_MEMORY_BIT, false,
    "what a pass frees is not used again while it is read",
    run_saved_memory },
  { "B3", "sum", CONFORM_FULL, V, false,
    "gradients from two streams are summed", run_sum },
  { "B3", "crossing", CONFORM_FULL, V, false,
    "gradients that go to another stream are waited for", run_crossing },
  { "B3", "random", CONFORM_FULL, V, false,
    "random programs have the gradients that they have on one stream",
    run_random },
};
CONFORM_SECTION(conform_backward_streams, tests);
