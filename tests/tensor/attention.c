/* Attention: bits, layouts, masks, and its gradients, on any device. */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_attention.h"
#include "tests/tap.h"

enum { B = 2, H = 2, L = 35, S = 70, E = 5, F = 6 };

static tn_device device;
static uint64_t seed = 3;

static float next_float(void)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (float)(int32_t)(seed >> 33) / 1e9f - 1;
}

static float *random_values(int64_t n)
{
  float *values = calloc((size_t)n + 1, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = next_float();
  return values;
}

static void expect(tn_tensor *t, const float *wanted, int64_t n,
                   const char *what)
{
  float *got = calloc((size_t)n + 1, sizeof *got);
  if (!t || tn_read(t, got, (size_t)n * sizeof *got) != TN_OK)
    tap_note("%s", tn_error_message());
  int64_t bad = 0;
  for (int64_t i = 0; i < n; i++)
    bad += memcmp(&got[i], &wanted[i], sizeof *got) != 0 &&
           !(isnan(got[i]) && isnan(wanted[i]));
  tap_is_int(t ? bad : -1, 0, "N1 attention: %s: the reference's bits", what);
  free(got);
}

/* The four operands as [B, H, rows, columns]. */
typedef struct input {
  float *q, *k, *v, *mask;
} input;

static input make_input(void)
{
  input in = { random_values(B * H * L * E), random_values(B * H * S * E),
               random_values(B * H * S * F), random_values(L * S) };
  for (int i = 0; i < L * S; i += 3) in.mask[i] = -INFINITY;
  return in;
}

static void free_input(input *in)
{
  free(in->q);
  free(in->k);
  free(in->v);
  free(in->mask);
}

static float *wanted_of(const input *in, const float *mask, bool causal)
{
  float *y = random_values(B * H * L * F), stats[2];
  for (int b = 0; b < B * H; b++) {
    ref_attention of = { in->q + b * L * E, in->k + b * S * E,
                         in->v + b * S * F, mask, L, S, E, F,
                         (float)(1 / sqrt((double)E)), causal };
    for (int i = 0; i < L; i++)
      ref_attention_row(&of, i, y + (b * L + i) * F, stats);
  }
  return y;
}

/* [B, H, rows, columns] that lies in memory as [B, rows, H, columns]. */
static tn_tensor *split_heads(const float *values, int rows, int columns)
{
  float *swapped = calloc((size_t)(B * H * rows * columns), sizeof *swapped);
  for (int b = 0; b < B; b++)
    for (int h = 0; h < H; h++)
      for (int i = 0; i < rows; i++)
        for (int c = 0; c < columns; c++)
          swapped[((b * rows + i) * H + h) * columns + c] =
              values[((b * H + h) * rows + i) * columns + c];
  tn_tensor *t = tn_from_data(swapped, TN_SHAPE(B, rows, H, columns),
                              .device = device);
  free(swapped);
  return tn_transpose(t, 1, 2);
}

static tn_tensor *of(const float *values, int rows, int columns)
{
  return tn_from_data(values, TN_SHAPE(B, H, rows, columns),
                      .device = device);
}

static void test_forward(const input *in)
{
  tn_with_scope {
    tn_tensor *q = of(in->q, L, E), *k = of(in->k, S, E);
    tn_tensor *v = of(in->v, S, F);
    tn_tensor *mask = tn_from_data(in->mask, TN_SHAPE(L, S),
                                   .device = device);
    float *plain = wanted_of(in, NULL, false);
    float *causal = wanted_of(in, NULL, true);
    float *masked = wanted_of(in, in->mask, false);
    const int64_t n = B * H * L * F;
    expect(tn_scaled_dot_product_attention(q, k, v, NULL, false, 0), plain, n,
           "plain");
    expect(tn_scaled_dot_product_attention(q, k, v, NULL, true, 0), causal, n,
           "causal");
    expect(tn_scaled_dot_product_attention(q, k, v, mask, false, 0), masked,
           n, "mask");
    q = split_heads(in->q, L, E);
    k = split_heads(in->k, S, E);
    v = split_heads(in->v, S, F);
    expect(tn_scaled_dot_product_attention(q, k, v, NULL, true, 0), causal, n,
           "heads side by side");
    expect(tn_scaled_dot_product_attention(q, k, v, mask, false, 0), masked,
           n, "heads side by side, mask");
    free(plain);
    free(causal);
    free(masked);
  }
}

/* Gradients in double, from the definition; of one batch. */
typedef struct gradients {
  double q[L][E], k[S][E], v[S][F];
} gradients;

static void add_query(const input *in, int b, int i, bool causal,
                      const float *grad, gradients *to)
{
  const float *q = in->q + (b * L + i) * E, *k = in->k + b * S * E;
  const float *v = in->v + b * S * F;
  double p[S], sum = 0, scale = 1 / sqrt((double)E), mean = 0, dp[S];
  for (int j = 0; j < S; j++) {
    double x = 0;
    for (int e = 0; e < E; e++) x += (double)q[e] * (double)k[j * E + e];
    p[j] = causal && j > i ? 0 : exp(x * scale);
    sum += p[j];
  }
  for (int j = 0; j < S; j++) {
    p[j] /= sum;
    dp[j] = 0;
    for (int c = 0; c < F; c++) {
      dp[j] += (double)grad[c] * (double)v[j * F + c];
      to->v[j][c] += p[j] * (double)grad[c];
    }
    mean += p[j] * dp[j];
  }
  for (int j = 0; j < S; j++)
    for (int e = 0; e < E; e++) {
      double ds = p[j] * (dp[j] - mean) * scale;
      to->q[i][e] += ds * (double)k[j * E + e];
      to->k[j][e] += ds * (double)q[e];
    }
}

static void expect_near(tn_tensor *t, const double *wanted, int b, int64_t n,
                        const char *what)
{
  float *got = calloc((size_t)(B * H * n), sizeof *got);
  double worst = t ? 0 : 1;
  if (!t || tn_read(t, got, (size_t)(B * H * n) * sizeof *got) != TN_OK)
    tap_note("%s", tn_error_message());
  for (int64_t i = 0; i < n; i++) {
    double off = fabs((double)got[b * n + i] - wanted[i]);
    if (off > worst) worst = off;
  }
  if (!tap_ok(worst < 2e-6, "N3 attention: the gradient of %s", what))
    tap_note("off by %g", worst);
  free(got);
}

static void test_backward(const input *in, bool causal)
{
  float *grad = random_values(B * H * L * F);
  tn_with_scope {
    tn_tensor *q = tn_requires_grad_(of(in->q, L, E), true);
    tn_tensor *k = tn_requires_grad_(of(in->k, S, E), true);
    tn_tensor *v = tn_requires_grad_(of(in->v, S, F), true);
    tn_tensor *y = tn_scaled_dot_product_attention(q, k, v, NULL, causal, 0);
    tap_ok(tn_backward_with(y, of(grad, L, F)) == TN_OK,
           "B1 attention%s: backward", causal ? ", causal" : "");
    gradients *wanted = calloc(1, sizeof *wanted);
    const int b = B * H - 1;
    for (int i = 0; i < L; i++)
      add_query(in, b, i, causal, grad + (b * L + i) * F, wanted);
    expect_near(tn_grad(q), &wanted->q[0][0], b, L * E, "q");
    expect_near(tn_grad(k), &wanted->k[0][0], b, S * E, "k");
    expect_near(tn_grad(v), &wanted->v[0][0], b, S * F, "v");
    free(wanted);
  }
  free(grad);
}

static void test_masks(const input *in)
{
  tn_with_scope {
    uint8_t seen[L * S];
    for (int i = 0; i < L * S; i++) seen[i] = in->mask[i] > -INFINITY;
    float *added = random_values(L * S);
    for (int i = 0; i < L * S; i++) added[i] = seen[i] ? 0 : -INFINITY;
    tn_tensor *mask = tn_from_data(seen, TN_SHAPE(L, S), .device = device,
                                   .dtype = TN_BOOL);
    float *wanted = wanted_of(in, added, false);
    expect(tn_scaled_dot_product_attention(of(in->q, L, E), of(in->k, S, E),
                                           of(in->v, S, F), mask, false, 0),
           wanted, B * H * L * F, "a bool mask");
    free(added);
    free(wanted);
  }
}

static void test_refusals(const input *in)
{
  tn_with_scope {
    tn_tensor *q = of(in->q, L, E), *k = of(in->k, S, E);
    tn_tensor *v = of(in->v, S, F);
    tap_ok(!tn_scaled_dot_product_attention(q, v, v, NULL, false, 0) &&
               tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 attention: rows of q and k differ");
    tap_ok(!tn_scaled_dot_product_attention(q, k, k, v, false, 0) &&
               tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 attention: a mask of another shape");
    tn_tensor *none = tn_empty(TN_SHAPE(B, H, 0, E), .device = device);
    tn_tensor *no_values = tn_empty(TN_SHAPE(B, H, 0, F), .device = device);
    tn_tensor *y = tn_scaled_dot_product_attention(q, none, no_values, NULL,
                                                   false, 0);
    float *zeros = calloc(B * H * L * F, sizeof *zeros);
    expect(y, zeros, B * H * L * F, "no keys");
    free(zeros);
  }
}

int main(void)
{
  device = test_device();
  input in = make_input();
  test_forward(&in);
  test_backward(&in, false);
  test_backward(&in, true);
  test_masks(&in);
  test_refusals(&in);
  free_input(&in);
  return tap_done();
}
