/* Trials of running sums. */
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_rows.h"

enum { BLOCK = 4096 };

static const int64_t lengths[] = { 1, 2, 100, 4096, 4097, 9001, -1 };

typedef struct operation {
  void (*reference)(const void *x, int64_t n, int64_t step, void *y);
  const char *offsets, *add;
  trial_array *(*operand)(kernel_trial *t, int64_t n);
  void (*expect)(kernel_trial *t, trial_array *y, const void *want, int64_t n);
  size_t size;
} operation;

static void expect_f32(kernel_trial *t, trial_array *y, const void *want,
                       int64_t n)
{
  trial_expect_f32(t, y, want, n);
}

static void expect_f64(kernel_trial *t, trial_array *y, const void *want,
                       int64_t n)
{
  trial_expect_f64(t, y, want, n);
}

static void expect_i64(kernel_trial *t, trial_array *y, const void *want,
                       int64_t n)
{
  trial_expect_u64(t, y, want, n);
}

static trial_array *integers(kernel_trial *t, int64_t n)
{
  trial_array *x = trial_zeros(t, n, sizeof(uint64_t));
  for (int64_t i = 0; i < n; i++) ((uint64_t *)x->host)[i] = trial_random(t);
  trial_upload(t, x);
  return x;
}

static void run(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, outer = 1 + trial_below(t, 3);
  int64_t inner = 1 + trial_below(t, 3), count = outer * n * inner;
  int64_t blocks = (n + BLOCK - 1) / BLOCK;
  trial_array *x = of->operand(t, count);
  trial_array *y = trial_output(t, count, of->size);
  char *want = trial_memory(count, of->size);
  bool backwards = trial_below(t, 2);
  for (int64_t at = 0; at < outer * inner; at++) {
    int64_t first = at / inner * n * inner + at % inner, step = inner;
    if (backwards) {
      first += (n - 1) * inner;
      step = -inner;
    }
    of->reference((char *)x->host + first * (int64_t)of->size, n, step,
                  want + first * (int64_t)of->size);
  }
#define SHAPE                                                            \
  TN_ARG_I64(outer), TN_ARG_I64(n), TN_ARG_I64(inner),                   \
      TN_ARG_I64(blocks), TN_ARG_I32(backwards)
  trial_launch(t, t->of->name, outer * blocks * inner,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x), SHAPE));
  if (blocks > 1) {
    trial_array *offset = trial_output(t, outer * blocks * inner, of->size);
    trial_launch(t, of->offsets, outer * inner,
                 TN_ARGS(TRIAL_PTR(offset), TRIAL_PTR(y), SHAPE));
    trial_launch(t, of->add, outer * blocks * inner,
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(offset), SHAPE));
  }
  of->expect(t, y, want, count);
  free(want);
}

#define CUMSUM(family, type, operand, flavours)                             \
  { "cumsum_" #type, family, run,                                           \
    &(const operation){ ref_cumsum_##type, "cumsum_offsets_" #type,         \
                        "cumsum_add_" #type, operand, expect_##type,        \
                        sizeof(*(ref_##type *)0) },                         \
    lengths, flavours }
typedef float ref_f32;
typedef double ref_f64;
typedef int64_t ref_i64;

const kernel_case cumsum_cases[] = {
  CUMSUM("cumsum", f32, trial_floats, TRIAL_FLAVOURS),
  CUMSUM("cumsum_f64", f64, trial_doubles, TRIAL_FLAVOURS),
  CUMSUM("cumsum", i64, integers, TRIAL_WIDE),
  { 0 }
};
