/* What tests of tensors are written with, beside check.h. Tensors belong to a
 * scope around the test. */
#ifndef TN_CONFORMANCE_VALUES_H
#define TN_CONFORMANCE_VALUES_H

#include "conformance/check.h"

/* All these succeed or end the test. */

/* Of f32, on the device. */
tn_tensor *conform_filled(int64_t count, double value);
tn_tensor *conform_leaf(int64_t count, double value); /* requires a gradient */

/* 0, 1, 2 ... in this shape. */
tn_tensor *conform_ramp(tn_shape shape);

/* From values that are cast. */
tn_tensor *conform_values(tn_device device, tn_dtype dtype, tn_shape shape,
                          const double *values);

/* An operation worked. */
tn_tensor *conform_made(tn_tensor *t, const char *format, ...)
    TN_PRINTF(2, 3);

/* It was refused, with that status. */
void conform_refused(const tn_tensor *t, tn_status wanted,
                     const char *format, ...) TN_PRINTF(3, 4);

/* The elements as f64, row by row; a static array that the next call fills
 * anew. */
enum { CONFORM_VALUES_MAX = 1 << 14 };
const double *conform_read(tn_tensor *t);

/* Ends the test unless all elements are `value`; a NaN is a NaN. */
void conform_is_all(tn_tensor *t, double value, const char *format, ...)
    TN_PRINTF(3, 4);

/* Ends the test unless these are the elements. */
void conform_are(tn_tensor *t, const double *wanted, int count,
                 const char *format, ...) TN_PRINTF(4, 5);

/* Ends the test unless dtypes, shapes and bits are the same (NaNs are). */
void conform_alike(tn_tensor *got, tn_tensor *wanted, const char *format,
                   ...) TN_PRINTF(3, 4);

void conform_is_on(const tn_tensor *t, tn_device device, const char *format,
                   ...) TN_PRINTF(3, 4);

/* A device whose tensors are strangers to the device's: another one of its
 * backend, or else cpu:0; ends the test as absent if there is none. */
tn_device conform_other(void);

/* cpu:0; ends the test as absent without it. */
tn_device conform_cpu(void);

#define CONFORM_VALUES(...)                                            \
  (const double[]){ __VA_ARGS__ },                                     \
      (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

#endif
