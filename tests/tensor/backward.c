/* backward and grad_of: what comes to leaves, accumulation, graphs kept and
 * freed, what is refused (rules B1-B5, R31, R62). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

static tn_tensor *leaf(tn_shape shape, const float *values)
{
  return tn_requires_grad_(tn_from_data(values, shape, .device = device),
                           true);
}

static tn_tensor *leaf3(float a, float b, float c)
{
  return leaf(TN_SHAPE(3), (const float[]){ a, b, c });
}

/* The elements, as text. */
static const char *text_of(tn_tensor *t)
{
  static char lines[4][200];
  static unsigned turn;
  char *line = lines[turn++ % 4];
  float values[16];
  size_t used = 0;
  line[0] = '\0';
  if (!t) return "NULL";
  if (tn_numel(t) > 16 ||
      tn_read(t, values, (size_t)tn_numel(t) * sizeof *values) != TN_OK)
    return "unreadable";
  for (int64_t i = 0; i < tn_numel(t); i++)
    used += (size_t)snprintf(line + used, sizeof lines[0] - used, "%s%g",
                             i ? " " : "", (double)values[i]);
  return line;
}

static void refused(tn_status status, tn_status wanted, const char *part,
                    const char *text)
{
  tap_ok(status == wanted && tn_last_status() == wanted &&
         strstr(tn_error_message(), part), "%s: %s", text,
         tn_error_message());
  tn_clear_error();
}

/* ---- what comes to leaves ---- */

static void test_leaves(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul(x, x);
  tap_ok(tn_is_leaf(x) && tn_requires_grad(x) && !tn_grad_fn_name(x),
         "B2 a leaf");
  tap_ok(!tn_is_leaf(y) && tn_requires_grad(y), "B2 what is made of it");
  tap_is_text(tn_grad_fn_name(y), "mul", "B2 knows by what operation");
  tap_ok(!tn_grad(x), "B2 there is no gradient before");
  tap_ok(tn_backward(tn_sum(y)) == TN_OK, "B2 backward");
  tap_is_text(text_of(tn_grad(x)), "2 4 6", "B2 gives the gradient");
  tn_backward(tn_sum(tn_mul_scalar(x, 10)));
  tap_is_text(text_of(tn_grad(x)), "12 14 16", "B2 the next one adds to it");
  tn_set_grad(x, NULL);
  tap_ok(!tn_grad(x), "B2 set_grad takes it away");
  tn_tensor *constant = tn_ones(TN_SHAPE(3), .device = device);
  tn_backward(tn_sum(tn_mul(x, constant)));
  tap_ok(!tn_grad(constant) && strcmp(text_of(tn_grad(x)), "1 1 1") == 0,
         "B2 what requires none gets none");
  tap_ok(!tn_requires_grad(tn_grad(x)), "B2 a gradient requires none itself");
}

static void test_root_leaf(void)
{
  tn_tensor *x = leaf(TN_SCALAR, (const float[]){ 5 });
  tn_backward(x);
  tn_backward(x);
  tap_is_text(text_of(tn_grad(x)), "2", "B2 backward of a leaf itself");
}

/* One leaf on many ways. */
static void test_many_ways(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *sum = x;
  for (int i = 0; i < 40; i++) sum = tn_add(sum, tn_mul_scalar(x, i));
  tn_backward(tn_sum(sum));
  tap_is_text(text_of(tn_grad(x)), "781 781 781",
              "B3 gradients on many ways are summed");
  tn_tensor *y = x;
  tn_set_grad(x, NULL);
  for (int i = 0; i < 20; i++) y = tn_add(y, y);
  tn_backward(tn_sum(y));
  tap_is_text(text_of(tn_grad(x)), "1.04858e+06 1.04858e+06 1.04858e+06",
              "B3 each node runs once: 2^20 ways in 20 steps");
}

static void test_dtypes(void)
{
  tn_tensor *x = leaf3(1, 2, 3);
  tn_tensor *wide = tn_to(x, .dtype = TN_F64);
  if (!wide) {
    tap_skip("B3 the device has no f64");
    return;
  }
  tn_backward(tn_sum(tn_mul(wide, x)));
  tap_ok(tn_dtype_of(tn_grad(x)) == TN_F32, "B3 a gradient is of its dtype");
  tap_is_text(text_of(tn_grad(x)), "2 4 6", "B3 and right");
}

/* ---- R31 ---- */

