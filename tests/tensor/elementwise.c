/* Operations element by element: values, dtypes, broadcasting, layouts, forms
 * and refusals (rules T2, T3, T6, T7, N1, N4, R24, R35). */
#include "config.h"

#include "tests/test_device.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/tap.h"
#include "tests/tensor/values.h"

static tn_device device;
static tn_dtype widest; /* that the device has */

static bool is_here(tn_dtype dtype)
{
  return dtype != TN_F64 || widest == TN_F64;
}

static tn_tensor *vector(tn_dtype dtype, const double *values, int count)
{
  return values_tensor(device, dtype, TN_SHAPE(count), values);
}

/* ---- integers ---- */

static void test_division(void)
{
  tn_tensor *a = vector(TN_I64, VALUES(-7, 7, -1, -7));
  tn_tensor *b = vector(TN_I64, VALUES(2, -2, 2, -2));
  tap_ok(values_are(tn_floor_divide(a, b), VALUES(-4, -4, -1, 3)),
         "R35 floor division rounds down");
  tap_ok(values_are(tn_remainder(a, b), VALUES(1, -1, 1, -1)),
         "R35 a remainder has the sign of the divisor");
  static double x[256], y[256], whole[256], rest[256];
  for (int i = 0; i < 256; i++) {
    x[i] = i % 16 - 8;
    y[i] = i / 16 - 8;
    whole[i] = y[i] != 0 ? floor(x[i] / y[i]) : 0;
    rest[i] = x[i] - whole[i] * y[i];
  }
  a = vector(TN_I32, x, 256);
  b = vector(TN_I32, y, 256);
  tap_ok(values_are(tn_floor_divide(a, b), whole, 256),
         "R35 all small pairs, 0 for x / 0");
  tap_ok(values_are(tn_remainder(a, b), rest, 256),
         "R35 q b + r = a for all of them");
  const double least = INT32_MIN;
  a = vector(TN_I32, VALUES(least, least, 5));
  b = vector(TN_I32, VALUES(-1, 0, 0));
  tap_ok(values_are(tn_floor_divide(a, b), VALUES(least, 0, 0)) &&
             values_are(tn_remainder(a, b), VALUES(0, least, 5)),
         "N4 R35 INT_MIN / -1 and x / 0");
  tap_ok(values_are(tn_floor_divide_scalar(a, -1), VALUES(least, least, -5)),
         "N4 R35 the same with a number");
  tap_ok(values_are(tn_abs(a), VALUES(least, least, 5)) &&
             values_are(tn_add_scalar(a, -1),
                        VALUES(INT32_MAX, INT32_MAX, 4)),
         "N4 integers wrap");
  a = vector(TN_U8, VALUES(200, 7, 0));
  tap_ok(values_are(tn_add(a, a), VALUES(144, 14, 0)) &&
             values_are(tn_neg(a), VALUES(56, 249, 0)) &&
             values_are(tn_floor_divide_scalar(a, 3), VALUES(66, 2, 0)),
         "N4 u8 wraps too");
  tap_ok(values_are(tn_pow(vector(TN_I64, VALUES(2, -3, 1, -1, 5)),
                           vector(TN_I64, VALUES(10, 3, -4, -3, -1))),
                    VALUES(1024, -27, 1, -1, 0)),
         "N4 powers of integers");
}

/* ---- floats ---- */

static void test_float_division(void)
{
  tn_tensor *a = vector(TN_F32, VALUES(7, -7, 7, -7, 1, 0, -0.5, INFINITY));
  tn_tensor *b = vector(TN_F32, VALUES(2, 2, -2, -2, 0, 0, 2, 3));
  tap_ok(values_are(tn_floor_divide(a, b),
                    VALUES(3, -4, -4, 3, INFINITY, NAN, -1, NAN)),
         "N4 R35 floor division of floats");
  tap_ok(values_are(tn_remainder(a, b),
                    VALUES(1, 1, -1, -1, NAN, NAN, 1.5, NAN)),
         "N4 R35 remainders of floats");
  tap_ok(values_are(tn_div(vector(TN_I64, VALUES(7, -7)),
                           vector(TN_I64, VALUES(2, 2))), VALUES(3.5, -3.5)),
         "N4 integers divided are f32");
}

