/* Making graphed callables: eager runs first, then the captures. */
#include "config.h"

#include <stdlib.h>

#include "tensor/autograd/leaves.h"
#include "tensor/callable/graphed.h"
#include "tensor/tensor/scope.h"

#define WARM_UPS 3

/* What all of one call have in common. */
typedef struct making {
  tn_graphed **graphed;
  int count;
  tn_stream *stream; /* that the captures run on */
  tn_graphed_options options;
  tn_graph *pool_of; /* the first graph, whose pool the others share */
} making;

static tn_tensor *call_source(tn_graphed *graphed)
{
  tn_tensor *output = tn_callable_call(&graphed->source, graphed->inputs,
                                       graphed->n_inputs);
  if (!output && tn_last_status() == TN_OK)
    tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: a callable "
                 "gave no tensor and no error");
  return output;
}

/* The inputs that require a gradient; numbers[] are theirs. */
static int list_wanted(const tn_graphed *graphed, tn_tensor **wanted,
                       int *numbers)
{
  int count = 0;
  for (int i = 0; i < graphed->n_inputs + graphed->n_leaves; i++)
    if (tn_requires_grad(graphed->inputs[i])) {
      numbers[count] = i;
      wanted[count++] = graphed->inputs[i];
    }
  return count;
}

/* Lists of the inputs' and leaves' gradients, in one piece of memory. */
typedef struct grad_lists {
  tn_tensor **wanted, **grads;
  int *numbers, count;
} grad_lists;

static tn_status lists_init(grad_lists *lists, const tn_graphed *graphed)
{
  size_t size = (size_t)(graphed->n_inputs + graphed->n_leaves) + 1;
  lists->wanted = calloc(2 * size, sizeof *lists->wanted);
  lists->numbers = calloc(size, sizeof *lists->numbers);
  if (!lists->wanted || !lists->numbers) {
    free(lists->wanted);
    free(lists->numbers);
    return tn_set_error(TN_OUT_OF_MEMORY, "make_graphed_callables: no host "
                        "memory");
  }
  lists->grads = lists->wanted + size;
  lists->count = list_wanted(graphed, lists->wanted, lists->numbers);
  return TN_OK;
}

static void lists_free(grad_lists *lists)
{
  free(lists->wanted);
  free(lists->numbers);
}

/* Gradients of output, given its own, into lists->grads. */
static tn_status differentiate(const making *of, const tn_graphed *graphed,
                               tn_tensor *output, tn_tensor *grad_output,
                               grad_lists *lists)
{
  tn_status status = tn_grad_of(&output, 1, lists->wanted, lists->count,
                                lists->grads, .grad_outputs = &grad_output,
                                .allow_unused = true);
  if (status != TN_OK || of->options.allow_unused_input) return status;
  for (int i = 0; i < lists->count; i++)
    if (!lists->grads[i] && lists->numbers[i] < graphed->n_inputs)
      return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: input "
                          "%d requires a gradient and has no influence on the "
                          "output (allow_unused_input takes it)",
                          lists->numbers[i]);
  return TN_OK;
}

/* Leaves that are no samples. Takes over the list. */
static tn_status keep_leaves(tn_graphed *graphed, tn_tensor **leaves,
                             int count)
{
  size_t size = (size_t)graphed->n_inputs + (size_t)count + 1;
  tn_tensor **larger = realloc(graphed->inputs, size * sizeof *larger);
  if (larger) graphed->inputs = larger;
  for (int i = 0; i < count; i++) {
    bool is_new = larger != NULL;
    for (int k = 0; k < graphed->n_inputs; k++)
      if (leaves[i] == graphed->inputs[k]) is_new = false;
    if (is_new)
      larger[graphed->n_inputs + graphed->n_leaves++] = leaves[i];
    else
      tn_release(leaves[i]);
  }
  free(leaves);
  return larger ? TN_OK
                : tn_set_error(TN_OUT_OF_MEMORY, "make_graphed_callables: no "
                               "host memory");
}

/* Finds the parameters in the first run. */
static tn_status find_leaves(tn_graphed *graphed, const tn_tensor *output)
{
  tn_tensor **leaves;
  int count;
  tn_status status = tn_leaves_of(output, &leaves, &count);
  return status == TN_OK ? keep_leaves(graphed, leaves, count) : status;
}

