/* N3: the elementary functions of f64, and the powers of both types, keep the
 * bounds that tenon/kernel_math_f64.h and kernel_math.h state; compared with
 * the C library's of long double. Some 10^5 arguments each, of all sizes;
 * 10^7 with TN_TEST_FULL set. */
#include <float.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/images.h"
#include "tests/kernels/survey.h"
#include "tests/tap.h"

enum { COUNT = 4096 };

typedef struct function {
  const char *kernel;
  long double (*exact)(long double);
  double bound; /* in units in the last place */
} function;

static const function functions[] = {
  { "exp_f64", expl, 0.9 },     { "log_f64", logl, 0.9 },
  { "expm1_f64", expm1l, 1.6 }, { "log1p_f64", log1pl, 0.9 },
  { "tanh_f64", tanhl, 1.5 },   { "erf_f64", erfl, 1.0 },
  { "sin_f64", sinl, 0.9 },     { "cos_f64", cosl, 0.9 },
  { "tan_f64", tanl, 1.0 },
};

static uint64_t state;

static uint64_t next_random(void)
{
  uint64_t z = state += 0x9e3779b97f4a7c15;
  z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
  z = (z ^ z >> 27) * 0x94d049bb133111eb;
  return z ^ z >> 31;
}

/* Any bits, small numbers, and numbers up to 800. */
static double some_argument(void)
{
  uint64_t r = next_random();
  double unit = ldexp((double)(int64_t)next_random(), -63), any;
  memcpy(&any, &r, sizeof any);
  if (r % 4 == 0) return any;
  if (r % 4 == 1) return ldexp(unit, 3 - (int)(r / 4 % 30));
  return unit * (r % 4 == 2 ? 800 : 1 + (double)(r / 4 % 40));
}

static const tn_cpu_kernel *find(const char *name)
{
  static const char *const levels[] = { "v4", "v3", "baseline" };
  for (int i = 0; i < 3; i++) {
    const tn_cpu_image *image = kernel_image(levels[i]);
    for (const tn_cpu_kernel *const *k = image ? image->begin : NULL;
         image && k < image->end; k++)
      if (strcmp((*k)->name, name) == 0) return *k;
  }
  return NULL;
}

/* y = f(a), or f(a, b) if there is b. */
static void apply(const char *name, void *y, const void *a, const void *b)
{
  uint64_t slots[] = { (uint64_t)(uintptr_t)y, (uint64_t)(uintptr_t)a,
                       b ? (uint64_t)(uintptr_t)b : COUNT, COUNT };
  find(name)->run((tn_range){ 0, INT64_MAX }, slots);
}

/* How far y is from exact, in units in the last place, of `digits` binary
 * ones, there; nearest is the number of that type. */
static double distance(double y, long double exact, double nearest,
                       int digits, int least)
{
  if (isnan(nearest)) return isnan(y) ? 0 : INFINITY;
  if (isinf(nearest) || exact == 0) return y == nearest ? 0 : INFINITY;
  int exponent;
  frexpl(exact, &exponent);
  int last = exponent - digits < least ? least : exponent - digits;
  double away = (double)(fabsl(y - exact) / ldexpl(1, last));
  return away >= 0 ? away : INFINITY;
}

static void report(const char *kernel, double worst, double bound, double a,
                   double b)
{
  tap_note("%s: at most %.4f, at %a, %a", kernel, worst, a, b);
  tap_ok(worst <= bound, "N3 %s is within %.2f ulp", kernel, bound);
}

static void test_function(const function *of, int rounds)
{
  double worst = 0, at = 0;
  for (int round = 0; round < rounds; round++) {
    static double x[COUNT], y[COUNT];
    for (int i = 0; i < COUNT; i++) x[i] = some_argument();
    apply(of->kernel, y, x, NULL);
    for (int i = 0; i < COUNT; i++) {
      long double exact = of->exact(x[i]);
      double away = distance(y[i], exact, (double)exact, DBL_MANT_DIG, -1074);
      if (away > worst) worst = away, at = x[i];
    }
  }
  report(of->kernel, worst, of->bound, at, 0);
}

/* Operands of a power: half of the bases positive, whole exponents among
 * them. */
static void some_operands(double *a, double *b)
{
  for (int i = 0; i < COUNT; i++) {
    a[i] = i % 2 ? fabs(some_argument()) : some_argument();
    b[i] = i % 7 ? some_argument() : rint(some_argument());
  }
}

/* What is too small for long double is left out. */
static void test_pow_f64(int rounds)
{
  double worst = 0, at = 0, to = 0;
  for (int round = 0; round < rounds; round++) {
    static double a[COUNT], b[COUNT], y[COUNT];
    some_operands(a, b);
    apply("pow_f64", y, a, b);
    for (int i = 0; i < COUNT; i++) {
      long double exact = powl(a[i], b[i]);
      double away = distance(y[i], exact, (double)exact, DBL_MANT_DIG, -1074);
      if (fabsl(exact) < 1e-300L && exact != 0) continue;
      if (exact == 0 && fabs(y[i]) < 1e-300) continue;
      if (away > worst) worst = away, at = a[i], to = b[i];
    }
  }
  report("pow_f64", worst, 1.0, at, to);
}

static void test_pow_f32(int rounds)
{
  double worst = 0, at = 0, to = 0;
  for (int round = 0; round < rounds; round++) {
    static double a[COUNT], b[COUNT];
    static float p[COUNT], q[COUNT], y[COUNT];
    some_operands(a, b);
    for (int i = 0; i < COUNT; i++) p[i] = (float)a[i], q[i] = (float)b[i];
    apply("pow_f32", y, p, q);
    for (int i = 0; i < COUNT; i++) {
      long double exact = powl(p[i], q[i]);
      double away = distance(y[i], exact, (float)exact, FLT_MANT_DIG, -149);
      if (away > worst) worst = away, at = p[i], to = q[i];
    }
  }
  report("pow_f32", worst, 1.0, at, to);
}

int main(void)
{
  int rounds = getenv("TN_TEST_FULL") ? 2500 : 25;
  state = survey_seed();
  if (LDBL_MANT_DIG < 64) {
    tap_skip("N3 functions of f64: no long double to compare with");
    return tap_done();
  }
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++)
    test_function(&functions[i], rounds);
  test_pow_f64(rounds);
  test_pow_f32(rounds);
  return tap_done();
}
