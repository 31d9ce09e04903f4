#include "config.h"

#include "tensor/compute/rows.h"

#include "tensor/compute/reduce.h"

enum { BLOCK = 4096, COLUMN_TILE = 32 };

/* A kernel for f32, f64 and, where there is one, i64. */
typedef struct row_kernel {
  tn_kernel_entry of[TN_SLOT_I64 + 1];
} row_kernel;
#define ROW_KERNEL(family, name)                                          \
  { { [TN_SLOT_F32] = TN_KERNEL_ENTRY(family, name "_f32"),               \
      [TN_SLOT_F64] = TN_KERNEL_ENTRY(family "_f64", name "_f64"),        \
      [TN_SLOT_I64] = TN_KERNEL_ENTRY(family, name "_i64") } }

static row_kernel softmax[] = {
  ROW_KERNEL("softmax", "softmax"),
  ROW_KERNEL("softmax", "log_softmax"),
};
static row_kernel softmax_backward[] = {
  ROW_KERNEL("softmax", "softmax_backward"),
  ROW_KERNEL("softmax", "log_softmax_backward"),
};
static row_kernel layer_norm = ROW_KERNEL("layer_norm", "layer_norm");
static row_kernel layer_norm_backward =
    ROW_KERNEL("layer_norm", "layer_norm_backward");
static row_kernel layer_norm_columns =
    ROW_KERNEL("layer_norm", "layer_norm_columns");
static row_kernel nll = ROW_KERNEL("softmax", "nll");
static row_kernel nll_backward = ROW_KERNEL("softmax", "nll_backward");
static row_kernel cumsum = ROW_KERNEL("cumsum", "cumsum");
static row_kernel cumsum_offsets = ROW_KERNEL("cumsum", "cumsum_offsets");
static row_kernel cumsum_add = ROW_KERNEL("cumsum", "cumsum_add");

static tn_kernel *kernel_of(row_kernel *kernel, const tn_tensor *y)
{
  return tn_place_kernel(tn_tensor_place(y),
                         &kernel->of[tn_dtype_slot_of((tn_dtype)y->dtype)]);
}

static int64_t parts(int64_t n, int64_t size)
{
  return n <= size ? 1 : (n - 1) / size + 1;
}

#define AT(t) TN_ARG_PTR(tn_tensor_address(t))

tn_status tn_softmax_run(bool logarithm, tn_tensor *y, tn_tensor *x,
                         int64_t n)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&softmax[logarithm], y);
  if (!kernel) return tn_last_status();
  int64_t rows = y->numel / n;
  return tn_launch_groups(kernel, rows,
                          TN_ARGS(AT(y), AT(x), TN_ARG_I64(rows),
                                  TN_ARG_I64(n)));
}

tn_status tn_softmax_backward_run(bool logarithm, tn_tensor *gx,
                                  tn_tensor *gy, tn_tensor *y, int64_t n)
{
  if (gx->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&softmax_backward[logarithm], gx);
  if (!kernel) return tn_last_status();
  int64_t rows = gx->numel / n;
  return tn_launch_groups(kernel, rows,
                          TN_ARGS(AT(gx), AT(gy), AT(y), TN_ARG_I64(rows),
                                  TN_ARG_I64(n)));
}

/* ---- layer norm ---- */

static tn_arg number(const tn_tensor *t, double value)
{
  tn_arg f32 = TN_ARG_F32((float)value), f64 = TN_ARG_F64(value);
  return t->dtype == TN_F64 ? f64 : f32;
}

tn_status tn_layer_norm_run(tn_tensor *y, tn_tensor *mean, tn_tensor *scale,
                            tn_tensor *x, tn_tensor *weight, tn_tensor *bias,
                            int64_t n, double eps)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&layer_norm, y);
  if (!kernel) return tn_last_status();
  int64_t rows = y->numel / n;
  const tn_arg args[] = { AT(y), AT(mean), AT(scale), AT(x), AT(weight),
                          AT(bias), TN_ARG_I64(rows), TN_ARG_I64(n),
                          number(y, eps) };
  return tn_launch_groups(kernel, rows, args, sizeof args / sizeof *args);
}

tn_status tn_layer_norm_backward_run(tn_tensor *gx, tn_tensor *gy,
                                     tn_tensor *x, tn_tensor *mean,
                                     tn_tensor *scale, tn_tensor *weight,
                                     int64_t n)
{
  if (gx->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&layer_norm_backward, gx);
  if (!kernel) return tn_last_status();
  int64_t rows = gx->numel / n;
  return tn_launch_groups(kernel, rows,
                          TN_ARGS(AT(gx), AT(gy), AT(x), AT(mean), AT(scale),
                                  AT(weight), TN_ARG_I64(rows),
                                  TN_ARG_I64(n)));
}

