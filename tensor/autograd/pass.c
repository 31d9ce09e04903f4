/* Streams: each formula runs on the stream of its operation. A gradient that
 * goes from one to another makes that one wait, and its memory is not handed
 * out again before the other is done with it. Leaves are the caller's: they
 * accumulate on his current stream, those whose gradient was computed
 * elsewhere at the end of the pass, so that streams work side by side. */
#include "config.h"

#include "tensor/autograd/pass.h"

#include <stdlib.h>

#include "tensor/autograd/fit.h"
#include "tensor/autograd/frontier.h"
#include "tensor/autograd/leaf.h"

#define FEW_INPUTS 8

/* A gradient on its way. */
typedef struct sent_gradient {
  tn_tensor *grad;   /* referenced; NULL: none */
  tn_stream *stream; /* that it was computed on, borrowed */
} sent_gradient;

/* One for a leaf, computed on another stream than the caller's. */
typedef struct late_arrival {
  tn_tensor **at;
  sent_gradient arrival;
} late_arrival;

struct tn_pass {
  tn_frontier frontier;
  tn_wanted *wanted; /* NULL: leaves accumulate */
  bool retains_graph;
  late_arrival *late;
  size_t late_count, late_capacity;
};

/* ---- streams ---- */

/* Makes a stream wait for what a tensor holds, and use its memory: whoever
 * queues a use there records it afterwards. */
static tn_status cross(tn_tensor *t, tn_stream *from, tn_stream *to)
{
  if (from == to || !from || !to) return TN_OK;
  atomic_store(&t->storage->is_used_elsewhere, true);
  return tn_stream_wait_stream(to, from);
}

/* Where the gradients of a node's outputs are computed. */
static tn_stream *stream_for(const tn_node *node, const tn_place *place)
{
  return place == node->place ? node->stream
                              : tn_current_stream(place->device);
}

static tn_stream_guard enter(tn_stream *stream, bool *is_entered)
{
  tn_stream_guard guard = { 0 };
  *is_entered = true;
  if (!stream || tn_current_stream(tn_stream_device(stream)) == stream)
    return guard;
  guard = tn_stream_push(stream);
  *is_entered = guard.active;
  return guard;
}

/* ---- arrivals ---- */

static tn_status sum_on(tn_stream *stream, tn_tensor **sum, tn_tensor *more)
{
  bool is_entered;
  tn_stream_guard guard = enter(stream, &is_entered);
  if (is_entered) *sum = tn_gradient_sum(*sum, more);
  else tn_release(more);
  tn_stream_pop(&guard);
  return is_entered && *sum ? TN_OK : tn_last_status();
}

static tn_status arrive_at_node(tn_pass *pass, tn_node *node, int output,
                                sent_gradient arrival)
{
  tn_stream *stream = stream_for(node, tn_tensor_place(arrival.grad));
  tn_pending *pending = tn_frontier_at(&pass->frontier, node);
  tn_status status = pending ? cross(arrival.grad, arrival.stream, stream)
                             : tn_last_status();
  if (status != TN_OK) {
    tn_release(arrival.grad);
    return status;
  }
  tn_tensor **grad = &tn_pending_grads(pending)[output];
  if (*grad) return sum_on(stream, grad, arrival.grad);
  *grad = arrival.grad;
  return TN_OK;
}

/* The caller's current stream of the gradient's device takes it; in memory of
 * that stream's, which the caller may use and let go as any other. */
static tn_status take(const tn_pass *pass, tn_tensor **at,
                      sent_gradient arrival)
{
  tn_stream *stream =
    tn_current_stream(tn_tensor_place(arrival.grad)->device);
  tn_status status = cross(arrival.grad, arrival.stream, stream);
  if (status != TN_OK) {
    tn_release(arrival.grad);
    return status;
  }
  if (arrival.stream != stream && arrival.stream && stream)
    arrival.grad = tn_gradient_copy(arrival.grad);
  if (!arrival.grad) return tn_last_status();
  if (!pass->wanted) return tn_gradient_accumulate(at, arrival.grad);
  *at = *at ? tn_gradient_sum(*at, arrival.grad) : arrival.grad;
  return *at ? TN_OK : tn_last_status();
}

