/* The devices before the driver is initialised in this process: by NVML, or,
 * where that cannot tell, by the driver in a short-lived child. */
#ifndef TN_CUDA_LISTING_H
#define TN_CUDA_LISTING_H

#include <stdbool.h>

#include "tenon/backend.h"

typedef struct tn_cuda_listing {
  int count;
  tn_backend_device_info devices[];
} tn_cuda_listing;

/* Callers of all of these exclude each other. */

/* NULL without memory. */
tn_cuda_listing *tn_cuda_listing_make(int count);

/* By NVML, with the variables that are set now. -1: it cannot tell. For the
 * count, the order of the boards need not be known. */
int tn_cuda_listing_count(void);
/* NULL: it cannot tell. To be freed by the caller, as those below. */
tn_cuda_listing *tn_cuda_listing_by_nvml(void);
/* Forgets the boards. */
void tn_cuda_listing_end(void);

/* Asks in a child. `make` runs there, and gives a listing or, in `reason`, why
 * there is none. *is_answered is false where no child can be had: a process
 * that cannot fork has nothing to be spoilt. The program may see a SIGCHLD. */
tn_cuda_listing *tn_cuda_listing_by_child(
    tn_cuda_listing *(*make)(char *reason, size_t size), char *reason,
    size_t size, bool *is_answered);

#endif
