/* cat and stack. */
#include "config.h"

#include <inttypes.h>

#include "tensor/autograd/node.h"
#include "tensor/compute/contiguous.h"
#include "tensor/ops/placement.h"

/* As in PyTorch, one dimension without elements joins anything. */
static bool is_nothing(const tn_tensor *t)
{
  return t->ndim == 1 && t->sizes[0] == 0;
}

/* The first one whose shape counts, or else the first. */
static const tn_tensor *model_of(tn_tensor *const *tensors, int n)
{
  for (int i = 0; i < n; i++)
    if (!is_nothing(tensors[i])) return tensors[i];
  return tensors[0];
}

static int64_t size_along(const tn_tensor *t, const tn_tensor *model, int dim)
{
  return is_nothing(t) && !is_nothing(model) ? 0 : t->sizes[dim];
}

static bool is_alike(const tn_tensor *t, const tn_tensor *model, int dim)
{
  if (is_nothing(t)) return true;
  if (t->ndim != model->ndim) return false;
  for (int i = 0; i < t->ndim; i++)
    if (i != dim && t->sizes[i] != model->sizes[i]) return false;
  return true;
}

/* Shapes, and the size of the result along dim. */
static tn_status check(tn_tensor *const *tensors, int n,
                       const tn_tensor *model, int dim, int64_t *size)
{
  *size = 0;
  for (int i = 0; i < n; i++) {
    if (!is_alike(tensors[i], model, dim))
      return tn_set_error(TN_SHAPE_MISMATCH, "cat: shapes %s and %s: all sizes "
                          "but that of dimension %d must be equal",
                          tn_shape_text(tn_tensor_shape(model)),
                          tn_shape_text(tn_tensor_shape(tensors[i])), dim);
    if (__builtin_add_overflow(*size, size_along(tensors[i], model, dim),
                               size))
      return tn_set_error(TN_SIZE_OVERFLOW, "cat: the size of dimension %d "
                          "does not fit 63 bits", dim);
  }
  return TN_OK;
}

static tn_dtype dtype_of(tn_tensor *const *tensors, int n)
{
  tn_dtype dtype = (tn_dtype)tensors[0]->dtype;
  for (int i = 1; i < n; i++)
    dtype = tn_promote_types(dtype, (tn_dtype)tensors[i]->dtype);
  return dtype;
}

/* Copies t to where the part of y begins. */
static tn_status put(tn_tensor *y, int dim, int64_t begin, tn_tensor *t)
{
  tn_tensor part = *y;
  tn_status status = TN_OK;
  part.sizes[dim] = t->sizes[dim];
  part.offset += begin * y->strides[dim];
  part.numel = t->numel;
  part.is_contiguous = false;
  tn_with_scope {
    tn_tensor *own = t->dtype == y->dtype
                         ? t : tn_to(t, .dtype = (tn_dtype)y->dtype);
    status = own ? tn_tensor_move(&part, own) : tn_last_status();
  }
  return status;
}

static tn_status put_all(tn_tensor *y, int dim, tn_tensor *const *tensors,
                         int n)
{
  int64_t begin = 0;
  for (int i = 0; i < n; i++) {
    tn_placement placement;
    if (tensors[i]->numel == 0) continue;
    /* y first: the others come to its place, or are peers of it. */
    tn_tensor *operands[] = { y, tensors[i] };
    tn_status status = tn_placement_begin(&placement, operands, 2, "cat");
    if (status != TN_OK) return status;
    status = put(y, dim, begin, placement.operands[1]);
    tn_placement_end(&placement);
    if (status != TN_OK) return status;
    begin += tensors[i]->sizes[dim];
  }
  return TN_OK;
}

