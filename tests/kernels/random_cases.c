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
  float (*reference_f32)(uint64_t seed, uint64_t offset, int64_t i);
  double (*reference_f64)(uint64_t seed, uint64_t offset, int64_t i);
} distribution;

#define DISTRIBUTIONS(T, suffix, one, many, fma_of, ARG)                    \
  static void numbers_##suffix(kernel_trial *t)                             \
  {                                                                         \
    const distribution *of = t->of->detail;                                 \
    int64_t n = t->size, seed = (int64_t)trial_random(t);                   \
    int64_t offset = random_offset(t);                                      \
    T start = trial_below(t, 2) ? 0 : one(t);                               \
    T scale = trial_below(t, 2) ? 1 : one(t);                               \
    trial_array *y = trial_output(t, n, sizeof(T));                         \
    T *want = trial_memory(n, sizeof *want);                                \
    for (int64_t i = 0; i < n; i++)                                         \
      want[i] = fma_of(of->reference_##suffix((uint64_t)seed,               \
                                              (uint64_t)offset, i),         \
                       scale, start);                                       \
    trial_launch(t, t->of->name, n,                                         \
                 TN_ARGS(TRIAL_PTR(y), TN_ARG_I64(seed),                    \
                         TN_ARG_I64(offset), ARG(start), ARG(scale),        \
                         TN_ARG_I64(n)));                                   \
    trial_expect_##suffix(t, y, want, n);                                   \
    free(want);                                                             \
  }                                                                         \
  static void dropout_##suffix(kernel_trial *t)                             \
  {                                                                         \
    int64_t n = t->size, seed = (int64_t)trial_random(t);                   \
    int64_t offset = random_offset(t);                                      \
    float p = (float)trial_below(t, 5) / 4;                                 \
    T scale = one(t);                                                       \
    trial_array *x = many(t, n), *y = trial_output(t, n, sizeof(T));        \
    T *want = trial_memory(n, sizeof *want);                                \
    for (int64_t i = 0; i < n; i++)                                         \
      if (ref_uniform((uint64_t)seed, (uint64_t)offset, i) >= p)            \
        want[i] = ((T *)x->host)[i] * scale;                                \
    trial_launch(t, t->of->name, n,                                         \
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), TN_ARG_I64(seed),      \
                         TN_ARG_I64(offset), TN_ARG_F32(p), ARG(scale),     \
                         TN_ARG_I64(n)));                                   \
    trial_expect_##suffix(t, y, want, n);                                   \
    free(want);                                                             \
  }
DISTRIBUTIONS(float, f32, trial_float, trial_floats, fmaf, TN_ARG_F32)
DISTRIBUTIONS(double, f64, trial_double, trial_doubles, fma, TN_ARG_F64)

const kernel_case random_cases[] = {
  { "random_u32", "random", words, NULL, sizes, TRIAL_WIDE },
  { "uniform_f32", "random", numbers_f32,
    &(const distribution){ ref_uniform, NULL }, sizes, TRIAL_WIDE },
  { "normal_f32", "random", numbers_f32,
    &(const distribution){ ref_normal, NULL }, sizes, TRIAL_WIDE },
  { "dropout_f32", "random", dropout_f32, NULL, sizes, TRIAL_FLAVOURS },
  { "uniform_f64", "random_f64", numbers_f64,
    &(const distribution){ NULL, ref_uniform_f64 }, sizes, TRIAL_WIDE },
  { "normal_f64", "random_f64", numbers_f64,
    &(const distribution){ NULL, ref_normal_f64 }, sizes, TRIAL_WIDE },
  { "dropout_f64", "random_f64", dropout_f64, NULL, sizes, TRIAL_FLAVOURS },
  { 0 }
};
