#include "config.h"

#include "bench/limit.h"

#include <dlfcn.h>
#include <ffi.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <string.h>

#include "bench/measure.h"

#if defined(__x86_64__)
#include <immintrin.h>
#define WIDE __attribute__((target("avx512f")))
#define HALF __attribute__((target("avx2,fma")))
#endif

/* A second thread that spins for work: two cores are all there is to ask
 * for, and a parked thread would cost more than the work. It spins for a
 * bounded time, or it would keep a core from the threads of the subject. */
#define SPIN_NS 1e5
static struct {
  _Atomic int64_t posted, done;
  _Atomic int sleeping;
  sem_t wake;
  void (*work)(void *argument, int part);
  void *argument;
  pthread_t thread;
  int running;
} helper;

static void await_post(int64_t seen)
{
  double start = bench_now();
  while (atomic_load(&helper.posted) == seen) {
    if (bench_now() - start < SPIN_NS) continue;
    atomic_store(&helper.sleeping, 1);
    if (atomic_load(&helper.posted) == seen) sem_wait(&helper.wake);
    atomic_store(&helper.sleeping, 0);
    start = bench_now();
  }
}

static void *help(void *unused)
{
  (void)unused;
  for (int64_t seen = 0;;) {
    await_post(seen);
    seen++;
    helper.work(helper.argument, 1);
    atomic_store_explicit(&helper.done, seen, memory_order_release);
  }
  return NULL;
}

static void on_threads(int threads, void (*work)(void *, int), void *argument)
{
  if (threads < 2) {
    work(argument, 0);
    return;
  }
  if (!helper.running) {
    helper.running = 1;
    sem_init(&helper.wake, 0, 0);
    pthread_create(&helper.thread, NULL, help, NULL);
  }
  helper.work = work;
  helper.argument = argument;
  int64_t turn = atomic_fetch_add(&helper.posted, 1) + 1;
  if (atomic_exchange(&helper.sleeping, 0)) sem_post(&helper.wake);
  work(argument, 0);
  while (atomic_load_explicit(&helper.done, memory_order_acquire) != turn) {
  }
}

static int64_t part_begin(int64_t n, int threads, int part)
{
  return threads < 2 ? (part ? n : 0) : n / 2 / 64 * 64 * part;
}

static int64_t part_end(int64_t n, int threads, int part)
{
  return threads < 2 || part ? n : n / 2 / 64 * 64;
}

#if defined(__x86_64__)
WIDE static void add_wide(float *y, const float *a, const float *b, int64_t n)
{
  for (int64_t i = 0; i < n; i += 16)
    _mm512_stream_ps(y + i, _mm512_add_ps(_mm512_loadu_ps(a + i),
                                          _mm512_loadu_ps(b + i)));
  _mm_sfence();
}

HALF static void add_half(float *y, const float *a, const float *b, int64_t n)
{
  for (int64_t i = 0; i < n; i += 8)
    _mm256_stream_ps(y + i, _mm256_add_ps(_mm256_loadu_ps(a + i),
                                          _mm256_loadu_ps(b + i)));
  _mm_sfence();
}

WIDE static void copy_wide(float *y, const float *x, int64_t n)
{
  for (int64_t i = 0; i < n; i += 16)
    _mm512_stream_ps(y + i, _mm512_loadu_ps(x + i));
  _mm_sfence();
}

HALF static void copy_half(float *y, const float *x, int64_t n)
{
  for (int64_t i = 0; i < n; i += 8)
    _mm256_stream_ps(y + i, _mm256_loadu_ps(x + i));
  _mm_sfence();
}

WIDE static float read_wide(const float *x, int64_t n)
{
  __m512 s[8];
  for (int i = 0; i < 8; i++) s[i] = _mm512_setzero_ps();
  int64_t i = 0;
  for (; i + 128 <= n; i += 128)
    for (int k = 0; k < 8; k++)
      s[k] = _mm512_add_ps(s[k], _mm512_loadu_ps(x + i + 16 * k));
  for (int k = 1; k < 8; k++) s[0] = _mm512_add_ps(s[0], s[k]);
  return _mm512_reduce_add_ps(s[0]);
}

