/* The CUDA driver's calls without this library's backend, in the context it
 * uses, to hold it against. */
#ifndef TN_BENCH_RAW_CUDA_H
#define TN_BENCH_RAW_CUDA_H

#include <stdbool.h>

#include "backends/cuda/driver.h"

typedef struct raw_cuda {
  tn_cuda_calls calls;
  /* NULL where the driver has none. */
  CUresult (*MemAllocAsync)(CUdeviceptr *address, size_t bytes,
                            CUstream stream);
  CUresult (*MemFreeAsync)(CUdeviceptr address, CUstream stream);
  CUcontext context;
  CUstream stream;
  /* axpy(y, x, a, n): what axpy_f32 does, one item a thread.
   * fma(y, rounds, a): RAW_FMA_FLOPS operations a round in each thread. */
  CUfunction axpy, fma;
  unsigned units; /* multiprocessors */
  char name[128];
  bool is_emulated;
} raw_cuda;

#define RAW_FMA_FLOPS 64

extern raw_cuda raw;

/* Loads the driver and makes the context current in this thread. Returns NULL
 * or the reason why not. */
const char *raw_cuda_open(CUdevice device, CUcontext context);

/* Ends the program if a call failed. */
void raw_check(CUresult code, const char *what);

#endif
