/* The alloc table. Every kind of memory is the same here: the host's own. */
#ifndef TN_BACKENDS_CPU_ALLOC_H
#define TN_BACKENDS_CPU_ALLOC_H

#include "tenon/backend.h"

/* Of every address from alloc. */
#define TN_CPU_ALIGNMENT 256u

/* TN_OUT_OF_MEMORY also when all cpu devices together would hold more than
 * the machine's or the control group's memory: the system would let that
 * pass, and kill the program later. */
tn_status tn_cpu_alloc(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address *address);

/* The descriptor has the kind and bytes it had for alloc. */
void tn_cpu_free(tn_backend_device *device, const tn_alloc_desc *desc,
                 tn_address address);
tn_status tn_cpu_mem_info(tn_backend_device *device, uint64_t *free_bytes,
                          uint64_t *total_bytes);

#endif
