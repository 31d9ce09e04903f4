/* Trials of attention for one type, which who includes it describes: REAL,
 * SUFFIX, NAMED, ATTENTION, ROW, BACKWARD, MAKE, RANDOM, EXPECT, ARG_REAL,
 * ABS. */
/* The arrays of a trial and the layout of its inputs. */
typedef struct NAMED(attention_input) {
  int64_t outer, inner, queries, keys, size, values;
  int64_t q_row, k_row, v_row; /* of rows that hold all inner ones */
  trial_array *q, *k, *v, *mask;
  REAL scale;
  int flags;
} NAMED(attention_input);

static NAMED(attention_input) NAMED(random_input)(kernel_trial *t)
{
  NAMED(attention_input) in = { .outer = 1 + trial_below(t, 2),
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
  in.scale = t->flavour == TRIAL_PLAIN ? (REAL)0.3f : RANDOM(t);
  in.q = MAKE(t, in.outer * in.queries * in.q_row);
  in.k = MAKE(t, in.outer * in.keys * in.k_row);
  in.v = MAKE(t, in.outer * in.keys * in.v_row);
  in.mask = MAKE(t, in.queries * in.keys);
  for (int64_t i = 0; i < in.queries * in.keys; i++)
    if (trial_below(t, 3) == 0)
      ((REAL *)in.mask->host)[i] = -INFINITY;
  trial_upload(t, in.mask);
  return in;
}

/* `rows` rows of `columns` of one batch, side by side. */
static REAL *NAMED(gathered)(const trial_array *x, int64_t rows, int64_t row,
                       int64_t columns, int64_t outer, int64_t inner)
{
  REAL *all = trial_memory(rows * columns, sizeof *all);
  const REAL *from = x->host;
  from += outer * rows * row + inner * columns;
  for (int64_t i = 0; i < rows; i++)
    for (int64_t j = 0; j < columns; j++)
      all[i * columns + j] = from[i * row + j];
  return all;
}

/* The reference's view of batch (outer, inner). */
static ATTENTION NAMED(batch_of)(const NAMED(attention_input) *in,
                                 int64_t outer, int64_t inner)
{
  return (ATTENTION){
    NAMED(gathered)(in->q, in->queries, in->q_row, in->size, outer, inner),
    NAMED(gathered)(in->k, in->keys, in->k_row, in->size, outer, inner),
    NAMED(gathered)(in->v, in->keys, in->v_row, in->values, outer, inner),
    in->flags & MASKED ? in->mask->host : NULL,
    in->queries, in->keys, in->size, in->values,
    in->scale, in->flags & CAUSAL
  };
}

static void NAMED(free_batch)(ATTENTION *of)
{
  free((void *)(uintptr_t)of->q);
  free((void *)(uintptr_t)of->k);
  free((void *)(uintptr_t)of->v);
}

static void NAMED(attention)(kernel_trial *t)
{
  NAMED(attention_input) in = NAMED(random_input)(t);
  int64_t batches = in.outer * in.inner, rows = batches * in.queries;
  trial_array *y = trial_output(t, rows * in.values, sizeof(REAL));
  trial_array *stats = trial_output(t, rows * 2, sizeof(REAL));
  REAL *want = trial_memory(rows * in.values, sizeof *want);
  REAL *want_stats = trial_memory(rows * 2, sizeof *want_stats);
  for (int64_t b = 0; b < batches; b++) {
    ATTENTION of = NAMED(batch_of)(&in, b / in.inner, b % in.inner);
    for (int64_t i = 0; i < in.queries; i++) {
      int64_t row = b * in.queries + i;
      ROW(&of, i, want + row * in.values, want_stats + row * 2);
    }
    NAMED(free_batch)(&of);
  }
  trial_launch_groups(
      t, "attention_" SUFFIX, batches * ((in.queries + 31) / 32),
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
              TN_ARG_I64(in.keys), TN_ARG_I64(1), ARG_REAL(in.scale),
              TN_ARG_I32((in.flags & MASKED) != 0),
              TN_ARG_I32((in.flags & CAUSAL) != 0)));
  EXPECT(t, stats, want_stats, rows * 2);
  EXPECT(t, y, want, rows * in.values);
  free(want);
  free(want_stats);
}

/* From any statistics whatever: here what the scores allow. */
static void NAMED(backward)(kernel_trial *t)
{
  int flags = *(const int *)t->of->detail;
  int64_t outer = 1 + trial_below(t, 2), inner = 1 + trial_below(t, 2);
  int64_t queries = t->size, keys = 1 + trial_below(t, 100);
  int64_t rows = outer * inner * queries, n = rows * keys;
  trial_array *x = MAKE(t, n), *dp = MAKE(t, n);
  trial_array *dot = MAKE(t, rows);
  trial_array *mask = MAKE(t, queries * keys);
  trial_array *stats = trial_zeros(t, rows * 2, sizeof(REAL));
  REAL *m = stats->host;
  for (int64_t r = 0; r < rows; r++) {
    m[2 * r] = trial_below(t, 20) == 0 ? -INFINITY : 50;
    m[2 * r + 1] = (REAL)trial_below(t, 100);
  }
  trial_upload(t, stats);
  ATTENTION of = { .mask = flags & MASKED ? mask->host : NULL,
                       .keys = keys, .scale = (REAL)0.3f,
                       .is_causal = flags & CAUSAL };
  if (t->flavour != TRIAL_PLAIN) { /* no score above m: exp of <= 0 */
    for (int64_t i = 0; i < n; i++)
      ((REAL *)x->host)[i] = -ABS(((REAL *)x->host)[i]);
    for (int64_t i = 0; i < queries * keys; i++)
      ((REAL *)mask->host)[i] = -ABS(((REAL *)mask->host)[i]);
    trial_upload(t, x);
    trial_upload(t, mask);
  }
  REAL *weight = trial_memory(n, sizeof *weight);
  REAL *gradient = trial_memory(n, sizeof *gradient);
  for (int64_t i = 0; i < n; i++) {
    int64_t r = i / keys;
    BACKWARD(&of, r % queries, i % keys, ((REAL *)x->host)[i],
                           ((REAL *)dp->host)[i], ((REAL *)dot->host)[r],
                           m + 2 * r, weight + i, gradient + i);
  }
  trial_launch(t, "attention_backward_" SUFFIX, n,
               TN_ARGS(TRIAL_PTR(x), TRIAL_PTR(dp), TRIAL_PTR(stats),
                       TRIAL_PTR(dot), TRIAL_PTR(mask), TN_ARG_I64(outer),
                       TN_ARG_I64(inner), TN_ARG_I64(queries),
                       TN_ARG_I64(keys), TN_ARG_I64(0), TN_ARG_I64(0),
                       TN_ARG_I64(keys), TN_ARG_I64(1), ARG_REAL((REAL)0.3f),
                       TN_ARG_I32((flags & MASKED) != 0),
                       TN_ARG_I32((flags & CAUSAL) != 0)));
  EXPECT(t, x, weight, n);
  EXPECT(t, dp, gradient, n);
  free(weight);
  free(gradient);
}
