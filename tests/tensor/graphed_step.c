/* A whole training step as a graph: forward, backward and the optimiser, each
 * replay the next step (rows A251, A259). */
#include "config.h"

#include "tests/test_device.h"

#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

#define ROWS 4
#define WIDTH 6
#define STEPS 5

static tn_device device;

typedef tn_optim *maker(tn_nn_module *model);

static tn_optim *make_sgd(tn_nn_module *model)
{
  return tn_optim_sgd(TN_NN_PARAMETERS(model), 0.1, .momentum = 0.9);
}

static tn_optim *make_adam(tn_nn_module *model)
{
  return tn_optim_adam(TN_NN_PARAMETERS(model), 0.01);
}

static tn_optim *make_adamw(tn_nn_module *model)
{
  return tn_optim_adamw(TN_NN_PARAMETERS(model), 0.01, .amsgrad = true);
}

typedef struct trainer {
  tn_nn_module *model;
  tn_optim *optim;
  tn_tensor *x, *target; /* referenced */
} trainer;

static trainer begin(maker *make)
{
  trainer of = { 0 };
  tn_manual_seed(7);
  of.model = tn_nn_sequential(TN_NN_MODULES(
      tn_nn_linear(WIDTH, 5, true), tn_nn_function("tanh", tn_tanh),
      tn_nn_dropout(0.25), tn_nn_linear(5, 3, true)));
  of.optim = make(of.model);
  of.x = tn_randn(TN_SHAPE(ROWS, WIDTH), .device = device);
  of.target = tn_randn(TN_SHAPE(ROWS, 3), .device = device);
  return of;
}

static void end(trainer *of)
{
  tn_release(of->x);
  tn_release(of->target);
  tn_optim_release(of->optim);
  tn_nn_module_release(of->model);
}

/* Gradients keep their memory, which the graph writes to. */
static tn_status train(trainer *of)
{
  tn_status status = TN_OK;
  tn_with_scope {
    for (int i = 0; i < tn_nn_parameter_count(of->model); i++) {
      tn_tensor *grad = tn_grad(tn_nn_parameter_at(of->model, i));
      if (grad) tn_zero_(grad);
    }
    tn_tensor *y = tn_nn_forward(of->model, of->x);
    status = tn_backward(tn_mse_loss(y, of->target));
    if (status == TN_OK) status = tn_optim_step(of->optim);
  }
  return status;
}

static bool is_same(const trainer *a, const trainer *b)
{
  float x[64], y[64];
  for (int i = 0; i < tn_nn_parameter_count(a->model); i++) {
    tn_tensor *p = tn_nn_parameter_at(a->model, i);
    tn_tensor *q = tn_nn_parameter_at(b->model, i);
    size_t size = (size_t)tn_numel(p) * sizeof *x;
    if (tn_read(p, x, size) != TN_OK || tn_read(q, y, size) != TN_OK ||
        memcmp(x, y, size) != 0)
      return false;
  }
  return true;
}

static void test_optimiser(const char *name, maker *make)
{
  trainer eager = begin(make), graphed = begin(make);
  tn_graph *graph = tn_graph_new();
  tn_stream *stream = tn_stream_new(device, 0);
  tn_manual_seed(1);
  train(&eager);
  tn_manual_seed(1);
  train(&graphed);
  tn_synchronize(device);
  tap_is_int(tn_graph_begin(graph, .stream = stream), TN_OK, "A259 %s: begin",
             name);
  tap_is_int(train(&graphed), TN_OK, "A259 %s: a step is captured: %s", name,
             tn_error_message());
  tap_is_int(tn_graph_end(graph), TN_OK, "A259 %s: end", name);
  tap_ok(is_same(&eager, &graphed), "A259 %s: nothing has run", name);
  for (int i = 0; i < STEPS; i++) {
    tn_manual_seed((uint64_t)i);
    train(&eager);
    tn_manual_seed((uint64_t)i);
    tn_graph_replay(graph);
    tn_synchronize(device);
    tap_ok(is_same(&eager, &graphed), "A259 %s: replay %d is step %d", name,
           i + 1, i + 2);
  }
  tn_optim_set_lr(eager.optim, 0.002);
  tn_optim_set_lr(graphed.optim, 0.002);
  tn_manual_seed(9);
  train(&eager);
  tn_manual_seed(9);
  tn_graph_replay(graph);
  tn_synchronize(device);
  tap_ok(is_same(&eager, &graphed), "A259 %s: with another learning rate",
         name);
  tn_graph_release(graph);
  tn_stream_release(stream);
  end(&eager);
  end(&graphed);
}

static void test_first_step(void)
{
  trainer of = begin(make_adam);
  tn_graph *graph = tn_graph_new();
  tn_stream *stream = tn_stream_new(device, 0);
  tn_graph_begin(graph, .stream = stream);
  tap_is_int(train(&of), TN_CAPTURE_VIOLATION, "A259 the first step: %s",
             tn_error_message());
  tn_graph_end(graph);
  tap_is_int(train(&of), TN_OK, "A259 eager steps go on");
  tn_graph_release(graph);
  tn_stream_release(stream);
  end(&of);
}

int main(void)
{
  device = test_device();
  tn_set_default_device(device);
  test_optimiser("sgd", make_sgd);
  test_optimiser("adam", make_adam);
  test_optimiser("adamw", make_adamw);
  test_first_step();
  return tap_done();
}
