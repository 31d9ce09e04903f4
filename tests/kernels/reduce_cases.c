/* Trials of the reductions. */
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_reference.h"

enum { BLOCK = 4096, TILE = 32 };

static const int64_t lengths[] = { 1, 2, 63, 64, 65, 1000, 4096, 4097, 20011,
                                   -1 };
/* Two levels of blocks. */
static const int64_t longest[] = { 4096 * 4096 + 5, -1 };
static const int64_t short_lengths[] = { 1, 2, 3, 15, 16, 33, 64, -1 };

typedef float reduction(const float *x, int64_t n, int64_t step);

/* first: the kernel for all levels but the last, if another. */
typedef struct operation {
  reduction *reference;
  const char *first;
  int64_t (*place)(const float *x, int64_t n, int64_t step);
} operation;

static int64_t blocks_of(int64_t n)
{
  return n <= BLOCK ? 1 : (n + BLOCK - 1) / BLOCK;
}

/* "mean_f32" takes the count as well: the last level divides. */
static void launch_rows(kernel_trial *t, const char *kernel, trial_array *y,
                        trial_array *x, const int64_t shape[3],
                        const float *count)
{
  int64_t blocks = blocks_of(shape[1]);
  tn_arg args[] = { TRIAL_PTR(y),          TRIAL_PTR(x),
                    TN_ARG_I64(shape[0]),  TN_ARG_I64(shape[1]),
                    TN_ARG_I64(shape[2]),  TN_ARG_I64(blocks),
                    TN_ARG_F32(count ? *count : 0) };
  trial_launch_groups(t, kernel, shape[0] * blocks, args, count ? 7 : 6);
}

/* A reduction of any length: level after level. */
static void rows(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, count = n > 1000000 ? 1 : 1 + trial_below(t, 5);
  int64_t stride = n + trial_below(t, 3);
  trial_array *x = trial_floats(t, count * stride);
  float *want = trial_memory(count, sizeof *want), length = (float)n;
  for (int64_t r = 0; r < count; r++)
    want[r] = of->reference((float *)x->host + r * stride, n, 1);
  trial_array *y = NULL;
  for (bool last = false; !last;) {
    last = n <= BLOCK;
    y = trial_output(t, count * blocks_of(n), sizeof(float));
    const char *kernel = last || !of->first ? t->of->name : of->first;
    launch_rows(t, kernel, y, x, (int64_t[]){ count, n, stride },
                last && of->first ? &length : NULL);
    x = y;
    n = stride = blocks_of(n);
  }
  trial_expect_f32(t, y, want, count);
  free(want);
}

static void arg_rows(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, count = 1 + trial_below(t, 5);
  int64_t stride = n + trial_below(t, 3);
  trial_array *x = trial_floats(t, count * stride);
  /* Equal numbers here and there. */
  for (int64_t i = 0; i < count * stride; i++)
    if (trial_below(t, 3) == 0)
      ((float *)x->host)[i] = (float)trial_below(t, 3) - 1.0f;
  trial_upload(t, x);
  uint64_t *want = trial_memory(count, sizeof *want);
  float *value = trial_memory(count, sizeof *value);
  for (int64_t r = 0; r < count; r++) {
    float *row = (float *)x->host + r * stride;
    want[r] = (uint64_t)of->place(row, n, 1);
    value[r] = row[want[r]];
  }
  int64_t blocks = blocks_of(n);
  trial_array *at = trial_output(t, count * blocks, sizeof(int64_t));
  trial_array *y = trial_output(t, count * blocks, sizeof(float));
  trial_launch_groups(
      t, t->of->name, count * blocks,
      TN_ARGS(TRIAL_PTR(at), TRIAL_PTR(y), TRIAL_PTR(x), TN_ARG_I64(count),
              TN_ARG_I64(n), TN_ARG_I64(stride), TN_ARG_I64(blocks)));
  if (blocks > 1) {
    trial_array *last_at = trial_output(t, count, sizeof(int64_t));
    trial_array *last_y = trial_output(t, count, sizeof(float));
    trial_launch_groups(
        t, of->first, count,
        TN_ARGS(TRIAL_PTR(last_at), TRIAL_PTR(last_y), TRIAL_PTR(y),
                TN_ARG_I64(count), TN_ARG_I64(blocks), TN_ARG_I64(blocks),
                TN_ARG_I64(1), TRIAL_PTR(at)));
    at = last_at;
    y = last_y;
  }
  trial_expect_u64(t, at, want, count);
  trial_expect_f32(t, y, value, count);
  free(want);
  free(value);
}