static tn_status launch_columns(tn_tensor *gw, tn_tensor *gb, tn_tensor *gy,
                                tn_tensor *x, tn_tensor *mean,
                                tn_tensor *scale, int64_t n, int64_t blocks)
{
  tn_kernel *kernel = kernel_of(&layer_norm_columns, gw);
  if (!kernel) return tn_last_status();
  if (mean->numel == 0) gy = x = mean = scale = gw; /* no rows, no address */
  int64_t rows = mean == gw ? 0 : mean->numel;
  return tn_launch_groups(kernel, blocks * parts(n, COLUMN_TILE),
                          TN_ARGS(AT(gw), AT(gb), AT(gy), AT(x), AT(mean),
                                  AT(scale), TN_ARG_I64(rows),
                                  TN_ARG_I64(n), TN_ARG_I64(blocks)));
}

/* Blocks of rows, and their sums. */
static tn_status sum_columns(tn_tensor *gw, tn_tensor *gb, tn_tensor *gy,
                             tn_tensor *x, tn_tensor *mean, tn_tensor *scale,
                             int64_t n, int64_t blocks)
{
  tn_dtype dtype = (tn_dtype)gw->dtype;
  tn_reduction *sum = tn_reduction_of(TN_REDUCE_SUM, dtype);
  tn_place *place = tn_tensor_place(gw);
  const int64_t sizes[] = { blocks, n };
  const bool reduced[] = { true, false };
  tn_tensor *w = tn_tensor_new(place, dtype, (tn_shape){ sizes, 2 },
                               "layer_norm");
  tn_tensor *b = tn_tensor_new(place, dtype, (tn_shape){ sizes, 2 },
                               "layer_norm");
  tn_status status =
      w && b ? launch_columns(w, b, gy, x, mean, scale, n, blocks)
             : tn_last_status();
  if (status == TN_OK) status = tn_reduce_run(sum, gw, w, reduced);
  if (status == TN_OK) status = tn_reduce_run(sum, gb, b, reduced);
  tn_release(w);
  tn_release(b);
  return status;
}

tn_status tn_layer_norm_columns_run(tn_tensor *gw, tn_tensor *gb,
                                    tn_tensor *gy, tn_tensor *x,
                                    tn_tensor *mean, tn_tensor *scale,
                                    int64_t n)
{
  if (gw->numel == 0) return TN_OK;
  int64_t blocks = parts(mean->numel, BLOCK);
  if (blocks > 1)
    return sum_columns(gw, gb, gy, x, mean, scale, n, blocks);
  return launch_columns(gw, gb, gy, x, mean, scale, n, 1);
}

/* ---- losses ---- */

tn_status tn_nll_run(tn_tensor *y, tn_tensor *kept, tn_tensor *x,
                     tn_tensor *target, int64_t ignored)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&nll, y);
  if (!kernel) return tn_last_status();
  return tn_launch(kernel, y->numel,
                   TN_ARGS(AT(y), AT(kept), AT(x), AT(target),
                           TN_ARG_I64(y->numel),
                           TN_ARG_I64(x->numel / y->numel),
                           TN_ARG_I64(ignored)));
}

tn_status tn_nll_backward_run(tn_tensor *gx, tn_tensor *gy, int64_t step,
                              tn_tensor *target, int64_t ignored)
{
  if (gx->numel == 0) return TN_OK;
  tn_kernel *kernel = kernel_of(&nll_backward, gx);
  if (!kernel) return tn_last_status();
  int64_t rows = target->numel;
  return tn_launch(kernel, gx->numel,
                   TN_ARGS(AT(gx), AT(gy), AT(target), TN_ARG_I64(rows),
                           TN_ARG_I64(gx->numel / rows),
                           TN_ARG_I64(ignored), TN_ARG_I64(step)));
}

/* ---- running sums ---- */

tn_status tn_cumsum_run(tn_tensor *y, tn_tensor *x, int64_t outer, int64_t n,
                        int64_t inner, bool backwards)
{
  if (y->numel == 0) return TN_OK;
  int64_t blocks = parts(n, BLOCK), items = outer * blocks * inner;
  tn_arg args[] = { AT(y), AT(x), TN_ARG_I64(outer), TN_ARG_I64(n),
                    TN_ARG_I64(inner), TN_ARG_I64(blocks),
                    TN_ARG_I32(backwards) };
  size_t count = sizeof args / sizeof *args;
  tn_kernel *kernel = kernel_of(&cumsum, y);
  if (!kernel) return tn_last_status();
  tn_status status = tn_launch(kernel, items, args, count);
  if (status != TN_OK || blocks == 1) return status;
  tn_kernel *offsets = kernel_of(&cumsum_offsets, y);
  tn_kernel *add = kernel_of(&cumsum_add, y);
  tn_tensor *work = tn_tensor_new(tn_tensor_place(y), (tn_dtype)y->dtype,
                                  (tn_shape){ &items, 1 }, "cumsum");
  if (!offsets || !add || !work) {
    tn_release(work);
    return tn_last_status();
  }
  args[0] = (tn_arg)AT(work);
  args[1] = (tn_arg)AT(y);
  status = tn_launch(offsets, outer * inner, args, count);
  args[0] = (tn_arg)AT(y);
  args[1] = (tn_arg)AT(work);
  if (status == TN_OK) status = tn_launch(add, items, args, count);
  tn_release(work);
  return status;
}
