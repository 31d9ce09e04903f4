/* Rules N3 and N4: functions are as exact as docs/numbers.md says, and corner
 * cases are what it defines. */
#include "config.h"

#include <math.h>
#include <stdint.h>

#include "conformance/values.h"

/* ---- N3 ---- */

typedef struct function {
  const char *name;
  tn_tensor *(*ours)(tn_tensor *);
  double (*exact)(double);
  double bound;     /* in units in the last place */
  double low, high; /* of arguments */
} function;

static const function functions[] = {
  { "exp", tn_exp, exp, 0.9, -100, 88 },
  { "expm1", tn_expm1, expm1, 1.6, -20, 88 },
  { "log", tn_log, log, 0.9, 1e-6, 1e6 },
  { "log1p", tn_log1p, log1p, 0.9, -0.999, 1e3 },
  { "sin", tn_sin, sin, 0.8, -1e4, 1e4 },
  { "cos", tn_cos, cos, 0.8, -1e4, 1e4 },
  { "tan", tn_tan, tan, 1.0, -1e4, 1e4 },
  { "tanh", tn_tanh, tanh, 1.5, -9, 9 },
  { "erf", tn_erf, erf, 1.1, -4, 4 },
  { "sqrt", tn_sqrt, sqrt, 0.5001, 0, 1e9 },
};

/* The distance of f32 numbers at v. */
static double last_place(double v)
{
  int exponent;
  frexp(v, &exponent);
  return ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
}

static void try_function(const function *f)
{
  enum { COUNT = 4096 };
  static double arguments[COUNT];
  for (int i = 0; i < COUNT; i++) {
    double part = (double)conform_random(1u << 30) / (1u << 30);
    double argument = f->low + part * (f->high - f->low);
    if (i % 4 == 0) argument *= 1e-3; /* within the range, too */
    if (argument < f->low) argument = f->low;
    arguments[i] = (double)(float)argument;
  }
  tn_tensor *x = conform_values(conform_device, TN_F32, TN_SHAPE(COUNT),
                                arguments);
  const double *got = conform_read(f->ours(x));
  for (int i = 0; i < COUNT; i++) {
    double exact = f->exact(arguments[i]);
    double off = fabs(got[i] - exact) / last_place(exact);
    conform_check(off <= f->bound, "%s(%a) is %a, off by %.3f units in the "
                  "last place; the bound is %g", f->name, arguments[i], got[i],
                  off, f->bound);
  }
}

static void run_exact(void)
{
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    tn_with_scope try_function(&functions[i]);
}

/* ---- N4 ---- */

#define NAN_ ((double)NAN)
#define INFINITE ((double)INFINITY)

static tn_tensor *of(tn_dtype dtype, const double *values, int count)
{
  return conform_values(conform_device, dtype, TN_SHAPE(count), values);
}

static void try_division(tn_dtype dtype, double least)
{
  tn_tensor *a = of(dtype, CONFORM_VALUES(7, -7, 7, -7, 5, -5, 0, least,
                                          least));
  tn_tensor *b = of(dtype, CONFORM_VALUES(2, 2, -2, -2, 0, 0, 0, -1, 0));
  conform_are(tn_floor_divide(a, b),
              CONFORM_VALUES(3, -4, -4, 3, 0, 0, 0, least, 0),
              "floor_divide of %s", tn_dtype_name(dtype));
  conform_are(tn_remainder(a, b),
              CONFORM_VALUES(1, 1, -1, -1, 5, -5, 0, 0, least),
              "remainder of %s", tn_dtype_name(dtype));
}

static void run_division(void)
{
  try_division(TN_I32, INT32_MIN);
  try_division(TN_I64, (double)INT64_MIN);
  tn_tensor *a = of(TN_U8, CONFORM_VALUES(200, 7, 9));
  tn_tensor *b = of(TN_U8, CONFORM_VALUES(0, 2, 255));
  conform_are(tn_floor_divide(a, b), CONFORM_VALUES(0, 3, 0),
              "floor_divide of u8");
  conform_are(tn_remainder(a, b), CONFORM_VALUES(200, 1, 9),
              "remainder of u8");
}

static void run_conversion(void)
{
  tn_tensor *x = of(TN_F32, CONFORM_VALUES(2.9, -2.9, 3e9, -3e9, NAN_,
                                           INFINITE, -INFINITE, 300));
  conform_are(tn_to(x, .dtype = TN_I32),
              CONFORM_VALUES(2, -2, INT32_MAX, INT32_MIN, 0, INT32_MAX,
                             INT32_MIN, 300), "f32 to i32");
  conform_are(tn_to(x, .dtype = TN_U8),
              CONFORM_VALUES(2, 0, 255, 0, 0, 255, 0, 255), "f32 to u8");
  conform_are(tn_to(x, .dtype = TN_BOOL),
              CONFORM_VALUES(1, 1, 1, 1, 1, 1, 1, 1), "f32 to bool");
  tn_tensor *wide = tn_to(of(TN_F32, CONFORM_VALUES(1e19, -1e19)),
                          .dtype = TN_I64);
  conform_are(wide, CONFORM_VALUES((double)INT64_MAX, (double)INT64_MIN),
              "f32 to i64");
  tn_tensor *n = of(TN_I32, CONFORM_VALUES(300, -1, 256));
  conform_are(tn_to(n, .dtype = TN_U8), CONFORM_VALUES(44, 255, 0),
              "i32 to u8");
  n = of(TN_I64, CONFORM_VALUES(4294967298.0, -4294967297.0));
  conform_are(tn_to(n, .dtype = TN_I32), CONFORM_VALUES(2, -1),
              "i64 to i32");
}

