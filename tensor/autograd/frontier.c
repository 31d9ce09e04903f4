#include "config.h"

#include "tensor/autograd/frontier.h"

#include <stdlib.h>
#include <string.h>

#define LENGTH(array) (sizeof(array) / sizeof(array)[0])

void tn_frontier_init(tn_frontier *frontier)
{
  frontier->heap = frontier->heap_inline;
  frontier->table = frontier->table_inline;
  frontier->count = 0;
  frontier->capacity = LENGTH(frontier->heap_inline);
  frontier->spare = NULL;
  memset(frontier->table_inline, 0, sizeof frontier->table_inline);
  for (size_t i = 0; i < LENGTH(frontier->few); i++) {
    frontier->few[i].next = frontier->spare;
    frontier->spare = &frontier->few[i];
  }
}

static bool is_of_few(const tn_frontier *frontier, const tn_pending *pending)
{
  return pending >= frontier->few &&
         pending < frontier->few + LENGTH(frontier->few);
}

void tn_frontier_free(tn_frontier *frontier, tn_pending *pending)
{
  if (pending->grads)
    for (int i = 0; i < pending->node->output_count; i++)
      tn_release(pending->grads[i]);
  free(pending->grads);
  tn_release(pending->grad);
  pending->next = frontier->spare;
  frontier->spare = pending;
}

void tn_frontier_clear(tn_frontier *frontier)
{
  for (size_t i = 0; i < frontier->count; i++)
    tn_frontier_free(frontier, frontier->heap[i]);
  while (frontier->spare) {
    tn_pending *pending = frontier->spare;
    frontier->spare = pending->next;
    if (!is_of_few(frontier, pending)) free(pending);
  }
  if (frontier->heap != frontier->heap_inline) free(frontier->heap);
  if (frontier->table != frontier->table_inline) free(frontier->table);
}

/* ---- the table ---- */

static size_t mask_of(const tn_frontier *frontier)
{
  return 2 * frontier->capacity - 1;
}

static size_t home_of(const tn_frontier *frontier, const tn_node *node)
{
  uint64_t key = (uint64_t)(uintptr_t)node * UINT64_C(0x9E3779B97F4A7C15);
  return (size_t)(key >> 32) & mask_of(frontier);
}

/* Where the node is, or the free place where it belongs. */
static size_t place_of(const tn_frontier *frontier, const tn_node *node)
{
  size_t at = home_of(frontier, node);
  while (frontier->table[at] && frontier->table[at]->node != node)
    at = (at + 1) & mask_of(frontier);
  return at;
}

/* What is found by way of the place that becomes free moves there. */
static void take_out(tn_frontier *frontier, const tn_node *node)
{
  size_t mask = mask_of(frontier), hole = place_of(frontier, node);
  for (size_t at = (hole + 1) & mask; frontier->table[at];
       at = (at + 1) & mask) {
    size_t home = home_of(frontier, frontier->table[at]->node);
    if (((at - home) & mask) < ((at - hole) & mask)) continue;
    frontier->table[hole] = frontier->table[at];
    hole = at;
  }
  frontier->table[hole] = NULL;
}

/* ---- the heap ---- */

static bool is_later(const tn_frontier *frontier, size_t a, size_t b)
{
  return frontier->heap[a]->node->sequence > frontier->heap[b]->node->sequence;
}

static void exchange(tn_frontier *frontier, size_t a, size_t b)
{
  tn_pending *pending = frontier->heap[a];
  frontier->heap[a] = frontier->heap[b];
  frontier->heap[b] = pending;
}

static void rise(tn_frontier *frontier, size_t at)
{
  while (at > 0 && is_later(frontier, at, (at - 1) / 2)) {
    exchange(frontier, at, (at - 1) / 2);
    at = (at - 1) / 2;
  }
}

static void sink(tn_frontier *frontier)
{
  size_t at = 0, child;
  while ((child = 2 * at + 1) < frontier->count) {
    if (child + 1 < frontier->count && is_later(frontier, child + 1, child))
      child++;
    if (!is_later(frontier, child, at)) return;
    exchange(frontier, child, at);
    at = child;
  }
}

/* ---- both ---- */

static bool grow(tn_frontier *frontier)
{
  size_t capacity = 2 * frontier->capacity;
  tn_pending **heap = malloc(capacity * sizeof *heap);
  tn_pending **table = calloc(2 * capacity, sizeof *table);
  if (!heap || !table) {
    free(heap);
    free(table);
    return false;
  }
  memcpy(heap, frontier->heap, frontier->count * sizeof *heap);
  if (frontier->heap != frontier->heap_inline) free(frontier->heap);
  if (frontier->table != frontier->table_inline) free(frontier->table);
  frontier->heap = heap;
  frontier->table = table;
  frontier->capacity = capacity;
  for (size_t i = 0; i < frontier->count; i++)
    table[place_of(frontier, heap[i]->node)] = heap[i];
  return true;
}

static tn_pending *entry_for(tn_frontier *frontier, tn_node *node)
{
  tn_pending *pending = frontier->spare;
  if (pending) frontier->spare = pending->next;
  else pending = malloc(sizeof *pending);
  if (!pending) return NULL;
  pending->node = node;
  pending->grad = NULL;
  pending->grads = NULL;
  if (node->output_count == 1) return pending;
  pending->grads = calloc((size_t)node->output_count,
                          sizeof *pending->grads);
  if (pending->grads) return pending;
  pending->next = frontier->spare;
  frontier->spare = pending;
  return NULL;
}

tn_pending *tn_frontier_at(tn_frontier *frontier, tn_node *node)
{
  size_t at = place_of(frontier, node);
  if (frontier->table[at]) return frontier->table[at];
  bool has_room = frontier->count < frontier->capacity || grow(frontier);
  tn_pending *pending = has_room ? entry_for(frontier, node) : NULL;
  if (!pending) {
    tn_set_error(TN_OUT_OF_MEMORY, "backward: no host memory for the list of "
                 "%zu operations", frontier->count + 1);
    return NULL;
  }
  frontier->table[place_of(frontier, node)] = pending;
  frontier->heap[frontier->count] = pending;
  rise(frontier, frontier->count++);
  return pending;
}

tn_pending *tn_frontier_pop(tn_frontier *frontier)
{
  if (frontier->count == 0) return NULL;
  tn_pending *pending = frontier->heap[0];
  take_out(frontier, pending->node);
  frontier->heap[0] = frontier->heap[--frontier->count];
  sink(frontier);
  return pending;
}
