/* Copies: to other devices, dtypes and layouts. */
#include "config.h"

#include "tenon/ops.h"
#include "tensor/autograd/node.h"
#include "tensor/compute/convert.h"

/* The engine brings a gradient to the device and dtype of the input, and sums
 * it over what was broadcast. */
static tn_status copy_formula(tn_node *node, tn_tensor **grads,
                              tn_tensor **results)
{
  results[0] = grads[0];
  return tn_node_check(node, results);
}
static const tn_node_kind to_kind = { .name = "to", .formula = copy_formula };
static const tn_node_kind clone_kind = { .name = "clone",
                                         .formula = copy_formula };
static const tn_node_kind copy_kind = { .name = "copy_",
                                        .formula = copy_formula };

static tn_tensor *finish(tn_tensor *y, tn_tensor *t, const tn_node_kind *kind)
{
  if (y && tn_grad_needed(&t, 1) && tn_dtype_is_float((tn_dtype)y->dtype))
    y = tn_node_finish(tn_node_new(kind, &t, 1), y);
  return tn_scope_give(y);
}

/* Both in row order, of one dtype and as many elements. */
static tn_status copy_block(tn_tensor *to, const tn_tensor *from,
                            bool non_blocking)
{
  size_t bytes = (size_t)to->numel * tn_dtype_size((tn_dtype)to->dtype);
  if (bytes == 0) return TN_OK;
  return tn_copy(tn_tensor_address(to), tn_tensor_place(to)->device,
                 tn_tensor_address(from), tn_tensor_place(from)->device,
                 bytes, non_blocking);
}

/* In row order and of dtype; the tensor itself, retained, if it is so. */
static tn_tensor *packed(tn_tensor *t, tn_dtype dtype, const char *operation)
{
  if (t->is_contiguous && t->dtype == dtype) return tn_retain(t);
  return tn_tensor_converted(t, dtype, tn_tensor_shape(t), operation);
}

/* Of a copy to the host that nothing waits for, the host's side is pinned. */
static tn_tensor *new_at(tn_place *place, tn_dtype dtype, const tn_tensor *t,
                         bool non_blocking, const char *operation)
{
  bool is_to_host = place->is_cpu && !tn_tensor_place(t)->is_cpu;
  return non_blocking && is_to_host
             ? tn_tensor_new_pinned(place, dtype, tn_tensor_shape(t))
             : tn_tensor_new(place, dtype, tn_tensor_shape(t), operation);
}

/* On another place. The smaller of the two dtypes travels. */
static tn_tensor *moved(tn_tensor *t, tn_place *place, tn_dtype dtype,
                        bool non_blocking, const char *operation)
{
  tn_dtype own = (tn_dtype)t->dtype;
  bool is_cast_first = tn_dtype_size(dtype) <= tn_dtype_size(own);
  tn_dtype travelling = is_cast_first ? dtype : own;
  tn_tensor *from = packed(t, travelling, operation);
  if (!from) return NULL;
  bool is_last = travelling == dtype;
  bool is_queued = non_blocking && is_last && from == t;
  tn_tensor *to = new_at(place, travelling, t, is_queued, operation);
  if (to && copy_block(to, from, is_queued) != TN_OK) {
    tn_release(to);
    to = NULL;
  }
  tn_release(from);
  if (!to || is_last) return to;
  tn_tensor *y = packed(to, dtype, operation);
  tn_release(to);
  return y;
}

static bool is_given(tn_device device)
{
  return device.backend != 0 || device.index != 0;
}

tn_tensor *tn_to_with(tn_tensor *t, tn_to_options options)
{
  if (!t) return NULL;
  tn_place *own = tn_tensor_place(t);
  tn_place *place = is_given(options.device) ? tn_place_of(options.device)
                                             : own;
  tn_dtype dtype = options.dtype ? options.dtype : (tn_dtype)t->dtype;
  if (!place || tn_dtype_check(dtype, "to") != TN_OK) return NULL;
  if (place == own && dtype == t->dtype && !options.copy)
    return tn_scope_give(tn_retain(t));
  tn_tensor *y =
      place == own ? tn_tensor_converted(t, dtype, tn_tensor_shape(t), "to")
                   : moved(t, place, dtype, options.non_blocking, "to");
  return finish(y, t, &to_kind);
}

