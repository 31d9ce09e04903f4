/* Instantiated graphs, and their launches: one command of a stream each, which
 * runs the nodes one after another. Which order, among those that the edges
 * allow, is a matter of the seed. For the happens-before engine nodes are
 * ordered by edges alone: each path has an agent of its own. */
#ifndef TN_TESTS_CUDAEMU_EXEC_H
#define TN_TESTS_CUDAEMU_EXEC_H

#include "tests/cudaemu/graph.h"

typedef struct emu_exec_node {
  const emu_node *origin; /* by which programs name it; may be gone */
  emu_work *work;
  size_t before_count, after_count;
  uint32_t *before, *after; /* nodes */
  uint32_t path, place;     /* place: from 1 */
} emu_exec_node;

/* Nodes that come after each other. */
typedef struct emu_path {
  int agent;
  uint32_t step; /* taken by all launches */
  uint32_t length, last;
} emu_path;

struct CUgraphExec_st {
  emu_exec *next;
  unsigned references; /* the handle, and launches */
  size_t count, path_count;
  emu_exec_node *nodes;
  emu_path *paths;
  /* The last launch, behind which the next one waits. */
  const emu_stream *stream;
  uint32_t step;
  order_clock clock;
};

/* With the lock held. */
bool emu_is_exec(const emu_exec *exec);
/* Of a node of the graph that it was made of; NULL: it is not. */
emu_exec_node *emu_exec_find(emu_exec *exec, const emu_node *node);

#endif
