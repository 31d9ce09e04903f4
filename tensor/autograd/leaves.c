#include "config.h"

#include "tensor/autograd/leaves.h"

#include <stdlib.h>

#include "tensor/autograd/graph.h"

/* Things that were met, in order, and a table to find them in by address. */
typedef struct met {
  const void **items;
  size_t count, capacity;
  size_t *table; /* number of an item plus 1; `room` is a power of 2 */
  size_t room;
} met;

static size_t place_of(const met *of, const void *item)
{
  uint64_t key = (uint64_t)(uintptr_t)item * UINT64_C(0x9E3779B97F4A7C15);
  size_t at = (size_t)(key >> 32) & (of->room - 1);
  while (of->table[at] && of->items[of->table[at] - 1] != item)
    at = (at + 1) & (of->room - 1);
  return at;
}

static bool grow(met *of)
{
  size_t capacity = of->capacity ? 2 * of->capacity : 64;
  size_t *table = calloc(2 * capacity, sizeof *table);
  const void **items = realloc(of->items, capacity * sizeof *items);
  if (items) of->items = items;
  if (!items || !table) {
    free(table);
    return false;
  }
  free(of->table);
  of->table = table;
  of->capacity = capacity;
  of->room = 2 * capacity;
  for (size_t i = 0; i < of->count; i++)
    table[place_of(of, items[i])] = i + 1;
  return true;
}

static bool meet(met *of, const void *item)
{
  if (!item) return true;
  if (of->count == of->capacity && !grow(of)) return false;
  size_t at = place_of(of, item);
  if (of->table[at]) return true;
  of->items[of->count++] = item;
  of->table[at] = of->count;
  return true;
}

static bool walk(const tn_tensor *output, met *nodes, met *leaves)
{
  const tn_history *history = output->history;
  if (!history) return true;
  if (!history->node)
    return !history->requires_grad || meet(leaves, output);
  if (!meet(nodes, history->node)) return false;
  for (size_t at = 0; at < nodes->count; at++) {
    const tn_node *node = nodes->items[at];
    for (int i = 0; i < node->input_count; i++)
      if (!meet(nodes, node->edges[i].node) ||
          !meet(leaves, node->edges[i].leaf))
        return false;
  }
  return true;
}

tn_status tn_leaves_of(const tn_tensor *output, tn_tensor ***leaves,
                       int *count)
{
  met nodes = { 0 }, found = { 0 };
  bool is_done = walk(output, &nodes, &found);
  if (is_done && found.count == 0) is_done = grow(&found);
  free(nodes.items);
  free(nodes.table);
  free(found.table);
  if (!is_done) {
    free(found.items);
    return tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the list of "
                        "leaves");
  }
  *leaves = (tn_tensor **)(uintptr_t)found.items;
  *count = (int)found.count;
  for (int i = 0; i < *count; i++) tn_retain((*leaves)[i]);
  return TN_OK;
}
