/* A training step of charlm's default model, as it is and captured. */
#include "config.h"

#include "bench/training.h"

#include <stdio.h>
#include <stdlib.h>

#include "bench/libtorch.h"
#include "examples/charlm/model.h"
#include "tenon/nn.h"

struct training {
  transformer_shape shape;
  tn_nn_module *model;
  tn_optim *optim;
  tn_tensor *input, *target;
  tn_graph *graph; /* of a step; NULL: not captured */
};

static tn_tensor *letters(int64_t kinds, tn_shape shape)
{
  int64_t count = 1;
  for (int i = 0; i < shape.ndim; i++) count *= shape.sizes[i];
  int64_t *data = malloc((size_t)count * sizeof *data);
  for (int64_t i = 0; data && i < count; i++) data[i] = i * 31 % kinds;
  tn_tensor *t = tn_from_data(data, shape, .dtype = TN_I64);
  free(data);
  return t;
}

training *training_new(const transformer_shape *s)
{
  training *t = calloc(1, sizeof *t);
  if (!t) return NULL;
  t->shape = *s;
  t->model = model_new(&(model_size){ .kinds = s->vocabulary,
                                      .context = s->context,
                                      .width = s->width,
                                      .layers = s->layers,
                                      .heads = s->heads },
                       tn_device_of("cpu"));
  t->optim = tn_optim_adamw(TN_NN_PARAMETERS(t->model), 1e-3);
  t->input = letters(s->vocabulary, TN_SHAPE(s->batch, s->context));
  t->target = letters(s->vocabulary, TN_SHAPE(s->batch * s->context));
  if (t->model && t->optim && t->input && t->target) return t;
  training_free(t);
  return NULL;
}

void training_free(training *t)
{
  if (!t) return;
  tn_graph_release(t->graph);
  tn_release(t->target);
  tn_release(t->input);
  tn_optim_release(t->optim);
  tn_nn_module_release(t->model);
  free(t);
}

static void check(bool is_done)
{
  if (is_done) return;
  fprintf(stderr, "bench: training: %s\n", tn_error_message());
  exit(1);
}

static void step(training *t)
{
  tn_with_scope {
    tn_tensor *scores = tn_nn_forward(t->model, t->input);
    tn_tensor *loss = tn_cross_entropy(
        tn_reshape(scores, TN_SHAPE(t->shape.batch * t->shape.context,
                                    t->shape.vocabulary)),
        t->target);
    tn_optim_zero_grad(t->optim);
    check(tn_backward(loss) == TN_OK && tn_optim_step(t->optim) == TN_OK);
  }
}

void training_run(void *argument, int64_t count)
{
  for (int64_t i = 0; i < count; i++) step(argument);
}

/* The first step is taken as it is: it makes what the optimiser keeps. */
void training_capture(training *t)
{
  step(t);
  tn_stream *stream = tn_stream_new(tn_device_of("cpu"), 0);
  t->graph = tn_graph_new();
  check(stream && t->graph &&
        tn_graph_begin(t->graph, .stream = stream) == TN_OK);
  step(t);
  check(tn_graph_end(t->graph) == TN_OK);
  tn_stream_release(stream);
}

void training_replay(void *argument, int64_t count)
{
  const training *t = argument;
  for (int64_t i = 0; i < count; i++)
    check(tn_graph_replay(t->graph) == TN_OK);
}
