#include "config.h"

#include "tensor/compute/reduce.h"

#include "tensor/compute/contiguous.h"

enum {
  BLOCK = 4096,       /* elements of a level */
  SHORT = 32,         /* rows up to which the kernel for short ones pays */
  SHORT_TILE = 32,    /* rows a group of it takes */
  COLUMN_TILE = 64
};

/* ---- the kernels ---- */

#define KERNELS(family, name, dtype)                                      \
  .rows = TN_KERNEL_ENTRY(family, name "_" dtype),                        \
  .columns = TN_KERNEL_ENTRY(family, name "_columns_" dtype)
#define SHORT_ROWS(name, dtype)                                           \
  .short_rows = TN_KERNEL_ENTRY("reduce", name "_short_" dtype)

static tn_reduction sum_f32 = { KERNELS("reduce", "sum", "f32"),
                                SHORT_ROWS("sum", "f32"), .result = TN_F32 };
static tn_reduction sum_f64 = { KERNELS("reduce_f64", "sum", "f64"),
                                .result = TN_F64 };
static tn_reduction sum_i64 = { KERNELS("reduce_i64", "sum", "i64"),
                                .result = TN_I64 };
static tn_reduction sum_i32 = { KERNELS("reduce_i64", "sum", "i32"),
                                .levels = &sum_i64, .result = TN_I64 };
static tn_reduction sum_u8 = { KERNELS("reduce_i64", "sum", "u8"),
                               .levels = &sum_i64, .result = TN_I64 };
static tn_reduction mean_f32 = { KERNELS("reduce", "mean", "f32"),
                                 SHORT_ROWS("mean", "f32"),
                                 .levels = &sum_f32, .counts = true,
                                 .result = TN_F32 };
static tn_reduction mean_f64 = { KERNELS("reduce_f64", "mean", "f64"),
                                 .levels = &sum_f64, .counts = true,
                                 .result = TN_F64 };
static tn_reduction prod_f32 = { KERNELS("reduce", "prod", "f32"),
                                 .result = TN_F32 };
static tn_reduction prod_f64 = { KERNELS("reduce_f64", "prod", "f64"),
                                 .result = TN_F64 };
static tn_reduction prod_i64 = { KERNELS("reduce_i64", "prod", "i64"),
                                 .result = TN_I64 };
static tn_reduction max_f32 = { KERNELS("reduce", "max", "f32"),
                                SHORT_ROWS("max", "f32"), .result = TN_F32 };
static tn_reduction max_f64 = { KERNELS("reduce_f64", "max", "f64"),
                                .result = TN_F64 };
static tn_reduction max_i64 = { KERNELS("reduce_i64", "max", "i64"),
                                .result = TN_I64 };
static tn_reduction min_f32 = { KERNELS("reduce", "min", "f32"),
                                SHORT_ROWS("min", "f32"), .result = TN_F32 };
static tn_reduction min_f64 = { KERNELS("reduce_f64", "min", "f64"),
                                .result = TN_F64 };
static tn_reduction min_i64 = { KERNELS("reduce_i64", "min", "i64"),
                                .result = TN_I64 };
static tn_reduction any_u8 = { KERNELS("reduce_i64", "any", "u8"),
                               .result = TN_BOOL };
static tn_reduction all_u8 = { KERNELS("reduce_i64", "all", "u8"),
                               .result = TN_BOOL };

tn_reduction *tn_reduction_of(tn_reduction_name name, tn_dtype dtype)
{
  static tn_reduction *const all[][TN_SLOT_COUNT] = {
    [TN_REDUCE_SUM] = { &sum_f32, &sum_f64, &sum_i64, &sum_i32, &sum_u8,
                        &sum_u8 },
    [TN_REDUCE_MEAN] = { &mean_f32, &mean_f64 },
    [TN_REDUCE_PROD] = { &prod_f32, &prod_f64, &prod_i64 },
    [TN_REDUCE_MAX] = { &max_f32, &max_f64, &max_i64 },
    [TN_REDUCE_MIN] = { &min_f32, &min_f64, &min_i64 },
    [TN_REDUCE_ANY] = { NULL, NULL, NULL, NULL, &any_u8, &any_u8 },
    [TN_REDUCE_ALL] = { NULL, NULL, NULL, NULL, &all_u8, &all_u8 },
  };
  return all[name][tn_dtype_slot_of(dtype)];
}