static void test_nan(void)
{
  tn_tensor *a = vector(TN_F32, VALUES(NAN, 1, 2, 3));
  tn_tensor *b = vector(TN_F32, VALUES(1, NAN, 3, 2));
  tap_ok(values_are(tn_maximum(a, b), VALUES(NAN, NAN, 3, 3)) &&
             values_are(tn_minimum(a, b), VALUES(NAN, NAN, 2, 2)),
         "N4 a NaN on either side wins");
  tap_ok(values_are(tn_relu(a), VALUES(NAN, 1, 2, 3)) &&
             values_are(tn_clamp(a, 1.5, 2.5), VALUES(NAN, 1.5, 2, 2.5)),
         "N4 relu and clamp keep a NaN");
  tap_ok(values_are(tn_clamp(a, -INFINITY, 2), VALUES(NAN, 1, 2, 2)),
         "N4 clamp without a lower bound");
  tap_ok(values_are(tn_isnan(a), VALUES(1, 0, 0, 0)) &&
             values_are(tn_isnan(vector(TN_I32, VALUES(1, 2))),
                        VALUES(0, 0)), "N4 isnan");
}

static void test_comparisons(void)
{
  tn_tensor *a = vector(widest, VALUES(1, 2, 3, NAN));
  tn_tensor *b = vector(widest, VALUES(2, 2, 2, NAN));
  tap_ok(values_are(tn_eq(a, b), VALUES(0, 1, 0, 0)), "N4 eq");
  tap_ok(values_are(tn_ne(a, b), VALUES(1, 0, 1, 1)), "N4 ne");
  tap_ok(values_are(tn_lt(a, b), VALUES(1, 0, 0, 0)), "N4 lt");
  tap_ok(values_are(tn_le(a, b), VALUES(1, 1, 0, 0)), "N4 le");
  tap_ok(values_are(tn_gt(a, b), VALUES(0, 0, 1, 0)), "N4 gt");
  tap_ok(values_are(tn_ge(a, b), VALUES(0, 1, 1, 0)), "N4 ge");
  tap_ok(tn_dtype_of(tn_lt(a, b)) == TN_BOOL, "N4 their result is bool");
  tn_tensor *u = vector(TN_U8, VALUES(0, 255));
  tap_ok(values_are(tn_gt_scalar(u, -1), VALUES(1, 1)) &&
             values_are(tn_lt_scalar(u, 256), VALUES(1, 1)) &&
             values_are(tn_eq_scalar(u, 255), VALUES(0, 1)) &&
             values_are(tn_lt_scalar(u, 0.5), VALUES(1, 0)),
         "N4 with numbers that the dtype has not");
  tap_ok(values_are(tn_logical_and(a, tn_sub(b, b)), VALUES(0, 0, 0, 1)) &&
             values_are(tn_logical_or(u, u), VALUES(0, 1)) &&
             values_are(tn_logical_xor(u, tn_logical_not(u)), VALUES(1, 1)) &&
             values_are(tn_logical_not(u), VALUES(1, 0)),
         "N4 logic takes any dtype");
  tap_ok(values_are(tn_lt_(tn_clone(a), b), VALUES(1, 0, 0, 0)),
         "N4 in place the dtype stays");
}

static void test_choice(void)
{
  tn_tensor *c = values_tensor(device, TN_BOOL, TN_SHAPE(2, 1),
                               (double[]){ 1, 0 });
  tn_tensor *a = vector(TN_I32, VALUES(1, 2, 3));
  tn_tensor *b = values_tensor(device, TN_F32, TN_SCALAR,
                               (double[]){ 0.5 });
  tn_tensor *y = tn_where(c, a, b);
  tap_ok(values_are(y, VALUES(1, 2, 3, 0.5, 0.5, 0.5)) &&
             tn_dtype_of(y) == TN_F32, "N4 where broadcasts and promotes");
  tap_ok(values_are(tn_masked_fill(a, c, 9), VALUES(9, 9, 9, 1, 2, 3)),
         "N4 masked_fill broadcasts");
  tn_tensor *m = values_tensor(device, widest, TN_SHAPE(2, 2),
                               (double[]){ 1, 2, 3, 4 });
  tap_ok(values_are(tn_masked_fill_(tn_transpose(m, 0, 1), c, -1),
                    VALUES(-1, -1, 2, 4)) &&
             values_are(m, VALUES(-1, 2, -1, 4)),
         "N4 masked_fill_ of a transposed view");
  tn_clear_error();
  tap_ok(!tn_where(a, a, a) && tn_last_status() == TN_DTYPE_MISMATCH,
         "N4 a condition is bool: %s", tn_error_message());
}

/* ---- dtypes ---- */

