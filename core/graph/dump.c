/* Graphs to look at. */
#include "config.h"

#include <inttypes.h>

#include "core/graph/graph.h"

static tn_status check(const tn_graph *graph, const void *out,
                       const char *what)
{
  if (!graph) return tn_error(TN_INVALID_ARGUMENT, "graph is NULL");
  if (!out) return tn_error(TN_INVALID_ARGUMENT, "%s is NULL", what);
  return TN_OK;
}

/* What a full disk refuses shows at the flush. */
static tn_status done(FILE *file)
{
  return fflush(file) || ferror(file)
             ? tn_error(TN_INVALID_ARGUMENT, "writing the graph failed")
             : TN_OK;
}

size_t tn_graph_node_count(const tn_graph *graph)
{
  if (!graph) return 0;
  tn_graph_lock_nodes(graph);
  size_t count = graph->nodes.count;
  tn_graph_unlock_nodes(graph);
  return count;
}

static tn_status get_node(const tn_graph *graph, size_t number,
                          tn_graph_node_info *out)
{
  if (number >= graph->nodes.count)
    return tn_error(TN_INVALID_ARGUMENT, "graph node %zu: there are %zu",
                    number, graph->nodes.count);
  const tn_graph_node *node = &graph->nodes.items[number];
  *out = (tn_graph_node_info){
    .kind = node->kind,
    .name = tn_graph_node_name(node),
    .bytes = tn_graph_node_bytes(node),
    .stream = node->lane,
    .dependency_count = node->dependencies.count,
    .dependencies = node->dependencies.items,
  };
  return TN_OK;
}

tn_status tn_graph_get_node(const tn_graph *graph, size_t number,
                            tn_graph_node_info *out)
{
  tn_status status = check(graph, out, "out");
  if (status != TN_OK) return status;
  tn_graph_lock_nodes(graph);
  status = get_node(graph, number, out);
  tn_graph_unlock_nodes(graph);
  return status;
}

/* "add_f32" or "copy host to device, 4096 bytes" */
static void print_label(const tn_graph_node *node, FILE *file)
{
  int64_t bytes = tn_graph_node_bytes(node);
  fputs(tn_graph_node_name(node), file);
  if (bytes) fprintf(file, ", %" PRId64 " bytes", bytes);
}

tn_status tn_graph_dump(tn_graph *graph, FILE *dot)
{
  tn_status status = check(graph, dot, "file");
  if (status != TN_OK) return status;
  tn_graph_lock_nodes(graph);
  fputs("digraph tenon {\n  node [shape=box];\n", dot);
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const tn_graph_node *node = &graph->nodes.items[i];
    fprintf(dot, "  n%zu [label=\"%zu: ", i, i);
    print_label(node, dot);
    fprintf(dot, "\\nstream %d\"];\n", node->lane);
    for (uint32_t k = 0; k < node->dependencies.count; k++)
      fprintf(dot, "  n%" PRIu32 " -> n%zu;\n", node->dependencies.items[k],
              i);
  }
  tn_graph_unlock_nodes(graph);
  fputs("}\n", dot);
  return done(dot);
}

tn_status tn_graph_list(tn_graph *graph, FILE *text)
{
  tn_status status = check(graph, text, "file");
  if (status != TN_OK) return status;
  tn_graph_lock_nodes(graph);
  for (size_t i = 0; i < graph->nodes.count; i++) {
    const tn_graph_node *node = &graph->nodes.items[i];
    fprintf(text, "%6zu  stream %d  ", i, node->lane);
    print_label(node, text);
    for (uint32_t k = 0; k < node->dependencies.count; k++)
      fprintf(text, "%s%" PRIu32, k ? ", " : "  after ",
              node->dependencies.items[k]);
    fputc('\n', text);
  }
  tn_graph_unlock_nodes(graph);
  return done(text);
}