/* ---- how the operand lies ---- */

/* Dimensions seen as one. */
typedef struct span {
  int64_t size, stride;
} span;

/* Merges dimensions in their order; false if they do not lie evenly. */
static bool merge(const span *dims, int count, span *merged)
{
  *merged = (span){ 1, 0 };
  for (int i = 0; i < count; i++) {
    if (dims[i].size == 1) continue;
    if (merged->size != 1 && merged->stride != dims[i].stride * dims[i].size)
      return false;
    merged->size *= dims[i].size;
    merged->stride = dims[i].stride;
  }
  return true;
}

/* [outer][n][inner] in any order in memory. inner.size is 1 for rows. */
typedef struct reach {
  span outer, n, inner;
} reach;

static bool reach_of(const tn_tensor *x, const bool *reduced, reach *to)
{
  span kept[TN_DIMS_MAX], along[TN_DIMS_MAX];
  int kept_count = 0, along_count = 0;
  for (int i = 0; i < x->ndim; i++) {
    span dim = { x->sizes[i], x->strides[i] };
    if (reduced[i]) along[along_count++] = dim;
    else kept[kept_count++] = dim;
  }
  to->inner = (span){ 1, 1 };
  if (!merge(along, along_count, &to->n)) return false;
  if ((to->n.size == 1 || to->n.stride == 1) &&
      merge(kept, kept_count, &to->outer))
    return true;
  for (int split = 0; split <= kept_count; split++)
    if (merge(kept, split, &to->outer) &&
        merge(kept + split, kept_count - split, &to->inner) &&
        (to->inner.size == 1 || to->inner.stride == 1))
      return true;
  return false;
}

static tn_tensor *reduced_behind(tn_tensor *x, const bool *reduced)
{
  int64_t sizes[TN_DIMS_MAX], strides[TN_DIMS_MAX];
  int count = 0;
  for (int turn = 0; turn < 2; turn++)
    for (int i = 0; i < x->ndim; i++) {
      if (reduced[i] != (turn == 1)) continue;
      sizes[count] = x->sizes[i];
      strides[count++] = x->strides[i];
    }
  return tn_tensor_view(x, (tn_shape){ sizes, x->ndim }, strides, x->offset);
}

tn_tensor *tn_reduce_rows(tn_tensor *x, const bool *reduced)
{
  tn_tensor *view = reduced_behind(x, reduced);
  if (!view || view->is_contiguous) return view;
  tn_tensor *rows = tn_tensor_contiguous(view, "a reduction");
  tn_release(view);
  return rows;
}

/* ---- launches ---- */

static int64_t parts(int64_t n, int64_t size)
{
  return n <= size ? 1 : (n - 1) / size + 1;
}

static tn_arg number_arg(tn_dtype dtype, double value)
{
  tn_arg f32 = TN_ARG_F32((float)value), f64 = TN_ARG_F64(value);
  return dtype == TN_F64 ? f64 : f32;
}

/* One level: y[outer][blocks][inner]. count: of all elements, for a kernel
 * that takes it, else NULL. */
