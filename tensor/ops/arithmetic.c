/* add, sub, mul, div, floor_divide, remainder, pow, maximum, minimum. */
#include "config.h"

#include <math.h>

#include "tenon/ops.h"
#include "tensor/ops/binary.h"

/* ---- gradients ---- */

static double number_of(const tn_node *node)
{
  return *(const double *)tn_node_data_of(node);
}

/* g times a number; itself for 1. */
static tn_tensor *scaled(tn_tensor *g, double number)
{
  if (number == 1) return g;
  return number == -1 ? tn_neg(g) : tn_mul_scalar(g, number);
}

#define FORMULA(name)                                                       \
  static tn_status name##_formula(tn_node *node, tn_tensor **grads,         \
                                  tn_tensor **results)
#define OPERANDS                                                            \
  tn_tensor *g = grads[0];                                                  \
  bool want_a = tn_node_wants(node, 0), want_b = tn_node_wants(node, 1)
#define KIND(op) { .name = #op, .formula = op##_formula }

FORMULA(add)
{
  OPERANDS;
  if (want_a) results[0] = g;
  if (want_b) results[1] = scaled(g, number_of(node));
  return tn_node_check(node, results);
}

FORMULA(sub)
{
  OPERANDS;
  if (want_a) results[0] = g;
  if (want_b) results[1] = scaled(g, -number_of(node));
  return tn_node_check(node, results);
}

FORMULA(mul)
{
  OPERANDS;
  if (want_a) results[0] = tn_mul(g, tn_node_saved(node, 1));
  if (want_b) results[1] = tn_mul(g, tn_node_saved(node, 0));
  return tn_node_check(node, results);
}

FORMULA(div)
{
  OPERANDS;
  tn_tensor *b = tn_node_saved(node, 1);
  if (want_a) results[0] = tn_div(g, b);
  if (want_b)
    results[1] = tn_neg(tn_div(tn_mul(g, tn_node_saved(node, 2)), b));
  return tn_node_check(node, results);
}

FORMULA(remainder)
{
  OPERANDS;
  if (want_a) results[0] = g;
  if (want_b)
    results[1] = tn_neg(tn_mul(g, tn_floor_divide(tn_node_saved(node, 0),
                                                  tn_node_saved(node, 1))));
  return tn_node_check(node, results);
}

/* d(a^b)/da = b a^(b-1), 0 for b = 0; d/db = a^b log a, 0 where a = 0 and the
 * power is 0. */
FORMULA(pow)
{
  OPERANDS;
  tn_tensor *a = tn_node_saved(node, 0), *b = tn_node_saved(node, 1);
  if (want_a) {
    tn_tensor *slope = tn_mul(b, tn_pow(a, tn_sub_scalar(b, 1)));
    results[0] = tn_masked_fill(tn_mul(g, slope), tn_eq_scalar(b, 0), 0);
  }
  if (want_b) {
    tn_tensor *slope = tn_mul(tn_node_saved(node, 2), tn_log(a));
    tn_tensor *flat = tn_logical_and(tn_eq_scalar(a, 0), tn_ge_scalar(b, 0));
    results[1] = tn_masked_fill(tn_mul(g, slope), flat, 0);
  }
  return tn_node_check(node, results);
}

/* All of it where the operand is taken, half where both are equal. */
static tn_tensor *share(tn_tensor *g, tn_tensor *equal, tn_tensor *lost)
{
  tn_tensor *shared = tn_where(equal, tn_mul_scalar(g, 0.5), g);
  return tn_masked_fill(shared, lost, 0);
}

#define EXTREME(name, lost_a, lost_b)                                       \
  FORMULA(name)                                                             \
  {                                                                         \
    OPERANDS;                                                               \
    tn_tensor *a = tn_node_saved(node, 0), *b = tn_node_saved(node, 1);     \
    tn_tensor *equal = tn_eq(a, b);                                         \
    if (want_a) results[0] = share(g, equal, lost_a(a, b));                 \
    if (want_b) results[1] = share(g, equal, lost_b(a, b));                 \
    return tn_node_check(node, results);                                    \
  }
EXTREME(maximum, tn_lt, tn_gt)
EXTREME(minimum, tn_gt, tn_lt)

/* With a number in place of b. */
FORMULA(mul_scalar)
{
  results[0] = tn_mul_scalar(grads[0], number_of(node));
  return tn_node_check(node, results);
}

FORMULA(div_scalar)
{
  results[0] = tn_div_scalar(grads[0], number_of(node));
  return tn_node_check(node, results);
}

FORMULA(same)
{
  results[0] = grads[0];
  return tn_node_check(node, results);
}

FORMULA(rsub_scalar)
{
  results[0] = tn_neg(grads[0]);
  return tn_node_check(node, results);
}

