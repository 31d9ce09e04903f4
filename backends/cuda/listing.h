/* The devices before the driver is initialised in this process: by NVML, or,
 * where that cannot tell, by the driver in a short-lived child. */
#ifndef TN_CUDA_LISTING_H
#define TN_CUDA_LISTING_H

#include "backends/listing/child.h"

/* Callers of all of these exclude each other. */

/* By NVML, with the variables that are set now. -1: it cannot tell. For the
 * count, the order of the boards need not be known. */
int tn_cuda_listing_count(void);
/* NULL: it cannot tell. To be freed by the caller. */
tn_listing *tn_cuda_listing_by_nvml(void);
/* Forgets the boards. */
void tn_cuda_listing_end(void);

#endif
