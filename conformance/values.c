#include "config.h"

#include "conformance/values.h"

#include <math.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define TEXT_OF(text, format) \
  char text[300]; \
  va_list arguments; \
  va_start(arguments, format); \
  vsnprintf(text, sizeof text, format, arguments); \
  va_end(arguments)

tn_tensor *conform_made(tn_tensor *t, const char *format, ...)
{
  TEXT_OF(text, format);
  conform_check(t != NULL, "%s", text);
  return t;
}

void conform_refused(const tn_tensor *t, tn_status wanted,
                     const char *format, ...)
{
  TEXT_OF(text, format);
  conform_check(t == NULL, "%s: it is not refused", text);
  conform_is(tn_last_status(), wanted, "%s", text);
}

tn_tensor *conform_filled(int64_t count, double value)
{
  return conform_made(tn_full(TN_SHAPE(count), value,
                              .device = conform_device),
                      "a tensor of %lld elements", (long long)count);
}

tn_tensor *conform_leaf(int64_t count, double value)
{
  return conform_made(tn_requires_grad_(conform_filled(count, value), true),
                      "a leaf");
}

tn_tensor *conform_ramp(tn_shape shape)
{
  int64_t count = 1;
  for (int i = 0; i < shape.ndim; i++) count *= shape.sizes[i];
  tn_tensor *t = tn_arange(0, count, 1, .dtype = TN_F32,
                           .device = conform_device);
  return conform_made(tn_view(t, shape), "a ramp");
}

/* One element at `at`, of the dtype. */
static void put(void *at, tn_dtype dtype, double value)
{
  switch (dtype) {
  case TN_F64: *(double *)at = value; break;
  case TN_I64: *(int64_t *)at = (int64_t)value; break;
  case TN_I32: *(int32_t *)at = (int32_t)value; break;
  case TN_U8: case TN_BOOL: *(uint8_t *)at = (uint8_t)value; break;
  default: *(float *)at = (float)value;
  }
}

static double get(const void *at, tn_dtype dtype)
{
  switch (dtype) {
  case TN_F64: return *(const double *)at;
  case TN_I64: return (double)*(const int64_t *)at;
  case TN_I32: return (double)*(const int32_t *)at;
  case TN_U8: case TN_BOOL: return *(const uint8_t *)at;
  default: return (double)*(const float *)at;
  }
}

tn_tensor *conform_values(tn_device device, tn_dtype dtype, tn_shape shape,
                          const double *values)
{
  size_t size = tn_dtype_size(dtype), count = 1;
  for (int i = 0; i < shape.ndim; i++) count *= (size_t)shape.sizes[i];
  char *data = calloc(count ? count : 1, size);
  conform_check(data != NULL, "memory of the host");
  for (size_t i = 0; i < count; i++) put(data + i * size, dtype, values[i]);
  tn_tensor *t = tn_from_data(data, shape, .dtype = dtype, .device = device);
  free(data);
  return conform_made(t, "a tensor from data");
}

/* The bytes of its elements, to be freed. */
static char *read_bytes(tn_tensor *t, size_t *bytes)
{
  conform_check(t != NULL, "there is no tensor to read");
  *bytes = (size_t)tn_numel(t) * tn_dtype_size(tn_dtype_of(t));
  char *data = malloc(*bytes + 1);
  conform_check(data != NULL, "memory of the host");
  conform_ok(tn_read(t, data, *bytes), "reading a tensor");
  return data;
}

const double *conform_read(tn_tensor *t)
{
  static double values[CONFORM_VALUES_MAX];
  size_t bytes;
  char *data = read_bytes(t, &bytes);
  size_t size = tn_dtype_size(tn_dtype_of(t)), count = bytes / size;
  conform_check(count <= CONFORM_VALUES_MAX, "%zu elements are too many",
                count);
  for (size_t i = 0; i < count; i++)
    values[i] = get(data + i * size, tn_dtype_of(t));
  free(data);
  return values;
}

static bool is_equal(double a, double b)
{
  return a == b || (isnan(a) && isnan(b));
}

void conform_is_all(tn_tensor *t, double value, const char *format, ...)
{
  TEXT_OF(text, format);
  conform_made(t, "%s", text);
  const double *got = conform_read(t);
  for (int64_t i = 0; i < tn_numel(t); i++)
    conform_check(is_equal(got[i], value), "%s: element %lld is %g in place "
                  "of %g", text, (long long)i, got[i], value);
}

void conform_are(tn_tensor *t, const double *wanted, int count,
                 const char *format, ...)
{
  TEXT_OF(text, format);
  conform_made(t, "%s", text);
  conform_check(tn_numel(t) == count, "%s: %lld elements in place of %d",
                text, (long long)tn_numel(t), count);
  const double *got = conform_read(t);
  for (int i = 0; i < count; i++)
    conform_check(is_equal(got[i], wanted[i]), "%s: element %d is %.17g in "
                  "place of %.17g", text, i, got[i], wanted[i]);
}

static bool has_same_shape(tn_tensor *a, tn_tensor *b)
{
  bool same = tn_ndim(a) == tn_ndim(b);
  for (int i = 0; same && i < tn_ndim(a); i++)
    same = tn_size(a, i) == tn_size(b, i);
  return same;
}

void conform_alike(tn_tensor *got, tn_tensor *wanted, const char *format, ...)
{
  TEXT_OF(text, format);
  conform_made(got, "%s", text);
  conform_made(wanted, "%s: what it is compared with", text);
  tn_dtype dtype = tn_dtype_of(wanted);
  conform_check(tn_dtype_of(got) == dtype && has_same_shape(got, wanted),
                "%s: dtype and shape", text);
  size_t bytes, size = tn_dtype_size(dtype);
  char *a = read_bytes(got, &bytes), *b = read_bytes(wanted, &bytes);
  for (size_t i = 0; i < bytes; i += size) {
    double x = get(a + i, dtype), y = get(b + i, dtype);
    conform_check(memcmp(a + i, b + i, size) == 0 || (isnan(x) && isnan(y)),
                  "%s: element %zu is %a in place of %a", text, i / size, x,
                  y);
  }
  free(a);
  free(b);
}

void conform_is_on(const tn_tensor *t, tn_device device, const char *format,
                   ...)
{
  TEXT_OF(text, format);
  char is[TN_DEVICE_TEXT_SIZE], should[TN_DEVICE_TEXT_SIZE];
  conform_check(t != NULL, "%s", text);
  tn_device_format(tn_device_of_tensor(t), is, sizeof is);
  tn_device_format(device, should, sizeof should);
  conform_check(tn_device_equal(tn_device_of_tensor(t), device),
                "%s: it is on %s in place of %s", text, is, should);
}

tn_device conform_cpu(void)
{
  if (!tn_is_available("cpu")) conform_absent("another backend: cpu");
  return tn_device_of("cpu:0");
}

tn_device conform_other(void)
{
  tn_device cpu = tn_device_of("cpu:0");
  if (tn_device_count(conform_backend) > 1) return conform_second();
  if (!tn_is_available("cpu") || tn_device_equal(cpu, conform_device))
    conform_absent("a second device of %s", conform_backend);
  return cpu;
}
