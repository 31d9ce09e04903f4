/* Products of matrices as tensors: shapes, batches, layouts. */
#include "config.h"

#include "tensor/ops/matmul.h"

#include <inttypes.h>

#include "tenon/autograd.h"
#include "tensor/compute/elementwise.h"

tn_matrices tn_matrices_of(const tn_tensor *t, bool is_left)
{
  int last = t->ndim - 1;
  if (t->ndim == 1 && is_left)
    return (tn_matrices){ t, 0, 1, t->sizes[0], 0, t->strides[0] };
  if (t->ndim == 1)
    return (tn_matrices){ t, 0, t->sizes[0], 1, t->strides[0], 0 };
  return (tn_matrices){ t, t->ndim - 2, t->sizes[last - 1], t->sizes[last],
                        t->strides[last - 1], t->strides[last] };
}

tn_matrices tn_matrices_transposed(tn_matrices of)
{
  return (tn_matrices){ of.tensor, of.batch_ndim, of.columns, of.rows,
                        of.column_stride, of.row_stride };
}

static tn_status check(const tn_matrices *a, const tn_matrices *b,
                       const char *operation)
{
  tn_shape left = tn_tensor_shape(a->tensor);
  tn_shape right = tn_tensor_shape(b->tensor);
  if (a->tensor->dtype != b->tensor->dtype)
    return tn_set_error(TN_DTYPE_MISMATCH, "%s: dtypes %s and %s differ",
                        operation, tn_dtype_name(a->tensor->dtype),
                        tn_dtype_name(b->tensor->dtype));
  if (a->columns != b->rows)
    return tn_set_error(TN_SHAPE_MISMATCH, "%s: shapes %s and %s: %" PRId64
                        " columns meet %" PRId64 " rows", operation,
                        tn_shape_text(left), tn_shape_text(right), a->columns,
                        b->rows);
  return TN_OK;
}

/* The dimensions before the last two, broadcast, outermost first. */
typedef struct batch_walk {
  int ndim;
  int64_t sizes[TN_DIMS_MAX], a[TN_DIMS_MAX], b[TN_DIMS_MAX];
} batch_walk;

static int64_t batch_stride(const tn_matrices *of, int from_end)
{
  int at = of->batch_ndim - from_end;
  return at < 0 || of->tensor->sizes[at] == 1 ? 0 : of->tensor->strides[at];
}

/* Dimensions that both factors step through evenly become one. */
static void walk_batches(batch_walk *walk, tn_shape batch,
                         const tn_matrices *a, const tn_matrices *b)
{
  walk->ndim = 0;
  for (int i = 0; i < batch.ndim; i++) {
    int64_t size = batch.sizes[i];
    int64_t sa = batch_stride(a, batch.ndim - i);
    int64_t sb = batch_stride(b, batch.ndim - i);
    int last = walk->ndim - 1;
    if (size == 1) continue;
    if (last >= 0 && walk->a[last] == sa * size && walk->b[last] == sb * size) {
      walk->sizes[last] *= size;
      walk->a[last] = sa;
      walk->b[last] = sb;
      continue;
    }
    last = walk->ndim++;
    walk->sizes[last] = size;
    walk->a[last] = sa;
    walk->b[last] = sb;
  }
}

/* Rows of all batches lie evenly: they are the rows of one matrix. */
static void join_rows(batch_walk *walk, tn_matrices *a)
{
  int64_t step = a->row_stride * a->rows;
  if (walk->ndim != 1 || walk->b[0] != 0) return;
  if (a->rows == 1)
    a->row_stride = walk->a[0];
  else if (walk->a[0] != step)
    return;
  a->rows *= walk->sizes[0];
  walk->ndim = 0;
}

static bool next_index(const batch_walk *walk, int64_t *index)
{
  for (int i = walk->ndim - 2; i >= 0; i--) {
    if (++index[i] < walk->sizes[i]) return true;
    index[i] = 0;
  }
  return false;
}