static void test_promotion(void)
{
  static const struct { tn_dtype a, b, sum; } pairs[] = {
    { TN_F32, TN_F64, TN_F64 },  { TN_I64, TN_F32, TN_F32 },
    { TN_U8, TN_I32, TN_I32 },   { TN_BOOL, TN_U8, TN_U8 },
    { TN_BOOL, TN_BOOL, TN_BOOL }, { TN_I32, TN_I64, TN_I64 },
  };
  bool good = true;
  for (size_t i = 0; i < sizeof pairs / sizeof *pairs; i++)
    good &= !is_here(pairs[i].sum) ||
            tn_dtype_of(tn_add(vector(pairs[i].a, VALUES(1)),
                               vector(pairs[i].b, VALUES(1)))) ==
              pairs[i].sum;
  tap_ok(good, "N4 dtypes are promoted");
  tn_tensor *i32 = vector(TN_I32, VALUES(3, 4));
  tn_tensor *one = tn_full(TN_SCALAR, 1, .dtype = widest, .device = device);
  tn_tensor *f32 = vector(TN_F32, VALUES(3, 4));
  tap_ok(tn_dtype_of(tn_add(f32, one)) == TN_F32,
         "N4 a tensor without dimensions of the same kind does not count");
  tap_ok(tn_dtype_of(tn_add_scalar(i32, 1)) == TN_I32 &&
             tn_dtype_of(tn_add_scalar(i32, 0.5)) == TN_F32 &&
             tn_dtype_of(tn_mul_scalar(tn_eq(i32, i32), 2)) == TN_I64,
         "N4 nor does a whole number of an integer");
  tap_ok(tn_dtype_of(tn_sqrt(i32)) == TN_F32 &&
             values_are(tn_sqrt(i32), VALUES(sqrtf(3), 2)),
         "N4 functions make f32 of integers");
  tap_ok(values_are(tn_floor(i32), VALUES(3, 4)) &&
             tn_dtype_of(tn_floor(i32)) == TN_I32, "N4 floor does not");
  tn_clear_error();
  tap_ok(!tn_sub(tn_eq(i32, i32), tn_eq(i32, i32)) &&
             tn_last_status() == TN_DTYPE_MISMATCH, "N4 no bool - bool: %s",
         tn_error_message());
  tap_ok(values_are(tn_add(tn_eq_scalar(i32, 3), tn_eq_scalar(i32, 4)),
                    VALUES(1, 1)) &&
             values_are(tn_mul(tn_eq_scalar(i32, 3), tn_eq_scalar(i32, 4)),
                        VALUES(0, 0)), "N4 bool + bool is or, times is and");
}

/* ---- layouts ---- */

static uint64_t state;

static int64_t below(int64_t n)
{
  state = state * 6364136223846793005 + 1442695040888963407;
  return (int64_t)(state >> 33) % n;
}

/* Of up to five dimensions, with elements anywhere: a part of a permuted
 * tensor. sizes: of the result. */
static tn_tensor *scattered(tn_dtype dtype, const int64_t *sizes, int ndim)
{
  int64_t whole[TN_DIMS_MAX], back[TN_DIMS_MAX], order[TN_DIMS_MAX];
  static double values[VALUES_MAX];
  int64_t count = 1;
  for (int i = 0; i < ndim; i++) order[i] = i;
  for (int i = ndim - 1; i > 0; i--) {
    int64_t j = below(i + 1), kept = order[i];
    order[i] = order[j];
    order[j] = kept;
  }
  for (int i = 0; i < ndim; i++) {
    whole[i] = sizes[order[i]] + below(2);
    back[order[i]] = i;
    count *= whole[i];
  }
  for (int64_t i = 0; i < count; i++) values[i] = (double)(below(19) - 9);
  tn_tensor *t = values_tensor(device, dtype, (tn_shape){ whole, ndim },
                               values);
  t = tn_permute(t, (tn_shape){ back, ndim });
  for (int i = 0; i < ndim; i++)
    t = tn_narrow(t, i, tn_size(t, i) - sizes[i], sizes[i]);
  return t;
}

typedef tn_tensor *two_function(tn_tensor *, tn_tensor *);
static const struct { const char *name; two_function *call; } twos[] = {
  { "add", tn_add }, { "sub", tn_sub }, { "mul", tn_mul },
  { "div", tn_div }, { "floor_divide", tn_floor_divide },
  { "remainder", tn_remainder }, { "maximum", tn_maximum },
  { "lt", tn_lt }, { "ne", tn_ne }, { "pow", tn_pow },
};

