/* The cuda backend against the driver's own calls and against what the GPU
 * can do: cuda [--small] [JSON [FILTER]]. Under the driver double everything
 * runs and nothing is measured. Exit status: 1 for a goal missed, 2 for a
 * failure. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bench/cuda.h"

#define BATCH 64 /* launches between waits */

tn_device gpu, cpu;
bool is_small;

void check(tn_status status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "bench: %s: %s\n", what, tn_error_message());
  exit(2);
}

void wait_for_gpu(void) { check(tn_synchronize(gpu), "wait"); }

void raw_wait(void)
{
  raw_check(raw.calls.StreamSynchronize(raw.stream), "cuStreamSynchronize");
}

tn_kernel *kernel_of(const char *family, const char *name)
{
  tn_module *module = tn_module_builtin(gpu, family);
  tn_kernel *found = tn_kernel_get(module, name);
  check(found ? TN_OK : tn_last_status(), name);
  tn_module_release(module);
  return found;
}

void *zeros(size_t bytes)
{
  void *memory = tn_malloc(gpu, bytes);
  check(memory ? TN_OK : tn_last_status(), "memory");
  check(tn_fill_bytes(memory, gpu, 0, bytes), "filling");
  wait_for_gpu();
  return memory;
}

float *varied(int64_t n)
{
  size_t bytes = (size_t)n * sizeof(float);
  float *memory = zeros(bytes), *host = malloc(bytes);
  uint32_t state = 1;
  check(host ? TN_OK : TN_OUT_OF_MEMORY, "host memory");
  for (int64_t i = 0; i < n; i++) {
    state = state * 1664525u + 1013904223u;
    host[i] = (float)(state >> 8) * 0x1p-23f - 1;
  }
  check(tn_copy(memory, gpu, host, cpu, bytes, false), "copy");
  free(host);
  return memory;
}

typedef struct launch {
  tn_kernel *kernel;
  void *y, *x;
} launch;

static void launch_run(void *argument, int64_t count)
{
  const launch *l = argument;
  for (int64_t i = 0; i < count; i++) {
    check(tn_launch(l->kernel, 1,
                    TN_ARGS(TN_ARG_PTR(l->y), TN_ARG_PTR(l->x),
                            TN_ARG_F32(0.5f), TN_ARG_I64(1))), "launch");
    if (i % BATCH == BATCH - 1) wait_for_gpu();
  }
  wait_for_gpu();
}

static void raw_launch_run(void *argument, int64_t count)
{
  const launch *l = argument;
  CUdeviceptr y = address(l->y), x = address(l->x);
  float a = 0.5f;
  int64_t n = 1;
  for (int64_t i = 0; i < count; i++) {
    void *parameters[] = { &y, &x, &a, &n };
    raw_check(raw.calls.LaunchKernel(raw.axpy, 1, 1, 1, 256, 1, 1, 0,
                                     raw.stream, parameters, NULL),
              "cuLaunchKernel");
    if (i % BATCH == BATCH - 1) raw_wait();
  }
  raw_wait();
}

static void run_launch(void)
{
  launch l = { kernel_of("elementwise", "axpy_f32"), zeros(4096), zeros(4096) };
  bench_run(&(bench_case){ .name = "launch, 4 arguments",
                           .subject = { "tn_launch", launch_run, &l },
                           .limit = { "cuLaunchKernel", raw_launch_run, &l },
                           .goal = BENCH_AT_MOST, .wanted = 1.15 });
  tn_free(l.y);
  tn_free(l.x);
  tn_kernel_release(l.kernel);
}

static void block_run(void *argument, int64_t count)
{
  for (int64_t i = 0; i < count; i++) {
    tn_block *block = tn_block_new(gpu, *(const size_t *)argument);
    check(block ? TN_OK : tn_last_status(), "block");
    tn_block_release(block);
  }
}

static void raw_ordered_run(void *argument, int64_t count)
{
  CUdeviceptr memory;
  for (int64_t i = 0; i < count; i++) {
    raw_check(raw.MemAllocAsync(&memory, *(const size_t *)argument,
                                raw.stream), "cuMemAllocAsync");
    raw_check(raw.MemFreeAsync(memory, raw.stream), "cuMemFreeAsync");
  }
}

static void raw_memory_run(void *argument, int64_t count)
{
  CUdeviceptr memory;
  for (int64_t i = 0; i < count; i++) {
    raw_check(raw.calls.MemAlloc(&memory, *(const size_t *)argument),
              "cuMemAlloc");
    raw_check(raw.calls.MemFree(memory), "cuMemFree");
  }
}

