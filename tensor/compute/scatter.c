/* Sums by index: positions sorted by destination, then added in order. */
#include "config.h"

#include <inttypes.h>

#include "tensor/compute/indexing.h"
#include "tensor/compute/strided.h"

#define CHUNK 256 /* positions that one item of the sort takes */
#define DIGITS 256

static tn_kernel_entry keys_of = TN_KERNEL_ENTRY("indexing", "scatter_keys");
static tn_kernel_entry count_of = TN_KERNEL_ENTRY("indexing", "sort_count");
static tn_kernel_entry scan_of = TN_KERNEL_ENTRY("indexing", "sort_scan");
static tn_kernel_entry place_of = TN_KERNEL_ENTRY("indexing", "sort_place");
static tn_kernel_entry add[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = TN_KERNEL_ENTRY("indexing", "scatter_f32"),
  [TN_SLOT_F64] = TN_KERNEL_ENTRY("indexing_f64", "scatter_f64"),
  [TN_SLOT_I64] = TN_KERNEL_ENTRY("indexing", "scatter_i64"),
  [TN_SLOT_I32] = TN_KERNEL_ENTRY("indexing", "scatter_i32"),
  [TN_SLOT_U8] = TN_KERNEL_ENTRY("indexing", "scatter_u8"),
};

/* Keys and positions, twice: a pass sorts from one into the other. */
typedef struct sorting {
  tn_place *place;
  tn_block *block;
  int64_t n, limit;
  int64_t *key[2], *order[2], *count;
  int now; /* which of the two is the valid one */
} sorting;

static tn_status begin(sorting *s, tn_place *place, int64_t n, int64_t limit)
{
  int64_t chunks = n / CHUNK + (n % CHUNK != 0);
  size_t bytes;
  s->place = place;
  s->n = n;
  s->limit = limit;
  s->now = 0;
  if (__builtin_mul_overflow((size_t)n, 4 * sizeof(int64_t), &bytes) ||
      __builtin_add_overflow(bytes, (size_t)chunks * DIGITS * sizeof(int64_t),
                             &bytes))
    return tn_set_error(TN_SIZE_OVERFLOW, "sorting %" PRId64 " indices needs "
                        "more memory than there can be", n);
  s->block = tn_block_new(place->device, bytes);
  if (!s->block) return tn_last_status();
  int64_t *at = tn_block_address(s->block);
  for (int i = 0; i < 2; i++) {
    s->key[i] = at + 2 * i * n;
    s->order[i] = s->key[i] + n;
  }
  s->count = at + 4 * n;
  return TN_OK;
}

/* Keys from destinations over sizes[]: y's strides and the index's. */
static tn_status make_keys(sorting *s, const tn_layout *layout,
                           const tn_tensor *index, int64_t along,
                           int64_t count)
{
  tn_kernel *kernel = tn_place_kernel(s->place, &keys_of);
  if (!kernel) return tn_last_status();
  tn_arg args[TN_ARGS_MAX];
  int at = 0;
  args[at++] = tn_arg_pointer(s->key[0]);
  args[at++] = tn_arg_pointer(s->order[0]);
  args[at++] = tn_arg_pointer(tn_tensor_address(index));
  for (int i = layout->ndim - 4; i < layout->ndim; i++)
    args[at++] = tn_arg_i64(i < 0 ? 1 : layout->sizes[i]);
  for (int k = 0; k < 2; k++)
    for (int i = layout->ndim - 4; i < layout->ndim; i++)
      args[at++] = tn_arg_i64(i < 0 ? 0 : layout->strides[k][i]);
  args[at++] = tn_arg_i64(along);
  args[at++] = tn_arg_i64(count);
  args[at++] = tn_arg_i64(-1);
  args[at++] = tn_arg_i64(s->limit);
  return tn_launch(kernel, s->n, args, (size_t)at);
}

static tn_status sort_pass(sorting *s, int64_t shift)
{
  tn_kernel *count = tn_place_kernel(s->place, &count_of);
  tn_kernel *scan = tn_place_kernel(s->place, &scan_of);
  tn_kernel *place = tn_place_kernel(s->place, &place_of);
  if (!count || !scan || !place) return tn_last_status();
  int64_t chunks = s->n / CHUNK + (s->n % CHUNK != 0);
  int from = s->now, to = 1 - from;
  tn_status status = tn_launch(
      count, chunks, TN_ARGS(TN_ARG_PTR(s->count), TN_ARG_PTR(s->key[from]),
                             TN_ARG_I64(s->n), TN_ARG_I64(shift)));
  if (status == TN_OK)
    status = tn_launch_groups(scan, 1, TN_ARGS(TN_ARG_PTR(s->count),
                                               TN_ARG_I64(s->n)));
  if (status == TN_OK)
    status = tn_launch(
        place, chunks,
        TN_ARGS(TN_ARG_PTR(s->key[to]), TN_ARG_PTR(s->order[to]),
                TN_ARG_PTR(s->count), TN_ARG_PTR(s->key[from]),
                TN_ARG_PTR(s->order[from]), TN_ARG_I64(s->n),
                TN_ARG_I64(shift)));
  s->now = to;
  return status;
}