static tn_status take_late(tn_pass *pass, tn_tensor **at, sent_gradient arrival)
{
  if (pass->late_count == pass->late_capacity) {
    size_t capacity = pass->late_capacity ? 2 * pass->late_capacity : 16;
    late_arrival *larger = realloc(pass->late, capacity * sizeof *larger);
    if (!larger) {
      tn_release(arrival.grad);
      return tn_set_error(TN_OUT_OF_MEMORY, "backward: no host memory for the "
                          "list of %zu gradients", capacity);
    }
    pass->late = larger;
    pass->late_capacity = capacity;
  }
  pass->late[pass->late_count++] = (late_arrival){ at, arrival };
  return TN_OK;
}

static tn_status arrive_for_caller(tn_pass *pass, tn_tensor **at,
                                   sent_gradient arrival)
{
  tn_device device = tn_tensor_place(arrival.grad)->device;
  if (arrival.stream == tn_current_stream(device))
    return take(pass, at, arrival);
  return take_late(pass, at, arrival);
}

/* Leaves of a module can be moved while what was computed of them lives on. */
static tn_status check_leaf(const tn_tensor *leaf, const tn_tensor *grad)
{
  if (leaf->dtype == grad->dtype &&
      tn_tensor_place(leaf) == tn_tensor_place(grad))
    return TN_OK;
  return tn_set_error(TN_MODIFIED_IN_PLACE, "backward: a gradient of %s on %s "
                      "for a leaf that is %s on %s now: it was moved after it "
                      "was used", tn_dtype_name((tn_dtype)grad->dtype),
                      tn_tensor_place(grad)->name,
                      tn_dtype_name((tn_dtype)leaf->dtype),
                      tn_tensor_place(leaf)->name);
}

static tn_status arrive_at_leaf(tn_pass *pass, tn_tensor *leaf,
                                sent_gradient arrival)
{
  if (!pass->wanted && leaf->history && leaf->history->requires_grad) {
    tn_status status = check_leaf(leaf, arrival.grad);
    if (status == TN_OK)
      return arrive_for_caller(pass, &leaf->history->grad, arrival);
    tn_release(arrival.grad);
    return status;
  }
  tn_capture *capture =
    pass->wanted ? tn_wanted_capture(pass->wanted, leaf, 0) : NULL;
  if (capture) return arrive_for_caller(pass, &capture->grad, arrival);
  tn_release(arrival.grad);
  return TN_OK;
}

static tn_status arrive(tn_pass *pass, const tn_edge *edge,
                        sent_gradient arrival)
{
  if (edge->node)
    return arrive_at_node(pass, edge->node, edge->output, arrival);
  return arrive_at_leaf(pass, edge->leaf, arrival);
}

static tn_status settle(tn_pass *pass)
{
  tn_status status = TN_OK;
  for (size_t i = 0; i < pass->late_count; i++) {
    late_arrival *late = &pass->late[i];
    if (status == TN_OK) status = take(pass, late->at, late->arrival);
    else tn_release(late->arrival.grad);
  }
  free(pass->late);
  return status;
}

/* ---- nodes ---- */

static tn_status refuse(const tn_node *node)
{
  if (node->kind->once && tn_is_grad_enabled())
    return tn_set_error(TN_UNSUPPORTED, "backward of %s cannot be "
                        "differentiated: create_graph is refused",
                        node->kind->name);
  if (node->has_forgotten)
    return tn_set_error(TN_INVALID_ARGUMENT, "backward of %s: what it kept was "
                        "freed by an earlier backward: retain_graph there "
                        "keeps it", node->kind->name);
  return TN_OK;
}

/* Outputs without influence have gradient 0. */
static tn_status fill_in(const tn_node *node, tn_tensor **grads)
{
  for (int i = 0; i < node->output_count; i++) {
    const tn_node_output *output = &node->outputs[i];
    if (grads[i]) continue;
    tn_shape shape = { output->sizes, output->ndim };
    grads[i] = tn_retain(tn_zeros(shape, .device = output->place->device,
                                  .dtype = (tn_dtype)output->dtype));
    if (!grads[i]) return tn_last_status();
  }
  return TN_OK;
}

