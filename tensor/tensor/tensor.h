/* The tensor object and its memory. */
#ifndef TN_TENSOR_TENSOR_TENSOR_H
#define TN_TENSOR_TENSOR_TENSOR_H

#include "tenon/tensor.h"
#include "tensor/tensor/dtype.h"
#include "tensor/tensor/place.h"
#include "tensor/tensor/refcount.h"
#include "tensor/tensor/shape.h"

/* Memory that a tensor and its views share. It is part of the piece of host
 * memory that begins with the tensor it was made for, which therefore is
 * freed with the storage. */
typedef struct tn_storage {
  tn_refs refs;
  tn_place *place;
  tn_block *block;      /* NULL: empty, or pinned host memory */
  void *pinned;         /* from tn_malloc_pinned, else NULL */
  char *address;
  size_t bytes;
  atomic_uint version;  /* counts changes in place */
  /* By streams besides the one that computed it: work in their queues may read
   * it when all references are gone. */
  atomic_bool is_used_elsewhere;
} tn_storage;

/* Made by tensor/autograd. */
typedef struct tn_history tn_history;

struct tn_tensor {
  tn_refs refs;
  uint8_t dtype, ndim;
  bool is_contiguous, is_view;
  tn_storage *storage;
  int64_t offset, numel;
  tn_history *history; /* NULL: requires no gradient */
  tn_tensor *base;     /* whose memory it is a view of as gradients are
                        * concerned, itself no view; referenced, or NULL */
  atomic_uint base_changes; /* of the base's history when its own was made */
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
};

static inline tn_shape tn_tensor_shape(const tn_tensor *t)
{
  return (tn_shape){ t->sizes, t->ndim };
}

static inline tn_place *tn_tensor_place(const tn_tensor *t)
{
  return t->storage->place;
}

/* Of the first element, on the device. NULL if the tensor has no memory. */
static inline void *tn_tensor_address(const tn_tensor *t)
{
  if (!t->storage->address) return NULL;
  return t->storage->address +
         t->offset * (int64_t)tn_dtype_size((tn_dtype)t->dtype);
}

/* For calls that end an expression: the error of what gave NULL, or else that
 * the tensor is NULL. */
tn_status tn_tensor_missing(const char *operation);

/* New, contiguous, undefined content; of the caller, in no scope. The
 * operation is for messages. */
tn_tensor *tn_tensor_new(tn_place *place, tn_dtype dtype, tn_shape shape,
                         const char *operation);

/* The same in pinned host memory; place is of cpu. */
tn_tensor *tn_tensor_new_pinned(tn_place *place, tn_dtype dtype,
                                tn_shape shape);

/* Like another: place, and shape. */
tn_tensor *tn_tensor_like(const tn_tensor *t, tn_dtype dtype,
                          const char *operation);

/* Another look at the same memory: sizes and strides are checked by the
 * caller, offset counts from the storage's begin. No history. */
tn_tensor *tn_tensor_view(const tn_tensor *t, tn_shape shape,
                          const int64_t *strides, int64_t offset);

/* t gets the memory, dtype and strides of `from`, which is of its shape and
 * has memory that nothing else uses; t remains the same leaf. Its versions go
 * on, so that what was saved of it counts as changed. Other views of the
 * memory that it had keep that. */
void tn_tensor_take(tn_tensor *t, const tn_tensor *from);

/* Whether two elements share memory (an expanded dimension). Exact for
 * strides that nest; others count as overlapping. */
bool tn_tensor_overlaps_itself(const tn_tensor *t);

/* Whether the memory of two tensors may have bytes in common. */
bool tn_tensors_meet(const tn_tensor *a, const tn_tensor *b);

/* The same elements at the same places. */
bool tn_tensors_coincide(const tn_tensor *a, const tn_tensor *b);

/* Set by tensor/autograd: frees a history. */
extern void (*tn_history_forget)(tn_history *history);

#endif
