/* docs/numbers.md in plain C, continued: see numbers_layers.h. */
#include "tests/numbers_layers.h"

#include <math.h>
#include <stdlib.h>

#include "tests/numbers_functions.h"
#include "tests/numbers_reference.h"
#include "tests/numbers_rows.h"

enum { LANES = 64, BLOCK = 4096 };

/* dot_T: the sum of a[i] b[i] over lanes and blocks; sum_T. */
#define SUMS(T, fma_of)                                                     \
  static T sum_##T(const T *x, int64_t n)                                   \
  {                                                                         \
    T lane[LANES] = { 0 };                                                  \
    if (n <= BLOCK) {                                                       \
      for (int64_t i = 0; i < n; i++) lane[i % LANES] += x[i];              \
      for (int half = LANES / 2; half > 0; half /= 2)                       \
        for (int l = 0; l < half; l++) lane[l] += lane[l + half];           \
      return lane[0];                                                       \
    }                                                                       \
    int64_t blocks = (n + BLOCK - 1) / BLOCK;                               \
    T *part = calloc((size_t)blocks, sizeof *part);                         \
    if (!part) abort();                                                     \
    for (int64_t b = 0; b < blocks; b++)                                    \
      part[b] = sum_##T(x + b * BLOCK,                                      \
                        b + 1 < blocks ? BLOCK : n - b * BLOCK);            \
    T result = sum_##T(part, blocks);                                       \
    free(part);                                                             \
    return result;                                                          \
  }                                                                         \
  static T dot_##T(const T *a, const T *b, int64_t n)                       \
  {                                                                         \
    int64_t blocks = (n + BLOCK - 1) / BLOCK;                               \
    T *part = calloc((size_t)blocks + 1, sizeof *part);                     \
    if (!part) abort();                                                     \
    for (int64_t k = 0; k < blocks; k++) {                                  \
      T lane[LANES] = { 0 };                                                \
      for (int64_t i = k * BLOCK; i < n && i < (k + 1) * BLOCK; i++)        \
        lane[i % LANES] = fma_of(a[i], b[i], lane[i % LANES]);              \
      part[k] = sum_##T(lane, LANES);                                       \
    }                                                                       \
    T result = sum_##T(part, blocks);                                       \
    free(part);                                                             \
    return result;                                                          \
  }                                                                         \
  static T *new_##T(int64_t n)                                              \
  {                                                                         \
    T *x = calloc((size_t)n + 1, sizeof *x);                                \
    if (!x) abort();                                                        \
    return x;                                                               \
  }
SUMS(float, fmaf)
SUMS(double, fma)

/* Softmax */

#define SOFTMAX(T, suffix, max_of, exp_of, log_of)                          \
  void ref_softmax_##suffix(const T *x, int64_t n, T *y)                    \
  {                                                                         \
    T high = max_of(x, n);                                                  \
    for (int64_t i = 0; i < n; i++) y[i] = exp_of(x[i] - high);             \
    T share = 1 / sum_##T(y, n);                                            \
    for (int64_t i = 0; i < n; i++) y[i] *= share;                          \
  }                                                                         \
  void ref_log_softmax_##suffix(const T *x, int64_t n, T *y)                \
  {                                                                         \
    T high = max_of(x, n);                                                  \
    for (int64_t i = 0; i < n; i++) y[i] = exp_of(x[i] - high);             \
    T whole = log_of(sum_##T(y, n));                                        \
    for (int64_t i = 0; i < n; i++) y[i] = x[i] - high - whole;             \
  }                                                                         \
  void ref_softmax_backward_##suffix(const T *gy, const T *y, int64_t n,    \
                                     T *gx)                                 \
  {                                                                         \
    T sum = dot_##T(gy, y, n);                                              \
    for (int64_t i = 0; i < n; i++) gx[i] = y[i] * (gy[i] - sum);           \
  }                                                                         \
  void ref_log_softmax_backward_##suffix(const T *gy, const T *y,           \
                                         int64_t n, T *gx)                  \
  {                                                                         \
    T sum = sum_##T(gy, n);                                                 \
    for (int64_t i = 0; i < n; i++)                                         \
      gx[i] = FMA_OF_##suffix(-exp_of(y[i]), sum, gy[i]);                   \
  }
#define FMA_OF_f32 fmaf
#define FMA_OF_f64 fma

static float max_f32(const float *x, int64_t n)
{
  return ref_max(x, n, 1);
}

static double max_f64(const double *x, int64_t n)
{
  double high;
  ref_max_f64(x, n, 1, &high);
  return high;
}

SOFTMAX(float, f32, max_f32, ref_exp_neg, ref_log)
SOFTMAX(double, f64, max_f64, ref_exp_f64, ref_log_f64)

/* Layer norm */

#define LAYER_NORM(T, suffix, fma_of, sqrt_of)                              \
  void ref_layer_norm_##suffix(const T *x, const T *weight, const T *bias,  \
                               int64_t n, T eps, T *y, T stats[2])          \
  {                                                                         \
    T mean = sum_##T(x, n) / (T)n;                                          \
    for (int64_t i = 0; i < n; i++) y[i] = x[i] - mean;                     \
    T scale = 1 / sqrt_of(dot_##T(y, y, n) / (T)n + eps);                   \
    for (int64_t i = 0; i < n; i++)                                         \
      y[i] = fma_of(y[i] * scale, weight[i], bias[i]);                      \
    stats[0] = mean;                                                        \
    stats[1] = scale;                                                       \
  }                                                                         \
  void ref_layer_norm_backward_##suffix(const T *gy, const T *x,            \
                                        const T *weight, int64_t n,         \
                                        const T stats[2], T *gx)            \
  {                                                                         \
    T *h = new_##T(n), *a = new_##T(n);                                     \
    for (int64_t i = 0; i < n; i++) {                                       \
      h[i] = (x[i] - stats[0]) * stats[1];                                  \
      a[i] = gy[i] * weight[i];                                             \
    }                                                                       \
    T level = sum_##T(a, n) / (T)n, tilt = dot_##T(a, h, n) / (T)n;         \
    for (int64_t i = 0; i < n; i++)                                         \
      gx[i] = fma_of(-h[i], tilt, a[i] - level) * stats[1];                 \
    free(h);                                                                \
    free(a);                                                                \
  }                                                                         \
  void ref_layer_norm_column_##suffix(const T *gy, const T *x,              \
                                      const T *mean, const T *scale,        \
                                      int64_t rows, int64_t n,              \
                                      T gradient[2])                        \
  {                                                                         \
    T *h = new_##T(rows), *s = new_##T(rows);                               \
    for (int64_t r = 0; r < rows; r++) {                                    \
      h[r] = (x[r * n] - mean[r]) * scale[r];                               \
      s[r] = gy[r * n];                                                     \
    }                                                                       \
    gradient[0] = dot_##T(s, h, rows);                                      \
    gradient[1] = sum_##T(s, rows);                                         \
    free(h);                                                                \
    free(s);                                                                \
  }
LAYER_NORM(float, f32, fmaf, sqrtf)
LAYER_NORM(double, f64, fma, sqrt)