static bool is_for_edge(const tn_pass *pass, const tn_edge *edge)
{
  if (!edge->node && !edge->leaf) return false;
  return !pass->wanted || tn_wanted_edge(pass->wanted, edge);
}

/* The results in the form of the inputs, out of the formula's scope. */
static tn_status collect(const tn_pass *pass, const tn_node *node,
                         tn_tensor **results, sent_gradient *arrivals)
{
  for (int i = 0; i < node->input_count; i++) {
    const tn_edge *edge = &node->edges[i];
    if (!results[i] || !is_for_edge(pass, edge)) continue;
    tn_tensor *grad = tn_gradient_fit(results[i], edge);
    if (!grad) return tn_last_status();
    arrivals[i].grad = tn_retain(grad);
    arrivals[i].stream = stream_for(node, tn_tensor_place(grad));
  }
  return TN_OK;
}

/* What arrived and what it saved may have been allocated for another stream. */
static tn_status record_grads(const tn_node *node, tn_tensor **grads)
{
  for (int i = 0; i < node->output_count; i++) {
    if (!grads[i]) continue;
    tn_stream *stream = stream_for(node, tn_tensor_place(grads[i]));
    tn_status status = stream ? tn_record_stream(grads[i], stream) : TN_OK;
    if (status != TN_OK) return status;
  }
  return TN_OK;
}

static tn_status record_saved(const tn_node *node)
{
  for (int i = 0; i < node->saved_count; i++) {
    tn_tensor *t = node->saved[i].tensor;
    if (!t) continue;
    tn_stream *stream = stream_for(node, tn_tensor_place(t));
    tn_status status = tn_record_stream(t, stream);
    if (status != TN_OK) return status;
  }
  return TN_OK;
}

/* A formula may begin a pass of its own. */
static tn_status call_formula(const tn_pass *pass, tn_node *node,
                              tn_tensor **grads, tn_tensor **results)
{
  const tn_wanted *outer = tn_wanted_now;
  const tn_node *outer_node = tn_wanted_node;
  tn_wanted_now = pass->wanted;
  tn_wanted_node = node;
  tn_status status = node->kind->formula(node, grads, results);
  tn_wanted_now = outer;
  tn_wanted_node = outer_node;
  return status;
}

static tn_status compute(const tn_pass *pass, tn_node *node,
                         tn_tensor **grads, tn_tensor **results,
                         sent_gradient *arrivals)
{
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_status status = node->outputs ? fill_in(node, grads) : TN_OK;
  if (status == TN_OK) status = call_formula(pass, node, grads, results);
  if (status == TN_OK) status = collect(pass, node, results, arrivals);
  if (status == TN_OK) status = record_grads(node, grads);
  if (status == TN_OK) status = record_saved(node);
  tn_scope_pop(&scope);
  return status;
}

static tn_status compute_on_streams(const tn_pass *pass, tn_node *node,
                                    tn_tensor **grads, tn_tensor **results,
                                    sent_gradient *arrivals)
{
  bool has_far, has_near;
  tn_stream_guard far_guard = enter(node->far_stream, &has_far);
  tn_stream_guard near_guard = enter(node->stream, &has_near);
  tn_status status = has_far && has_near
    ? compute(pass, node, grads, results, arrivals) : tn_last_status();
  tn_stream_pop(&near_guard);
  tn_stream_pop(&far_guard);
  return status;
}

static tn_status hand_out(tn_pass *pass, tn_node *node, sent_gradient *arrivals,
                          tn_status status)
{
  for (int i = 0; i < node->input_count; i++) {
    if (!arrivals[i].grad) continue;
    if (status == TN_OK) status = arrive(pass, &node->edges[i], arrivals[i]);
    else tn_release(arrivals[i].grad);
  }
  return status;
}

static tn_status run_in(tn_pass *pass, tn_pending *pending,
                        tn_tensor **results, sent_gradient *arrivals)
{
  tn_node *node = pending->node;
  for (int i = 0; i < node->input_count; i++) {
    results[i] = NULL;
    arrivals[i].grad = NULL;
  }
  tn_status status = compute_on_streams(pass, node, tn_pending_grads(pending),
                                        results, arrivals);
  tn_frontier_free(&pass->frontier, pending);
  if (status == TN_OK && !pass->retains_graph) tn_node_forget(node);
  return hand_out(pass, node, arrivals, status);
}

