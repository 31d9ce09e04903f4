/* docs/numbers.md in plain C: what every kernel must give, bit for bit.
 *
 * Written from the document, element by element, without a thought for speed
 * and without a line of the kernels. Needs -ffp-contract=off. */
#ifndef TN_TESTS_NUMBERS_REFERENCE_H
#define TN_TESTS_NUMBERS_REFERENCE_H

#include <stdint.h>

/* Functions of one number. */
float ref_exp(float x);
float ref_exp_neg(float x);
float ref_log(float x);
float ref_tanh(float x);
float ref_sin(float x);
float ref_cos(float x);
float ref_erf(float x);
float ref_relu(float x);

/* Sine and cosine of the angle that is left of a >= 0 after whole quadrants,
 * which are returned, each as a sum. */
typedef struct ref_parts {
  float high, low;
} ref_parts;
unsigned ref_angle_parts(float a, ref_parts *s, ref_parts *c);

float ref_maximum(float a, float b);
float ref_minimum(float a, float b);
double ref_maximum_f64(double a, double b);
double ref_minimum_f64(double a, double b);

/* Along n values, `step` elements apart. */
float ref_sum(const float *x, int64_t n, int64_t step);
float ref_mean(const float *x, int64_t n, int64_t step);
float ref_max(const float *x, int64_t n, int64_t step);
float ref_min(const float *x, int64_t n, int64_t step);
int64_t ref_argmax(const float *x, int64_t n, int64_t step);
int64_t ref_argmin(const float *x, int64_t n, int64_t step);

/* One element of a matrix product, and of a product with one row or one
 * column: the sum of a[i * a_step] * b[i * b_step] over i < k. */
float ref_product(const float *a, int64_t a_step, const float *b,
                  int64_t b_step, int64_t k);
float ref_dot(const float *a, int64_t a_step, const float *b, int64_t b_step,
              int64_t k);

/* Element i of a random tensor. */
uint32_t ref_random(uint64_t seed, uint64_t offset, int64_t i);
float ref_uniform(uint64_t seed, uint64_t offset, int64_t i);
float ref_normal(uint64_t seed, uint64_t offset, int64_t i);
double ref_uniform_f64(uint64_t seed, uint64_t offset, int64_t i);
double ref_normal_f64(uint64_t seed, uint64_t offset, int64_t i);

/* Text. */
uint64_t ref_hash(const uint8_t *text, int64_t n, uint64_t position);
float ref_entropy_term(uint64_t count, uint64_t total);

#endif
