/* Rules C1 to C3: functions and modules whose work, forward and backward, is
 * replayed. */
#include "config.h"

#include "conformance/values.h"

enum { ROWS = 4, WIDTH = 6, PARAMETERS = 8 };

static tn_tensor *draw(bool requires_grad)
{
  return conform_made(tn_randn(TN_SHAPE(ROWS, WIDTH),
                               .requires_grad = requires_grad),
                      "random numbers");
}

static tn_nn_module *model_new(void)
{
  tn_nn_module *model = tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(WIDTH, 5, true), tn_nn_dropout(0.5),
      tn_nn_layer_norm(TN_SHAPE(5), 1e-5, true), tn_nn_linear(5, 3, false)));
  conform_check(model != NULL, "a model");
  return model;
}

static tn_callable graphed_of(const tn_callable *eager, tn_tensor *sample)
{
  tn_callable graphed = { 0 };
  conform_ok(tn_make_graphed_callables(eager, 1, &sample, 1, &graphed),
             "a graphed callable");
  return graphed;
}

/* ---- C1 ---- */

static int calls;

static tn_tensor *soften(void *self, tn_tensor **inputs, int n)
{
  (void)self, (void)n;
  calls++;
  return tn_softmax(tn_mul_scalar(inputs[0], 3), 1);
}

static void run_warm(void)
{
  tn_callable eager = { soften, NULL, NULL };
  tn_tensor *sample = draw(true), *x = draw(true);
  tn_callable graphed = graphed_of(&eager, sample);
  conform_check(calls == 4, "%d calls for 3 to warm up and one to capture",
                calls);
  tn_tensor *y = tn_callable_call(&graphed, &x, 1);
  conform_check(calls == 4, "the callable is not called again");
  conform_alike(y, tn_softmax(tn_mul_scalar(x, 3), 1), "its result");
  tn_callable_release(&graphed);
}

typedef struct outcome {
  tn_tensor *y, *of_x, *of[PARAMETERS];
} outcome;

/* Forward and backward, with random numbers of the seed. */
static outcome try_step(const tn_callable *callable, tn_nn_module *model,
                        uint64_t seed)
{
  outcome o = { 0 };
  tn_manual_seed(seed);
  tn_tensor *x = draw(true);
  o.y = conform_made(tn_callable_call(callable, &x, 1), "a call");
  conform_ok(tn_backward(tn_sum(tn_softmax(o.y, 1))), "a backward pass");
  o.of_x = tn_grad(x);
  for (int i = 0; i < tn_nn_parameter_count(model); i++)
    o.of[i] = conform_made(tn_clone(tn_grad(tn_nn_parameter_at(model, i))),
                           "a parameter's gradient");
  tn_nn_zero_grad(model);
  return o;
}

static void run_module(void)
{
  tn_nn_module *model = model_new();
  tn_callable eager = tn_nn_callable(model);
  tn_callable graphed = graphed_of(&eager, draw(true));
  for (uint64_t seed = 1; seed <= 4; seed++) {
    outcome wanted = try_step(&eager, model, seed);
    outcome got = try_step(&graphed, model, seed);
    conform_alike(got.y, wanted.y, "the output, seed %d", (int)seed);
    conform_alike(got.of_x, wanted.of_x, "the input's gradient");
    for (int i = 0; i < tn_nn_parameter_count(model); i++)
      conform_alike(got.of[i], wanted.of[i], "parameter %d's gradient", i);
  }
  tn_callable_release(&graphed);
  tn_callable_release(&eager);
  tn_nn_module_release(model);
}

/* Two in one pool, one after the other. */
static void run_several(void)
{
  tn_callable eager[2] = { { soften, NULL, NULL }, { soften, NULL, NULL } };
  tn_callable graphed[2];
  tn_tensor *samples[] = { draw(true), draw(true) };
  conform_ok(tn_make_graphed_callables(eager, 2, samples, 1, graphed),
             "two graphed callables");
  tn_tensor *weights = draw(false);
  for (int i = 0; i < 3; i++) {
    tn_tensor *x = draw(true), *got, *wanted, *inputs[] = { x };
    tn_tensor *middle = tn_callable_call(&graphed[0], inputs, 1);
    tn_tensor *y = tn_callable_call(&graphed[1], &middle, 1);
    tn_tensor *control = soften(NULL, inputs, 1);
    control = soften(NULL, &control, 1);
    conform_alike(y, control, "one after the other");
    conform_ok(tn_grad_of(&y, 1, &x, 1, &got, .grad_outputs = &weights),
               "backward through both");
    conform_ok(tn_grad_of(&control, 1, &x, 1, &wanted,
                          .grad_outputs = &weights), "without graphs");
    conform_alike(got, wanted, "the gradient through both");
  }
  tn_callable_release(&graphed[0]);
  tn_callable_release(&graphed[1]);
}

