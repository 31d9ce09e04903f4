/* docs/numbers.md in plain C: attention. */
#include "tests/numbers_attention.h"

#include <math.h>

#include "tests/numbers_reference.h"

enum { TILE = 64 };

#define REAL float
#define FMA fmaf
#define MAX ref_max
#define SUM ref_sum
#define EXP ref_exp_neg
#define ATTENTION ref_attention
#define NAMED(name) ref_attention_##name
#include "tests/numbers_attention_real.h"
