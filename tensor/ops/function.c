/* Functions of one number, and their gradients: of g, the incoming gradient,
 * x, the argument, or y, the result. */
#include "config.h"

#include <math.h>

#include "tenon/autograd.h"
#include "tensor/compute/convert.h"
#include "tensor/ops/unary.h"

#define FORMULA(op, saved, expression)                                      \
  static tn_status op##_formula(tn_node *node, tn_tensor **grads,           \
                                  tn_tensor **results)                      \
  {                                                                         \
    tn_tensor *g = grads[0], *saved = tn_node_saved(node, 0);               \
    results[0] = saved ? (expression) : NULL;                               \
    return tn_node_check(node, results);                                    \
  }                                                                         \
  static const tn_node_kind op##_kind = { .name = #op,                      \
                                          .formula = op##_formula };
#define PLAIN_FORMULA(op, expression)                                       \
  static tn_status op##_formula(tn_node *node, tn_tensor **grads,           \
                                  tn_tensor **results)                      \
  {                                                                         \
    tn_tensor *g = grads[0];                                                \
    results[0] = (expression);                                              \
    return tn_node_check(node, results);                                    \
  }                                                                         \
  static const tn_node_kind op##_kind = { .name = #op,                      \
                                          .formula = op##_formula };

/* ---- gradients in one kernel, where they need not be differentiated ---- */

