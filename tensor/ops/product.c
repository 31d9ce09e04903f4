/* matmul, mm, bmm, addmm, linear, and their gradients. */
#include "config.h"

#include "tenon/autograd.h"
#include "tensor/autograd/node.h"
#include "tensor/ops/matmul.h"
#include "tensor/ops/placement.h"

/* A transposed matrix, or batch of them. */
static tn_tensor *turned(tn_tensor *t)
{
  return tn_transpose(t, -2, -1);
}

/* [..., n] as [all, n]. */
static tn_tensor *as_rows(tn_tensor *t)
{
  if (!t || t->ndim == 2) return t;
  int64_t columns = t->sizes[t->ndim - 1];
  int64_t rows = tn_sizes_product(t->sizes, t->ndim - 1);
  return tn_reshape(t, TN_SHAPE(rows, columns));
}

/* The gradient g of a product, with the dimensions that it has when a row or
 * a column counts as a matrix. */
static tn_tensor *as_matrices(tn_tensor *g, int left_ndim, int right_ndim)
{
  if (right_ndim == 1) g = tn_unsqueeze(g, -1);
  return left_ndim == 1 ? tn_unsqueeze(g, -2) : g;
}

/* Of a product with b on the right. */
static tn_tensor *gradient_of_left(tn_tensor *g, int left_ndim, tn_tensor *b)
{
  tn_tensor *matrix = b->ndim == 1 ? tn_unsqueeze(b, -1) : b;
  tn_tensor *result = tn_matmul(as_matrices(g, left_ndim, b->ndim),
                                turned(matrix));
  return left_ndim == 1 ? tn_squeeze_dim(result, -2) : result;
}

/* Of a product with a on the left.  One matrix on the right of many is one
 * product over all their rows. */
static tn_tensor *gradient_of_right(tn_tensor *g, tn_tensor *a, int right_ndim)
{
  tn_tensor *left = a->ndim == 1 ? tn_unsqueeze(a, 0) : a;
  tn_tensor *right = as_matrices(g, a->ndim, right_ndim);
  if (right_ndim <= 2) {
    left = as_rows(left);
    right = as_rows(right);
  }
  tn_tensor *result = tn_matmul(turned(left), right);
  return right_ndim == 1 ? tn_squeeze_dim(result, -1) : result;
}

/* Each factor is kept for the gradient of the other one alone. */
static void save_factors(tn_node *node, tn_tensor *a, tn_tensor *b)
{
  tn_node_save(node, node && tn_node_wants(node, 1) ? a : NULL);
  tn_node_save(node, node && tn_node_wants(node, 0) ? b : NULL);
}

/* False, with the error set, if one that is needed is not there. */
static bool saved_factors(tn_node *node, tn_tensor **a, tn_tensor **b)
{
  *a = tn_node_wants(node, 1) ? tn_node_saved(node, 0) : NULL;
  *b = tn_node_wants(node, 0) ? tn_node_saved(node, 1) : NULL;
  return (*a || !tn_node_wants(node, 1)) && (*b || !tn_node_wants(node, 0));
}

static tn_status matmul_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  tn_tensor *a, *b;
  if (!saved_factors(node, &a, &b)) return tn_last_status();
  if (b)
    results[0] = gradient_of_left(grads[0], tn_node_input_shape(node, 0).ndim,
                                  b);
  if (a)
    results[1] = gradient_of_right(grads[0], a,
                                   tn_node_input_shape(node, 1).ndim);
  return tn_node_check(node, results);
}

static const tn_node_kind matmul_kind = { "matmul", matmul_formula, 0, 0 };
static const tn_node_kind mm_kind = { "mm", matmul_formula, 0, 0 };
static const tn_node_kind bmm_kind = { "bmm", matmul_formula, 0, 0 };

/* Both factors on one place. */
static tn_tensor *multiply(tn_tensor *a, tn_tensor *b, const char *operation)
{
  if (tn_are_together(a, b))
    return tn_matrices_multiply(tn_matrices_of(a, true),
                                tn_matrices_of(b, false), NULL,
                                tn_tensor_place(a), operation);
  tn_placement placement;
  tn_tensor *operands[] = { a, b };
  if (tn_placement_begin(&placement, operands, 2, operation) != TN_OK)
    return NULL;
  tn_tensor *y = tn_matrices_multiply(
      tn_matrices_of(placement.operands[0], true),
      tn_matrices_of(placement.operands[1], false), NULL, placement.place,
      operation);
  tn_placement_end(&placement);
  return y;
}

