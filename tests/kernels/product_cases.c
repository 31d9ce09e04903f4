/* Trials of products of f64 and of integers, and of small ones. */
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_reference.h"
#include "tests/numbers_products.h"

enum { BLOCK = 4096, PIECE = 64, PAD = 64, COLUMNS = 64 };

static const int64_t depths[] = { 1, 2, 63, 65, 1000, 1025, 3000, -1 };
static const int64_t small_depths[] = { 1, 2, 63, 64, 100, 127, 128, 129,
                                        1000, 1024, -1 };
static const int64_t vector_depths[] = { 1, 63, 64, 65, 1000, 4096, 4097,
                                         -1 };
static const int64_t integer_depths[] = { 1, 2, 40, 333, -1 };

static int64_t parts(int64_t n, int64_t size)
{
  return (n + size - 1) / size;
}

/* A matrix of m rows and k columns per batch, in a random layout. */
typedef struct matrix {
  trial_array *array;
  int64_t stride, across, along;
} matrix;

typedef trial_array *maker(kernel_trial *, int64_t n);

static matrix random_matrix(kernel_trial *t, maker *make, int64_t batches,
                            int64_t m, int64_t k)
{
  matrix x = { NULL, 0, 1, 1 };
  int64_t gap = trial_below(t, 3), step = 1 + (trial_below(t, 4) == 0);
  if (trial_below(t, 2)) {
    x.along = step;
    x.across = k * step + gap;
  } else {
    x.across = step;
    x.along = m * step + gap;
  }
  x.stride = m * x.across + k * x.along;
  x.array = make(t, batches * x.stride);
  if (trial_below(t, 4) == 0) x.stride = 0; /* the same for all batches */
  return x;
}

/* c = a b, and where its elements are. */
typedef struct product {
  int64_t batches, m, n, k, stride, row, elements;
  matrix a, b;
  trial_array *c;
} product;

/* `most`: of rows and columns.  Elements of c are `size` bytes. */
static product random_product(kernel_trial *t, maker *make, int64_t most,
                              size_t size)
{
  product p = { .batches = 1 + trial_below(t, 2), .k = t->size,
                .m = 1 + trial_below(t, most),
                .n = 1 + trial_below(t, most) };
  p.row = p.n + trial_below(t, 3);
  p.stride = p.m * p.row + trial_below(t, 3);
  p.elements = p.batches * p.stride;
  p.a = random_matrix(t, make, p.batches, p.m, p.k);
  p.b = random_matrix(t, make, p.batches, p.n, p.k);
  p.c = trial_output(t, parts(p.elements, 4) * 4, size);
  return p;
}

/* Sets each element of c, a pointer to `type`, to what `value` is of p and q,
 * the first elements of its row and column. */
#define FOR_PRODUCT(type, x, c, value)                                      \
  for (int64_t e = 0; e < (x)->batches * (x)->m * (x)->n; e++) {            \
    int64_t batch = e / ((x)->m * (x)->n);                                  \
    int64_t i = e / (x)->n % (x)->m, j = e % (x)->n;                        \
    const type *p = (const type *)(x)->a.array->host +                      \
                    batch * (x)->a.stride + i * (x)->a.across;              \
    const type *q = (const type *)(x)->b.array->host +                      \
                    batch * (x)->b.stride + j * (x)->b.across;              \
    (c)[batch * (x)->stride + i * (x)->row + j] = (value);                  \
  }

#define ADD_BIAS(type, x, c, bias)                                          \
  for (int64_t e = 0; e < (x)->batches * (x)->m * (x)->n; e++)              \
    (c)[e / ((x)->m * (x)->n) * (x)->stride + e / (x)->n % (x)->m * (x)->row \
        + e % (x)->n] += ((const type *)(bias)->host)[e % (x)->n];

/* bias: NULL for kernels that take none. */
static void launch_direct(kernel_trial *t, const char *kernel,
                          const product *x, int64_t items,
                          const trial_array *bias, bool has_bias)
{
  const tn_arg args[] = {
    TRIAL_PTR(x->c), TRIAL_PTR(x->a.array), TRIAL_PTR(x->b.array),
    TN_ARG_I64(x->batches), TN_ARG_I64(x->m), TN_ARG_I64(x->n),
    TN_ARG_I64(x->k), TN_ARG_I64(x->stride), TN_ARG_I64(x->row),
    TN_ARG_I64(x->a.stride), TN_ARG_I64(x->a.across),
    TN_ARG_I64(x->a.along), TN_ARG_I64(x->b.stride),
    TN_ARG_I64(x->b.across), TN_ARG_I64(x->b.along),
    TRIAL_PTR(bias ? bias : x->c), TN_ARG_I32(has_bias)
  };
  size_t count = sizeof args / sizeof *args;
  trial_launch(t, kernel, items, args, bias ? count : count - 2);
}

static int64_t direct_items(const product *x)
{
  return x->batches * parts(x->m, 4) * parts(x->n, 4);
}