static tn_status run_once(const making *of, tn_graphed *graphed, bool is_first)
{
  grad_lists lists;
  tn_tensor *output = call_source(graphed);
  if (!output) return tn_last_status();
  tn_status status = is_first ? find_leaves(graphed, output) : TN_OK;
  if (status != TN_OK || !tn_requires_grad(output)) return status;
  tn_tensor *ones = tn_ones_like(output);
  status = ones ? lists_init(&lists, graphed) : tn_last_status();
  if (status != TN_OK) return status;
  status = differentiate(of, graphed, output, ones, &lists);
  lists_free(&lists);
  return status;
}

static tn_status warm_up(const making *of, tn_graphed *graphed)
{
  int turns = of->options.num_warmup_iters;
  tn_status status = TN_OK;
  for (int i = 0; i < (turns ? turns : WARM_UPS) && status == TN_OK; i++) {
    tn_scope_guard scope = tn_scope_push();
    if (!scope.active) return tn_last_status();
    status = run_once(of, graphed, i == 0);
    tn_scope_pop(&scope);
  }
  return status;
}

static tn_graph *begin(making *of)
{
  tn_mem_pool *pool = of->pool_of ? tn_graph_pool(of->pool_of)
                                  : of->options.pool;
  tn_graph *graph = tn_graph_new();
  if (!graph) return NULL;
  if (tn_graph_begin(graph, .stream = of->stream, .pool = pool,
                     .mode = TN_GRAPH_THREAD_LOCAL) == TN_OK) {
    if (!of->pool_of) of->pool_of = graph;
    return graph;
  }
  tn_graph_release(graph);
  return NULL;
}

/* What went wrong in the capture says more than its end. */
static tn_status end(tn_graph *graph, tn_status status)
{
  char why[1024];
  if (status == TN_OK) return tn_graph_end(graph);
  snprintf(why, sizeof why, "%s", tn_error_message());
  tn_graph_end(graph);
  return tn_set_error(status, "%s", why);
}

static tn_status capture_forward(making *of, tn_graphed *graphed)
{
  graphed->forward = begin(of);
  if (!graphed->forward) return tn_last_status();
  graphed->output = tn_retain(call_source(graphed));
  return end(graphed->forward, graphed->output ? TN_OK : tn_last_status());
}

static tn_status take_grads(making *of, tn_graphed *graphed,
                            grad_lists *lists)
{
  tn_status status = differentiate(of, graphed, graphed->output,
                                   graphed->grad_output, lists);
  for (int i = 0; i < lists->count && status == TN_OK; i++)
    graphed->grads[lists->numbers[i]] = tn_retain(lists->grads[i]);
  return status;
}

static tn_status capture_backward(making *of, tn_graphed *graphed)
{
  grad_lists lists;
  size_t count = (size_t)(graphed->n_inputs + graphed->n_leaves) + 1;
  graphed->grads = calloc(count, sizeof *graphed->grads);
  graphed->grad_output = tn_retain(tn_empty_like(graphed->output));
  if (!graphed->grads)
    return tn_set_error(TN_OUT_OF_MEMORY, "make_graphed_callables: no host "
                        "memory for %zu gradients", count);
  if (!graphed->grad_output) return tn_last_status();
  tn_status status = lists_init(&lists, graphed);
  if (status != TN_OK) return status;
  graphed->backward = begin(of);
  status = graphed->backward
               ? end(graphed->backward, take_grads(of, graphed, &lists))
               : tn_last_status();
  lists_free(&lists);
  return status;
}

/* The output without its history, which the graph stands for now. */
static tn_status drop_history(tn_graphed *graphed)
{
  tn_tensor *bare = tn_retain(tn_detach(graphed->output));
  if (!bare) return tn_last_status();
  tn_release(graphed->output);
  graphed->output = bare;
  return TN_OK;
}

/* In a scope, on the stream. */
static tn_status capture_all(making *of)
{
  tn_status status = TN_OK;
  for (int i = 0; i < of->count && status == TN_OK; i++)
    status = warm_up(of, of->graphed[i]);
  for (int i = 0; i < of->count && status == TN_OK; i++)
    status = capture_forward(of, of->graphed[i]);
  for (int i = of->count - 1; i >= 0 && status == TN_OK; i--)
    if (tn_requires_grad(of->graphed[i]->output))
      status = capture_backward(of, of->graphed[i]);
  for (int i = 0; i < of->count && status == TN_OK; i++)
    status = drop_history(of->graphed[i]);
  for (int i = 0; i < of->count && status == TN_OK; i++)
    status = tn_graphed_note_leaves(of->graphed[i]);
  return status;
}

