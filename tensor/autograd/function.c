/* Operations of the program's own. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "tensor/autograd/graph.h"

typedef struct saved_list {
  tn_tensor **tensors; /* referenced */
  int count, capacity;
} saved_list;

/* Lives as long as the node, or without one as forward runs. */
struct tn_function_context {
  const tn_function *function;
  void *data;
  tn_node *node;                /* NULL: no gradient is needed */
  tn_tensor *const *inputs;     /* while forward runs; then NULL */
  int n_inputs;
  saved_list saved, dirty, no_grad; /* while forward runs */
};

static void clear_list(saved_list *list)
{
  for (int i = 0; i < list->count; i++) tn_release(list->tensors[i]);
  free(list->tensors);
  *list = (saved_list){ 0 };
}

static bool has(const saved_list *list, const tn_tensor *t)
{
  for (int i = 0; i < list->count; i++)
    if (list->tensors[i] == t) return true;
  return false;
}

static tn_status append(saved_list *list, tn_tensor *t)
{
  if (list->count == list->capacity) {
    int capacity = list->capacity ? 2 * list->capacity : 4;
    tn_tensor **larger = realloc(list->tensors,
                                 (size_t)capacity * sizeof *larger);
    if (!larger)
      return tn_set_error(TN_OUT_OF_MEMORY, "no host memory for %d tensors of "
                          "a function", capacity);
    list->tensors = larger;
    list->capacity = capacity;
  }
  list->tensors[list->count++] = tn_retain(t);
  return TN_OK;
}

static void forget_context(tn_function_context *context)
{
  clear_list(&context->saved);
  clear_list(&context->dirty);
  clear_list(&context->no_grad);
  if (context->function->forget) context->function->forget(context->data);
  free(context);
}

/* ---- what forward and backward may call ---- */

static tn_status refuse_phase(const tn_function_context *context,
                              const char *call)
{
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: %s: only in forward",
                      context->function->name, call);
}

tn_status tn_context_save(tn_function_context *context, tn_tensor *t)
{
  if (!context->inputs) return refuse_phase(context, "context_save");
  return append(&context->saved, t);
}

tn_tensor *tn_context_saved(tn_function_context *context, int number)
{
  if (context->inputs || !context->node) {
    tn_set_error(TN_INVALID_ARGUMENT, "%s: context_saved: only in backward",
                 context->function->name);
    return NULL;
  }
  if (number >= 0 && number < context->node->saved_count)
    return tn_node_saved(context->node, number);
  tn_set_error(TN_INVALID_ARGUMENT, "%s: saved tensor %d of %d",
               context->function->name, number, context->node->saved_count);
  return NULL;
}

void *tn_context_data(const tn_function_context *context)
{
  return context->data;
}

bool tn_context_needs_grad(const tn_function_context *context, int input)
{
  return context->node && input >= 0 && input < context->n_inputs &&
         tn_node_wants(context->node, input);
}

tn_status tn_context_mark_dirty(tn_function_context *context,
                                tn_tensor *input)
{
  if (!context->inputs) return refuse_phase(context, "context_mark_dirty");
  for (int i = 0; i < context->n_inputs; i++) {
    if (context->inputs[i] != input || !input) continue;
    tn_grad_mode_guard mode = tn_grad_mode_push(context->node != NULL);
    tn_status status = tn_inplace_begin(input, context->function->name);
    tn_grad_mode_pop(&mode);
    return status == TN_OK ? append(&context->dirty, input) : status;
  }
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: context_mark_dirty: the tensor "
                      "is no input", context->function->name);
}

tn_status tn_context_mark_no_grad(tn_function_context *context,
                                  tn_tensor *output)
{
  if (!context->inputs) return refuse_phase(context, "context_mark_no_grad");
  return append(&context->no_grad, output);
}

/* ---- the node ---- */

/* The data of the node, whose kind has the function's name. */
typedef struct context_holder {
  tn_function_context *context;
  tn_node_kind kind;
} context_holder;

static void forget(void *data)
{
  context_holder *holder = data;
  forget_context(holder->context);
}

/* A function of the program may have failed without saying why. */
static tn_status reported(const tn_function_context *context,
                          const char *which, tn_status status)
{
  if (tn_last_status() == status) return status;
  return tn_set_error(status, "%s: %s gave %s", context->function->name,
                      which, tn_status_name(status));
}

