/* Tenon: gradients.
 *
 *     tn_tensor *w = tn_randn(TN_SHAPE(42, 7), .requires_grad = true);
 *     tn_backward(tn_sum(tn_matmul(x, w)));
 *     tn_print(tn_grad(w), stdout);
 *
 * Operations on tensors that require gradients remember what they did.
 * backward walks back through it, each step on the stream and device of its
 * forward operation; the gradients are usable on the caller's current stream
 * when it returns.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_AUTOGRAD_H
#define TENON_AUTOGRAD_H

#include "tenon/ops.h"

#ifdef __cplusplus
extern "C" {
#endif

/* Returns t. Floats only; false only for leaves, which no operation made. */
TN_API tn_tensor *tn_requires_grad_(tn_tensor *t, bool requires_grad);
TN_API bool tn_requires_grad(const tn_tensor *t);
TN_API bool tn_is_leaf(const tn_tensor *t);

/* The gradient accumulated in a leaf (or kept by tn_retain_grad); borrowed,
 * until the next backward or tn_set_grad. NULL if there is none, which sets no
 * error. */
TN_API tn_tensor *tn_grad(const tn_tensor *t);
TN_API tn_status tn_set_grad(tn_tensor *t, tn_tensor *grad); /* NULL: none */
TN_API tn_status tn_retain_grad(tn_tensor *t);

/* How often the memory of t was changed in place. */
TN_API uint64_t tn_tensor_version(const tn_tensor *t);

/* The name of the operation that made t, such as "add"; NULL for leaves. */
TN_API const char *tn_grad_fn_name(const tn_tensor *t);

typedef struct tn_backward_options {
  bool retain_graph; /* what was saved is kept for another pass */
  bool create_graph; /* the gradients can be differentiated again */
  bool allow_unused; /* tn_grad_of: NULL for inputs without influence */
  tn_tensor *const *grad_outputs; /* tn_grad_of: one each, or NULL */
  char tn_end_;
} tn_backward_options;

/* Adds the gradient of `loss` (one element) to the leaves that it depends
 * on. gradient: of an output with more elements; NULL: ones. */
TN_API tn_status tn_backward(tn_tensor *loss);
TN_API tn_status tn_backward_with_options(tn_tensor *output,
                                          tn_tensor *gradient,
                                          tn_backward_options options);

/* The gradients of outputs with respect to inputs, into grads[], which the
 * scope or the caller owns; nothing is accumulated. All NULL on failure. */
TN_API tn_status tn_grad_of_with(tn_tensor *const *outputs, int n_outputs,
                                 tn_tensor *const *inputs, int n_inputs,
                                 tn_tensor **grads,
                                 tn_backward_options options);

#ifndef __cplusplus
#define tn_backward_with(...)                                             \
  TN_OPTIONS_2_(tn_backward_with_options, tn_backward_options,            \
                __VA_ARGS__, .tn_end_ = 0)
#define tn_grad_of(...) TN_GRAD_OF_(__VA_ARGS__, .tn_end_ = 0)
#define TN_GRAD_OF_(outputs, n_outputs, inputs, n_inputs, grads, ...)     \
  tn_grad_of_with(outputs, n_outputs, inputs, n_inputs, grads,            \
                  (tn_backward_options){ __VA_ARGS__ })
#endif

/* tn_no_grad { ... }: operations of this thread remember nothing in the
 * block; tn_enable_grad { ... } is the opposite. Restored on every way out. */
typedef struct tn_grad_mode_guard {
  bool saved;
  int active;
} tn_grad_mode_guard;

TN_API bool tn_is_grad_enabled(void);
TN_API tn_grad_mode_guard tn_grad_mode_push(bool enabled);
TN_API void tn_grad_mode_pop(tn_grad_mode_guard *guard);

#define tn_no_grad \
  TN_BLOCK_(tn_grad_mode_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_grad_mode_push(false), tn_grad_mode_pop)
#define tn_enable_grad \
  TN_BLOCK_(tn_grad_mode_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_grad_mode_push(true), tn_grad_mode_pop)

/* ---- operations of your own ---- */

typedef struct tn_function_context tn_function_context;

/* forward: computes outputs of inputs, without remembering anything. backward:
 * given the gradients of the outputs (never NULL), puts those of the inputs,
 * or NULL for zero, into grad_inputs. Both run in a scope of their own, to
 * which what they put there belongs, and return TN_OK, or what failed with
 * the error set. forget: frees the data, whether or not the function was
 * applied with success; may be NULL. */
typedef struct tn_function {
  const char *name;
  tn_status (*forward)(tn_function_context *context,
                       tn_tensor *const *inputs, int n_inputs,
                       tn_tensor **outputs, int n_outputs);
  tn_status (*backward)(tn_function_context *context,
                        tn_tensor *const *grad_outputs, int n_outputs,
                        tn_tensor **grad_inputs, int n_inputs);
  void (*forget)(void *data);
} tn_function;

/* Applies it; data is for tn_context_data. The function's struct must live as
 * long as what it made. outputs: as of functions that return a tensor; all
 * NULL on failure. */
TN_API tn_status tn_function_apply(const tn_function *function, void *data,
                                   tn_tensor *const *inputs, int n_inputs,
                                   tn_tensor **outputs, int n_outputs);

/* In forward: keeps an input or output for backward, which finds it by its
 * number. Changing it in place meanwhile makes backward fail. */
TN_API tn_status tn_context_save(tn_function_context *context, tn_tensor *t);
TN_API tn_tensor *tn_context_saved(tn_function_context *context, int number);
TN_API void *tn_context_data(const tn_function_context *context);
TN_API bool tn_context_needs_grad(const tn_function_context *context,
                                  int input);

/* In forward: declares an input that forward changes in place, or an output
 * without a gradient. */
TN_API tn_status tn_context_mark_dirty(tn_function_context *context,
                                       tn_tensor *input);
TN_API tn_status tn_context_mark_no_grad(tn_function_context *context,
                                         tn_tensor *output);

#ifdef __cplusplus
}
#endif
#endif
