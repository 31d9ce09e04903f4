/* Public fault reports about tensors (R rows of the behaviours), by kind: each
 * is a fault that somebody met in a system like this one. */
#include "config.h"

#include "tests/test_device.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device;

/* Makes tensors on the device from doubles. */
static tn_tensor *made(tn_dtype dtype, tn_shape shape, const double *values)
{
  int64_t n = 1;
  for (int i = 0; i < shape.ndim; i++) n *= shape.sizes[i];
  union { float f32[64]; double f64[64]; int64_t i64[64]; int32_t i32[64]; }
  data;
  for (int64_t i = 0; i < n; i++)
    if (dtype == TN_F32) data.f32[i] = (float)values[i];
    else if (dtype == TN_I64) data.i64[i] = (int64_t)values[i];
    else if (dtype == TN_I32) data.i32[i] = (int32_t)values[i];
    else data.f64[i] = values[i];
  return tn_from_data(&data, shape, .dtype = dtype, .device = device);
}

static double read_at(const void *data, tn_dtype dtype, int64_t i)
{
  switch (dtype) {
  case TN_F32: return (double)((const float *)data)[i];
  case TN_F64: return ((const double *)data)[i];
  case TN_I32: return ((const int32_t *)data)[i];
  case TN_I64: return (double)((const int64_t *)data)[i];
  default: return ((const uint8_t *)data)[i];
  }
}

/* All values, NaN being one; what differs is shown. */
static bool has(tn_tensor *t, const double *wanted, int64_t n)
{
  double data[512];
  tn_dtype dtype = tn_dtype_of(t);
  size_t bytes = (size_t)n * tn_dtype_size(dtype);
  if (!t || tn_numel(t) != n || bytes > sizeof data ||
      tn_read(t, data, bytes) != TN_OK) {
    tap_note("%s; %lld elements for %lld", tn_error_message(),
             t ? (long long)tn_numel(t) : -1, (long long)n);
    return false;
  }
  for (int64_t i = 0; i < n; i++) {
    double got = read_at(data, dtype, i);
    if (got == wanted[i] || (isnan(got) && isnan(wanted[i]))) continue;
    tap_note("element %lld is %g, not %g", (long long)i, got, wanted[i]);
    return false;
  }
  return true;
}

#define HAS(t, ...)                                            \
  has(t, (const double[]){ __VA_ARGS__ },                      \
      (int64_t)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double)))
#define F32(shape, ...) \
  made(TN_F32, shape, (const double[]){ __VA_ARGS__ })
#define I64(shape, ...) \
  made(TN_I64, shape, (const double[]){ __VA_ARGS__ })
#define I32(shape, ...) \
  made(TN_I32, shape, (const double[]){ __VA_ARGS__ })

static tn_tensor *numbers(int64_t n)
{
  return tn_arange(0, (double)n, 1, .dtype = TN_F32, .device = device);
}

static bool refused(const void *result, tn_status status)
{
  if (!result && tn_last_status() == status) return true;
  tap_note("%s: %s", tn_status_name(tn_last_status()), tn_error_message());
  return false;
}

/* ---- sizes ---- */

static void test_overflow(void)
{
  int64_t big = INT64_C(1) << 62, half = INT64_C(1) << 32;
  tap_ok(refused(tn_empty(TN_SHAPE(half, half), .device = device),
                 TN_SIZE_OVERFLOW), "R20 2^32 x 2^32 elements: overflow");
  tap_ok(refused(tn_empty(TN_SHAPE(big, 4), .device = device,
                          .dtype = TN_U8), TN_SIZE_OVERFLOW),
         "R20 2^62 x 4 bytes: overflow");
  tn_tensor *none = tn_empty(TN_SHAPE(0, big, 4), .device = device);
  tap_ok(none && tn_numel(none) == 0, "R20 0 x 2^62 x 4 is empty");
  tn_tensor *x = numbers(8);
  tap_ok(refused(tn_as_strided(x, TN_SHAPE(big), TN_SHAPE(8), 0),
                 TN_SIZE_OVERFLOW), "R20 sums of strides overflow too");
  tap_ok(!tn_as_strided(x, TN_SHAPE(2), TN_SHAPE(INT64_MAX), 0),
         "R20 or reach beyond the memory");
  tap_ok(refused(tn_expand(tn_empty(TN_SHAPE(1, 1), .device = device),
                           TN_SHAPE(half, half)), TN_SIZE_OVERFLOW),
         "R20 a view of too many elements: overflow");
  tap_ok(!tn_narrow(x, 0, 1, INT64_MAX) && !tn_narrow(x, 0, INT64_MAX, 1),
         "R64 narrow: bounds near the largest number are refused");
  tn_tensor *tail = tn_slice(x, 0, 7, INT64_MAX, INT64_MAX);
  tap_ok(tail && HAS(tail, 7), "R64 slice: a step of the largest number");
}