/* The same bits as of contiguous copies that have the whole shape. */
static void test_layouts(void)
{
  static const tn_dtype dtypes[] = { TN_F32, TN_I64, TN_U8, TN_F64, TN_I32 };
  for (size_t k = 0; k < sizeof twos / sizeof *twos; k++) {
    bool good = true;
    for (int turn = 0; turn < 6; turn++) tn_with_scope {
      int64_t a_sizes[5], b_sizes[5], shape[5];
      int ndim = 1 + (int)below(5), fewer = (int)below(ndim);
      for (int i = 0; i < ndim; i++) {
        shape[i] = 1 + below(3);
        a_sizes[i] = below(4) ? shape[i] : 1;
        b_sizes[i] = i < fewer || a_sizes[i] == 1 || below(4) ? shape[i] : 1;
        if (i < fewer) a_sizes[i] = shape[i];
      }
      tn_dtype dtype = dtypes[(size_t)turn % 5];
      if (!is_here(dtype)) dtype = TN_F32;
      tn_tensor *a = scattered(dtype, a_sizes, ndim);
      tn_tensor *b = scattered(dtype, b_sizes + fewer, ndim - fewer);
      tn_shape whole = { shape, ndim };
      tn_tensor *y = twos[k].call(a, b);
      tn_tensor *z = twos[k].call(tn_contiguous(tn_expand(a, whole)),
                                  tn_contiguous(tn_expand(b, whole)));
      good &= values_same(y, z);
    }
    tap_ok(good, "N1 %s: layouts do not change the bits", twos[k].name);
  }
}

static tn_tensor *sloped(tn_dtype dtype)
{
  tn_tensor *t = tn_arange(-6.0, 6.0, 0.25, .device = device,
                           .dtype = widest);
  return tn_transpose(tn_reshape(tn_to(t, .dtype = dtype), TN_SHAPE(6, 8)),
                      0, 1);
}

typedef tn_tensor *one_function(tn_tensor *);
#define ROW(name) { #name, tn_##name, tn_##name##_, tn_##name##_out },
static const struct {
  const char *name;
  one_function *call, *in_place;
  two_function *out;
} ones[] = { TN_UNARY_MAP(ROW) };

/* Of a transposed argument: in place, out, and new, the same. */
static void test_functions(void)
{
  static const tn_dtype dtypes[] = { TN_F32, TN_F64 };
  for (size_t k = 0; k < sizeof ones / sizeof *ones; k++) tn_with_scope {
    bool good = true;
    for (int d = 0; d < 2 && is_here(dtypes[d]); d++) {
      tn_tensor *x = sloped(dtypes[d]);
      tn_tensor *y = ones[k].call(x), *z = tn_clone(x);
      tn_tensor *out = tn_transpose(tn_empty(TN_SHAPE(6, 8), .device = device,
                                             .dtype = dtypes[d]), 0, 1);
      good &= values_same(y, ones[k].call(tn_contiguous(x)));
      good &= ones[k].in_place(z) == z && values_same(y, z);
      good &= ones[k].out(out, x) == out && values_same(y, out);
    }
    tap_ok(good, "N1 %s: new, in place and out, transposed or not",
           ones[k].name);
  }
}

static double exact_gelu(double x)
{
  return 0.5 * x * (1 + erf(x / sqrt(2)));
}
static double exact_silu(double x) { return x / (1 + exp(-x)); }
static double exact_sigmoid(double x) { return 1 / (1 + exp(-x)); }
static double exact_rsqrt(double x) { return 1 / sqrt(x); }
static double exact_sign(double x) { return (x > 0) - (x < 0); }