static void run_wrapping(void)
{
  tn_tensor *x = of(TN_I32, CONFORM_VALUES(INT32_MAX, INT32_MIN));
  conform_are(tn_add_scalar(x, 1), CONFORM_VALUES(INT32_MIN, INT32_MIN + 1),
              "sums of i32 wrap");
  conform_are(tn_neg(x), CONFORM_VALUES(-INT32_MAX, INT32_MIN),
              "the negative of the least i32");
  conform_are(tn_abs(x), CONFORM_VALUES(INT32_MAX, INT32_MIN),
              "the absolute value of the least i32");
  conform_are(tn_sum(tn_expand(tn_slice(x, 0, 0, 1, 1), TN_SHAPE(3))),
              CONFORM_VALUES(3.0 * INT32_MAX), "sums of i32 are i64");
}

static void run_nans(void)
{
  tn_tensor *x = of(TN_F32, CONFORM_VALUES(1, NAN_, -3, NAN_, 2));
  tn_tensor *y = of(TN_F32, CONFORM_VALUES(NAN_, 4, -1, NAN_, 2));
  conform_are(tn_maximum(x, y), CONFORM_VALUES(NAN_, NAN_, -1, NAN_, 2),
              "maximum");
  conform_are(tn_minimum(x, y), CONFORM_VALUES(NAN_, NAN_, -3, NAN_, 2),
              "minimum");
  conform_is_all(tn_max(x), NAN_, "max");
  conform_is_all(tn_min(x), NAN_, "min");
  conform_is_all(tn_argmax(x), 1, "argmax gives the first NaN");
  conform_is_all(tn_argmin(x), 1, "argmin gives the first NaN");
  conform_are(tn_relu(x), CONFORM_VALUES(1, NAN_, 0, NAN_, 2), "relu");
  conform_are(tn_clamp(x, 0, 1.5), CONFORM_VALUES(1, NAN_, 0, NAN_, 1.5),
              "clamp");
  conform_is_all(tn_sum(x), NAN_, "a sum");
  conform_are(tn_ne(x, x), CONFORM_VALUES(0, 1, 0, 1, 0), "ne");
}

/* Whatever the order, nothing is lost on the way. */
static void run_mean(void)
{
  tn_tensor *large = tn_full(TN_SHAPE(3000), 1e38, .device = conform_device);
  double mean = tn_item(tn_mean(tn_slice(large, 0, 0, 3, 1)));
  conform_check(mean > 0.9e38 && mean < 1.1e38,
                "the mean of three times 1e38 is %g", mean);
  tn_tensor *many = conform_filled((1 << 20) + 3, 1);
  conform_is_all(tn_mean(many), 1, "the mean of a million ones");
  conform_is_all(tn_sum(many), (1 << 20) + 3, "their sum");
  many = tn_full(TN_SHAPE(200000), 3, .dtype = TN_U8,
                 .device = conform_device);
  conform_is_all(tn_sum(many), 600000, "sums of u8 are i64");
}

static void run_softmax(void)
{
  tn_tensor *x = conform_values(conform_device, TN_F32, TN_SHAPE(3, 2),
                                (const double[]){ -INFINITE, -INFINITE, 1000,
                                                  1000, -INFINITE, 5 });
  conform_are(tn_softmax(x, 1),
              CONFORM_VALUES(NAN_, NAN_, 0.5, 0.5, 0, 1),
              "softmax of rows that are undefined, large, and half there");
}

static void run_denormals(void)
{
  tn_device_info info = conform_info();
  if (!info.denormals) conform_absent("denormal numbers");
  const double least = 0x1p-149;
  tn_tensor *x = of(TN_F32, CONFORM_VALUES(least, -least, 0x1p-126,
                                           3 * least));
  conform_are(tn_mul_scalar(x, 1),
              CONFORM_VALUES(least, -least, 0x1p-126, 3 * least),
              "denormal numbers times 1");
  conform_are(tn_mul_scalar(x, 0.5),
              CONFORM_VALUES(0, -0.0, 0x1p-127, 2 * least),
              "their halves, to even");
  conform_are(tn_add(x, x), CONFORM_VALUES(2 * least, -2 * least, 0x1p-125,
                                           6 * least), "their sums");
}

#define V (CONFORM_LAUNCH_BIT | CONFORM_TENSOR_BIT)
static const conform_test tests[] = {
  { "N3", "exact", CONFORM_FULL, V, false,
    "functions keep their bounds of exactness", run_exact },
  { "N4", "division", CONFORM_FULL, V, false,
    "integers divided by 0, and the least one by -1", run_division },
  { "N4", "conversion", CONFORM_FULL, V, false,
    "numbers that do not fit are cast to the nearest", run_conversion },
  { "N4", "wrapping", CONFORM_FULL, V, false,
    "integers wrap", run_wrapping },
  { "N4", "nans", CONFORM_FULL, V, false,
    "a NaN is not lost", run_nans },
  { "N4", "mean", CONFORM_FULL, V, false,
    "sums and means of many, and of large ones", run_mean },
  { "N4", "softmax", CONFORM_FULL, V, false,
    "softmax of what is undefined or large", run_softmax },
  { "N4", "denormals", CONFORM_FULL, V, false,
    "devices that say they keep denormal numbers do", run_denormals },
};
CONFORM_SECTION(conform_arithmetic, tests);
