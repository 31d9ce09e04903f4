/* What the parts of the bench of cuda share. They end the program when a call
 * fails. */
#ifndef TN_BENCH_CUDA_H
#define TN_BENCH_CUDA_H

#include <stdbool.h>
#include <stdint.h>

#include "bench/measure.h"
#include "bench/raw_cuda.h"
#include "tenon/tenon.h"

extern tn_device gpu, cpu;
extern bool is_small;

static inline CUdeviceptr address(const void *memory)
{
  return (CUdeviceptr)(uintptr_t)memory;
}

void check(tn_status status, const char *what);
void wait_for_gpu(void);
void raw_wait(void); /* for the raw stream */

tn_kernel *kernel_of(const char *family, const char *name);
/* Device memory, filled. Of all zeros a GPU multiplies faster than of numbers
 * from -1 to 1. */
void *zeros(size_t bytes);
float *varied(int64_t n);

typedef struct transfer {
  void *to;
  const void *from;
  size_t bytes;
  tn_device to_device, from_device;
} transfer;
void raw_copy_run(void *argument, int64_t count);

/* bench/cuda_graph.c */
void run_graphs(void);

/* bench/cuda_work.c */
void run_vectors(void);
void run_matmul(int64_t n);
void run_overlap(void);

#endif
