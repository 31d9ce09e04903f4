/* Losses. */
#include "config.h"

#include <inttypes.h>
#include <stdlib.h>

#include "tenon/graph.h"
#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/rows.h"

typedef struct nll_data {
  int64_t ignored, classes;
} nll_data;

/* ---- checks ---- */

static tn_status check_target(const tn_tensor *x, const tn_tensor *target,
                              const char *name)
{
  if (!tn_dtype_is_float((tn_dtype)x->dtype))
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: scores of dtype %s: f32 and "
                        "f64 are possible", name,
                        tn_dtype_name((tn_dtype)x->dtype));
  if (target->dtype != TN_I64)
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: targets of dtype %s: i64 is "
                        "needed", name,
                        tn_dtype_name((tn_dtype)target->dtype));
  if (tn_tensor_place(x) != tn_tensor_place(target))
    return tn_set_error(TN_DEVICE_MISMATCH, "%s: scores on %s and targets on "
                        "%s: they must be on one device (move one with "
                        "tn_to)", name, tn_tensor_place(x)->name,
                        tn_tensor_place(target)->name);
  if (x->ndim == 2 && target->ndim == 1 && target->sizes[0] == x->sizes[0])
    return TN_OK;
  return tn_set_error(TN_SHAPE_MISMATCH, "%s: scores %s and targets %s: [n, "
                      "classes] and [n] are needed", name,
                      tn_shape_text(tn_tensor_shape(x)),
                      tn_shape_text(tn_tensor_shape(target)));
}

static tn_status check_reduction(tn_loss_reduction reduction,
                                 const char *name)
{
  if (reduction == TN_LOSS_MEAN || reduction == TN_LOSS_SUM ||
      reduction == TN_LOSS_NONE)
    return TN_OK;
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: reduction %d: TN_LOSS_MEAN, "
                      "TN_LOSS_SUM and TN_LOSS_NONE are possible", name,
                      (int)reduction);
}

static tn_status bad_class(const int64_t *target, int64_t n, nll_data data,
                           const char *name)
{
  for (int64_t i = 0; i < n; i++)
    if (target[i] != data.ignored &&
        (target[i] < 0 || target[i] >= data.classes))
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: target %" PRId64 " at "
                          "position %" PRId64 ": classes are 0 to %" PRId64
                          ", and %" PRId64 " is ignored", name, target[i], i,
                          data.classes - 1, data.ignored);
  return TN_OK;
}

/* target is contiguous. Its values are looked at on the host, once what is
 * queued on the current stream is done; not while that is captured. */
static tn_status check_classes(const tn_tensor *target, nll_data data,
                               const char *name)
{
  tn_device device = tn_tensor_place(target)->device;
  const int64_t *there = tn_tensor_address(target);
  int64_t n = target->numel;
  if (n == 0 || tn_is_current_stream_capturing(device)) return TN_OK;
  if (tn_tensor_place(target)->is_cpu) {
    tn_stream *stream = tn_current_stream(device);
    if (!stream || tn_stream_synchronize(stream) != TN_OK)
      return tn_last_status();
    return bad_class(there, n, data, name);
  }
  size_t bytes = (size_t)n * sizeof *there;
  int64_t *copy = malloc(bytes);
  if (!copy)
    return tn_set_error(TN_OUT_OF_MEMORY, "%s: no host memory for %" PRId64
                        " targets", name, n);
  tn_status status = tn_copy(copy, (tn_device){ 0, 0 }, there, device, bytes,
                             false);
  if (status == TN_OK) status = bad_class(copy, n, data, name);
  free(copy);
  return status;
}

/* ---- the loss of each row ---- */

static tn_tensor *rows_loss(tn_tensor *x, tn_tensor *target, nll_data data,
                            tn_tensor **kept);

static const tn_node_kind backward_kind;

/* The gradient of x; target is contiguous. */
static tn_tensor *rows_gradient(tn_tensor *gy, tn_tensor *target,
                                nll_data data)
{
  if (!gy || !target) return NULL;
  bool is_one = gy->numel == 1 || gy->strides[0] == 0;
  tn_tensor *g = is_one ? tn_retain(gy) : tn_tensor_contiguous(gy, "nll_loss");
  const int64_t sizes[] = { target->numel, data.classes };
  tn_tensor *gx = tn_tensor_new(tn_tensor_place(gy), (tn_dtype)gy->dtype,
                                (tn_shape){ sizes, 2 }, "nll_loss");
  if (!g || !gx || tn_nll_backward_run(gx, g, is_one ? 0 : 1, target,
                                       data.ignored) != TN_OK) {
    tn_release(gx);
    gx = NULL;
  }
  tn_release(g);
  if (gx && tn_grad_needed(&gy, 1)) {
    tn_node *node = tn_node_new(&backward_kind, &gy, 1);
    nll_data *own = tn_node_data(node, sizeof data);
    if (own) *own = data;
    tn_node_save(node, target);
    gx = tn_node_finish(node, gx);
  }
  return tn_scope_give(gx);
}