static tn_status capture_on_stream(making *of, tn_device device)
{
  of->stream = tn_stream_new(device, 0);
  tn_stream *current = tn_current_stream(device);
  if (!of->stream || !current ||
      tn_stream_wait_stream(of->stream, current) != TN_OK)
    return tn_last_status();
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_stream_guard guard = tn_stream_push(of->stream);
  tn_grad_mode_guard mode = tn_grad_mode_push(true);
  tn_status status = guard.active ? capture_all(of) : tn_last_status();
  tn_grad_mode_pop(&mode);
  tn_stream_pop(&guard);
  tn_scope_pop(&scope);
  if (status == TN_OK) status = tn_stream_wait_stream(current, of->stream);
  return status;
}

static tn_status check_callable(const tn_callable *callable,
                                tn_tensor *const *inputs, int n,
                                const tn_place *place)
{
  tn_nn_module *module;
  if (!callable->call)
    return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: a "
                        "callable has nothing to call");
  for (int i = 0; i < n; i++) {
    if (!inputs[i])
      return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: sample "
                          "input %d is NULL", i);
    if (tn_tensor_place(inputs[i]) != place)
      return tn_set_error(TN_DEVICE_MISMATCH, "make_graphed_callables: sample "
                          "input %d is on %s, the first one on %s", i,
                          tn_tensor_place(inputs[i])->name, place->name);
  }
  module = tn_callable_module(callable);
  for (int i = 0; module && i < tn_nn_buffer_count(module); i++)
    if (tn_requires_grad(tn_nn_buffer_at(module, i)))
      return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: buffer "
                          "%d of module %s requires a gradient", i,
                          tn_nn_name(module));
  return TN_OK;
}

static tn_status check(const tn_callable *callables, int n_callables,
                       tn_tensor *const *samples, int n_inputs,
                       const tn_callable *out,
                       const tn_graphed_options *options)
{
  tn_status status = TN_OK;
  if (!callables || !samples || !out || n_callables < 1 || n_inputs < 1 ||
      !samples[0])
    return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: a "
                        "callable, a sample input and room for the result "
                        "are needed");
  if (options->num_warmup_iters < 0)
    return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: %d "
                        "warm-up runs: 0 (for %d) and more are possible",
                        options->num_warmup_iters, WARM_UPS);
  for (int i = 0; i < n_callables && status == TN_OK; i++)
    status = check_callable(&callables[i],
                            samples + (size_t)i * (size_t)n_inputs, n_inputs,
                            tn_tensor_place(samples[0]));
  return status;
}

static tn_status make(making *of, const tn_callable *callables,
                      tn_tensor *const *samples, int n_inputs)
{
  for (int i = 0; i < of->count; i++) {
    of->graphed[i] = tn_graphed_new(
        &callables[i], samples + (size_t)i * (size_t)n_inputs, n_inputs);
    if (!of->graphed[i]) return tn_last_status();
  }
  return capture_on_stream(of, tn_tensor_place(samples[0])->device);
}

tn_status tn_make_graphed_callables_with(const tn_callable *callables,
                                         int n_callables,
                                         tn_tensor *const *sample_inputs,
                                         int n_inputs, tn_callable *out,
                                         tn_graphed_options options)
{
  if (out && out == callables)
    return tn_set_error(TN_INVALID_ARGUMENT, "make_graphed_callables: the "
                        "results would take the place of the callables, "
                        "which they need");
  for (int i = 0; out && i < n_callables; i++) out[i] = (tn_callable){ 0 };
  tn_status status = check(callables, n_callables, sample_inputs, n_inputs,
                           out, &options);
  if (status != TN_OK) return status;
  making of = { .count = n_callables, .options = options };
  of.graphed = calloc((size_t)n_callables, sizeof *of.graphed);
  if (!of.graphed)
    return tn_set_error(TN_OUT_OF_MEMORY, "make_graphed_callables: no host "
                        "memory");
  status = make(&of, callables, sample_inputs, n_inputs);
  for (int i = 0; i < n_callables; i++) {
    if (status != TN_OK) tn_graphed_release(of.graphed[i]);
    else
      out[i] = (tn_callable){ tn_graphed_call, of.graphed[i],
                              tn_graphed_release };
  }
  tn_stream_release(of.stream);
  free(of.graphed);
  return status;
}