static void broadcast(tn_shape a, tn_shape b, const char *wanted_a,
                      const char *wanted_b)
{
  float values[16];
  for (int i = 0; i < 16; i++) values[i] = (float)(i + 1);
  tn_tensor *x = leaf(a, values), *y = leaf(b, values);
  tn_backward(tn_sum(tn_mul(x, y)));
  tap_ok(tn_ndim(tn_grad(x)) == a.ndim && tn_ndim(tn_grad(y)) == b.ndim,
         "R31 gradients of broadcast operands have their shapes");
  tap_is_text(text_of(tn_grad(x)), wanted_a, "R31 and are summed");
  tap_is_text(text_of(tn_grad(y)), wanted_b, "R31 both");
}

static void test_broadcasts(void)
{
  broadcast(TN_SHAPE(4, 1), TN_SHAPE(1, 4), "10 10 10 10", "10 10 10 10");
  broadcast(TN_SHAPE(1), TN_SHAPE(3, 4), "78", "1 1 1 1 1 1 1 1 1 1 1 1");
  broadcast(TN_SCALAR, TN_SHAPE(3), "6", "1 1 1");
  broadcast(TN_SHAPE(2, 1, 2, 2), TN_SHAPE(2, 1, 2, 1),
            "1 1 2 2 3 3 4 4", "3 7 11 15");
}

static void test_relu(void)
{
  tn_tensor *x = leaf3(-1, 0, NAN), *y = tn_relu(x);
  tap_is_text(text_of(y), "0 0 nan", "R62 relu lets NaN through");
  tn_backward(tn_sum(y));
  float grad[3];
  tn_read(tn_grad(x), grad, sizeof grad);
  tap_ok(grad[0] == 0 && grad[1] == 0, "R62 its gradient at 0 is 0");
}

/* ---- graphs kept and freed ---- */

static void test_retain_graph(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *loss = tn_sum(tn_mul(x, x));
  tap_ok(tn_backward_with(loss, NULL, .retain_graph = true) == TN_OK,
         "B2 a graph can be kept");
  tap_ok(tn_backward(loss) == TN_OK, "B2 for a second pass");
  tap_is_text(text_of(tn_grad(x)), "4 8 12", "B2 which adds");
  refused(tn_backward(loss), TN_INVALID_ARGUMENT,
          "backward of mul: its saved tensors were freed",
          "B2 a third one is refused");
  tap_is_text(text_of(tn_grad(x)), "4 8 12", "B2 and changes nothing");
}

static void test_memory(void)
{
  size_t before = tn_memory_allocated(device);
  tn_with_scope {
    tn_tensor *x = tn_rand(TN_SHAPE(1000), .device = device,
                           .requires_grad = true);
    tn_tensor *loss = NULL;
    tn_with_scope {
      tn_tensor *y = x;
      for (int i = 0; i < 10; i++) y = tn_exp(tn_mul_scalar(y, 0.1));
      loss = tn_keep(tn_sum(y));
    }
    size_t kept = tn_memory_allocated(device);
    tap_ok(kept - before >= 10 * 4000, "B2 a graph keeps what it needs");
    tn_backward(loss);
    size_t after = tn_memory_allocated(device);
    tap_ok(after - before <= 3 * 4096 + 2048,
           "B2 a pass frees it: %zu bytes, %zu are left", kept - before,
           after - before);
  }
  tap_ok(tn_memory_allocated(device) == before, "B2 nothing is left over");
}

/* As the pass goes: the peak is not the sum of all gradients. */
static void test_peak(void)
{
  tn_with_scope {
    tn_tensor *x = tn_rand(TN_SHAPE(10000), .device = device,
                           .requires_grad = true);
    tn_tensor *loss = NULL;
    tn_with_scope {
      tn_tensor *y = x;
      for (int i = 0; i < 50; i++) y = tn_mul(y, y);
      loss = tn_keep(tn_sum(y));
    }
    size_t before = tn_memory_allocated(device);
    tn_reset_peak_memory_stats(device);
    tn_backward(loss);
    size_t peak = tn_max_memory_allocated(device) - before;
    tap_ok(peak < 8 * 40960, "B2 a pass needs little of its own: %zu bytes",
           peak);
  }
}

/* ---- deep graphs ---- */

