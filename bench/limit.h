/* Physical limits and common peers to hold figures against. */
#ifndef TN_BENCH_LIMIT_H
#define TN_BENCH_LIMIT_H

#include <stddef.h>
#include <stdint.h>

/* y = a + b by streaming stores, with the widest vectors there are, on
 * `threads` threads that stay alive between calls; bytes moved: 12 n. */
typedef struct limit_add {
  float *y;
  const float *a, *b;
  int64_t n;
  int threads;
} limit_add;
void limit_add_run(void *argument, int64_t count);

/* y = x by streaming stores; bytes moved: 8 n. */
typedef struct limit_copy {
  float *y;
  const float *x;
  int64_t n;
  int threads;
} limit_copy;
void limit_copy_run(void *argument, int64_t count);

/* Reads n floats and adds them in whatever order is fastest. */
typedef struct limit_read {
  const float *x;
  int64_t n;
  int threads;
  float sink;
} limit_read;
void limit_read_run(void *argument, int64_t count);

/* Fused multiply-adds on registers: `count` times 2 * LIMIT_FMA_FLOPS / 2
 * floating point operations on each of `threads` threads. */
#define LIMIT_FMA_FLOPS 65536
typedef struct limit_fma {
  int threads;
  float sink;
} limit_fma;
void limit_fma_run(void *argument, int64_t count);

/* malloc and free of *(size_t *)argument bytes. */
void limit_malloc_run(void *argument, int64_t count);

/* An uncontended mutex, locked and unlocked. */
void limit_mutex_run(void *unused, int64_t count);

/* A call through a pointer the compiler cannot see through. */
void limit_call_run(void *argument, int64_t count);

/* ffi_call of a function of four arguments; made by limit_ffi_new, NULL if
 * libffi is not there. */
typedef struct limit_ffi limit_ffi;
limit_ffi *limit_ffi_new(void);
void limit_ffi_run(void *argument, int64_t count);

/* Nanoseconds of dlopen, dlsym and a call of a tiny plugin, in this process
 * for the first time. */
double limit_dlopen(const char *path);

/* Memory that is touched and aligned; never freed. */
float *limit_floats(int64_t n, float first, float step);

#endif
