/* Trials of softmax and layer norm. */
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_layers.h"

enum { BLOCK = 4096, TILE = 32 };

static const int64_t lengths[] = { 1, 2, 17, 64, 65, 1000, 4096, 4097, 9001,
                                   -1 };
/* Of the rows, in sums along them. */
static const int64_t heights[] = { 1, 3, 64, 100, 4096, 4500, -1 };
/* More than half of 4 MiB, so that the output is streamed. */
static const int64_t large[] = { 1000, -1 };
enum { LARGE_ROWS = 1100 };

/* A case's functions on rows. */
typedef struct operation {
  void (*forward_f32)(const float *x, int64_t n, float *y);
  void (*backward_f32)(const float *gy, const float *y, int64_t n, float *gx);
  void (*forward_f64)(const double *x, int64_t n, double *y);
  void (*backward_f64)(const double *gy, const double *y, int64_t n,
                       double *gx);
  int64_t rows; /* 0: some */
} operation;

static int64_t rows_of(kernel_trial *t)
{
  const operation *of = t->of->detail;
  return of && of->rows ? of->rows : 1 + trial_below(t, 5);
}

/* The gradient of any y <= 0: not only those that softmax gives. */
#define SOFTMAX_OF(T, suffix, arrays)                                       \
  static void softmax_##suffix(kernel_trial *t)                             \
  {                                                                         \
    const operation *of = t->of->detail;                                    \
    int64_t n = t->size, rows = rows_of(t);                                 \
    trial_array *x = arrays(t, rows * n);                                   \
    trial_array *y = trial_output(t, rows * n, sizeof(T));                  \
    T *want = trial_memory(rows * n, sizeof *want);                         \
    for (int64_t r = 0; r < rows; r++)                                      \
      of->forward_##suffix((T *)x->host + r * n, n, want + r * n);          \
    trial_launch_groups(t, t->of->name, rows,                               \
                        TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x),                 \
                                TN_ARG_I64(rows), TN_ARG_I64(n)));          \
    trial_expect_##suffix(t, y, want, rows * n);                            \
    free(want);                                                             \
  }                                                                         \
  static void backward_##suffix(kernel_trial *t)                            \
  {                                                                         \
    const operation *of = t->of->detail;                                    \
    int64_t n = t->size, rows = rows_of(t);                                 \
    trial_array *gy = arrays(t, rows * n), *y = arrays(t, rows * n);        \
    trial_array *gx = trial_output(t, rows * n, sizeof(T));                 \
    T *want = trial_memory(rows * n, sizeof *want);                         \
    for (int64_t i = 0; i < rows * n; i++)                                  \
      if (((T *)y->host)[i] > 0) ((T *)y->host)[i] *= -1;                   \
    trial_upload(t, y);                                                     \
    for (int64_t r = 0; r < rows; r++)                                      \
      of->backward_##suffix((T *)gy->host + r * n, (T *)y->host + r * n, n, \
                            want + r * n);                                  \
    trial_launch_groups(t, t->of->name, rows,                               \
                        TN_ARGS(TRIAL_PTR(gx), TRIAL_PTR(gy), TRIAL_PTR(y), \
                                TN_ARG_I64(rows), TN_ARG_I64(n)));          \
    trial_expect_##suffix(t, gx, want, rows * n);                           \
    free(want);                                                             \
  }
SOFTMAX_OF(float, f32, trial_floats)
SOFTMAX_OF(double, f64, trial_doubles)

