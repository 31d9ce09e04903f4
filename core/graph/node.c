#include "config.h"

#include "core/graph/node.h"

#include <stdlib.h>
#include <string.h>

#include "core/exec/tag.h"
#include "core/memory/pinned.h"

static tn_status out_of_memory(void)
{
  return tn_error(TN_OUT_OF_MEMORY, "no memory for a graph's nodes");
}

/* Room for one more. */
static bool reserve(void **items, size_t size, size_t count,
                    size_t *capacity)
{
  if (count < *capacity) return true;
  size_t wanted = *capacity ? 2 * *capacity : 4;
  void *larger = realloc(*items, wanted * size);
  if (!larger) return false;
  *items = larger;
  *capacity = wanted;
  return true;
}

tn_status tn_numbers_add(tn_numbers *numbers, uint32_t number)
{
  size_t capacity = numbers->capacity;
  void *items = numbers->items;
  if (!reserve(&items, sizeof *numbers->items, numbers->count, &capacity))
    return out_of_memory();
  numbers->items = items;
  numbers->capacity = (uint32_t)capacity;
  numbers->items[numbers->count++] = number;
  return TN_OK;
}

void tn_numbers_clear(tn_numbers *numbers)
{
  free(numbers->items);
  *numbers = (tn_numbers){ 0 };
}

tn_graph_node *tn_nodes_add(tn_nodes *nodes)
{
  void *items = nodes->items;
  if (nodes->count == UINT32_MAX ||
      !reserve(&items, sizeof *nodes->items, nodes->count,
               &nodes->capacity)) {
    out_of_memory();
    return NULL;
  }
  nodes->items = items;
  tn_graph_node *node = &nodes->items[nodes->count++];
  memset(node, 0, sizeof *node);
  return node;
}

void tn_graph_node_hold(tn_address held[2], const tn_copy_desc *copy)
{
  held[0] = tn_pinned_hold(copy->dst) ? copy->dst : 0;
  held[1] = tn_pinned_hold(copy->src) ? copy->src : 0;
}

void tn_graph_node_let_go(const tn_address held[2])
{
  for (int i = 0; i < 2; i++)
    if (held[i]) tn_pinned_let_go(held[i]);
}

static tn_status merge_one(const tn_nodes *nodes, tn_numbers *into,
                           uint32_t number)
{
  for (uint32_t i = 0; i < into->count; i++)
    if (nodes->items[into->items[i]].lane == nodes->items[number].lane) {
      if (into->items[i] < number) into->items[i] = number;
      return TN_OK;
    }
  return tn_numbers_add(into, number);
}

tn_status tn_nodes_merge(const tn_nodes *nodes, tn_numbers *into,
                         const tn_numbers *from)
{
  tn_status status = TN_OK;
  for (uint32_t i = 0; i < from->count && status == TN_OK; i++)
    status = merge_one(nodes, into, from->items[i]);
  return status;
}

void tn_nodes_clear(tn_nodes *nodes)
{
  for (size_t i = 0; i < nodes->count; i++) {
    tn_graph_node_let_go(nodes->items[i].pinned);
    tn_numbers_clear(&nodes->items[i].dependencies);
    tn_kernel_release(nodes->items[i].kernel);
    free(nodes->items[i].slots);
  }
  free(nodes->items);
  *nodes = (tn_nodes){ 0 };
}

const char *tn_graph_node_name(const tn_graph_node *node)
{
  switch (node->kind) {
  case TN_GRAPH_KERNEL: return node->kernel->name;
  case TN_GRAPH_COPY: return tn_tag_text(node->as.copy.tag);
  case TN_GRAPH_FILL: return tn_tag_text(node->as.fill.tag);
  default: return tn_tag_text(TN_TAG_HOST_FUNCTION);
  }
}

int64_t tn_graph_node_bytes(const tn_graph_node *node)
{
  const tn_copy_desc *copy = &node->as.copy;
  const tn_fill_desc *fill = &node->as.fill;
  if (node->kind == TN_GRAPH_COPY)
    return (int64_t)(copy->row_bytes * copy->rows * copy->depth);
  if (node->kind == TN_GRAPH_FILL)
    return (int64_t)(fill->count * fill->pattern_bytes);
  return 0;
}