FORMULA(rdiv_scalar)
{
  tn_tensor *a = tn_node_saved(node, 0), *y = tn_node_saved(node, 2);
  results[0] = tn_neg(tn_div(tn_mul(grads[0], y), a));
  return tn_node_check(node, results);
}

static const tn_node_kind add_kind = KIND(add);
static const tn_node_kind sub_kind = KIND(sub);
static const tn_node_kind mul_kind = KIND(mul);
static const tn_node_kind div_kind = KIND(div);
static const tn_node_kind remainder_kind = KIND(remainder);
static const tn_node_kind pow_kind = KIND(pow);
static const tn_node_kind maximum_kind = KIND(maximum);
static const tn_node_kind minimum_kind = KIND(minimum);
static const tn_node_kind mul_number_kind = KIND(mul_scalar);
static const tn_node_kind div_number_kind = KIND(div_scalar);
static const tn_node_kind add_number_kind = { .name = "add_scalar",
                                              .formula = same_formula };
static const tn_node_kind remainder_number_kind = {
  .name = "remainder_scalar", .formula = same_formula
};
static const tn_node_kind rsub_number_kind = KIND(rsub_scalar);
static const tn_node_kind rdiv_number_kind = KIND(rdiv_scalar);

/* ---- kernels ---- */

#define PLAIN(family, op, dtype) TN_ELEMENTWISE(family, op, dtype)
#define FLAT(family, op, dtype) TN_ELEMENTWISE_FLAT(family, op, dtype)
#define REALS(form, family, op)                                             \
  [TN_SLOT_F32] = form(family, op, "f32"),                                  \
  [TN_SLOT_F64] = form(family "_f64", op, "f64")
#define INTEGERS(form, op)                                                  \
  [TN_SLOT_I64] = form("elementwise_i64", op, "i64"),                       \
  [TN_SLOT_I32] = form("elementwise_i32", op, "i32"),                       \
  [TN_SLOT_U8] = form("elementwise_u8", op, "u8")
#define TRUTH(op) [TN_SLOT_BOOL] = TN_ELEMENTWISE("elementwise_u8", op, "u8")
#define ALL(form, op) REALS(form, "elementwise", op), INTEGERS(form, op)
#define NAMED(op) .name = #op, .inplace = #op "_", .kind = &op##_kind

static tn_binary add = { NAMED(add), .number_kind = &add_number_kind,
                         .tensors = { ALL(PLAIN, "add"), TRUTH("or") },
                         .numbers = { ALL(FLAT, "add_scalar") } };
static tn_binary sub = { NAMED(sub),
                         .tensors = { ALL(PLAIN, "sub") } };
static tn_binary mul = { NAMED(mul), .number_kind = &mul_number_kind,
                         .for_a = TN_NEEDS_B, .for_b = TN_NEEDS_A,
                         .tensors = { ALL(PLAIN, "mul"), TRUTH("and") },
                         .numbers = { ALL(FLAT, "mul_scalar") } };
static tn_binary divide = { .name = "div", .inplace = "div_",
                            .kind = &div_kind,
                            .number_kind = &div_number_kind,
                            .for_a = TN_NEEDS_B,
                            .for_b = TN_NEEDS_B | TN_NEEDS_RESULT,
                            .is_real = true,
                            .tensors = { REALS(PLAIN, "elementwise", "div") },
                            .numbers = { REALS(FLAT, "elementwise",
                                               "div_scalar") } };
static tn_binary floor_divide = {
  .name = "floor_divide", .inplace = "floor_divide_",
  .tensors = { REALS(PLAIN, "division", "floor_divide"),
               INTEGERS(PLAIN, "floor_divide") },
  .numbers = { INTEGERS(FLAT, "floor_divide_scalar") }
};
static tn_binary remainder_of = {
  .name = "remainder", .inplace = "remainder_", .kind = &remainder_kind,
  .number_kind = &remainder_number_kind,
  .for_b = TN_NEEDS_A | TN_NEEDS_B,
  .tensors = { REALS(PLAIN, "division", "remainder"),
               INTEGERS(PLAIN, "remainder") },
  .numbers = { INTEGERS(FLAT, "remainder_scalar") }
};
static tn_binary power = { .name = "pow", .inplace = "pow_",
                           .kind = &pow_kind,
                           .for_a = TN_NEEDS_A | TN_NEEDS_B,
                           .for_b = TN_NEEDS_A | TN_NEEDS_B | TN_NEEDS_RESULT,
                           .tensors = { REALS(PLAIN, "division", "pow"),
                                        INTEGERS(PLAIN, "pow") } };
