/* The built-in kernels through tn_launch, against the memory's and the
 * arithmetic units' limits. TENON_NUM_THREADS sets the threads of both. */
#include "config.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "bench/limit.h"
#include "bench/measure.h"
#include "tenon/tenon.h"

static tn_device cpu;
static int threads;

static void check(tn_status status, const char *what)
{
  if (!status) return;
  fprintf(stderr, "bench: %s: %s\n", what, tn_error_message());
  exit(1);
}

static tn_kernel *kernel(const char *family, const char *name)
{
  tn_module *module = tn_module_builtin(cpu, family);
  tn_kernel *found = tn_kernel_get(module, name);
  check(found ? TN_OK : tn_last_status(), name);
  tn_module_release(module);
  return found;
}

static float *floats(int64_t n, float first, float step)
{
  float *x = tn_malloc(cpu, (size_t)n * sizeof *x);
  check(x ? TN_OK : tn_last_status(), "memory");
  for (int64_t i = 0; i < n; i++) x[i] = first + step * (float)(i % 97);
  return x;
}

static const char *with_threads(const char *name)
{
  static char text[8][64];
  static int turn;
  char *out = text[turn++ % 8];
  snprintf(out, sizeof text[0], "%s, %d thread%s", name, threads,
           threads > 1 ? "s" : "");
  return out;
}

typedef struct add {
  tn_kernel *kernel;
  limit_add side;
} add;

static void add_run(void *argument, int64_t count)
{
  const add *one = argument;
  for (int64_t i = 0; i < count; i++)
    check(tn_launch(one->kernel, one->side.n,
                    TN_ARGS(TN_ARG_PTR(one->side.y), TN_ARG_PTR(one->side.a),
                            TN_ARG_PTR(one->side.b),
                            TN_ARG_I64(one->side.n))),
          "add");
}

static void run_add(int64_t n, const char *name, bench_goal goal)
{
  add one = { kernel("elementwise", "add_f32"),
              { floats(n, 0, 1), floats(n, 1, 2), floats(n, 3, 1), n,
                threads } };
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { "add_f32", add_run, &one },
      .limit = { "streaming stores", limit_add_run, &one.side },
      .goal = goal, .wanted = 0.9, .amount = 12.0 * (double)n,
      .unit = "GB/s" });
  tn_free(one.side.y);
  tn_free((void *)(uintptr_t)one.side.a);
  tn_free((void *)(uintptr_t)one.side.b);
  tn_kernel_release(one.kernel);
}

typedef struct sum {
  tn_kernel *kernel;
  const float *x;
  float *part, *y;
  int64_t rows, n;
  int is_short;
} sum;

static void sum_rows(const sum *one, float *y, const float *x, int64_t n)
{
  int64_t blocks = n > 4096 ? (n + 4095) / 4096 : 1;
  check(tn_launch_groups(one->kernel, one->rows * blocks,
                         TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(x),
                                 TN_ARG_I64(one->rows), TN_ARG_I64(n),
                                 TN_ARG_I64(n), TN_ARG_I64(blocks))),
        "sum");
}

static void sum_run(void *argument, int64_t count)
{
  const sum *one = argument;
  for (int64_t i = 0; i < count; i++) {
    if (one->is_short) {
      check(tn_launch_groups(one->kernel, (one->rows + 31) / 32,
                             TN_ARGS(TN_ARG_PTR(one->y), TN_ARG_PTR(one->x),
                                     TN_ARG_I64(one->rows),
                                     TN_ARG_I64(one->n),
                                     TN_ARG_I64(one->n))),
            "sum");
    } else if (one->n > 4096) {
      sum_rows(one, one->part, one->x, one->n);
      sum_rows(one, one->y, one->part, (one->n + 4095) / 4096);
    } else {
      sum_rows(one, one->y, one->x, one->n);
    }
  }
}

static void run_sum(const char *name, int64_t rows, int64_t n,
                    bench_goal goal, double wanted)
{
  int is_short = n <= 64;
  sum one = { kernel("reduce", is_short ? "sum_short_f32" : "sum_f32"),
              floats(rows * n, 1, 0.5f), floats(rows * n / 4096 + 4096, 0, 0),
              floats(rows, 0, 0), rows, n, is_short };
  limit_read read = { one.x, rows * n, threads, 0 };
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { "sum_f32", sum_run, &one },
      .limit = { "reading", limit_read_run, &read }, .goal = goal,
      .wanted = wanted, .amount = 4.0 * (double)(rows * n),
      .unit = "GB/s" });
  tn_free((void *)(uintptr_t)one.x);
  tn_free(one.part);
  tn_free(one.y);
  tn_kernel_release(one.kernel);
}

/* Softmax, or layer norm with its mean and scale of each row. */
typedef struct row_work {
  tn_kernel *kernel;
  float *y, *stats, *weight;
  const float *x;
  int64_t rows, n;
  bool is_norm;
} row_work;

