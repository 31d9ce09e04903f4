/* What a tensor knows about its gradient. */
#ifndef TN_TENSOR_AUTOGRAD_HISTORY_H
#define TN_TENSOR_AUTOGRAD_HISTORY_H

#include "tenon/autograd.h"
#include "tensor/tensor/tensor.h"

typedef struct tn_node tn_node;

/* The gradient of a tensor that is no leaf (tn_retain_grad), shared by the
 * tensor and its node, neither of which keeps the other alive. */
typedef struct tn_kept_grad {
  tn_refs refs;
  int output;
  tn_tensor *grad;            /* referenced */
  struct tn_kept_grad *next;  /* of the same node, which references it */
} tn_kept_grad;

struct tn_history {
  tn_node *node;     /* that made the tensor, referenced; NULL: a leaf */
  int output;        /* which one of the node's */
  bool requires_grad; /* as a leaf; else node says so */
  unsigned changes;  /* how often an operation in place gave the tensor
                      * another node: views made before are out of date */
  tn_tensor *grad;   /* accumulated, referenced */
  tn_kept_grad *kept; /* referenced; NULL: not asked for */
  bool is_in_node;   /* part of the node's memory, or else from malloc */
};

/* The tensor's history, made if it has none; NULL without host memory. */
tn_history *tn_history_of(tn_tensor *t);

/* Makes t the output of a node (NULL: a leaf). Takes over the reference;
 * without host memory it is given back and the answer is false. */
bool tn_history_set_node(tn_tensor *t, tn_node *node, int output);

/* Counts a change of t's node by an operation in place; before it. */
bool tn_history_count_change(tn_tensor *t);

/* A view whose base got another node since gets a new one too. False without
 * host memory. */
bool tn_history_follow(tn_tensor *view);

static inline unsigned tn_history_changes(const tn_tensor *t)
{
  return t->history ? t->history->changes : 0;
}

static inline bool tn_view_is_outdated(const tn_tensor *t)
{
  return __builtin_expect(t->base != NULL, 0) &&
         atomic_load_explicit(&t->base_changes, memory_order_acquire) !=
           tn_history_changes(t->base);
}

static inline bool tn_history_needs_grad(const tn_tensor *t)
{
  if (tn_view_is_outdated(t)) t = t->base;
  return t->history && (t->history->requires_grad || t->history->node);
}

#endif