HALF static float read_half(const float *x, int64_t n)
{
  __m256 s[8];
  float out[8];
  for (int i = 0; i < 8; i++) s[i] = _mm256_setzero_ps();
  for (int64_t i = 0; i + 64 <= n; i += 64)
    for (int k = 0; k < 8; k++)
      s[k] = _mm256_add_ps(s[k], _mm256_loadu_ps(x + i + 8 * k));
  for (int k = 1; k < 8; k++) s[0] = _mm256_add_ps(s[0], s[k]);
  _mm256_storeu_ps(out, s[0]);
  return out[0] + out[1] + out[2] + out[3];
}

/* 16 chains hide the latency of two units; 65536 operations a call. */
WIDE static float fma_wide(float start)
{
  __m512 s[16], m = _mm512_set1_ps(start);
  for (int i = 0; i < 16; i++) s[i] = _mm512_set1_ps(start + (float)i);
  for (int k = 0; k < LIMIT_FMA_FLOPS / 2 / 256; k++) {
#pragma GCC unroll 16
    for (int i = 0; i < 16; i++) s[i] = _mm512_fmadd_ps(s[i], m, m);
  }
  for (int i = 1; i < 16; i++) s[0] = _mm512_add_ps(s[0], s[i]);
  return _mm512_reduce_add_ps(s[0]);
}

HALF static float fma_half(float start)
{
  __m256 s[12], m = _mm256_set1_ps(start);
  float out[8];
  for (int i = 0; i < 12; i++) s[i] = _mm256_set1_ps(start + (float)i);
  for (int k = 0; k < LIMIT_FMA_FLOPS / 2 / 96; k++) {
#pragma GCC unroll 12
    for (int i = 0; i < 12; i++) s[i] = _mm256_fmadd_ps(s[i], m, m);
  }
  for (int i = 1; i < 12; i++) s[0] = _mm256_add_ps(s[0], s[i]);
  _mm256_storeu_ps(out, s[0]);
  return out[0];
}
#endif

#if !defined(__x86_64__)
static void add_plain(float *y, const float *a, const float *b, int64_t n)
{
  for (int64_t i = 0; i < n; i++) y[i] = a[i] + b[i];
}

static float read_plain(const float *x, int64_t n)
{
  float s[32] = { 0 };
  for (int64_t i = 0; i + 32 <= n; i += 32)
    for (int k = 0; k < 32; k++) s[k] += x[i + k];
  for (int k = 1; k < 32; k++) s[0] += s[k];
  return s[0];
}

static float fma_plain(float start)
{
  float s[64];
  for (int i = 0; i < 64; i++) s[i] = start + (float)i;
  for (int k = 0; k < LIMIT_FMA_FLOPS / 2 / 64; k++)
    for (int i = 0; i < 64; i++)
      s[i] = __builtin_fmaf(s[i], start, start);
  for (int i = 1; i < 64; i++) s[0] += s[i];
  return s[0];
}
#endif

static void add_part(void *argument, int part)
{
  const limit_add *add = argument;
  int64_t i = part_begin(add->n, add->threads, part);
  int64_t n = part_end(add->n, add->threads, part) - i;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    add_wide(add->y + i, add->a + i, add->b + i, n);
  else
    add_half(add->y + i, add->a + i, add->b + i, n);
#else
  add_plain(add->y + i, add->a + i, add->b + i, n);
#endif
}

void limit_add_run(void *argument, int64_t count)
{
  const limit_add *add = argument;
  for (int64_t i = 0; i < count; i++)
    on_threads(add->threads, add_part, argument);
}

static void copy_part(void *argument, int part)
{
  const limit_copy *copy = argument;
  int64_t i = part_begin(copy->n, copy->threads, part);
  int64_t n = part_end(copy->n, copy->threads, part) - i;
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f"))
    copy_wide(copy->y + i, copy->x + i, n);
  else
    copy_half(copy->y + i, copy->x + i, n);
#else
  memcpy(copy->y + i, copy->x + i, (size_t)n * sizeof *copy->y);
#endif
}

void limit_copy_run(void *argument, int64_t count)
{
  const limit_copy *copy = argument;
  for (int64_t i = 0; i < count; i++)
    on_threads(copy->threads, copy_part, argument);
}