static tn_binary maximum = { NAMED(maximum),
                             .for_a = TN_NEEDS_A | TN_NEEDS_B,
                             .for_b = TN_NEEDS_A | TN_NEEDS_B,
                             .tensors = { ALL(PLAIN, "maximum"),
                                          TRUTH("or") },
                             .numbers = { ALL(FLAT, "maximum_scalar") } };
static tn_binary minimum = { NAMED(minimum),
                             .for_a = TN_NEEDS_A | TN_NEEDS_B,
                             .for_b = TN_NEEDS_A | TN_NEEDS_B,
                             .tensors = { ALL(PLAIN, "minimum"),
                                          TRUTH("and") },
                             .numbers = { ALL(FLAT, "minimum_scalar") } };
/* number - a, number / a. */
static tn_binary rsub = { .name = "rsub", .number_kind = &rsub_number_kind,
                          .numbers = { REALS(FLAT, "elementwise",
                                             "scalar_sub"),
                                       INTEGERS(FLAT, "scalar_sub") } };
static tn_binary rdiv = { .name = "rdiv", .number_kind = &rdiv_number_kind,
                          .for_number = TN_NEEDS_A | TN_NEEDS_RESULT,
                          .is_real = true,
                          .numbers = { REALS(FLAT, "elementwise",
                                             "scalar_div") } };
/* a + alpha b; also a - alpha b, with -alpha. */
static tn_binary add_scaled = { .name = "add", .inplace = "add_",
                                .kind = &add_kind,
                                .tensors = { ALL(PLAIN, "add_scaled") } };
static tn_binary sub_scaled = { .name = "sub", .inplace = "sub_",
                                .kind = &add_kind,
                                .tensors = { ALL(PLAIN, "add_scaled") } };

/* ---- the public functions ---- */

#define TENSORS(name, op)                                                   \
  tn_tensor *tn_##name(tn_tensor *a, tn_tensor *b)                          \
  {                                                                         \
    return tn_binary_apply(&op, a, b, NULL);                                \
  }                                                                         \
  tn_tensor *tn_##name##_(tn_tensor *a, tn_tensor *b)                       \
  {                                                                         \
    return tn_binary_apply_(&op, a, b, NULL);                               \
  }                                                                         \
  tn_tensor *tn_##name##_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)    \
  {                                                                         \
    return tn_binary_apply_out(&op, out, a, b);                             \
  }
#define NUMBERS(name, op)                                                   \
  tn_tensor *tn_##name##_scalar(tn_tensor *a, double b)                     \
  {                                                                         \
    return tn_binary_number(&op, a, b);                                     \
  }                                                                         \
  tn_tensor *tn_##name##_scalar_(tn_tensor *a, double b)                    \
  {                                                                         \
    return tn_binary_number_(&op, a, b);                                    \
  }
TENSORS(add, add)
TENSORS(mul, mul)
TENSORS(div, divide)
TENSORS(floor_divide, floor_divide)
TENSORS(remainder, remainder_of)
TENSORS(pow, power)
TENSORS(maximum, maximum)
TENSORS(minimum, minimum)
NUMBERS(add, add)
NUMBERS(mul, mul)
NUMBERS(div, divide)
NUMBERS(floor_divide, floor_divide)
NUMBERS(remainder, remainder_of)
NUMBERS(maximum, maximum)
NUMBERS(minimum, minimum)

static bool is_bool(const tn_tensor *t, const char *operation)
{
  if (t->dtype != TN_BOOL) return false;
  tn_set_error(TN_DTYPE_MISMATCH, "%s: not of dtype bool: convert it with "
               "tn_to", operation);
  return true;
}

/* Differences of truth values are none of truth values. */
static bool is_bad_sub(const tn_tensor *a, const tn_tensor *b,
                       const char *operation)
{
  return !a || !b || is_bool(a, operation) || is_bool(b, operation);
}

tn_tensor *tn_sub(tn_tensor *a, tn_tensor *b)
{
  return is_bad_sub(a, b, "sub") ? NULL : tn_binary_apply(&sub, a, b, NULL);
}

tn_tensor *tn_sub_(tn_tensor *a, tn_tensor *b)
{
  return is_bad_sub(a, b, "sub_") ? NULL
                                  : tn_binary_apply_(&sub, a, b, NULL);
}

tn_tensor *tn_sub_out(tn_tensor *out, tn_tensor *a, tn_tensor *b)
{
  return is_bad_sub(a, b, "sub_out") ? NULL
                                     : tn_binary_apply_out(&sub, out, a, b);
}

/* a - s is a + -s, to the last bit. */
tn_tensor *tn_sub_scalar(tn_tensor *a, double b)
{
  return a && !is_bool(a, "sub") ? tn_binary_number(&add, a, -b) : NULL;
}