static tn_status sort(sorting *s)
{
  tn_status status = TN_OK;
  for (int64_t shift = 0;
       status == TN_OK && shift < 63 && s->limit >> shift; shift += 8)
    status = sort_pass(s, shift);
  return status;
}

/* Rows of `columns` elements. */
static tn_status add_sorted(const sorting *s, tn_tensor *y,
                            const tn_tensor *x, int64_t columns)
{
  tn_kernel_entry *entry = &add[tn_dtype_slot_of((tn_dtype)y->dtype)];
  if (!entry->name)
    return tn_set_error(TN_UNSUPPORTED, "dtype bool has no sums by index: a "
                        "cast to u8 has");
  tn_kernel *kernel = tn_place_kernel(s->place, entry);
  if (!kernel) return tn_last_status();
  return tn_launch(kernel, s->n * (columns / 64 + (columns % 64 != 0)),
                   TN_ARGS(TN_ARG_PTR(tn_tensor_address(y)),
                           TN_ARG_PTR(tn_tensor_address(x)),
                           TN_ARG_PTR(s->key[s->now]),
                           TN_ARG_PTR(s->order[s->now]), TN_ARG_I64(s->n),
                           TN_ARG_I64(columns), TN_ARG_I64(s->limit),
                           TN_ARG_I64(columns), TN_ARG_I64(columns)));
}

static tn_status run(tn_tensor *y, const tn_tensor *index,
                     const tn_tensor *x, const tn_layout *layout, int64_t n,
                     int64_t limit, int64_t along, int64_t count,
                     int64_t columns)
{
  sorting s = { 0 };
  tn_status status = begin(&s, tn_tensor_place(y), n, limit);
  if (status != TN_OK) return status;
  status = make_keys(&s, layout, index, along, count);
  if (status == TN_OK) status = sort(&s);
  if (status == TN_OK) status = add_sorted(&s, y, x, columns);
  tn_block_release(s.block);
  return status;
}

/* The number of elements of dimensions from, ..., to - 1. */
static int64_t product_of(const tn_tensor *t, int from, int to)
{
  int64_t all = 1;
  for (int i = from; i < to; i++) all *= t->sizes[i];
  return all;
}

tn_status tn_add_rows_run(tn_tensor *y, int dim, const tn_tensor *index,
                          const tn_tensor *x)
{
  if (x->numel == 0) return TN_OK;
  int64_t outer = product_of(y, 0, dim), count = y->sizes[dim];
  int64_t inner = product_of(y, dim + 1, y->ndim), n = index->numel;
  tn_layout layout = { .ndim = 2, .sizes = { outer, n },
                       .strides = { { count, 0 }, { 0, 1 } } };
  return run(y, index, x, &layout, outer * n, outer * count, 1, count, inner);
}

/* Destinations by dimension; neighbours that are stepped through evenly become
 * one. False if there are more than the kernel takes. */
static bool walk_of(tn_layout *layout, const tn_tensor *y, int dim,
                    const tn_tensor *index)
{
  layout->ndim = 0;
  for (int i = 0; i < index->ndim; i++) {
    int64_t size = index->sizes[i], step = i == dim ? 0 : y->strides[i];
    int last = layout->ndim - 1;
    if (size == 1) continue;
    if (last >= 0 && layout->strides[0][last] == step * size) {
      layout->sizes[last] *= size;
      layout->strides[0][last] = step;
      continue;
    }
    last = layout->ndim++;
    layout->sizes[last] = size;
    layout->strides[0][last] = step;
  }
  int64_t at = 1;
  for (int i = layout->ndim - 1; i >= 0; i--) {
    layout->strides[1][i] = at;
    at *= layout->sizes[i];
  }
  return layout->ndim <= 4;
}

tn_status tn_add_scattered_run(tn_tensor *y, int dim, const tn_tensor *index,
                               const tn_tensor *x)
{
  tn_layout layout;
  if (x->numel == 0) return TN_OK;
  if (!walk_of(&layout, y, dim, index))
    return tn_set_error(TN_UNSUPPORTED, "scatter_add: index %s into %s: four "
                        "dimensions of a smaller index at most",
                        tn_shape_text(tn_tensor_shape(index)),
                        tn_shape_text(tn_tensor_shape(y)));
  int64_t along = y->ndim ? y->strides[dim] : 1;
  int64_t count = y->ndim ? y->sizes[dim] : 1;
  return run(y, index, x, &layout, x->numel, y->numel, along, count, 1);
}
