#include "config.h"

#include "tensor/compute/random.h"

/* For f32 and f64. */
static tn_kernel_entry uniform[] = {
  TN_KERNEL_ENTRY("random", "uniform_f32"),
  TN_KERNEL_ENTRY("random_f64", "uniform_f64"),
};
static tn_kernel_entry normal[] = {
  TN_KERNEL_ENTRY("random", "normal_f32"),
  TN_KERNEL_ENTRY("random_f64", "normal_f64"),
};
static tn_kernel_entry dropout[] = {
  TN_KERNEL_ENTRY("random", "dropout_f32"),
  TN_KERNEL_ENTRY("random_f64", "dropout_f64"),
};

static int64_t parts(int64_t n, int64_t size)
{
  return n / size + (n % size != 0);
}

uint64_t tn_random_blocks(const tn_tensor *t)
{
  return (uint64_t)parts(t->numel, t->dtype == TN_F64 ? 2 : 4);
}

static tn_arg number(const tn_tensor *t, double value)
{
  tn_arg f32 = TN_ARG_F32((float)value), f64 = TN_ARG_F64(value);
  return t->dtype == TN_F64 ? f64 : f32;
}

static tn_status fill(tn_kernel_entry *entries, tn_tensor *y,
                      tn_random_piece piece, double first, double second)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = tn_place_kernel(tn_tensor_place(y),
                                      &entries[y->dtype == TN_F64]);
  if (!kernel) return tn_last_status();
  tn_random_piece now = tn_random_piece_now(piece);
  const tn_arg args[] = { TN_ARG_PTR(tn_tensor_address(y)),
                          TN_ARG_I64((int64_t)now.seed),
                          TN_ARG_I64((int64_t)now.offset),
                          number(y, first), number(y, second),
                          TN_ARG_I64(y->numel) };
  tn_status status = tn_launch(kernel, (int64_t)tn_random_blocks(y), args,
                               sizeof args / sizeof *args);
  return status == TN_OK
             ? tn_random_piece_use(piece, tn_tensor_place(y)->device, 1)
             : status;
}

tn_status tn_uniform_run(tn_tensor *y, tn_random_piece piece, double low,
                         double span)
{
  return fill(uniform, y, piece, low, span);
}

tn_status tn_normal_run(tn_tensor *y, tn_random_piece piece, double mean,
                        double deviation)
{
  return fill(normal, y, piece, mean, deviation);
}

tn_status tn_dropout_run(tn_tensor *y, tn_tensor *x, tn_random_piece piece,
                         double p, double scale)
{
  if (y->numel == 0) return TN_OK;
  tn_kernel *kernel = tn_place_kernel(tn_tensor_place(y),
                                      &dropout[y->dtype == TN_F64]);
  if (!kernel) return tn_last_status();
  tn_random_piece now = tn_random_piece_now(piece);
  const tn_arg args[] = { TN_ARG_PTR(tn_tensor_address(y)),
                          TN_ARG_PTR(tn_tensor_address(x)),
                          TN_ARG_I64((int64_t)now.seed),
                          TN_ARG_I64((int64_t)now.offset),
                          TN_ARG_F32((float)p), number(y, scale),
                          TN_ARG_I64(y->numel) };
  tn_status status = tn_launch(kernel, parts(y->numel, 4), args,
                               sizeof args / sizeof *args);
  return status == TN_OK
             ? tn_random_piece_use(piece, tn_tensor_place(y)->device, 2)
             : status;
}
