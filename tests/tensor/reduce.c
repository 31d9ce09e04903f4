/* Reductions of tensors: the reference's bits whatever the layout, dtypes of
 * results, empty and 0-dimensional operands (rules N1, N4, R21, R33, R38). */
#include "config.h"

#include "tests/test_device.h"

#include <inttypes.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/numbers_reference.h"
#include "tests/numbers_rows.h"
#include "tests/tap.h"

enum { ROOM = 40000 };

static tn_device device;
static uint64_t state;
static int trials = 40; /* TN_TEST_SMALL: of a device that is emulated */

static int64_t below(int64_t n)
{
  state = state * 6364136223846793005 + 1442695040888963407;
  return (int64_t)((state >> 33) % (uint64_t)n);
}

/* ---- random layouts ---- */

/* A tensor and its elements in row order of dimensions with those that are
 * reduced last. */
typedef struct operand {
  tn_tensor *t;
  int ndim;
  int64_t sizes[4];
  bool reduced[4];
  int64_t rows, n;
  char *elements;
} operand;

static void fill(void *memory, tn_dtype dtype, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    int64_t r = below(1 << 20), small = r % 7 - 3;
    switch (dtype) {
    case TN_F32:
      ((float *)memory)[i] = ldexpf((float)(r - (1 << 19)), -17);
      break;
    case TN_F64:
      ((double *)memory)[i] = ldexp((double)(r - (1 << 19)), -17) / 3;
      break;
    case TN_I64: ((int64_t *)memory)[i] = small; break;
    case TN_I32: ((int32_t *)memory)[i] = (int32_t)small; break;
    default: ((uint8_t *)memory)[i] = r % 30 == 0; break;
    }
  }
}

static void choose_sizes(operand *x, int64_t *padded)
{
  x->ndim = (int)below(5);
  int64_t left = ROOM;
  for (int i = 0; i < x->ndim; i++) {
    int64_t most = left / 3 < 3 ? 1 : below(6) == 0 ? left / 3 : 6;
    x->sizes[i] = 1 + below(most);
    padded[i] = x->sizes[i] + (left / (x->sizes[i] + 1) > 3 ? below(2) : 0);
    left /= padded[i];
  }
}

/* Strides of a random order of dimensions, in memory a little larger. */
static void choose_strides(const operand *x, const int64_t *padded,
                           int64_t *strides)
{
  int order[4] = { 0, 1, 2, 3 };
  bool plain = below(3) == 0;
  for (int i = x->ndim - 1; i > 0 && !plain; i--) {
    int j = (int)below(i + 1), other = order[i];
    order[i] = order[j];
    order[j] = other;
  }
  int64_t step = 1;
  for (int i = x->ndim - 1; i >= 0; i--) {
    strides[order[i]] = step;
    step *= plain ? x->sizes[order[i]] : padded[order[i]];
  }
}

/* Element `number` in the order of dims[]. */
static int64_t offset_of(const operand *x, const int *dims,
                         const int64_t *strides, int64_t number)
{
  int64_t offset = 0;
  for (int i = x->ndim - 1; i >= 0; i--) {
    offset += number % x->sizes[dims[i]] * strides[dims[i]];
    number /= x->sizes[dims[i]];
  }
  return offset;
}

static void gather(operand *x, const char *memory, size_t size,
                   const int64_t *strides)
{
  int dims[4], count = 0;
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < x->ndim; i++)
      if (x->reduced[i] == (turn == 1)) dims[count++] = i;
  x->rows = x->n = 1;
  for (int i = 0; i < x->ndim; i++)
    *(x->reduced[i] ? &x->n : &x->rows) *= x->sizes[i];
  x->elements = malloc((size_t)(x->rows * x->n) * size);
  for (int64_t i = 0; i < x->rows * x->n; i++)
    memcpy(x->elements + (size_t)i * size,
           memory + (size_t)offset_of(x, dims, strides, i) * size, size);
}

/* one: the dimension reduced, or -1 for all, or -2 for any number. */
static operand make_operand(tn_dtype dtype, int *one)
{
  operand x = { NULL, 0, { 0 }, { false }, 0, 0, NULL };
  int64_t padded[4], strides[4];
  size_t size = tn_dtype_size(dtype);
  choose_sizes(&x, padded);
  choose_strides(&x, padded, strides);
  if (*one == 0) *one = x.ndim == 0 || below(4) == 0 ? -1 : (int)below(x.ndim);
  for (int i = 0; i < x.ndim; i++)
    x.reduced[i] = *one == -2 ? below(2) : *one == -1 || *one == i;
  void *memory = malloc(2 * ROOM * size);
  fill(memory, dtype, 2 * ROOM);
  tn_tensor *base = tn_from_data(memory, TN_SHAPE(2 * ROOM), .dtype = dtype,
                                 .device = device);
  int64_t offset = below(20);
  x.t = tn_as_strided(base, (tn_shape){ x.sizes, x.ndim },
                      (tn_shape){ strides, x.ndim }, offset);
  gather(&x, (char *)memory + (size_t)offset * size, size, strides);
  free(memory);
  return x;
}

