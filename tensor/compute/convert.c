#include "config.h"

#include "tensor/compute/convert.h"

#include "tensor/compute/elementwise.h"
#include "tensor/compute/number.h"

/* Kernels of the family "move" are by size. */
#define BY_SIZE(of_one, of_four, of_eight)                                  \
  { [TN_SLOT_F32] = of_four, [TN_SLOT_F64] = of_eight,                      \
    [TN_SLOT_I64] = of_eight, [TN_SLOT_I32] = of_four,                      \
    [TN_SLOT_U8] = of_one, [TN_SLOT_BOOL] = of_one }
#define STRIDED(family, name) { .strided = TN_KERNEL_ENTRY(family, name) }
#define COPY(dtype) STRIDED("move", "copy_strided_" dtype)

static tn_elementwise copies[TN_SLOT_COUNT] =
    BY_SIZE(COPY("u8"), COPY("i32"), COPY("i64"));
static tn_elementwise fills[TN_SLOT_COUNT] =
    BY_SIZE(TN_ELEMENTWISE("move", "fill", "u8"),
            TN_ELEMENTWISE("move", "fill", "i32"),
            TN_ELEMENTWISE("move", "fill", "i64"));

#define CAST(from, to) STRIDED("cast", "cast_" from "_" to)
#define CAST_F64(from, to) STRIDED("cast_f64", "cast_" from "_" to)
/* bool is read as u8. */
#define CASTS(from)                                                         \
  { [TN_SLOT_F32] = CAST(from, "f32"), [TN_SLOT_F64] = CAST_F64(from, "f64"),\
    [TN_SLOT_I64] = CAST(from, "i64"), [TN_SLOT_I32] = CAST(from, "i32"),   \
    [TN_SLOT_U8] = CAST(from, "u8"), [TN_SLOT_BOOL] = CAST(from, "bool") }

static tn_elementwise casts[TN_SLOT_COUNT][TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = CASTS("f32"),
  [TN_SLOT_F64] = { [TN_SLOT_F32] = CAST_F64("f64", "f32"),
                    [TN_SLOT_I64] = CAST_F64("f64", "i64"),
                    [TN_SLOT_I32] = CAST_F64("f64", "i32"),
                    [TN_SLOT_U8] = CAST_F64("f64", "u8"),
                    [TN_SLOT_BOOL] = CAST_F64("f64", "bool") },
  [TN_SLOT_I64] = CASTS("i64"),
  [TN_SLOT_I32] = CASTS("i32"),
  [TN_SLOT_U8] = CASTS("u8"),
  [TN_SLOT_BOOL] = CASTS("u8"),
};

static tn_dtype_slot slot_of(const tn_tensor *t)
{
  return tn_dtype_slot_of((tn_dtype)t->dtype);
}

static tn_elementwise *kernel_for(const tn_tensor *to, const tn_tensor *from)
{
  if (to->dtype == from->dtype ||
      (to->dtype == TN_U8 && from->dtype == TN_BOOL))
    return &copies[slot_of(to)];
  return &casts[slot_of(from)][slot_of(to)];
}

static bool is_block_copy(const tn_tensor *to, const tn_tensor *from)
{
  return to->dtype == from->dtype && to->is_contiguous &&
         from->is_contiguous && to->numel == from->numel;
}

tn_status tn_tensor_convert(tn_tensor *to, tn_tensor *from)
{
  tn_device device = tn_tensor_place(to)->device;
  if (to->numel == 0) return TN_OK;
  if (is_block_copy(to, from))
    return tn_copy(tn_tensor_address(to), device, tn_tensor_address(from),
                   device, (size_t)to->numel *
                               tn_dtype_size((tn_dtype)to->dtype), true);
  return tn_elementwise_run(kernel_for(to, from),
                            (tn_tensor *[]){ to, from }, 2, NULL, 0);
}

tn_tensor *tn_tensor_converted(tn_tensor *from, tn_dtype dtype,
                               tn_shape shape, const char *operation)
{
  tn_tensor *to = tn_tensor_new(tn_tensor_place(from), dtype, shape,
                                operation);
  if (!to || tn_tensor_convert(to, from) == TN_OK) return to;
  tn_release(to);
  return NULL;
}

tn_status tn_tensor_fill(tn_tensor *t, double value)
{
  tn_arg number = tn_number_bits((tn_dtype)t->dtype, value);
  return tn_elementwise_run(&fills[slot_of(t)], &t, 1, &number, 1);
}
