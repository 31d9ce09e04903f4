/* Casts among f32, i64, i32, u8 and bool (0 or 1 in a byte, and read as u8). */
#include <tenon/kernel_lang.h>

#include "cast_forms.h"

CUT_CASTS(f32, float)
TRUTH_CAST(f32, float)
PLAIN_CAST(i64, int64, f32, float)
PLAIN_CAST(i64, int64, i32, int32)
PLAIN_CAST(i64, int64, u8, uint8)
TRUTH_CAST(i64, int64)
PLAIN_CAST(i32, int32, f32, float)
PLAIN_CAST(i32, int32, i64, int64)
PLAIN_CAST(i32, int32, u8, uint8)
TRUTH_CAST(i32, int32)
PLAIN_CAST(u8, uint8, f32, float)
PLAIN_CAST(u8, uint8, i64, int64)
PLAIN_CAST(u8, uint8, i32, int32)
TRUTH_CAST(u8, uint8)