static double train(const tn_callable *callable, tn_nn_module *model)
{
  double loss = 0;
  tn_optim *optim = tn_optim_adamw(TN_NN_PARAMETERS(model), 1e-2);
  conform_check(optim != NULL, "an optimiser");
  tn_manual_seed(5);
  for (int i = 0; i < 6; i++) {
    tn_with_scope {
      tn_tensor *x = draw(true);
      tn_tensor *y = tn_callable_call(callable, &x, 1);
      tn_tensor *error = tn_mean(tn_mul(y, y));
      tn_optim_zero_grad(optim);
      conform_ok(tn_backward(error), "a backward pass");
      conform_ok(tn_optim_step(optim), "a step");
      loss = tn_item(error);
    }
  }
  tn_optim_release(optim);
  return loss;
}

/* Parameters are read where they are, as they are now. */
static void run_training(void)
{
  double losses[2];
  for (int k = 0; k < 2; k++) {
    tn_manual_seed(9);
    tn_nn_module *model = model_new();
    tn_callable eager = tn_nn_callable(model), graphed = { 0 };
    if (k) graphed = graphed_of(&eager, draw(true));
    losses[k] = train(k ? &graphed : &eager, model);
    tn_callable_release(&graphed);
    tn_callable_release(&eager);
    tn_nn_module_release(model);
  }
  conform_check(losses[0] == losses[1], "after six steps of training the loss "
                "is %.9g with graphs and %.9g without", losses[1], losses[0]);
}

/* ---- C2 ---- */

static void run_buffers(void)
{
  tn_callable eager = { soften, NULL, NULL };
  tn_tensor *sample = draw(true), *x = draw(true), *z = draw(true);
  tn_callable graphed = graphed_of(&eager, sample);
  tn_tensor *weights = draw(false), *grad, *other;
  tn_tensor *first = tn_callable_call(&graphed, &x, 1);
  conform_alike(first, soften(NULL, &x, 1), "the first call");
  conform_ok(tn_grad_of(&first, 1, &x, 1, &grad, .grad_outputs = &weights),
             "a backward pass");
  tn_tensor *kept = tn_clone(grad);
  tn_tensor *second = tn_callable_call(&graphed, &z, 1);
  conform_ok(tn_grad_of(&second, 1, &z, 1, &other, .grad_outputs = &weights),
             "a backward pass");
  conform_check(tn_data_ptr(first) == tn_data_ptr(second),
                "the output is where the next call's is");
  conform_alike(second, soften(NULL, &z, 1), "the second call");
  conform_alike(grad, kept, "a gradient that was handed out is overwritten");
  conform_check(tn_data_ptr(grad) != tn_data_ptr(other),
                "gradients are the caller's own");
  conform_alike(tn_callable_call(&graphed, &sample, 1),
                soften(NULL, &sample, 1), "the sample as the input");
  tn_callable_release(&graphed);
}

/* Inputs and gradients that are still to be computed are waited for. */
static void run_streams(void)
{
  tn_callable eager = { soften, NULL, NULL };
  tn_callable graphed = graphed_of(&eager, draw(true));
  tn_stream *stream = conform_stream_new(conform_device, 0);
  tn_tensor *values = draw(false), *weights = draw(false), *wanted, *got;
  tn_tensor *control = tn_requires_grad_(tn_clone(values), true);
  tn_tensor *y = soften(NULL, &control, 1);
  conform_ok(tn_grad_of(&y, 1, &control, 1, &wanted,
                        .grad_outputs = &weights), "without graphs");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  tn_with_stream(stream) {
    tn_tensor *x = draw(true), *given = draw(false);
    conform_ok(tn_synchronize(conform_device), "synchronising");
    conform_delay delay = conform_delay_begin(stream);
    tn_no_grad tn_copy_(x, values);
    tn_copy_(given, weights);
    tn_tensor *z = conform_made(tn_callable_call(&graphed, &x, 1), "a call");
    conform_ok(tn_grad_of(&z, 1, &x, 1, &got, .grad_outputs = &given),
               "a backward pass");
    conform_delay_end(&delay);
    conform_alike(z, y, "a call on a busy stream");
    conform_alike(got, wanted, "its gradient");
  }
  tn_callable_release(&graphed);
}

/* ---- C3 ---- */

