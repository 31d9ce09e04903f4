/* Trials of the elementwise families. */
#include "tests/kernels/cases.h"

#include <math.h>
#include <stdlib.h>

#include "tests/kernels/layout.h"
#include "tests/numbers_functions.h"
#include "tests/numbers_reference.h"

static const int64_t sizes[] = { 0, 1, 3, 64, 5003, -1 };
/* Streamed past the caches. */
static const int64_t large[] = { 1048576 + 77, -1 };
/* Rows of the strided trials. */
static const int64_t rows[] = { 1, 2, 7, 40, -1 };

typedef struct operation_f32 {
  float (*unary)(float), (*binary)(float, float);
  bool negative; /* takes arguments <= 0 */
} operation_f32;

typedef struct operation_f64 {
  double (*unary)(double), (*binary)(double, double);
} operation_f64;

static float value_f32(const operation_f32 *of, float a, float b)
{
  return of->unary ? of->unary(a) : of->binary(a, b);
}

static double value_f64(const operation_f64 *of, double a, double b)
{
  return of->unary ? of->unary(a) : of->binary(a, b);
}

/* The operand a of an operation: <= 0 where it must be. */
static trial_array *first_operand(kernel_trial *t, const operation_f32 *of,
                                  int64_t n)
{
  trial_array *a = trial_floats(t, n);
  if (!of->negative) return a;
  for (int64_t i = 0; i < n; i++)
    ((float *)a->host)[i] = -fabsf(((float *)a->host)[i]);
  trial_upload(t, a);
  return a;
}

static void flat_f32(kernel_trial *t)
{
  const operation_f32 *of = t->of->detail;
  int64_t n = t->size;
  trial_array *a = first_operand(t, of, n), *b = trial_floats(t, n);
  /* One in four in place. */
  trial_array *y = t->random % 4 == 0 ? a : trial_output(t, n, sizeof(float));
  float *want = trial_memory(n, sizeof *want);
  for (int64_t i = 0; i < n; i++)
    want[i] = value_f32(of, ((float *)a->host)[i], ((float *)b->host)[i]);
  if (of->unary)
    trial_launch(t, t->of->name, n,
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a), TN_ARG_I64(n)));
  else
    trial_launch(t, t->of->name, n, TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a),
                                            TRIAL_PTR(b), TN_ARG_I64(n)));
  trial_expect_f32(t, y, want, n);
  free(want);
}

static void flat_f64(kernel_trial *t)
{
  const operation_f64 *of = t->of->detail;
  int64_t n = t->size;
  trial_array *a = trial_doubles(t, n), *b = trial_doubles(t, n);
  trial_array *y = trial_output(t, n, sizeof(double));
  double *want = trial_memory(n, sizeof *want);
  for (int64_t i = 0; i < n; i++)
    want[i] = value_f64(of, ((double *)a->host)[i], ((double *)b->host)[i]);
  if (of->unary)
    trial_launch(t, t->of->name, n,
                 TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a), TN_ARG_I64(n)));
  else
    trial_launch(t, t->of->name, n, TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a),
                                            TRIAL_PTR(b), TN_ARG_I64(n)));
  trial_expect_f64(t, y, want, n);
  free(want);
}

static void strided_launch(kernel_trial *t, bool unary, const layout l[3],
                           trial_array *const arrays[3])
{
  int64_t n = layout_count(&l[0]);
  if (unary)
    trial_launch(t, t->of->name, n,
                 TN_ARGS(TRIAL_PTR(arrays[0]), TRIAL_PTR(arrays[1]),
                         SIZES(l[0]), STRIDES(l[0]), STRIDES(l[1])));
  else
    trial_launch(t, t->of->name, n,
                 TN_ARGS(TRIAL_PTR(arrays[0]), TRIAL_PTR(arrays[1]),
                         TRIAL_PTR(arrays[2]), SIZES(l[0]), STRIDES(l[0]),
                         STRIDES(l[1]), STRIDES(l[2])));
}

