/* Tenon: functions of tensors whose work, forward and backward, is a graph.
 *
 *     tn_callable eager = tn_nn_callable(model), graphed;
 *     if (tn_make_graphed_callables(&eager, 1, &sample, 1, &graphed) == TN_OK)
 *       y = tn_callable_call(&graphed, &x, 1);      differentiable as before
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_CALLABLE_H
#define TENON_CALLABLE_H

#include "tenon/nn.h"

#ifdef __cplusplus
extern "C" {
#endif

/* call: like an operation, of n inputs: gives a new reference, or NULL with
 * the error set. forget: frees self; NULL where nothing is to be freed. */
typedef struct tn_callable {
  tn_tensor *(*call)(void *self, tn_tensor **inputs, int n);
  void *self;
  void (*forget)(void *self);
} tn_callable;

TN_API tn_tensor *tn_callable_call(const tn_callable *callable,
                                   tn_tensor **inputs, int n);

/* Calls forget, and makes it the callable that fails. NULL does nothing. */
TN_API void tn_callable_release(tn_callable *callable);

/* A module as a callable, which keeps a reference to it. */
TN_API tn_callable tn_nn_callable(tn_nn_module *module);

typedef struct tn_graphed_options {
  int num_warmup_iters;    /* eager runs before the capture; 3 if 0 */
  bool allow_unused_input; /* inputs that need a gradient and get none */
  tn_mem_pool *pool;       /* shared with other graphs; NULL: one of their
                            * own */
  char tn_end_;
} tn_graphed_options;

/* Captures each callable's forward pass, in order, and their backward passes,
 * in reverse order, in one pool, and puts replacements into out[], which is
 * another list, to be released. Each callable takes n_inputs tensors;
 * sample_inputs has those of the first, then of the second ..., n_callables x
 * n_inputs in all, on one device, whose shapes, dtypes and requires_grad all
 * later calls must have.
 *
 * The samples become the graphs' inputs: a call copies its inputs there unless
 * they are those. Its output is overwritten by the next call, after which it
 * cannot be differentiated any more. Gradients are the caller's own. Leaves
 * that require a gradient and take part (parameters) get theirs as from the
 * eager callable; calls after one was moved are refused. Random numbers are
 * drawn anew in each call. A module in evaluation runs as it is. The callables
 * must outlive their replacements.
 *
 * Refused: buffers that require gradients, inputs that require one and have
 * no influence (unless allowed), inputs on different devices, gradients of
 * gradients (by backward). On failure out[] is empty. */
TN_API tn_status tn_make_graphed_callables_with(
    const tn_callable *callables, int n_callables,
    tn_tensor *const *sample_inputs, int n_inputs, tn_callable *out,
    tn_graphed_options options);

#ifndef __cplusplus
#define tn_make_graphed_callables(...) \
  TN_MAKE_GRAPHED_(__VA_ARGS__, .tn_end_ = 0)
#define TN_MAKE_GRAPHED_(callables, n_callables, sample_inputs, n_inputs, \
                         out, ...)                                        \
  tn_make_graphed_callables_with(callables, n_callables, sample_inputs,   \
                                 n_inputs, out,                           \
                                 (tn_graphed_options){ __VA_ARGS__ })
#endif

#ifdef __cplusplus
}
#endif
#endif
