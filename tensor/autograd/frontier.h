/* Nodes to which gradients are on their way, the latest one first. Whoever
 * sends gradients to a node was made after it, so that the latest node has got
 * all of its gradients. */
#ifndef TN_TENSOR_AUTOGRAD_FRONTIER_H
#define TN_TENSOR_AUTOGRAD_FRONTIER_H

#include "tensor/autograd/graph.h"

typedef struct tn_pending {
  tn_node *node;
  tn_tensor *grad;           /* of the only output; referenced, or NULL */
  tn_tensor **grads;         /* of several outputs, or else NULL */
  struct tn_pending *next;   /* among the spare ones */
} tn_pending;

typedef struct tn_frontier {
  tn_pending **heap;   /* by node->sequence */
  tn_pending **table;  /* by node, open addressing; its size is a power of 2,
                        * twice the heap's capacity */
  size_t count, capacity;
  tn_pending *spare;
  tn_pending *heap_inline[8], *table_inline[16], few[4];
} tn_frontier;

void tn_frontier_init(tn_frontier *frontier);

/* Gives back the gradients that are still there. */
void tn_frontier_clear(tn_frontier *frontier);

/* The entry of a node, made if there is none; NULL without host memory. */
tn_pending *tn_frontier_at(tn_frontier *frontier, tn_node *node);

/* The latest node's, which is taken out; NULL if there is none. */
tn_pending *tn_frontier_pop(tn_frontier *frontier);

/* Gives back an entry that was taken out, and the gradients in it. */
void tn_frontier_free(tn_frontier *frontier, tn_pending *pending);

/* The gradients of all outputs. */
static inline tn_tensor **tn_pending_grads(tn_pending *pending)
{
  return pending->grads ? pending->grads : &pending->grad;
}

#endif