/* What lies in the gaps of y must stay. */
static void strided_f32(kernel_trial *t)
{
  const operation_f32 *of = t->of->detail;
  layout l[3];
  random_layouts(t, l, 3);
  trial_array *y = trial_output(t, l[0].extent, sizeof(float));
  trial_array *a = first_operand(t, of, l[1].extent);
  trial_array *b = trial_floats(t, l[2].extent);
  float *want = trial_memory(l[0].extent, sizeof *want);
  for (int64_t i = 0; i < l[0].extent; i++) want[i] = ((float *)y->host)[i];
  for (int64_t i = 0; i < layout_count(l); i++)
    want[layout_place(&l[0], i)] =
        value_f32(of, ((float *)a->host)[layout_place(&l[1], i)],
                  ((float *)b->host)[layout_place(&l[2], i)]);
  strided_launch(t, of->unary, l, (trial_array *[]){ y, a, b });
  trial_expect_f32(t, y, want, l[0].extent);
  free(want);
}

static void strided_f64(kernel_trial *t)
{
  const operation_f64 *of = t->of->detail;
  layout l[3];
  random_layouts(t, l, 3);
  trial_array *y = trial_output(t, l[0].extent, sizeof(double));
  trial_array *a = trial_doubles(t, l[1].extent);
  trial_array *b = trial_doubles(t, l[2].extent);
  double *want = trial_memory(l[0].extent, sizeof *want);
  for (int64_t i = 0; i < l[0].extent; i++) want[i] = ((double *)y->host)[i];
  for (int64_t i = 0; i < layout_count(l); i++)
    want[layout_place(&l[0], i)] =
        value_f64(of, ((double *)a->host)[layout_place(&l[1], i)],
                  ((double *)b->host)[layout_place(&l[2], i)]);
  strided_launch(t, of->unary, l, (trial_array *[]){ y, a, b });
  trial_expect_f64(t, y, want, l[0].extent);
  free(want);
}

static void fill_f32(kernel_trial *t)
{
  trial_array *y = trial_output(t, t->size, sizeof(float));
  float value = trial_float(t), *want = trial_memory(t->size, sizeof *want);
  for (int64_t i = 0; i < t->size; i++) want[i] = value;
  trial_launch(t, t->of->name, t->size,
               TN_ARGS(TRIAL_PTR(y), TN_ARG_F32(value), TN_ARG_I64(t->size)));
  trial_expect_f32(t, y, want, t->size);
  free(want);
}

static void fill_f64(kernel_trial *t)
{
  trial_array *y = trial_output(t, t->size, sizeof(double));
  double value = trial_double(t), *want = trial_memory(t->size, sizeof *want);
  for (int64_t i = 0; i < t->size; i++) want[i] = value;
  trial_launch(t, t->of->name, t->size,
               TN_ARGS(TRIAL_PTR(y), TN_ARG_F64(value), TN_ARG_I64(t->size)));
  trial_expect_f64(t, y, want, t->size);
  free(want);
}

static void fill_strided_f32(kernel_trial *t)
{
  layout l[3];
  random_layouts(t, l, 3);
  trial_array *y = trial_output(t, l[0].extent, sizeof(float));
  float value = trial_float(t);
  float *want = trial_memory(l[0].extent, sizeof *want);
  for (int64_t i = 0; i < l[0].extent; i++) want[i] = ((float *)y->host)[i];
  for (int64_t i = 0; i < layout_count(l); i++)
    want[layout_place(&l[0], i)] = value;
  trial_launch(t, t->of->name, layout_count(l),
               TN_ARGS(TRIAL_PTR(y), TN_ARG_F32(value), SIZES(l[0]),
                       STRIDES(l[0])));
  trial_expect_f32(t, y, want, l[0].extent);
  free(want);
}

static void fill_strided_f64(kernel_trial *t)
{
  layout l[3];
  random_layouts(t, l, 3);
  trial_array *y = trial_output(t, l[0].extent, sizeof(double));
  double value = trial_double(t);
  double *want = trial_memory(l[0].extent, sizeof *want);
  for (int64_t i = 0; i < l[0].extent; i++) want[i] = ((double *)y->host)[i];
  for (int64_t i = 0; i < layout_count(l); i++)
    want[layout_place(&l[0], i)] = value;
  trial_launch(t, t->of->name, layout_count(l),
               TN_ARGS(TRIAL_PTR(y), TN_ARG_F64(value), SIZES(l[0]),
                       STRIDES(l[0])));
  trial_expect_f64(t, y, want, l[0].extent);
  free(want);
}

