#include "config.h"

#include "tensor/tensor/shape.h"

#include <inttypes.h>

#define TEXTS 4
#define TEXT_SIZE 200

const char *tn_shape_text(tn_shape shape)
{
  static __thread char texts[TEXTS][TEXT_SIZE];
  static __thread unsigned turn;
  char *text = texts[turn++ % TEXTS];
  if (shape.ndim > 0 && !shape.sizes) return "NULL";
  if (shape.ndim > TN_DIMS_MAX) { /* more than a caller may have */
    snprintf(text, TEXT_SIZE, "[%d sizes]", shape.ndim);
    return text;
  }
  int used = snprintf(text, TEXT_SIZE, "[");
  for (int i = 0; i < shape.ndim && used < TEXT_SIZE - 1; i++)
    used += snprintf(text + used, (size_t)(TEXT_SIZE - used), "%s%" PRId64,
                     i ? ", " : "", shape.sizes[i]);
  if (used < TEXT_SIZE - 1) snprintf(text + used, 2, "]");
  return text;
}

static tn_status check_dims(tn_shape shape, const char *operation)
{
  if (shape.ndim < 0 || shape.ndim > TN_DIMS_MAX)
    return tn_set_error(TN_UNSUPPORTED, "%s: %d dimensions: 0 to %d are "
                        "possible", operation, shape.ndim, TN_DIMS_MAX);
  if (shape.ndim > 0 && !shape.sizes)
    return tn_set_error(TN_INVALID_ARGUMENT, "%s: the sizes are NULL",
                        operation);
  for (int i = 0; i < shape.ndim; i++)
    if (shape.sizes[i] < 0)
      return tn_set_error(TN_INVALID_ARGUMENT, "%s: shape %s: sizes are 0 or "
                          "more", operation, tn_shape_text(shape));
  return TN_OK;
}

/* A size of 0 makes the product 0, whatever the others are; but strides are
 * computed of those, so that they too must fit. */
tn_status tn_shape_check(tn_shape shape, size_t item, const char *operation,
                         int64_t *numel)
{
  tn_status status = check_dims(shape, operation);
  if (status != TN_OK) return status;
  int64_t product = 1, bytes;
  bool is_empty = false, overflows = false;
  for (int i = shape.ndim - 1; i >= 0; i--) {
    if (shape.sizes[i] == 0) is_empty = true;
    else overflows |= __builtin_mul_overflow(product, shape.sizes[i],
                                             &product);
  }
  overflows |= __builtin_mul_overflow(product, (int64_t)item, &bytes);
  if (overflows && !is_empty)
    return tn_set_error(TN_SIZE_OVERFLOW, "%s: shape %s of %zu bytes an "
                        "element exceeds what can be addressed", operation,
                        tn_shape_text(shape), item);
  *numel = is_empty ? 0 : product;
  return TN_OK;
}

int64_t tn_sizes_product(const int64_t *sizes, int count)
{
  int64_t product = 1;
  for (int i = 0; i < count; i++)
    if (sizes[i] == 0) return 0;
  for (int i = 0; i < count; i++)
    if (__builtin_mul_overflow(product, sizes[i], &product)) return INT64_MAX;
  return product;
}

/* As in PyTorch, a size of 0 counts as 1 here. Strides of an empty tensor are
 * never used, so that they may stop growing where they would overflow. */
void tn_shape_strides(tn_shape shape, int64_t *strides)
{
  int64_t step = 1;
  for (int i = shape.ndim - 1; i >= 0; i--) {
    strides[i] = step;
    int64_t size = shape.sizes[i] ? shape.sizes[i] : 1, next;
    if (!__builtin_mul_overflow(step, size, &next)) step = next;
  }
}

int tn_dim_of(int dim, int ndim, const char *operation)
{
  int count = ndim ? ndim : 1;
  if (dim >= -count && dim < count) return dim < 0 ? dim + count : dim;
  tn_set_error(TN_INVALID_ARGUMENT, "%s: dimension %d of %d: %d to %d are "
               "there", operation, dim, ndim, -count, count - 1);
  return -1;
}

tn_status tn_shape_broadcast(tn_shape a, tn_shape b, const char *operation,
                             int64_t *sizes, int *ndim)
{
  int count = a.ndim > b.ndim ? a.ndim : b.ndim;
  for (int i = 1; i <= count; i++) {
    int64_t x = i <= a.ndim ? a.sizes[a.ndim - i] : 1;
    int64_t y = i <= b.ndim ? b.sizes[b.ndim - i] : 1;
    if (x != y && x != 1 && y != 1)
      return tn_set_error(TN_SHAPE_MISMATCH, "%s: shapes %s and %s do not "
                          "broadcast: sizes %" PRId64 " and %" PRId64
                          " at dimension -%d differ", operation,
                          tn_shape_text(a), tn_shape_text(b), x, y, i);
    sizes[count - i] = x == 1 ? y : x;
  }
  *ndim = count;
  return TN_OK;
}
