/* Calling a graphed callable. */
#include "config.h"

#include "tensor/callable/graphed.h"

#include <stdlib.h>

#include "tensor/autograd/node.h"
#include "tensor/tensor/scope.h"

tn_graphed *tn_graphed_new(const tn_callable *source,
                           tn_tensor *const *samples, int n)
{
  tn_graphed *graphed = calloc(1, sizeof *graphed);
  tn_tensor **inputs = calloc((size_t)n + 1, sizeof *inputs);
  if (!graphed || !inputs) {
    free(graphed);
    free(inputs);
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a graphed callable");
    return NULL;
  }
  tn_refs_init(&graphed->refs);
  graphed->source = *source;
  graphed->module = tn_callable_module(source);
  graphed->inputs = inputs;
  graphed->n_inputs = n;
  for (int i = 0; i < n; i++) inputs[i] = tn_retain(samples[i]);
  return graphed;
}

tn_graphed *tn_graphed_retain(tn_graphed *graphed)
{
  tn_refs_retain(&graphed->refs);
  return graphed;
}

void tn_graphed_release(void *argument)
{
  tn_graphed *graphed = argument;
  if (!graphed || !tn_refs_release(&graphed->refs)) return;
  int count = graphed->n_inputs + graphed->n_leaves;
  for (int i = 0; i < count; i++) {
    tn_release(graphed->inputs[i]);
    if (graphed->grads) tn_release(graphed->grads[i]);
  }
  for (int i = 0; graphed->captured && i < graphed->n_leaves; i++)
    tn_release(graphed->captured[i]);
  tn_release(graphed->output);
  tn_release(graphed->grad_output);
  tn_graph_release(graphed->forward);
  tn_graph_release(graphed->backward);
  free(graphed->inputs);
  free(graphed->captured);
  free(graphed->grads);
  free(graphed);
}

tn_status tn_graphed_note_leaves(tn_graphed *graphed)
{
  graphed->captured = calloc((size_t)graphed->n_leaves + 1,
                             sizeof *graphed->captured);
  if (!graphed->captured)
    return tn_set_error(TN_OUT_OF_MEMORY, "make_graphed_callables: no host "
                        "memory");
  for (int i = 0; i < graphed->n_leaves; i++) {
    tn_tensor *leaf = graphed->inputs[graphed->n_inputs + i];
    graphed->captured[i] = tn_tensor_view(leaf, tn_tensor_shape(leaf),
                                          leaf->strides, leaf->offset);
    if (!graphed->captured[i]) return tn_last_status();
  }
  return TN_OK;
}

static tn_status check_leaves(const tn_graphed *graphed)
{
  for (int i = 0; i < graphed->n_leaves; i++) {
    const tn_tensor *leaf = graphed->inputs[graphed->n_inputs + i];
    if (leaf->storage != graphed->captured[i]->storage)
      return tn_set_error(TN_INVALID_ARGUMENT, "graphed callable: a parameter "
                          "of shape %s was moved to other memory after the "
                          "capture: make a new callable",
                          tn_shape_text(tn_tensor_shape(leaf)));
  }
  return TN_OK;
}

/* Whether the output is an input, or a view of one. */
static bool gives_input(const tn_graphed *graphed)
{
  for (int i = 0; i < graphed->n_inputs + graphed->n_leaves; i++)
    if (graphed->inputs[i]->storage == graphed->output->storage) return true;
  return false;
}

/* Into the memory that the graph reads, unless it is there already. */
static tn_status bring(tn_tensor *to, tn_tensor *from)
{
  if (tn_tensors_coincide(to, from)) return TN_OK;
  return tn_copy_(to, from) ? TN_OK : tn_last_status();
}

static tn_status forward(tn_function_context *context,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **outputs, int n_outputs)
{
  tn_graphed *graphed = tn_context_data(context);
  tn_status status = TN_OK;
  (void)n_inputs;
  (void)n_outputs;
  for (int i = 0; i < graphed->n_inputs && status == TN_OK; i++)
    status = bring(graphed->inputs[i], inputs[i]);
  if (status == TN_OK) status = tn_graph_replay(graphed->forward);
  if (status != TN_OK) return status;
  if (!gives_input(graphed) && !tn_inplace_end(graphed->output, NULL))
    return tn_last_status();
  outputs[0] = tn_detach(graphed->output);
  return outputs[0] ? tn_context_save(context, outputs[0]) : tn_last_status();
}

/* The caller's gradients are copies: the next call overwrites the graph's. So
 * it does what the graph saved: the output's version tells. */
