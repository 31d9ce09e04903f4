/* Counted references. */
#ifndef TN_CORE_BASE_REFCOUNT_H
#define TN_CORE_BASE_REFCOUNT_H

#include <stdatomic.h>
#include <stdbool.h>

typedef struct tn_refcount {
  atomic_uint count;
} tn_refcount;

/* The maker holds the first reference. */
static inline void tn_refcount_init(tn_refcount *refcount)
{
  atomic_init(&refcount->count, 1);
}

static inline void tn_refcount_retain(tn_refcount *refcount)
{
  atomic_fetch_add_explicit(&refcount->count, 1, memory_order_relaxed);
}

/* True for the last reference: the caller then destroys the object, and sees
 * all that other holders did to it. (Acquire in the decrement rather than in
 * a fence, which ThreadSanitizer does not follow.) */
static inline bool tn_refcount_release(tn_refcount *refcount)
{
  return atomic_fetch_sub_explicit(&refcount->count, 1,
                                   memory_order_acq_rel) == 1;
}

/* One holder: nobody else can look at the object. */
static inline bool tn_refcount_is_unique(tn_refcount *refcount)
{
  return atomic_load_explicit(&refcount->count, memory_order_acquire) == 1;
}

#endif
