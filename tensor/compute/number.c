#include "config.h"

#include "tensor/compute/number.h"

#include <math.h>
#include <string.h>

/* Saturated, and a NaN 0, as casts do. */
static int64_t cut(double value)
{
  if (isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

static tn_arg of_i32(int32_t value)
{
  return (tn_arg){ TN_ARG_KIND_I32, { .i32 = value } };
}

static tn_arg of_i64(int64_t value)
{
  return (tn_arg){ TN_ARG_KIND_I64, { .i64 = value } };
}

tn_arg tn_number_arg(tn_dtype dtype, double value)
{
  switch (dtype) {
  case TN_F32: return (tn_arg){ TN_ARG_KIND_F32, { .f32 = (float)value } };
  case TN_F64: return (tn_arg){ TN_ARG_KIND_F64, { .f64 = value } };
  case TN_I64: return of_i64(cut(value));
  case TN_I32: return of_i32((int32_t)cut(value));
  case TN_BOOL: return of_i32(value != 0);
  default: return of_i32((uint8_t)cut(value));
  }
}

tn_arg tn_number_bits(tn_dtype dtype, double value)
{
  tn_arg arg = tn_number_arg(dtype, value);
  if (arg.kind == TN_ARG_KIND_F32) {
    int32_t bits;
    memcpy(&bits, &arg.as.f32, sizeof bits);
    return of_i32(bits);
  }
  if (arg.kind == TN_ARG_KIND_F64) {
    int64_t bits;
    memcpy(&bits, &arg.as.f64, sizeof bits);
    return of_i64(bits);
  }
  return arg;
}

tn_status tn_number_check(tn_dtype dtype, double value, const char *operation)
{
  if (dtype == TN_BOOL || tn_number_fits(dtype, trunc(value)) ||
      (dtype == TN_U8 && value > -256 && value < 0))
    return TN_OK;
  return tn_set_error(TN_INVALID_ARGUMENT, "%s: %g does not fit into a tensor "
                      "of %s", operation, value, tn_dtype_name(dtype));
}

bool tn_number_fits(tn_dtype dtype, double value)
{
  switch (dtype) {
  case TN_I64: return value >= -0x1p63 && value < 0x1p63;
  case TN_I32: return value >= INT32_MIN && value <= INT32_MAX;
  case TN_U8: return value >= 0 && value <= 255;
  case TN_BOOL: return value == 0 || value == 1;
  default: return true;
  }
}
