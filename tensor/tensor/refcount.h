/* Counted references. */
#ifndef TN_TENSOR_TENSOR_REFCOUNT_H
#define TN_TENSOR_TENSOR_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>

typedef atomic_uint tn_refs;

static inline void tn_refs_init(tn_refs *refs)
{
  atomic_init(refs, 1);
}

static inline void tn_refs_retain(tn_refs *refs)
{
  atomic_fetch_add_explicit(refs, 1, memory_order_relaxed);
}

/* True for the last reference. A sole holder needs no atomic write. */
static inline bool tn_refs_release(tn_refs *refs)
{
  if (atomic_load_explicit(refs, memory_order_acquire) == 1) return true;
  return atomic_fetch_sub_explicit(refs, 1, memory_order_acq_rel) == 1;
}

#endif