static void test_values(void)
{
  static const struct {
    const char *name;
    one_function *call;
    double (*exact)(double);
  } known[] = {
    { "exp", tn_exp, exp }, { "expm1", tn_expm1, expm1 },
    { "log", tn_log, log }, { "log1p", tn_log1p, log1p },
    { "sqrt", tn_sqrt, sqrt }, { "rsqrt", tn_rsqrt, exact_rsqrt },
    { "sin", tn_sin, sin }, { "cos", tn_cos, cos }, { "tan", tn_tan, tan },
    { "tanh", tn_tanh, tanh }, { "erf", tn_erf, erf },
    { "sigmoid", tn_sigmoid, exact_sigmoid }, { "gelu", tn_gelu, exact_gelu },
    { "silu", tn_silu, exact_silu }, { "floor", tn_floor, floor },
    { "ceil", tn_ceil, ceil }, { "round", tn_round, rint },
    { "abs", tn_abs, fabs }, { "sign", tn_sign, exact_sign },
  };
  for (size_t k = 0; k < sizeof known / sizeof *known; k++) tn_with_scope {
    bool good = true;
    for (int d = 0; d < (is_here(TN_F64) ? 2 : 1); d++) {
      static double x[VALUES_MAX], y[VALUES_MAX];
      tn_tensor *t = sloped(d ? TN_F64 : TN_F32);
      int count = values_read(t, x);
      good &= count == 48 && values_read(known[k].call(t), y) == count;
      for (int i = 0; i < count; i++) {
        double want = known[k].exact(x[i]);
        double most = (d ? 1e-15 : 5e-7) * (fabs(want) + fabs(x[i]) * 0.1);
        good &= isnan(want) ? isnan(y[i])
                            : want == y[i] || fabs(y[i] - want) <= most;
      }
    }
    tap_ok(good, "N3 %s has the values of its name", known[k].name);
  }
}

/* ---- forms ---- */

static void test_numbers(void)
{
  tn_tensor *x = sloped(TN_F32);
  tn_tensor *two = tn_full(TN_SCALAR, 2.5, .device = device);
  tap_ok(values_same(tn_add_scalar(x, 2.5), tn_add(x, two)) &&
             values_same(tn_sub_scalar(x, 2.5), tn_sub(x, two)) &&
             values_same(tn_mul_scalar(x, 2.5), tn_mul(x, two)) &&
             values_same(tn_div_scalar(x, 2.5), tn_div(x, two)),
         "N1 a number is a tensor of one element");
  tap_ok(values_same(tn_rsub_scalar(x, 2.5), tn_sub(two, x)) &&
             values_same(tn_rdiv_scalar(x, 2.5), tn_div(two, x)) &&
             values_same(tn_rpow_scalar(x, 2.5), tn_pow(two, x)),
         "N1 before it, too");
  tap_ok(values_same(tn_pow_scalar(x, 2), tn_mul(x, x)) &&
             values_same(tn_pow_scalar(x, -1), tn_reciprocal(x)) &&
             values_same(tn_pow_scalar(x, 2.5), tn_pow(x, two)),
         "N1 powers");
  tap_ok(values_same(tn_add_alpha(x, x, 2), tn_mul_scalar(x, 3)) &&
             values_same(tn_sub_alpha(x, x, 0.5), tn_mul_scalar(x, 0.5)),
         "N1 alpha");
  tn_tensor *y = tn_clone(x);
  tap_ok(tn_add_(y, two) == y && values_same(y, tn_add(x, two)) &&
             tn_mul_scalar_(y, 2) == y &&
             values_same(y, tn_mul_scalar(tn_add(x, two), 2)),
         "N1 in place");
  tn_tensor *i64 = vector(TN_I64, VALUES(1, 2));
  tap_ok(tn_add_(i64, vector(TN_I32, VALUES(5, 6))) == i64 &&
             values_are(i64, VALUES(6, 8)), "N4 in place a narrower dtype");
  tn_tensor *out = tn_empty(TN_SHAPE(2), .dtype = widest, .device = device);
  tap_ok(tn_add_out(out, i64, i64) == out && values_are(out, VALUES(12, 16)),
         "N4 out of a wider dtype");
}

static void test_refusals(void)
{
  tn_tensor *a = vector(TN_I32, VALUES(1, 2, 3));
  tn_tensor *b = vector(TN_F32, VALUES(1, 2, 3));
  tn_tensor *wide = tn_zeros(TN_SHAPE(2, 4), .device = device);
  tn_clear_error();
  tap_ok(!tn_add(wide, b) && tn_last_status() == TN_SHAPE_MISMATCH,
         "T6 shapes: %s", tn_error_message());
  tap_ok(!tn_add_(a, b) && tn_last_status() == TN_DTYPE_MISMATCH,
         "N4 f32 does not go into i32: %s", tn_error_message());
  tap_ok(!tn_add_(b, tn_zeros(TN_SHAPE(2, 3), .device = device)) &&
             tn_last_status() == TN_SHAPE_MISMATCH,
         "T6 in place the shape stays: %s", tn_error_message());
  tap_ok(values_are(a, VALUES(1, 2, 3)) && values_are(b, VALUES(1, 2, 3)),
         "T6 and nothing was changed");
  tap_ok(!tn_add_out(wide, b, b) && tn_last_status() == TN_SHAPE_MISMATCH,
         "T6 out has the result's shape: %s", tn_error_message());
  tap_ok(!tn_add_alpha(a, a, 0.5) &&
             tn_last_status() == TN_INVALID_ARGUMENT, "N4 %s",
         tn_error_message());
  tap_ok(!tn_pow_scalar(a, -2) && tn_last_status() == TN_INVALID_ARGUMENT,
         "N4 %s", tn_error_message());
  tn_clear_error();
  tap_ok(!tn_add(NULL, a) && !tn_exp(NULL) && !tn_mul_(a, NULL) &&
             tn_last_status() == TN_OK,
         "T6 NULL gives NULL and leaves the error as it is");
}

