/* Trials of the matrix products. */
#include <stdlib.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_reference.h"

enum { BLOCK = 4096, PIECE = 64, PAD = 64, COLUMNS = 32 };

/* Along k. */
static const int64_t depths[] = { 1, 2, 63, 64, 65, 100, 1000, 1024, 1025,
                                  3000, 4096, 4097, -1 };
/* Lanes of more than one chunk: k above 64 * 1024. */
static const int64_t deep[] = { 70001, -1 };
static const int64_t vector_depths[] = { 1, 63, 64, 65, 1000, 4096, 4097,
                                         20011, -1 };

static int64_t parts(int64_t n, int64_t size)
{
  return (n + size - 1) / size;
}

/* A matrix of m rows and k columns per batch, in a random layout. */
typedef struct matrix {
  trial_array *array;
  int64_t stride, across, along;
} matrix;

static matrix random_matrix(kernel_trial *t, int64_t batches, int64_t m,
                            int64_t k)
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
  x.array = trial_floats(t, batches * x.stride);
  if (trial_below(t, 4) == 0) x.stride = 0; /* the same for all batches */
  return x;
}

static const float *element(const matrix *x, int64_t batch, int64_t row)
{
  return (const float *)x->array->host + batch * x->stride + row * x->across;
}

/* The panels of a factor. */
static trial_array *pack(kernel_trial *t, const char *kernel, const matrix *x,
                         int64_t batches, int64_t m, int64_t k)
{
  trial_array *panels =
      trial_output(t, batches * (m + PAD) * k, sizeof(float));
  trial_launch(t, kernel, batches * parts(m, 4) * parts(k, PIECE),
               TN_ARGS(TRIAL_PTR(panels), TRIAL_PTR(x->array),
                       TN_ARG_I64(batches), TN_ARG_I64(m), TN_ARG_I64(k),
                       TN_ARG_I64(x->stride), TN_ARG_I64(x->across),
                       TN_ARG_I64(x->along)));
  return panels;
}

static void matmul(kernel_trial *t)
{
  int64_t k = t->size, most = k > 10000 ? 9 : 40;
  int64_t batches = 1 + trial_below(t, 2);
  int64_t m = 1 + trial_below(t, most), n = 1 + trial_below(t, 2 * most);
  int64_t row = n + trial_below(t, 3), stride = m * row + trial_below(t, 3);
  matrix a = random_matrix(t, batches, m, k);
  matrix b = random_matrix(t, batches, n, k);
  trial_array *c = trial_output(t, batches * stride, sizeof(float));
  float *want = trial_memory(batches * stride, sizeof *want);
  for (int64_t i = 0; i < batches * stride; i++)
    want[i] = ((float *)c->host)[i];
  for (int64_t q = 0; q < batches; q++)
    for (int64_t i = 0; i < m; i++)
      for (int64_t j = 0; j < n; j++)
        want[q * stride + i * row + j] =
            ref_product(element(&a, q, i), a.along, element(&b, q, j),
                        b.along, k);
  trial_array *pa = pack(t, "pack_a_f32", &a, batches, m, k);
  trial_array *pb = pack(t, "pack_b_f32", &b, batches, n, k);
  trial_launch(t, "matmul_f32", batches * parts(m, 4) * parts(n, 8),
               TN_ARGS(TRIAL_PTR(c), TRIAL_PTR(pa), TRIAL_PTR(pb),
                       TN_ARG_I64(batches), TN_ARG_I64(m), TN_ARG_I64(n),
                       TN_ARG_I64(k), TN_ARG_I64(stride), TN_ARG_I64(row)));
  trial_expect_f32(t, c, want, batches * stride);
  free(want);
}

static void matvec(kernel_trial *t)
{
  int64_t k = t->size, batches = 1 + trial_below(t, 2);
  int64_t m = 1 + trial_below(t, 20), blocks = k <= BLOCK ? 1 : parts(k, BLOCK);
  matrix a = random_matrix(t, batches, m, k);
  matrix x = random_matrix(t, batches, 1, k);
  float *want = trial_memory(batches * m, sizeof *want);
  for (int64_t q = 0; q < batches; q++)
    for (int64_t i = 0; i < m; i++)
      want[q * m + i] = ref_dot(element(&a, q, i), a.along, element(&x, q, 0),
                                x.along, k);
  trial_array *y = trial_output(t, batches * m * blocks, sizeof(float));
  trial_launch_groups(
      t, "matvec_f32", batches * m * blocks,
      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(a.array), TRIAL_PTR(x.array),
              TN_ARG_I64(batches), TN_ARG_I64(m), TN_ARG_I64(k),
              TN_ARG_I64(blocks), TN_ARG_I64(a.stride), TN_ARG_I64(a.across),
              TN_ARG_I64(a.along), TN_ARG_I64(x.stride),
              TN_ARG_I64(x.along)));
  if (blocks == 1) {
    trial_expect_f32(t, y, want, batches * m);
  } else { /* the rest is sum_f32's, which has its own trials */
    float *part = trial_memory(batches * m, sizeof *part);
    trial_fetch(t, y);
    for (int64_t i = 0; i < batches * m; i++)
      part[i] = ref_sum((float *)y->host + i * blocks, blocks, 1);
    trial_compare_f32(t, part, want, batches * m);
    free(part);
  }
  free(want);
}

static void vecmat(kernel_trial *t)
{
  int64_t k = t->size, batches = 1 + trial_below(t, 2);
  int64_t n = 1 + trial_below(t, 100);
  int64_t blocks = k <= BLOCK ? 1 : parts(k, BLOCK);
  int64_t along = n + trial_below(t, 3), stride = k * along;
  matrix x = random_matrix(t, batches, 1, k);
  trial_array *b = trial_floats(t, batches * stride);
  float *want = trial_memory(batches * n, sizeof *want);
  for (int64_t q = 0; q < batches; q++)
    for (int64_t j = 0; j < n; j++)
      want[q * n + j] = ref_dot(element(&x, q, 0), x.along,
                                (float *)b->host + q * stride + j, along, k);
  trial_array *y = trial_output(t, batches * blocks * n, sizeof(float));
  trial_launch_groups(
      t, "vecmat_f32", batches * blocks * parts(n, COLUMNS),
      TN_ARGS(TRIAL_PTR(y), TRIAL_PTR(x.array), TRIAL_PTR(b),
              TN_ARG_I64(batches), TN_ARG_I64(n), TN_ARG_I64(k),
              TN_ARG_I64(blocks), TN_ARG_I64(x.stride), TN_ARG_I64(x.along),
              TN_ARG_I64(stride), TN_ARG_I64(along)));
  float *sum = trial_memory(batches * n, sizeof *sum);
  trial_fetch(t, y);
  for (int64_t q = 0; q < batches; q++)
    for (int64_t j = 0; j < n; j++)
      sum[q * n + j] = blocks == 1
          ? ((float *)y->host)[q * n + j]
          : ref_sum((float *)y->host + q * blocks * n + j, blocks, n);
  trial_compare_f32(t, sum, want, batches * n);
  free(sum);
  free(want);
}

const kernel_case matmul_cases[] = {
  { "matmul_f32", "matmul", matmul, NULL, depths, TRIAL_FLAVOURS },
  { "matmul_f32", "matmul", matmul, NULL, deep, TRIAL_WIDE },
  { "matvec_f32", "matmul", matvec, NULL, vector_depths, TRIAL_FLAVOURS },
  { "vecmat_f32", "matmul", vecmat, NULL, vector_depths, TRIAL_FLAVOURS },
  { 0 }
};