static void rows_run(void *argument, int64_t count)
{
  const row_work *one = argument;
  for (int64_t i = 0; i < count; i++) {
    if (one->is_norm)
      check(tn_launch_groups(
                one->kernel, one->rows,
                TN_ARGS(TN_ARG_PTR(one->y), TN_ARG_PTR(one->stats),
                        TN_ARG_PTR(one->stats + one->rows),
                        TN_ARG_PTR(one->x), TN_ARG_PTR(one->weight),
                        TN_ARG_PTR(one->weight), TN_ARG_I64(one->rows),
                        TN_ARG_I64(one->n), TN_ARG_F32(1e-5f))),
            "layer_norm");
    else
      check(tn_launch_groups(one->kernel, one->rows,
                             TN_ARGS(TN_ARG_PTR(one->y), TN_ARG_PTR(one->x),
                                     TN_ARG_I64(one->rows),
                                     TN_ARG_I64(one->n))),
            "softmax");
  }
}

/* The limit is a copy by streaming stores: an addition of x to itself. Nothing
 * is asked if wanted is 0. */
static void run_rows(const char *name, const char *kernel_name, bool is_norm,
                     double wanted)
{
  enum { ROWS = 16 << 10, WIDTH = 1024 };
  row_work one = { kernel(is_norm ? "layer_norm" : "softmax", kernel_name),
                   floats(ROWS * WIDTH, 0, 0), floats(2 * ROWS, 0, 0),
                   floats(WIDTH, 1, 0.5f), floats(ROWS * WIDTH, 1, 0.25f),
                   ROWS, WIDTH, is_norm };
  float *y = floats(ROWS * WIDTH, 0, 0);
  limit_add copy = { y, one.x, one.x, ROWS * WIDTH, threads };
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { kernel_name, rows_run, &one },
      .limit = { "streaming copy", limit_add_run, &copy },
      .goal = wanted > 0 ? BENCH_AT_LEAST : BENCH_REPORTED, .wanted = wanted,
      .amount = 8.0 * ROWS * WIDTH, .unit = "GB/s" });
  tn_free(y);
  tn_free(one.y);
  tn_free(one.stats);
  tn_free(one.weight);
  tn_free((void *)(uintptr_t)one.x);
  tn_kernel_release(one.kernel);
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
                          TN_ARG_I64(across), TN_ARG_I64(along))),
        "pack");
}

static void matmul_run(void *argument, int64_t count)
{
  const matmul *one = argument;
  int64_t n = one->n;
  for (int64_t i = 0; i < count; i++) {
    pack(one->pack_a, one->panels_a, one->a, n, n, 1);
    pack(one->pack_b, one->panels_b, one->b, n, 1, n);
    check(tn_launch(one->product, (n + 3) / 4 * ((n + 7) / 8),
                    TN_ARGS(TN_ARG_PTR(one->c), TN_ARG_PTR(one->panels_a),
                            TN_ARG_PTR(one->panels_b), TN_ARG_I64(1),
                            TN_ARG_I64(n), TN_ARG_I64(n), TN_ARG_I64(n),
                            TN_ARG_I64(0), TN_ARG_I64(n))),
          "matmul");
  }
}

static void run_matmul(int64_t n)
{
  char name[32];
  snprintf(name, sizeof name, "matmul %lld", (long long)n);
  int64_t panel = (n + 31) / 32 * 32 * n + 32 * n;
  matmul one = { kernel("matmul", "pack_a_f32"),
                 kernel("matmul", "pack_b_f32"),
                 kernel("matmul", "matmul_f32"), floats(n * n, 0, 0.01f),
                 floats(n * n, 1, 0.02f), floats(n * n, 0, 0),
                 floats(panel, 0, 0), floats(panel, 0, 0), n };
  limit_fma fma = { threads, 0 };
  double flops = 2.0 * (double)n * (double)n * (double)n;
  double per_call = (double)LIMIT_FMA_FLOPS * threads;
  bench_run(&(bench_case){
      .name = with_threads(name),
      .subject = { "matmul_f32", matmul_run, &one },
      .limit = { "fma", limit_fma_run, &fma }, .goal = BENCH_AT_LEAST,
      .wanted = 0.6, .scale = per_call / flops, .amount = per_call,
      .unit = "GFLOP/s" });
  float *used[] = { one.a, one.b, one.c, one.panels_a, one.panels_b };
  for (int i = 0; i < 5; i++) tn_free(used[i]);
  tn_kernel_release(one.pack_a);
  tn_kernel_release(one.pack_b);
  tn_kernel_release(one.product);
}

int main(int argc, char **argv)
{
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  bench_json_open(json);
  bench_filter(argc > 2 ? argv[2] : NULL);
  const char *wanted = getenv("TENON_NUM_THREADS");
  threads = wanted ? atoi(wanted) : 1;
  cpu = tn_device_of("cpu");
  run_add(64 << 18, "64 MiB add", BENCH_AT_LEAST);
  run_sum("sum, 1 row of 16 M", 1, 16 << 20, BENCH_AT_LEAST, 0.9);
  run_sum("sum, rows of 1024", 16 << 10, 1024, BENCH_AT_LEAST, 0.7);
  run_sum("sum, rows of 16", 1 << 20, 16, BENCH_REPORTED, 0);
  run_rows("layer norm, rows of 1024", "layer_norm_f32", true, 0.7);
  run_rows("softmax, rows of 1024", "softmax_f32", false,
           threads > 1 ? 0.7 : 0.4);
  run_rows("log_softmax, rows of 1024", "log_softmax_f32", false, 0);
  for (int64_t n = 512; n <= 2048; n *= 2) run_matmul(n);
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
