/* The built-in kernels on cuda against what the GPU can do: copying for those
 * that wait for memory, fma in registers for products. */
#include "config.h"

#include <string.h>

#include "bench/cuda.h"

/* Launches of a kernel of three vectors of n floats. */
typedef struct vectors {
  tn_kernel *add, *sum;
  float *y, *a, *b;
  int64_t n;
  transfer copy; /* a to y: the ceiling */
} vectors;

static void add_run(void *argument, int64_t count)
{
  const vectors *v = argument;
  for (int64_t i = 0; i < count; i++)
    check(tn_launch(v->add, v->n,
                    TN_ARGS(TN_ARG_PTR(v->y), TN_ARG_PTR(v->a),
                            TN_ARG_PTR(v->b), TN_ARG_I64(v->n))), "add_f32");
  wait_for_gpu();
}

static void sum_run(void *argument, int64_t count)
{
  const vectors *v = argument;
  for (int64_t i = 0; i < count; i++) {
    const float *from = v->a;
    int64_t n = v->n, offset = 0;
    do {
      int64_t blocks = (n + 4095) / 4096;
      check(tn_launch_groups(v->sum, blocks,
                             TN_ARGS(TN_ARG_PTR(v->y + offset),
                                     TN_ARG_PTR(from), TN_ARG_I64(1),
                                     TN_ARG_I64(n), TN_ARG_I64(n),
                                     TN_ARG_I64(blocks))), "sum_f32");
      from = v->y + offset;
      offset += blocks;
      n = blocks;
    } while (n > 1);
  }
  wait_for_gpu();
}

/* 1 GiB each, or less, so that half of what is free is enough. */
static size_t vector_bytes(void)
{
  size_t bytes = is_small ? 1 << 16 : 1 << 30, free_bytes = 0, total = 0;
  check(tn_empty_cache(gpu), "cache");
  check(tn_mem_get_info(gpu, &free_bytes, &total), "free memory");
  while (bytes > free_bytes / 6) bytes /= 2;
  return bytes;
}

void run_vectors(void)
{
  size_t bytes = vector_bytes();
  char add[48], sum[48];
  vectors v = { kernel_of("elementwise", "add_f32"),
                kernel_of("reduce", "sum_f32"),
                zeros(bytes), zeros(bytes), zeros(bytes),
                (int64_t)(bytes / sizeof(float)), { 0 } };
  v.copy = (transfer){ v.y, v.a, bytes, gpu, gpu };
  snprintf(add, sizeof add, "add_f32, vectors of %zu KiB", bytes >> 10);
  snprintf(sum, sizeof sum, "sum_f32 of %zu KiB", bytes >> 10);
  bench_case one = { .name = add, .subject = { "add_f32", add_run, &v },
                     .limit = { "device copy", raw_copy_run, &v.copy },
                     .goal = BENCH_AT_LEAST, .wanted = 0.9,
                     .scale = 8.0 / 12, .amount = 2 * (double)bytes,
                     .unit = "GB/s" };
  bench_run(&one);
  one.name = sum;
  one.subject = (bench_side){ "sum_f32", sum_run, &v };
  one.scale = 8.0 / 4;
  bench_run(&one);
  tn_free(v.y);
  tn_free(v.a);
  tn_free(v.b);
  tn_kernel_release(v.add);
  tn_kernel_release(v.sum);
}

typedef struct peak {
  void *y;
  unsigned blocks;
  uint32_t rounds;
} peak;
#define PEAK_THREADS 256

static void peak_run(void *argument, int64_t count)
{
  const peak *p = argument;
  CUdeviceptr y = address(p->y);
  uint32_t rounds = p->rounds;
  float a = 0.5f;
  for (int64_t i = 0; i < count; i++) {
    void *parameters[] = { &y, &rounds, &a };
    raw_check(raw.calls.LaunchKernel(raw.fma, p->blocks, 1, 1, PEAK_THREADS,
                                     1, 1, 0, raw.stream, parameters, NULL),
              "cuLaunchKernel");
  }
  raw_wait();
}

typedef struct matmul {
  tn_kernel *pack_a, *pack_b, *product;
  float *a, *b, *c, *panels_a, *panels_b;
  int64_t n;
} matmul;

static void pack(tn_kernel *k, float *panels, const float *x, int64_t n,
                 int64_t across, int64_t along)
{
  check(tn_launch(k, (n + 3) / 4 * ((n + 63) / 64),
                  TN_ARGS(TN_ARG_PTR(panels), TN_ARG_PTR(x), TN_ARG_I64(1),
                          TN_ARG_I64(n), TN_ARG_I64(n), TN_ARG_I64(0),
                          TN_ARG_I64(across), TN_ARG_I64(along))), "pack");
}