static tn_status launch(tn_place *place, tn_reduction *reduction, void *y,
                        const void *x, const reach *at, const int64_t *count)
{
  bool is_rows = at->inner.size == 1 && (at->n.stride == 1 || at->n.size <= 1);
  bool is_short = is_rows && at->n.size >= 1 && at->n.size <= SHORT &&
                  reduction->short_rows.name;
  int64_t blocks = parts(at->n.size, BLOCK);
  tn_kernel *kernel = tn_place_kernel(
      place, is_short  ? &reduction->short_rows
             : is_rows ? &reduction->rows : &reduction->columns);
  if (!kernel) return tn_last_status();
  tn_arg args[9] = { TN_ARG_PTR(y), TN_ARG_PTR(x),
                     TN_ARG_I64(at->outer.size), TN_ARG_I64(at->n.size) };
  size_t used = 4;
  int64_t groups = at->outer.size * blocks;
  if (is_rows) {
    args[used++] = (tn_arg)TN_ARG_I64(at->outer.stride);
    if (is_short) groups = parts(at->outer.size, SHORT_TILE);
    else args[used++] = (tn_arg)TN_ARG_I64(blocks);
  } else {
    args[used++] = (tn_arg)TN_ARG_I64(at->inner.size);
    args[used++] = (tn_arg)TN_ARG_I64(at->outer.stride);
    args[used++] = (tn_arg)TN_ARG_I64(at->n.stride);
    args[used++] = (tn_arg)TN_ARG_I64(blocks);
    groups *= parts(at->inner.size, COLUMN_TILE);
  }
  if (count) args[used++] = number_arg(reduction->result, (double)*count);
  return tn_launch_groups(kernel, groups, args, used);
}

/* Where a level's results lie for the next one. */
static void go_on(reach *at)
{
  int64_t blocks = parts(at->n.size, BLOCK), inner = at->inner.size;
  at->n = (span){ blocks, inner };
  at->outer.stride = blocks * inner;
}

static tn_status run_levels(tn_reduction *reduction, tn_tensor *y,
                            const void *x, reach at)
{
  tn_place *place = tn_tensor_place(y);
  int64_t count = at.n.size;
  tn_tensor *work = NULL;
  tn_status status = TN_OK;
  for (bool first = true; status == TN_OK && at.n.size > BLOCK;
       first = false) {
    tn_reduction *level = reduction->levels && (reduction->counts || !first)
                              ? reduction->levels : reduction;
    int64_t size = at.outer.size * parts(at.n.size, BLOCK) * at.inner.size;
    tn_tensor *next = tn_tensor_new(place, reduction->result,
                                    (tn_shape){ &size, 1 }, "a reduction");
    status = next ? launch(place, level, tn_tensor_address(next), x, &at, NULL)
                  : tn_last_status();
    tn_release(work);
    work = next;
    go_on(&at);
    if (work) x = tn_tensor_address(work);
  }
  if (status == TN_OK) {
    tn_reduction *last = work && reduction->levels && !reduction->counts
                             ? reduction->levels : reduction;
    status = launch(place, last, tn_tensor_address(y), x, &at,
                    reduction->counts ? &count : NULL);
  }
  tn_release(work);
  return status;
}

tn_status tn_reduce_run(tn_reduction *reduction, tn_tensor *y, tn_tensor *x,
                        const bool *reduced)
{
  reach at;
  if (y->numel == 0) return TN_OK;
  if (x->numel == 0) { /* what no elements give; x has no address */
    at = (reach){ { y->numel, 0 }, { 0, 1 }, { 1, 1 } };
    return run_levels(reduction, y, tn_tensor_address(y), at);
  }
  if (reach_of(x, reduced, &at))
    return run_levels(reduction, y, tn_tensor_address(x), at);
  tn_tensor *rows = tn_reduce_rows(x, reduced);
  if (!rows) return tn_last_status();
  int64_t n = x->numel / y->numel;
  at = (reach){ { y->numel, n }, { n, 1 }, { 1, 1 } };
  tn_status status = run_levels(reduction, y, tn_tensor_address(rows), at);
  tn_release(rows);
  return status;
}

/* ---- places ---- */

