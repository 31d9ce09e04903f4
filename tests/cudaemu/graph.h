/* Graphs: work that was captured, and what comes after what. */
#ifndef TN_TESTS_CUDAEMU_GRAPH_H
#define TN_TESTS_CUDAEMU_GRAPH_H

#include "tests/cudaemu/stream.h"

/* What a kind of work is like. Payloads do not change once they are made. */
typedef struct emu_form {
  int type; /* a CUgraphNodeType */
  /* Without the lock, as a command's; command->payload is what bind gave. */
  CUresult (*run)(emu_command *command);
  /* What one run works on; a code with which that run fails. NULL: the payload
   * itself. */
  CUresult (*bind)(const void *payload, void **bound);
  void (*unbind)(void *bound);
  void (*release)(void *payload); /* NULL: free */
  /* Whether `wanted` may take the payload's place in an instantiated graph, by
   * a call for this node or by one for all; an update's result, 0: it may.
   * NULL: always. */
  int (*refuse)(const void *payload, const void *wanted, bool is_for_all);
} emu_form;

/* Shared by nodes, instantiated graphs and their launches. */
typedef struct emu_work {
  const emu_form *form;
  unsigned references;
  uint32_t tag;
  emu_context *context;
  CUresult planned; /* fail so */
  void *payload;
} emu_work;

struct CUgraphNode_st {
  emu_graph *graph;
  unsigned number; /* in its graph, from 1 */
  emu_work *work;
  emu_nodes before;
  bool is_left; /* on purpose, when it was captured, with nothing after it */
};

struct CUgraph_st {
  emu_graph *next;
  unsigned number; /* counted from 1 */
  bool is_capturing;
  emu_nodes nodes; /* each after all that it comes after */
};

/* All with the lock held. */

/* Takes over the payload, also when it fails: NULL. */
emu_work *emu_work_make(const emu_form *form, const char *what,
                        emu_context *context, void *payload);
emu_work *emu_work_keep(emu_work *work);
void emu_work_drop(emu_work *work);

/* Sets of nodes; false without memory. */
bool emu_nodes_add(emu_nodes *nodes, emu_node *node);
bool emu_nodes_add_all(emu_nodes *nodes, const emu_nodes *others);
void emu_nodes_clear(emu_nodes *nodes);
bool emu_nodes_has(const emu_nodes *nodes, const emu_node *node);

/* Graphs that are there; NULL without memory. */
emu_graph *emu_graph_make(void);
void emu_graph_end(emu_graph *graph);
bool emu_is_graph(const emu_graph *graph);
bool emu_is_node(const emu_node *node);
/* Takes over the work, also when it fails: NULL. */
emu_node *emu_graph_add(emu_graph *graph, emu_work *work,
                        const emu_nodes *before);

#endif
