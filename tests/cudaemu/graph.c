#include "tests/cudaemu/graph.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/capture.h"

static emu_graph *graphs;

/* Work */

emu_work *emu_work_make(const emu_form *form, const char *what,
                        emu_context *context, void *payload)
{
  emu_work *work = malloc(sizeof *work);
  if (!work) {
    if (form->release) form->release(payload);
    else free(payload);
    return NULL;
  }
  *work = (emu_work){ form, 1, emu_tag(what), context, emu_planned_failure(),
                      payload };
  return work;
}

emu_work *emu_work_keep(emu_work *work)
{
  work->references++;
  return work;
}

void emu_work_drop(emu_work *work)
{
  if (!work || --work->references) return;
  if (work->form->release) work->form->release(work->payload);
  else free(work->payload);
  free(work);
}

/* Sets of nodes */

/* From the end on, for what is asked for is mostly new. */
bool emu_nodes_has(const emu_nodes *nodes, const emu_node *node)
{
  for (size_t i = nodes->count; i-- > 0;)
    if (nodes->list[i] == node) return true;
  return false;
}

static bool append(emu_nodes *nodes, emu_node *node)
{
  size_t count = nodes->count;
  if ((count & (count - 1)) == 0) { /* room is a power of two */
    size_t room = count ? 2 * count : 1;
    void *list = realloc(nodes->list, room * sizeof *nodes->list);
    if (!list) return false;
    nodes->list = list;
  }
  nodes->list[nodes->count++] = node;
  return true;
}

bool emu_nodes_add(emu_nodes *nodes, emu_node *node)
{
  return emu_nodes_has(nodes, node) || append(nodes, node);
}

bool emu_nodes_add_all(emu_nodes *nodes, const emu_nodes *others)
{
  for (size_t i = 0; i < others->count; i++)
    if (!emu_nodes_add(nodes, others->list[i])) return false;
  return true;
}

void emu_nodes_clear(emu_nodes *nodes)
{
  free(nodes->list);
  *nodes = (emu_nodes){ NULL, 0 };
}

/* Graphs */

emu_graph *emu_graph_make(void)
{
  static unsigned numbered;
  emu_graph *graph = calloc(1, sizeof *graph);
  if (!graph) return NULL;
  graph->number = ++numbered;
  graph->next = graphs;
  graphs = graph;
  return graph;
}

static void free_node(emu_node *node)
{
  emu_work_drop(node->work);
  emu_nodes_clear(&node->before);
  free(node);
}

void emu_graph_end(emu_graph *graph)
{
  emu_graph **link = &graphs;
  while (*link != graph) link = &(*link)->next;
  *link = graph->next;
  for (size_t i = 0; i < graph->nodes.count; i++)
    free_node(graph->nodes.list[i]);
  emu_nodes_clear(&graph->nodes);
  free(graph);
}

bool emu_is_graph(const emu_graph *graph)
{
  const emu_graph *g = graphs;
  while (g && g != graph) g = g->next;
  return g != NULL;
}

bool emu_is_node(const emu_node *node)
{
  for (const emu_graph *g = graphs; g; g = g->next)
    if (emu_nodes_has(&g->nodes, node)) return true;
  return false;
}

emu_node *emu_graph_add(emu_graph *graph, emu_work *work,
                        const emu_nodes *before)
{
  emu_node *node = calloc(1, sizeof *node);
  if (!node) {
    emu_work_drop(work);
    return NULL;
  }
  node->graph = graph;
  node->number = (unsigned)graph->nodes.count + 1;
  node->work = work;
  if (emu_nodes_add_all(&node->before, before) &&
      append(&graph->nodes, node))
    return node;
  free_node(node);
  return NULL;
}

/* Calls about graphs */

static CUresult enter_graph(emu_call call, CUgraph graph)
{
  CUresult code = emu_enter(call, 0);
  if (code) return code;
  return emu_is_graph(graph) ? TN_CUDA_SUCCESS
                             : emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
}

CUresult emu_GraphDestroy(CUgraph graph)
{
  CUresult code = enter_graph(EMU_GraphDestroy, graph);
  if (code) return code;
  if (graph->is_capturing) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  emu_graph_end(graph);
  return emu_leave(TN_CUDA_SUCCESS);
}

/* Lists nodes, all or those that come after none; what is left of the list is
 * made NULL. */
static void list_nodes(const emu_graph *graph, bool is_of_roots,
                       CUgraphNode *list, size_t *count)
{
  size_t found = 0;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    if (is_of_roots && graph->nodes.list[i]->before.count) continue;
    if (list && found == *count) return;
    if (list) list[found] = graph->nodes.list[i];
    found++;
  }
  for (size_t i = found; list && i < *count; i++) list[i] = NULL;
  *count = found;
}

CUresult emu_GraphGetNodes(CUgraph graph, CUgraphNode *nodes, size_t *count)
{
  CUresult code = enter_graph(EMU_GraphGetNodes, graph);
  if (code) return code;
  if (!count) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  list_nodes(graph, false, nodes, count);
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_GraphGetRootNodes(CUgraph graph, CUgraphNode *nodes,
                               size_t *count)
{
  CUresult code = enter_graph(EMU_GraphGetRootNodes, graph);
  if (code) return code;
  if (!count) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  list_nodes(graph, true, nodes, count);
  return emu_leave(TN_CUDA_SUCCESS);
}

static CUresult list_edges(const emu_graph *graph, CUgraphNode *from,
                           CUgraphNode *to, CUgraphEdgeData *edges,
                           size_t *count)
{
  size_t found = 0;
  if (!count || !from != !to || (edges && !from))
    return TN_CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < graph->nodes.count; i++) {
    emu_node *node = graph->nodes.list[i];
    for (size_t j = 0; j < node->before.count; j++, found++) {
      if (from && found == *count) return TN_CUDA_SUCCESS;
      if (from) {
        from[found] = node->before.list[j];
        to[found] = node;
      }
      if (edges) memset(edges + found, 0, sizeof *edges);
    }
  }
  for (size_t i = found; from && i < *count; i++) from[i] = to[i] = NULL;
  *count = found;
  return TN_CUDA_SUCCESS;
}

CUresult emu_GraphGetEdges(CUgraph graph, CUgraphNode *from, CUgraphNode *to,
                           size_t *count)
{
  CUresult code = enter_graph(EMU_GraphGetEdges, graph);
  if (code) return code;
  return emu_leave(list_edges(graph, from, to, NULL, count));
}

CUresult emu_GraphGetEdges_v2(CUgraph graph, CUgraphNode *from,
                              CUgraphNode *to, CUgraphEdgeData *edges,
                              size_t *count)
{
  CUresult code = enter_graph(EMU_GraphGetEdges_v2, graph);
  if (code) return code;
  return emu_leave(list_edges(graph, from, to, edges, count));
}

CUresult emu_GraphNodeGetType(CUgraphNode node, CUgraphNodeType *type)
{
  CUresult code = emu_enter(EMU_GraphNodeGetType, 0);
  if (code) return code;
  if (!type || !emu_is_node(node))
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *type = (CUgraphNodeType)node->work->form->type;
  return emu_leave(TN_CUDA_SUCCESS);
}
