/* Random tensors. */
#include "config.h"

#include <math.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/compute/random.h"
#include "tensor/ops/factory.h"

typedef tn_status distribution(tn_tensor *y, tn_random_piece piece,
                               double first, double second);

static tn_status check_dtype(const tn_tensor *t, const char *operation)
{
  if (tn_dtype_is_float((tn_dtype)t->dtype)) return TN_OK;
  return tn_set_error(TN_DTYPE_MISMATCH, "%s: dtype %s: f32 and f64 are "
                      "possible", operation,
                      tn_dtype_name((tn_dtype)t->dtype));
}

/* t is contiguous. */
static tn_status fill_rows(tn_tensor *t, distribution *of, double first,
                           double second, tn_generator *generator,
                           const char *operation)
{
  tn_random_piece piece;
  tn_status status = tn_generator_take(generator, tn_tensor_place(t),
                                       tn_random_blocks(t), operation,
                                       &piece);
  if (status != TN_OK) return status;
  status = of(t, piece, first, second);
  tn_random_piece_release(piece);
  return status;
}

static tn_status fill(tn_tensor *t, distribution *of, double first,
                      double second, tn_generator *generator,
                      const char *operation)
{
  if (t->is_contiguous)
    return fill_rows(t, of, first, second, generator, operation);
  tn_tensor *rows = tn_tensor_like(t, (tn_dtype)t->dtype, operation);
  if (!rows) return tn_last_status();
  tn_status status = fill_rows(rows, of, first, second, generator, operation);
  if (status == TN_OK) status = tn_tensor_move(t, rows);
  tn_release(rows);
  return status;
}

static tn_tensor *fill_in_place(tn_tensor *t, distribution *of, double first,
                                double second, tn_generator *generator,
                                const char *operation)
{
  if (check_dtype(t, operation) != TN_OK ||
      tn_inplace_begin(t, operation) != TN_OK ||
      fill(t, of, first, second, generator, operation) != TN_OK)
    return NULL;
  return tn_inplace_end(t, NULL);
}

static double in_dtype(const tn_tensor *t, double value)
{
  return t->dtype == TN_F32 ? (double)(float)value : value;
}

tn_tensor *tn_uniform_(tn_tensor *t, double low, double high,
                       tn_generator *generator)
{
  if (!t) return NULL;
  if (!(low <= high)) {
    tn_set_error(TN_INVALID_ARGUMENT, "uniform_: from %g to %g: the second "
                 "bound must not be below the first", low, high);
    return NULL;
  }
  if (!isfinite(in_dtype(t, high - low))) {
    tn_set_error(TN_INVALID_ARGUMENT, "uniform_: from %g to %g: the distance "
                 "does not fit %s", low, high,
                 tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  return fill_in_place(t, tn_uniform_run, low, high - low, generator,
                       "uniform_");
}

tn_tensor *tn_normal_(tn_tensor *t, double mean, double deviation,
                      tn_generator *generator)
{
  if (!t) return NULL;
  if (!(deviation >= 0)) {
    tn_set_error(TN_INVALID_ARGUMENT, "normal_: deviation %g: 0 or more is "
                 "possible", deviation);
    return NULL;
  }
  return fill_in_place(t, tn_normal_run, mean, deviation, generator,
                       "normal_");
}

static tn_tensor *make(tn_shape shape, tn_tensor_options options,
                       distribution *of, const char *operation)
{
  tn_tensor *t = tn_factory_new(shape, options, operation);
  if (!t) return NULL;
  if (check_dtype(t, operation) == TN_OK &&
      fill_rows(t, of, 0, 1, NULL, operation) == TN_OK)
    return tn_factory_finish(t, options);
  tn_release(t);
  return NULL;
}

tn_tensor *tn_rand_with(tn_shape shape, tn_tensor_options options)
{
  return make(shape, options, tn_uniform_run, "rand");
}

tn_tensor *tn_randn_with(tn_shape shape, tn_tensor_options options)
{
  return make(shape, options, tn_normal_run, "randn");
}
