/* Observers of failing allocations (the rest is in allocator.h). */
#ifndef TN_CORE_MEMORY_OOM_H
#define TN_CORE_MEMORY_OOM_H

/* Around fork. */
void tn_oom_lock(void);
void tn_oom_unlock(void);

#endif
