#include "config.h"

#include "tensor/compute/product.h"

#include <inttypes.h>

#include "tensor/compute/strided.h"

#define CHUNK 1024
#define BLOCK 4096
#define DEEPEST (1 << 22)
#define PANEL 64     /* at most so wide is one, the last one being full */
#define COLUMNS 64   /* that a group of vecmat takes */
#define SHORTEST 48  /* columns from which vecmat is the faster one */

/* Multiplications up to which panels in memory do not pay, and the depth up
 * to which they never do. */
#define SMALL 4194304
#define SHALLOW 128

/* The kernels of a dtype; integers have the first one only. */
typedef struct product_kernels {
  tn_kernel_entry direct, pack_a, pack_b, packed, matvec, vecmat, sum,
      sum_columns;
} product_kernels;

#define FLOAT_KERNELS(family, reduce, suffix)             \
  { TN_KERNEL_ENTRY(family, "matmul_direct_" suffix),     \
    TN_KERNEL_ENTRY(family, "pack_a_" suffix),            \
    TN_KERNEL_ENTRY(family, "pack_b_" suffix),            \
    TN_KERNEL_ENTRY(family, "matmul_" suffix),            \
    TN_KERNEL_ENTRY(family, "matvec_" suffix),            \
    TN_KERNEL_ENTRY(family, "vecmat_" suffix),            \
    TN_KERNEL_ENTRY(reduce, "sum_" suffix),               \
    TN_KERNEL_ENTRY(reduce, "sum_columns_" suffix) }

static product_kernels kernels[TN_SLOT_COUNT] = {
  [TN_SLOT_F32] = FLOAT_KERNELS("matmul", "reduce", "f32"),
  [TN_SLOT_F64] = FLOAT_KERNELS("matmul_f64", "reduce_f64", "f64"),
  [TN_SLOT_I64] = { .direct = TN_KERNEL_ENTRY("matmul_int", "matmul_i64") },
  [TN_SLOT_I32] = { .direct = TN_KERNEL_ENTRY("matmul_int", "matmul_i32") },
  [TN_SLOT_U8] = { .direct = TN_KERNEL_ENTRY("matmul_int", "matmul_u8") },
};

static int64_t parts(int64_t n, int64_t size)
{
  return n / size + (n % size != 0);
}

static product_kernels *kernels_of(const tn_product *p)
{
  return &kernels[tn_dtype_slot_of(p->dtype)];
}

static tn_status launch(const tn_product *p, tn_kernel_entry *entry,
                        bool groups, int64_t count, const tn_arg *args,
                        size_t arg_count)
{
  tn_kernel *kernel = tn_place_kernel(p->place, entry);
  if (!kernel) return tn_last_status();
  return groups ? tn_launch_groups(kernel, count, args, arg_count)
                : tn_launch(kernel, count, args, arg_count);
}

/* A factor without elements has no address; none of it is read. */
static tn_arg pointer_of(const tn_product *p, const tn_factor *f)
{
  return tn_arg_pointer(f->address ? f->address : p->c);
}

/* Integers have no bias. */
static tn_status run_direct(const tn_product *p)
{
  bool is_float = tn_dtype_is_float(p->dtype);
  int64_t items = p->batches * (is_float ? parts(p->m, 4) * parts(p->n, 4)
                                         : p->m * parts(p->n, 32));
  const tn_arg args[] = {
    TN_ARG_PTR(p->c), pointer_of(p, &p->a), pointer_of(p, &p->b),
    TN_ARG_I64(p->batches), TN_ARG_I64(p->m), TN_ARG_I64(p->n),
    TN_ARG_I64(p->k), TN_ARG_I64(p->m * p->n), TN_ARG_I64(p->n),
    TN_ARG_I64(p->a.stride), TN_ARG_I64(p->a.across),
    TN_ARG_I64(p->a.along), TN_ARG_I64(p->b.stride),
    TN_ARG_I64(p->b.across), TN_ARG_I64(p->b.along),
    tn_arg_pointer(p->bias ? p->bias : p->c), TN_ARG_I32(p->bias != NULL)
  };
  size_t count = sizeof args / sizeof *args;
  return launch(p, &kernels_of(p)->direct, false, items, args,
                is_float ? count : count - 2);
}

