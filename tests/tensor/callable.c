/* Graphed callables (rules C1 to C3; rows A250 to A258, R53). */
#include "config.h"

#include "tests/test_device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define ROWS 4
#define WIDTH 6

static tn_device device;

static bool is_same(tn_tensor *a, tn_tensor *b)
{
  float x[64], y[64];
  size_t size = a ? (size_t)tn_numel(a) * sizeof *x : 0;
  return a && b && tn_numel(a) == tn_numel(b) && size <= sizeof x &&
         tn_read(a, x, size) == TN_OK && tn_read(b, y, size) == TN_OK &&
         memcmp(x, y, size) == 0;
}

static tn_tensor *draw(bool requires_grad)
{
  return tn_randn(TN_SHAPE(ROWS, WIDTH), .device = device,
                  .requires_grad = requires_grad);
}

static tn_nn_module *make_model(double p)
{
  tn_nn_module *model = tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(WIDTH, 5, true), tn_nn_dropout(p),
      tn_nn_layer_norm(TN_SHAPE(5), 1e-5, true),
      tn_nn_linear(5, 3, false)));
  return model ? tn_nn_to(model, .device = device) : NULL;
}

/* One step: the loss's gradients in the parameters and in x. */
static tn_tensor *step(const tn_callable *callable, tn_tensor *x)
{
  tn_tensor *y = tn_callable_call(callable, &x, 1);
  return tn_backward(tn_sum(tn_softmax(y, 1))) == TN_OK ? y : NULL;
}

static void keep_grads(tn_nn_module *model, tn_tensor **grads)
{
  for (int i = 0; i < tn_nn_parameter_count(model); i++) {
    tn_tensor *grad = tn_grad(tn_nn_parameter_at(model, i));
    grads[i] = grad ? tn_clone(grad) : NULL;
  }
  tn_nn_zero_grad(model);
}

static void compare(tn_nn_module *model, const tn_callable *graphed,
                    const tn_callable *eager, uint64_t seed)
{
  tn_tensor *wanted[8], *got[8];
  int count = tn_nn_parameter_count(model);
  tn_with_scope {
    tn_manual_seed(seed);
    tn_tensor *x = draw(true), *z = tn_requires_grad_(tn_detach(tn_clone(x)),
                                                      true);
    tn_tensor *y = step(eager, x);
    keep_grads(model, wanted);
    tn_manual_seed(seed);
    draw(false);
    tn_tensor *from_graph = step(graphed, z);
    keep_grads(model, got);
    tap_ok(is_same(y, from_graph), "C1 A251 seed %d: the same output",
           (int)seed);
    bool is_equal = is_same(tn_grad(x), tn_grad(z));
    for (int i = 0; i < count; i++)
      if (!is_same(wanted[i], got[i])) is_equal = false;
    tap_ok(is_equal, "C1 A251 and gradients");
  }
}

static void test_module(double p)
{
  tn_nn_module *model = make_model(p);
  tn_callable eager = tn_nn_callable(model), graphed = { 0 };
  tn_with_scope {
    tn_tensor *sample = draw(true);
    tap_is_int(tn_make_graphed_callables(&eager, 1, &sample, 1, &graphed),
               TN_OK, "C1 a module is graphed: %s", tn_error_message());
    for (uint64_t seed = 1; seed <= 3; seed++)
      compare(model, &graphed, &eager, seed);
    tn_nn_eval(model);
    tn_tensor *x = draw(false), *first = tn_callable_call(&graphed, &x, 1);
    tn_tensor *second = tn_callable_call(&graphed, &x, 1);
    tap_ok(is_same(first, second) &&
               tn_data_ptr(first) != tn_data_ptr(second),
           "C3 A252 in evaluation the module itself runs");
  }
  tn_callable_release(&graphed);
  tn_callable_release(&eager);
  tn_nn_module_release(model);
}

static tn_tensor *soften(void *self, tn_tensor **inputs, int n)
{
  (void)self;
  (void)n;
  return tn_softmax(inputs[0], 1);
}

