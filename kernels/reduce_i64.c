/* Reductions of integers: see reduce_forms.h.  Sums and products wrap.  Those
 * of the smaller types are i64; any and all read numbers of one byte, 0 being
 * false, and give 0 or 1. */
#include <tenon/kernel_lang.h>

#include "reduce_forms.h"

ORDER_INTEGERS(int64)
TN_FUNCTION int64 of_sum(int64 p, int64 v)
{
  return (int64)((uint64)p + (uint64)v);
}
TN_FUNCTION int64 of_prod(int64 p, int64 v)
{
  return (int64)((uint64)p * (uint64)v);
}
TN_FUNCTION uint8 of_any(uint8 p, uint8 v) { return p | (v != 0); }
TN_FUNCTION uint8 of_all(uint8 p, uint8 v) { return p & (v != 0); }

#define GREATEST 0x7fffffffffffffff
#define LEAST (-GREATEST - 1)

#define ROWS(name, T, R, start, take)                                       \
  REDUCE_ROWS(name, T, R, start, take, part[0], ROWS_PARAMETERS(T, R))
#define COLUMNS_OF(name, T, R, start, take)                                 \
  REDUCE_COLUMNS(name, T, R, start, take, part[t], COLUMNS_PARAMETERS(T, R))

ROWS(sum_i64, int64, int64, 0, of_sum)
ROWS(sum_i32, int32, int64, 0, of_sum)
ROWS(sum_u8, uint8, int64, 0, of_sum)
ROWS(prod_i64, int64, int64, 1, of_prod)
ROWS(max_i64, int64, int64, LEAST, of_max)
ROWS(min_i64, int64, int64, GREATEST, of_min)
ROWS(any_u8, uint8, uint8, 0, of_any)
ROWS(all_u8, uint8, uint8, 1, of_all)

COLUMNS_OF(sum_columns_i64, int64, int64, 0, of_sum)
COLUMNS_OF(sum_columns_i32, int32, int64, 0, of_sum)
COLUMNS_OF(sum_columns_u8, uint8, int64, 0, of_sum)
COLUMNS_OF(prod_columns_i64, int64, int64, 1, of_prod)
COLUMNS_OF(max_columns_i64, int64, int64, LEAST, of_max)
COLUMNS_OF(min_columns_i64, int64, int64, GREATEST, of_min)
COLUMNS_OF(any_columns_u8, uint8, uint8, 0, of_any)
COLUMNS_OF(all_columns_u8, uint8, uint8, 1, of_all)

ARG_ROWS(argmax_i64, int64, LEAST, beats_max, first + place[0],
         ARG_PARAMETERS(int64))
ARG_ROWS(argmin_i64, int64, GREATEST, beats_min, first + place[0],
         ARG_PARAMETERS(int64))
ARG_ROWS(argmax_of_blocks_i64, int64, LEAST, beats_max,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(int64),
         TN_IN(int64, from_at))
ARG_ROWS(argmin_of_blocks_i64, int64, GREATEST, beats_min,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(int64),
         TN_IN(int64, from_at))