/* Of 2^31 - 1, 2^31 and one more; without memory of their own. */
static void test_limits(void)
{
  for (int64_t n = INT32_MAX; n <= INT64_C(2) + INT32_MAX; n++) {
    tn_tensor *wide = tn_expand(tn_ones(TN_SHAPE(1), .device = device),
                                TN_SHAPE(n));
    tn_tensor *rows = tn_expand(tn_ones(TN_SHAPE(1, 2), .device = device),
                                TN_SHAPE(n, 2));
    tap_ok(tn_numel(wide) == n && tn_numel(rows) == 2 * n &&
               HAS(tn_slice(wide, 0, n - 2, TN_END, 1), 1, 1) &&
               HAS(tn_slice(wide, 0, 0, n, n - 1), 1, 1) &&
               HAS(tn_select(wide, 0, n - 1), 1) &&
               HAS(tn_narrow(rows, 0, n - 1, 1), 1, 1) &&
               HAS(tn_select(tn_select(rows, 0, -1), 0, 1), 1),
           "R64 the last elements of %lld", (long long)n);
    tap_ok(!tn_select(wide, 0, n) && !tn_narrow(wide, 0, n - 1, 2) &&
               !tn_as_strided(tn_ones(TN_SHAPE(2), .device = device),
                              TN_SHAPE(2), TN_SHAPE(n), 0) &&
               refused(tn_eye(n, .device = device), TN_SIZE_OVERFLOW),
           "R64 what is beyond, and %lld times as many, is refused",
           (long long)n);
  }
  tn_tensor *x = tn_reshape(numbers(4), TN_SHAPE(2, 2));
  tap_ok(HAS(tn_tril(x, INT64_MAX), 0, 1, 2, 3) &&
             HAS(tn_tril(x, INT64_MIN), 0, 0, 0, 0) &&
             HAS(tn_triu(x, INT64_MIN), 0, 1, 2, 3) &&
             HAS(tn_triu(x, INT64_MAX), 0, 0, 0, 0) &&
             HAS(tn_triu(x, INT32_MIN), 0, 1, 2, 3) &&
             HAS(tn_tril(x, INT32_MAX), 0, 1, 2, 3),
         "R64 diagonals as far away as there are numbers");
  tap_ok(!tn_sum_dim(x, INT32_MAX, false) && !tn_sum_dim(x, INT32_MIN, true) &&
             !tn_arange(0, 1e30, 1.0, .device = device) &&
             !tn_one_hot(I64(TN_SHAPE(1), 0), INT64_MAX),
         "R64 dimensions, counts and classes likewise");
  tn_clear_error();
}

static void test_empty(void)
{
  size_t before = tn_memory_allocated(device);
  tn_tensor *x = tn_empty(TN_SHAPE(0), .device = device);
  tn_tensor *y = tn_empty(TN_SHAPE(3, 0), .device = device);
  tap_ok(tn_memory_allocated(device) == before,
         "R21 empty tensors allocate nothing");
  tn_tensor *z = numbers(4), *part = tn_slice(z, 0, 2, 2, 1);
  tap_ok(part && tn_numel(part) == 0, "R21 an empty slice");
  tap_ok(tn_copy_(part, x) == part && tn_add(x, x) && tn_exp_(x) &&
         tn_clone(y) && tn_contiguous(tn_transpose(y, 0, 1)),
         "R21 is copied, added, cloned");
  tap_ok(HAS(tn_sum(x), 0) && HAS(tn_sum_dim(y, 1, false), 0, 0, 0) &&
         HAS(tn_prod(x), 1), "R21 its sum is 0, its product 1");
  tn_tensor *both[] = { x, z };
  tap_ok(HAS(tn_cat(both, 2, 0), 0, 1, 2, 3), "R21 cat with an empty one");
  tn_tensor *a = tn_empty(TN_SHAPE(2, 0), .device = device);
  tap_ok(HAS(tn_matmul(a, tn_empty(TN_SHAPE(0, 2), .device = device)), 0, 0,
             0, 0), "R21 a product over nothing is 0");
  tap_ok(tn_softmax(y, 1) && tn_cumsum(x, 0), "R21 rows of nothing");
}

/* ---- copies ---- */