static void test_overwriting(void)
{
  tn_callable eager = { soften, NULL, NULL }, graphed = { 0 };
  tn_with_scope {
    tn_tensor *sample = draw(true), *x = draw(true), *z = draw(true);
    tn_make_graphed_callables(&eager, 1, &sample, 1, &graphed);
    tn_tensor *first = tn_callable_call(&graphed, &x, 1);
    tn_tensor *weights = draw(false), *grad, *kept;
    tn_grad_of(&first, 1, &x, 1, &grad, .grad_outputs = &weights);
    kept = tn_clone(grad);
    tn_tensor *second = tn_callable_call(&graphed, &z, 1), *other;
    tn_grad_of(&second, 1, &z, 1, &other, .grad_outputs = &weights);
    tap_ok(tn_data_ptr(first) == tn_data_ptr(second),
           "C2 A255 the output is overwritten by the next call");
    tap_ok(is_same(grad, kept) && !is_same(grad, other),
           "C2 gradients are not");
    tn_tensor *in_place = tn_callable_call(&graphed, &sample, 1);
    tap_ok(is_same(in_place, tn_softmax(sample, 1)),
           "C2 A255 the sample itself is not copied");
  }
  tn_callable_release(&graphed);
}

static void test_without_gradient(void)
{
  tn_callable eager = { soften, NULL, NULL }, graphed = { 0 };
  tn_with_scope {
    tn_tensor *sample = draw(false), *x = draw(false);
    tap_is_int(tn_make_graphed_callables(&eager, 1, &sample, 1, &graphed),
               TN_OK, "C1 A253 R53 nothing to train: %s",
               tn_error_message());
    tn_tensor *y = tn_callable_call(&graphed, &x, 1);
    tap_ok(is_same(y, tn_softmax(x, 1)) && !tn_requires_grad(y),
           "C1 A253 the forward pass alone");
    x = draw(true);
    tap_ok(!tn_callable_call(&graphed, &x, 1) &&
               tn_last_status() == TN_INVALID_ARGUMENT,
           "C3 an input that needs a gradient now: %s", tn_error_message());
  }
  tn_callable_release(&graphed);
}

static tn_tensor *use_first(void *self, tn_tensor **inputs, int n)
{
  return soften(self, inputs, n);
}

static void test_refusals(void)
{
  tn_callable eager = { use_first, NULL, NULL }, graphed = { 0 };
  tn_with_scope {
    tn_tensor *samples[] = { draw(true), draw(true) };
    tap_is_int(tn_make_graphed_callables(&eager, 1, samples, 2, &graphed),
               TN_INVALID_ARGUMENT, "C3 A257 an unused input: %s",
               tn_error_message());
    tap_ok(!graphed.call, "C3 there is no replacement then");
    tap_is_int(tn_make_graphed_callables(&eager, 1, samples, 2, &graphed,
                                         .allow_unused_input = true),
               TN_OK, "C3 A257 unless it is allowed");
    tn_tensor *y = tn_callable_call(&graphed, samples, 2), *grads[2];
    tn_tensor *loss = tn_sum(y);
    tap_ok(tn_grad_of(&loss, 1, samples, 2, grads, .allow_unused = true) ==
                   TN_OK && grads[0] && !grads[1],
           "C3 A257 it gets no gradient");
    y = tn_callable_call(&graphed, samples, 2);
    loss = tn_sum(y);
    tap_is_int(tn_grad_of(&loss, 1, samples, 1, grads, .create_graph = true),
               TN_UNSUPPORTED, "C3 A258 B5 no second derivative: %s",
               tn_error_message());
    tap_ok(!tn_callable_call(&graphed, samples, 1), "C3 too few inputs: %s",
           tn_error_message());
    tn_tensor *wrong[] = { tn_zeros(TN_SHAPE(2, 2), .device = device),
                           samples[1] };
    tap_ok(!tn_callable_call(&graphed, wrong, 2) &&
               tn_last_status() == TN_SHAPE_MISMATCH, "C3 a shape: %s",
           tn_error_message());
    tn_callable nothing = { 0 };
    tap_ok(!tn_callable_call(&nothing, samples, 1), "C3 nothing: %s",
           tn_error_message());
  }
  tn_callable_release(&graphed);
}

