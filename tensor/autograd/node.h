/* The record of an operation, from which its gradients are computed.
 *
 * An operation does:
 *     tn_tensor *y = ...the computation...;
 *     if (y && tn_grad_needed(inputs, 2)) {
 *       tn_node *node = tn_node_new(&mul_kind, inputs, 2);
 *       tn_node_save(node, a); tn_node_save(node, b);   any number of them
 *       y = tn_node_finish(node, y);      NULL if any of this failed
 *     }
 *     return tn_scope_give(y);
 * and its formula, called by backward with the gradient of y in grads[0]:
 *     static tn_status mul_formula(tn_node *node, tn_tensor **grads,
 *                                  tn_tensor **results)
 *     {
 *       tn_tensor *a = tn_node_saved(node, 0), *b = tn_node_saved(node, 1);
 *       if (tn_node_wants(node, 0)) results[0] = tn_mul(grads[0], b);
 *       if (tn_node_wants(node, 1)) results[1] = tn_mul(grads[0], a);
 *       return tn_node_check(node, results);
 *     }
 * A formula runs in a scope of its own, on the stream of its operation, and
 * uses the public operations, so that it can be differentiated itself
 * (grad mode is on under create_graph) unless its kind says `once`. Its
 * results may have the broadcast shape and a promoted dtype: the engine sums
 * and casts them to those of the input.
 */
#ifndef TN_TENSOR_AUTOGRAD_NODE_H
#define TN_TENSOR_AUTOGRAD_NODE_H

#include "tensor/autograd/history.h"
#include "tensor/tensor/scope.h"

typedef struct tn_node_kind {
  const char *name; /* of the operation, for messages */
  tn_status (*formula)(tn_node *node, tn_tensor **grads, tn_tensor **results);
  bool once; /* the formula cannot be differentiated: create_graph is refused
              * by name (B5) */
  void (*forget)(void *data); /* frees what tn_node_data holds; or NULL */
} tn_node_kind;

/* Whether grad mode is on and one of them requires a gradient; NULLs count
 * as none. */
bool tn_grad_needed(tn_tensor *const *inputs, int count);

/* NULL without host memory, which the other calls pass on. Inputs may be
 * NULL. Integer inputs get no gradient. */
tn_node *tn_node_new(const tn_node_kind *kind, tn_tensor *const *inputs,
                     int count);

/* Keeps a tensor (an input, a new output or another one; NULL too) under the
 * next number. */
void tn_node_save(tn_node *node, tn_tensor *t);

/* The same of the tensor that an operation in place changes, as it is after
 * the change (tn_node_save: as it was before, which then is an error when the
 * formula asks for it: save a clone). Before or after the computation. */
void tn_node_save_output(tn_node *node, tn_tensor *t);

#define TN_NODE_DATA_MAX 256

/* Room for plain numbers or a shape for the formula, to be written by the
 * caller; up to TN_NODE_DATA_MAX bytes. Never NULL: where the node is NULL or
 * there is no memory, it is room that nobody reads. */
void *tn_node_data(tn_node *node, size_t size);

/* Makes `outputs` results of the node. On failure all are released and the
 * function returns false (tn_node_finish: NULL). It takes over the caller's
 * reference to the node. */
bool tn_node_finish_all(tn_node *node, tn_tensor **outputs, int count);
tn_tensor *tn_node_finish(tn_node *node, tn_tensor *output);

/* In a formula. A saved tensor, borrowed; NULL with the error set if it was
 * changed in place since (TN_MODIFIED_IN_PLACE, naming the operation) or was
 * freed by an earlier backward. */
tn_tensor *tn_node_saved(tn_node *node, int number);
const void *tn_node_data_of(const tn_node *node);
bool tn_node_wants(const tn_node *node, int input);
int tn_node_input_count(const tn_node *node);
/* The shape of an input when the operation ran. */
tn_shape tn_node_input_shape(const tn_node *node, int input);

/* TN_OK if every wanted result is there, else the error that is set. */
tn_status tn_node_check(const tn_node *node, tn_tensor *const *results);

/* ---- changing tensors in place ---- */

/* Before: refuses a leaf that requires a gradient (grad mode on), and memory
 * that overlaps itself (rule T7). */
tn_status tn_inplace_begin(tn_tensor *t, const char *operation);

/* After: counts the change, and makes t the output of `node`, whose reference
 * it takes over. Where t is no input of the node, its gradient before the
 * change is 0. NULL: the operation needs no gradient; if t has one and grad
 * mode is on, that is 0 too. Views of t and the tensor it is a view of
 * follow. Returns t, or NULL on failure. _at: of a node with several outputs.
 *     tn_node *node = NULL;
 *     if (tn_inplace_begin(a, "mul_") != TN_OK) return NULL;
 *     ...the computation (with a copy of what the formula needs before)...
 *     if (tn_grad_needed(inputs, 2)) {
 *       node = tn_node_new(&mul_kind, inputs, 2);
 *       if (!node) return NULL;
 *       ...saves...
 *     }
 *     return tn_inplace_end(a, node); */
tn_tensor *tn_inplace_end(tn_tensor *t, tn_node *node);
/* The same of an operation that has to be recorded: without a node (there was
 * no memory) it fails. */
tn_tensor *tn_inplace_end_recorded(tn_tensor *t, tn_node *node);
tn_tensor *tn_inplace_end_at(tn_tensor *t, tn_node *node, int output);

/* Gives a new view of t its history. `kind` computes the gradient of t from
 * that of the view, with data as of tn_node_data. Where t requires no gradient
 * the view still follows it (views of a tensor that is changed in place later
 * share what became of it). Returns view; NULL, and view is released, on
 * failure. NULL is passed on. */
tn_tensor *tn_view_finish(tn_tensor *view, tn_tensor *t,
                          const tn_node_kind *kind, const void *data,
                          size_t size);

#endif