static tn_tensor *product(tn_tensor *a, tn_tensor *b,
                          const tn_node_kind *kind)
{
  tn_tensor *inputs[] = { a, b };
  tn_tensor *y = multiply(a, b, kind->name);
  if (y && tn_grad_needed(inputs, 2)) {
    tn_node *node = tn_node_new(kind, inputs, 2);
    save_factors(node, a, b);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

static bool has_ndim(const tn_tensor *t, int ndim, const char *operation)
{
  if (t->ndim == ndim) return true;
  tn_set_error(TN_SHAPE_MISMATCH, "%s: shape %s has %d dimensions: %d are "
               "needed", operation, tn_shape_text(tn_tensor_shape(t)),
               t->ndim, ndim);
  return false;
}

tn_tensor *tn_matmul(tn_tensor *a, tn_tensor *b)
{
  if (!a || !b) return NULL;
  if (a->ndim > 0 && b->ndim > 0) return product(a, b, &matmul_kind);
  tn_set_error(TN_SHAPE_MISMATCH, "matmul: shapes %s and %s: one dimension or "
               "more is needed", tn_shape_text(tn_tensor_shape(a)),
               tn_shape_text(tn_tensor_shape(b)));
  return NULL;
}

tn_tensor *tn_mm(tn_tensor *a, tn_tensor *b)
{
  if (!a || !b || !has_ndim(a, 2, "mm") || !has_ndim(b, 2, "mm")) return NULL;
  return product(a, b, &mm_kind);
}

tn_tensor *tn_bmm(tn_tensor *a, tn_tensor *b)
{
  if (!a || !b || !has_ndim(a, 3, "bmm") || !has_ndim(b, 3, "bmm"))
    return NULL;
  if (a->sizes[0] == b->sizes[0]) return product(a, b, &bmm_kind);
  tn_set_error(TN_SHAPE_MISMATCH, "bmm: shapes %s and %s: first sizes differ",
               tn_shape_text(tn_tensor_shape(a)),
               tn_shape_text(tn_tensor_shape(b)));
  return NULL;
}

/* Whether c can be broadcast to m x n. */
static bool fits(const tn_tensor *c, int64_t m, int64_t n)
{
  const int64_t wanted[] = { m, n };
  for (int i = 1; i <= c->ndim; i++)
    if (i > 2 ||
        (c->sizes[c->ndim - i] != 1 && c->sizes[c->ndim - i] != wanted[2 - i]))
      return false;
  return true;
}

/* alpha a b is rounded, then beta c is added without being rounded itself. */
static tn_tensor *scaled_sum(tn_tensor *c, tn_tensor *a, tn_tensor *b,
                             double beta, double alpha)
{
  tn_tensor *y = tn_mm(a, b);
  if (alpha != 1) y = tn_mul_scalar(y, alpha);
  if (beta == 0) return y;
  return beta == 1 ? tn_add(y, c) : tn_add_alpha(y, c, beta);
}

tn_tensor *tn_addmm(tn_tensor *c, tn_tensor *a, tn_tensor *b, double beta,
                    double alpha)
{
  tn_tensor *y = NULL;
  if (!c || !a || !b || !has_ndim(a, 2, "addmm") || !has_ndim(b, 2, "addmm"))
    return NULL;
  if (!fits(c, a->sizes[0], b->sizes[1])) {
    tn_set_error(TN_SHAPE_MISMATCH, "addmm: shape %s cannot be broadcast to "
                 "%s", tn_shape_text(tn_tensor_shape(c)),
                 tn_shape_text(TN_SHAPE(a->sizes[0], b->sizes[1])));
    return NULL;
  }
  tn_with_scope { y = tn_keep(scaled_sum(c, a, b, beta, alpha)); }
  return y;
}

/* ---- linear ---- */

static tn_status linear_formula(tn_node *node, tn_tensor **grads,
                                tn_tensor **results)
{
  tn_tensor *x, *weight, *g = grads[0];
  if (!saved_factors(node, &x, &weight)) return tn_last_status();
  if (weight) results[0] = tn_matmul(g, weight);
  if (x) {
    tn_tensor *rows = x->ndim == 1 ? tn_unsqueeze(x, 0) : as_rows(x);
    g = g->ndim == 1 ? tn_unsqueeze(g, 0) : as_rows(g);
    results[1] = tn_matmul(turned(g), rows);
  }
  if (tn_node_wants(node, 2)) results[2] = grads[0];
  return tn_node_check(node, results);
}

static const tn_node_kind linear_kind = { "linear", linear_formula, 0, 0 };

static bool check_linear(const tn_tensor *x, const tn_tensor *weight,
                         const tn_tensor *bias)
{
  if (!has_ndim(weight, 2, "linear")) return false;
  if (!tn_dtype_is_float((tn_dtype)x->dtype)) {
    tn_set_error(TN_DTYPE_MISMATCH, "linear: dtype %s: f32 and f64 are taken",
                 tn_dtype_name((tn_dtype)x->dtype));
    return false;
  }
  if (x->ndim == 0 || x->sizes[x->ndim - 1] != weight->sizes[1]) {
    tn_set_error(TN_SHAPE_MISMATCH, "linear: input %s and weight %s: the last "
                 "sizes differ", tn_shape_text(tn_tensor_shape(x)),
                 tn_shape_text(tn_tensor_shape(weight)));
    return false;
  }
  if (!bias) return true;
  if (bias->ndim != 1 || bias->sizes[0] != weight->sizes[0]) {
    tn_set_error(TN_SHAPE_MISMATCH, "linear: bias %s: [%lld] is needed",
                 tn_shape_text(tn_tensor_shape(bias)),
                 (long long)weight->sizes[0]);
    return false;
  }
  if (bias->dtype == weight->dtype) return true;
  tn_set_error(TN_DTYPE_MISMATCH, "linear: weight is %s and bias %s",
               tn_dtype_name((tn_dtype)weight->dtype),
               tn_dtype_name((tn_dtype)bias->dtype));
  return false;
}

tn_tensor *tn_linear(tn_tensor *x, tn_tensor *weight, tn_tensor *bias)
{
  if (!x || !weight || !check_linear(x, weight, bias)) return NULL;
  tn_tensor *inputs[] = { x, weight, bias };
  tn_placement placement;
  if (tn_placement_begin(&placement, inputs, 3, "linear") != TN_OK)
    return NULL;
  tn_tensor **all = placement.operands;
  tn_tensor *y = tn_matrices_multiply(
      tn_matrices_of(all[0], true),
      tn_matrices_transposed(tn_matrices_of(all[1], false)), all[2],
      placement.place, "linear");
  tn_placement_end(&placement);
  if (y && tn_grad_needed(inputs, 3)) {
    tn_node *node = tn_node_new(&linear_kind, inputs, 3);
    save_factors(node, x, weight);
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}