static void test_deep(void)
{
  const char *name = getenv("TN_TEST_DEVICE");
  bool is_quick = (!name || strcmp(name, "cpu") == 0) &&
                  !getenv("TN_TEST_SMALL");
  int64_t depth = is_quick ? 1000000 : 300;
  tn_tensor *x = leaf(TN_SCALAR, (const float[]){ 1 }), *y = tn_retain(x);
  for (int64_t i = 0; i < depth && y; i++) {
    tn_tensor *next = NULL;
    tn_with_scope next = tn_keep(tn_add(y, x));
    tn_release(y);
    y = next;
  }
  tap_ok(y && tn_backward(y) == TN_OK,
         "B2 a graph of %lld operations in a row", (long long)depth);
  tap_ok(fabs(tn_item(tn_grad(x)) - (double)(depth + 1)) < 1,
         "B2 has the right gradient");
  tn_release(y);
  tn_release(x);
  tap_ok(true, "B2 and can be freed");
}

/* ---- grad_of ---- */

static void test_grad_of(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *w = leaf3(4, 5, 6);
  tn_tensor *y = tn_mul(x, w), *z = tn_mul(y, y), *loss = tn_sum(z);
  tn_tensor *inputs[] = { y, x, y }, *grads[3];
  tap_ok(tn_grad_of(&loss, 1, inputs, 3, grads) == TN_OK, "B2 grad_of");
  tap_is_text(text_of(grads[0]), "8 20 36", "B2 of what is no leaf");
  tap_is_text(text_of(grads[1]), "32 100 216", "B2 and of a leaf");
  tap_is_text(text_of(grads[2]), "8 20 36", "B2 and twice of the same");
  tap_ok(!tn_grad(x) && !tn_grad(w), "B2 nothing is accumulated");
  tn_tensor *outputs[] = { tn_sum(x), tn_sum(w), x };
  tn_tensor *firsts[] = { NULL, NULL, tn_mul_scalar(tn_detach(w), 10) };
  tap_ok(tn_grad_of(outputs, 3, inputs + 1, 1, grads,
                    .grad_outputs = firsts) == TN_OK, "B2 of several outputs");
  tap_is_text(text_of(grads[0]), "41 51 61", "B2 is the sum over them");
}

static void test_grad_of_refusals(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *other = leaf3(1, 1, 1);
  tn_tensor *plain = tn_ones(TN_SHAPE(3), .device = device);
  tn_tensor *loss = tn_sum(tn_mul(x, x)), *grads[2] = { x, x };
  refused(tn_grad_of(&loss, 1, ((tn_tensor *[]){ x, other }), 2, grads,
                     .retain_graph = true),
          TN_INVALID_ARGUMENT, "input 1 has no influence",
          "B2 an input without influence");
  tap_ok(!grads[0] && !grads[1], "B2 gives no gradients at all");
  tap_ok(tn_grad_of(&loss, 1, ((tn_tensor *[]){ x, other }), 2, grads,
                    .allow_unused = true) == TN_OK &&
         grads[0] && !grads[1], "B2 unless that is allowed");
  refused(tn_grad_of(&loss, 1, &plain, 1, grads), TN_INVALID_ARGUMENT,
          "input 0 requires no gradient", "B2 an input without a gradient");
  refused(tn_grad_of(&plain, 1, &x, 1, grads), TN_INVALID_ARGUMENT,
          "requires no gradient", "B2 an output without one");
  refused(tn_grad_of(&loss, 0, &x, 1, grads), TN_INVALID_ARGUMENT,
          "0 outputs", "B2 no outputs");
}

/* Only what leads to the inputs is computed. */
static void test_grad_of_prunes(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *w = leaf3(1, 2, 3);
  tn_tensor *spoilt = tn_mul_scalar(w, 2), *used = tn_mul(spoilt, spoilt);
  tn_tensor *loss = tn_sum(tn_add(tn_mul_scalar(x, 3), used)), *grad;
  tn_mul_scalar_(spoilt, 2);
  tap_ok(tn_grad_of(&loss, 1, &x, 1, &grad, .retain_graph = true) == TN_OK,
         "B2 grad_of leaves out what does not lead to its inputs");
  tap_is_text(text_of(grad), "3 3 3", "B2 and is right");
  refused(tn_grad_of(&loss, 1, &w, 1, &grad), TN_MODIFIED_IN_PLACE,
          "backward of mul", "B4 which else would fail");
}