#define BACKWARD(name)                                                      \
  static tn_elementwise name##_backward[2] = {                              \
    TN_ELEMENTWISE_FLAT("functions", #name "_backward", "f32"),             \
    TN_ELEMENTWISE_FLAT("functions_f64", #name "_backward", "f64")          \
  };
BACKWARD(relu)
BACKWARD(sigmoid)
BACKWARD(tanh)
BACKWARD(silu)
BACKWARD(gelu)
BACKWARD(gelu_tanh)

/* Whether the kernel takes these, as it does all but odd ones. */
static bool is_direct(const tn_tensor *g, const tn_tensor *saved)
{
  return !tn_is_grad_enabled() && g->dtype == saved->dtype &&
         tn_tensor_place(g) == tn_tensor_place(saved) &&
         tn_shape_equal(tn_tensor_shape(g), tn_tensor_shape(saved));
}

static tn_tensor *direct(tn_elementwise kernels[2], tn_tensor *g,
                         tn_tensor *saved)
{
  tn_tensor *result = tn_tensor_like(g, (tn_dtype)g->dtype, "backward");
  if (result &&
      tn_elementwise_run(&kernels[g->dtype == TN_F64],
                         (tn_tensor *[]){ result, g, saved }, 3, NULL, 0) !=
          TN_OK) {
    tn_release(result);
    return NULL;
  }
  return tn_scope_give(result);
}

/* The same in operations that can be differentiated. */
#define HOT_FORMULA(name, saved, expression)                                \
  FORMULA(name, saved, is_direct(g, saved)                                  \
                           ? direct(name##_backward, g, saved)              \
                           : (expression))

static tn_tensor *one_minus_square(tn_tensor *y)
{
  return tn_rsub_scalar(tn_mul(y, y), 1);
}

HOT_FORMULA(relu, y, tn_masked_fill(g, tn_le_scalar(y, 0), 0))
HOT_FORMULA(sigmoid, y, tn_mul(tn_mul(g, tn_rsub_scalar(y, 1)), y))
HOT_FORMULA(tanh, y, tn_mul(g, one_minus_square(y)))

static tn_tensor *silu_slope(tn_tensor *x)
{
  tn_tensor *s = tn_sigmoid(x);
  tn_tensor *more = tn_mul(x, tn_rsub_scalar(s, 1));
  return tn_mul(s, tn_add_scalar(more, 1));
}
HOT_FORMULA(silu, x, tn_mul(g, silu_slope(x)))

static tn_tensor *gelu_slope(tn_tensor *x)
{
  tn_tensor *below = tn_erf(tn_mul_scalar(x, 0.70710678118654752));
  below = tn_mul_scalar(tn_add_scalar(below, 1), 0.5);
  tn_tensor *density = tn_exp(tn_mul_scalar(tn_mul(x, x), -0.5));
  density = tn_mul_scalar(density, 0.39894228040143268);
  return tn_add(below, tn_mul(x, density));
}
HOT_FORMULA(gelu, x, tn_mul(g, gelu_slope(x)))

static tn_tensor *gelu_tanh_slope(tn_tensor *x)
{
  const double root = 0.79788456080286536, cube = 0.044715;
  tn_tensor *square = tn_mul(x, x);
  tn_tensor *inner = tn_add_scalar(tn_mul_scalar(square, cube), 1);
  tn_tensor *t = tn_tanh(tn_mul_scalar(tn_mul(inner, x), root));
  tn_tensor *slope = tn_add_scalar(tn_mul_scalar(square, 3 * cube), 1);
  slope = tn_mul(tn_mul_scalar(slope, root), one_minus_square(t));
  tn_tensor *right = tn_mul(tn_mul_scalar(x, 0.5), slope);
  return tn_add(tn_mul_scalar(tn_add_scalar(t, 1), 0.5), right);
}
HOT_FORMULA(gelu_tanh, x, tn_mul(g, gelu_tanh_slope(x)))

/* ---- the others ---- */

PLAIN_FORMULA(neg, tn_neg(g))
FORMULA(abs, x, tn_mul(g, tn_sign(x)))
PLAIN_FORMULA(sign, tn_zeros_like(g))
PLAIN_FORMULA(floor, tn_zeros_like(g))
PLAIN_FORMULA(ceil, tn_zeros_like(g))
PLAIN_FORMULA(round, tn_zeros_like(g))
FORMULA(exp, y, tn_mul(g, y))
FORMULA(expm1, y, tn_mul(g, tn_add_scalar(y, 1)))
FORMULA(log, x, tn_div(g, x))
FORMULA(log1p, x, tn_div(g, tn_add_scalar(x, 1)))
FORMULA(sqrt, y, tn_div(g, tn_mul_scalar(y, 2)))
FORMULA(rsqrt, y, tn_mul(tn_mul_scalar(g, -0.5), tn_mul(tn_mul(y, y), y)))
FORMULA(reciprocal, y, tn_neg(tn_mul(g, tn_mul(y, y))))
FORMULA(sin, x, tn_mul(g, tn_cos(x)))
FORMULA(cos, x, tn_neg(tn_mul(g, tn_sin(x))))
FORMULA(tan, y, tn_mul(g, tn_add_scalar(tn_mul(y, y), 1)))
FORMULA(erf, x,
        tn_mul(g, tn_mul_scalar(tn_exp(tn_neg(tn_mul(x, x))),
                                1.1283791670955126)))

/* ---- kernels ---- */

#define REALS(family, op)                                                   \
  [TN_SLOT_F32] = TN_ELEMENTWISE_FLAT(family, op, "f32"),                   \
  [TN_SLOT_F64] = TN_ELEMENTWISE_FLAT(family "_f64", op, "f64")
/* Those that have a strided form too. */
#define ARITHMETIC(op)                                                      \
  [TN_SLOT_F32] = TN_ELEMENTWISE("elementwise", op, "f32"),                 \
  [TN_SLOT_F64] = TN_ELEMENTWISE("elementwise_f64", op, "f64")
#define INTEGERS(op)                                                        \
  [TN_SLOT_I64] = TN_ELEMENTWISE_FLAT("elementwise_i64", op, "i64"),        \
  [TN_SLOT_I32] = TN_ELEMENTWISE_FLAT("elementwise_i32", op, "i32"),        \
  [TN_SLOT_U8] = TN_ELEMENTWISE_FLAT("elementwise_u8", op, "u8")
#define COPY(type) { .strided = TN_KERNEL_ENTRY("move", "copy_strided_" type) }
#define UNCHANGED                                                           \
  [TN_SLOT_I64] = COPY("i64"), [TN_SLOT_I32] = COPY("i32"),                 \
  [TN_SLOT_U8] = COPY("u8")

#define OPERATION(op, what, ...)                                            \
  static tn_unary op##_operation = { .name = #op, .inplace = #op "_",       \
                                     .kind = &op##_kind, .need = what,      \
                                     __VA_ARGS__ };
#define REAL_FUNCTION(op, what)                                             \
  OPERATION(op, what, .is_real = true, .kernels = { REALS("functions", #op) })

OPERATION(neg, TN_NEEDS_NOTHING,
          .kernels = { ARITHMETIC("neg"), INTEGERS("neg") })
OPERATION(abs, TN_NEEDS_ARGUMENT,
          .kernels = { ARITHMETIC("abs"), INTEGERS("abs") })
OPERATION(sign, TN_NEEDS_NOTHING,
          .kernels = { REALS("functions", "sign"), INTEGERS("sign") })
OPERATION(floor, TN_NEEDS_NOTHING,
          .kernels = { REALS("functions", "floor"), UNCHANGED })
OPERATION(ceil, TN_NEEDS_NOTHING,
          .kernels = { REALS("functions", "ceil"), UNCHANGED })
OPERATION(round, TN_NEEDS_NOTHING,
          .kernels = { REALS("functions", "round"), UNCHANGED })
OPERATION(relu, TN_NEEDS_OUTPUT, .kernels = { ARITHMETIC("relu") })
OPERATION(sqrt, TN_NEEDS_OUTPUT, .is_real = true,
          .kernels = { ARITHMETIC("sqrt") })
REAL_FUNCTION(exp, TN_NEEDS_OUTPUT)
REAL_FUNCTION(expm1, TN_NEEDS_OUTPUT)
REAL_FUNCTION(log, TN_NEEDS_ARGUMENT)
REAL_FUNCTION(log1p, TN_NEEDS_ARGUMENT)
REAL_FUNCTION(rsqrt, TN_NEEDS_OUTPUT)
REAL_FUNCTION(reciprocal, TN_NEEDS_OUTPUT)
REAL_FUNCTION(sin, TN_NEEDS_ARGUMENT)
REAL_FUNCTION(cos, TN_NEEDS_ARGUMENT)
REAL_FUNCTION(tan, TN_NEEDS_OUTPUT)
REAL_FUNCTION(tanh, TN_NEEDS_OUTPUT)
REAL_FUNCTION(sigmoid, TN_NEEDS_OUTPUT)
REAL_FUNCTION(erf, TN_NEEDS_ARGUMENT)
OPERATION(gelu, TN_NEEDS_ARGUMENT, .kernels = { REALS("functions", "gelu") })
OPERATION(silu, TN_NEEDS_ARGUMENT, .kernels = { REALS("functions", "silu") })
OPERATION(gelu_tanh, TN_NEEDS_ARGUMENT,
          .kernels = { REALS("functions", "gelu_tanh") })

#define PUBLIC(op)                                                          \
  tn_tensor *tn_##op(tn_tensor *t)                                          \
  {                                                                         \
    return tn_unary_apply(&op##_operation, t, NULL, 0);                     \
  }                                                                         \
  tn_tensor *tn_##op##_(tn_tensor *t)                                       \
  {                                                                         \
    return tn_unary_apply_(&op##_operation, t, NULL, 0);                    \
  }                                                                         \
  tn_tensor *tn_##op##_out(tn_tensor *out, tn_tensor *t)                    \
  {                                                                         \
    return tn_unary_apply_out(&op##_operation, out, t);                     \
  }
TN_UNARY_MAP(PUBLIC)

tn_tensor *tn_gelu_tanh(tn_tensor *t)
{
  return tn_unary_apply(&gelu_tanh_operation, t, NULL, 0);
}

static tn_elementwise isnan_kernels[2] = {
  TN_ELEMENTWISE_FLAT("functions", "isnan", "f32"),
  TN_ELEMENTWISE_FLAT("functions_f64", "isnan", "f64")
};

/* No integer is one. */
tn_tensor *tn_isnan(tn_tensor *t)
{
  if (!t) return NULL;
  tn_tensor *y = tn_tensor_like(t, TN_BOOL, "isnan");
  if (!y) return NULL;
  tn_status status =
      tn_dtype_is_float((tn_dtype)t->dtype)
          ? tn_elementwise_run(&isnan_kernels[t->dtype == TN_F64],
                               (tn_tensor *[]){ y, t }, 2, NULL, 0)
          : tn_tensor_fill(y, 0);
  if (status == TN_OK) return tn_scope_give(y);
  tn_release(y);
  return NULL;
}

/* ---- clamp ---- */

static tn_status clamp_formula(tn_node *node, tn_tensor **grads,
                               tn_tensor **results)
{
  const double *bounds = tn_node_data_of(node);
  tn_tensor *x = tn_node_saved(node, 0);
  tn_tensor *inside = tn_logical_and(tn_ge_scalar(x, bounds[0]),
                                     tn_le_scalar(x, bounds[1]));
  results[0] = tn_masked_fill(grads[0], tn_logical_not(inside), 0);
  return tn_node_check(node, results);
}
static const tn_node_kind clamp_kind = { .name = "clamp",
                                         .formula = clamp_formula };
static tn_unary clamp = {
  .name = "clamp", .inplace = "clamp_", .need = TN_NEEDS_ARGUMENT,
  .kind = &clamp_kind,
  .kernels = { REALS("elementwise", "clamp"), INTEGERS("clamp") }
};

/* Bounds of an integer's range where there are none. */
static void limit(tn_dtype dtype, double bounds[2])
{
  double least = dtype == TN_I32 ? INT32_MIN : dtype == TN_U8 ? 0 : -0x1p63;
  double most = dtype == TN_I32 ? INT32_MAX : dtype == TN_U8 ? 255 : 0x1p63;
  if (tn_dtype_is_float(dtype)) return;
  for (int i = 0; i < 2; i++) {
    bounds[i] = bounds[i] < least ? least : bounds[i];
    bounds[i] = bounds[i] > most ? most : bounds[i];
  }
}

/* A bound with a fraction, or a NaN, makes integers f32. */
static tn_dtype clamped_dtype(const tn_tensor *t, const double bounds[2])
{
  tn_dtype dtype = (tn_dtype)t->dtype;
  for (int i = 0; i < 2; i++)
    if (!isinf(bounds[i])) {
      tn_dtype with = tn_promote_number(t, bounds[i]);
      if (tn_dtype_is_float(with)) dtype = with;
    }
  return dtype;
}

tn_tensor *tn_clamp(tn_tensor *t, double low, double high)
{
  if (!t) return NULL;
  double bounds[] = { low, high };
  tn_dtype dtype = clamped_dtype(t, bounds);
  limit(dtype, bounds);
  if (dtype == t->dtype) return tn_unary_apply(&clamp, t, bounds, 2);
  tn_tensor *real = tn_tensor_converted(t, dtype, tn_tensor_shape(t),
                                        "clamp");
  tn_tensor *y = tn_unary_apply(&clamp, real, bounds, 2);
  tn_release(real);
  return y;
}

tn_tensor *tn_clamp_(tn_tensor *t, double low, double high)
{
  if (!t) return NULL;
  double bounds[] = { low, high };
  tn_dtype dtype = clamped_dtype(t, bounds);
  if (dtype != t->dtype) {
    tn_set_error(TN_DTYPE_MISMATCH, "clamp_: the result is %s, which does "
                 "not go into a tensor of %s", tn_dtype_name(dtype),
                 tn_dtype_name((tn_dtype)t->dtype));
    return NULL;
  }
  limit(dtype, bounds);
  return tn_unary_apply_(&clamp, t, bounds, 2);
}
