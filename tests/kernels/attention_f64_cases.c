/* Trials of attention in f64. */
#include <math.h>
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_attention.h"

enum { MASKED = 1, CAUSAL = 2, FEW = 4 /* keys */ };

static const int plain = 0, masked = MASKED, both = MASKED | CAUSAL;

#define REAL double
#define SUFFIX "f64"
#define NAMED(name) name##_f64
#define ATTENTION ref_attention_f64
#define ROW ref_attention_row_f64
#define BACKWARD ref_attention_backward_f64
#define MAKE trial_doubles
#define RANDOM trial_double
#define EXPECT trial_expect_f64
#define ARG_REAL TN_ARG_F64
#define ABS fabs
#include "tests/kernels/attention_cases_real.h"

static const int64_t rows[] = { 1, 2, 40, -1 };
static const int64_t sizes[] = { 1, 17, 65, 130, -1 };

const kernel_case attention_f64_cases[] = {
  { "attention_f64", "attention_f64", attention_f64, &plain, sizes,
    TRIAL_FLAVOURS },
  { "attention_f64 causal mask", "attention_f64", attention_f64, &both,
    sizes, TRIAL_FLAVOURS },
  { "attention_backward_f64", "attention_f64", backward_f64, &plain, rows,
    TRIAL_FLAVOURS },
  { "attention_backward_f64 mask", "attention_f64", backward_f64, &masked,
    rows, TRIAL_FLAVOURS },
  { 0 }
};