static void test_overlap(void)
{
  tn_tensor *x = numbers(10);
  tn_copy_(tn_slice(x, 0, 1, TN_END, 1), tn_slice(x, 0, 0, 9, 1));
  tap_ok(HAS(x, 0, 0, 1, 2, 3, 4, 5, 6, 7, 8),
         "R23 T7 a slice shifted onto itself");
  tn_tensor *wide = tn_reshape(numbers(4 * 10 * 35), TN_SHAPE(4, 10, 35));
  tn_tensor *right = tn_clone(wide), *first = NULL;
  tn_copy_(tn_slice(right, 1, 1, TN_END, 1),
           tn_clone(tn_slice(wide, 1, 0, 9, 1)));
  bool same = true;
  for (int i = 0; i < 5; i++) {
    first = tn_clone(wide);
    tn_copy_(tn_slice(first, 1, 1, TN_END, 1), tn_slice(first, 1, 0, 9, 1));
    same = same && tn_item(tn_all(tn_eq(first, right))) == 1;
  }
  tap_ok(same, "R23 along a middle dimension, each time");
  tn_tensor *a = tn_reshape(numbers(16), TN_SHAPE(4, 4));
  tn_tensor *corner = tn_narrow(tn_narrow(a, 0, 0, 3), 1, 0, 3);
  tn_copy_(corner, tn_transpose(corner, 0, 1));
  tap_ok(HAS(tn_contiguous(corner), 0, 4, 8, 1, 5, 9, 2, 6, 10),
         "R47 a square becomes its own transpose");
}

static void test_expanded(void)
{
  tn_tensor *x = F32(TN_SHAPE(1), 0.75), *wide = tn_expand(x, TN_SHAPE(3));
  tap_ok(HAS(tn_add_scalar(wide, 1), 1.75, 1.75, 1.75),
         "R24 out of place an expanded tensor is like others");
  tap_ok(refused(tn_cos_(wide), TN_OVERLAP), "R24 T7 cos_ of it is refused");
  tap_ok(refused(tn_add_scalar_(wide, 1), TN_OVERLAP), "R24 so is add_");
  tap_ok(refused(tn_add_(wide, numbers(3)), TN_OVERLAP),
         "R24 by a tensor too");
  tap_ok(refused(tn_copy_(wide, numbers(3)), TN_OVERLAP),
         "R67 a copy into it is refused");
  tap_ok(refused(tn_fill_(wide, 2), TN_OVERLAP) ||
         HAS(x, 2), "R24 filling it is refused, or right");
  tap_ok(refused(tn_exp_out(wide, numbers(3)), TN_OVERLAP),
         "R24 it is no place for results");
}

static void test_strided_copies(void)
{
  tn_tensor *x = tn_transpose(tn_reshape(numbers(6), TN_SHAPE(2, 3)), 0, 1);
  tn_device other = test_second_device();
  tn_device hosts[] = { tn_device_of("cpu:0"), device, other };
  for (int i = 0; i < 3; i++) {
    if (tn_device_equal(hosts[i], test_host)) continue;
    tn_tensor *there = tn_to(x, .device = hosts[i], .copy = true);
    tn_tensor *into = tn_zeros(TN_SHAPE(3, 2, 2), .device = hosts[i]);
    tap_ok(HAS(there, 0, 3, 1, 4, 2, 5), "R48 to, of a transposed tensor");
    tn_copy_(tn_select(into, 2, 1), x);
    tap_ok(HAS(into, 0, 0, 0, 3, 0, 1, 0, 4, 0, 2, 0, 5),
           "R48 copy_ between different strides");
  }
}

static void test_odd_strides(void)
{
  tn_tensor *x = numbers(6);
  tn_tensor *odd = tn_as_strided(x, TN_SHAPE(1, 6), TN_SHAPE(1000, 1), 0);
  tap_ok(odd && tn_is_contiguous(odd) && tn_view(odd, TN_SHAPE(2, 3)),
         "R61 the stride of one element does not matter");
  tap_ok(HAS(tn_add(odd, odd), 0, 2, 4, 6, 8, 10), "R61 nor to operations");
  tn_tensor *none = tn_as_strided(x, TN_SHAPE(0, 3), TN_SHAPE(77, 5), 0);
  tap_ok(none && tn_is_contiguous(none) && tn_add(none, none),
         "R61 nor do strides of an empty tensor");
}

/* ---- values ---- */

