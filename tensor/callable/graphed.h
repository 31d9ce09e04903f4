/* A callable whose forward and backward passes are graphs. */
#ifndef TN_TENSOR_CALLABLE_GRAPHED_H
#define TN_TENSOR_CALLABLE_GRAPHED_H

#include "tenon/callable.h"
#include "tenon/graph.h"
#include "tensor/tensor/tensor.h"

typedef struct tn_graphed {
  tn_refs refs;          /* of the callable and of nodes made by its calls */
  tn_callable source;    /* borrowed */
  tn_nn_module *module;  /* that the source is of; borrowed, or NULL */
  tn_graph *forward, *backward; /* backward: NULL where nothing needs a
                                 * gradient */
  int n_inputs, n_leaves;
  tn_tensor **inputs;    /* the samples, then the leaves; referenced */
  tn_tensor **captured;  /* the leaves as the graphs know them: views, which
                          * keep that memory */
  tn_tensor **grads;     /* of inputs[], in the backward graph's memory; NULL:
                          * no gradient */
  tn_tensor *output;     /* in the forward graph's memory; with its history
                          * until the backward pass is captured */
  tn_tensor *grad_output;
} tn_graphed;

tn_graphed *tn_graphed_new(const tn_callable *source,
                           tn_tensor *const *samples, int n);
tn_graphed *tn_graphed_retain(tn_graphed *graphed);
void tn_graphed_release(void *graphed);

/* Notes where the leaves are. */
tn_status tn_graphed_note_leaves(tn_graphed *graphed);

/* The replacement's call. */
tn_tensor *tn_graphed_call(void *self, tn_tensor **inputs, int n);

/* The module of a callable from tn_nn_callable; NULL for others. */
tn_nn_module *tn_callable_module(const tn_callable *callable);

#endif
