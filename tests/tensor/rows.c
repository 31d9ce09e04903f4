/* Softmax, layer norm, losses, running sums and dropout: the reference's bits
 * along any dimension, what is refused (rules N1, R21, R38). */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_layers.h"
#include "tests/numbers_reference.h"
#include "tests/numbers_rows.h"
#include "tests/tap.h"

static tn_device device;

/* ---- help ---- */

static uint32_t state = 1;

static float next_float(void)
{
  state = state * 1664525 + 1013904223;
  return ldexpf((float)(int32_t)state, -29);
}

static float *floats(int64_t n)
{
  float *x = calloc((size_t)n + 1, sizeof *x);
  for (int64_t i = 0; i < n; i++) x[i] = next_float();
  return x;
}

static tn_tensor *tensor_of(const float *x, tn_shape shape)
{
  return tn_from_data(x, shape, .device = device);
}

static void same(tn_tensor *y, const float *want, int64_t n, const char *what)
{
  float *got = calloc((size_t)n + 1, sizeof *got);
  bool is_read = y && tn_numel(y) == n &&
                 tn_read(y, got, (size_t)n * sizeof *got) == TN_OK;
  int64_t at = 0;
  while (is_read && at < n &&
         (memcmp(got + at, want + at, sizeof *got) == 0 ||
          (isnan(got[at]) && isnan(want[at]))))
    at++;
  tap_ok(is_read && at == n, "%s", what);
  if (!is_read) tap_note("%s", y ? "other size" : tn_error_message());
  else if (at < n)
    tap_note("element %d is %.9g, wanted %.9g", (int)at, (double)got[at],
             (double)want[at]);
  free(got);
}

static void fails(const tn_tensor *t, tn_status status, const char *text,
                  const char *what)
{
  tap_ok(!t && tn_last_status() == status, "%s", what);
  tap_has(tn_error_message(), text, "%s, and says so", what);
  tn_clear_error();
}

/* ---- softmax ---- */

typedef void row_reference(const float *x, int64_t n, float *y);

/* Along dimension `dim` of outer x n x inner. */
static void along(row_reference *reference, const float *x, float *y,
                  int64_t outer, int64_t n, int64_t inner)
{
  float *row = floats(n), *result = floats(n);
  for (int64_t o = 0; o < outer; o++)
    for (int64_t c = 0; c < inner; c++) {
      int64_t first = o * n * inner + c;
      for (int64_t i = 0; i < n; i++) row[i] = x[first + i * inner];
      reference(row, n, result);
      for (int64_t i = 0; i < n; i++) y[first + i * inner] = result[i];
    }
  free(row);
  free(result);
}

static void test_softmax(void)
{
  float *x = floats(3 * 70 * 4), *want = floats(3 * 70 * 4);
  tn_with_scope {
    tn_tensor *t = tensor_of(x, TN_SHAPE(3, 70, 4));
    along(ref_softmax_f32, x, want, 3, 70, 4);
    same(tn_softmax(t, 1), want, 840, "N1 softmax in the middle");
    along(ref_softmax_f32, x, want, 210, 4, 1);
    same(tn_softmax(t, -1), want, 840, "N1 softmax along the last dimension");
    along(ref_log_softmax_f32, x, want, 1, 3, 280);
    same(tn_log_softmax(t, 0), want, 840, "N1 log_softmax along the first");
    along(ref_log_softmax_f32, x, want, 210, 4, 1);
    same(tn_log_softmax(t, 2), want, 840, "N1 log_softmax along the last");
    tn_tensor *turned = tn_transpose(t, 1, 2);
    along(ref_softmax_f32, x, want, 3, 70, 4);
    same(tn_transpose(tn_softmax(turned, 2), 1, 2), want, 840,
         "N1 softmax of a transposed tensor");
    same(tn_softmax(tn_full(TN_SCALAR, 3, .device = device), 0),
         (float[]){ 1 }, 1, "R38 softmax of no dimension is 1");
    tn_tensor *none = tn_empty(TN_SHAPE(2, 0), .device = device);
    same(tn_softmax(none, 1), NULL, 0, "R21 softmax of nothing");
    const float bad[] = { -INFINITY, -INFINITY };
    same(tn_softmax(tensor_of(bad, TN_SHAPE(2)), 0),
         (float[]){ NAN, NAN }, 2, "N4 softmax of an undefined row is NaN");
    fails(tn_softmax(t, 3), TN_INVALID_ARGUMENT, "softmax: dimension 3",
          "R38 there is no dimension 3");
    fails(tn_log_softmax(tn_ones(TN_SHAPE(2), .device = device,
                                 .dtype = TN_I64), 0),
          TN_DTYPE_MISMATCH, "log_softmax: dtype i64", "N4 integers have none");
  }
  free(x);
  free(want);
}

