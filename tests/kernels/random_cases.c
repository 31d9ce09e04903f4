/* Trials of random numbers. */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_reference.h"

static const int64_t sizes[] = { 0, 1, 2, 3, 4, 5, 63, 1001, 30000, -1 };

/* Offsets that carry into the upper word now and then. */
static int64_t random_offset(kernel_trial *t)
{
  int64_t offset = trial_below(t, INT64_C(1) << 40);
  return trial_below(t, 2) ? offset | 0xfffffff0 : offset;
}

static void words(kernel_trial *t)
{
  int64_t n = t->size, seed = (int64_t)trial_random(t);
  int64_t offset = random_offset(t);
  trial_array *y = trial_output(t, n, sizeof(uint32_t));
  uint32_t *want = trial_memory(n, sizeof *want);
  for (int64_t i = 0; i < n; i++)
    want[i] = ref_random((uint64_t)seed, (uint64_t)offset, i);
  trial_launch(t, t->of->name, n,
               TN_ARGS(TRIAL_PTR(y), TN_ARG_I64(seed), TN_ARG_I64(offset),
                       TN_ARG_I64(n)));
  trial_expect_u32(t, y, want, n);
  free(want);
}

/* Uniform and normal: the detail is the reference. */
typedef struct distribution {
  float (*reference)(uint64_t seed, uint64_t offset, int64_t i);
} distribution;

static void numbers(kernel_trial *t)
{
  const distribution *of = t->of->detail;
  int64_t n = t->size, seed = (int64_t)trial_random(t);
  int64_t offset = random_offset(t);
  float start = trial_below(t, 2) ? 0 : trial_float(t);
  float scale = trial_below(t, 2) ? 1 : trial_float(t);
  trial_array *y = trial_output(t, n, sizeof(float));
  float *want = trial_memory(n, sizeof *want);
  for (int64_t i = 0; i < n; i++)
    want[i] = fmaf(of->reference((uint64_t)seed, (uint64_t)offset, i), scale,
                   start);
  trial_launch(t, t->of->name, n,
               TN_ARGS(TRIAL_PTR(y), TN_ARG_I64(seed), TN_ARG_I64(offset),
                       TN_ARG_F32(start), TN_ARG_F32(scale), TN_ARG_I64(n)));
  trial_expect_f32(t, y, want, n);
  free(want);
}

static void dropout(kernel_trial *t)
{
  int64_t n = t->size, seed = (int64_t)trial_random(t);
  int64_t offset = random_offset(t);
  float p = (float)trial_below(t, 5) / 4, scale = trial_float(t);
  trial_array *x = trial_floats(t, n), *y = trial_output(t, n, sizeof(float));
  float *want = trial_memory(n, sizeof *want);
  for (int64_t i = 0; i < n; i++)
    if (ref_uniform((uint64_t)seed, (uint64_t)offset, i) >= p)
      want[i] = ((float *)x->host)[i] * scale;
  trial_launch(t, t->of->name, n,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), TN_ARG_I64(seed),
                       TN_ARG_I64(offset), TN_ARG_F32(p), TN_ARG_F32(scale),
                       TN_ARG_I64(n)));
  trial_expect_f32(t, y, want, n);
  free(want);
}

const kernel_case random_cases[] = {
  { "random_u32", "random", words, NULL, sizes, TRIAL_WIDE },
  { "uniform_f32", "random", numbers,
    &(const distribution){ ref_uniform }, sizes, TRIAL_WIDE },
  { "normal_f32", "random", numbers, &(const distribution){ ref_normal },
    sizes, TRIAL_WIDE },
  { "dropout_f32", "random", dropout, NULL, sizes, TRIAL_FLAVOURS },
  { 0 }
};