/* Runs in the scope of the node. */
static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  const context_holder *holder = tn_node_data_of(node);
  tn_function_context *context = holder->context;
  tn_stream_guard guard = tn_stream_push(node->stream);
  if (!guard.active) return tn_last_status();
  tn_status status =
    context->function->backward(context, grads, node->output_count, results,
                                node->input_count);
  tn_stream_pop(&guard);
  return status == TN_OK ? status : reported(context, "backward", status);
}

static tn_node *node_for(tn_function_context *context)
{
  tn_node_kind kind = { .name = context->function->name, .formula = formula,
                        .forget = forget };
  tn_node *node = tn_node_new(&kind, context->inputs, context->n_inputs);
  context_holder *holder = tn_node_data(node, sizeof *holder);
  if (!node) return NULL;
  holder->context = context;
  holder->kind = kind;
  node->kind = &holder->kind;
  if (!node->is_failed) return node;
  tn_node_release(node);
  return NULL;
}

/* ---- apply ---- */

static bool is_among(const tn_tensor *t, tn_tensor *const *tensors, int count)
{
  for (int i = 0; i < count; i++)
    if (tensors[i] == t) return true;
  return false;
}

static tn_status check_outputs(const tn_function_context *context,
                               tn_tensor *const *outputs, int n_outputs)
{
  for (int i = 0; i < n_outputs; i++) {
    if (!outputs[i])
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: forward gave no output %d",
                          context->function->name, i);
    if (is_among(outputs[i], outputs, i))
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: output %d is an earlier "
                          "one", context->function->name, i);
  }
  for (int i = 0; i < context->dirty.count; i++) {
    const tn_tensor *dirty = context->dirty.tensors[i];
    if (!is_among(dirty, outputs, n_outputs))
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: an input that forward "
                          "changes in place must be an output",
                          context->function->name);
    if (dirty->base && n_outputs > 1)
      return tn_set_error(TN_UNSUPPORTED, "%s: a view is changed in place by a "
                          "function with %d outputs: with one it can be",
                          context->function->name, n_outputs);
  }
  for (int i = 0; i < context->saved.count; i++) {
    const tn_tensor *t = context->saved.tensors[i];
    if (!t || is_among(t, outputs, n_outputs) ||
        is_among(t, context->inputs, context->n_inputs))
      continue;
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: saved tensor %d is neither "
                        "input nor output", context->function->name, i);
  }
  return TN_OK;
}

static void rename_in(saved_list *list, tn_tensor *from, tn_tensor *to)
{
  for (int i = 0; i < list->count; i++) {
    if (list->tensors[i] != from) continue;
    list->tensors[i] = tn_retain(to);
    tn_release(from);
  }
}

/* An input that was not changed, or a tensor that is somebody else's, cannot
 * be an output as it is. */
static tn_status separate_outputs(tn_function_context *context,
                                  tn_tensor **outputs, int n_outputs)
{
  for (int i = 0; i < n_outputs; i++) {
    tn_tensor *t = outputs[i];
    bool is_input = is_among(t, context->inputs, context->n_inputs);
    if (has(&context->dirty, t) || (!t->history && !t->base && !is_input))
      continue;
    tn_tensor *own =
      tn_tensor_view(t, tn_tensor_shape(t), t->strides, t->offset);
    if (!own) return tn_last_status();
    if (!is_input) rename_in(&context->saved, t, own);
    rename_in(&context->no_grad, t, own);
    outputs[i] = own;
    tn_release(t);
  }
  return TN_OK;
}

static void save_all(const tn_function_context *context,
                     tn_tensor *const *outputs, int n_outputs)
{
  for (int i = 0; i < context->saved.count; i++) {
    tn_tensor *t = context->saved.tensors[i];
    if (t && is_among(t, outputs, n_outputs))
      tn_node_save_output(context->node, t);
    else
      tn_node_save(context->node, t);
  }
}

static tn_status attach_all(tn_function_context *context, tn_tensor **outputs,
                            int n_outputs)
{
  tn_node *node = context->node;
  if (!tn_node_describe(node, outputs, n_outputs)) return tn_last_status();
  tn_node_place(node, outputs[0]);
  for (int i = 0; i < n_outputs; i++) {
    tn_tensor *t = outputs[i];
    bool is_done = true;
    if (has(&context->dirty, t))
      is_done = tn_inplace_end_at(t, tn_node_retain(node), i);
    else if (!has(&context->no_grad, t))
      is_done = tn_node_attach(node, t, i);
    if (!is_done) return tn_last_status();
  }
  return TN_OK;
}