static tn_status backward_formula(tn_node *node, tn_tensor **grads,
                                  tn_tensor **results)
{
  const nll_data *data = tn_node_data_of(node);
  tn_tensor *kept;
  results[0] = rows_loss(grads[0], tn_node_saved(node, 0), *data, &kept);
  return tn_node_check(node, results);
}

static tn_status formula(tn_node *node, tn_tensor **grads,
                         tn_tensor **results)
{
  const nll_data *data = tn_node_data_of(node);
  results[0] = rows_gradient(grads[0], tn_node_saved(node, 0), *data);
  return tn_node_check(node, results);
}

static const tn_node_kind kind = { "nll_loss", formula, false, NULL };
static const tn_node_kind backward_kind = { "nll_loss_backward",
                                            backward_formula, false, NULL };

/* kept: 1 for rows that count, 0 for others. target is contiguous. */
static tn_tensor *rows_loss(tn_tensor *x, tn_tensor *target, nll_data data,
                            tn_tensor **kept)
{
  *kept = NULL;
  if (!x || !target) return NULL;
  tn_tensor *rows = tn_tensor_contiguous(x, "nll_loss");
  tn_tensor *y = tn_tensor_new(tn_tensor_place(x), (tn_dtype)x->dtype,
                               tn_tensor_shape(target), "nll_loss");
  *kept = y ? tn_tensor_like(y, (tn_dtype)x->dtype, "nll_loss") : NULL;
  if (!rows || !*kept ||
      tn_nll_run(y, *kept, rows, target, data.ignored) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_release(rows);
  *kept = tn_scope_give(*kept);
  if (y && tn_grad_needed(&x, 1)) {
    tn_node *node = tn_node_new(&kind, &x, 1);
    nll_data *own = tn_node_data(node, sizeof data);
    if (own) *own = data;
    tn_node_save(node, target);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* ---- the operations ---- */

static tn_tensor *reduced(tn_tensor *rows, tn_tensor *kept,
                          tn_loss_reduction reduction)
{
  if (reduction == TN_LOSS_NONE) return rows;
  tn_tensor *sum = tn_sum(rows);
  return reduction == TN_LOSS_SUM ? sum : tn_div(sum, tn_sum(kept));
}

/* Of logarithms of probabilities, or of scores that become such. */
static tn_tensor *nll(tn_tensor *x, tn_tensor *target, bool are_scores,
                      tn_loss_reduction reduction, int64_t ignored,
                      const char *name)
{
  if (!x || !target || check_target(x, target, name) != TN_OK ||
      check_reduction(reduction, name) != TN_OK)
    return NULL;
  nll_data data = { ignored, x->sizes[1] };
  tn_tensor *result = NULL, *kept;
  tn_with_scope {
    tn_tensor *classes = tn_scope_give(tn_tensor_contiguous(target, name));
    if (!classes || check_classes(classes, data, name) != TN_OK) continue;
    if (are_scores) x = tn_log_softmax(x, 1);
    tn_tensor *rows = rows_loss(x, classes, data, &kept);
    result = reduced(rows, kept, reduction);
    if (result) tn_keep(result);
  }
  return result;
}

tn_tensor *tn_nll_loss_with(tn_tensor *log_probabilities, tn_tensor *targets,
                            tn_loss_reduction reduction, int64_t ignore_index)
{
  return nll(log_probabilities, targets, false, reduction, ignore_index,
             "nll_loss");
}

tn_tensor *tn_nll_loss(tn_tensor *log_probabilities, tn_tensor *targets)
{
  return tn_nll_loss_with(log_probabilities, targets, TN_LOSS_MEAN,
                          TN_IGNORE_INDEX);
}

tn_tensor *tn_cross_entropy_with(tn_tensor *scores, tn_tensor *targets,
                                 tn_loss_reduction reduction,
                                 int64_t ignore_index)
{
  return nll(scores, targets, true, reduction, ignore_index,
             "cross_entropy");
}

tn_tensor *tn_cross_entropy(tn_tensor *scores, tn_tensor *targets)
{
  return tn_cross_entropy_with(scores, targets, TN_LOSS_MEAN,
                               TN_IGNORE_INDEX);
}

tn_tensor *tn_mse_loss(tn_tensor *input, tn_tensor *target)
{
  if (!input || !target) return NULL;
  tn_tensor *result = NULL;
  if (!tn_dtype_is_float((tn_dtype)input->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "mse_loss: dtype %s: f32 and f64 are "
                 "possible", tn_dtype_name((tn_dtype)input->dtype));
    return NULL;
  }
  tn_with_scope {
    tn_tensor *off = tn_sub(input, target);
    result = tn_mean(tn_mul(off, off));
    if (result) tn_keep(result);
  }
  return result;
}
