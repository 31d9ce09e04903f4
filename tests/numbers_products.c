/* docs/numbers.md in plain C: products of f64. */
#include "tests/numbers_products.h"

#include <math.h>
#include <stdlib.h>

enum { LANES = 64, BLOCK = 4096, CHUNK = 1024 };

static double fold(double lane[LANES])
{
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

/* Any n: blocks of 4096, then the same over the blocks' sums. */
static double sum(const double *x, int64_t n)
{
  if (n > BLOCK) {
    int64_t blocks = (n + BLOCK - 1) / BLOCK;
    double *part = malloc((size_t)blocks * sizeof *part);
    if (!part) abort();
    for (int64_t b = 0; b < blocks; b++)
      part[b] = sum(x + b * BLOCK, n - b * BLOCK < BLOCK ? n - b * BLOCK
                                                         : BLOCK);
    double result = sum(part, blocks);
    free(part);
    return result;
  }
  double lane[LANES] = { 0 };
  for (int64_t i = 0; i < n; i++) lane[i % LANES] += x[i];
  return fold(lane);
}

double ref_product_f64(const double *a, int64_t a_step, const double *b,
                       int64_t b_step, int64_t k)
{
  int64_t chunks = (k + CHUNK - 1) / CHUNK;
  double *part = calloc((size_t)chunks + 1, sizeof *part);
  if (!part) abort();
  for (int64_t i = 0; i < k; i++)
    part[i / CHUNK] = fma(a[i * a_step], b[i * b_step], part[i / CHUNK]);
  double result = sum(part, chunks);
  free(part);
  return result;
}

double ref_dot_f64(const double *a, int64_t a_step, const double *b,
                   int64_t b_step, int64_t k)
{
  int64_t blocks = (k + BLOCK - 1) / BLOCK;
  double *part = calloc((size_t)blocks + 1, sizeof *part);
  if (!part) abort();
  for (int64_t block = 0; block < blocks; block++) {
    double lane[LANES] = { 0 };
    for (int64_t i = block * BLOCK; i < k && i < (block + 1) * BLOCK; i++)
      lane[i % LANES] = fma(a[i * a_step], b[i * b_step], lane[i % LANES]);
    part[block] = fold(lane);
  }
  double result = blocks == 1 ? part[0] : sum(part, blocks);
  free(part);
  return result;
}
