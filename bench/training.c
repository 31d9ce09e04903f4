/* A training step of charlm's default model, beside the same in libtorch. */
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
  tn_release(t->target);
  tn_release(t->input);
  tn_optim_release(t->optim);
  tn_nn_module_release(t->model);
  free(t);
}

void training_run(void *argument, int64_t count)
{
  training *t = argument;
  for (int64_t i = 0; i < count; i++)
    tn_with_scope {
      tn_tensor *scores = tn_nn_forward(t->model, t->input);
      tn_tensor *loss = tn_cross_entropy(
          tn_reshape(scores, TN_SHAPE(t->shape.batch * t->shape.context,
                                      t->shape.vocabulary)),
          t->target);
      tn_optim_zero_grad(t->optim);
      if (tn_backward(loss) != TN_OK || tn_optim_step(t->optim) != TN_OK) {
        fprintf(stderr, "bench: training: %s\n", tn_error_message());
        exit(1);
      }
    }
}