static tn_status cat_formula(tn_node *node, tn_tensor **grads,
                             tn_tensor **results)
{
  const int dim = *(const int *)tn_node_data_of(node);
  int64_t begin = 0;
  for (int i = 0; i < tn_node_input_count(node); i++) {
    tn_shape shape = tn_node_input_shape(node, i);
    bool is_part = shape.ndim == grads[0]->ndim;
    int64_t size = is_part ? shape.sizes[dim] : 0;
    if (tn_node_wants(node, i) && is_part)
      results[i] = tn_narrow(grads[0], dim, begin, size);
    else if (tn_node_wants(node, i))
      results[i] = tn_new_zeros(grads[0], shape);
    begin += size;
  }
  return tn_node_check(node, results);
}

static const tn_node_kind cat_kind = { .name = "cat",
                                       .formula = cat_formula };

static bool are_there(tn_tensor *const *tensors, int n, const char *operation)
{
  if (n < 1 || !tensors) {
    tn_set_error(TN_INVALID_ARGUMENT, "%s: %d tensors%s: at least one is "
                 "needed", operation, n,
                 tensors ? "" : " in a list that is NULL");
    return false;
  }
  for (int i = 0; i < n; i++)
    if (!tensors[i]) return false;
  return true;
}

tn_tensor *tn_cat(tn_tensor *const *tensors, int n, int dim)
{
  int64_t sizes[TN_DIMS_MAX], size;
  if (!are_there(tensors, n, "cat")) return NULL;
  const tn_tensor *model = model_of(tensors, n);
  if (model->ndim == 0) {
    tn_set_error(TN_SHAPE_MISMATCH, "cat: a tensor without dimensions: stack "
                 "takes those");
    return NULL;
  }
  int at = tn_dim_of(dim, model->ndim, "cat");
  if (at < 0 || check(tensors, n, model, at, &size) != TN_OK) return NULL;
  for (int i = 0; i < model->ndim; i++) sizes[i] = model->sizes[i];
  sizes[at] = size;
  tn_tensor *y = tn_tensor_new(tn_tensor_place(model), dtype_of(tensors, n),
                               (tn_shape){ sizes, model->ndim }, "cat");
  if (y && put_all(y, at, tensors, n) != TN_OK) {
    tn_release(y);
    return NULL;
  }
  if (y && tn_grad_needed(tensors, n)) {
    tn_node *node = tn_node_new(&cat_kind, tensors, n);
    int *data = tn_node_data(node, sizeof *data);
    *data = at;
    y = tn_node_finish(node, y);
  }
  return tn_scope_give(y);
}

/* ---- stack ---- */

#define STACKED_AT_A_TIME 64

/* Each gets a dimension of size 1; many are joined in groups. */
static tn_tensor *stack_all(tn_tensor *const *tensors, int n, int dim)
{
  tn_tensor *views[STACKED_AT_A_TIME], *result = NULL;
  for (int first = 0; first < n;) {
    int count = 0;
    if (result) views[count++] = result;
    while (count < STACKED_AT_A_TIME && first < n) {
      views[count] = tn_unsqueeze(tensors[first++], dim);
      if (!views[count++]) return NULL;
    }
    result = tn_cat(views, count, dim);
    if (!result) return NULL;
  }
  return result;
}

tn_tensor *tn_stack(tn_tensor *const *tensors, int n, int dim)
{
  tn_tensor *y = NULL;
  if (!are_there(tensors, n, "stack")) return NULL;
  int at = tn_dim_of(dim, tensors[0]->ndim + 1, "stack");
  if (at < 0) return NULL;
  for (int i = 1; i < n; i++)
    if (!tn_shape_equal(tn_tensor_shape(tensors[0]),
                        tn_tensor_shape(tensors[i]))) {
      tn_set_error(TN_SHAPE_MISMATCH, "stack: shapes %s and %s differ",
                   tn_shape_text(tn_tensor_shape(tensors[0])),
                   tn_shape_text(tn_tensor_shape(tensors[i])));
      return NULL;
    }
  tn_with_scope { y = tn_keep(stack_all(tensors, n, at)); }
  return y;
}
