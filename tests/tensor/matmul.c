/* Products of tensors: shapes, layouts, batches and bits, on any device. */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_products.h"
#include "tests/numbers_reference.h"
#include "tests/tap.h"

static tn_device device;
static uint64_t seed = 1;

static float next_float(void)
{
  seed = seed * 6364136223846793005u + 1442695040888963407u;
  return (float)(int32_t)(seed >> 33) / 1e9f - 1;
}

/* A tensor of random numbers, with its shape reversed in memory if turned. */
static tn_tensor *random_tensor(tn_shape shape, bool is_turned)
{
  int64_t n = 1, reversed[TN_DIMS_MAX];
  for (int i = 0; i < shape.ndim; i++) {
    n *= shape.sizes[i];
    reversed[i] = shape.sizes[shape.ndim - 1 - i];
  }
  float *values = calloc((size_t)n + 1, sizeof *values);
  for (int64_t i = 0; i < n; i++) values[i] = next_float();
  tn_shape made = { is_turned ? reversed : shape.sizes, shape.ndim };
  tn_tensor *t = tn_from_data(values, made, .device = device);
  free(values);
  int64_t dims[TN_DIMS_MAX];
  for (int i = 0; i < shape.ndim; i++) dims[i] = shape.ndim - 1 - i;
  return is_turned ? tn_permute(t, (tn_shape){ dims, shape.ndim }) : t;
}

static float *values_of(tn_tensor *t)
{
  int64_t n = tn_numel(t);
  float *values = calloc((size_t)(n < 0 ? 0 : n) + 1, sizeof *values);
  if (!t || tn_read(t, values, (size_t)n * sizeof *values) != TN_OK)
    tap_note("%s", tn_error_message());
  return values;
}

/* Sizes of a as matrices: batch (broadcast by a stride of 0), rows, columns. */
typedef struct batches {
  int64_t count, rows, columns;
} batches;

static batches batches_of(tn_tensor *t, bool is_left)
{
  int n = tn_ndim(t);
  if (n == 1)
    return is_left ? (batches){ 1, 1, tn_size(t, 0) }
                   : (batches){ 1, tn_size(t, 0), 1 };
  batches b = { 1, tn_size(t, -2), tn_size(t, -1) };
  for (int i = 0; i < n - 2; i++) b.count *= tn_size(t, i);
  return b;
}

/* Bit for bit what docs/numbers.md says; batches are equal, or one is 1. */
static void check(const char *what, tn_tensor *a, tn_tensor *b, tn_tensor *y)
{
  batches p = batches_of(a, true), q = batches_of(b, false);
  int64_t count = p.count > q.count ? p.count : q.count;
  int64_t rows = tn_ndim(b) <= 2 ? p.count * p.rows : p.rows, bad = 0;
  bool is_dot = rows == 1 || q.columns == 1;
  float *x = values_of(a), *w = values_of(b), *got = values_of(y);
  tap_is_int(tn_numel(y), count * p.rows * q.columns,
             "N1 matmul: %s: the number of results", what);
  for (int64_t e = 0; y && e < count * p.rows * q.columns; e++) {
    int64_t batch = e / (p.rows * q.columns), i = e / q.columns % p.rows;
    const float *left = x + ((p.count > 1 ? batch * p.rows : 0) + i) *
                                p.columns;
    const float *right = w + (q.count > 1 ? batch * q.rows * q.columns : 0) +
                         e % q.columns;
    float wanted = (is_dot ? ref_dot : ref_product)(left, 1, right, q.columns,
                                                    p.columns);
    bad += memcmp(&wanted, &got[e], sizeof wanted) != 0;
  }
  tap_is_int(y ? bad : -1, 0, "N1 matmul: %s: the reference's bits", what);
  free(x);
  free(w);
  free(got);
}

static void test_shapes(bool turn_a, bool turn_b)
{
  const struct { tn_shape a, b; } cases[] = {
    { { (int64_t[]){ 7 }, 1 }, { (int64_t[]){ 7 }, 1 } },
    { { (int64_t[]){ 5 }, 1 }, { (int64_t[]){ 5, 3 }, 2 } },
    { { (int64_t[]){ 4, 5 }, 2 }, { (int64_t[]){ 5 }, 1 } },
    { { (int64_t[]){ 4, 5 }, 2 }, { (int64_t[]){ 5, 6 }, 2 } },
    { { (int64_t[]){ 1, 70 }, 2 }, { (int64_t[]){ 70, 60 }, 2 } },
    { { (int64_t[]){ 2, 3, 4 }, 3 }, { (int64_t[]){ 4, 5 }, 2 } },
    { { (int64_t[]){ 3, 1, 4 }, 3 }, { (int64_t[]){ 4, 5 }, 2 } },
    { { (int64_t[]){ 2, 3, 4 }, 3 }, { (int64_t[]){ 2, 4, 5 }, 3 } },
    { { (int64_t[]){ 3, 4 }, 2 }, { (int64_t[]){ 2, 4, 5 }, 3 } },
    { { (int64_t[]){ 2, 2, 3, 4 }, 4 }, { (int64_t[]){ 2, 2, 4, 3 }, 4 } },
    { { (int64_t[]){ 2, 3, 4 }, 3 }, { (int64_t[]){ 4 }, 1 } },
    { { (int64_t[]){ 3, 1030 }, 2 }, { (int64_t[]){ 1030, 2 }, 2 } },
    { { (int64_t[]){ 2, 4100 }, 2 }, { (int64_t[]){ 4100 }, 1 } },
    { { (int64_t[]){ 0, 4 }, 2 }, { (int64_t[]){ 4, 3 }, 2 } },
  };
  for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
    tn_with_scope {
      char text[100];
      tn_tensor *a = random_tensor(cases[i].a, turn_a);
      tn_tensor *b = random_tensor(cases[i].b, turn_b);
      snprintf(text, sizeof text, "case %zu%s%s", i,
               turn_a ? ", left one turned" : "",
               turn_b ? ", right one turned" : "");
      check(text, a, b, tn_matmul(a, b));
    }
}

