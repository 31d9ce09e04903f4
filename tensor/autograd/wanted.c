#include "config.h"

#include "tensor/autograd/wanted.h"

#include <stdlib.h>

/* Nodes in the order in which they are met. */
typedef struct node_list {
  tn_node **nodes;
  size_t count, capacity;
} node_list;

__thread const tn_wanted *tn_wanted_now;
__thread const tn_node *tn_wanted_node;

static tn_status out_of_memory(void)
{
  return tn_set_error(TN_OUT_OF_MEMORY, "grad_of: no host memory for the list "
                      "of operations");
}

/* ---- captures ---- */

static int by_key(const void *a, const void *b)
{
  const tn_capture *x = a, *y = b;
  if (x->key != y->key)
    return (uintptr_t)x->key < (uintptr_t)y->key ? -1 : 1;
  if (x->output != y->output) return x->output < y->output ? -1 : 1;
  return (x->input > y->input) - (x->input < y->input);
}

static bool is_before(const tn_capture *capture, const void *key, int output)
{
  if (capture->key != key)
    return (uintptr_t)capture->key < (uintptr_t)key;
  return capture->output < output;
}

tn_capture *tn_wanted_capture(const tn_wanted *wanted, const void *key,
                              int output)
{
  int low = 0, high = wanted->count;
  while (low < high) {
    int middle = low + (high - low) / 2;
    if (is_before(&wanted->captures[middle], key, output)) low = middle + 1;
    else high = middle;
  }
  if (low == wanted->count) return NULL;
  tn_capture *found = &wanted->captures[low];
  return found->key == key && found->output == output ? found : NULL;
}

static bool has_capture(const tn_wanted *wanted, const tn_edge *edge)
{
  const void *key = edge->node ? (const void *)edge->node : edge->leaf;
  return tn_wanted_capture(wanted, key, edge->output);
}

static void note_captures(tn_wanted *wanted, tn_tensor *const *inputs)
{
  for (int i = 0; i < wanted->count; i++) {
    tn_capture *capture = &wanted->captures[i];
    const tn_history *history = inputs[i]->history;
    capture->input = i;
    capture->key = history->node ? (const void *)history->node : inputs[i];
    capture->output = history->node ? history->output : 0;
    capture->sequence = history->node ? history->node->sequence : 0;
  }
  qsort(wanted->captures, (size_t)wanted->count, sizeof *wanted->captures,
        by_key);
}

/* ---- ways ---- */

static tn_way *way_of(const tn_wanted *wanted, const tn_node *node)
{
  uint64_t key = (uint64_t)(uintptr_t)node * UINT64_C(0x9E3779B97F4A7C15);
  size_t at = (size_t)(key >> 32) & (wanted->room - 1);
  while (wanted->ways[at].node && wanted->ways[at].node != node)
    at = (at + 1) & (wanted->room - 1);
  return &wanted->ways[at];
}

static bool grow_ways(tn_wanted *wanted)
{
  tn_wanted larger = { .room = wanted->room ? 2 * wanted->room : 64 };
  larger.ways = calloc(larger.room, sizeof *larger.ways);
  if (!larger.ways) return false;
  for (size_t i = 0; i < wanted->room; i++)
    if (wanted->ways[i].node)
      *way_of(&larger, wanted->ways[i].node) = wanted->ways[i];
  free(wanted->ways);
  wanted->ways = larger.ways;
  wanted->room = larger.room;
  return true;
}

static bool append(node_list *list, tn_node *node)
{
  if (list->count == list->capacity) {
    size_t capacity = list->capacity ? 2 * list->capacity : 64;
    tn_node **larger = realloc(list->nodes, capacity * sizeof *larger);
    if (!larger) return false;
    list->nodes = larger;
    list->capacity = capacity;
  }
  list->nodes[list->count++] = node;
  return true;
}

static bool meet(tn_wanted *wanted, node_list *list, tn_node *node)
{
  if (2 * (wanted->way_count + 1) > wanted->room && !grow_ways(wanted))
    return false;
  tn_way *way = way_of(wanted, node);
  if (way->node) return true;
  way->node = node;
  wanted->way_count++;
  return append(list, node);
}

/* Nodes older than all that is looked for lead to none of it. */
static uint64_t oldest_of(const tn_wanted *wanted)
{
  uint64_t oldest = UINT64_MAX;
  for (int i = 0; i < wanted->count; i++)
    if (wanted->captures[i].sequence < oldest)
      oldest = wanted->captures[i].sequence;
  return oldest;
}

static bool meet_all(tn_wanted *wanted, node_list *list,
                     tn_tensor *const *outputs, int n_outputs)
{
  uint64_t oldest = oldest_of(wanted);
  for (int i = 0; i < n_outputs; i++) {
    tn_node *node = outputs[i]->history->node;
    if (node && !meet(wanted, list, node)) return false;
  }
  for (size_t at = 0; at < list->count; at++) {
    const tn_node *node = list->nodes[at];
    for (int i = 0; i < node->input_count; i++) {
      tn_node *next = node->edges[i].node;
      if (next && next->sequence >= oldest && !meet(wanted, list, next))
        return false;
    }
  }
  return true;
}

static int by_sequence(const void *a, const void *b)
{
  const tn_node *x = *(tn_node *const *)a, *y = *(tn_node *const *)b;
  return (x->sequence > y->sequence) - (x->sequence < y->sequence);
}

/* The oldest first: what a node leads to is known before it. */
static void judge(tn_wanted *wanted, node_list *list)
{
  if (list->count == 0) return;
  qsort(list->nodes, list->count, sizeof(tn_node *), by_sequence);
  for (size_t at = 0; at < list->count; at++) {
    tn_node *node = list->nodes[at];
    bool leads_there = false;
    for (int i = 0; i < node->input_count && !leads_there; i++)
      leads_there = tn_wanted_edge(wanted, &node->edges[i]);
    way_of(wanted, node)->leads_there = leads_there;
  }
}

bool tn_wanted_runs(const tn_wanted *wanted, const tn_node *node)
{
  return wanted->room && way_of(wanted, node)->leads_there;
}

bool tn_wanted_edge(const tn_wanted *wanted, const tn_edge *edge)
{
  if (!edge->node && !edge->leaf) return false;
  return has_capture(wanted, edge) ||
         (edge->node && tn_wanted_runs(wanted, edge->node));
}

tn_status tn_wanted_init(tn_wanted *wanted, tn_tensor *const *outputs,
                         int n_outputs, tn_tensor *const *inputs,
                         int n_inputs)
{
  node_list list = { 0 };
  *wanted = (tn_wanted){ .count = n_inputs };
  wanted->captures = calloc((size_t)n_inputs, sizeof *wanted->captures);
  if (!wanted->captures) return out_of_memory();
  note_captures(wanted, inputs);
  bool is_done = meet_all(wanted, &list, outputs, n_outputs);
  if (is_done) judge(wanted, &list);
  free(list.nodes);
  if (is_done) return TN_OK;
  tn_wanted_clear(wanted);
  return out_of_memory();
}

void tn_wanted_clear(tn_wanted *wanted)
{
  for (int i = 0; wanted->captures && i < wanted->count; i++)
    tn_release(wanted->captures[i].grad);
  free(wanted->captures);
  free(wanted->ways);
  *wanted = (tn_wanted){ 0 };
}
