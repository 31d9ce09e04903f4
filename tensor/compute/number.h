/* Numbers as arguments of kernels. */
#ifndef TN_TENSOR_COMPUTE_NUMBER_H
#define TN_TENSOR_COMPUTE_NUMBER_H

#include "tensor/tensor/tensor.h"

/* As a number of that dtype: rounded to f32; cut to an integer, which wraps
 * where it does not fit. */
tn_arg tn_number_arg(tn_dtype dtype, double value);

/* The bits of it, as kernels of the family "move" take them. */
tn_arg tn_number_bits(tn_dtype dtype, double value);

/* Whether all elements of a tensor can become that number: an integer dtype
 * must have it, once cut; u8 takes negative ones too, which wrap. */
tn_status tn_number_check(tn_dtype dtype, double value,
                          const char *operation);

/* Whether an integer dtype has that whole number, or it is a float's. */
bool tn_number_fits(tn_dtype dtype, double value);

#endif