static void test_empty_sum(void)
{
  tn_with_scope {
    tn_tensor *y = tn_matmul(random_tensor(TN_SHAPE(2, 0), false),
                             random_tensor(TN_SHAPE(0, 3), false));
    float *got = values_of(y);
    bool all = tn_numel(y) == 6;
    for (int i = 0; i < 6; i++) all = all && got[i] == 0;
    tap_ok(all, "T6 matmul: sums of nothing are 0");
    free(got);
  }
}

static void test_linear(void)
{
  tn_with_scope {
    tn_tensor *x = random_tensor(TN_SHAPE(2, 3, 5), false);
    tn_tensor *w = random_tensor(TN_SHAPE(4, 5), false);
    tn_tensor *bias = random_tensor(TN_SHAPE(4), false);
    float *px = values_of(x), *pw = values_of(w), *pb = values_of(bias);
    float *got = values_of(tn_linear(x, w, bias));
    int bad = 0;
    for (int e = 0; e < 24; e++)
      bad += got[e] != ref_product(px + e / 4 * 5, 1, pw + e % 4 * 5, 1, 5) +
                           pb[e % 4];
    tap_is_int(bad, 0, "N1 linear: product, then bias");
    free(px);
    free(pw);
    free(pb);
    free(got);
  }
}

static void test_dtypes(void)
{
  tn_with_scope {
    const int64_t a[] = { 1, 2, INT64_MAX, 4 }, b[] = { 2, 0, 1, -3 };
    tn_tensor *p = tn_from_data(a, TN_SHAPE(2, 2), .device = device,
                                .dtype = TN_I64);
    tn_tensor *q = tn_from_data(b, TN_SHAPE(2, 2), .device = device,
                                .dtype = TN_I64);
    int64_t y[4] = { 0 };
    tn_read(tn_mm(p, q), y, sizeof y);
    tap_ok(y[0] == 4 && y[1] == -6 && y[2] == 2 && y[3] == -12,
           "N4 mm: integers wrap");
  }
}

static void test_f64(void)
{
  tn_device_info info;
  if (tn_device_get_info(device, &info) != TN_OK || !info.f64) {
    tap_skip("N1 no f64");
    return;
  }
  tn_with_scope {
    double a[6], b[6], y[4] = { 0 };
    int bad = 0;
    for (int i = 0; i < 6; i++) {
      a[i] = (double)next_float() / 3;
      b[i] = (double)next_float() / 7;
    }
    tn_tensor *p = tn_from_data(a, TN_SHAPE(2, 3), .device = device,
                                .dtype = TN_F64);
    tn_tensor *q = tn_from_data(b, TN_SHAPE(3, 2), .device = device,
                                .dtype = TN_F64);
    tn_read(tn_matmul(p, q), y, sizeof y);
    for (int e = 0; e < 4; e++)
      bad += y[e] != ref_product_f64(a + e / 2 * 3, 1, b + e % 2, 2, 3);
    tap_is_int(bad, 0, "N1 matmul: f64");
  }
}

static void test_refusals(void)
{
  tn_with_scope {
    tn_tensor *a = random_tensor(TN_SHAPE(2, 3), false);
    tn_tensor *b = random_tensor(TN_SHAPE(4, 5), false);
    tn_tensor *none = random_tensor(TN_SCALAR, false);
    tn_tensor *other = tn_empty(TN_SHAPE(3, 2), .device = device,
                                .dtype = TN_I64);
    tap_ok(!tn_matmul(a, b) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 matmul: inner sizes differ");
    tap_is_text(tn_error_message(), "matmul: shapes [2, 3] and [4, 5]: 3 "
                "columns meet 4 rows", "T2 matmul: the message");
    tap_ok(!tn_matmul(a, other) && tn_last_status() == TN_DTYPE_MISMATCH,
           "T2 matmul: dtypes differ");
    tap_ok(!tn_matmul(none, a) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 matmul: a tensor without dimensions");
    tap_ok(!tn_bmm(a, b) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 bmm: needs three dimensions");
    tap_ok(!tn_linear(a, b, NULL) && tn_last_status() == TN_SHAPE_MISMATCH,
           "T2 linear: sizes differ");
    tn_clear_error();
    tap_ok(!tn_matmul(NULL, a) && tn_last_status() == TN_OK,
           "T2 matmul: NULL is passed on");
  }
}

int main(void)
{
  device = test_device();
  test_shapes(false, false);
  test_shapes(true, false);
  test_shapes(false, true);
  test_shapes(true, true);
  test_empty_sum();
  test_linear();
  test_dtypes();
  test_f64();
  test_refusals();
  return tap_done();
}
