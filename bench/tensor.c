/* The tensor library against the machine's limits and, where it is found,
 * against libtorch doing the same in this process. TENON_NUM_THREADS sets the
 * threads of both. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "bench/libtorch.h"
#include "bench/limit.h"
#include "bench/measure.h"
#include "bench/training.h"
#include "tenon/tenon.h"

static int threads;

static void *need(void *result)
{
  if (result) return result;
  fprintf(stderr, "bench: tensor: %s\n", tn_error_message());
  exit(1);
}

static const char *with_threads(const char *name)
{
  static char text[8][96];
  static int turn;
  char *out = text[turn++ % 8];
  snprintf(out, sizeof text[0], "%s, %d thread%s", name, threads,
           threads > 1 ? "s" : "");
  return out;
}

/* Beside libtorch: `least` times faster, or reported only if 0. */
static void beside(const char *name, bench_work work, void *argument,
                   bench_work peer, void *peer_argument, double least)
{
#ifdef TN_LIBTORCH
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { "tenon", work, argument },
      .limit = { "libtorch", peer, peer_argument },
      .goal = least > 0 ? BENCH_AT_LEAST : BENCH_REPORTED, .wanted = least });
#else
  (void)name, (void)work, (void)argument;
  (void)peer, (void)peer_argument, (void)least;
#endif
}

#ifndef TN_LIBTORCH
#define libtorch_add_run NULL
#define libtorch_add_out_run NULL
#define libtorch_chain_run NULL
#define libtorch_layer_norm_run NULL
#define libtorch_softmax_run NULL
#define libtorch_sum_run NULL
#define libtorch_matmul_run NULL
#define libtorch_matvec_run NULL
#define libtorch_step_run NULL
#endif

/* ---- the cost of a call ---- */

typedef struct one {
  tn_tensor *x, *y, *z;
} one;

static void add_run(void *argument, int64_t count)
{
  const one *t = argument;
  for (int64_t i = 0; i < count; i++) tn_release(tn_add(t->x, t->y));
}

static void add_out_run(void *argument, int64_t count)
{
  const one *t = argument;
  for (int64_t i = 0; i < count; i++) tn_add_out(t->z, t->x, t->y);
}

static void chain_run(void *argument, int64_t count)
{
  const one *t = argument;
  for (int64_t i = 0; i < count; i++)
    tn_with_scope {
      tn_tensor *y = t->x;
      for (int k = 0; k < BENCH_CHAIN; k++) y = tn_mul(y, t->y);
      if (tn_backward(y)) need(NULL);
    }
}

static tn_tensor *single(float value, bool requires_grad)
{
  return need(tn_full(TN_SHAPE(1), (double)value,
                      .requires_grad = requires_grad));
}

static void run_calls(void)
{
  size_t bytes = 64;
  one plain = { single(1, false), single(2, false), single(0, false) };
  one leaf = { single(1, true), single(1, false), NULL };
  need(tn_add(plain.x, plain.y));
  bench_run(&(bench_case){
      .name = with_threads("add of one element"),
      .subject = { "tn_add", add_run, &plain },
      .limit = { "malloc+free 64", limit_malloc_run, &bytes },
      .goal = BENCH_AT_MOST, .wanted = 16 });
  beside("add of one element, libtorch", add_run, &plain, libtorch_add_run,
         NULL, 6);
  beside("add_out of one element, libtorch", add_out_run, &plain,
         libtorch_add_out_run, NULL, 6);
  beside("forward+backward of 10, libtorch", chain_run, &leaf,
         libtorch_chain_run, NULL, 6);
}

/* ---- rows: 64 MiB ---- */

typedef struct rows {
  tn_tensor *x, *weight, *bias, *row;
  int64_t columns;
} rows;

static rows make_rows(int64_t count, int64_t columns)
{
  rows r = { .columns = columns };
  r.x = need(tn_rand(TN_SHAPE(count, columns)));
  r.weight = need(tn_ones(TN_SHAPE(columns)));
  r.bias = need(tn_zeros(TN_SHAPE(columns)));
  r.row = need(tn_select(r.x, 0, 0));
  return r;
}

static void free_rows(rows *r)
{
  tn_release(r->row);
  tn_release(r->bias);
  tn_release(r->weight);
  tn_release(r->x);
}

#define REPEATED(name, expression)                          \
  static void name##_run(void *argument, int64_t count)     \
  {                                                         \
    const rows *r = argument;                               \
    for (int64_t i = 0; i < count; i++) tn_release(need(expression)); \
  }
REPEATED(layer_norm, tn_layer_norm(r->x, TN_SHAPE(r->columns), r->weight,
                                   r->bias, 1e-5))
REPEATED(softmax, tn_softmax(r->x, 1))
REPEATED(sum, tn_sum(r->x))
REPEATED(sum_rows, tn_sum_dim(r->x, 1, false))
REPEATED(sum_columns, tn_sum_dim(r->x, 0, false))
REPEATED(matmul, tn_matmul(r->x, r->x))
REPEATED(matvec, tn_matmul(r->x, r->row))

#define MIB64 (16 << 20) /* floats */

static void against_memory(const char *name, rows *r, bench_work work,
                           bool writes, double least)
{
  static float *x, *y;
  if (!x) x = limit_floats(MIB64, 0, 1);
  if (!y) y = limit_floats(MIB64, 0, 1);
  limit_copy copy = { y, x, MIB64, threads };
  limit_read reads = { x, MIB64, threads, 0 };
  bench_side limit = { "copy", limit_copy_run, &copy };
  if (!writes) limit = (bench_side){ "read", limit_read_run, &reads };
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { "tenon", work, r },
      .limit = limit, .goal = BENCH_AT_LEAST, .wanted = least,
      .amount = MIB64 * (writes ? 8.0 : 4.0), .unit = "GB/s" });
}

