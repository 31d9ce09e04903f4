/* docs/numbers.md in plain C, continued: see numbers_rows.h. */
#include "tests/numbers_rows.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 64, BLOCK = 4096 };

/* A float is a NaN if it differs from itself; an integer never does. */
#define SUM(kept, v) ((kept) + (v))
#define PRODUCT(kept, v) ((kept) * (v))
#define GREATER(kept, v) \
  ((kept) == (kept) && ((v) > (kept) || (v) != (v)) ? (v) : (kept))
#define SMALLER(kept, v) \
  ((kept) == (kept) && ((v) < (kept) || (v) != (v)) ? (v) : (kept))

/* The walk over lanes and blocks. */
#define REDUCTION(name, T, start, with)                                     \
  static T walk_##name(const T *x, int64_t n, int64_t step)                 \
  {                                                                         \
    T lane[LANES];                                                          \
    for (int l = 0; l < LANES; l++) {                                       \
      lane[l] = start;                                                      \
      for (int64_t i = l; i < n; i += LANES)                                \
        lane[l] = with(lane[l], x[i * step]);                               \
    }                                                                       \
    for (int half = LANES / 2; half > 0; half /= 2)                         \
      for (int l = 0; l < half; l++)                                        \
        lane[l] = with(lane[l], lane[l + half]);                            \
    return lane[0];                                                         \
  }                                                                         \
  void ref_##name(const void *from, int64_t n, int64_t step, void *y)       \
  {                                                                         \
    const T *x = from;                                                      \
    if (n <= BLOCK) {                                                       \
      *(T *)y = walk_##name(x, n, step);                                    \
      return;                                                               \
    }                                                                       \
    int64_t blocks = (n + BLOCK - 1) / BLOCK;                               \
    T *part = calloc((size_t)blocks, sizeof *part);                         \
    if (!part) abort();                                                     \
    for (int64_t b = 0; b < blocks; b++)                                    \
      part[b] = walk_##name(x + b * BLOCK * step,                           \
                            b + 1 < blocks ? BLOCK : n - b * BLOCK, step);  \
    ref_##name(part, blocks, 1, y);                                         \
    free(part);                                                             \
  }

REDUCTION(prod_f32, float, 1, PRODUCT)
REDUCTION(sum_f64, double, 0, SUM)
REDUCTION(prod_f64, double, 1, PRODUCT)
REDUCTION(max_f64, double, -(double)INFINITY, GREATER)
REDUCTION(min_f64, double, (double)INFINITY, SMALLER)

void ref_mean_f64(const void *x, int64_t n, int64_t step, void *y)
{
  ref_sum_f64(x, n, step, y);
  *(double *)y /= (double)n;
}

/* Integers: no order shows. */
#define IN_ORDER(name, T, R, start, with)                                   \
  void ref_##name(const void *from, int64_t n, int64_t step, void *y)       \
  {                                                                         \
    const T *x = from;                                                      \
    R kept = start;                                                         \
    for (int64_t i = 0; i < n; i++) kept = (R)with(kept, (R)x[i * step]);   \
    *(R *)y = kept;                                                         \
  }
#define ANY(kept, v) ((kept) || (v))
#define ALL(kept, v) ((kept) && (v))
#define MORE(kept, v) ((v) > (kept) ? (v) : (kept))
#define LESS(kept, v) ((v) < (kept) ? (v) : (kept))

IN_ORDER(sum_i64, int64_t, uint64_t, 0, SUM)
IN_ORDER(sum_i32, int32_t, uint64_t, 0, SUM)
IN_ORDER(sum_u8, uint8_t, uint64_t, 0, SUM)
IN_ORDER(prod_i64, int64_t, uint64_t, 1, PRODUCT)
IN_ORDER(max_i64, int64_t, int64_t, INT64_MIN, MORE)
IN_ORDER(min_i64, int64_t, int64_t, INT64_MAX, LESS)
IN_ORDER(any_u8, uint8_t, uint8_t, 0, ANY)
IN_ORDER(all_u8, uint8_t, uint8_t, 1, ALL)

#define PLACE(name, T, better)                                              \
  void ref_##name(const void *from, int64_t n, int64_t step, void *y)       \
  {                                                                         \
    const T *x = from;                                                      \
    int64_t best = 0;                                                       \
    for (int64_t i = 1; i < n; i++) {                                       \
      T v = x[i * step], kept = x[best * step];                             \
      if (better) best = i;                                                 \
    }                                                                       \
    *(int64_t *)y = best;                                                   \
  }

PLACE(argmax_f64, double, !isnan(kept) && (isnan(v) || v > kept))
PLACE(argmin_f64, double, !isnan(kept) && (isnan(v) || v < kept))
PLACE(argmax_i64, int64_t, v > kept)
PLACE(argmin_i64, int64_t, v < kept)

/* Each block of 4096 in order from 0, after the sum of those before it. */
#define CUMSUM(name, T)                                                     \
  void ref_##name(const void *from, int64_t n, int64_t step, void *to)      \
  {                                                                         \
    const T *x = from;                                                      \
    T *y = to, before = 0, sum = 0;                                         \
    for (int64_t i = 0; i < n; i++) {                                       \
      if (i % BLOCK == 0) {                                                 \
        before += sum;                                                      \
        sum = 0;                                                            \
      }                                                                     \
      sum += x[i * step];                                                   \
      y[i * step] = before + sum;                                           \
    }                                                                       \
  }
CUMSUM(cumsum_f32, float)
CUMSUM(cumsum_f64, double)
CUMSUM(cumsum_i64, uint64_t)
