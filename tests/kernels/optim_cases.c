/* Trials of the optimisers' families. */
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_optim.h"

enum { SLOTS = 6, STATES = 3 };

static const int64_t sizes[] = { 0, 1, 7, 64, 1003, -1 };

typedef struct variant {
  bool f64, adam;
  int states;
} variant;

/* Parameters and gradients each in one array, cut into slots. */
typedef struct step {
  const variant *of;
  int64_t length[SLOTS], begin[SLOTS], total;
  int32_t which;
  trial_array *p, *g, *states[STATES];
  ref_sgd sgd;
  ref_adam adam;
} step;

/* Some slots are empty, and some are passed over. */
static void cut(kernel_trial *t, step *s)
{
  s->which = (int32_t)trial_below(t, 1 << SLOTS);
  for (int i = 0; i < SLOTS; i++) {
    s->length[i] = trial_below(t, 4) ? trial_below(t, t->size + 1) : 0;
    if (i == 2) {
      s->length[i] = t->size;
      s->which |= 4;
    }
    s->begin[i] = s->total;
    s->total += s->length[i];
  }
}

static trial_array *numbers(kernel_trial *t, const step *s)
{
  return s->of->f64 ? trial_doubles(t, s->total) : trial_floats(t, s->total);
}

/* Squares are not negative. */
static void make_positive(kernel_trial *t, const step *s, trial_array *a)
{
  for (int64_t i = 0; i < s->total; i++)
    if (s->of->f64) ((double *)a->host)[i] *= ((double *)a->host)[i];
    else ((float *)a->host)[i] *= ((float *)a->host)[i];
  trial_upload(t, a);
}

static void prepare(kernel_trial *t, step *s)
{
  cut(t, s);
  s->p = numbers(t, s);
  s->g = numbers(t, s);
  for (int k = 0; k < s->of->states; k++) {
    s->states[k] = numbers(t, s);
    if (k > 0) make_positive(t, s, s->states[k]);
  }
  double decay = trial_below(t, 2) ? 0.01 : 0;
  double sign = trial_below(t, 4) ? 1 : -1;
  s->sgd = (ref_sgd){ -0.1, decay, sign, s->of->states ? 0.9 : 0, 0.7,
                      trial_below(t, 2), trial_below(t, 4) == 0 };
  s->adam = (ref_adam){ trial_below(t, 4) ? 0.1 : 0.75, 0.999, 0.001, -0.003,
                        0.25, 1e-8, decay, trial_below(t, 2) ? 1 : 0.999,
                        sign, s->of->states == 3 };
}

/* What one element becomes; values of the states that the variant has. */
#define ELEMENT(T, suffix)                                                  \
  static void element_##suffix(const step *s, T *p, T g, T *const *states,  \
                               int64_t at)                                  \
  {                                                                         \
    T unused = 0;                                                           \
    if (s->of->adam)                                                        \
      ref_adam_##suffix(&s->adam, p, g, states[0] + at, states[1] + at,     \
                        s->of->states > 2 ? states[2] + at : &unused);      \
    else                                                                    \
      ref_sgd_##suffix(&s->sgd, p, g,                                       \
                       s->of->states ? states[0] + at : &unused);           \
  }
ELEMENT(float, f32)
ELEMENT(double, f64)

/* want: of the parameters, then of each state. */
#define EXPECT(T, suffix)                                                   \
  static void want_##suffix(const step *s, T *const *want)                  \
  {                                                                         \
    for (int64_t i = 0; i < s->total; i++) {                                \
      want[0][i] = ((T *)s->p->host)[i];                                    \
      for (int k = 0; k < s->of->states; k++)                               \
        want[1 + k][i] = ((T *)s->states[k]->host)[i];                      \
    }                                                                       \
    for (int i = 0; i < SLOTS; i++)                                         \
      for (int64_t k = s->begin[i];                                         \
           s->which >> i & 1 && k < s->begin[i] + s->length[i]; k++)        \
        element_##suffix(s, &want[0][k], ((T *)s->g->host)[k], want + 1,    \
                         k);                                                \
  }                                                                         \
  static void expect_##suffix(kernel_trial *t, const step *s,               \
                              T *const *want)                               \
  {                                                                         \
    trial_expect_##suffix(t, s->p, want[0], s->total);                      \
    for (int k = 0; k < s->of->states; k++)                                 \
      trial_expect_##suffix(t, s->states[k], want[1 + k], s->total);        \
  }