/* ---- trials ---- */

typedef struct reduction {
  const char *name;
  tn_dtype dtype, result;
  ref_reduction *reference;
  tn_tensor *(*all)(tn_tensor *t);
  tn_tensor *(*along)(tn_tensor *t, int dim, bool keepdim);
} reduction;

static bool agree(tn_tensor *y, const char *want, tn_dtype dtype, int64_t n)
{
  size_t bytes = (size_t)n * tn_dtype_size(dtype);
  char *got = malloc(bytes + 1);
  bool same = y && tn_dtype_of(y) == dtype && tn_numel(y) == n &&
              tn_read(y, got, bytes) == TN_OK && !memcmp(got, want, bytes);
  if (!same)
    tap_note("%s", y ? "other dtype, size or bits" : tn_error_message());
  free(got);
  return same;
}

static bool try_one(const reduction *of)
{
  int one = 0;
  bool same = false;
  tn_with_scope {
    operand x = make_operand(of->dtype, &one);
    size_t size = tn_dtype_size(of->dtype), out = tn_dtype_size(of->result);
    char *want = calloc((size_t)x.rows, out);
    for (int64_t r = 0; r < x.rows; r++)
      of->reference(x.elements + (size_t)(r * x.n) * size, x.n, 1,
                    want + (size_t)r * out);
    bool keepdim = below(2);
    tn_tensor *y = one < 0 ? of->all(x.t)
                           : of->along(x.t, below(2) ? one : one - x.ndim,
                                       keepdim);
    same = agree(y, want, of->result, x.rows) &&
           tn_ndim(y) == (one < 0 ? 0 : x.ndim - !keepdim);
    free(want);
    free(x.elements);
  }
  return same;
}

/* The reference's own, by another signature. */
#define BY_VALUE(name, T, function)                                       \
  static void name(const void *x, int64_t n, int64_t step, void *y)       \
  {                                                                       \
    *(T *)y = function(x, n, step);                                       \
  }
BY_VALUE(sum_f32, float, ref_sum)
BY_VALUE(mean_f32, float, ref_mean)
BY_VALUE(max_f32, float, ref_max)
BY_VALUE(min_f32, float, ref_min)
BY_VALUE(argmax_f32, int64_t, ref_argmax)
BY_VALUE(argmin_f32, int64_t, ref_argmin)

/* Of i32, by way of i64. */
#define OF_I32(name, T)                                                   \
  static void name##_i32(const void *x, int64_t n, int64_t step, void *y) \
  {                                                                       \
    int64_t *wide = calloc((size_t)n, sizeof *wide), result;              \
    for (int64_t i = 0; i < n; i++) wide[i] = ((const int32_t *)x)[i];    \
    ref_##name##_i64(wide, n, step, &result);                             \
    *(T *)y = (T)result;                                                  \
    free(wide);                                                           \
  }
OF_I32(prod, int64_t)
OF_I32(max, int32_t)
OF_I32(argmin, int64_t)

static void any_f32(const void *x, int64_t n, int64_t step, void *y)
{
  bool found = false;
  for (int64_t i = 0; i < n; i++)
    found = found || ((const float *)x)[i * step] != 0;
  *(uint8_t *)y = found;
}

