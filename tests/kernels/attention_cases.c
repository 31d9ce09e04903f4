/* Trials of attention. */
#include <math.h>
#include <stdlib.h>

#include "tests/numbers_attention.h"
#include "tests/kernels/cases.h"

static const int64_t sizes[] = { 1, 17, 64, 65, 130, -1 };

enum { MASKED = 1, CAUSAL = 2, FEW = 4 /* keys */ };

static const int plain = 0, masked = MASKED, causal = CAUSAL,
                 both = MASKED | CAUSAL, few = FEW;

/* The arrays of a trial and the layout of its inputs. */
typedef struct attention_input {
  int64_t outer, inner, queries, keys, size, values;
  int64_t q_row, k_row, v_row; /* of rows that hold all inner ones */
  trial_array *q, *k, *v, *mask;
  float scale;
  int flags;
} attention_input;

static attention_input random_input(kernel_trial *t)
{
  attention_input in = { .outer = 1 + trial_below(t, 2),
                         .inner = 1 + trial_below(t, 2),
                         .queries = t->size,
                         .keys = 1 + trial_below(t, 2 * t->size),
                         .size = 1 + trial_below(t, 50),
                         .values = 1 + trial_below(t, 50),
                         .flags = *(const int *)t->of->detail };
  if (in.flags & FEW) in.keys = 1 + trial_below(t, 3);
  in.q_row = in.inner * in.size + trial_below(t, 3);
  in.k_row = in.inner * in.size + trial_below(t, 3);
  in.v_row = in.inner * in.values + trial_below(t, 3);
  in.scale = t->flavour == TRIAL_PLAIN ? 0.3f : trial_float(t);
  in.q = trial_floats(t, in.outer * in.queries * in.q_row);
  in.k = trial_floats(t, in.outer * in.keys * in.k_row);
  in.v = trial_floats(t, in.outer * in.keys * in.v_row);
  in.mask = trial_floats(t, in.queries * in.keys);
  for (int64_t i = 0; i < in.queries * in.keys; i++)
    if (trial_below(t, 3) == 0)
      ((float *)in.mask->host)[i] = -INFINITY;
  trial_upload(t, in.mask);
  return in;
}

/* `rows` rows of `columns` of one batch, side by side. */
static float *gathered(const trial_array *x, int64_t rows, int64_t row,
                       int64_t columns, int64_t outer, int64_t inner)
{
  float *all = trial_memory(rows * columns, sizeof *all);
  const float *from = x->host;
  from += outer * rows * row + inner * columns;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      all[i * columns + j] = from[i * row + j];
  return all;
}

/* The reference's view of batch (outer, inner). */
static ref_attention batch_of(const attention_input *in, int64_t outer,
                              int64_t inner)
{
  return (ref_attention){
    gathered(in->q, in->queries, in->q_row, in->size, outer, inner),
    gathered(in->k, in->keys, in->k_row, in->size, outer, inner),
    gathered(in->v, in->keys, in->v_row, in->values, outer, inner),
    in->flags & MASKED ? in->mask->host : NULL,
    in->queries, in->keys, in->size, in->values,
    in->scale, in->flags & CAUSAL
  };
}

static void free_batch(ref_attention *of)
{
  free((void *)(uintptr_t)of->q);
  free((void *)(uintptr_t)of->k);
  free((void *)(uintptr_t)of->v);
}

static void attention(kernel_trial *t)
{
  attention_input in = random_input(t);
  int64_t batches = in.outer * in.inner, rows = batches * in.queries;
  trial_array *y = trial_output(t, rows * in.values, sizeof(float));
  trial_array *stats = trial_output(t, rows * 2, sizeof(float));
  float *want = trial_memory(rows * in.values, sizeof *want);
  float *want_stats = trial_memory(rows * 2, sizeof *want_stats);
  for (int64_t b = 0; b < batches; b++) {
    ref_attention of = batch_of(&in, b / in.inner, b % in.inner);
    for (int64_t i = 0; i < in.queries; i++) {
      int64_t row = b * in.queries + i;
      ref_attention_row(&of, i, want + row * in.values, want_stats + row * 2);
    }
    free_batch(&of);
  }
  trial_launch_groups(
      t, "attention_f32", batches * ((in.queries + 31) / 32),
      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(stats), TRIAL_PTR(in.q),
              TRIAL_PTR(in.k), TRIAL_PTR(in.v), TRIAL_PTR(in.mask),
              TN_ARG_I64(in.outer), TN_ARG_I64(in.inner),
              TN_ARG_I64(in.queries), TN_ARG_I64(in.keys),
              TN_ARG_I64(in.size), TN_ARG_I64(in.values),
              TN_ARG_I64(in.queries * in.q_row), TN_ARG_I64(in.size),
              TN_ARG_I64(in.q_row), TN_ARG_I64(in.keys * in.k_row),
              TN_ARG_I64(in.size), TN_ARG_I64(in.k_row),
              TN_ARG_I64(in.keys * in.v_row), TN_ARG_I64(in.values),
              TN_ARG_I64(in.v_row), TN_ARG_I64(0), TN_ARG_I64(0),
              TN_ARG_I64(in.keys), TN_ARG_I64(1), TN_ARG_F32(in.scale),
              TN_ARG_I32((in.flags & MASKED) != 0),
              TN_ARG_I32((in.flags & CAUSAL) != 0)));
  trial_expect_f32(t, stats, want_stats, rows * 2);
  trial_expect_f32(t, y, want, rows * in.values);
  free(want);
  free(want_stats);
}