/* What no wanted gradient needs may change. */
static void test_keeps_no_more(void)
{
  tn_tensor *w = tn_full(TN_SHAPE(2, 2), 2, .requires_grad = true);
  tn_tensor *x = tn_ones(TN_SHAPE(2, 2));
  tn_tensor *y = tn_add(tn_matmul(x, w), tn_linear(x, w, NULL));
  tn_no_grad tn_zero_(w);
  tap_ok(tn_backward(tn_sum(y)) == TN_OK, "B4 a factor whose partner needs no "
         "gradient may change");
  tap_is_text(text_of(tn_grad(w)), "4 4 4 4", "B4 the gradient is right");
  y = tn_matmul(x, w);
  tn_zero_(x);
  refused(tn_backward(tn_sum(y)), TN_MODIFIED_IN_PLACE, "backward of matmul",
          "B4 the one that is needed may not");
  tn_tensor *index = tn_zeros(TN_SHAPE(2, 2), .dtype = TN_I64);
  y = tn_scatter_add(w, 0, index, x);
  tn_add_scalar_(index, 1);
  tap_ok(tn_backward(tn_sum(y)) == TN_OK, "B4 nor are indices kept that only "
         "the values' gradient needs");
}

static void test_twice(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_sum(tn_mul(tn_mul(x, x), x)), *g;
  for (int i = 0; i < 3; i++) {
    tap_ok(y && tn_grad_of(&y, 1, &x, 1, &g, .create_graph = true) == TN_OK,
           "B5 derivative %d of x^3", i + 1);
    y = tn_sum(g);
  }
  tap_is_text(text_of(g), "6 6 6", "B5 is right");
  tn_set_grad(x, NULL);
  y = tn_sum(tn_mul(x, x));
  tap_ok(tn_backward_with(y, NULL, .create_graph = true) == TN_OK &&
         tn_requires_grad(tn_grad(x)),
         "B5 with create_graph gradients can be differentiated");
  tn_set_grad(x, NULL);
}

/* ---- keeping gradients ---- */

static void test_retain_grad(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul_scalar(x, 2);
  tn_tensor *loss = tn_sum(tn_mul(y, y));
  tap_ok(tn_retain_grad(y) == TN_OK && !tn_grad(y), "B2 retain_grad");
  tn_backward(loss);
  tap_is_text(text_of(tn_grad(y)), "4 8 12",
              "B2 keeps the gradient of what is no leaf");
  tap_is_text(text_of(tn_grad(x)), "8 16 24", "B2 and changes no other");
  tn_tensor *z = tn_mul_scalar(x, 1);
  tn_retain_grad(z);
  tn_add_scalar_(z, 1);
  tn_backward(tn_sum(tn_mul(z, z)));
  tap_is_text(text_of(tn_grad(z)), "4 6 8",
              "B4 of a tensor changed in place: of what it is now");
  refused(tn_retain_grad(tn_detach(y)), TN_INVALID_ARGUMENT,
          "requires no gradient", "B2 where there is a gradient");
}

static void test_set_grad(void)
{
  tn_tensor *x = leaf3(1, 2, 3);
  tn_tensor *ones = tn_ones(TN_SHAPE(3), .device = device);
  tap_ok(tn_set_grad(x, ones) == TN_OK && tn_grad(x) == ones,
         "B2 set_grad");
  tn_backward(tn_sum(x));
  tap_is_text(text_of(ones), "2 2 2", "B2 backward adds to it in place");
  refused(tn_set_grad(x, tn_ones(TN_SHAPE(2), .device = device)),
          TN_SHAPE_MISMATCH, "[2]", "B2 another shape");
  refused(tn_set_grad(x, tn_zeros(TN_SHAPE(3), .device = device,
                                  .dtype = TN_I64)),
          TN_DTYPE_MISMATCH, "i64", "B2 another dtype");
}

/* ---- modes, refusals ---- */

static void test_modes(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = NULL;
  tap_ok(tn_is_grad_enabled(), "B2 gradients are on");
  tn_no_grad {
    y = tn_mul(x, x);
    tap_ok(!tn_is_grad_enabled() && !tn_requires_grad(y),
           "B2 under no_grad nothing is remembered");
    tn_enable_grad tap_ok(tn_requires_grad(tn_mul(x, x)),
                          "B2 under enable_grad it is");
    tap_ok(!tn_is_grad_enabled(), "B2 the outer mode comes back");
  }
  tap_ok(tn_is_grad_enabled(), "B2 as it was");
  tap_ok(!tn_requires_grad(tn_detach(x)), "B2 detach requires none");
  tap_ok(!tn_requires_grad_(tn_mul(x, x), false) &&
         tn_last_status() == TN_INVALID_ARGUMENT,
         "B2 only leaves can be told not to: %s", tn_error_message());
  tn_clear_error();
  tap_ok(!tn_requires_grad_(tn_zeros(TN_SHAPE(1), .device = device,
                                     .dtype = TN_I32), true) &&
         tn_last_status() == TN_DTYPE_MISMATCH,
         "B2 integers have no gradients: %s", tn_error_message());
  tn_clear_error();
  tn_requires_grad_(x, false);
  tap_ok(!tn_requires_grad(tn_mul(x, x)), "B2 a leaf can be told not to");
}

