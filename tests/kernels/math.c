/* N3: the elementary functions keep the bounds that tenon/kernel_math.h
 * states. Every 509th argument; all 2^32 of them with TN_TEST_FULL set (10
 * minutes), which also proves the figures printed. */
#include <inttypes.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/images.h"
#include "tests/tap.h"

enum { COUNT = 65536, QUICK = 509 };

typedef struct function {
  const char *kernel;
  double (*exact)(double);
  double bound; /* in units in the last place */
  float most;   /* greatest argument */
  bool odd;     /* f(-x) = -f(x), so half of the arguments will do */
} function;

static double exp_or_zero(double x)
{
  return x < -87 ? 0 : exp(x);
}

static const function functions[] = {
  { "exp_f32", exp, 0.9, INFINITY, false },
  { "exp_neg_f32", exp_or_zero, 1.02, 0, false },
  { "log_f32", log, 0.9, INFINITY, false },
  { "tanh_f32", tanh, 1.5, INFINITY, true },
  { "sin_f32", sin, 0.8, INFINITY, true },
  { "cos_f32", cos, 0.8, INFINITY, false },
  { "erf_f32", erf, 1.1, INFINITY, true },
  { "expm1_f32", expm1, 1.6, INFINITY, false },
  { "log1p_f32", log1p, 0.9, INFINITY, false },
  { "tan_f32", tan, 1.0, INFINITY, true },
};

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

static void apply(const tn_cpu_kernel *kernel, float *y, const float *x,
                  int64_t n)
{
  uint64_t slots[] = { (uint64_t)(uintptr_t)y, (uint64_t)(uintptr_t)x,
                       (uint64_t)n };
  kernel->run((tn_range){ 0, INT64_MAX }, slots);
}

/* How far y is from exact, in units in the last place of an f32 there;
 * infinite if one is a NaN, an infinity or a zero and the other is not. */
static double distance(float y, double exact)
{
  float nearest = (float)exact;
  if (isnan(nearest)) return isnan(y) ? 0 : INFINITY;
  if (isinf(nearest) || exact == 0) return y == nearest ? 0 : INFINITY;
  int exponent;
  frexp(exact, &exponent);
  double unit = ldexp(1, exponent - 24 < -149 ? -149 : exponent - 24);
  double away = fabs((double)y - exact) / unit;
  return away >= 0 ? away : INFINITY;
}

typedef struct worst {
  double away;
  float at;
  bool odd; /* so far */
} worst;

/* Tries the function on n arguments, and on their negatives if it is odd. */
static void try_arguments(const function *of, const tn_cpu_kernel *kernel,
                          float *x, int64_t n, worst *so_far)
{
  static float y[COUNT], mirrored[COUNT];
  apply(kernel, y, x, n);
  for (int64_t i = 0; i < n; i++) {
    double away = distance(y[i], of->exact(x[i]));
    if (away <= so_far->away) continue;
    so_far->away = away;
    so_far->at = x[i];
  }
  if (!of->odd) return;
  for (int64_t i = 0; i < n; i++) x[i] = -x[i];
  apply(kernel, mirrored, x, n);
  for (int64_t i = 0; i < n; i++)
    if (!(mirrored[i] == -y[i] || isnan(y[i]))) so_far->odd = false;
}

static worst try_all(const function *of, const tn_cpu_kernel *kernel,
                     uint64_t step)
{
  static float x[COUNT];
  worst so_far = { 0, 0, true };
  uint64_t end = of->odd ? UINT64_C(1) << 31 : UINT64_C(1) << 32;
  for (uint64_t bits = 0; bits < end;) {
    int64_t n = 0;
    for (; n < COUNT && bits < end; bits += step) {
      uint32_t word = (uint32_t)bits;
      memcpy(&x[n], &word, sizeof word);
      n += !(x[n] > of->most);
    }
    try_arguments(of, kernel, x, n, &so_far);
  }
  return so_far;
}

int main(void)
{
  bool full = getenv("TN_TEST_FULL") != NULL;
  for (size_t i = 0; i < sizeof functions / sizeof *functions; i++) {
    const function *of = &functions[i];
    worst found = try_all(of, find(of->kernel), full ? 1 : QUICK);
    tap_note("%s: at most %.4f, at %a", of->kernel, found.away,
             (double)found.at);
    tap_ok(found.away <= of->bound, "N3 %s is within %.2f ulp%s", of->kernel,
           of->bound, full ? " everywhere" : "");
    if (of->odd) tap_ok(found.odd, "N3 %s is odd", of->kernel);
  }
  return tap_done();
}
