/* Trials of the loss of classes. */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/cases.h"

enum { IGNORED = -100 };

static const int64_t rows[] = { 1, 2, 65, 1000, -1 };

/* Most within 0 ... classes - 1, some ignored, hardly any outside. */
static trial_array *targets(kernel_trial *t, int64_t n, int64_t classes)
{
  trial_array *target = trial_zeros(t, n, sizeof(int64_t));
  for (int64_t i = 0; i < n; i++) {
    int64_t *at = (int64_t *)target->host + i;
    *at = trial_below(t, classes);
    if (trial_below(t, 7) == 0) *at = IGNORED;
    if (trial_below(t, 50) == 0) *at = trial_below(t, 2) ? classes : -1;
  }
  trial_upload(t, target);
  return target;
}

#define LOSS(T, suffix, arrays)                                             \
  static void nll_##suffix(kernel_trial *t)                                 \
  {                                                                         \
    int64_t n = t->size, classes = 1 + trial_below(t, 20);                  \
    trial_array *x = arrays(t, n * classes);                                \
    trial_array *target = targets(t, n, classes);                           \
    trial_array *y = trial_output(t, n, sizeof(T));                         \
    trial_array *kept = trial_output(t, n, sizeof(T));                      \
    T *want = trial_memory(n, sizeof *want);                                \
    T *counts = trial_memory(n, sizeof *counts);                            \
    for (int64_t r = 0; r < n; r++) {                                       \
      int64_t at = ((int64_t *)target->host)[r];                            \
      if (at == IGNORED) continue;                                          \
      counts[r] = 1;                                                        \
      want[r] = at < 0 || at >= classes                                     \
                    ? (T)NAN : -((T *)x->host)[r * classes + at];           \
    }                                                                       \
    trial_launch(t, t->of->name, n,                                         \
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(kept), TRIAL_PTR(x),       \
                         TRIAL_PTR(target), TN_ARG_I64(n),                  \
                         TN_ARG_I64(classes), TN_ARG_I64(IGNORED)));        \
    trial_expect_##suffix(t, y, want, n);                                   \
    trial_expect_##suffix(t, kept, counts, n);                              \
    free(want);                                                             \
    free(counts);                                                           \
  }                                                                         \
  static void backward_##suffix(kernel_trial *t)                            \
  {                                                                         \
    int64_t n = t->size, classes = 1 + trial_below(t, 20);                  \
    int64_t step = trial_below(t, 2);                                       \
    trial_array *gy = arrays(t, n), *target = targets(t, n, classes);       \
    trial_array *gx = trial_output(t, n * classes, sizeof(T));              \
    T *want = trial_memory(n * classes, sizeof *want);                      \
    for (int64_t i = 0; i < n * classes; i++) {                             \
      int64_t r = i / classes, c = i % classes;                             \
      if (c == ((int64_t *)target->host)[r])                                \
        want[i] = -((T *)gy->host)[r * step];                               \
    }                                                                       \
    trial_launch(t, t->of->name, n * classes,                               \
                 TN_ARGS(TRIAL_PTR(gx), TRIAL_PTR(gy), TRIAL_PTR(target),   \
                         TN_ARG_I64(n), TN_ARG_I64(classes),                \
                         TN_ARG_I64(IGNORED), TN_ARG_I64(step)));           \
    trial_expect_##suffix(t, gx, want, n * classes);                        \
    free(want);                                                             \
  }
LOSS(float, f32, trial_floats)
LOSS(double, f64, trial_doubles)

const kernel_case loss_cases[] = {
  { "nll_f32", "softmax", nll_f32, NULL, rows, TRIAL_FLAVOURS },
  { "nll_backward_f32", "softmax", backward_f32, NULL, rows, TRIAL_FLAVOURS },
  { "nll_f64", "softmax_f64", nll_f64, NULL, rows, TRIAL_FLAVOURS },
  { "nll_backward_f64", "softmax_f64", backward_f64, NULL, rows,
    TRIAL_FLAVOURS },
  { 0 }
};