static void axpy_f32(kernel_trial *t)
{
  trial_array *y = trial_floats(t, t->size), *a = trial_floats(t, t->size);
  float alpha = trial_float(t), *want = trial_memory(t->size, sizeof *want);
  for (int64_t i = 0; i < t->size; i++)
    want[i] = fmaf(alpha, ((float *)a->host)[i], ((float *)y->host)[i]);
  trial_launch(t, t->of->name, t->size,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a), TN_ARG_F32(alpha),
                       TN_ARG_I64(t->size)));
  trial_expect_f32(t, y, want, t->size);
  free(want);
}

static void axpy_f64(kernel_trial *t)
{
  trial_array *y = trial_doubles(t, t->size), *a = trial_doubles(t, t->size);
  double alpha = trial_double(t), *want = trial_memory(t->size, sizeof *want);
  for (int64_t i = 0; i < t->size; i++)
    want[i] = fma(alpha, ((double *)a->host)[i], ((double *)y->host)[i]);
  trial_launch(t, t->of->name, t->size,
               TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a), TN_ARG_F64(alpha),
                       TN_ARG_I64(t->size)));
  trial_expect_f64(t, y, want, t->size);
  free(want);
}

/* The plain operations */

#define OPERATIONS(T, suffix)                                        \
  static T add_##suffix(T a, T b) { return a + b; }                  \
  static T sub_##suffix(T a, T b) { return a - b; }                  \
  static T mul_##suffix(T a, T b) { return a * b; }                  \
  static T div_##suffix(T a, T b) { return a / b; }                  \
  static T neg_##suffix(T a) { return -a; }                          \
  static T copy_##suffix(T a) { return a; }
OPERATIONS(float, f32)
OPERATIONS(double, f64)

static double relu_f64(double x)
{
  return isnan(x) ? x : x > 0 ? x : 0;
}

