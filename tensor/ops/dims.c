/* Views with dimensions in another order, or with more or fewer of size 1. */
#include "config.h"

#include "tensor/ops/view.h"

/* ---- transpose, permute ---- */

typedef struct swapped_dims {
  int a, b;
} swapped_dims;

static tn_status transpose_formula(tn_node *node, tn_tensor **grads,
                                   tn_tensor **results)
{
  const swapped_dims *dims = tn_node_data_of(node);
  results[0] = tn_transpose(grads[0], dims->a, dims->b);
  return tn_node_check(node, results);
}

static const tn_node_kind transpose_kind = { .name = "transpose",
                                             .formula = transpose_formula };

static void swap(int64_t *numbers, int a, int b)
{
  int64_t number = numbers[a];
  numbers[a] = numbers[b];
  numbers[b] = number;
}

static void copy_layout(const tn_tensor *t, int64_t *sizes, int64_t *strides)
{
  for (int i = 0; i < t->ndim; i++) {
    sizes[i] = t->sizes[i];
    strides[i] = t->strides[i];
  }
}

tn_tensor *tn_transpose(tn_tensor *t, int dim0, int dim1)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  if (!t) return NULL;
  swapped_dims dims = { .a = tn_dim_of(dim0, t->ndim, "transpose") };
  dims.b = dims.a < 0 ? -1 : tn_dim_of(dim1, t->ndim, "transpose");
  if (dims.b < 0) return NULL;
  copy_layout(t, sizes, strides);
  if (t->ndim > 0) {
    swap(sizes, dims.a, dims.b);
    swap(strides, dims.a, dims.b);
  }
  return tn_view_give(t, (tn_shape){ sizes, t->ndim }, strides, t->offset,
                      &transpose_kind, &dims, sizeof dims);
}

/* Its data: where each dimension of t went. */
static tn_status permute_formula(tn_node *node, tn_tensor **grads,
                                 tn_tensor **results)
{
  tn_shape back = { tn_node_data_of(node),
                    tn_node_input_shape(node, 0).ndim };
  results[0] = tn_permute(grads[0], back);
  return tn_node_check(node, results);
}

static const tn_node_kind permute_kind = { .name = "permute",
                                           .formula = permute_formula };

static tn_tensor *refuse_permutation(const tn_tensor *t, tn_shape dims)
{
  tn_set_error(TN_INVALID_ARGUMENT, "permute: dimensions %s of a tensor of "
               "shape %s: each must be named once", tn_shape_text(dims),
               tn_shape_text(tn_tensor_shape(t)));
  return NULL;
}

tn_tensor *tn_permute(tn_tensor *t, tn_shape dims)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX], back[TN_DIMS_MAX];
  bool is_named[TN_DIMS_MAX] = { false };
  if (!t) return NULL;
  if (dims.ndim > 0 && !dims.sizes) {
    tn_set_error(TN_INVALID_ARGUMENT, "permute: the dimensions are NULL");
    return NULL;
  }
  if (dims.ndim != t->ndim) return refuse_permutation(t, dims);
  for (int i = 0; i < t->ndim; i++) {
    int64_t dim = dims.sizes[i] < 0 ? dims.sizes[i] + t->ndim : dims.sizes[i];
    if (dim < 0 || dim >= t->ndim || is_named[dim])
      return refuse_permutation(t, dims);
    is_named[dim] = true;
    sizes[i] = t->sizes[dim];
    strides[i] = t->strides[dim];
    back[dim] = i;
  }
  return tn_view_give(t, (tn_shape){ sizes, t->ndim }, strides, t->offset,
                      &permute_kind, back,
                      (size_t)t->ndim * sizeof back[0]);
}

/* ---- dimensions of size 1 ---- */

static const tn_node_kind squeeze_kind = { .name = "squeeze",
                                           .formula = tn_view_reshape_back };
static const tn_node_kind unsqueeze_kind = { .name = "unsqueeze",
                                             .formula = tn_view_reshape_back };

/* Without dimensions of size 1: all of them, or `only` that one. */
static tn_tensor *squeeze(tn_tensor *t, int only)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  int count = 0;
  for (int i = 0; i < t->ndim; i++) {
    if (t->sizes[i] == 1 && (only < 0 || i == only)) continue;
    sizes[count] = t->sizes[i];
    strides[count++] = t->strides[i];
  }
  return tn_view_give(t, (tn_shape){ sizes, count }, strides, t->offset,
                      &squeeze_kind, NULL, 0);
}

tn_tensor *tn_squeeze(tn_tensor *t)
{
  return t ? squeeze(t, -1) : NULL;
}

tn_tensor *tn_squeeze_dim(tn_tensor *t, int dim)
{
  int at = t ? tn_dim_of(dim, t->ndim, "squeeze_dim") : -1;
  return at < 0 ? NULL : squeeze(t, at);
}

tn_tensor *tn_unsqueeze(tn_tensor *t, int dim)
{
  int64_t sizes[TN_DIMS_MAX + 1], strides[TN_DIMS_MAX + 1], numel;
  int at = t ? tn_dim_of(dim, t->ndim + 1, "unsqueeze") : -1;
  if (at < 0) return NULL;
  copy_layout(t, sizes, strides);
  for (int i = t->ndim; i > at; i--) {
    sizes[i] = sizes[i - 1];
    strides[i] = strides[i - 1];
  }
  sizes[at] = 1;
  strides[at] = 1;
  if (at < t->ndim &&
      __builtin_mul_overflow(t->sizes[at], t->strides[at], &strides[at]))
    strides[at] = 1; /* of size 1: not used */
  tn_shape shape = { sizes, t->ndim + 1 };
  if (tn_shape_check(shape, 1, "unsqueeze", &numel) != TN_OK) return NULL;
  return tn_view_give(t, shape, strides, t->offset, &unsqueeze_kind, NULL, 0);
}
