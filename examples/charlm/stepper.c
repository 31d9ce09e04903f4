#include "stepper.h"

static tn_tensor *numbers(const stepper *s, tn_shape shape)
{
  return tn_retain(tn_zeros_with(
      shape, (tn_tensor_options){ .device = s->device, .dtype = TN_I64 }));
}

/* The sample must be an input that the model takes: zeros are. */
static bool make_callable(stepper *s)
{
  s->eager = tn_nn_callable(s->model);
  return tn_make_graphed_callables(&s->eager, 1, &s->input, 1,
                                   &s->graphed) == TN_OK;
}

bool step_open(stepper *s, step_mode mode, const step_size *size,
               tn_nn_module *model, tn_optim *optim, tn_device device)
{
  *s = (stepper){ .mode = mode, .size = *size, .device = device,
               .model = model, .optim = optim };
  tn_with_scope {
    s->input = numbers(s, TN_SHAPE(size->batch, size->context));
    s->target = numbers(s, TN_SHAPE(size->batch * size->context));
  }
  if (!s->input || !s->target) return false;
  if (mode == STEP_CALLABLE) return make_callable(s);
  if (mode == STEP_EAGER) return true;
  s->graph = tn_graph_new();
  s->stream = tn_stream_new(device, 0);
  return s->graph && s->stream;
}

void step_close(stepper *s)
{
  tn_callable_release(&s->graphed);
  tn_callable_release(&s->eager);
  tn_release(s->loss);
  tn_graph_release(s->graph);
  tn_stream_release(s->stream);
  tn_release(s->input);
  tn_release(s->target);
}

static bool bring(tn_tensor *to, const int64_t *from)
{
  size_t bytes = (size_t)tn_numel(to) * sizeof *from;
  return tn_copy(tn_data_ptr(to), tn_device_of_tensor(to), from,
                 (tn_device){ 0, 0 }, bytes, false) == TN_OK;
}

static tn_tensor *compute(stepper *s)
{
  int64_t count = s->size.batch * s->size.context;
  tn_tensor *scores = s->mode == STEP_CALLABLE
                          ? tn_callable_call(&s->graphed, &s->input, 1)
                          : tn_nn_forward(s->model, s->input);
  tn_tensor *loss = tn_cross_entropy(
      tn_reshape(scores, TN_SHAPE(count, s->size.kinds)), s->target);
  tn_optim_zero_grad(s->optim);
  bool is_done = loss && tn_backward(loss) == TN_OK &&
                 tn_optim_step(s->optim) == TN_OK;
  return is_done ? loss : NULL;
}

static bool capture(stepper *s)
{
  if (tn_graph_begin(s->graph, .stream = s->stream) != TN_OK) return false;
  s->loss = tn_retain(compute(s));
  return tn_graph_end(s->graph) == TN_OK && s->loss;
}

/* The first step is taken as it is: it makes what the optimiser keeps. */
tn_tensor *step_take(stepper *s, const int64_t *batch)
{
  int64_t count = s->size.batch * s->size.context;
  if (!bring(s->input, batch) || !bring(s->target, batch + count))
    return NULL;
  if (s->mode != STEP_GRAPH || s->taken++ == 0) return compute(s);
  if (!s->loss && !capture(s)) return NULL;
  return tn_graph_replay(s->graph) == TN_OK ? s->loss : NULL;
}