/* Layer norm, for each type. */
#define LAYER_NORM(T, suffix, arrays, ARG)                                  \
  static void norm_##suffix(kernel_trial *t)                                \
  {                                                                         \
    int64_t n = t->size, rows = rows_of(t);                                 \
    trial_array *x = arrays(t, rows * n);                                   \
    trial_array *weight = arrays(t, n), *bias = arrays(t, n);               \
    trial_array *y = trial_output(t, rows * n, sizeof(T));                  \
    trial_array *mean = trial_output(t, rows, sizeof(T));                   \
    trial_array *scale = trial_output(t, rows, sizeof(T));                  \
    T *want = trial_memory(rows * n, sizeof *want);                         \
    T *means = trial_memory(rows, sizeof *means);                           \
    T *scales = trial_memory(rows, sizeof *scales), stats[2];               \
    for (int64_t r = 0; r < rows; r++) {                                    \
      ref_layer_norm_##suffix((T *)x->host + r * n, weight->host,           \
                              bias->host, n, (T)1e-5, want + r * n, stats); \
      means[r] = stats[0];                                                  \
      scales[r] = stats[1];                                                 \
    }                                                                       \
    trial_launch_groups(                                                    \
        t, t->of->name, rows,                                               \
        TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(mean), TRIAL_PTR(scale),            \
                TRIAL_PTR(x), TRIAL_PTR(weight), TRIAL_PTR(bias),           \
                TN_ARG_I64(rows), TN_ARG_I64(n), ARG((T)1e-5)));            \
    trial_expect_##suffix(t, y, want, rows * n);                            \
    trial_expect_##suffix(t, mean, means, rows);                            \
    trial_expect_##suffix(t, scale, scales, rows);                          \
    free(want);                                                             \
    free(means);                                                            \
    free(scales);                                                           \
  }                                                                         \
  static void norm_backward_##suffix(kernel_trial *t)                       \
  {                                                                         \
    int64_t n = t->size, rows = rows_of(t);                                 \
    trial_array *gy = arrays(t, rows * n), *x = arrays(t, rows * n);        \
    trial_array *mean = arrays(t, rows), *scale = arrays(t, rows);          \
    trial_array *weight = arrays(t, n);                                     \
    trial_array *gx = trial_output(t, rows * n, sizeof(T));                 \
    T *want = trial_memory(rows * n, sizeof *want);                         \
    for (int64_t r = 0; r < rows; r++)                                      \
      ref_layer_norm_backward_##suffix(                                     \
          (T *)gy->host + r * n, (T *)x->host + r * n, weight->host, n,     \
          (T[]){ ((T *)mean->host)[r], ((T *)scale->host)[r] },             \
          want + r * n);                                                    \
    trial_launch_groups(                                                    \
        t, t->of->name, rows,                                               \
        TN_ARGS(TRIAL_PTR(gx), TRIAL_PTR(gy), TRIAL_PTR(x),                 \
                TRIAL_PTR(mean), TRIAL_PTR(scale), TRIAL_PTR(weight),       \
                TN_ARG_I64(rows), TN_ARG_I64(n)));                          \
    trial_expect_##suffix(t, gx, want, rows * n);                           \
    free(want);                                                             \
  }                                                                         \
  static void norm_columns_##suffix(kernel_trial *t)                        \
  {                                                                         \
    int64_t rows = t->size, n = 1 + trial_below(t, 70);                     \
    int64_t blocks = (rows + BLOCK - 1) / BLOCK;                            \
    trial_array *gy = arrays(t, rows * n), *x = arrays(t, rows * n);        \
    trial_array *mean = arrays(t, rows), *scale = arrays(t, rows);          \
    trial_array *gw = trial_output(t, blocks * n, sizeof(T));               \
    trial_array *gb = trial_output(t, blocks * n, sizeof(T));               \
    T *want_w = trial_memory(blocks * n, sizeof *want_w);                   \
    T *want_b = trial_memory(blocks * n, sizeof *want_b);                   \
    for (int64_t i = 0; i < blocks * n; i++) {                              \
      int64_t first = i / n * BLOCK, at = first * n + i % n;                \
      T both[2];                                                            \
      ref_layer_norm_column_##suffix(                                       \
          (T *)gy->host + at, (T *)x->host + at, (T *)mean->host + first,   \
          (T *)scale->host + first,                                         \
          rows - first < BLOCK ? rows - first : BLOCK, n, both);            \
      want_w[i] = both[0];                                                  \
      want_b[i] = both[1];                                                  \
    }                                                                       \
    trial_launch_groups(                                                    \
        t, t->of->name, blocks * ((n + TILE - 1) / TILE),                   \
        TN_ARGS(TRIAL_PTR(gw), TRIAL_PTR(gb), TRIAL_PTR(gy), TRIAL_PTR(x),  \
                TRIAL_PTR(mean), TRIAL_PTR(scale), TN_ARG_I64(rows),        \
                TN_ARG_I64(n), TN_ARG_I64(blocks)));                        \
    trial_expect_##suffix(t, gw, want_w, blocks * n);                       \
    trial_expect_##suffix(t, gb, want_b, blocks * n);                       \
    free(want_w);                                                           \
    free(want_b);                                                           \
  }
LAYER_NORM(float, f32, trial_floats, TN_ARG_F32)
LAYER_NORM(double, f64, trial_doubles, TN_ARG_F64)

static const operation many_rows = { NULL, NULL, NULL, NULL, LARGE_ROWS };

#define SOFTMAX(family, name, suffix)                                       \
  { #name "_" #suffix, family, softmax_##suffix,                            \
    &(const operation){ .forward_##suffix = ref_##name##_##suffix },        \
    lengths, TRIAL_FLAVOURS },                                              \
  { #name "_" #suffix, family, softmax_##suffix,                            \
    &(const operation){ .forward_##suffix = ref_##name##_##suffix,          \
                        .rows = LARGE_ROWS }, large, TRIAL_WIDE },          \
  { #name "_backward_" #suffix, family, backward_##suffix,                  \
    &(const operation){ .backward_##suffix =                                \
                          ref_##name##_backward_##suffix }, lengths,        \
    TRIAL_FLAVOURS }
#define NORM(family, suffix)                                                \
  { "layer_norm_" #suffix, family, norm_##suffix, NULL, lengths,            \
    TRIAL_FLAVOURS },                                                       \
  { "layer_norm_" #suffix, family, norm_##suffix, &many_rows, large,        \
    TRIAL_WIDE },                                                           \
  { "layer_norm_backward_" #suffix, family, norm_backward_##suffix, NULL,   \
    lengths, TRIAL_FLAVOURS },                                              \
  { "layer_norm_columns_" #suffix, family, norm_columns_##suffix, NULL,     \
    heights, TRIAL_FLAVOURS }

const kernel_case row_cases[] = {
  SOFTMAX("softmax", softmax, f32),
  SOFTMAX("softmax", log_softmax, f32),
  SOFTMAX("softmax_f64", softmax, f64),
  SOFTMAX("softmax_f64", log_softmax, f64),
  NORM("layer_norm", f32),
  NORM("layer_norm_f64", f64),
  { 0 }
};
