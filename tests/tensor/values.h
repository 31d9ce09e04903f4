/* Tensors and numbers of the host. */
#ifndef TN_TESTS_TENSOR_VALUES_H
#define TN_TESTS_TENSOR_VALUES_H

#include <stdbool.h>

#include <tenon/tenon.h>

#define VALUES_MAX 4096

/* f64, or f32 on a device that has no f64. */
tn_dtype values_widest(tn_device device);

/* A tensor of the dtype on the device, of `shape`'s elements. */
tn_tensor *values_tensor(tn_device device, tn_dtype dtype, tn_shape shape,
                         const double *values);

/* The elements, row by row; how many, or -1 (NULL, or too many). */
int values_read(tn_tensor *t, double *values);

/* Whether t has exactly these elements; a NaN is equal to a NaN, and zeros to
 * each other. Says what differs. */
bool values_are(tn_tensor *t, const double *wanted, int count);

/* Whether both have the same dtype, shape and bits (NaNs are equal). */
bool values_same(tn_tensor *a, tn_tensor *b);

#define VALUES(...)                                                    \
  (const double[]){ __VA_ARGS__ },                                     \
      (int)(sizeof((const double[]){ __VA_ARGS__ }) / sizeof(double))

#endif
