/* Trials of attention. */
#include <math.h>
#include <stdlib.h>

#include "tests/numbers_attention.h"
#include "tests/kernels/cases.h"

static const int64_t sizes[] = { 1, 17, 64, 65, 130, -1 };

enum { MASKED = 1, CAUSAL = 2, FEW = 4 /* keys */ };

static const int plain = 0, masked = MASKED, causal = CAUSAL,
                 both = MASKED | CAUSAL, few = FEW;

#define REAL float
#define SUFFIX "f32"
#define NAMED(name) name##_f32
#define ATTENTION ref_attention
#define ROW ref_attention_row
#define BACKWARD ref_attention_backward
#define MAKE trial_floats
#define RANDOM trial_float
#define EXPECT trial_expect_f32
#define ARG_REAL TN_ARG_F32
#define ABS fabsf
#include "tests/kernels/attention_cases_real.h"

static const int64_t rows[] = { 1, 2, 40, -1 };

const kernel_case attention_cases[] = {
  { "attention_f32", "attention", attention_f32, &plain, sizes,
    TRIAL_FLAVOURS },
  { "attention_f32 few keys", "attention", attention_f32, &few, sizes,
    TRIAL_WIDE },
  { "attention_f32 mask", "attention", attention_f32, &masked, sizes,
    TRIAL_FLAVOURS },
  { "attention_f32 causal", "attention", attention_f32, &causal, sizes,
    TRIAL_FLAVOURS },
  { "attention_f32 causal mask", "attention", attention_f32, &both, sizes,
    TRIAL_WIDE },
  { "attention_backward_f32", "attention", backward_f32, &plain, rows,
    TRIAL_FLAVOURS },
  { "attention_backward_f32 mask", "attention", backward_f32, &masked, rows,
    TRIAL_FLAVOURS },
  { "attention_backward_f32 causal", "attention", backward_f32, &causal, rows,
    TRIAL_FLAVOURS },
  { 0 }
};