typedef struct place_kernels {
  tn_kernel_entry first, of_blocks;
} place_kernels;
#define PLACES(family, name, dtype)                                       \
  { TN_KERNEL_ENTRY(family, name "_" dtype),                              \
    TN_KERNEL_ENTRY(family, name "_of_blocks_" dtype) }

static place_kernels greatest_kernels[] = {
  [TN_SLOT_F32] = PLACES("reduce", "argmax", "f32"),
  [TN_SLOT_F64] = PLACES("reduce_f64", "argmax", "f64"),
  [TN_SLOT_I64] = PLACES("reduce_i64", "argmax", "i64"),
};
static place_kernels smallest_kernels[] = {
  [TN_SLOT_F32] = PLACES("reduce", "argmin", "f32"),
  [TN_SLOT_F64] = PLACES("reduce_f64", "argmin", "f64"),
  [TN_SLOT_I64] = PLACES("reduce_i64", "argmin", "i64"),
};

/* A level's results: where, and what stands there. */
typedef struct found {
  tn_tensor *at, *value;
} found;

static void drop_found(found *which)
{
  tn_release(which->at);
  tn_release(which->value);
}

static tn_status search(tn_kernel *kernel, const found *to, const void *x,
                        const span *rows, int64_t n, tn_tensor *from_at)
{
  int64_t blocks = parts(n, BLOCK);
  tn_arg args[8] = { TN_ARG_PTR(tn_tensor_address(to->at)),
                     TN_ARG_PTR(tn_tensor_address(to->value)), TN_ARG_PTR(x),
                     TN_ARG_I64(rows->size), TN_ARG_I64(n),
                     TN_ARG_I64(rows->stride), TN_ARG_I64(blocks) };
  if (from_at) args[7] = (tn_arg)TN_ARG_PTR(tn_tensor_address(from_at));
  return tn_launch_groups(kernel, rows->size * blocks, args,
                          from_at ? 8 : 7);
}

/* y: for the last level's indices. */
static tn_status search_levels(place_kernels *kernels, tn_tensor *y,
                               tn_dtype dtype, const void *x, span rows,
                               int64_t n)
{
  tn_place *place = tn_tensor_place(y);
  found last = { NULL, NULL };
  tn_status status = TN_OK;
  for (bool done = false; status == TN_OK && !done;) {
    int64_t blocks = parts(n, BLOCK), size = rows.size * blocks;
    tn_shape shape = { &size, 1 };
    tn_kernel *kernel = tn_place_kernel(
        place, last.at ? &kernels->of_blocks : &kernels->first);
    done = blocks == 1;
    found next = { done ? tn_retain(y)
                        : tn_tensor_new(place, TN_I64, shape, "a reduction"),
                   tn_tensor_new(place, dtype, shape, "a reduction") };
    status = kernel && next.at && next.value
                 ? search(kernel, &next, x, &rows, n, last.at)
                 : tn_last_status();
    drop_found(&last);
    last = next;
    if (next.value) x = tn_tensor_address(next.value);
    n = rows.stride = blocks;
  }
  drop_found(&last);
  return status;
}

tn_status tn_reduce_place(bool greatest, tn_tensor *y, tn_tensor *x,
                          const bool *reduced)
{
  tn_dtype dtype = (tn_dtype)x->dtype;
  place_kernels *kernels =
      (greatest ? greatest_kernels : smallest_kernels) +
      tn_dtype_slot_of(dtype);
  reach at;
  if (y->numel == 0) return TN_OK;
  if (reach_of(x, reduced, &at) && at.inner.size == 1 &&
      (at.n.size == 1 || at.n.stride == 1))
    return search_levels(kernels, y, dtype, tn_tensor_address(x), at.outer,
                         at.n.size);
  tn_tensor *rows = tn_reduce_rows(x, reduced);
  if (!rows) return tn_last_status();
  int64_t n = x->numel / y->numel;
  tn_status status = search_levels(kernels, y, dtype, tn_tensor_address(rows),
                                   (span){ y->numel, n }, n);
  tn_release(rows);
  return status;
}