/* The last dimension of the batches is one run's. */
static tn_status run_all(tn_product *p, const batch_walk *walk,
                         const char *operation)
{
  int64_t index[TN_DIMS_MAX] = { 0 };
  const int64_t item = (int64_t)tn_dtype_size(p->dtype);
  const char *a = p->a.address, *b = p->b.address;
  char *c = p->c;
  int last = walk->ndim - 1;
  p->batches = last < 0 ? 1 : walk->sizes[last];
  p->a.stride = last < 0 ? 0 : walk->a[last];
  p->b.stride = last < 0 ? 0 : walk->b[last];
  do {
    int64_t at_a = 0, at_b = 0;
    for (int i = 0; i < last; i++) {
      at_a += index[i] * walk->a[i];
      at_b += index[i] * walk->b[i];
    }
    p->a.address = a ? a + at_a * item : NULL;
    p->b.address = b ? b + at_b * item : NULL;
    p->c = c;
    tn_status status = tn_product_run(p, operation);
    if (status != TN_OK) return status;
    c += p->batches * p->m * p->n * item;
  } while (next_index(walk, index));
  return TN_OK;
}

/* sizes[]: of the result. */
static int result_sizes(const tn_matrices *a, const tn_matrices *b,
                        tn_shape batch, int64_t *sizes)
{
  int ndim = 0;
  for (int i = 0; i < batch.ndim; i++) sizes[ndim++] = batch.sizes[i];
  if (a->tensor->ndim > 1) sizes[ndim++] = a->rows;
  if (b->tensor->ndim > 1) sizes[ndim++] = b->columns;
  return ndim;
}

/* A factor without a batch of its own makes all rows of the other the rows of
 * one matrix: whether there is but one row is a matter of all of them. */
static bool has_more_rows(tn_shape batch, const tn_matrices *a,
                          const tn_matrices *b)
{
  if (b->batch_ndim > 0 || b->columns == 1) return false;
  int64_t rows = a->rows;
  for (int i = 0; i < batch.ndim; i++) rows *= batch.sizes[i];
  return rows > 1;
}

static tn_elementwise add[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = TN_ELEMENTWISE("elementwise", "add", "f32"),
  [TN_SLOT_F64] = TN_ELEMENTWISE("elementwise_f64", "add", "f64"),
};

/* By the product's own launch if that can be, else by another one. */
static tn_status add_bias(tn_tensor *y, tn_tensor *bias)
{
  tn_tensor *sum[] = { y, y, bias };
  return tn_elementwise_run(&add[tn_dtype_slot_of((tn_dtype)y->dtype)], sum,
                            3, NULL, 0);
}

tn_tensor *tn_matrices_multiply(tn_matrices a, tn_matrices b,
                                tn_tensor *bias, tn_place *place,
                                const char *operation)
{
  int64_t batch_sizes[TN_DIMS_MAX], sizes[TN_DIMS_MAX + 2];
  tn_shape batch = { batch_sizes, 0 };
  if (check(&a, &b, operation) != TN_OK ||
      tn_shape_broadcast((tn_shape){ a.tensor->sizes, a.batch_ndim },
                         (tn_shape){ b.tensor->sizes, b.batch_ndim },
                         operation, batch_sizes, &batch.ndim) != TN_OK)
    return NULL;
  tn_dtype dtype = (tn_dtype)a.tensor->dtype;
  int ndim = result_sizes(&a, &b, batch, sizes);
  tn_tensor *y = tn_tensor_new(place, dtype, (tn_shape){ sizes, ndim },
                               operation);
  if (!y || y->numel == 0) return y;
  batch_walk walk;
  bool by_chunks = has_more_rows(batch, &a, &b);
  walk_batches(&walk, batch, &a, &b);
  join_rows(&walk, &a);
  tn_product p = {
    .place = place, .dtype = dtype, .c = tn_tensor_address(y),
    .a = { tn_tensor_address(a.tensor), 0, a.row_stride, a.column_stride },
    .b = { tn_tensor_address(b.tensor), 0, b.column_stride, b.row_stride },
    .m = a.rows, .n = b.columns, .k = a.columns, .by_chunks = by_chunks
  };
  if (bias && bias->is_contiguous && tn_product_takes_bias(&p)) {
    p.bias = tn_tensor_address(bias);
    bias = NULL;
  }
  if (run_all(&p, &walk, operation) == TN_OK &&
      (!bias || add_bias(y, bias) == TN_OK))
    return y;
  tn_release(y);
  return NULL;
}