EXPECT(float, f32)
EXPECT(double, f64)

static tn_arg number(const step *s, double value)
{
  if (s->of->f64) return (tn_arg)TN_ARG_F64(value);
  return (tn_arg)TN_ARG_F32((float)value);
}

static tn_arg slot_of(const step *s, const trial_array *a, int i)
{
  int64_t item = s->of->f64 ? 8 : 4;
  return (tn_arg)TN_ARG_PTR((char *)a->device + s->begin[i] * item);
}

static int numbers_of(const step *s, tn_arg *args)
{
  const double of_sgd[] = { s->sgd.rate, s->sgd.decay, s->sgd.sign,
                            s->sgd.momentum, s->sgd.take };
  const double of_adam[] = { s->adam.w, s->adam.beta2, s->adam.w2,
                             s->adam.size, s->adam.root, s->adam.eps,
                             s->adam.decay, s->adam.keep, s->adam.sign };
  const double *from = s->of->adam ? of_adam : of_sgd;
  int count = s->of->adam ? 9 : s->of->states ? 5 : 3;
  for (int i = 0; i < count; i++) args[i] = number(s, from[i]);
  if (count != 5) return count;
  args[count++] = (tn_arg)TN_ARG_I32(s->sgd.nesterov);
  args[count++] = (tn_arg)TN_ARG_I32(s->sgd.first);
  return count;
}

static void launch(kernel_trial *t, const step *s)
{
  tn_arg args[TN_ARGS_MAX];
  int at = 0;
  for (int i = 0; i < SLOTS; i++) args[at++] = slot_of(s, s->p, i);
  for (int k = 0; k < s->of->states; k++)
    args[at++] = (tn_arg)TRIAL_PTR(s->states[k]);
  for (int i = 0; i < SLOTS; i++) args[at++] = slot_of(s, s->g, i);
  for (int i = 0; i < SLOTS; i++)
    args[at++] = (tn_arg)TN_ARG_I64(s->length[i]);
  args[at++] = (tn_arg)TN_ARG_I32(s->which);
  at += numbers_of(s, args + at);
  trial_launch(t, t->of->name, t->size, args, (size_t)at);
}

static void run(kernel_trial *t)
{
  step s = { .of = t->of->detail };
  prepare(t, &s);
  void *want[1 + STATES] = { NULL };
  for (int k = 0; k < 1 + s.of->states; k++)
    want[k] = trial_memory(s.total, s.of->f64 ? 8 : 4);
  if (s.of->f64) want_f64(&s, (double *const *)want);
  else want_f32(&s, (float *const *)want);
  launch(t, &s);
  if (s.of->f64) expect_f64(t, &s, (double *const *)want);
  else expect_f32(t, &s, (float *const *)want);
  for (int k = 0; k < 1 + STATES; k++) free(want[k]);
}

#define CASES(suffix, family, is_f64)                                       \
  { "sgd_" #suffix, family, run, &(const variant){ is_f64, false, 0 },      \
    sizes, TRIAL_FLAVOURS },                                                \
  { "sgd_momentum_" #suffix, family, run,                                   \
    &(const variant){ is_f64, false, 1 }, sizes, TRIAL_FLAVOURS },          \
  { "adam_" #suffix, family, run, &(const variant){ is_f64, true, 2 },      \
    sizes, TRIAL_FLAVOURS },                                                \
  { "adam_amsgrad_" #suffix, family, run,                                   \
    &(const variant){ is_f64, true, 3 }, sizes, TRIAL_FLAVOURS }

const kernel_case optim_cases[] = {
  CASES(f32, "optim", false),
  CASES(f64, "optim_f64", true),
  { 0 }
};
