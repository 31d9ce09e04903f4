#include "config.h"

#include "tensor/compute/attention.h"

#include <inttypes.h>

#include "tensor/compute/product.h"
#include "tensor/compute/strided.h"

#define QUERIES 32 /* that a group takes */

/* Bytes of weights and of their gradients that the way back holds, beyond
 * which batches are taken a few at a time. */
#define AT_A_TIME (64 << 20)

static tn_kernel_entry forward[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = TN_KERNEL_ENTRY("attention", "attention_f32"),
  [TN_SLOT_F64] = TN_KERNEL_ENTRY("attention_f64", "attention_f64"),
};
static tn_kernel_entry backward[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = TN_KERNEL_ENTRY("attention", "attention_backward_f32"),
  [TN_SLOT_F64] = TN_KERNEL_ENTRY("attention_f64", "attention_backward_f64"),
};

static tn_arg scale_of(const tn_attention *a)
{
  if (a->dtype == TN_F64)
    return (tn_arg){ TN_ARG_KIND_F64, { .f64 = a->scale } };
  return (tn_arg){ TN_ARG_KIND_F32, { .f32 = (float)a->scale } };
}

/* Any address will do for a mask that is not read. */
static tn_arg mask_of(const tn_attention *a, const void *other)
{
  return tn_arg_pointer(a->mask.address ? a->mask.address : other);
}

tn_status tn_attention_run(const tn_attention *a, void *y, void *stats)
{
  tn_kernel *kernel =
      tn_place_kernel(a->place, &forward[tn_dtype_slot_of(a->dtype)]);
  if (!kernel) return tn_last_status();
  int64_t blocks = a->queries / QUERIES + (a->queries % QUERIES != 0);
  return tn_launch_groups(
      kernel, a->outer * a->inner * blocks,
      TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(stats), TN_ARG_PTR(a->q.address),
              TN_ARG_PTR(a->k.address), TN_ARG_PTR(a->v.address),
              mask_of(a, y), TN_ARG_I64(a->outer), TN_ARG_I64(a->inner),
              TN_ARG_I64(a->queries), TN_ARG_I64(a->keys),
              TN_ARG_I64(a->size), TN_ARG_I64(a->values),
              TN_ARG_I64(a->q.outer), TN_ARG_I64(a->q.inner),
              TN_ARG_I64(a->q.row), TN_ARG_I64(a->k.outer),
              TN_ARG_I64(a->k.inner), TN_ARG_I64(a->k.row),
              TN_ARG_I64(a->v.outer), TN_ARG_I64(a->v.inner),
              TN_ARG_I64(a->v.row), TN_ARG_I64(a->mask.outer),
              TN_ARG_I64(a->mask.inner), TN_ARG_I64(a->mask.row),
              TN_ARG_I64(a->mask.column), scale_of(a),
              TN_ARG_I32(a->mask.address != NULL),
              TN_ARG_I32(a->is_causal)));
}

/* A part of the way back: `count` batches from `first` on, all with one
 * outer index. */
typedef struct back_pass {
  const tn_attention *of;
  int64_t first, count;
  char *weights, *scores_grad; /* workspaces of the part */
  const char *dot;
} back_pass;

/* Element `index` of a contiguous array. */
static char *element(const back_pass *p, const void *array, int64_t index)
{
  return (char *)(uintptr_t)array +
         index * (int64_t)tn_dtype_size(p->of->dtype);
}

/* The first element of the part, of an array with `rows` x `columns` for each
 * batch. */
static char *part_of(const back_pass *p, const void *array, int64_t rows,
                     int64_t columns)
{
  return element(p, array, p->first * rows * columns);
}

/* A matrix of rows x columns a batch, contiguous, or what it is turned. */
static tn_factor left(const void *address, int64_t rows, int64_t columns,
                      bool is_turned)
{
  return (tn_factor){ address, rows * columns, is_turned ? 1 : columns,
                      is_turned ? columns : 1 };
}

static tn_factor right(const void *address, int64_t rows, int64_t columns,
                       bool is_turned)
{
  return left(address, rows, columns, !is_turned);
}

static tn_status multiply(const back_pass *p, void *c, tn_factor a,
                          tn_factor b, int64_t m, int64_t n, int64_t k)
{
  const tn_product product = {
    .place = p->of->place, .dtype = p->of->dtype, .c = c, .a = a, .b = b,
    .batches = p->count, .m = m, .n = n, .k = k, .by_chunks = true
  };
  return tn_product_run(&product, "scaled_dot_product_attention");
}

static tn_status weigh(const back_pass *p, const void *stats)
{
  const tn_attention *a = p->of;
  tn_kernel *kernel =
      tn_place_kernel(a->place, &backward[tn_dtype_slot_of(a->dtype)]);
  if (!kernel) return tn_last_status();
  int64_t outer = p->first / a->inner, inner = p->first % a->inner;
  const void *mask = a->mask.address;
  if (mask)
    mask = element(p, mask, outer * a->mask.outer + inner * a->mask.inner);
  return tn_launch(
      kernel, p->count * a->queries * a->keys,
      TN_ARGS(TN_ARG_PTR(p->weights), TN_ARG_PTR(p->scores_grad),
              TN_ARG_PTR(part_of(p, stats, a->queries, 2)),
              TN_ARG_PTR(part_of(p, p->dot, a->queries, 1)),
              tn_arg_pointer(mask ? mask : p->weights), TN_ARG_I64(1),
              TN_ARG_I64(p->count), TN_ARG_I64(a->queries),
              TN_ARG_I64(a->keys), TN_ARG_I64(0), TN_ARG_I64(a->mask.inner),
              TN_ARG_I64(a->mask.row), TN_ARG_I64(a->mask.column),
              scale_of(a), TN_ARG_I32(mask != NULL),
              TN_ARG_I32(a->is_causal)));
}

