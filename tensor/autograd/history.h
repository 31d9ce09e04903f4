/* What a tensor knows about its gradient. */
#ifndef TN_TENSOR_AUTOGRAD_HISTORY_H
#define TN_TENSOR_AUTOGRAD_HISTORY_H

#include "tensor/autograd/node.h"

struct tn_history {
  bool requires_grad; /* as a leaf; else node says so */
  tn_node *node;      /* that made the tensor, referenced; NULL: a leaf */
  int output;         /* which one of the node's */
  tn_tensor *grad;    /* accumulated, referenced */
};

/* The tensor's history, made if it has none; NULL without host memory. */
tn_history *tn_history_of(tn_tensor *t);

static inline bool tn_history_needs_grad(const tn_tensor *t)
{
  return t->history && (t->history->requires_grad || t->history->node);
}

#endif