static void direct_f32(kernel_trial *t)
{
  int64_t most = t->size > 200 ? 20 : 110;
  product x = random_product(t, trial_floats, most, sizeof(float));
  float *want = trial_memory(x.elements, sizeof *want);
  memcpy(want, x.c->host, (size_t)x.elements * sizeof *want);
  FOR_PRODUCT(float, &x, want,
              ref_product(p, x.a.along, q, x.b.along, x.k))
  trial_array *bias = trial_floats(t, x.n);
  bool has_bias = trial_below(t, 2);
  if (has_bias) ADD_BIAS(float, &x, want, bias)
  launch_direct(t, "matmul_direct_f32", &x, direct_items(&x), bias, has_bias);
  trial_expect_f32(t, x.c, want, x.elements);
  free(want);
}

static double *wanted_f64(const product *x)
{
  double *want = trial_memory(x->elements, sizeof *want);
  memcpy(want, x->c->host, (size_t)x->elements * sizeof *want);
  FOR_PRODUCT(double, x, want,
              ref_product_f64(p, x->a.along, q, x->b.along, x->k))
  return want;
}

static void direct_f64(kernel_trial *t)
{
  int64_t most = t->size > 200 ? 20 : 60;
  product x = random_product(t, trial_doubles, most, sizeof(double));
  double *want = wanted_f64(&x);
  trial_array *bias = trial_doubles(t, x.n);
  bool has_bias = trial_below(t, 2);
  if (has_bias) ADD_BIAS(double, &x, want, bias)
  launch_direct(t, "matmul_direct_f64", &x, direct_items(&x), bias, has_bias);
  trial_expect_f64(t, x.c, want, x.elements);
  free(want);
}

/* The panels of a factor. */
static trial_array *pack(kernel_trial *t, const char *kernel, const matrix *x,
                         int64_t batches, int64_t m, int64_t k)
{
  trial_array *panels =
      trial_output(t, batches * (m + PAD) * k, sizeof(double));
  trial_launch(t, kernel, batches * parts(m, 4) * parts(k, PIECE),
               TN_ARGS(TRIAL_PTR(panels), TRIAL_PTR(x->array),
                       TN_ARG_I64(batches), TN_ARG_I64(m), TN_ARG_I64(k),
                       TN_ARG_I64(x->stride), TN_ARG_I64(x->across),
                       TN_ARG_I64(x->along)));
  return panels;
}

static void packed_f64(kernel_trial *t)
{
  product x = random_product(t, trial_doubles, 25, sizeof(double));
  double *want = wanted_f64(&x);
  trial_array *pa = pack(t, "pack_a_f64", &x.a, x.batches, x.m, x.k);
  trial_array *pb = pack(t, "pack_b_f64", &x.b, x.batches, x.n, x.k);
  trial_launch(t, "matmul_f64",
               x.batches * parts(x.m, 4) * parts(x.n, 8),
               TN_ARGS(TRIAL_PTR(x.c), TRIAL_PTR(pa), TRIAL_PTR(pb),
                       TN_ARG_I64(x.batches), TN_ARG_I64(x.m),
                       TN_ARG_I64(x.n), TN_ARG_I64(x.k),
                       TN_ARG_I64(x.stride), TN_ARG_I64(x.row)));
  trial_expect_f64(t, x.c, want, x.elements);
  free(want);
}

/* Adds the blocks' sums, which are `inner` apart for each of `rows` outer
 * ones, in the way of sum_f64, and compares.  A lane alone is its sum. */
static void expect_of_blocks(kernel_trial *t, trial_array *y, int64_t rows,
                             int64_t blocks, int64_t inner,
                             const double *want)
{
  static const double one = 1;
  trial_array *z = trial_zeros(t, rows * inner, sizeof(double));
  trial_fetch(t, y);
  for (int64_t e = 0; e < rows * inner; e++) {
    const double *from = (const double *)y->host +
                         e / inner * blocks * inner + e % inner;
    ((double *)z->host)[e] =
        blocks == 1 ? *from : ref_dot_f64(from, inner, &one, 0, blocks);
  }
  trial_upload(t, z);
  trial_expect_f64(t, z, want, rows * inner);
}

static void matvec_f64(kernel_trial *t)
{
  int64_t k = t->size, batches = 1 + trial_below(t, 2);
  int64_t m = 1 + trial_below(t, 20), blocks = parts(k, BLOCK);
  matrix a = random_matrix(t, trial_doubles, batches, m, k);
  matrix x = random_matrix(t, trial_doubles, batches, 1, k);
  double *want = trial_memory(batches * m, sizeof *want);
  for (int64_t e = 0; e < batches * m; e++)
    want[e] = ref_dot_f64((double *)a.array->host + e / m * a.stride +
                              e % m * a.across, a.along,
                          (double *)x.array->host + e / m * x.stride,
                          x.along, k);
  trial_array *y = trial_output(t, batches * m * blocks, sizeof(double));
  trial_launch_groups(
      t, "matvec_f64", batches * m * blocks,
      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a.array), TRIAL_PTR(x.array),
              TN_ARG_I64(batches), TN_ARG_I64(m), TN_ARG_I64(k),
              TN_ARG_I64(blocks), TN_ARG_I64(a.stride), TN_ARG_I64(a.across),
              TN_ARG_I64(a.along), TN_ARG_I64(x.stride),
              TN_ARG_I64(x.along)));
  expect_of_blocks(t, y, batches * m, blocks, 1, want);
  free(want);
}

