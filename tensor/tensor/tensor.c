#include "config.h"

#include "tensor/tensor/tensor.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/autograd.h"

/* A tensor with memory of its own. */
typedef struct fresh_tensor {
  tn_tensor tensor;
  tn_storage storage;
} fresh_tensor;

void (*tn_history_forget)(tn_history *history);

static void *host_memory(size_t size, const char *operation)
{
  void *memory = malloc(size);
  if (!memory)
    tn_set_error(TN_OUT_OF_MEMORY, "%s: no host memory for a tensor",
                 operation);
  return memory;
}

static void set_shape(tn_tensor *t, tn_shape shape)
{
  t->ndim = (uint8_t)shape.ndim;
  for (int i = 0; i < shape.ndim; i++) t->sizes[i] = shape.sizes[i];
}

static fresh_tensor *make(tn_place *place, tn_dtype dtype, tn_shape shape,
                          const char *operation)
{
  int64_t numel;
  if (tn_dtype_check(dtype, operation) != TN_OK ||
      tn_shape_check(shape, tn_dtype_size(dtype), operation, &numel) != TN_OK)
    return NULL;
  fresh_tensor *fresh = host_memory(sizeof *fresh, operation);
  if (!fresh) return NULL;
  tn_tensor *t = &fresh->tensor;
  tn_storage *storage = &fresh->storage;
  tn_refs_init(&t->refs);
  t->dtype = (uint8_t)dtype;
  t->is_contiguous = true;
  t->is_view = false;
  t->storage = storage;
  t->offset = 0;
  t->numel = numel;
  t->history = NULL;
  t->base = NULL;
  atomic_init(&t->base_changes, 0);
  set_shape(t, shape);
  tn_shape_strides(shape, t->strides);
  tn_refs_init(&storage->refs);
  storage->place = place;
  storage->block = NULL;
  storage->pinned = NULL;
  storage->address = NULL;
  storage->bytes = (size_t)numel * tn_dtype_size(dtype);
  atomic_init(&storage->version, 0);
  atomic_init(&storage->is_used_elsewhere, false);
  return fresh;
}

tn_tensor *tn_tensor_new(tn_place *place, tn_dtype dtype, tn_shape shape,
                         const char *operation)
{
  fresh_tensor *fresh = make(place, dtype, shape, operation);
  if (!fresh || fresh->storage.bytes == 0) return fresh ? &fresh->tensor
                                                        : NULL;
  tn_storage *storage = &fresh->storage;
  storage->block = tn_block_new(place->device, storage->bytes);
  if (!storage->block) {
    free(fresh);
    return NULL;
  }
  storage->address = tn_block_address(storage->block);
  return &fresh->tensor;
}

tn_tensor *tn_tensor_new_pinned(tn_place *place, tn_dtype dtype,
                                tn_shape shape)
{
  fresh_tensor *fresh = make(place, dtype, shape, "pinned memory");
  if (!fresh || fresh->storage.bytes == 0) return fresh ? &fresh->tensor
                                                        : NULL;
  tn_storage *storage = &fresh->storage;
  storage->pinned = tn_malloc_pinned(storage->bytes);
  if (!storage->pinned) {
    free(fresh);
    return NULL;
  }
  storage->address = storage->pinned;
  return &fresh->tensor;
}

tn_tensor *tn_tensor_like(const tn_tensor *t, tn_dtype dtype,
                          const char *operation)
{
  return tn_tensor_new(tn_tensor_place(t), dtype, tn_tensor_shape(t),
                       operation);
}

static bool is_row_order(const tn_tensor *t)
{
  int64_t step = 1;
  for (int i = t->ndim - 1; i >= 0; i--) {
    if (t->sizes[i] == 1) continue;
    if (t->strides[i] != step) return false;
    step *= t->sizes[i];
  }
  return true;
}

tn_tensor *tn_tensor_view(const tn_tensor *t, tn_shape shape,
                          const int64_t *strides, int64_t offset)
{
  tn_tensor *view = host_memory(sizeof *view, "view");
  if (!view) return NULL;
  tn_refs_init(&view->refs);
  view->dtype = t->dtype;
  view->is_view = true;
  tn_refs_retain(&t->storage->refs);
  view->storage = t->storage;
  view->offset = offset;
  view->history = NULL;
  view->base = NULL;
  atomic_init(&view->base_changes, 0);
  set_shape(view, shape);
  view->numel = tn_sizes_product(shape.sizes, shape.ndim);
  for (int i = 0; i < shape.ndim; i++) view->strides[i] = strides[i];
  view->is_contiguous = view->numel == 0 || is_row_order(view);
  return view;
}

static void release_storage(tn_storage *storage)
{
  if (!tn_refs_release(&storage->refs)) return;
  tn_block_release(storage->block);
  if (storage->pinned) tn_free(storage->pinned);
  free((char *)storage - offsetof(fresh_tensor, storage));
}

tn_tensor *tn_retain(tn_tensor *t)
{
  if (t) tn_refs_retain(&t->refs);
  return t;
}

/* The storage that a tensor was made with, whose host memory it is in. */
static tn_storage *home_of(tn_tensor *t)
{
  return &((fresh_tensor *)(void *)t)->storage;
}

void tn_release(tn_tensor *t)
{
  if (!t || !tn_refs_release(&t->refs)) return;
  if (t->history) tn_history_forget(t->history);
  tn_tensor *base = t->base;
  tn_storage *storage = t->storage;
  if (t->is_view) free(t);
  else if (storage != home_of(t)) release_storage(home_of(t));
  release_storage(storage);
  if (base) tn_release(base);
}