static tn_tensor *to_backend(tn_tensor *t, const char *backend)
{
  if (!t) return NULL;
  tn_device device;
  if (tn_device_parse(backend, &device) != TN_OK) return NULL;
  return tn_to_with(t, (tn_to_options){ .device = device });
}

tn_tensor *tn_cuda(tn_tensor *t)
{
  return to_backend(t, "cuda");
}

tn_tensor *tn_cpu(tn_tensor *t)
{
  return to_backend(t, "cpu");
}

tn_tensor *tn_clone(tn_tensor *t)
{
  if (!t) return NULL;
  return finish(tn_tensor_converted(t, (tn_dtype)t->dtype, tn_tensor_shape(t),
                                    "clone"),
                t, &clone_kind);
}

tn_tensor *tn_contiguous(tn_tensor *t)
{
  if (!t) return NULL;
  return t->is_contiguous ? tn_scope_give(tn_retain(t)) : tn_clone(t);
}

tn_tensor *tn_pin_memory(tn_tensor *t)
{
  if (!t) return NULL;
  if (t->storage->pinned) return tn_scope_give(tn_retain(t));
  tn_place *place = tn_tensor_place(t);
  if (!place->is_cpu) {
    tn_set_error(TN_INVALID_ARGUMENT, "pin_memory: a tensor on %s: cpu memory "
                 "can be pinned", place->name);
    return NULL;
  }
  tn_tensor *y = tn_tensor_new_pinned(place, (tn_dtype)t->dtype,
                                      tn_tensor_shape(t));
  if (y && tn_tensor_convert(y, t) != TN_OK) {
    tn_release(y);
    return NULL;
  }
  return finish(y, t, &clone_kind);
}

/* ---- copy_ ---- */

static tn_status check_shape(const tn_tensor *dst, const tn_tensor *src)
{
  int64_t sizes[TN_DIMS_MAX];
  int ndim;
  tn_shape shape = tn_tensor_shape(dst), from = tn_tensor_shape(src);
  if (tn_shape_equal(shape, from)) return TN_OK;
  tn_status status = tn_shape_broadcast(shape, from, "copy_", sizes, &ndim);
  if (status != TN_OK) return status;
  if (tn_shape_equal((tn_shape){ sizes, ndim }, shape)) return TN_OK;
  return tn_set_error(TN_SHAPE_MISMATCH, "copy_: shape %s does not broadcast "
                      "to %s", tn_shape_text(from), tn_shape_text(shape));
}

static bool is_block(const tn_tensor *dst, const tn_tensor *src)
{
  return dst->is_contiguous && src->is_contiguous &&
         dst->dtype == src->dtype && dst->numel == src->numel;
}

/* As if the source were copied first (T7). */
static tn_status copy_here(tn_tensor *dst, tn_tensor *src)
{
  if (tn_tensors_coincide(dst, src)) return TN_OK;
  if (!tn_tensors_meet(dst, src)) return tn_tensor_convert(dst, src);
  tn_tensor *apart = tn_tensor_converted(src, (tn_dtype)src->dtype,
                                         tn_tensor_shape(src), "copy_");
  tn_status status = apart ? tn_tensor_convert(dst, apart) : tn_last_status();
  tn_release(apart);
  return status;
}

static tn_status copy_across(tn_tensor *dst, tn_tensor *src,
                             bool non_blocking)
{
  if (is_block(dst, src)) return copy_block(dst, src, non_blocking);
  tn_tensor *here = moved(src, tn_tensor_place(dst), (tn_dtype)dst->dtype,
                          false, "copy_");
  tn_status status = here ? tn_tensor_convert(dst, here) : tn_last_status();
  tn_release(here);
  return status;
}

tn_tensor *tn_copy_with_(tn_tensor *dst, tn_tensor *src,
                         tn_copy_options options)
{
  if (!dst || !src || check_shape(dst, src) != TN_OK ||
      tn_inplace_begin(dst, "copy_") != TN_OK)
    return NULL;
  tn_status status =
      tn_tensor_place(dst) == tn_tensor_place(src)
          ? copy_here(dst, src)
          : copy_across(dst, src, options.non_blocking);
  if (status != TN_OK) return NULL;
  bool is_recorded = tn_grad_needed(&src, 1) &&
                     tn_dtype_is_float((tn_dtype)dst->dtype);
  return is_recorded
             ? tn_inplace_end_recorded(dst, tn_node_new(&copy_kind, &src, 1))
             : tn_inplace_end(dst, NULL);
}
