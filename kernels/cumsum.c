/* Running sums of f32 and i64: see cumsum_forms.h. */
#include <tenon/kernel_lang.h>

#include "cumsum_forms.h"

#define of_sum(a, b) ((a) + (b))
CUMSUM(float, f32)
#undef of_sum

/* Modulo 2^64. */
#define of_sum(a, b) ((int64)((uint64)(a) + (uint64)(b)))
CUMSUM(int64, i64)