static tn_status run_many(tn_pass *pass, tn_pending *pending)
{
  size_t count = (size_t)pending->node->input_count;
  tn_tensor **results = malloc(count * sizeof *results);
  sent_gradient *arrivals = malloc(count * sizeof *arrivals);
  tn_status status;
  if (results && arrivals)
    status = run_in(pass, pending, results, arrivals);
  else {
    tn_frontier_free(&pass->frontier, pending);
    status = tn_set_error(TN_OUT_OF_MEMORY, "backward: no host memory for %zu "
                          "gradients", count);
  }
  free(results);
  free(arrivals);
  return status;
}

static tn_status run(tn_pass *pass, tn_pending *pending)
{
  tn_tensor *results[FEW_INPUTS];
  sent_gradient arrivals[FEW_INPUTS];
  tn_status status = refuse(pending->node);
  if (status != TN_OK) {
    tn_frontier_free(&pass->frontier, pending);
    return status;
  }
  if (pending->node->input_count > FEW_INPUTS) return run_many(pass, pending);
  return run_in(pass, pending, results, arrivals);
}

/* ---- the pass ---- */

static sent_gradient of_output(const tn_node *node, tn_tensor *grad)
{
  return (sent_gradient){ tn_retain(grad),
                    stream_for(node, tn_tensor_place(grad)) };
}

/* Gradients of tensors that are no leaves, for those who asked for them. */
static tn_status show(tn_pass *pass, tn_node *node, tn_tensor **grads)
{
  tn_status status = TN_OK;
  if (pass->wanted) {
    for (int i = 0; i < node->output_count && status == TN_OK; i++) {
      tn_capture *capture = tn_wanted_capture(pass->wanted, node, i);
      if (capture && grads[i])
        status = arrive_for_caller(pass, &capture->grad,
                                   of_output(node, grads[i]));
    }
    return status;
  }
  for (tn_kept_grad *kept = node->kept; kept && status == TN_OK;
       kept = kept->next)
    if (grads[kept->output])
      status = arrive_for_caller(pass, &kept->grad,
                                 of_output(node, grads[kept->output]));
  return status;
}

static tn_status step(tn_pass *pass, tn_pending *pending)
{
  tn_node *node = pending->node;
  tn_status status = TN_OK;
  if (pass->wanted || node->kept)
    status = show(pass, node, tn_pending_grads(pending));
  if (status == TN_OK && (!pass->wanted || tn_wanted_runs(pass->wanted, node)))
    return run(pass, pending);
  tn_frontier_free(&pass->frontier, pending);
  return status;
}

static tn_status begin(tn_pass *pass, tn_tensor *output, tn_tensor *gradient)
{
  tn_history *history = output->history;
  sent_gradient arrival = {
    tn_retain(gradient), tn_current_stream(tn_tensor_place(gradient)->device)
  };
  if (history->node)
    return arrive_at_node(pass, history->node, history->output, arrival);
  return arrive_at_leaf(pass, output, arrival);
}

static tn_status walk(tn_pass *pass)
{
  tn_status status = TN_OK;
  tn_pending *pending;
  while (status == TN_OK && (pending = tn_frontier_pop(&pass->frontier)))
    status = step(pass, pending);
  return status;
}

tn_status tn_pass_run(tn_tensor *const *outputs, tn_tensor *const *gradients,
                      int count, tn_wanted *wanted, bool retain_graph)
{
  tn_pass pass = { .wanted = wanted, .retains_graph = retain_graph };
  tn_status status = TN_OK;
  tn_frontier_init(&pass.frontier);
  for (int i = 0; i < count && status == TN_OK; i++)
    status = begin(&pass, outputs[i], gradients[i]);
  if (status == TN_OK) status = walk(&pass);
  tn_frontier_clear(&pass.frontier);
  tn_status settled = settle(&pass);
  return status == TN_OK ? settled : status;
}