#define FLAT_UNARY(suffix, family, name, ...)                               \
  { name "_" #suffix, family, flat_##suffix,                                \
    &(const operation_##suffix){ .unary = __VA_ARGS__ }, sizes,             \
    TRIAL_FLAVOURS }
#define UNARY(suffix, family, name, ...)                                    \
  FLAT_UNARY(suffix, family, name, __VA_ARGS__),                            \
  { name "_strided_" #suffix, family, strided_##suffix,                     \
    &(const operation_##suffix){ .unary = __VA_ARGS__ }, rows,              \
    TRIAL_FLAVOURS }
#define FLAT_BINARY(suffix, family, name, function)                         \
  { name "_" #suffix, family, flat_##suffix,                                \
    &(const operation_##suffix){ .binary = function }, sizes,               \
    TRIAL_FLAVOURS }
#define BINARY(suffix, family, name, function)                              \
  FLAT_BINARY(suffix, family, name, function),                              \
  { name "_strided_" #suffix, family, strided_##suffix,                     \
    &(const operation_##suffix){ .binary = function }, rows,                \
    TRIAL_FLAVOURS }

const kernel_case elementwise_cases[] = {
  BINARY(f32, "elementwise", "add", add_f32),
  BINARY(f32, "elementwise", "sub", sub_f32),
  BINARY(f32, "elementwise", "mul", mul_f32),
  BINARY(f32, "elementwise", "div", div_f32),
  BINARY(f32, "elementwise", "maximum", ref_maximum),
  BINARY(f32, "elementwise", "minimum", ref_minimum),
  UNARY(f32, "elementwise", "neg", neg_f32),
  UNARY(f32, "elementwise", "abs", fabsf),
  UNARY(f32, "elementwise", "copy", copy_f32),
  UNARY(f32, "elementwise", "relu", ref_relu),
  UNARY(f32, "elementwise", "sqrt", sqrtf),
  { "add_f32", "elementwise", flat_f32,
    &(const operation_f32){ .binary = add_f32 }, large, TRIAL_WIDE },
  { "exp_f32", "functions", flat_f32,
    &(const operation_f32){ .unary = ref_exp }, large, TRIAL_WIDE },
  { "fill_f32", "elementwise", fill_f32, NULL, large, TRIAL_WIDE },
  { "fill_f32", "elementwise", fill_f32, NULL, sizes, TRIAL_FLAVOURS },
  { "fill_strided_f32", "elementwise", fill_strided_f32, NULL, rows,
    TRIAL_FLAVOURS },
  { "axpy_f32", "elementwise", axpy_f32, NULL, sizes, TRIAL_FLAVOURS },
  { 0 }
};

const kernel_case elementwise_f64_cases[] = {
  BINARY(f64, "elementwise_f64", "add", add_f64),
  BINARY(f64, "elementwise_f64", "sub", sub_f64),
  BINARY(f64, "elementwise_f64", "mul", mul_f64),
  BINARY(f64, "elementwise_f64", "div", div_f64),
  BINARY(f64, "elementwise_f64", "maximum", ref_maximum_f64),
  BINARY(f64, "elementwise_f64", "minimum", ref_minimum_f64),
  UNARY(f64, "elementwise_f64", "neg", neg_f64),
  UNARY(f64, "elementwise_f64", "abs", fabs),
  UNARY(f64, "elementwise_f64", "copy", copy_f64),
  UNARY(f64, "elementwise_f64", "relu", relu_f64),
  UNARY(f64, "elementwise_f64", "sqrt", sqrt),
  { "add_f64", "elementwise_f64", flat_f64,
    &(const operation_f64){ .binary = add_f64 }, large, TRIAL_WIDE },
  { "fill_f64", "elementwise_f64", fill_f64, NULL, sizes, TRIAL_FLAVOURS },
  { "fill_strided_f64", "elementwise_f64", fill_strided_f64, NULL, rows,
    TRIAL_FLAVOURS },
  { "axpy_f64", "elementwise_f64", axpy_f64, NULL, sizes,
    TRIAL_FLAVOURS },
  { 0 }
};

#define ONE_F32(name) FLAT_UNARY(f32, "functions", #name, ref_##name),
#define ONE_F64(name) FLAT_UNARY(f64, "functions_f64", #name, ref_##name##_f64),
#define TWO_F32(name) FLAT_BINARY(f32, "functions", #name, ref_##name),
#define TWO_F64(name) \
  FLAT_BINARY(f64, "functions_f64", #name, ref_##name##_f64),
#define DIVISION_F32(name) BINARY(f32, "division", #name, ref_##name),
#define DIVISION_F64(name) \
  BINARY(f64, "division_f64", #name, ref_##name##_f64),

const kernel_case function_cases[] = {
  FLAT_UNARY(f32, "functions", "exp", ref_exp),
  FLAT_UNARY(f32, "functions", "exp_neg", ref_exp_neg, .negative = true),
  FLAT_UNARY(f32, "functions", "log", ref_log),
  FLAT_UNARY(f32, "functions", "tanh", ref_tanh),
  FLAT_UNARY(f32, "functions", "sin", ref_sin),
  FLAT_UNARY(f32, "functions", "cos", ref_cos),
  FLAT_UNARY(f32, "functions", "erf", ref_erf),
  FLAT_UNARY(f32, "functions", "floor", floorf),
  FLAT_UNARY(f32, "functions", "ceil", ceilf),
  FLAT_UNARY(f32, "functions", "round", rintf),
  FUNCTIONS_OF_ONE(ONE_F32)
  FUNCTIONS_BACKWARD(TWO_F32)
  FUNCTIONS_OF_DIVISION(DIVISION_F32)
  FLAT_UNARY(f64, "functions_f64", "exp", ref_exp_f64),
  FLAT_UNARY(f64, "functions_f64", "exp_neg", ref_exp_f64),
  FLAT_UNARY(f64, "functions_f64", "log", ref_log_f64),
  FLAT_UNARY(f64, "functions_f64", "tanh", ref_tanh_f64),
  FLAT_UNARY(f64, "functions_f64", "sin", ref_sin_f64),
  FLAT_UNARY(f64, "functions_f64", "cos", ref_cos_f64),
  FLAT_UNARY(f64, "functions_f64", "erf", ref_erf_f64),
  FLAT_UNARY(f64, "functions_f64", "floor", floor),
  FLAT_UNARY(f64, "functions_f64", "ceil", ceil),
  FLAT_UNARY(f64, "functions_f64", "round", rint),
  FUNCTIONS_OF_ONE(ONE_F64)
  FUNCTIONS_BACKWARD(TWO_F64)
  FUNCTIONS_OF_DIVISION(DIVISION_F64)
  { 0 }
};
