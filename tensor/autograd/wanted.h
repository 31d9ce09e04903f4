/* What a pass is for that computes the gradients of some tensors only
 * (tn_grad_of): which of them it met, and which nodes lead to them. */
#ifndef TN_TENSOR_AUTOGRAD_WANTED_H
#define TN_TENSOR_AUTOGRAD_WANTED_H

#include "tensor/autograd/graph.h"

typedef struct tn_capture {
  const void *key;     /* the node that made the tensor, or it as a leaf */
  int output;
  int input;           /* its number among the inputs of grad_of */
  uint64_t sequence;   /* of the node; 0 for leaves */
  tn_tensor *grad;     /* so far; referenced, or NULL */
  tn_stream *stream;   /* where it is computed, borrowed from a node */
} tn_capture;

typedef struct tn_way {
  tn_node *node;
  bool leads_there;
} tn_way;

typedef struct tn_wanted {
  tn_capture *captures; /* sorted by key and output */
  int count;
  tn_way *ways;         /* open addressing by node; `room` is a power of 2 */
  size_t way_count, room;
} tn_wanted;

/* The gradients of inputs[], which require some; with what leads from the
 * outputs to them. */
tn_status tn_wanted_init(tn_wanted *wanted, tn_tensor *const *outputs,
                         int n_outputs, tn_tensor *const *inputs,
                         int n_inputs);
void tn_wanted_clear(tn_wanted *wanted);

/* The first capture of the key and output, followed by others of the same;
 * NULL if there is none. */
tn_capture *tn_wanted_capture(const tn_wanted *wanted, const void *key,
                              int output);

/* Whether the formula of a node leads to any of the tensors. */
bool tn_wanted_runs(const tn_wanted *wanted, const tn_node *node);

/* Whether a gradient along an edge does. */
bool tn_wanted_edge(const tn_wanted *wanted, const tn_edge *edge);

/* What the formula that this thread is in is asked for: of that node, by
 * that pass; NULL: all gradients are wanted. */
extern __thread const tn_wanted *tn_wanted_now;
extern __thread const tn_node *tn_wanted_node;

#endif
