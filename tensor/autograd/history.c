/* Where a tensor came from, as far as gradients go. */
#include "config.h"

#include "tensor/autograd/history.h"

#include <pthread.h>
#include <stdlib.h>

#include "tensor/autograd/graph.h"
#include "tensor/autograd/strided.h"

/* Views that several threads read may be found out of date by all. */
static pthread_mutex_t following = PTHREAD_MUTEX_INITIALIZER;

tn_history *tn_history_of(tn_tensor *t)
{
  if (t->history) return t->history;
  t->history = calloc(1, sizeof *t->history);
  if (!t->history)
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a tensor's history");
  return t->history;
}

static void release_kept(tn_kept_grad *kept)
{
  if (!kept || !tn_refs_release(&kept->refs)) return;
  tn_release(kept->grad);
  free(kept);
}

static void forget(tn_history *history)
{
  tn_node *node = history->node;
  tn_release(history->grad);
  release_kept(history->kept);
  if (!history->is_in_node) free(history);
  tn_node_release(node);
}

__attribute__((constructor)) static void connect(void)
{
  tn_history_forget = forget;
}

/* Out of its node's memory, so that it can do without the node. */
static bool move_out(tn_tensor *t)
{
  if (!t->history->is_in_node) return true;
  tn_history *moved = malloc(sizeof *moved);
  if (!moved) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for a tensor's history");
    return false;
  }
  *moved = *t->history;
  moved->is_in_node = false;
  t->history = moved;
  return true;
}

/* A gradient that is kept follows the tensor to its new node. */
static void move_kept(tn_history *history, tn_node *node, int output)
{
  tn_kept_grad *kept = history->kept;
  if (!kept || !history->node) return;
  tn_kept_grad **at = &history->node->kept;
  while (*at && *at != kept) at = &(*at)->next;
  if (!*at) return;
  *at = kept->next;
  kept->output = output;
  kept->next = node->kept;
  node->kept = kept;
}

/* The node that is no longer needed goes to *before. */
static bool exchange(tn_tensor *t, tn_node *node, int output,
                     tn_node **before)
{
  *before = node;
  if (!tn_history_of(t) || !move_out(t)) return false;
  tn_history *history = t->history;
  *before = history->node;
  if (node) move_kept(history, node, output);
  history->node = node;
  history->output = output;
  return true;
}

bool tn_history_set_node(tn_tensor *t, tn_node *node, int output)
{
  tn_node *before;
  bool is_done = exchange(t, node, output, &before);
  tn_node_release(before);
  return is_done;
}

bool tn_history_count_change(tn_tensor *t)
{
  if (!tn_history_of(t)) return false;
  t->history->changes++;
  return true;
}

/* As a piece of the base's memory; nothing more is known of it. */
static tn_node *strided_node(tn_tensor *view)
{
  tn_tensor *base = view->base;
  tn_node *node = tn_node_new(&tn_as_strided_kind, &base, 1);
  tn_strided_describe(tn_node_data(node, sizeof(tn_strided_data)), view, base);
  if (!node) return NULL;
  if (!node->is_failed) {
    tn_node_place(node, view);
    return node;
  }
  tn_node_release(node);
  return NULL;
}

static bool follow(tn_tensor *view, tn_node **before)
{
  tn_tensor *base = view->base;
  tn_node *node = NULL;
  if (tn_history_needs_grad(base)) {
    node = strided_node(view);
    if (!node) return false;
  }
  if (!exchange(view, node, 0, before)) return false;
  atomic_store_explicit(&view->base_changes, tn_history_changes(base),
                        memory_order_release);
  return true;
}

bool tn_history_follow(tn_tensor *view)
{
  tn_node *before = NULL; /* freeing it may call functions of the user */
  pthread_mutex_lock(&following);
  bool is_done = !tn_view_is_outdated(view) || follow(view, &before);
  pthread_mutex_unlock(&following);
  tn_node_release(before);
  return is_done;
}