static void test_several(void)
{
  tn_callable eager[2] = { { soften, NULL, NULL }, { soften, NULL, NULL } };
  tn_callable graphed[2];
  tn_with_scope {
    tn_tensor *samples[] = { draw(true), draw(true) };
    tap_is_int(tn_make_graphed_callables(eager, 2, samples, 1, graphed),
               TN_OK, "C1 A250 two at once: %s", tn_error_message());
    tn_tensor *x = draw(true), *z = tn_requires_grad_(tn_detach(tn_clone(x)),
                                                      true);
    tn_tensor *weights = draw(false), *wanted, *got;
    tn_tensor *middle = tn_callable_call(&graphed[0], &x, 1);
    tn_tensor *y = tn_callable_call(&graphed[1], &middle, 1);
    tn_tensor *control = tn_softmax(tn_softmax(z, 1), 1);
    tap_ok(is_same(y, control), "C1 A250 one after the other");
    tn_grad_of(&y, 1, &x, 1, &got, .grad_outputs = &weights);
    tn_grad_of(&control, 1, &z, 1, &wanted, .grad_outputs = &weights);
    tap_ok(is_same(got, wanted), "C1 A250 and backward through both");
  }
  tn_callable_release(&graphed[0]);
  tn_callable_release(&graphed[1]);
}

/* Three calls, of three layers, whose graphs share a pool. */
static void test_same_pool(void)
{
  tn_nn_module *layers[3];
  tn_callable eager[3], graphed[3] = { { 0 } };
  tn_mem_pool *pool = tn_mem_pool_new(device);
  tn_with_scope {
    tn_tensor *x = draw(true), *got[7], *wanted[7];
    void *places[6];
    bool is_made = true, is_equal = true, is_apart = true;
    for (int i = 0; i < 3; i++) {
      layers[i] = tn_nn_linear(WIDTH, WIDTH, true, .device = device);
      eager[i] = tn_nn_callable(layers[i]);
      tn_tensor *sample = draw(true);
      is_made &= tn_make_graphed_callables(&eager[i], 1, &sample, 1,
                                           &graphed[i], .pool = pool) ==
                 TN_OK;
    }
    tap_ok(is_made, "C1 A254 three callables in one pool");
    for (int turn = 0; turn < 2; turn++) {
      const tn_callable *of = turn ? graphed : eager;
      tn_tensor **into = turn ? got : wanted, *y = x;
      for (int i = 0; i < 3; i++) y = tn_callable_call(&of[i], &y, 1);
      into[6] = tn_clone(y);
      tn_backward(tn_sum(tn_mul(y, y)));
      for (int i = 0; i < 6; i++)
        places[i] = tn_data_ptr(tn_grad(tn_nn_parameter_at(layers[i / 2],
                                                           i % 2)));
      for (int i = 0; i < 3; i++) keep_grads(layers[i], into + 2 * i);
    }
    for (int i = 0; i < 7; i++) is_equal &= is_same(got[i], wanted[i]);
    tap_ok(is_equal, "C1 A254 values and gradients as without graphs");
    for (int i = 0; i < 6; i++)
      for (int k = 0; k < i; k++)
        is_apart &= places[i] != places[k];
    tap_ok(is_apart, "C1 A254 no two gradients lie in one place");
  }
  for (int i = 0; i < 3; i++) {
    tn_callable_release(&graphed[i]);
    tn_callable_release(&eager[i]);
    tn_nn_module_release(layers[i]);
  }
  tn_mem_pool_release(pool);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  size_t before = tn_memory_allocated(device);
  test_module(0);
  test_module(0.5);
  test_overwriting();
  test_without_gradient();
  test_refusals();
  test_several();
  test_same_pool();
  tn_synchronize(device);
  tap_is_int((long long)tn_memory_allocated(device), (long long)before,
             "G4 all memory is given back");
  return tap_done();
}