static void run_rows(int64_t columns, const char *size)
{
  char name[8][64];
  const char *what[8] = { "layer norm", "softmax", "sum", "sum of rows",
                          "sum of columns", "layer norm, libtorch",
                          "softmax, libtorch", "sum, libtorch" };
  for (int i = 0; i < 8; i++)
    snprintf(name[i], sizeof name[i], "64 MiB %s %s", size, what[i]);
  rows r = make_rows(MIB64 / columns, columns);
  against_memory(name[0], &r, layer_norm_run, true, 0.7);
  against_memory(name[1], &r, softmax_run, true, threads > 1 ? 0.7 : 0.4);
  against_memory(name[2], &r, sum_run, false, 0.7);
  against_memory(name[3], &r, sum_rows_run, false, 0.7);
  against_memory(name[4], &r, sum_columns_run, false, 0.7);
#ifdef TN_LIBTORCH
  libtorch_rows *peer = libtorch_rows_new(MIB64 / columns, columns);
  beside(name[5], layer_norm_run, &r, libtorch_layer_norm_run, peer, 0);
  beside(name[6], softmax_run, &r, libtorch_softmax_run, peer, 0);
  beside(name[7], sum_run, &r, libtorch_sum_run, peer, 0);
  libtorch_rows_free(peer);
#endif
  free_rows(&r);
}

/* ---- products ---- */

static void run_matmul(int64_t n)
{
  char name[64], other[64];
  snprintf(name, sizeof name, "matmul %d", (int)n);
  snprintf(other, sizeof other, "matmul %d, libtorch", (int)n);
  double flops = 2.0 * (double)n * (double)n * (double)n;
  rows r = make_rows(n, n);
  limit_fma fma = { threads, 0 };
  bench_run(&(bench_case){
      .name = with_threads(name), .subject = { "tenon", matmul_run, &r },
      .limit = { "fma", limit_fma_run, &fma },
      .goal = BENCH_AT_LEAST, .wanted = 0.8,
      .scale = LIMIT_FMA_FLOPS * threads / flops,
      .amount = LIMIT_FMA_FLOPS * threads, .unit = "GFLOP/s" });
#ifdef TN_LIBTORCH
  libtorch_rows *peer = libtorch_rows_new(n, n);
  beside(other, matmul_run, &r, libtorch_matmul_run, peer, 0);
  libtorch_rows_free(peer);
#endif
  free_rows(&r);
}

static void run_matvec(int64_t n)
{
  rows r = make_rows(n, n);
  limit_read reads = { limit_floats(n * n, 0, 1), n * n, threads, 0 };
  bench_run(&(bench_case){
      .name = with_threads("matrix-vector 512"),
      .subject = { "tenon", matvec_run, &r },
      .limit = { "read", limit_read_run, &reads }, .goal = BENCH_AT_LEAST,
      .wanted = 0.5, .amount = 4.0 * (double)(n * n), .unit = "GB/s" });
#ifdef TN_LIBTORCH
  libtorch_rows *peer = libtorch_rows_new(n, n);
  beside("matrix-vector 512, libtorch", matvec_run, &r, libtorch_matvec_run,
         peer, 0);
  libtorch_rows_free(peer);
#endif
  free_rows(&r);
}

/* ---- a step of charlm's default model ---- */

static void run_training(int64_t batch, double least)
{
  char name[64];
  transformer_shape shape = { .vocabulary = 96, .context = 64, .width = 128,
                              .heads = 4, .layers = 2, .batch = batch };
  training *ours = need(training_new(&shape));
  void *peer = NULL;
#ifdef TN_LIBTORCH
  peer = libtorch_model_new(&shape);
#endif
  snprintf(name, sizeof name, "charlm step, batch %d, libtorch", (int)batch);
  beside(name, training_run, ours, libtorch_step_run, peer, least);
#ifdef TN_LIBTORCH
  libtorch_model_free(peer);
#endif
  training_free(ours);
}

/* The same step as it is, and replayed. The two have models of their own: what
 * one writes the other does not read. */
static void run_captured(int64_t batch, double least)
{
  char name[64];
  transformer_shape shape = { .vocabulary = 96, .context = 64, .width = 128,
                              .heads = 4, .layers = 2, .batch = batch };
  training *eager = need(training_new(&shape));
  training *captured = need(training_new(&shape));
  training_capture(captured);
  snprintf(name, sizeof name, "charlm step captured / eager, batch %d",
           (int)batch);
  bench_run(&(bench_case){
      .name = with_threads(name),
      .subject = { "captured", training_replay, captured },
      .limit = { "eager", training_run, eager },
      .goal = least > 0 ? BENCH_AT_LEAST : BENCH_REPORTED, .wanted = least });
  training_free(captured);
  training_free(eager);
}

int main(int argc, char **argv)
{
  FILE *json = argc > 1 ? fopen(argv[1], "w") : NULL;
  const char *text = getenv("TENON_NUM_THREADS");
  threads = text && atoi(text) > 0 ? atoi(text) : 1;
  bench_json_open(json);
  bench_filter(argc > 2 ? argv[2] : NULL);
#ifdef TN_LIBTORCH
  libtorch_set_threads(threads);
#endif
  run_calls();
  run_rows(1024, "x 1024");
  for (int64_t n = 512; n <= 2048; n *= 2) run_matmul(n);
  run_matvec(512);
  run_training(1, 1.5);
  run_training(32, 1);
  run_captured(1, 2);
  run_captured(32, 0);
  bench_json_close();
  if (json) fclose(json);
  return bench_missed() ? 1 : 0;
}
