/* Nodes: recorded commands. */
#ifndef TN_CORE_GRAPH_NODE_H
#define TN_CORE_GRAPH_NODE_H

#include "core/base/error.h"
#include "core/launch/module.h"
#include "tenon/backend.h"
#include "tenon/graph.h"

/* A growing list of nodes' numbers. */
typedef struct tn_numbers {
  uint32_t *items;
  uint32_t count, capacity;
} tn_numbers;

tn_status tn_numbers_add(tn_numbers *numbers, uint32_t number);
void tn_numbers_clear(tn_numbers *numbers);

typedef struct tn_graph_node {
  tn_graph_node_kind kind;
  int lane;
  tn_numbers dependencies;
  tn_kernel *kernel;  /* referenced; launches only */
  uint64_t *slots;    /* its packed arguments */
  tn_address pinned[2]; /* held pieces; copies only, 0: none */
  union {
    tn_backend_launch_desc launch;
    tn_copy_desc copy;
    tn_fill_desc fill;
    struct {
      void (*function)(void *);
      void *argument;
    } host;
  } as;
} tn_graph_node;

typedef struct tn_nodes {
  tn_graph_node *items;
  size_t count, capacity;
} tn_nodes;

/* A new last node, all zero; NULL with the error set. */
tn_graph_node *tn_nodes_add(tn_nodes *nodes);
void tn_nodes_clear(tn_nodes *nodes);

/* A copy's pinned memory is kept from others: the pieces held, or 0. Not with
 * tn_capture_lock. */
void tn_graph_node_hold(tn_address held[2], const tn_copy_desc *copy);
void tn_graph_node_let_go(const tn_address held[2]);

/* Adds nodes to those that something is to run after. Of two of one lane the
 * later one is enough, so there are never more of them than lanes. */
tn_status tn_nodes_merge(const tn_nodes *nodes, tn_numbers *into,
                         const tn_numbers *from);

const char *tn_graph_node_name(const tn_graph_node *node);
int64_t tn_graph_node_bytes(const tn_graph_node *node);

#endif
