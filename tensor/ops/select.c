/* where, masked_fill. */
#include "config.h"

#include "tenon/ops.h"
#include "tensor/autograd/node.h"
#include "tensor/compute/convert.h"
#include "tensor/compute/elementwise.h"
#include "tensor/compute/number.h"
#include "tensor/ops/binary.h"
#include "tensor/ops/operands.h"

/* Of the family "move": by size. */
#define BY_SIZE(form, op)                                                   \
  { [TN_SLOT_F32] = form("move", op, "i32"),                                \
    [TN_SLOT_F64] = form("move", op, "i64"),                                \
    [TN_SLOT_I64] = form("move", op, "i64"),                                \
    [TN_SLOT_I32] = form("move", op, "i32"),                                \
    [TN_SLOT_U8] = form("move", op, "u8"),                                  \
    [TN_SLOT_BOOL] = form("move", op, "u8") }
static tn_elementwise where[TN_SLOT_COUNT] = BY_SIZE(TN_ELEMENTWISE, "where");
static tn_elementwise masked_fill[TN_SLOT_COUNT] =
    BY_SIZE(TN_ELEMENTWISE_FLAT, "masked_fill");

static bool is_mask(const tn_tensor *t, const char *operation)
{
  if (t->dtype == TN_BOOL) return true;
  tn_set_error(TN_DTYPE_MISMATCH, "%s: the condition is %s: bool is needed",
               operation, tn_dtype_name((tn_dtype)t->dtype));
  return false;
}

static tn_tensor *choose(const tn_operands *ready, const char *operation)
{
  tn_tensor *y = tn_tensor_new(tn_operands_place(ready), ready->dtype,
                               tn_operands_shape(ready), operation);
  if (!y) return NULL;
  tn_tensor *operands[] = { y, ready->tensors[0], ready->tensors[1],
                            ready->tensors[2] };
  if (tn_elementwise_run(&where[tn_dtype_slot_of(ready->dtype)], operands, 4,
                         NULL, 0) == TN_OK)
    return y;
  tn_release(y);
  return NULL;
}

static tn_status where_formula(tn_node *node, tn_tensor **grads,
                               tn_tensor **results)
{
  tn_tensor *condition = tn_node_saved(node, 0);
  if (tn_node_wants(node, 0))
    results[0] = tn_masked_fill(grads[0], tn_logical_not(condition), 0);
  if (tn_node_wants(node, 1))
    results[1] = tn_masked_fill(grads[0], condition, 0);
  return tn_node_check(node, results);
}
static const tn_node_kind where_kind = { .name = "where",
                                         .formula = where_formula };

tn_tensor *tn_where(tn_tensor *condition, tn_tensor *a, tn_tensor *b)
{
  if (!condition || !a || !b || !is_mask(condition, "where")) return NULL;
  tn_operands ready;
  tn_tensor *inputs[] = { condition, a, b };
  if (tn_operands_begin(&ready, inputs, 3, 1, tn_promote(a, b), "where") !=
      TN_OK)
    return NULL;
  tn_tensor *y = choose(&ready, "where");
  tn_operands_end(&ready);
  if (y && tn_grad_needed(inputs + 1, 2)) {
    tn_node *node = tn_node_new(&where_kind, inputs + 1, 2);
    tn_node_save(node, condition);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

static tn_status masked_fill_formula(tn_node *node, tn_tensor **grads,
                                     tn_tensor **results)
{
  results[0] = tn_masked_fill(grads[0], tn_node_saved(node, 0), 0);
  return tn_node_check(node, results);
}
static const tn_node_kind masked_fill_kind = {
  .name = "masked_fill", .formula = masked_fill_formula
};

static tn_node *record(tn_tensor *t, tn_tensor *mask)
{
  tn_node *node = tn_node_new(&masked_fill_kind, &t, 1);
  tn_node_save(node, mask);
  return node;
}

/* The number in the tensor's dtype, which the filled one keeps. */
static bool is_number_of(const tn_tensor *t, double value, const char *name)
{
  if (t->dtype == TN_BOOL) return true;
  if (tn_promote_number(t, value) == t->dtype)
    return tn_number_check((tn_dtype)t->dtype, value, name) == TN_OK;
  tn_set_error(TN_DTYPE_MISMATCH, "%s: %g does not go into a tensor of %s",
               name, value, tn_dtype_name((tn_dtype)t->dtype));
  return false;
}

static tn_status fill(const tn_operands *ready, tn_tensor *y, double value)
{
  tn_tensor *operands[] = { y, ready->tensors[0], ready->tensors[1] };
  tn_arg number = tn_number_bits((tn_dtype)y->dtype, value);
  return tn_elementwise_run(&masked_fill[tn_dtype_slot_of(ready->dtype)],
                            operands, 3, &number, 1);
}

tn_tensor *tn_masked_fill(tn_tensor *t, tn_tensor *mask, double value)
{
  if (!t || !mask || !is_mask(mask, "masked_fill") ||
      !is_number_of(t, value, "masked_fill"))
    return NULL;
  tn_operands ready;
  if (tn_operands_begin(&ready, (tn_tensor *[]){ t, mask }, 2, 2,
                        (tn_dtype)t->dtype, "masked_fill") != TN_OK)
    return NULL;
  tn_tensor *y = tn_tensor_new(tn_operands_place(&ready), ready.dtype,
                               tn_operands_shape(&ready), "masked_fill");
  if (y && fill(&ready, y, value) != TN_OK) {
    tn_release(y);
    y = NULL;
  }
  tn_operands_end(&ready);
  if (y && tn_grad_needed(&t, 1)) y = tn_node_finish(record(t, mask), y);
  return tn_scope_give(y);
}

tn_tensor *tn_masked_fill_(tn_tensor *t, tn_tensor *mask, double value)
{
  static const char name[] = "masked_fill_";
  if (!t || !mask || !is_mask(mask, name) || !is_number_of(t, value, name))
    return NULL;
  tn_operands ready;
  tn_tensor *result = NULL;
  if (tn_operands_begin(&ready, (tn_tensor *[]){ t, mask }, 2, 2,
                        (tn_dtype)t->dtype, name) != TN_OK)
    return NULL;
  if (tn_operands_fit(&ready, ready.dtype, t, name) == TN_OK &&
      tn_inplace_begin(t, name) == TN_OK &&
      tn_operands_part(&ready, 1, t, name) == TN_OK &&
      fill(&ready, t, value) == TN_OK)
    result = tn_grad_needed(&t, 1)
                 ? tn_inplace_end_recorded(t, record(t, mask))
                 : tn_inplace_end(t, NULL);
  tn_operands_end(&ready);
  return result;
}
