/* docs/numbers.md in plain C: attention in f64. */
#include <math.h>

#include "tests/numbers_attention.h"
#include "tests/numbers_functions.h"
#include "tests/numbers_rows.h"

enum { TILE = 64 };

static double max_of(const double *x, int64_t n, int64_t step)
{
  double y;
  ref_max_f64(x, n, step, &y);
  return y;
}

static double sum_of(const double *x, int64_t n, int64_t step)
{
  double y;
  ref_sum_f64(x, n, step, &y);
  return y;
}

#define REAL double
#define FMA fma
#define MAX max_of
#define SUM sum_of
#define EXP ref_exp_f64
#define ATTENTION ref_attention_f64
#define NAMED(name) ref_attention_##name##_f64
#include "tests/numbers_attention_real.h"