static void run_blocks(void)
{
  size_t bytes = 1 << 20;
  bool is_ordered = raw.MemAllocAsync && raw.MemFreeAsync;
  bench_case one = { .name = "block of 1 MiB and back",
                     .subject = { "tn_block_new", block_run, &bytes },
                     .limit = { "cuMemAllocAsync", raw_ordered_run, &bytes },
                     .goal = BENCH_AT_MOST, .wanted = 1 };
  if (!is_ordered) {
    one.name = "block of 1 MiB (no cuMemAllocAsync)";
    one.limit = (bench_side){ "cuMemAlloc", raw_memory_run, &bytes };
  }
  bench_run(&one);
}

void raw_copy_run(void *argument, int64_t count)
{
  const transfer *t = argument;
  bool is_to = tn_device_equal(t->to_device, gpu);
  bool is_from = tn_device_equal(t->from_device, gpu);
  for (int64_t i = 0; i < count; i++) {
    if (is_to && is_from) {
      raw_check(raw.calls.MemcpyDtoDAsync(address(t->to), address(t->from),
                                          t->bytes, raw.stream),
                "cuMemcpyDtoDAsync");
      continue;
    }
    raw_check(is_to ? raw.calls.MemcpyHtoDAsync(address(t->to), t->from,
                                                t->bytes, raw.stream)
                    : raw.calls.MemcpyDtoHAsync(t->to, address(t->from),
                                                t->bytes, raw.stream),
              "cuMemcpyAsync");
    raw_wait();
  }
  raw_wait();
}

static void copy_run(void *argument, int64_t count)
{
  const transfer *t = argument;
  for (int64_t i = 0; i < count; i++)
    check(tn_copy(t->to, t->to_device, t->from, t->from_device, t->bytes,
                  false), "copy");
  wait_for_gpu();
}

static void run_copy(const char *name, transfer t, bench_goal goal)
{
  bench_run(&(bench_case){ .name = name,
                           .subject = { "tn_copy", copy_run, &t },
                           .limit = { "cuMemcpyAsync", raw_copy_run, &t },
                           .goal = goal, .wanted = 0.9,
                           .amount = (double)t.bytes, .unit = "GB/s" });
}

static void run_copies(void)
{
  size_t bytes = is_small ? 1 << 16 : 256 << 20;
  void *a = zeros(bytes), *b = zeros(bytes);
  void *pinned = tn_malloc_pinned(bytes), *plain = malloc(bytes);
  check(pinned && plain ? TN_OK : TN_OUT_OF_MEMORY, "host memory");
  memset(pinned, 1, bytes);
  memset(plain, 2, bytes);
  run_copy("copy from pinned memory", (transfer){ a, pinned, bytes, gpu, cpu },
           BENCH_AT_LEAST);
  run_copy("copy to pinned memory", (transfer){ pinned, a, bytes, cpu, gpu },
           BENCH_AT_LEAST);
  run_copy("copy from pageable memory",
           (transfer){ a, plain, bytes, gpu, cpu }, BENCH_REPORTED);
  run_copy("copy to pageable memory", (transfer){ plain, a, bytes, cpu, gpu },
           BENCH_REPORTED);
  run_copy("copy in the device", (transfer){ b, a, bytes, gpu, gpu },
           BENCH_AT_LEAST);
  tn_free(a);
  tn_free(b);
  tn_free(pinned);
  free(plain);
}

/* Why there is nothing to measure, or NULL. */
static const char *open_gpu(void)
{
  void *device = NULL, *context = NULL;
  cpu = tn_device_of("cpu");
  if (tn_device_parse("cuda:0", &gpu) || tn_device_native(gpu, &device) ||
      tn_device_native_context(gpu, &context))
    return tn_error_message();
  return raw_cuda_open((CUdevice)(intptr_t)device, context);
}

static void run_all(void)
{
  run_launch();
  if (raw.calls.GraphLaunch) run_graphs();
  run_blocks();
  run_copies();
  run_vectors();
  if (is_small) run_matmul(64);
  else
    for (int64_t n = 1024; n <= 4096; n *= 2) run_matmul(n);
  run_overlap();
}

int main(int argc, char **argv)
{
  if (argc > 1 && strcmp(argv[1], "--small") == 0) {
    is_small = true;
    argv++;
    argc--;
  }
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 2 ? argv[2] : NULL);
  const char *reason = open_gpu();
  if (reason) {
    printf("cuda: nothing measured: %s\n", reason);
  } else {
    if (raw.is_emulated) bench_rehearse("EMULATED");
    else printf("%s\n", raw.name);
    run_all();
  }
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