static void test_nan(void)
{
  double nan = (double)NAN, inf = (double)INFINITY;
  tn_tensor *t = F32(TN_SHAPE(4), 3, nan, 1, 5);
  tap_ok(HAS(tn_max(t), nan) && HAS(tn_min(t), nan), "R33 NaN is the maximum "
         "and the minimum");
  tap_ok(HAS(tn_argmax(t), 1) && HAS(tn_argmin(t), 1), "R33 at its place");
  t = F32(TN_SHAPE(3), 1, 2, nan);
  tap_ok(HAS(tn_argmax(t), 2) && HAS(tn_argmin(t), 2), "R33 the last one");
  t = F32(TN_SHAPE(3), inf, nan, -inf);
  tap_ok(HAS(tn_argmax(t), 1) && HAS(tn_argmin(t), 1),
         "R33 beside infinities");
  t = F32(TN_SHAPE(2, 2), nan, nan, nan, nan);
  tap_ok(HAS(tn_argmax(t), 0) && HAS(tn_argmax_dim(t, 0, false), 0, 0) &&
         HAS(tn_argmin_dim(t, 1, false), 0, 0), "R33 the first of many");
  int64_t lengths[] = { 8, 33, 1000, 5000 };
  bool all = true;
  for (int i = 0; i < 4; i++) {
    tn_tensor *row = tn_zeros(TN_SHAPE(2, lengths[i]), .device = device);
    tn_fill_(tn_select(tn_select(row, 0, 1), 0, lengths[i] - 3), nan);
    double at = (double)(lengths[i] - 3);
    all = all && HAS(tn_argmax_dim(row, 1, false), 0, at) &&
          HAS(tn_amin_dim(row, 1, false), 0, nan);
  }
  tap_ok(all, "R33 in long rows too");
  tap_ok(HAS(tn_relu(F32(TN_SHAPE(3), nan, -1, 2)), nan, 0, 2),
         "R62 relu of NaN is NaN");
  tap_ok(HAS(tn_maximum(F32(TN_SHAPE(2), nan, 1), F32(TN_SHAPE(2), 0, nan)),
             nan, nan), "R33 maximum of two takes NaN");
}

static void test_integer_division(void)
{
#define DIVISION(make, name)                                                \
  tap_ok(HAS(tn_floor_divide(make(TN_SHAPE(4), -7, 7, -1, -7),              \
                             make(TN_SHAPE(4), 2, -2, 2, -2)),              \
             -4, -4, -1, 3), "R35 floor division of " name);                \
  tap_ok(HAS(tn_remainder(make(TN_SHAPE(4), -7, 7, -1, -7),                 \
                          make(TN_SHAPE(4), 2, -2, 2, -2)),                 \
             1, -1, 1, -1), "R35 and what remains of " name)
  DIVISION(I32, "i32");
  DIVISION(I64, "i64");
  DIVISION(F32, "f32");
  tn_tensor *a = tn_arange(-128, 128, 1, .dtype = TN_I32, .device = device);
  tn_tensor *b = tn_unsqueeze(
    tn_cat((tn_tensor *[]){ tn_slice(a, 0, 0, 128, 1),
                            tn_slice(a, 0, 129, 256, 1) }, 2, 0), 1);
  tn_tensor *q = tn_floor_divide(a, b), *r = tn_remainder(a, b);
  tap_ok(tn_item(tn_all(tn_eq(tn_add(tn_mul(q, b), r), a))) == 1,
         "R35 quotient and remainder of all 8-bit pairs give a again");
  tn_tensor *least = I32(TN_SHAPE(2), INT32_MIN, 5);
  tn_tensor *by = I32(TN_SHAPE(2), -1, 0);
  tap_ok(HAS(tn_floor_divide(least, by), INT32_MIN, 0) &&
         HAS(tn_remainder(least, by), 0, 5),
         "R35 N4 INT_MIN / -1 and 5 / 0 have a result");
}

static void test_single_value(void)
{
  tn_tensor *x = tn_full(TN_SCALAR, 2.5, .device = device);
  tap_ok(HAS(tn_sum(x), 2.5) && HAS(tn_mean(x), 2.5) && HAS(tn_max(x), 2.5),
         "R38 reductions of a 0-dimensional tensor give it");
  tap_ok(tn_ndim(tn_sum_dim(x, 0, false)) == 0 &&
         tn_ndim(tn_sum_dim(x, -1, true)) == 0 &&
         HAS(tn_argmax_dim(x, 0, false), 0), "R38 along 0 and -1 too");
  tap_ok(refused(tn_sum_dim(x, 1, false), TN_INVALID_ARGUMENT) ||
         tn_last_status() == TN_SHAPE_MISMATCH, "R38 there is no dimension 1");
  tap_ok(tn_ndim(tn_sum(tn_reshape(numbers(6), TN_SHAPE(2, 3)))) == 0,
         "R38 the sum of all has no dimension");
}

