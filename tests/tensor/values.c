/* Tensors and numbers: see values.h. */
#include "tests/tensor/values.h"

#include <math.h>
#include <stdint.h>
#include <string.h>

#include "tests/tap.h"

typedef union cells {
  float f32[VALUES_MAX];
  double f64[VALUES_MAX];
  int64_t i64[VALUES_MAX];
  int32_t i32[VALUES_MAX];
  uint8_t u8[VALUES_MAX];
} cells;

static void put(cells *to, tn_dtype dtype, int i, double value)
{
  switch (dtype) {
  case TN_F32: to->f32[i] = (float)value; break;
  case TN_F64: to->f64[i] = value; break;
  case TN_I64: to->i64[i] = (int64_t)value; break;
  case TN_I32: to->i32[i] = (int32_t)value; break;
  default: to->u8[i] = (uint8_t)value; break;
  }
}

static double get(const cells *from, tn_dtype dtype, int i)
{
  switch (dtype) {
  case TN_F32: return (double)from->f32[i];
  case TN_F64: return from->f64[i];
  case TN_I64: return (double)from->i64[i];
  case TN_I32: return from->i32[i];
  default: return from->u8[i];
  }
}

tn_dtype values_widest(tn_device device)
{
  tn_device_info info;
  bool has_f64 = tn_device_get_info(device, &info) == TN_OK && info.f64;
  return has_f64 ? TN_F64 : TN_F32;
}

tn_tensor *values_tensor(tn_device device, tn_dtype dtype, tn_shape shape,
                         const double *values)
{
  static cells made;
  int64_t count = 1;
  for (int i = 0; i < shape.ndim; i++) count *= shape.sizes[i];
  for (int i = 0; i < count && i < VALUES_MAX; i++)
    put(&made, dtype, i, values[i]);
  return tn_from_data(&made, shape, .dtype = dtype, .device = device);
}

/* Into cells; how many, or -1. */
static int read_cells(tn_tensor *t, cells *to)
{
  if (!t) tap_note("no tensor: %s", tn_error_message());
  if (!t || tn_numel(t) > VALUES_MAX) return -1;
  size_t bytes = (size_t)tn_numel(t) * tn_dtype_size(tn_dtype_of(t));
  if (tn_read(t, to, bytes) == TN_OK) return (int)tn_numel(t);
  tap_note("read: %s", tn_error_message());
  return -1;
}

int values_read(tn_tensor *t, double *values)
{
  static cells read;
  int count = read_cells(t, &read);
  for (int i = 0; i < count; i++)
    values[i] = get(&read, tn_dtype_of(t), i);
  return count;
}

bool values_are(tn_tensor *t, const double *wanted, int count)
{
  static double got[VALUES_MAX];
  int read = values_read(t, got);
  if (read != count) {
    tap_note("%d elements, wanted %d", read, count);
    return false;
  }
  for (int i = 0; i < count; i++) {
    if (got[i] == wanted[i] || (isnan(got[i]) && isnan(wanted[i]))) continue;
    tap_note("element %d is %.17g, wanted %.17g", i, got[i], wanted[i]);
    return false;
  }
  return true;
}

static bool are_alike(const tn_tensor *a, const tn_tensor *b)
{
  tn_shape x = tn_shape_of(a), y = tn_shape_of(b);
  if (tn_dtype_of(a) != tn_dtype_of(b) || x.ndim != y.ndim) return false;
  return memcmp(x.sizes, y.sizes, (size_t)x.ndim * sizeof *x.sizes) == 0;
}

bool values_same(tn_tensor *a, tn_tensor *b)
{
  static cells first, second;
  int count = read_cells(a, &first);
  if (count < 0 || read_cells(b, &second) != count || !are_alike(a, b)) {
    tap_note("dtypes or shapes differ");
    return false;
  }
  size_t size = tn_dtype_size(tn_dtype_of(a));
  for (int i = 0; i < count; i++) {
    double x = get(&first, tn_dtype_of(a), i);
    double y = get(&second, tn_dtype_of(a), i);
    if (isnan(x) && isnan(y)) continue;
    if (memcmp(first.u8 + (size_t)i * size, second.u8 + (size_t)i * size,
               size) == 0)
      continue;
    tap_note("element %d: %.17g and %.17g", i, x, y);
    return false;
  }
  return true;
}