/* ---- layer norm ---- */

enum { ROWS = 7, WIDTH = 6 * 11 };

static void test_layer_norm(void)
{
  float *x = floats(ROWS * WIDTH), *weight = floats(WIDTH);
  float *bias = floats(WIDTH), want[ROWS * WIDTH], stats[2];
  float ones[WIDTH], zeros[WIDTH] = { 0 };
  for (int i = 0; i < WIDTH; i++) ones[i] = 1;
  tn_with_scope {
    tn_tensor *t = tensor_of(x, TN_SHAPE(ROWS, 6, 11));
    tn_tensor *w = tensor_of(weight, TN_SHAPE(6, 11));
    tn_tensor *b = tensor_of(bias, TN_SHAPE(6, 11));
    for (int r = 0; r < ROWS; r++)
      ref_layer_norm_f32(x + r * WIDTH, weight, bias, WIDTH, 1e-5f,
                         want + r * WIDTH, stats);
    same(tn_layer_norm(t, TN_SHAPE(6, 11), w, b, 1e-5), want, ROWS * WIDTH,
         "N1 layer_norm over two dimensions");
    for (int r = 0; r < ROWS; r++)
      ref_layer_norm_f32(x + r * WIDTH, ones, zeros, WIDTH, 1e-5f,
                         want + r * WIDTH, stats);
    same(tn_layer_norm(t, TN_SHAPE(6, 11), NULL, NULL, 1e-5), want,
         ROWS * WIDTH, "N1 layer_norm without weight and bias");
    fails(tn_layer_norm(t, TN_SHAPE(11, 6), NULL, NULL, 1e-5),
          TN_SHAPE_MISMATCH, "layer_norm: the input's shape [7, 6, 11]",
          "N1 a shape that the input does not end in");
    fails(tn_layer_norm(t, TN_SHAPE(11), w, NULL, 1e-5), TN_SHAPE_MISMATCH,
          "layer_norm: the weight has shape [6, 11]",
          "N1 a weight of another shape");
    tn_tensor *none = tn_empty(TN_SHAPE(0, 3), .device = device);
    same(tn_layer_norm(none, TN_SHAPE(3), NULL, NULL, 1e-5), NULL, 0,
         "R21 layer_norm of no rows");
  }
  free(x);
  free(weight);
  free(bias);
}

/* ---- losses ---- */

