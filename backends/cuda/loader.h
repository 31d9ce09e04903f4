/* The driver's library, opened at run time. */
#ifndef TN_CUDA_LOADER_H
#define TN_CUDA_LOADER_H

#include "backends/cuda/driver.h"

/* 12.0: the oldest driver, as cuDriverGetVersion writes it. */
#define TN_CUDA_VERSION_MIN 12000

/* The toolkit's library that only linkers want answers 34 to every call. */
#define TN_CUDA_STUB_REASON \
  "no NVIDIA driver: libcuda.so.1 is the CUDA toolkit's stub, for linking " \
  "only"

/* cu_.MemAlloc(...) is cuMemAlloc(...). */
extern tn_cuda_calls cu_;

/* Opens libcuda.so.1 and fills cu_; NULL, or why it cannot be used, which may
 * be in `reason`. Does not initialise the driver. Callers exclude each other.
 * May be tried again after a failure; does nothing after a success. */
const char *tn_cuda_load(char *reason, size_t size);

/* 13000 for 13.0; 0 before tn_cuda_load succeeded. */
int tn_cuda_driver_version(void);

#endif
