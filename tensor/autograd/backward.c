/* backward and grad_of. */
#include "config.h"

#include <stdlib.h>

#include "tensor/autograd/leaf.h"
#include "tensor/autograd/pass.h"

static tn_status check_output(const char *operation, tn_tensor *output)
{
  if (!output) return tn_tensor_missing(operation);
  if (!tn_history_needs_grad(output))
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: the tensor requires no "
                        "gradient: no operation on one that does made it",
                        operation);
  if (tn_view_is_outdated(output) && !tn_history_follow(output))
    return tn_last_status();
  return TN_OK;
}

/* The first gradient, which belongs to the scope; NULL on failure. */
static tn_tensor *first_gradient(const char *operation, tn_tensor *output,
                                 tn_tensor *given)
{
  tn_shape shape = tn_tensor_shape(output);
  if (!given && output->numel == 1) return tn_ones_like(output);
  if (!given) {
    tn_set_error(TN_SHAPE_MISMATCH, "%s: an output of shape %s: one of more "
                 "elements than 1 needs a gradient", operation,
                 tn_shape_text(shape));
    return NULL;
  }
  if (!tn_shape_equal(tn_tensor_shape(given), shape)) {
    tn_set_error(TN_SHAPE_MISMATCH, "%s: a gradient of shape %s for an output "
                 "of shape %s", operation,
                 tn_shape_text(tn_tensor_shape(given)), tn_shape_text(shape));
    return NULL;
  }
  if (tn_tensor_place(given) != tn_tensor_place(output)) {
    tn_set_error(TN_DEVICE_MISMATCH, "%s: a gradient on %s for an output on "
                 "%s", operation, tn_tensor_place(given)->name,
                 tn_tensor_place(output)->name);
    return NULL;
  }
  if (given->dtype == output->dtype) return given;
  return tn_to(given, .dtype = (tn_dtype)output->dtype);
}

static tn_status backward(tn_tensor *output, tn_tensor *gradient,
                          tn_backward_options options)
{
  tn_tensor *first = first_gradient("backward", output, gradient);
  if (!first) return tn_last_status();
  return tn_pass_run(&output, &first, 1, NULL,
                     options.retain_graph || options.create_graph);
}

tn_status tn_backward_with_options(tn_tensor *output, tn_tensor *gradient,
                                   tn_backward_options options)
{
  tn_status status = check_output("backward", output);
  if (status != TN_OK) return status;
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_grad_mode_guard mode = tn_grad_mode_push(options.create_graph);
  status = backward(output, gradient, options);
  tn_grad_mode_pop(&mode);
  tn_scope_pop(&scope);
  return status;
}

tn_status tn_backward(tn_tensor *loss)
{
  return tn_backward_with_options(loss, NULL, (tn_backward_options){ 0 });
}

/* ---- grad_of ---- */

static tn_status check_inputs(tn_tensor *const *inputs, int count)
{
  for (int i = 0; i < count; i++) {
    if (!inputs[i]) return tn_tensor_missing("grad_of");
    if (!tn_history_needs_grad(inputs[i]))
      return tn_set_error(TN_INVALID_ARGUMENT, "grad_of: input %d requires no "
                          "gradient", i);
    if (tn_view_is_outdated(inputs[i]) && !tn_history_follow(inputs[i]))
      return tn_last_status();
  }
  return TN_OK;
}

/* Tensors named twice share what the first of them got. */
static tn_status give(tn_wanted *wanted, tn_tensor **grads, bool allow_unused)
{
  for (int i = 0; i < wanted->count; i++) {
    const tn_capture *capture = &wanted->captures[i];
    const tn_capture *first =
      tn_wanted_capture(wanted, capture->key, capture->output);
    grads[capture->input] = tn_retain(first->grad);
    if (first->grad || allow_unused) continue;
    return tn_set_error(TN_INVALID_ARGUMENT, "grad_of: input %d has no "
                        "influence on the outputs: allow_unused gives NULL "
                        "for it", capture->input);
  }
  return TN_OK;
}

static tn_status find_gradients(tn_tensor *const *outputs, int n_outputs,
                                tn_wanted *wanted, tn_tensor **grads,
                                tn_backward_options options)
{
  tn_status status = TN_OK;
  tn_tensor **first = calloc((size_t)n_outputs, sizeof *first);
  if (!first)
    return tn_set_error(TN_OUT_OF_MEMORY, "grad_of: no host memory for %d "
                        "gradients", n_outputs);
  for (int i = 0; i < n_outputs && status == TN_OK; i++) {
    tn_tensor *given = options.grad_outputs ? options.grad_outputs[i] : NULL;
    first[i] = first_gradient("grad_of", outputs[i], given);
    if (!first[i]) status = tn_last_status();
  }
  if (status == TN_OK)
    status = tn_pass_run(outputs, first, n_outputs, wanted,
                         options.retain_graph || options.create_graph);
  if (status == TN_OK) status = give(wanted, grads, options.allow_unused);
  free(first);
  return status;
}

static tn_status grad_of(tn_tensor *const *outputs, int n_outputs,
                         tn_tensor *const *inputs, int n_inputs,
                         tn_tensor **grads, tn_backward_options options)
{
  tn_wanted wanted;
  tn_status status = check_inputs(inputs, n_inputs);
  for (int i = 0; i < n_outputs && status == TN_OK; i++)
    status = check_output("grad_of", outputs[i]);
  if (status != TN_OK) return status;
  status = tn_wanted_init(&wanted, outputs, n_outputs, inputs, n_inputs);
  if (status != TN_OK) return status;
  tn_scope_guard scope = tn_scope_push();
  tn_grad_mode_guard mode = tn_grad_mode_push(options.create_graph);
  status = scope.active ? find_gradients(outputs, n_outputs, &wanted, grads,
                                         options)
                        : tn_last_status();
  tn_grad_mode_pop(&mode);
  tn_scope_pop(&scope);
  tn_wanted_clear(&wanted);
  return status;
}

tn_status tn_grad_of_with(tn_tensor *const *outputs, int n_outputs,
                          tn_tensor *const *inputs, int n_inputs,
                          tn_tensor **grads, tn_backward_options options)
{
  if (n_outputs < 1 || n_inputs < 1 || !outputs || !inputs || !grads)
    return tn_set_error(TN_INVALID_ARGUMENT, "grad_of: %d outputs and %d "
                        "inputs: one or more of each are needed, and room for "
                        "the gradients", n_outputs, n_inputs);
  for (int i = 0; i < n_inputs; i++) grads[i] = NULL;
  tn_status status = grad_of(outputs, n_outputs, inputs, n_inputs, grads,
                             options);
  for (int i = 0; i < n_inputs; i++) {
    if (status == TN_OK && grads[i]) {
      if (tn_scope_give(grads[i])) continue;
      status = tn_last_status();
    } else
      tn_release(grads[i]);
    grads[i] = NULL;
  }
  return status;
}