tn_tensor *tn_sub_scalar_(tn_tensor *a, double b)
{
  return a && !is_bool(a, "sub_") ? tn_binary_number_(&add, a, -b) : NULL;
}

static bool is_bad_alpha(const tn_tensor *a, const tn_tensor *b, double alpha,
                         const char *operation)
{
  if (tn_dtype_is_float(tn_promote(a, b)) || alpha == rint(alpha))
    return false;
  tn_set_error(TN_INVALID_ARGUMENT, "%s: alpha is %g: a whole number is "
               "needed for integers", operation, alpha);
  return true;
}

static tn_tensor *apply_scaled(tn_binary *op, tn_tensor *a, tn_tensor *b,
                               double alpha)
{
  if (!a || !b || is_bad_alpha(a, b, alpha, op->name)) return NULL;
  return tn_binary_apply(op, a, b, &alpha);
}

static tn_tensor *apply_scaled_(tn_binary *op, tn_tensor *a, tn_tensor *b,
                                double alpha)
{
  if (!a || !b || is_bad_alpha(a, b, alpha, op->inplace)) return NULL;
  return tn_binary_apply_(op, a, b, &alpha);
}

tn_tensor *tn_add_alpha(tn_tensor *a, tn_tensor *b, double alpha)
{
  return apply_scaled(&add_scaled, a, b, alpha);
}

tn_tensor *tn_add_alpha_(tn_tensor *a, tn_tensor *b, double alpha)
{
  return apply_scaled_(&add_scaled, a, b, alpha);
}

tn_tensor *tn_sub_alpha(tn_tensor *a, tn_tensor *b, double alpha)
{
  if (is_bad_sub(a, b, "sub")) return NULL;
  return apply_scaled(&sub_scaled, a, b, -alpha);
}

tn_tensor *tn_sub_alpha_(tn_tensor *a, tn_tensor *b, double alpha)
{
  if (is_bad_sub(a, b, "sub_")) return NULL;
  return apply_scaled_(&sub_scaled, a, b, -alpha);
}

tn_tensor *tn_rsub_scalar(tn_tensor *a, double number)
{
  return a && !is_bool(a, "rsub") ? tn_binary_number(&rsub, a, number) : NULL;
}

tn_tensor *tn_rdiv_scalar(tn_tensor *a, double number)
{
  return tn_binary_number(&rdiv, a, number);
}

tn_tensor *tn_rpow_scalar(tn_tensor *a, double number)
{
  if (!a) return NULL;
  tn_tensor *first = tn_number_tensor(a, number, "pow");
  tn_tensor *y = first ? tn_binary_apply(&power, first, a, NULL) : NULL;
  tn_release(first);
  return y;
}

/* Powers that are made of other operations, of floats. */
static bool is_simple_power(const tn_tensor *a, double b)
{
  return tn_dtype_is_float((tn_dtype)a->dtype) &&
         (b == 2 || b == 3 || b == 0.5 || b == -1);
}

static tn_tensor *simple_power(tn_tensor *a, double b)
{
  if (!a) return NULL;
  if (b == 2) return tn_mul(a, a);
  if (b == 3) return tn_mul(tn_mul(a, a), a);
  return b == 0.5 ? tn_sqrt(a) : tn_reciprocal(a);
}

static bool is_bad_power(const tn_tensor *a, double b)
{
  if (tn_dtype_is_float((tn_dtype)a->dtype) || b >= 0 || b != rint(b))
    return false;
  tn_set_error(TN_INVALID_ARGUMENT, "pow: %g: an integer has no negative "
               "power; convert it to a floating dtype", b);
  return true;
}

/* Its steps are left in a scope of their own. In place they are those of a
 * copy, since formulas need what is changed. */
static tn_tensor *apply_power(tn_tensor *a, double b, bool in_place)
{
  tn_scope_guard scope = tn_scope_push();
  if (!scope.active) return NULL;
  bool is_kept = in_place && tn_grad_needed(&a, 1);
  tn_tensor *y = simple_power(is_kept ? tn_clone(a) : a, b);
  y = in_place ? tn_copy_with_(a, y, (tn_copy_options){ 0 }) : tn_retain(y);
  tn_scope_pop(&scope);
  return in_place ? y : tn_scope_give(y);
}

tn_tensor *tn_pow_scalar(tn_tensor *a, double b)
{
  if (!a || is_bad_power(a, b)) return NULL;
  return is_simple_power(a, b) ? apply_power(a, b, false)
                               : tn_binary_number(&power, a, b);
}

tn_tensor *tn_pow_scalar_(tn_tensor *a, double b)
{
  if (!a || is_bad_power(a, b)) return NULL;
  return is_simple_power(a, b) ? apply_power(a, b, true)
                               : tn_binary_number_(&power, a, b);
}
