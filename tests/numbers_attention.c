/* docs/numbers.md in plain C: attention. */
#include "tests/numbers_attention.h"

#include <math.h>

#include "tests/numbers_reference.h"

enum { TILE = 64 };

/* What exp is taken of for query i and key j. */
static float score(const ref_attention *of, int64_t i, int64_t j, float x)
{
  x = of->is_causal && j > i ? -INFINITY : x * of->scale;
  return of->mask ? x + of->mask[i * of->keys + j] : x;
}

static float relative_to(float m)
{
  return m == -INFINITY ? 0 : m;
}

/* The tile of keys from `first` on. */
static void add_tile(const ref_attention *of, int64_t i, int64_t first,
                     float *y, float *stats)
{
  float weight[TILE];
  int64_t length = of->keys - first < TILE ? of->keys - first : TILE;
  for (int64_t j = 0; j < length; j++) {
    float x = 0;
    for (int64_t e = 0; e < of->size; e++)
      x = fmaf(of->q[i * of->size + e],
               of->k[(first + j) * of->size + e], x);
    weight[j] = score(of, i, first + j, x);
  }
  float greatest = ref_max(weight, length, 1);
  float m = isnan(greatest) || greatest > stats[0] ? greatest : stats[0];
  float base = relative_to(m), factor = ref_exp_neg(stats[0] - base);
  for (int64_t j = 0; j < length; j++)
    weight[j] = ref_exp_neg(weight[j] - base);
  stats[1] = fmaf(stats[1], factor, ref_sum(weight, length, 1));
  stats[0] = m;
  for (int64_t c = 0; c < of->values; c++) {
    if (first > 0) y[c] *= factor;
    else y[c] = 0;
    for (int64_t j = 0; j < length; j++)
      y[c] = fmaf(weight[j], of->v[(first + j) * of->values + c], y[c]);
  }
}

void ref_attention_row(const ref_attention *of, int64_t i, float *y,
                       float *stats)
{
  stats[0] = -INFINITY;
  stats[1] = 0;
  for (int64_t first = 0; first < of->keys; first += TILE)
    if (!of->is_causal || first <= i) add_tile(of, i, first, y, stats);
  for (int64_t c = 0; c < of->values; c++) y[c] /= stats[1];
}

void ref_attention_backward(const ref_attention *of, int64_t i, int64_t j,
                            float x, float dp, float dot,
                            const float *stats, float *weight,
                            float *gradient)
{
  float top = score(of, i, j, x) - relative_to(stats[0]);
  *weight = ref_exp_neg(top) / stats[1];
  *gradient = *weight * (dp - dot);
}