static void test_devices(void)
{
  tn_tensor *a = vector(TN_F32, VALUES(1, 2, 3));
  tn_tensor *one = tn_full(TN_SCALAR, 1, .device = tn_device_of("cpu"));
  tn_tensor *y = tn_add(one, a);
  tap_ok(values_are(y, VALUES(2, 3, 4)) &&
             tn_device_equal(tn_device_of_tensor(y), device),
         "T2 T3 a 0-dimensional cpu tensor combines with any device");
  tn_device other = test_second_device();
  if (tn_device_equal(other, (tn_device){ 0, 0 }) ||
      tn_peer_access_enabled(device, other)) {
    tap_skip("T3 there is one device");
    return;
  }
  tn_tensor *far = tn_ones(TN_SHAPE(3), .device = other);
  tn_clear_error();
  tap_ok(!tn_add(a, far) && tn_last_status() == TN_DEVICE_MISMATCH,
         "T3 two devices: %s", tn_error_message());
}

static void test_overlap(void)
{
  tn_tensor *x = tn_full(TN_SHAPE(1), 0.75, .device = device);
  tn_tensor *wide = tn_expand(x, TN_SHAPE(3));
  float c = cosf(0.75f);
  tap_ok(tn_numel(tn_cos(wide)) == 3 &&
             fabs(tn_item(tn_select(tn_cos(wide), 0, 2)) - (double)c) < 1e-6,
         "R24 an expanded tensor is an argument like others");
  tn_clear_error();
  tap_ok(!tn_cos_(wide) && tn_last_status() == TN_OVERLAP,
         "T7 R24 it is not changed in place: %s", tn_error_message());
  tap_ok(!tn_add_(wide, wide) && !tn_add_scalar_(wide, 1) &&
             !tn_add_out(wide, wide, wide) &&
             tn_last_status() == TN_OVERLAP,
         "T7 R24 by no operation");
  tap_ok(values_are(x, VALUES(0.75)), "T7 R24 and stays as it was");
  tn_tensor *t = tn_arange(0, 10, 1, .device = device);
  tn_add_(tn_narrow(t, 0, 1, 9), tn_narrow(t, 0, 0, 9));
  tap_ok(values_are(t, VALUES(0, 1, 3, 5, 7, 9, 11, 13, 15, 17)),
         "T7 operands that overlap the result are taken as they were");
}

static void test_empty(void)
{
  size_t before = tn_memory_allocated(device);
  tn_tensor *none = tn_zeros(TN_SHAPE(0, 3), .device = device);
  tn_tensor *y = tn_exp(tn_add(none, tn_mul_scalar(none, 2)));
  tap_ok(y && tn_numel(y) == 0 && tn_size(y, 1) == 3 &&
             tn_memory_allocated(device) == before,
         "T6 empty tensors work and take no memory");
}

static void in_scope(void (*test)(void))
{
  tn_with_scope { test(); }
}

int main(void)
{
  device = test_device();
  widest = values_widest(device);
  size_t before = tn_memory_allocated(device);
  const char *given = getenv("TN_TEST_SEED");
  state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
  tap_note("TN_TEST_SEED=%" PRIu64, state);
  in_scope(test_division);
  in_scope(test_float_division);
  in_scope(test_nan);
  in_scope(test_comparisons);
  in_scope(test_choice);
  in_scope(test_promotion);
  test_layouts();
  test_functions();
  test_values();
  in_scope(test_numbers);
  in_scope(test_refusals);
  in_scope(test_devices);
  in_scope(test_overlap);
  in_scope(test_empty);
  tap_is_int((long long)(tn_memory_allocated(device) - before), 0,
             "M2 no memory of the device is left");
  return tap_done();
}
