/* Values to the host. */
#include "config.h"

#include <inttypes.h>
#include <math.h>
#include <string.h>

#include "tensor/tensor/tensor.h"

/* Waits for what wrote the elements: the copy is ordered after the device's
 * current stream. */
static tn_status read_rows(const tn_tensor *t, void *host)
{
  return tn_copy(host, (tn_device){ 0, 0 }, tn_tensor_address(t),
                 tn_tensor_place(t)->device,
                 (size_t)t->numel * tn_dtype_size((tn_dtype)t->dtype), false);
}

tn_status tn_read(tn_tensor *t, void *host, size_t bytes)
{
  if (!t) return tn_tensor_missing("read");
  size_t wanted = (size_t)t->numel * tn_dtype_size((tn_dtype)t->dtype);
  if (bytes != wanted)
    return tn_set_error(TN_INVALID_ARGUMENT, "read: %zu bytes for %" PRId64
                        " elements of %s, which take %zu", bytes, t->numel,
                        tn_dtype_name((tn_dtype)t->dtype), wanted);
  if (wanted && !host)
    return tn_set_error(TN_INVALID_ARGUMENT, "read: the memory is NULL");
  if (wanted == 0) return TN_OK;
  if (t->is_contiguous) return read_rows(t, host);
  tn_status status = TN_OK;
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return tn_last_status();
  tn_tensor *rows = tn_contiguous(t);
  status = rows ? read_rows(rows, host) : tn_last_status();
  tn_scope_pop(&scope);
  return status;
}

typedef union number {
  float f32;
  double f64;
  int32_t i32;
  int64_t i64;
  uint8_t u8;
} number;

static tn_status read_one(tn_tensor *t, number *value)
{
  if (!t) return tn_tensor_missing("item");
  if (t->numel != 1)
    return tn_set_error(TN_SHAPE_MISMATCH, "item: shape %s: one element is "
                        "needed", tn_shape_text(tn_tensor_shape(t)));
  return read_rows(t, value);
}

double tn_item(tn_tensor *t)
{
  number value;
  if (read_one(t, &value) != TN_OK) return NAN;
  switch ((tn_dtype)t->dtype) {
  case TN_F32: return (double)value.f32;
  case TN_F64: return value.f64;
  case TN_I32: return value.i32;
  case TN_I64: return (double)value.i64;
  default: return value.u8;
  }
}

static int64_t saturated(double value)
{
  if (isnan(value)) return 0;
  if (value >= 0x1p63) return INT64_MAX;
  return value < -0x1p63 ? INT64_MIN : (int64_t)value;
}

int64_t tn_item_i64(tn_tensor *t)
{
  number value;
  if (read_one(t, &value) != TN_OK) return 0;
  switch ((tn_dtype)t->dtype) {
  case TN_F32: return saturated((double)value.f32);
  case TN_F64: return saturated(value.f64);
  case TN_I32: return value.i32;
  case TN_I64: return value.i64;
  default: return value.u8;
  }
}