static void test_nll(void)
{
  const int64_t targets[] = { 2, -100, 0, 1, 2 };
  float *x = floats(5 * 3), logs[15], rows[5];
  for (int r = 0; r < 5; r++) {
    ref_log_softmax_f32(x + 3 * r, 3, logs + 3 * r);
    rows[r] = targets[r] < 0 ? 0 : -logs[3 * r + targets[r]];
  }
  float sum = ref_sum(rows, 5, 1), mean = sum / 4;
  tn_with_scope {
    tn_tensor *scores = tensor_of(x, TN_SHAPE(5, 3));
    tn_tensor *target = tn_from_data(targets, TN_SHAPE(5), .device = device,
                                     .dtype = TN_I64);
    same(tn_cross_entropy(scores, target), &mean, 1,
         "N1 cross_entropy is a mean over what is not ignored");
    same(tn_cross_entropy_with(scores, target, TN_LOSS_SUM, -100), &sum, 1,
         "N1 or a sum");
    same(tn_cross_entropy_with(scores, target, TN_LOSS_NONE, -100), rows, 5,
         "N1 or the loss of each");
    same(tn_nll_loss(tn_log_softmax(scores, 1), target), &mean, 1,
         "N1 nll_loss takes logarithms of probabilities");
    float squares[15];
    for (int i = 0; i < 15; i++) squares[i] = (x[i] - 1) * (x[i] - 1);
    float off = ref_mean(squares, 15, 1);
    same(tn_mse_loss(scores, tn_ones_like(scores)), &off, 1, "N1 mse_loss");
    fails(tn_cross_entropy(scores, tn_to(target, .dtype = TN_F32)),
          TN_DTYPE_MISMATCH, "targets of dtype f32", "N1 targets are i64");
    fails(tn_nll_loss(scores, tn_slice(target, 0, 0, 4, 1)),
          TN_SHAPE_MISMATCH, "nll_loss: scores [5, 3] and targets [4]",
          "N1 a target for each row");
  }
  free(x);
}

static void test_class_range(void)
{
  const int64_t targets[] = { 0, 3 };
  tn_with_scope {
    tn_tensor *scores = tn_zeros(TN_SHAPE(2, 3), .device = device);
    tn_tensor *target = tn_from_data(targets, TN_SHAPE(2), .device = device,
                                     .dtype = TN_I64);
    fails(tn_cross_entropy(scores, target), TN_INVALID_ARGUMENT,
          "cross_entropy: target 3 at position 1: classes are 0 to 2",
          "N1 a target that is no class");
  }
}

/* ---- running sums ---- */

static void test_cumsum(void)
{
  float *x = floats(2 * 5000), *want = floats(2 * 5000);
  tn_with_scope {
    tn_tensor *t = tensor_of(x, TN_SHAPE(2, 5000));
    for (int r = 0; r < 2; r++)
      ref_cumsum_f32(x + 5000 * r, 5000, 1, want + 5000 * r);
    same(tn_cumsum(t, 1), want, 10000, "N1 cumsum along rows");
    t = tensor_of(x, TN_SHAPE(5000, 2));
    for (int c = 0; c < 2; c++) ref_cumsum_f32(x + c, 5000, 2, want + c);
    same(tn_cumsum(t, 0), want, 10000, "N1 cumsum along columns");
    const uint8_t truth[] = { 1, 1, 0, 1 };
    int64_t sums[4] = { 0 };
    tn_tensor *y = tn_cumsum(tn_from_data(truth, TN_SHAPE(4),
                                          .device = device,
                                          .dtype = TN_BOOL), 0);
    tap_ok(y && tn_dtype_of(y) == TN_I64 &&
             tn_read(y, sums, sizeof sums) == TN_OK && sums[0] == 1 &&
             sums[1] == 2 && sums[2] == 2 && sums[3] == 3,
           "N4 cumsum of bools counts");
  }
  free(x);
  free(want);
}

/* ---- dropout ---- */

static void test_dropout(void)
{
  float *x = floats(1001), want[1001];
  for (int i = 0; i < 1001; i++)
    want[i] = ref_uniform(7, 0, i) < 0.25f ? 0 : x[i] * (float)(1 / 0.75);
  tn_with_scope {
    tn_tensor *t = tensor_of(x, TN_SHAPE(1001));
    tn_manual_seed(7);
    same(tn_dropout(t, 0.25, true), want, 1001,
         "N1 dropout follows the seed's stream");
    same(tn_dropout(t, 0.25, false), x, 1001, "N1 not training: as it is");
    float zeros[1001] = { 0 };
    same(tn_dropout(t, 1, true), zeros, 1001, "N1 probability 1: all gone");
    fails(tn_dropout(t, 1.5, true), TN_INVALID_ARGUMENT,
          "dropout: probability 1.5", "N1 no probability");
  }
  free(x);
}

int main(void)
{
  device = test_device();
  test_softmax();
  test_layer_norm();
  test_nll();
  test_class_range();
  test_cumsum();
  test_dropout();
  return tap_done();
}
