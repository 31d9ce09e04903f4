/* docs/numbers.md in plain C, as numbers_reference.h: products of f64. */
#ifndef TN_TESTS_NUMBERS_PRODUCTS_H
#define TN_TESTS_NUMBERS_PRODUCTS_H

#include <stdint.h>

/* The sum of a[i * a_step] * b[i * b_step] over i < k: an element of a
 * matrix product, and of a product with one row or one column. */
double ref_product_f64(const double *a, int64_t a_step, const double *b,
                       int64_t b_step, int64_t k);
double ref_dot_f64(const double *a, int64_t a_step, const double *b,
                   int64_t b_step, int64_t k);

#endif