static void short_rows(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, count = 1 + trial_below(t, 200);
  int64_t stride = n + trial_below(t, 3);
  trial_array *x = trial_floats(t, count * stride);
  trial_array *y = trial_output(t, count, sizeof(float));
  float *want = trial_memory(count, sizeof *want);
  for (int64_t r = 0; r < count; r++)
    want[r] = of->reference((float *)x->host + r * stride, n, 1);
  tn_arg args[] = { TRIAL_PTR(y),       TRIAL_PTR(x),
                    TN_ARG_I64(count),  TN_ARG_I64(n),
                    TN_ARG_I64(stride), TN_ARG_F32((float)n) };
  trial_launch_groups(t, t->of->name, (count + TILE - 1) / TILE, args,
                      of->first ? 6 : 5);
  trial_expect_f32(t, y, want, count);
  free(want);
}

/* shape: outer, n, inner, stride, step. */
static void launch_columns(kernel_trial *t, const char *kernel,
                           trial_array *y, trial_array *x,
                           const int64_t shape[5], const float *count)
{
  int64_t blocks = blocks_of(shape[1]);
  tn_arg args[] = { TRIAL_PTR(y),         TRIAL_PTR(x),
                    TN_ARG_I64(shape[0]), TN_ARG_I64(shape[1]),
                    TN_ARG_I64(shape[2]), TN_ARG_I64(shape[3]),
                    TN_ARG_I64(shape[4]), TN_ARG_I64(blocks),
                    TN_ARG_F32(count ? *count : 0) };
  trial_launch_groups(t, kernel,
                      shape[0] * blocks * ((shape[2] + TILE - 1) / TILE),
                      args, count ? 9 : 8);
}

static void columns(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, outer = 1 + trial_below(t, 3);
  int64_t inner = 1 + trial_below(t, 100);
  int64_t step = inner + trial_below(t, 3);
  int64_t stride = n * step + trial_below(t, 3);
  trial_array *x = trial_floats(t, outer * stride);
  float *want = trial_memory(outer * inner, sizeof *want);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t c = 0; c < inner; c++)
      want[o * inner + c] =
          of->reference((float *)x->host + o * stride + c, n, step);
  float length = (float)n;
  trial_array *y = NULL;
  for (bool last = false; !last;) {
    last = n <= BLOCK;
    y = trial_output(t, outer * blocks_of(n) * inner, sizeof(float));
    const char *kernel = last || !of->first ? t->of->name : of->first;
    launch_columns(t, kernel, y, x,
                   (int64_t[]){ outer, n, inner, stride, step },
                   last && of->first ? &length : NULL);
    x = y;
    n = blocks_of(n);
    step = inner;
    stride = n * inner;
  }
  trial_expect_f32(t, y, want, outer * inner);
  free(want);
}

#define REDUCTION(name, function, first)                                     \
  { name "_f32", "reduce", rows,                                             \
    &(const operation){ function, first, NULL }, lengths, TRIAL_FLAVOURS },  \
  { name "_short_f32", "reduce", short_rows,                                 \
    &(const operation){ function, first, NULL }, short_lengths,              \
    TRIAL_FLAVOURS },                                                        \
  { name "_columns_f32", "reduce", columns,                                  \
    &(const operation){ function, first ? "sum_columns_f32" : NULL, NULL },  \
    lengths, TRIAL_FLAVOURS }

const kernel_case reduce_cases[] = {
  REDUCTION("sum", ref_sum, NULL),
  REDUCTION("mean", ref_mean, "sum_f32"),
  REDUCTION("max", ref_max, NULL),
  REDUCTION("min", ref_min, NULL),
  { "sum_f32", "reduce", rows, &(const operation){ ref_sum, NULL, NULL },
    longest, TRIAL_WIDE },
  { "argmax_f32", "reduce", arg_rows,
    &(const operation){ NULL, "argmax_of_blocks_f32", ref_argmax }, lengths,
    TRIAL_FLAVOURS },
  { "argmin_f32", "reduce", arg_rows,
    &(const operation){ NULL, "argmin_of_blocks_f32", ref_argmin }, lengths,
    TRIAL_FLAVOURS },
  { 0 }
};
