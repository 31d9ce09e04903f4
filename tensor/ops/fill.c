/* Tensors of given values. */
#include "config.h"

#include <math.h>

#include "tenon/ops.h"
#include "tensor/autograd/node.h"
#include "tensor/compute/convert.h"
#include "tensor/compute/elementwise.h"
#include "tensor/compute/number.h"
#include "tensor/ops/factory.h"

static tn_tensor *fill(tn_tensor *t, double value, const char *operation)
{
  if (!t ||
      tn_number_check((tn_dtype)t->dtype, value, operation) != TN_OK ||
      tn_inplace_begin(t, operation) != TN_OK ||
      tn_tensor_fill(t, value) != TN_OK)
    return NULL;
  return tn_inplace_end(t, NULL);
}

tn_tensor *tn_fill_(tn_tensor *t, double value)
{
  return fill(t, value, "fill_");
}

tn_tensor *tn_zero_(tn_tensor *t)
{
  return fill(t, 0, "zero_");
}

static tn_tensor *filled(tn_shape shape, double value,
                         tn_tensor_options options, const char *operation)
{
  tn_tensor *t = tn_factory_new(shape, options, operation);
  if (!t ||
      (tn_number_check((tn_dtype)t->dtype, value, operation) == TN_OK &&
       tn_tensor_fill(t, value) == TN_OK))
    return tn_factory_finish(t, options);
  tn_release(t);
  return NULL;
}

tn_tensor *tn_zeros_with(tn_shape shape, tn_tensor_options options)
{
  return filled(shape, 0, options, "zeros");
}

tn_tensor *tn_ones_with(tn_shape shape, tn_tensor_options options)
{
  return filled(shape, 1, options, "ones");
}

tn_tensor *tn_full_with(tn_shape shape, double value,
                        tn_tensor_options options)
{
  return filled(shape, value, options, "full");
}

/* Zeros, and ones n + 1 elements apart. */
tn_tensor *tn_eye_with(int64_t n, tn_tensor_options options)
{
  tn_tensor *t = tn_factory_new((tn_shape){ (int64_t[]){ n, n }, 2 }, options,
                                "eye");
  if (!t) return NULL;
  int64_t stride = n + 1;
  tn_tensor *diagonal = tn_tensor_view(t, (tn_shape){ &n, 1 }, &stride, 0);
  bool is_done = diagonal && tn_tensor_fill(t, 0) == TN_OK &&
                 tn_tensor_fill(diagonal, 1) == TN_OK;
  tn_release(diagonal);
  if (is_done) return tn_factory_finish(t, options);
  tn_release(t);
  return NULL;
}

#define STEPS(family, dtype) TN_ELEMENTWISE_FLAT(family, "arange", dtype)
static tn_elementwise steps[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = STEPS("elementwise", "f32"),
  [TN_SLOT_F64] = STEPS("elementwise_f64", "f64"),
  [TN_SLOT_I64] = STEPS("elementwise_i64", "i64"),
  [TN_SLOT_I32] = STEPS("elementwise_i32", "i32"),
  [TN_SLOT_U8] = STEPS("elementwise_u8", "u8"),
};

/* How many; -1 with the error set. */
static int64_t steps_of(double start, double end, double step)
{
  double count = ceil((end - start) / step);
  if (step != 0 && count >= 0 && count < 0x1p62) return (int64_t)count;
  if (step != 0 && isfinite(step) && count < 0)
    tn_set_error(TN_INVALID_ARGUMENT, "arange: steps of %g do not lead from "
                 "%g to %g", step, start, end);
  else
    tn_set_error(TN_INVALID_ARGUMENT, "arange: from %g to %g by %g: finite "
                 "numbers and a step other than 0 are needed", start, end,
                 step);
  return -1;
}

tn_tensor *tn_arange_with(double start, double end, double step,
                          tn_tensor_options options)
{
  tn_dtype dtype = options.dtype ? options.dtype : TN_F32;
  int64_t n = steps_of(start, end, step);
  if (n < 0) return NULL;
  if (dtype == TN_BOOL) {
    tn_set_error(TN_DTYPE_MISMATCH, "arange: not of dtype bool");
    return NULL;
  }
  tn_tensor *t = tn_factory_new((tn_shape){ &n, 1 }, options, "arange");
  tn_arg numbers[] = { tn_number_arg(dtype, start),
                       tn_number_arg(dtype, step) };
  if (!t || tn_elementwise_run(&steps[tn_dtype_slot_of(dtype)], &t, 1,
                               numbers, 2) == TN_OK)
    return tn_factory_finish(t, options);
  tn_release(t);
  return NULL;
}