static void count_changes(const tn_function_context *context)
{
  for (int i = 0; i < context->dirty.count; i++)
    atomic_fetch_add(&context->dirty.tensors[i]->storage->version, 1);
}

/* After forward: outputs[] are the library's. */
static tn_status finish(tn_function_context *context, tn_tensor **outputs,
                        int n_outputs)
{
  tn_status status = check_outputs(context, outputs, n_outputs);
  if (status != TN_OK) return status;
  if (!context->node) {
    count_changes(context);
    return separate_outputs(context, outputs, n_outputs);
  }
  status = separate_outputs(context, outputs, n_outputs);
  if (status != TN_OK) return status;
  save_all(context, outputs, n_outputs);
  if (context->node->is_failed) return tn_last_status();
  return attach_all(context, outputs, n_outputs);
}

/* outputs[] get a reference each, also where forward fails after giving
 * some. */
static tn_status call_forward(tn_function_context *context,
                              tn_tensor **outputs, int n_outputs)
{
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_grad_mode_guard mode = tn_grad_mode_push(false);
  tn_status status = context->function->forward(
    context, context->inputs, context->n_inputs, outputs, n_outputs);
  if (status != TN_OK) status = reported(context, "forward", status);
  for (int i = 0; i < n_outputs; i++) tn_retain(outputs[i]);
  tn_grad_mode_pop(&mode);
  tn_scope_pop(&scope);
  return status;
}

static tn_status apply(tn_function_context *context, tn_tensor **outputs,
                       int n_outputs)
{
  if (tn_grad_needed(context->inputs, context->n_inputs)) {
    context->node = node_for(context);
    if (!context->node) return tn_last_status();
  }
  tn_status status = call_forward(context, outputs, n_outputs);
  if (status == TN_OK) status = finish(context, outputs, n_outputs);
  context->inputs = NULL;
  clear_list(&context->saved);
  clear_list(&context->dirty);
  clear_list(&context->no_grad);
  return status;
}

static tn_function_context *context_new(const tn_function *function,
                                        void *data, tn_tensor *const *inputs,
                                        int n_inputs)
{
  tn_function_context *context = calloc(1, sizeof *context);
  if (!context) {
    tn_set_error(TN_OUT_OF_MEMORY, "%s: no host memory for its context",
                 function->name);
    return NULL;
  }
  context->function = function;
  context->data = data;
  context->inputs = inputs;
  context->n_inputs = n_inputs;
  return context;
}

static tn_status give_all(tn_tensor **outputs, int n_outputs,
                          tn_status status)
{
  for (int i = 0; i < n_outputs; i++) {
    if (status != TN_OK) {
      tn_release(outputs[i]);
      outputs[i] = NULL;
    } else {
      outputs[i] = tn_scope_give(outputs[i]);
      if (!outputs[i]) status = tn_last_status();
    }
  }
  return status;
}

static tn_status check_call(const tn_function *function,
                            tn_tensor *const *inputs, int n_inputs,
                            tn_tensor **outputs, int n_outputs)
{
  if (function && function->name && function->forward && function->backward &&
      n_inputs >= 1 && n_outputs >= 1 && inputs && outputs)
    return TN_OK;
  return tn_set_error(TN_INVALID_ARGUMENT, "function_apply: a name, forward, "
                      "backward, an input and an output are needed");
}

tn_status tn_function_apply(const tn_function *function, void *data,
                            tn_tensor *const *inputs, int n_inputs,
                            tn_tensor **outputs, int n_outputs)
{
  for (int i = 0; outputs && i < n_outputs; i++) outputs[i] = NULL;
  tn_status checked = check_call(function, inputs, n_inputs, outputs,
                                 n_outputs);
  tn_function_context *context =
    checked == TN_OK ? context_new(function, data, inputs, n_inputs) : NULL;
  if (!context) {
    if (function && function->forget) function->forget(data);
    return tn_last_status();
  }
  tn_status status = apply(context, outputs, n_outputs);
  if (context->node) tn_node_release(context->node);
  else forget_context(context);
  return give_all(outputs, n_outputs, status);
}