static void read_part(void *argument, int part)
{
  limit_read *read = argument;
  int64_t i = part_begin(read->n, read->threads, part);
  int64_t n = part_end(read->n, read->threads, part) - i;
#if defined(__x86_64__)
  float sum = __builtin_cpu_supports("avx512f") ? read_wide(read->x + i, n)
                                                : read_half(read->x + i, n);
#else
  float sum = read_plain(read->x + i, n);
#endif
  if (!part) read->sink = sum;
  bench_keep(&sum);
}

void limit_read_run(void *argument, int64_t count)
{
  const limit_read *read = argument;
  for (int64_t i = 0; i < count; i++)
    on_threads(read->threads, read_part, argument);
}

static void fma_part(void *argument, int part)
{
  limit_fma *fma = argument;
  float value = 0.5f;
  bench_keep(&value);
#if defined(__x86_64__)
  float sum = __builtin_cpu_supports("avx512f") ? fma_wide(value)
                                                : fma_half(value);
#else
  float sum = fma_plain(value);
#endif
  if (!part) fma->sink = sum;
  bench_keep(&sum);
}

static struct {
  limit_fma *fma;
  int64_t count;
} fma_batch;

static void fma_many(void *unused, int part)
{
  (void)unused;
  for (int64_t i = 0; i < fma_batch.count; i++)
    fma_part(fma_batch.fma, part);
}

void limit_fma_run(void *argument, int64_t count)
{
  fma_batch.fma = argument;
  fma_batch.count = count;
  on_threads(fma_batch.fma->threads, fma_many, NULL);
}

void limit_malloc_run(void *argument, int64_t count)
{
  size_t bytes = *(size_t *)argument;
  for (int64_t i = 0; i < count; i++) {
    void *memory = malloc(bytes);
    bench_keep(memory);
    free(memory);
  }
}

void limit_mutex_run(void *unused, int64_t count)
{
  static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
  (void)unused;
  for (int64_t i = 0; i < count; i++) {
    pthread_mutex_lock(&mutex);
    bench_keep(&mutex);
    pthread_mutex_unlock(&mutex);
  }
}

static void nothing(void *argument) { bench_keep(argument); }

void limit_call_run(void *argument, int64_t count)
{
  void (*volatile call)(void *) = nothing;
  for (int64_t i = 0; i < count; i++) call(argument);
}

struct limit_ffi {
  ffi_cif cif;
  ffi_type *types[4];
  void (*call)(ffi_cif *, void (*)(void), void *, void **);
};

static void four(void *y, void *x, float a, int64_t n)
{
  bench_keep(y);
  bench_keep(x);
  bench_keep(&a);
  bench_keep(&n);
}

limit_ffi *limit_ffi_new(void)
{
  limit_ffi *ffi = calloc(1, sizeof *ffi);
  if (!ffi) return NULL;
  ffi_type *types[4] = { &ffi_type_pointer, &ffi_type_pointer,
                         &ffi_type_float, &ffi_type_sint64 };
  memcpy(ffi->types, types, sizeof types);
  ffi->call = ffi_call;
  if (ffi_prep_cif(&ffi->cif, FFI_DEFAULT_ABI, 4, &ffi_type_void,
                   ffi->types) == FFI_OK)
    return ffi;
  free(ffi);
  return NULL;
}

void limit_ffi_run(void *argument, int64_t count)
{
  limit_ffi *ffi = argument;
  void *y = ffi, *x = ffi;
  float a = 1;
  int64_t n = 1;
  void *values[4] = { &y, &x, &a, &n };
  for (int64_t i = 0; i < count; i++)
    ffi->call(&ffi->cif, (void (*)(void))four, NULL, values);
}

double limit_dlopen(const char *path)
{
  double start = bench_now();
  void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (!library) return -1;
  int (*call)(void);
  *(void **)&call = dlsym(library, "tiny");
  int answer = call ? call() : -1;
  double ns = bench_now() - start;
  return answer == 42 ? ns : -1;
}

float *limit_floats(int64_t n, float first, float step)
{
  size_t bytes = ((size_t)n * sizeof(float) + (2u << 20) - 1) &
                 ~(size_t)((2u << 20) - 1);
  float *x = aligned_alloc(2u << 20, bytes);
  if (!x) abort();
  madvise(x, bytes, MADV_HUGEPAGE);
  for (int64_t i = 0; i < n; i++) x[i] = first + step * (float)(i % 97);
  return x;
}
