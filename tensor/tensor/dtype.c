#include "config.h"

#include "tensor/tensor/dtype.h"

#include <math.h>

#include "tensor/tensor/tensor.h"

static const struct { const char *name; size_t size; tn_dtype_slot slot; }
dtypes[TN_DTYPE_COUNT] = {
  [TN_F32] = { "f32", 4, TN_SLOT_F32 },
  [TN_F64] = { "f64", 8, TN_SLOT_F64 },
  [TN_F16] = { "f16", 0, TN_SLOT_COUNT },
  [TN_BF16] = { "bf16", 0, TN_SLOT_COUNT },
  [TN_I8] = { "i8", 0, TN_SLOT_COUNT },
  [TN_I16] = { "i16", 0, TN_SLOT_COUNT },
  [TN_I32] = { "i32", 4, TN_SLOT_I32 },
  [TN_I64] = { "i64", 8, TN_SLOT_I64 },
  [TN_U8] = { "u8", 1, TN_SLOT_U8 },
  [TN_BOOL] = { "bool", 1, TN_SLOT_BOOL },
};

static bool is_known(tn_dtype dtype)
{
  return (unsigned)dtype < TN_DTYPE_COUNT && dtypes[dtype].name;
}

const char *tn_dtype_name(tn_dtype dtype)
{
  return is_known(dtype) ? dtypes[dtype].name : "invalid";
}

size_t tn_dtype_size(tn_dtype dtype)
{
  return is_known(dtype) ? dtypes[dtype].size : 0;
}

tn_dtype_slot tn_dtype_slot_of(tn_dtype dtype)
{
  return is_known(dtype) ? dtypes[dtype].slot : TN_SLOT_COUNT;
}

tn_status tn_dtype_check(tn_dtype dtype, const char *operation)
{
  if (tn_dtype_size(dtype)) return TN_OK;
  if (is_known(dtype))
    return tn_set_error(TN_UNSUPPORTED, "%s: dtype %s is not supported yet: "
                        "f32, f64, i64, i32, u8 and bool are", operation,
                        tn_dtype_name(dtype));
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: %d is no dtype", operation,
                      (int)dtype);
}

/* bool < integers < floats */
static int kind_of(tn_dtype dtype)
{
  return dtype == TN_BOOL ? 0 : tn_dtype_is_integer(dtype) ? 1 : 2;
}

static int rank_of(tn_dtype dtype)
{
  return (int)tn_dtype_size(dtype);
}

tn_dtype tn_promote_types(tn_dtype a, tn_dtype b)
{
  if (!tn_dtype_size(a) || !tn_dtype_size(b)) return TN_DTYPE_DEFAULT;
  int of_a = kind_of(a), of_b = kind_of(b);
  if (of_a != of_b) return of_a > of_b ? a : b;
  return rank_of(a) >= rank_of(b) ? a : b;
}

tn_dtype tn_promote(const tn_tensor *a, const tn_tensor *b)
{
  tn_dtype x = (tn_dtype)a->dtype, y = (tn_dtype)b->dtype;
  if (x == y) return x;
  if ((a->ndim == 0) == (b->ndim == 0)) return tn_promote_types(x, y);
  tn_dtype whole = a->ndim ? x : y, single = a->ndim ? y : x;
  return kind_of(single) > kind_of(whole) ? single : whole;
}

tn_dtype tn_promote_number(const tn_tensor *t, double number)
{
  tn_dtype dtype = (tn_dtype)t->dtype;
  if (tn_dtype_is_float(dtype)) return dtype;
  bool is_whole = number == floor(number) && fabs(number) <= 0x1p63;
  if (!is_whole) return TN_F32;
  return dtype == TN_BOOL ? TN_I64 : dtype;
}
