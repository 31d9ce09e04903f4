/* eq, ne, lt, le, gt, ge, and logic. */
#include "config.h"

#include "tenon/ops.h"
#include "tensor/compute/convert.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/operands.h"

#define KERNELS(form, op)                                                   \
  { [TN_SLOT_F32] = form("elementwise", op, "f32"),                         \
    [TN_SLOT_F64] = form("elementwise_f64", op, "f64"),                     \
    [TN_SLOT_I64] = form("elementwise_i64", op, "i64"),                     \
    [TN_SLOT_I32] = form("elementwise_i32", op, "i32"),                     \
    [TN_SLOT_U8] = form("elementwise_u8", op, "u8"),                        \
    [TN_SLOT_BOOL] = form("elementwise_u8", op, "u8") }

/* which: see kernels/README.md. */
#define COMPARISON(op, bits)                                                \
  static tn_binary op = { .name = #op, .inplace = #op "_", .which = bits,   \
                          .is_comparison = true,                            \
                          .tensors = KERNELS(TN_ELEMENTWISE, "compare"),    \
                          .numbers = KERNELS(TN_ELEMENTWISE_FLAT,           \
                                             "compare_scalar") };           \
  tn_tensor *tn_##op(tn_tensor *a, tn_tensor *b)                            \
  {                                                                         \
    return tn_binary_apply(&op, a, b, NULL);                                \
  }                                                                         \
  tn_tensor *tn_##op##_(tn_tensor *a, tn_tensor *b)                         \
  {                                                                         \
    return tn_binary_apply_(&op, a, b, NULL);                               \
  }                                                                         \
  tn_tensor *tn_##op##_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)      \
  {                                                                         \
    return tn_binary_apply_out(&op, out, a, b);                             \
  }                                                                         \
  tn_tensor *tn_##op##_scalar(tn_tensor *a, double b)                       \
  {                                                                         \
    return tn_binary_number(&op, a, b);                                     \
  }                                                                         \
  tn_tensor *tn_##op##_scalar_(tn_tensor *a, double b)                      \
  {                                                                         \
    return tn_binary_number_(&op, a, b);                                    \
  }
COMPARISON(eq, 2)
COMPARISON(ne, 10)
COMPARISON(lt, 1)
COMPARISON(le, 3)
COMPARISON(gt, 4)
COMPARISON(ge, 6)

#define LOGIC(op)                                                           \
  TN_ELEMENTWISE("elementwise_u8", op, "u8")
static tn_elementwise and_kernel = LOGIC("and"), or_kernel = LOGIC("or");
static tn_elementwise xor_kernel = LOGIC("xor");
static tn_elementwise not_kernel = TN_ELEMENTWISE_FLAT("elementwise_u8",
                                                       "not", "u8");

/* Operands become bool. */
static tn_tensor *apply_logic(tn_elementwise *kernel, tn_tensor *a,
                              tn_tensor *b, const char *name)
{
  tn_operands ready;
  tn_tensor *inputs[] = { a, b };
  int count = b ? 2 : 1;
  if (tn_operands_begin(&ready, inputs, count, 0, TN_BOOL, name) != TN_OK)
    return NULL;
  tn_tensor *y = tn_tensor_new(tn_operands_place(&ready), TN_BOOL,
                               tn_operands_shape(&ready), name);
  tn_tensor *operands[] = { y, ready.tensors[0], b ? ready.tensors[1] : NULL };
  if (y &&
      tn_elementwise_run(kernel, operands, 1 + count, NULL, 0) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_operands_end(&ready);
  return tn_scope_give(y);
}

tn_tensor *tn_logical_and(tn_tensor *a, tn_tensor *b)
{
  return a && b ? apply_logic(&and_kernel, a, b, "logical_and") : NULL;
}

tn_tensor *tn_logical_or(tn_tensor *a, tn_tensor *b)
{
  return a && b ? apply_logic(&or_kernel, a, b, "logical_or") : NULL;
}

tn_tensor *tn_logical_xor(tn_tensor *a, tn_tensor *b)
{
  return a && b ? apply_logic(&xor_kernel, a, b, "logical_xor") : NULL;
}

tn_tensor *tn_logical_not(tn_tensor *a)
{
  return a ? apply_logic(&not_kernel, a, NULL, "logical_not") : NULL;
}