static void run_evaluation(void)
{
  tn_nn_module *model = model_new();
  tn_callable eager = tn_nn_callable(model);
  tn_callable graphed = graphed_of(&eager, draw(true));
  tn_nn_eval(model);
  tn_tensor *x = draw(false);
  tn_tensor *first = tn_callable_call(&graphed, &x, 1);
  tn_tensor *second = tn_callable_call(&graphed, &x, 1);
  conform_alike(first, second, "in evaluation nothing is dropped");
  conform_check(tn_data_ptr(first) != tn_data_ptr(second),
                "in evaluation the module itself runs");
  tn_nn_train(model, true);
  x = draw(true);
  first = tn_callable_call(&graphed, &x, 1);
  second = tn_callable_call(&graphed, &x, 1);
  conform_check(first && tn_data_ptr(first) == tn_data_ptr(second),
                "in training the graph runs again");
  tn_callable_release(&graphed);
  tn_callable_release(&eager);
  tn_nn_module_release(model);
}

static tn_tensor *use_first(void *self, tn_tensor **inputs, int n)
{
  return soften(self, inputs, n);
}

static void run_refusals(void)
{
  tn_callable eager = { use_first, NULL, NULL }, graphed = { 0 };
  tn_tensor *samples[] = { draw(true), draw(true) }, *grads[2];
  tn_clear_error();
  conform_is(tn_make_graphed_callables(&eager, 1, samples, 2, &graphed),
             TN_INVALID_ARGUMENT, "an input without influence");
  conform_check(tn_error_message()[0] && !graphed.call,
                "the reason is told, and there is no replacement");
  conform_ok(tn_make_graphed_callables(&eager, 1, samples, 2, &graphed,
                                       .allow_unused_input = true),
             "one that is allowed");
  tn_tensor *loss = tn_sum(tn_callable_call(&graphed, samples, 2));
  conform_ok(tn_grad_of(&loss, 1, samples, 2, grads, .allow_unused = true),
             "a backward pass");
  conform_check(grads[0] && !grads[1], "it gets no gradient");
  loss = tn_sum(tn_callable_call(&graphed, samples, 2));
  conform_is(tn_grad_of(&loss, 1, samples, 1, grads, .create_graph = true),
             TN_UNSUPPORTED, "the gradient of a gradient");
  tn_tensor *wrong[] = { tn_zeros(TN_SHAPE(2, 2)), samples[1] };
  conform_refused(tn_callable_call(&graphed, wrong, 2), TN_SHAPE_MISMATCH,
                  "another shape");
  tn_callable_release(&graphed);
}

/* A call that a capture cannot hold fails cleanly. */
static tn_tensor *look(void *self, tn_tensor **inputs, int n)
{
  (void)self, (void)n;
  double first = tn_item(tn_sum(inputs[0]));
  return first > 1e9 ? NULL : tn_softmax(inputs[0], 1);
}

static void run_reading(void)
{
  tn_callable eager = { look, NULL, NULL }, graphed = { 0 };
  tn_tensor *sample = draw(true);
  tn_clear_error();
  conform_is(tn_make_graphed_callables(&eager, 1, &sample, 1, &graphed),
             TN_CAPTURE_VIOLATION, "a callable that reads on the host");
  conform_check(!graphed.call, "there is no replacement");
  conform_check(!tn_is_current_stream_capturing(conform_device),
                "the capture is over");
  tn_callable other = { soften, NULL, NULL };
  graphed = graphed_of(&other, sample);
  conform_alike(tn_callable_call(&graphed, &sample, 1),
                soften(NULL, &sample, 1), "another one afterwards");
  tn_callable_release(&graphed);
}

#define V (CONFORM_TENSOR_BIT | CONFORM_GRAPH_BIT)
static const conform_test tests[] = {
  { "C1", "warm", CONFORM_FULL, V, false,
    "a callable warms up, is captured, and not called again", run_warm },
  { "C1", "module", CONFORM_FULL, V, false,
    "outputs and gradients are those without graphs", run_module },
  { "C1", "several", CONFORM_FULL, V, false,
    "several in one pool follow each other", run_several },
  { "C1", "training", CONFORM_FULL, V, false,
    "a module is trained as without graphs", run_training },
  { "C2", "buffers", CONFORM_FULL, V | CONFORM_MEMORY_BIT, false,
    "outputs are overwritten by the next call, gradients never",
    run_buffers },
  { "C2", "streams", CONFORM_FULL, V | CONFORM_STREAM_BIT, false,
    "calls are ordered like other work of the stream", run_streams },
  { "C3", "evaluation", CONFORM_FULL, V, false,
    "a module in evaluation runs as it is", run_evaluation },
  { "C3", "refusals", CONFORM_FULL, V, false,
    "what cannot be replayed is refused, with the reason", run_refusals },
  { "C3", "reading", CONFORM_FULL, V, false,
    "and so is what reads on the host, cleanly", run_reading },
};
CONFORM_SECTION(conform_callables, tests);
