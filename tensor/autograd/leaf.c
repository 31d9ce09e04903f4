#include "config.h"

#include "tensor/autograd/leaf.h"

#include <stdlib.h>

#include "tensor/autograd/graph.h"

bool tn_requires_grad(const tn_tensor *t)
{
  return t && tn_history_needs_grad(t);
}

bool tn_is_leaf(const tn_tensor *t)
{
  if (!t) return false;
  if (tn_view_is_outdated(t)) return !tn_history_needs_grad(t);
  return !(t->history && t->history->node);
}

const char *tn_grad_fn_name(const tn_tensor *t)
{
  if (tn_is_leaf(t) || !t) return NULL;
  if (tn_view_is_outdated(t)) return "as_strided";
  return t->history->node->kind->name;
}

/* A view that becomes a leaf is one of its own from there on: operations in
 * place elsewhere in its memory do not give it another node. */
static void leave_base(tn_tensor *t)
{
  tn_tensor *base = t->base;
  t->base = NULL;
  tn_release(base);
}

tn_tensor *tn_requires_grad_(tn_tensor *t, bool requires_grad)
{
  if (!t) return NULL;
  if (requires_grad && !tn_dtype_is_float((tn_dtype)t->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "requires_grad_: dtype %s: floats can "
                 "have gradients", tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  if (!tn_is_leaf(t)) {
    if (requires_grad) return t;
    tn_set_error(TN_INVALID_ARGUMENT, "requires_grad_: the tensor was made "
                 "by an operation: detach gives one without a gradient");
    return NULL;
  }
  if (!requires_grad && !t->history) return t;
  tn_history *history = tn_history_of(t);
  if (!history) return NULL;
  history->requires_grad = requires_grad;
  if (requires_grad) leave_base(t);
  return t;
}

/* ---- .grad ---- */

static tn_tensor **grad_of(const tn_tensor *t)
{
  tn_history *history = t->history;
  if (!history) return NULL;
  return history->kept ? &history->kept->grad : &history->grad;
}

tn_tensor *tn_grad(const tn_tensor *t)
{
  tn_tensor **grad = t ? grad_of(t) : NULL;
  return grad ? *grad : NULL;
}

static tn_status check_grad(const tn_tensor *t, const tn_tensor *grad)
{
  tn_shape wanted = tn_tensor_shape(t), shape = tn_tensor_shape(grad);
  if (!tn_shape_equal(wanted, shape))
    return tn_set_error(TN_SHAPE_MISMATCH, "set_grad: shape %s for a tensor "
                        "of shape %s", tn_shape_text(shape),
                        tn_shape_text(wanted));
  if (grad->dtype != t->dtype)
    return tn_set_error(TN_DTYPE_MISMATCH, "set_grad: dtype %s for a tensor "
                        "of %s", tn_dtype_name((tn_dtype)grad->dtype),
                        tn_dtype_name((tn_dtype)t->dtype));
  if (tn_tensor_place(grad) != tn_tensor_place(t))
    return tn_set_error(TN_DEVICE_MISMATCH, "set_grad: a gradient on %s for a "
                        "tensor on %s", tn_tensor_place(grad)->name,
                        tn_tensor_place(t)->name);
  if (grad == t)
    return tn_set_error(TN_INVALID_ARGUMENT, "set_grad: the tensor itself");
  return TN_OK;
}

tn_status tn_set_grad(tn_tensor *t, tn_tensor *grad)
{
  if (!t) return tn_tensor_missing("set_grad");
  if (!grad && !t->history) return TN_OK;
  tn_status status = grad ? check_grad(t, grad) : TN_OK;
  if (status != TN_OK) return status;
  if (!tn_history_of(t)) return TN_OUT_OF_MEMORY;
  tn_tensor **at = grad_of(t), *before = *at;
  *at = tn_retain(grad);
  tn_release(before);
  return TN_OK;
}

tn_status tn_retain_grad(tn_tensor *t)
{
  if (!t) return tn_tensor_missing("retain_grad");
  if (!tn_history_needs_grad(t))
    return tn_set_error(TN_INVALID_ARGUMENT, "retain_grad: the tensor "
                        "requires no gradient");
  if (tn_view_is_outdated(t) && !tn_history_follow(t))
    return TN_OUT_OF_MEMORY;
  tn_history *history = t->history;
  if (!history->node || history->kept) return TN_OK;
  tn_kept_grad *kept = calloc(1, sizeof *kept);
  if (!kept)
    return tn_set_error(TN_OUT_OF_MEMORY, "no host memory to keep a gradient");
  tn_refs_init(&kept->refs);
  tn_refs_retain(&kept->refs);
  kept->output = history->output;
  kept->next = history->node->kept;
  history->node->kept = kept;
  history->kept = kept;
  return TN_OK;
}

/* ---- sums ---- */

/* Nobody else sees the memory, nor will in the queue of another stream. */
static bool is_exclusive(const tn_tensor *t)
{
  if (atomic_load_explicit(&t->storage->is_used_elsewhere,
                           memory_order_relaxed)) return false;
  return atomic_load_explicit(&t->refs, memory_order_acquire) == 1 &&
         atomic_load_explicit(&t->storage->refs, memory_order_acquire) == 1 &&
         t->is_contiguous;
}

/* One more reference to the result, which was given to a scope. */
static tn_tensor *scoped_sum(tn_tensor *a, tn_tensor *b)
{
  tn_scope_guard scope = tn_scope_push();
  tn_tensor *sum = scope.active ? tn_retain(tn_add(a, b)) : NULL;
  tn_scope_pop(&scope);
  return sum;
}

/* What the current stream has read may be of another one's memory. */
static void release_read(tn_tensor *t)
{
  tn_stream *stream = tn_current_stream(tn_tensor_place(t)->device);
  if (stream) tn_record_stream(t, stream);
  tn_release(t);
}

tn_tensor *tn_gradient_sum(tn_tensor *a, tn_tensor *b)
{
  tn_tensor *sum;
  if (!tn_is_grad_enabled() && is_exclusive(a))
    sum = tn_retain(tn_add_(a, b));
  else if (!tn_is_grad_enabled() && is_exclusive(b))
    sum = tn_retain(tn_add_(b, a));
  else
    sum = scoped_sum(a, b);
  release_read(a);
  release_read(b);
  return sum;
}

static tn_tensor *copy_of(tn_tensor *t)
{
  tn_scope_guard scope = tn_scope_push();
  tn_tensor *copy = scope.active ? tn_empty_like(t) : NULL;
  copy = copy ? tn_retain(tn_copy_(copy, t)) : NULL;
  tn_scope_pop(&scope);
  return copy;
}

tn_tensor *tn_gradient_copy(tn_tensor *t)
{
  tn_tensor *copy = copy_of(t);
  release_read(t);
  return copy;
}

static bool fills_memory(const tn_tensor *t)
{
  return (size_t)t->numel * tn_dtype_size((tn_dtype)t->dtype) ==
         t->storage->bytes;
}

/* A gradient that is kept is the tensor's alone: programs change it in
 * place. It is no small part of a large memory either. */
static tn_status keep_first(tn_tensor **grad, tn_tensor *first)
{
  if (is_exclusive(first) && fills_memory(first)) {
    *grad = first;
    return TN_OK;
  }
  *grad = tn_gradient_copy(first);
  return *grad ? TN_OK : tn_last_status();
}

tn_status tn_gradient_accumulate(tn_tensor **grad, tn_tensor *more)
{
  if (!*grad) return keep_first(grad, more);
  if (!tn_is_grad_enabled()) {
    bool is_done = tn_add_(*grad, more);
    release_read(more);
    return is_done ? TN_OK : tn_last_status();
  }
  tn_tensor *sum = scoped_sum(*grad, more);
  release_read(more);
  if (!sum) return tn_last_status();
  release_read(*grad);
  *grad = sum;
  return TN_OK;
}