static void test_refusals(void)
{
  tn_tensor *x = leaf3(1, 2, 3), *y = tn_mul(x, x);
  tn_tensor *constant = tn_ones(TN_SCALAR, .device = device);
  refused(tn_backward(y), TN_SHAPE_MISMATCH, "shape [3]",
          "B2 more than one element needs a gradient");
  refused(tn_backward_with(y, constant), TN_SHAPE_MISMATCH, "shape []",
          "B2 of the same shape");
  refused(tn_backward(constant), TN_INVALID_ARGUMENT, "requires no gradient",
          "B2 where nothing requires one");
  refused(tn_backward(NULL), TN_INVALID_ARGUMENT, "NULL", "B2 NULL");
  refused(tn_backward(tn_sum(tn_add(x, tn_ones(TN_SHAPE(2),
                                               .device = device)))),
          TN_SHAPE_MISMATCH, "add", "B2 NULL of a failed operation keeps its "
          "error");
  tap_ok(tn_backward(tn_sum(y)) == TN_OK &&
         strcmp(text_of(tn_grad(x)), "2 4 6") == 0,
         "B2 after all that the graph is as good as new");
}

/* A pass that fails in the middle. */
static void test_failure(void)
{
  size_t before = tn_memory_allocated(device);
  tn_with_scope {
    tn_tensor *x = leaf3(1, 2, 3), *w = leaf3(1, 1, 1);
    tn_tensor *spoilt = tn_mul_scalar(x, 2), *y = tn_mul(spoilt, spoilt);
    tn_tensor *loss = tn_sum(tn_mul(y, w));
    tn_add_scalar_(spoilt, 1);
    refused(tn_backward(loss), TN_MODIFIED_IN_PLACE, "backward of mul",
            "B4 a saved value that was changed");
    tap_ok(tn_is_grad_enabled() && !tn_grad(x),
           "B4 fails, and leaves the thread as it was");
    tap_ok(tn_backward(tn_sum(tn_mul(x, x))) == TN_OK &&
           strcmp(text_of(tn_grad(x)), "2 4 6") == 0,
           "B4 other graphs go on");
  }
  tap_ok(tn_memory_allocated(device) == before, "B4 nothing is left over");
}

/* Threads with graphs of their own. */
static void *work(void *argument)
{
  int *good = argument;
  for (int i = 0; i < 20; i++) tn_with_scope {
    tn_tensor *x = leaf3(1, 2, 3);
    tn_backward(tn_sum(tn_mul(tn_exp(x), x)));
    float grad[3];
    if (tn_grad(x) && tn_read(tn_grad(x), grad, sizeof grad) == TN_OK &&
        fabsf(grad[0] - 2 * expf(1)) < 1e-4f)
      ++*good;
  }
  return NULL;
}

static void test_threads(void)
{
  pthread_t threads[4];
  int good[4] = { 0 };
  for (int i = 0; i < 4; i++)
    pthread_create(&threads[i], NULL, work, &good[i]);
  for (int i = 0; i < 4; i++) pthread_join(threads[i], NULL);
  tap_is_int(good[0] + good[1] + good[2] + good[3], 80,
             "B2 threads go back through their graphs at the same time");
}

int main(void)
{
  device = test_device();
  tn_with_scope test_leaves();
  tn_with_scope test_root_leaf();
  tn_with_scope test_many_ways();
  tn_with_scope test_dtypes();
  tn_with_scope test_broadcasts();
  tn_with_scope test_relu();
  tn_with_scope test_retain_graph();
  test_memory();
  test_peak();
  test_deep();
  tn_with_scope test_grad_of();
  tn_with_scope test_grad_of_refusals();
  tn_with_scope test_grad_of_prunes();
  tn_with_scope test_keeps_no_more();
  tn_with_scope test_twice();
  tn_with_scope test_retain_grad();
  tn_with_scope test_set_grad();
  tn_with_scope test_modes();
  tn_with_scope test_refusals();
  test_failure();
  test_threads();
  return tap_done();
}