/* Memory for batches x rows x columns numbers. */
static tn_block *workspace(const tn_product *p, int64_t rows, int64_t columns)
{
  size_t bytes;
  if (__builtin_mul_overflow((size_t)rows, (size_t)columns, &bytes) ||
      __builtin_mul_overflow(bytes, (size_t)p->batches, &bytes) ||
      __builtin_mul_overflow(bytes, tn_dtype_size(p->dtype), &bytes)) {
    tn_set_error(TN_SIZE_OVERFLOW, "a product's workspace of %" PRId64 " x %"
                 PRId64 " x %" PRId64 " numbers: more than memory has",
                 p->batches, rows, columns);
    return NULL;
  }
  return tn_block_new(p->place->device, bytes);
}

/* A block's panels of one factor, `rows` being m or n. */
static tn_status pack(const tn_product *p, tn_kernel_entry *entry,
                      const tn_block *panels, const tn_factor *f,
                      int64_t rows)
{
  return launch(p, entry, false, p->batches * parts(rows, 4) * parts(p->k, 64),
                TN_ARGS(TN_ARG_PTR(tn_block_address(panels)),
                        pointer_of(p, f), TN_ARG_I64(p->batches),
                        TN_ARG_I64(rows), TN_ARG_I64(p->k),
                        TN_ARG_I64(f->stride), TN_ARG_I64(f->across),
                        TN_ARG_I64(f->along)));
}

static tn_status run_packed(const tn_product *p)
{
  product_kernels *of = kernels_of(p);
  tn_status status = TN_OUT_OF_MEMORY;
  tn_block *a = workspace(p, p->m + PANEL, p->k);
  tn_block *b = a ? workspace(p, p->n + PANEL, p->k) : NULL;
  if (!b) {
    status = tn_last_status();
    goto release;
  }
  status = pack(p, &of->pack_a, a, &p->a, p->m);
  if (status == TN_OK) status = pack(p, &of->pack_b, b, &p->b, p->n);
  if (status == TN_OK)
    status = launch(p, &of->packed, false,
                    p->batches * parts(p->m, 4) * parts(p->n, 8),
                    TN_ARGS(TN_ARG_PTR(p->c),
                            TN_ARG_PTR(tn_block_address(a)),
                            TN_ARG_PTR(tn_block_address(b)),
                            TN_ARG_I64(p->batches), TN_ARG_I64(p->m),
                            TN_ARG_I64(p->n), TN_ARG_I64(p->k),
                            TN_ARG_I64(p->m * p->n), TN_ARG_I64(p->n)));
release:
  tn_block_release(b);
  tn_block_release(a);
  return status;
}

/* A matrix times a vector, `rows` sums a batch, each in `blocks` parts. */
static tn_status run_matvec(const tn_product *p, const tn_factor *matrix,
                            const tn_factor *vector, int64_t rows,
                            int64_t blocks, void *y)
{
  return launch(p, &kernels_of(p)->matvec, true, p->batches * rows * blocks,
                TN_ARGS(TN_ARG_PTR(y), pointer_of(p, matrix),
                        pointer_of(p, vector), TN_ARG_I64(p->batches),
                        TN_ARG_I64(rows), TN_ARG_I64(p->k),
                        TN_ARG_I64(blocks), TN_ARG_I64(matrix->stride),
                        TN_ARG_I64(matrix->across),
                        TN_ARG_I64(matrix->along),
                        TN_ARG_I64(vector->stride),
                        TN_ARG_I64(vector->along)));
}