/* Scores and the products of the gradient with v, then weights and the
 * scores' gradient in their place. */
static tn_status prepare(const back_pass *p, const void *grad,
                         const void *stats)
{
  const tn_attention *a = p->of;
  int64_t m = a->queries, n = a->keys;
  tn_status status = multiply(
      p, p->weights, left(part_of(p, a->q.address, m, a->size), m, a->size, 0),
      right(part_of(p, a->k.address, n, a->size), n, a->size, true), m, n,
      a->size);
  if (status == TN_OK)
    status = multiply(
        p, p->scores_grad,
        left(part_of(p, grad, m, a->values), m, a->values, false),
        right(part_of(p, a->v.address, n, a->values), n, a->values, true), m,
        n, a->values);
  return status == TN_OK ? weigh(p, stats) : status;
}

static tn_status finish(const back_pass *p, const void *grad,
                        const tn_attention_gradients *to)
{
  const tn_attention *a = p->of;
  int64_t m = a->queries, n = a->keys;
  tn_status status = TN_OK;
  if (to->v)
    status = multiply(p, part_of(p, to->v, n, a->values),
                      left(p->weights, m, n, true),
                      right(part_of(p, grad, m, a->values), m, a->values, 0),
                      n, a->values, m);
  if (to->q && status == TN_OK)
    status = multiply(
        p, part_of(p, to->q, m, a->size), left(p->scores_grad, m, n, false),
        right(part_of(p, a->k.address, n, a->size), n, a->size, false), m,
        a->size, n);
  if (to->k && status == TN_OK)
    status = multiply(
        p, part_of(p, to->k, n, a->size), left(p->scores_grad, m, n, true),
        right(part_of(p, a->q.address, m, a->size), m, a->size, false), n,
        a->size, m);
  return status;
}

/* dot[row] = the gradient's row times y's. */
static tn_status multiply_rows(const tn_attention *a, void *dot,
                               const void *y, const void *grad)
{
  const tn_factor left_rows = { grad, a->values, 0, 1 };
  const tn_factor right_rows = { y, a->values, 0, 1 };
  const tn_product product = {
    .place = a->place, .dtype = a->dtype, .c = dot, .a = left_rows,
    .b = right_rows, .batches = a->outer * a->inner * a->queries,
    .m = 1, .n = 1, .k = a->values
  };
  return tn_product_run(&product, "scaled_dot_product_attention");
}

/* How many batches of the inner level are taken at a time. */
static int64_t batches_at_a_time(const tn_attention *a)
{
  int64_t bytes = 2 * (int64_t)tn_dtype_size(a->dtype), limit = AT_A_TIME;
  int64_t count = limit / bytes / a->keys / a->queries;
  return count < 1 ? 1 : count < a->inner ? count : a->inner;
}

/* Numbers for `count` batches of weights and, unless they are wanted, of
 * their gradients; and one for each row. */
static tn_block *workspace(const tn_attention *a, int64_t count, bool both)
{
  size_t bytes, rows = (size_t)(a->outer * a->inner * a->queries);
  if (__builtin_mul_overflow((size_t)a->queries, (size_t)a->keys, &bytes) ||
      __builtin_mul_overflow(bytes, (size_t)count * (both ? 2 : 1), &bytes) ||
      __builtin_add_overflow(bytes, rows, &bytes) ||
      __builtin_mul_overflow(bytes, tn_dtype_size(a->dtype), &bytes)) {
    tn_set_error(TN_SIZE_OVERFLOW, "scaled_dot_product_attention: %" PRId64
                 " x %" PRId64 " weights need more memory than there can be",
                 a->queries, a->keys);
    return NULL;
  }
  return tn_block_new(a->place->device, bytes);
}

tn_status tn_attention_back_run(const tn_attention *a, const void *y,
                                const void *grad, const void *stats,
                                const tn_attention_gradients *to)
{
  int64_t step = batches_at_a_time(a), batches = a->outer * a->inner;
  tn_block *block = workspace(a, step, !to->mask);
  if (!block) return tn_last_status();
  back_pass p = { .of = a, .dot = tn_block_address(block) };
  p.weights = element(&p, p.dot, batches * a->queries);
  char *spare = element(&p, p.weights, step * a->queries * a->keys);
  tn_status status =
      multiply_rows(a, tn_block_address(block), y, grad);
  while (p.first < batches && status == TN_OK) {
    int64_t left_over = a->inner - p.first % a->inner;
    p.count = step < left_over ? step : left_over;
    p.scores_grad = to->mask ? part_of(&p, to->mask, a->queries, a->keys)
                             : spare;
    status = prepare(&p, grad, stats);
    if (status == TN_OK) status = finish(&p, grad, to);
    p.first += p.count;
  }
  tn_block_release(block);
  return status;
}
