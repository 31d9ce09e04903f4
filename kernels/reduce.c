/* Reductions of f32: see reduce_forms.h. */
#include <tenon/kernel_lang.h>

#include "reduce_forms.h"

ORDER_FLOATS(float)
TN_FUNCTION float of_sum(float p, float v) { return p + v; }
TN_FUNCTION float of_prod(float p, float v) { return p * v; }

#define ZERO 0.0f
#define ONE 1.0f
#define LEAST tn_from_bits(0xff800000u)    /* -infinity */
#define GREATEST tn_from_bits(0x7f800000u) /* +infinity */

#define ROWS(name, start, take)                                             \
  REDUCE_ROWS(name, float, float, start, take, part[0],                     \
              ROWS_PARAMETERS(float, float))
#define SHORT(name, start, take)                                            \
  REDUCE_SHORT(name, float, float, start, take, part[t],                    \
               SHORT_PARAMETERS(float, float))
#define COLUMNS_OF(name, start, take)                                       \
  REDUCE_COLUMNS(name, float, float, start, take, part[t],                  \
                 COLUMNS_PARAMETERS(float, float))

ROWS(sum_f32, ZERO, of_sum)
ROWS(prod_f32, ONE, of_prod)
ROWS(max_f32, LEAST, of_max)
ROWS(min_f32, GREATEST, of_min)
REDUCE_ROWS(mean_f32, float, float, ZERO, of_sum, part[0] / count,
            ROWS_PARAMETERS(float, float), TN_VAL(float, count))

SHORT(sum_short_f32, ZERO, of_sum)
SHORT(max_short_f32, LEAST, of_max)
SHORT(min_short_f32, GREATEST, of_min)
REDUCE_SHORT(mean_short_f32, float, float, ZERO, of_sum, part[t] / count,
             SHORT_PARAMETERS(float, float), TN_VAL(float, count))

COLUMNS_OF(sum_columns_f32, ZERO, of_sum)
COLUMNS_OF(prod_columns_f32, ONE, of_prod)
COLUMNS_OF(max_columns_f32, LEAST, of_max)
COLUMNS_OF(min_columns_f32, GREATEST, of_min)
REDUCE_COLUMNS(mean_columns_f32, float, float, ZERO, of_sum,
               part[t] / count, COLUMNS_PARAMETERS(float, float),
               TN_VAL(float, count))

ARG_ROWS(argmax_f32, float, LEAST, beats_max, first + place[0],
         ARG_PARAMETERS(float))
ARG_ROWS(argmin_f32, float, GREATEST, beats_min, first + place[0],
         ARG_PARAMETERS(float))
ARG_ROWS(argmax_of_blocks_f32, float, LEAST, beats_max,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(float),
         TN_IN(int64, from_at))
ARG_ROWS(argmin_of_blocks_f32, float, GREATEST, beats_min,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(float),
         TN_IN(int64, from_at))
