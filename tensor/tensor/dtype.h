/* Sizes, kinds and promotion of dtypes. */
#ifndef TN_TENSOR_TENSOR_DTYPE_H
#define TN_TENSOR_TENSOR_DTYPE_H

#include "tenon/tensor.h"

#define TN_DTYPE_COUNT (TN_BOOL + 1)

/* For tables over the dtypes that there are. */
typedef enum tn_dtype_slot {
  TN_SLOT_F32,
  TN_SLOT_F64,
  TN_SLOT_I64,
  TN_SLOT_I32,
  TN_SLOT_U8,
  TN_SLOT_BOOL,
  TN_SLOT_COUNT
} tn_dtype_slot;

tn_dtype_slot tn_dtype_slot_of(tn_dtype dtype);

static inline bool tn_dtype_is_float(tn_dtype dtype)
{
  return dtype >= TN_F32 && dtype <= TN_BF16;
}

/* Integers without bool. */
static inline bool tn_dtype_is_integer(tn_dtype dtype)
{
  return dtype >= TN_I8 && dtype <= TN_U8;
}

/* TN_UNSUPPORTED or TN_INVALID_ARGUMENT for a dtype that cannot be had. */
tn_status tn_dtype_check(tn_dtype dtype, const char *operation);

/* Of an operation on two tensors: those with dimensions count more than
 * those without, as long as they are of the same kind or a higher one. */
tn_dtype tn_promote(const tn_tensor *a, const tn_tensor *b);

/* Of a tensor and a number. */
tn_dtype tn_promote_number(const tn_tensor *t, double number);

#endif
