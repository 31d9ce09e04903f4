/* Under chaos: memory that was given back is poisoned and kept for a while, so
 * that whoever still uses it reads what nobody wrote; who wrote to it is told
 * on when it leaves. All functions are thread-safe. */
#ifndef TN_BACKENDS_CPU_QUARANTINE_H
#define TN_BACKENDS_CPU_QUARANTINE_H

#include <stdbool.h>

#include "tenon/backend.h"

/* Fills the memory (the first 64 MiB of it) with what is NaN in every floating
 * format and -1 as an integer. */
void tn_cpu_poison(tn_address address, uint64_t bytes);

/* Memory of tn_cpu_alloc. The oldest leave, when there is too much of it. */
void tn_cpu_quarantine_add(tn_backend_device *device,
                           const tn_alloc_desc *desc, tn_address address);

/* Frees all of it. False if there was none. */
bool tn_cpu_quarantine_empty(void);

/* In a forked child. */
void tn_cpu_quarantine_after_fork(void);

#endif
