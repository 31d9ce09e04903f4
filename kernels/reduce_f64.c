/* Reductions of f64: see reduce_forms.h. */
#include <tenon/kernel_lang.h>

#include "reduce_forms.h"

ORDER_FLOATS(double)
TN_FUNCTION double of_sum(double p, double v) { return p + v; }
TN_FUNCTION double of_prod(double p, double v) { return p * v; }

#define INFINITE (1e300 * 1e300)

#define ROWS(name, start, take)                                             \
  REDUCE_ROWS(name, double, double, start, take, part[0],                   \
              ROWS_PARAMETERS(double, double))
#define COLUMNS_OF(name, start, take)                                       \
  REDUCE_COLUMNS(name, double, double, start, take, part[t],                \
                 COLUMNS_PARAMETERS(double, double))

ROWS(sum_f64, 0.0, of_sum)
ROWS(prod_f64, 1.0, of_prod)
ROWS(max_f64, -INFINITE, of_max)
ROWS(min_f64, INFINITE, of_min)
REDUCE_ROWS(mean_f64, double, double, 0.0, of_sum, part[0] / count,
            ROWS_PARAMETERS(double, double), TN_VAL(double, count))

COLUMNS_OF(sum_columns_f64, 0.0, of_sum)
COLUMNS_OF(prod_columns_f64, 1.0, of_prod)
COLUMNS_OF(max_columns_f64, -INFINITE, of_max)
COLUMNS_OF(min_columns_f64, INFINITE, of_min)
REDUCE_COLUMNS(mean_columns_f64, double, double, 0.0, of_sum,
               part[t] / count, COLUMNS_PARAMETERS(double, double),
               TN_VAL(double, count))

ARG_ROWS(argmax_f64, double, -INFINITE, beats_max, first + place[0],
         ARG_PARAMETERS(double))
ARG_ROWS(argmin_f64, double, INFINITE, beats_min, first + place[0],
         ARG_PARAMETERS(double))
ARG_ROWS(argmax_of_blocks_f64, double, -INFINITE, beats_max,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(double),
         TN_IN(int64, from_at))
ARG_ROWS(argmin_of_blocks_f64, double, INFINITE, beats_min,
         from_at[row * stride + first + place[0]], ARG_PARAMETERS(double),
         TN_IN(int64, from_at))