static tn_status run_vecmat(const tn_product *p, const tn_factor *matrix,
                            const tn_factor *vector, int64_t columns,
                            int64_t blocks, void *y)
{
  return launch(p, &kernels_of(p)->vecmat, true,
                p->batches * blocks * parts(columns, COLUMNS),
                TN_ARGS(TN_ARG_PTR(y), pointer_of(p, vector),
                        pointer_of(p, matrix), TN_ARG_I64(p->batches),
                        TN_ARG_I64(columns), TN_ARG_I64(p->k),
                        TN_ARG_I64(blocks), TN_ARG_I64(vector->stride),
                        TN_ARG_I64(vector->along),
                        TN_ARG_I64(matrix->stride),
                        TN_ARG_I64(matrix->along)));
}

/* The blocks' sums, at most 1024 (k <= 2^22), are one lane sum. */
static tn_status add_blocks(const tn_product *p, bool by_columns, void *y,
                            const void *part, int64_t sums, int64_t blocks)
{
  if (by_columns)
    return launch(p, &kernels_of(p)->sum_columns, true,
                  p->batches * parts(sums, COLUMNS),
                  TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(part),
                          TN_ARG_I64(p->batches), TN_ARG_I64(blocks),
                          TN_ARG_I64(sums), TN_ARG_I64(blocks * sums),
                          TN_ARG_I64(sums), TN_ARG_I64(1)));
  return launch(p, &kernels_of(p)->sum, true, p->batches * sums,
                TN_ARGS(TN_ARG_PTR(y), TN_ARG_PTR(part),
                        TN_ARG_I64(p->batches * sums), TN_ARG_I64(blocks),
                        TN_ARG_I64(blocks), TN_ARG_I64(1)));
}

/* One row or one column: lanes along k. */
static tn_status run_lanes(const tn_product *p)
{
  bool is_row = p->m == 1;
  const tn_factor *matrix = is_row ? &p->b : &p->a;
  const tn_factor *vector = is_row ? &p->a : &p->b;
  int64_t sums = is_row ? p->n : p->m, blocks = parts(p->k, BLOCK);
  bool by_columns = matrix->across == 1 && matrix->along != 1 &&
                    sums >= SHORTEST;
  void *y = p->c;
  tn_block *part = NULL;
  if (blocks > 1) {
    part = workspace(p, sums, blocks);
    if (!part) return tn_last_status();
    y = tn_block_address(part);
  }
  tn_status status =
      by_columns ? run_vecmat(p, matrix, vector, sums, blocks, y)
                 : run_matvec(p, matrix, vector, sums, blocks, y);
  if (part && status == TN_OK)
    status = add_blocks(p, by_columns, p->c, y, sums, blocks);
  tn_block_release(part);
  return status;
}

/* By one launch of chunks. */
static bool is_direct(const tn_product *p)
{
  int64_t work;
  if (p->k == 0 || !tn_dtype_is_float(p->dtype)) return true;
  if (!p->by_chunks && (p->m == 1 || p->n == 1)) return false;
  if (p->k <= SHALLOW) return true;
  return p->k <= CHUNK && !__builtin_mul_overflow(p->m, p->n, &work) &&
         !__builtin_mul_overflow(work, p->k, &work) && work <= SMALL;
}

bool tn_product_takes_bias(const tn_product *p)
{
  return tn_dtype_is_float(p->dtype) && is_direct(p);
}

tn_status tn_product_run(const tn_product *p, const char *operation)
{
  if (!kernels_of(p)->direct.name)
    return tn_set_error(TN_UNSUPPORTED, "%s: dtype %s: f32, f64, i64, i32 and "
                        "u8 have products", operation,
                        tn_dtype_name(p->dtype));
  if (p->batches == 0 || p->m == 0 || p->n == 0) return TN_OK;
  if (is_direct(p)) return run_direct(p);
  if (p->k > DEEPEST)
    return tn_set_error(TN_UNSUPPORTED, "%s: sums over %" PRId64 " products: "
                        "%d at most", operation, p->k, DEEPEST);
  return !p->by_chunks && (p->m == 1 || p->n == 1) ? run_lanes(p)
                                                   : run_packed(p);
}