/* No longer needed on the device by the only one who refers to it. */
static void drop_memory(tn_storage *storage)
{
  if (atomic_load_explicit(&storage->refs, memory_order_acquire) != 1) return;
  tn_block_release(storage->block);
  if (storage->pinned) tn_free(storage->pinned);
  storage->block = NULL;
  storage->pinned = NULL;
  storage->address = NULL;
  storage->bytes = 0;
}

void tn_tensor_take(tn_tensor *t, const tn_tensor *from)
{
  tn_storage *old = t->storage;
  tn_refs_retain(&from->storage->refs);
  atomic_store(&from->storage->version, atomic_load(&old->version) + 1);
  t->storage = from->storage;
  t->dtype = from->dtype;
  t->is_contiguous = from->is_contiguous;
  t->offset = from->offset;
  memcpy(t->strides, from->strides, sizeof t->strides);
  if (!t->is_view && old == home_of(t)) drop_memory(old);
  else release_storage(old);
  tn_release(t->base);
  t->base = NULL;
}

/* Dimensions from the innermost stride outward: each must step over all that
 * the ones before it reach. */
bool tn_tensor_overlaps_itself(const tn_tensor *t)
{
  bool is_done[TN_DIMS_MAX] = { false };
  int64_t reach = 0;
  if (t->numel <= 1 || t->is_contiguous) return false;
  for (int turn = 0; turn < t->ndim; turn++) {
    int least = -1;
    for (int i = 0; i < t->ndim; i++)
      if (!is_done[i] && (least < 0 || t->strides[i] < t->strides[least]))
        least = i;
    is_done[least] = true;
    if (t->sizes[least] == 1) continue;
    if (t->strides[least] <= reach) return true;
    reach += (t->sizes[least] - 1) * t->strides[least];
  }
  return false;
}

/* The last element's distance from the first. */
static int64_t reach_of(const tn_tensor *t)
{
  int64_t reach = 0;
  for (int i = 0; i < t->ndim; i++)
    reach += (t->sizes[i] - 1) * t->strides[i];
  return reach;
}

bool tn_tensors_meet(const tn_tensor *a, const tn_tensor *b)
{
  if (a->storage != b->storage || a->numel == 0 || b->numel == 0)
    return false;
  return a->offset <= b->offset + reach_of(b) &&
         b->offset <= a->offset + reach_of(a);
}

bool tn_tensors_coincide(const tn_tensor *a, const tn_tensor *b)
{
  if (a->storage != b->storage || a->offset != b->offset ||
      a->dtype != b->dtype || a->ndim != b->ndim)
    return false;
  for (int i = 0; i < a->ndim; i++)
    if (a->sizes[i] != b->sizes[i] ||
        (a->sizes[i] != 1 && a->strides[i] != b->strides[i]))
      return false;
  return true;
}

/* ---- asking ---- */

tn_status tn_tensor_missing(const char *operation)
{
  tn_status status = tn_last_status();
  if (status != TN_OK) return status;
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: the tensor is NULL",
                      operation);
}

static bool is_null(const tn_tensor *t)
{
  if (!t) tn_tensor_missing("facts of a tensor");
  return !t;
}

int tn_ndim(const tn_tensor *t)
{
  return is_null(t) ? -1 : t->ndim;
}

int64_t tn_size(const tn_tensor *t, int dim)
{
  if (is_null(t)) return -1;
  int at = tn_dim_of(dim, t->ndim, "size");
  return at < 0 ? -1 : t->ndim ? t->sizes[at] : 1;
}

int64_t tn_stride(const tn_tensor *t, int dim)
{
  if (is_null(t)) return -1;
  int at = tn_dim_of(dim, t->ndim, "stride");
  return at < 0 ? -1 : t->ndim ? t->strides[at] : 1;
}

int64_t tn_storage_offset(const tn_tensor *t)
{
  return is_null(t) ? -1 : t->offset;
}

int64_t tn_numel(const tn_tensor *t)
{
  return is_null(t) ? -1 : t->numel;
}

tn_shape tn_shape_of(const tn_tensor *t)
{
  return is_null(t) ? (tn_shape){ NULL, 0 } : tn_tensor_shape(t);
}

bool tn_is_contiguous(const tn_tensor *t)
{
  return !is_null(t) && t->is_contiguous;
}

tn_dtype tn_dtype_of(const tn_tensor *t)
{
  return is_null(t) ? TN_DTYPE_DEFAULT : (tn_dtype)t->dtype;
}

tn_device tn_device_of_tensor(const tn_tensor *t)
{
  return is_null(t) ? (tn_device){ -1, -1 } : tn_tensor_place(t)->device;
}

void *tn_data_ptr(const tn_tensor *t)
{
  return is_null(t) ? NULL : tn_tensor_address(t);
}

bool tn_is_pinned(const tn_tensor *t)
{
  return !is_null(t) && t->storage->pinned;
}

uint64_t tn_tensor_version(const tn_tensor *t)
{
  return is_null(t) ? 0 : atomic_load(&t->storage->version);
}

tn_status tn_record_stream(tn_tensor *t, tn_stream *stream)
{
  if (!t) return tn_tensor_missing("record_stream");
  if (t->storage->block)
    return tn_block_record_stream(t->storage->block, stream);
  if (t->storage->pinned)
    return tn_memory_record_stream(t->storage->pinned, stream);
  return TN_OK;
}
