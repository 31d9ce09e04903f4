/* Casts from f64 and to it. */
#include <tenon/kernel_lang.h>

#include "cast_forms.h"

PLAIN_CAST(f64, double, f32, float)
CUT_CASTS(f64, double)
TRUTH_CAST(f64, double)
PLAIN_CAST(f32, float, f64, double)
PLAIN_CAST(i64, int64, f64, double)
PLAIN_CAST(i32, int32, f64, double)
PLAIN_CAST(u8, uint8, f64, double)