static tn_status backward(tn_function_context *context,
                          tn_tensor *const *grad_outputs, int n_outputs,
                          tn_tensor **grad_inputs, int n_inputs)
{
  tn_graphed *graphed = tn_context_data(context);
  (void)n_outputs;
  if (tn_is_grad_enabled())
    return tn_set_error(TN_UNSUPPORTED, "graphed callable: its backward pass "
                        "cannot be differentiated (create_graph)");
  if (!tn_context_saved(context, 0)) return tn_last_status();
  tn_status status = check_leaves(graphed);
  if (status == TN_OK) status = bring(graphed->grad_output, grad_outputs[0]);
  if (status == TN_OK) status = tn_graph_replay(graphed->backward);
  for (int i = 0; i < n_inputs && status == TN_OK; i++) {
    if (!graphed->grads[i] || !tn_context_needs_grad(context, i)) continue;
    grad_inputs[i] = tn_clone(graphed->grads[i]);
    if (!grad_inputs[i]) status = tn_last_status();
  }
  return status;
}

static const tn_function function = { "graphed callable", forward, backward,
                                      tn_graphed_release };

static tn_status check_input(const tn_graphed *graphed, int i,
                             const tn_tensor *t)
{
  const tn_tensor *sample = graphed->inputs[i];
  if (!tn_shape_equal(tn_tensor_shape(t), tn_tensor_shape(sample)))
    return tn_set_error(TN_SHAPE_MISMATCH, "graphed callable: input %d has "
                        "shape %s, its sample had %s", i,
                        tn_shape_text(tn_tensor_shape(t)),
                        tn_shape_text(tn_tensor_shape(sample)));
  if (t->dtype != sample->dtype)
    return tn_set_error(TN_DTYPE_MISMATCH, "graphed callable: input %d is %s, "
                        "its sample was %s", i,
                        tn_dtype_name((tn_dtype)t->dtype),
                        tn_dtype_name((tn_dtype)sample->dtype));
  if (tn_tensor_place(t) != tn_tensor_place(sample))
    return tn_set_error(TN_DEVICE_MISMATCH, "graphed callable: input %d is on "
                        "%s, its sample was on %s", i,
                        tn_tensor_place(t)->name,
                        tn_tensor_place(sample)->name);
  if (tn_requires_grad(t) && !tn_requires_grad(sample))
    return tn_set_error(TN_INVALID_ARGUMENT, "graphed callable: input %d "
                        "requires a gradient, its sample did not", i);
  return TN_OK;
}

static tn_status check(const tn_graphed *graphed, tn_tensor **inputs, int n)
{
  if (n != graphed->n_inputs)
    return tn_set_error(TN_INVALID_ARGUMENT, "graphed callable: %d inputs: it "
                        "takes %d", n, graphed->n_inputs);
  tn_status status = TN_OK;
  for (int i = 0; i < n && status == TN_OK; i++)
    status = check_input(graphed, i, inputs[i]);
  return status;
}

/* Parameters are inputs too, so that backward brings them their gradients. */
static tn_tensor *apply(tn_graphed *graphed, tn_tensor **inputs)
{
  int count = graphed->n_inputs + graphed->n_leaves;
  tn_tensor **all = malloc(((size_t)count + 1) * sizeof *all), *output = NULL;
  if (!all) {
    tn_set_error(TN_OUT_OF_MEMORY, "graphed callable: no host memory");
    return NULL;
  }
  for (int i = 0; i < count; i++)
    all[i] = i < graphed->n_inputs ? inputs[i] : graphed->inputs[i];
  if (!graphed->backward) {
    tn_grad_mode_guard mode = tn_grad_mode_push(false);
    tn_function_apply(&function, tn_graphed_retain(graphed), all, count,
                      &output, 1);
    tn_grad_mode_pop(&mode);
  } else
    tn_function_apply(&function, tn_graphed_retain(graphed), all, count,
                      &output, 1);
  free(all);
  return output;
}

tn_tensor *tn_graphed_call(void *self, tn_tensor **inputs, int n)
{
  tn_graphed *graphed = self;
  for (int i = 0; i < n; i++)
    if (!inputs[i]) return NULL;
  if (graphed->module && !tn_nn_is_training(graphed->module))
    return tn_callable_call(&graphed->source, inputs, n);
  if (check_leaves(graphed) != TN_OK || check(graphed, inputs, n) != TN_OK)
    return NULL;
  return apply(graphed, inputs);
}