#define REDUCTION(name, dtype, result, reference) \
  { #name " of " #dtype, dtype, result, reference, tn_##name, tn_##name##_dim }

static const reduction reductions[] = {
  REDUCTION(sum, TN_F32, TN_F32, sum_f32),
  REDUCTION(mean, TN_F32, TN_F32, mean_f32),
  REDUCTION(prod, TN_F32, TN_F32, ref_prod_f32),
  REDUCTION(amax, TN_F32, TN_F32, max_f32),
  REDUCTION(min, TN_F32, TN_F32, min_f32),
  REDUCTION(argmax, TN_F32, TN_I64, argmax_f32),
  REDUCTION(argmin, TN_F32, TN_I64, argmin_f32),
  REDUCTION(any, TN_F32, TN_BOOL, any_f32),
  REDUCTION(sum, TN_F64, TN_F64, ref_sum_f64),
  REDUCTION(mean, TN_F64, TN_F64, ref_mean_f64),
  REDUCTION(prod, TN_F64, TN_F64, ref_prod_f64),
  REDUCTION(max, TN_F64, TN_F64, ref_max_f64),
  REDUCTION(amin, TN_F64, TN_F64, ref_min_f64),
  REDUCTION(argmax, TN_F64, TN_I64, ref_argmax_f64),
  REDUCTION(sum, TN_I64, TN_I64, ref_sum_i64),
  REDUCTION(prod, TN_I64, TN_I64, ref_prod_i64),
  REDUCTION(max, TN_I64, TN_I64, ref_max_i64),
  REDUCTION(min, TN_I64, TN_I64, ref_min_i64),
  REDUCTION(argmin, TN_I64, TN_I64, ref_argmin_i64),
  REDUCTION(sum, TN_I32, TN_I64, ref_sum_i32),
  REDUCTION(prod, TN_I32, TN_I64, prod_i32),
  REDUCTION(max, TN_I32, TN_I32, max_i32),
  REDUCTION(argmin, TN_I32, TN_I64, argmin_i32),
  REDUCTION(sum, TN_U8, TN_I64, ref_sum_u8),
  REDUCTION(sum, TN_BOOL, TN_I64, ref_sum_u8),
  REDUCTION(any, TN_BOOL, TN_BOOL, ref_any_u8),
  REDUCTION(all, TN_BOOL, TN_BOOL, ref_all_u8),
  REDUCTION(all, TN_U8, TN_BOOL, ref_all_u8),
};

static void test_layouts(bool has_f64)
{
  for (size_t i = 0; i < sizeof reductions / sizeof *reductions; i++) {
    const reduction *of = &reductions[i];
    if (of->dtype == TN_F64 && !has_f64) {
      tap_skip("N1 %s: no f64", of->name);
      continue;
    }
    int good = 0;
    while (good < trials && try_one(of)) good++;
    tap_is_int(good, trials, "N1 %s gives the reference's bits in any layout",
               of->name);
  }
}

static void test_dims(void)
{
  int good = 0;
  for (bool same = true; same && good < trials; good += same)
    tn_with_scope {
      int one = -2;
      int64_t dims[4];
      operand x = make_operand(TN_F32, &one);
      int count = 0;
      for (int i = 0; i < x.ndim; i++)
        if (x.reduced[i]) dims[count++] = i;
      if (count == 0 && x.ndim) { /* none would mean all */
        free(x.elements);
        continue;
      }
      float *want = calloc((size_t)x.rows, sizeof *want);
      for (int64_t r = 0; r < x.rows; r++)
        want[r] = ref_sum((float *)(void *)x.elements + r * x.n, x.n, 1);
      same = agree(tn_sum_dims(x.t, (tn_shape){ dims, count }, below(2)),
                   (char *)want, TN_F32, x.rows);
      free(want);
      free(x.elements);
    }
  tap_is_int(good, trials, "N1 sum_dims gives the reference's bits");
}

/* ---- single facts ---- */

static void is_number(tn_tensor *t, double wanted, int ndim, const char *what)
{
  double got = t ? tn_item(t) : NAN;
  bool same = t && tn_ndim(t) == ndim &&
              (got == wanted || (isnan(got) && isnan(wanted)));
  tap_ok(same, "%s", what);
  if (!same) tap_note("%g, %d: %s", got, tn_ndim(t), tn_error_message());
}

static void fails(tn_tensor *t, tn_status status, const char *text,
                  const char *what)
{
  tap_ok(!t && tn_last_status() == status, "%s", what);
  tap_has(tn_error_message(), text, "%s, and says so", what);
  tn_clear_error();
}

static void test_scalars(void)
{
  tn_with_scope {
    tn_tensor *x = tn_full(TN_SCALAR, 2.5, .device = device);
    is_number(tn_sum(x), 2.5, 0, "R38 the sum of no dimensions");
    is_number(tn_mean_dim(x, 0, false), 2.5, 0, "R38 along dimension 0");
    is_number(tn_amax_dim(x, -1, true), 2.5, 0, "R38 and -1, keepdim");
    is_number(tn_argmax(x), 0, 0, "R38 argmax is 0");
    fails(tn_sum_dim(x, 1, false), TN_INVALID_ARGUMENT, "dimension 1",
          "R38 there is no dimension 1");
    tn_tensor *all = tn_ones(TN_SHAPE(2, 3), .device = device);
    is_number(tn_sum(all), 6, 0, "R38 everything reduced: no dimension");
  }
}

static void test_empty(void)
{
  tn_with_scope {
    tn_tensor *x = tn_empty(TN_SHAPE(0), .device = device);
    is_number(tn_sum(x), 0, 0, "R21 the sum of nothing");
    is_number(tn_prod(x), 1, 0, "R21 the product of nothing");
    is_number(tn_mean(x), NAN, 0, "R21 the mean of nothing");
    tn_tensor *none = tn_empty(TN_SHAPE(0), .device = device,
                               .dtype = TN_BOOL);
    is_number(tn_any(none), 0, 0, "R21 any of nothing");
    is_number(tn_all(none), 1, 0, "R21 all of nothing");
    fails(tn_amax(x), TN_INVALID_ARGUMENT, "amax: shape [0]",
          "R21 nothing has no greatest");
    fails(tn_argmin(x), TN_INVALID_ARGUMENT, "argmin: shape [0]",
          "R21 nor a place of the smallest");
    tn_tensor *flat = tn_empty(TN_SHAPE(0, 3), .device = device);
    tn_tensor *y = tn_sum_dim(flat, 1, false);
    tap_ok(y && tn_numel(y) == 0 && tn_ndim(y) == 1,
           "R21 no sums along rows that are not there");
    y = tn_sum_dim(flat, 0, false);
    float zeros[3] = { 1, 1, 1 };
    tap_ok(y && tn_read(y, zeros, sizeof zeros) == TN_OK && zeros[0] == 0 &&
             zeros[1] == 0 && zeros[2] == 0,
           "R21 columns without elements add up to 0");
  }
}

static void test_nan(void)
{
  const float numbers[] = { 3, NAN, 1, 5 };
  tn_with_scope {
    tn_tensor *x = tn_from_data(numbers, TN_SHAPE(4), .device = device);
    is_number(tn_max(x), NAN, 0, "R33 a NaN is the greatest");
    is_number(tn_argmax(x), 1, 0, "R33 and argmax finds it");
    is_number(tn_argmin(x), 1, 0, "R33 as does argmin");
  }
}

static void test_errors(void)
{
  tn_with_scope {
    tn_tensor *x = tn_ones(TN_SHAPE(2, 3), .device = device, .dtype = TN_I64);
    fails(tn_mean(x), TN_DTYPE_MISMATCH, "mean: dtype i64",
          "R38 integers have no mean");
    fails(tn_sum_dims(x, TN_SHAPE(1, -1), false), TN_INVALID_ARGUMENT,
          "sum: dimension 1 is given twice", "R38 a dimension given twice");
    fails(tn_std(x, 1), TN_DTYPE_MISMATCH, "std: dtype i64",
          "R38 integers have no deviation");
    tn_set_error(TN_NOT_READY, "before");
    tap_ok(!tn_sum(NULL) && tn_last_status() == TN_NOT_READY,
           "R38 NULL is passed on, the error stays");
    tn_clear_error();
  }
}

static void test_spread(void)
{
  const float numbers[] = { 1, 2, 3, 4, 6, 8, 10, 12 };
  tn_with_scope {
    tn_tensor *x = tn_from_data(numbers, TN_SHAPE(2, 4), .device = device);
    tn_tensor *row = tn_from_data(numbers, TN_SHAPE(4), .device = device);
    is_number(tn_var(row, 0), 1.25, 0, "N1 var of 1 2 3 4");
    is_number(tn_std(tn_from_data(numbers + 4, TN_SHAPE(4), .device = device),
                     0), (double)sqrtf(5), 0, "N1 std of 6 8 10 12");
    is_number(tn_norm(tn_from_data(((const float[]){ 3, 4 }), TN_SHAPE(2),
                                   .device = device)), 5, 0, "N1 norm");
    tn_tensor *y = tn_var_dim(x, 1, 1, true);
    float both[2] = { 0 };
    tap_ok(y && tn_ndim(y) == 2 && tn_read(y, both, sizeof both) == TN_OK &&
             both[0] == 5.0f / 3 && both[1] == 20.0f / 3,
           "N1 var along a dimension");
    is_number(tn_var(tn_ones(TN_SHAPE(1), .device = device), 1), NAN, 0,
              "N1 one number has no variance");
  }
}

int main(void)
{
  device = test_device();
  if (getenv("TN_TEST_SMALL")) trials = 5;
  tn_device_info info;
  const char *given = getenv("TN_TEST_SEED");
  state = given ? strtoull(given, NULL, 0) : (uint64_t)time(NULL);
  tap_note("TN_TEST_SEED=%" PRIu64, state);
  if (tn_device_get_info(device, &info) != TN_OK) return 1;
  test_layouts(info.f64);
  test_dims();
  test_scalars();
  test_empty();
  test_nan();
  test_errors();
  test_spread();
  return tap_done();
}