/* ---- gradients ---- */

static tn_tensor *leaf(tn_tensor *t)
{
  return tn_requires_grad_(t, true);
}

static void test_broadcast_gradients(void)
{
  tn_tensor *a = leaf(F32(TN_SHAPE(4, 1), 1, 2, 3, 4));
  tn_tensor *b = leaf(F32(TN_SHAPE(1, 4), 5, 6, 7, 8));
  tn_backward(tn_sum(tn_mul(a, b)));
  tap_ok(HAS(tn_grad(a), 26, 26, 26, 26) && tn_ndim(tn_grad(a)) == 2 &&
         HAS(tn_grad(b), 10, 10, 10, 10),
         "R31 B3 gradients are summed back over broadcast dimensions");
  a = leaf(F32(TN_SHAPE(1), 2));
  tn_backward(tn_sum(tn_mul(a, tn_reshape(numbers(8), TN_SHAPE(2, 4)))));
  tap_ok(HAS(tn_grad(a), 28) && tn_ndim(tn_grad(a)) == 1,
         "R31 and over added ones");
  a = leaf(tn_full(TN_SCALAR, 2, .device = device));
  tn_backward(tn_sum(tn_mul(a, numbers(3))));
  tap_ok(HAS(tn_grad(a), 3) && tn_ndim(tn_grad(a)) == 0,
         "R31 to no dimension");
  a = leaf(tn_ones(TN_SHAPE(2, 1, 4, 6), .device = device));
  b = leaf(tn_ones(TN_SHAPE(2, 1, 4, 1), .device = device));
  tn_backward(tn_sum(tn_mul(a, b)));
  tap_ok(HAS(tn_grad(b), 6, 6, 6, 6, 6, 6, 6, 6) && tn_ndim(tn_grad(b)) == 4,
         "R31 in the middle");
}

static void test_relu_gradient(void)
{
  tn_tensor *x = leaf(F32(TN_SHAPE(3), -1, 0, 2));
  tn_backward(tn_sum(tn_relu(x)));
  tap_ok(HAS(tn_grad(x), 0, 0, 1), "R62 relu's gradient at 0 is 0");
}

static void test_versions(void)
{
  tn_tensor *x = numbers(4), *view = tn_slice(x, 0, 0, 2, 1);
  uint64_t before = tn_tensor_version(x);
  tn_add_scalar_(view, 1);
  tap_ok(tn_tensor_version(x) == before + 1 &&
         tn_tensor_version(view) == before + 1,
         "R54 B4 a view shares its tensor's version");
  tn_mul_scalar_(x, 2);
  tap_ok(tn_tensor_version(view) == before + 2, "R54 both ways");
  tap_ok(tn_tensor_version(tn_detach(x)) == before + 2,
         "R54 detach shares it");
  tn_tensor *w = leaf(numbers(4)), *y = tn_exp(w);
  tn_tensor *z = tn_sum(tn_mul(y, y));
  tn_add_scalar_(tn_detach(y), 1);
  tap_is_int(tn_backward(z), TN_MODIFIED_IN_PLACE,
             "R54 B4 what was saved and then changed is refused");
}

/* exp and sigmoid keep their own result for backward. */
static void test_second_derivative(void)
{
  tn_tensor *x = leaf(F32(TN_SHAPE(1), 0)), *first, *second;
  tn_tensor *y = tn_exp(tn_mul_scalar(x, 2));
  bool good = tn_grad_of(&y, 1, &x, 1, &first, .create_graph = true) == TN_OK;
  for (int i = 0; i < 3; i++)
    good = good && tn_grad_of(&first, 1, &x, 1, &second,
                              .retain_graph = true) == TN_OK &&
           HAS(second, 4);
  tap_ok(good, "R68 the second derivative of exp, repeatedly");
}

static void run(void (*test)(void))
{
  tn_with_scope { test(); }
}

int main(void)
{
  device = test_device();
  run(test_overflow);
  run(test_limits);
  run(test_empty);
  run(test_overlap);
  run(test_expanded);
  run(test_strided_copies);
  run(test_odd_strides);
  run(test_nan);
  run(test_integer_division);
  run(test_single_value);
  run(test_broadcast_gradients);
  run(test_relu_gradient);
  run(test_versions);
  run(test_second_derivative);
  return tap_done();
}