/* From any statistics whatever: here what the scores allow. */
static void backward(kernel_trial *t)
{
  int flags = *(const int *)t->of->detail;
  int64_t outer = 1 + trial_below(t, 2), inner = 1 + trial_below(t, 2);
  int64_t queries = t->size, keys = 1 + trial_below(t, 100);
  int64_t rows = outer * inner * queries, n = rows * keys;
  trial_array *x = trial_floats(t, n), *dp = trial_floats(t, n);
  trial_array *dot = trial_floats(t, rows);
  trial_array *mask = trial_floats(t, queries * keys);
  trial_array *stats = trial_zeros(t, rows * 2, sizeof(float));
  float *m = stats->host;
  for (int64_t r = 0; r < rows; r++) {
    m[2 * r] = trial_below(t, 20) == 0 ? -INFINITY : 50;
    m[2 * r + 1] = (float)trial_below(t, 100);
  }
  trial_upload(t, stats);
  ref_attention of = { .mask = flags & MASKED ? mask->host : NULL,
                       .keys = keys, .scale = 0.3f,
                       .is_causal = flags & CAUSAL };
  if (t->flavour != TRIAL_PLAIN) { /* no score above m: exp of <= 0 */
    for (int64_t i = 0; i < n; i++)
      ((float *)x->host)[i] = -fabsf(((float *)x->host)[i]);
    for (int64_t i = 0; i < queries * keys; i++)
      ((float *)mask->host)[i] = -fabsf(((float *)mask->host)[i]);
    trial_upload(t, x);
    trial_upload(t, mask);
  }
  float *weight = trial_memory(n, sizeof *weight);
  float *gradient = trial_memory(n, sizeof *gradient);
  for (int64_t i = 0; i < n; i++) {
    int64_t r = i / keys;
    ref_attention_backward(&of, r % queries, i % keys, ((float *)x->host)[i],
                           ((float *)dp->host)[i], ((float *)dot->host)[r],
                           m + 2 * r, weight + i, gradient + i);
  }
  trial_launch(t, "attention_backward_f32", n,
               TN_ARGS(TRIAL_PTR(x), TRIAL_PTR(dp), TRIAL_PTR(stats),
                       TRIAL_PTR(dot), TRIAL_PTR(mask), TN_ARG_I64(outer),
                       TN_ARG_I64(inner), TN_ARG_I64(queries),
                       TN_ARG_I64(keys), TN_ARG_I64(0), TN_ARG_I64(0),
                       TN_ARG_I64(keys), TN_ARG_I64(1), TN_ARG_F32(0.3f),
                       TN_ARG_I32((flags & MASKED) != 0),
                       TN_ARG_I32((flags & CAUSAL) != 0)));
  trial_expect_f32(t, x, weight, n);
  trial_expect_f32(t, dp, gradient, n);
  free(weight);
  free(gradient);
}

static const int64_t rows[] = { 1, 2, 40, -1 };

const kernel_case attention_cases[] = {
  { "attention_f32", "attention", attention, &plain, sizes, TRIAL_FLAVOURS },
  { "attention_f32 few keys", "attention", attention, &few, sizes,
    TRIAL_WIDE },
  { "attention_f32 mask", "attention", attention, &masked, sizes,
    TRIAL_FLAVOURS },
  { "attention_f32 causal", "attention", attention, &causal, sizes,
    TRIAL_FLAVOURS },
  { "attention_f32 causal mask", "attention", attention, &both, sizes,
    TRIAL_WIDE },
  { "attention_backward_f32", "attention", backward, &plain, rows,
    TRIAL_FLAVOURS },
  { "attention_backward_f32 mask", "attention", backward, &masked, rows,
    TRIAL_FLAVOURS },
  { "attention_backward_f32 causal", "attention", backward, &causal, rows,
    TRIAL_FLAVOURS },
  { 0 }
};
