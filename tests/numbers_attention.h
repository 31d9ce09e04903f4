/* docs/numbers.md in plain C, as numbers_reference.h: attention. */
#ifndef TN_TESTS_NUMBERS_ATTENTION_H
#define TN_TESTS_NUMBERS_ATTENTION_H

#include <stdbool.h>
#include <stdint.h>

/* One batch: contiguous q[queries][size], k[keys][size], v[keys][values];
 * mask[queries][keys], contiguous, or NULL. */
typedef struct ref_attention {
  const float *q, *k, *v, *mask;
  int64_t queries, keys, size, values;
  float scale;
  bool is_causal;
} ref_attention;

/* Row i: y[values], and stats[0] = m, stats[1] = s. */
void ref_attention_row(const ref_attention *of, int64_t i, float *y,
                       float *stats);

/* The weight of key j for query i, and the gradient of its exp's argument:
 * from x = q[i] . k[j], dp and dot as the kernel takes them. */
void ref_attention_backward(const ref_attention *of, int64_t i, int64_t j,
                            float x, float dp, float dot,
                            const float *stats, float *weight,
                            float *gradient);

/* The same in f64. */
typedef struct ref_attention_f64 {
  const double *q, *k, *v, *mask;
  int64_t queries, keys, size, values;
  double scale;
  bool is_causal;
} ref_attention_f64;

void ref_attention_row_f64(const ref_attention_f64 *of, int64_t i, double *y,
                           double *stats);
void ref_attention_backward_f64(const ref_attention_f64 *of, int64_t i,
                                int64_t j, double x, double dp, double dot,
                                const double *stats, double *weight,
                                double *gradient);

#endif