static void matmul_run(void *argument, int64_t count)
{
  const matmul *m = argument;
  int64_t n = m->n;
  for (int64_t i = 0; i < count; i++) {
    pack(m->pack_a, m->panels_a, m->a, n, n, 1);
    pack(m->pack_b, m->panels_b, m->b, n, 1, n);
    check(tn_launch(m->product, (n + 3) / 4 * ((n + 7) / 8),
                    TN_ARGS(TN_ARG_PTR(m->c), TN_ARG_PTR(m->panels_a),
                            TN_ARG_PTR(m->panels_b), TN_ARG_I64(1),
                            TN_ARG_I64(n), TN_ARG_I64(n), TN_ARG_I64(n),
                            TN_ARG_I64(0), TN_ARG_I64(n))), "matmul_f32");
  }
  wait_for_gpu();
}

void run_matmul(int64_t n)
{
  char name[32];
  size_t bytes = (size_t)(n * n) * sizeof(float);
  size_t panel = (size_t)((n + 63) * n) * sizeof(float);
  unsigned blocks = is_small ? 2 : raw.units * 8;
  peak p = { zeros((size_t)blocks * PEAK_THREADS * sizeof(float)), blocks,
             is_small ? 2 : 2048 };
  matmul m = { kernel_of("matmul", "pack_a_f32"),
               kernel_of("matmul", "pack_b_f32"),
               kernel_of("matmul", "matmul_f32"), varied(n * n), varied(n * n),
               zeros(bytes), zeros(panel), zeros(panel), n };
  double at_peak = (double)blocks * PEAK_THREADS * RAW_FMA_FLOPS * p.rounds;
  snprintf(name, sizeof name, "matmul_f32 %lld", (long long)n);
  bench_run(&(bench_case){
      .name = name, .subject = { "matmul_f32", matmul_run, &m },
      .limit = { "fma in registers", peak_run, &p }, .goal = BENCH_REPORTED,
      .scale = at_peak / (2.0 * (double)n * (double)n * (double)n),
      .amount = at_peak, .unit = "GFLOP/s" });
  void *used[] = { m.a, m.b, m.c, m.panels_a, m.panels_b, p.y };
  for (int i = 0; i < 6; i++) tn_free(used[i]);
  tn_kernel_release(m.pack_a);
  tn_kernel_release(m.pack_b);
  tn_kernel_release(m.product);
}

/* A copy from pinned memory and additions that take about as long. */
typedef struct pair {
  tn_stream *copying, *computing;
  transfer copy;
  vectors v;
  int64_t launches;
} pair;

static void queue_copy(const pair *p)
{
  tn_with_stream(p->copying)
    check(tn_copy(p->copy.to, gpu, p->copy.from, cpu, p->copy.bytes, true),
          "copy");
}

static void queue_launches(const pair *p)
{
  tn_with_stream(p->computing)
    for (int64_t i = 0; i < p->launches; i++)
      check(tn_launch(p->v.add, p->v.n,
                      TN_ARGS(TN_ARG_PTR(p->v.y), TN_ARG_PTR(p->v.a),
                              TN_ARG_PTR(p->v.b), TN_ARG_I64(p->v.n))),
            "add_f32");
}

static void together_run(void *argument, int64_t count)
{
  for (int64_t i = 0; i < count; i++) {
    queue_copy(argument);
    queue_launches(argument);
    wait_for_gpu();
  }
}

static void alone_run(void *argument, int64_t count)
{
  for (int64_t i = 0; i < count; i++) {
    queue_copy(argument);
    wait_for_gpu();
    queue_launches(argument);
    wait_for_gpu();
  }
}

/* How many launches take as long as the copy; both ran before. */
static int64_t match_launches(const pair *p)
{
  double start = bench_now();
  queue_copy(p);
  wait_for_gpu();
  double middle = bench_now();
  queue_launches(p);
  wait_for_gpu();
  double each = (bench_now() - middle) / (double)p->launches;
  int64_t launches = (int64_t)((middle - start) / each);
  return launches < 1 ? 1 : launches;
}

void run_overlap(void)
{
  size_t bytes = is_small ? 1 << 14 : 256 << 20;
  size_t part = is_small ? 1 << 14 : 32 << 20;
  void *pinned = tn_malloc_pinned(bytes);
  check(pinned ? TN_OK : tn_last_status(), "pinned memory");
  memset(pinned, 0, bytes);
  pair p = { tn_stream_new(gpu, 0), tn_stream_new(gpu, 0),
             { zeros(bytes), pinned, bytes, gpu, cpu },
             { kernel_of("elementwise", "add_f32"), NULL, zeros(part),
               zeros(part), zeros(part), (int64_t)(part / sizeof(float)),
               { 0 } }, is_small ? 2 : 16 };
  check(p.copying && p.computing ? TN_OK : tn_last_status(), "streams");
  alone_run(&p, 1);
  if (!is_small) p.launches = match_launches(&p);
  bench_run(&(bench_case){ .name = "pinned copy and add_f32, two streams",
                           .subject = { "together", together_run, &p },
                           .limit = { "one by one", alone_run, &p },
                           .goal = BENCH_AT_MOST, .wanted = 0.75 });
  void *used[] = { pinned, p.copy.to, p.v.y, p.v.a, p.v.b };
  for (int i = 0; i < 5; i++) tn_free(used[i]);
  tn_stream_release(p.copying);
  tn_stream_release(p.computing);
  tn_kernel_release(p.v.add);
}