static void vecmat_f64(kernel_trial *t)
{
  int64_t k = t->size, batches = 1 + trial_below(t, 2);
  int64_t n = 1 + trial_below(t, 100), blocks = parts(k, BLOCK);
  int64_t along = n + trial_below(t, 3), stride = k * along;
  matrix x = random_matrix(t, trial_doubles, batches, 1, k);
  trial_array *b = trial_doubles(t, batches * stride);
  double *want = trial_memory(batches * n, sizeof *want);
  for (int64_t e = 0; e < batches * n; e++)
    want[e] = ref_dot_f64((double *)x.array->host + e / n * x.stride,
                          x.along,
                          (double *)b->host + e / n * stride + e % n, along,
                          k);
  trial_array *y = trial_output(t, batches * blocks * n, sizeof(double));
  trial_launch_groups(
      t, "vecmat_f64", batches * blocks * parts(n, COLUMNS),
      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x.array), TRIAL_PTR(b),
              TN_ARG_I64(batches), TN_ARG_I64(n), TN_ARG_I64(k),
              TN_ARG_I64(blocks), TN_ARG_I64(x.stride), TN_ARG_I64(x.along),
              TN_ARG_I64(stride), TN_ARG_I64(along)));
  expect_of_blocks(t, y, batches, blocks, n, want);
  free(want);
}

/* Integers of all bits. */
static trial_array *integers(kernel_trial *t, int64_t n, size_t size)
{
  trial_array *array = trial_zeros(t, n, size);
  for (size_t i = 0; i < array->bytes; i++)
    ((uint8_t *)array->host)[i] = (uint8_t)trial_random(t);
  trial_upload(t, array);
  return array;
}

static trial_array *of_8_bytes(kernel_trial *t, int64_t n)
{
  return integers(t, n, 8);
}

static trial_array *of_4_bytes(kernel_trial *t, int64_t n)
{
  return integers(t, n, 4);
}

/* The sum of products modulo 2^64, whose low bits are those of all others. */
#define INTEGER_CASE(suffix, type, make, word, expect)                     \
  static type product_##suffix(const type *a, int64_t a_step,              \
                               const type *b, int64_t b_step, int64_t k)   \
  {                                                                        \
    uint64_t sum = 0;                                                      \
    for (int64_t i = 0; i < k; i++)                                        \
      sum += (uint64_t)a[i * a_step] * b[i * b_step];                      \
    return (type)sum;                                                      \
  }                                                                        \
  static void matmul_##suffix(kernel_trial *t)                             \
  {                                                                        \
    product x = random_product(t, make, 70, sizeof(type));                 \
    type *want = trial_memory(x.elements + 4, sizeof *want);               \
    memcpy(want, x.c->host, x.c->bytes);                                   \
    FOR_PRODUCT(type, &x, want,                                            \
                product_##suffix(p, x.a.along, q, x.b.along, x.k))         \
    launch_direct(t, "matmul_" #suffix, &x,                                \
                  x.batches * x.m * parts(x.n, 32), NULL, false);          \
    expect(t, x.c, (const word *)(const void *)want,                       \
           (int64_t)(x.c->bytes / sizeof(word)));                          \
    free(want);                                                            \
  }
INTEGER_CASE(i64, uint64_t, of_8_bytes, uint64_t, trial_expect_u64)
INTEGER_CASE(i32, uint32_t, of_4_bytes, uint32_t, trial_expect_u32)
INTEGER_CASE(u8, uint8_t, trial_bytes, uint32_t, trial_expect_u32)

const kernel_case product_cases[] = {
  { "matmul_direct_f32", "matmul", direct_f32, NULL, small_depths,
    TRIAL_FLAVOURS },
  { "matmul_i64", "matmul_int", matmul_i64, NULL, integer_depths,
    TRIAL_WIDE },
  { "matmul_i32", "matmul_int", matmul_i32, NULL, integer_depths,
    TRIAL_WIDE },
  { "matmul_u8", "matmul_int", matmul_u8, NULL, integer_depths, TRIAL_WIDE },
  { 0 }
};

const kernel_case product_f64_cases[] = {
  { "matmul_direct_f64", "matmul_f64", direct_f64, NULL, small_depths,
    TRIAL_FLAVOURS },
  { "matmul_f64", "matmul_f64", packed_f64, NULL, depths, TRIAL_FLAVOURS },
  { "matvec_f64", "matmul_f64", matvec_f64, NULL, vector_depths,
    TRIAL_FLAVOURS },
  { "vecmat_f64", "matmul_f64", vecmat_f64, NULL, vector_depths,
    TRIAL_FLAVOURS },
  { 0 }
};
