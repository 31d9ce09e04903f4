/* A view was changed in place: its base is now made by a node that applies
 * the formula of the operation to that part of the gradient which belongs to
 * the view, and hands on the rest. */
#include "config.h"

#include "tensor/autograd/slices.h"

#include <stdlib.h>

#include "tensor/autograd/fit.h"
#include "tensor/autograd/strided.h"

#define FEW_INPUTS 8

typedef struct slices_data {
  tn_node *inner;
  int which; /* of its inputs is the view, and of ours the base: one more
              * where it has no use for what the view was */
  tn_strided_data at;
} slices_data;

static void forget(void *data)
{
  slices_data *slices = data;
  tn_node_release(slices->inner);
}

/* The gradient of the old base: that of the new one with the view's part
 * replaced by `part` (NULL: 0). */
static tn_tensor *replaced(tn_tensor *whole, tn_tensor *slice,
                           const tn_node *inner, int which, tn_tensor *part)
{
  if (!part) return tn_zero_(slice) ? whole : NULL;
  part = tn_gradient_fit(part, &inner->edges[which]);
  return tn_copy_(slice, part) ? whole : NULL;
}

static tn_status slices_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  const slices_data *data = tn_node_data_of(node);
  tn_node *inner = data->inner;
  tn_tensor *slice;
  tn_tensor *whole = tn_strided_spread(&data->at, grads[0], &slice);
  tn_tensor *grad = tn_clone(slice);
  if (!grad) return tn_last_status();
  tn_status status = inner->kind->formula(inner, &grad, results);
  if (status != TN_OK || !node->edges[data->which].is_wanted) return status;
  tn_tensor *result = replaced(whole, slice, inner, data->which,
                               results[data->which]);
  results[data->which] = result;
  return result ? TN_OK : tn_last_status();
}

static const tn_node_kind slices_kind = {
  .name = "copy_slices", .formula = slices_formula, .forget = forget
};

static int which_input(const tn_node *inner, const tn_tensor *view)
{
  for (int i = 0; i < inner->input_count; i++)
    if (inner->edges[i].source == view) return i;
  return inner->input_count;
}

static tn_node *node_for_base(tn_tensor *base, int which, int count)
{
  tn_tensor *few[FEW_INPUTS] = { NULL }, **inputs = few;
  if (count > FEW_INPUTS) inputs = calloc((size_t)count, sizeof *inputs);
  if (!inputs) {
    tn_set_error(TN_OUT_OF_MEMORY, "no host memory for the record of a "
                 "change of %d tensors", count);
    return NULL;
  }
  inputs[which] = base;
  tn_node *node = tn_node_new(&slices_kind, inputs, count);
  if (inputs != few) free(inputs);
  return node;
}

/* The edges move from the inner node to this one, except the view's, in whose
 * place the base's is. */
static void take_edges(tn_node *node, tn_node *inner, int which)
{
  for (int i = 0; i < inner->input_count; i++) {
    tn_edge *edge = &inner->edges[i];
    if (i == which) {
      tn_edge_clear(edge);
      edge->is_wanted = node->edges[i].is_wanted;
    } else {
      node->edges[i] = *edge;
      edge->node = NULL;
      edge->leaf = NULL;
    }
  }
}

tn_node *tn_slices_node(tn_tensor *view, tn_node *inner)
{
  int which = which_input(inner, view), count = inner->input_count;
  tn_node *node = node_for_base(view->base, which,
                                which == count ? count + 1 : count);
  slices_data *data = tn_node_data(node, sizeof *data);
  if (!node || node->is_failed) {
    if (node) node->has_forgotten = true;
    tn_node_release(node);
    tn_node_release(inner);
    return NULL;
  }
  data->inner = inner;
  data->which = which;
  tn_strided_describe(&data->at, view, view->base);
  inner->is_wrapped = true;
  take_edges(node, inner, which);
  tn_node_place(node, view);
  return node;
}
