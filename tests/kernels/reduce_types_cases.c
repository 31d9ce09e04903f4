/* Trials of the reductions of f64 and of integers. */
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"
#include "tests/numbers_rows.h"

enum { BLOCK = 4096, TILE = 64 };

typedef enum element { F32, F64, I64, I32, U8 } element;
static const int64_t size_of[] = { 4, 8, 8, 4, 1 };

/* levels: the kernel for levels after the first, if another (of a mean, for
 * those before the last); last: the kernel that ends them, if another;
 * at_blocks: the second level of indices. */
typedef struct operation {
  ref_reduction *reference;
  element in, out;
  const char *levels, *last, *at_blocks;
} operation;

static const int64_t lengths[] = { 1, 2, 63, 100, 4096, 4097, 9001, -1 };
static const int64_t wide_lengths[] = { 3, 70, 520, -1 };

static int64_t blocks_of(int64_t n)
{
  return n <= BLOCK ? 1 : (n + BLOCK - 1) / BLOCK;
}

/* Plain numbers are small, with many equal ones. */
static void fill(kernel_trial *t, trial_array *x, element type, int64_t n)
{
  for (int64_t i = 0; i < n; i++) {
    uint64_t r = trial_random(t);
    int64_t small = (int64_t)(r >> 8) % 5 - 2;
    bool wide = t->flavour == TRIAL_WIDE;
    switch (type) {
    case F32: ((float *)x->host)[i] = trial_float(t); break;
    case F64:
      ((double *)x->host)[i] = r % 3 == 0 ? (double)small : trial_double(t);
      break;
    case I64: ((int64_t *)x->host)[i] = wide ? (int64_t)r : small; break;
    case I32: ((int32_t *)x->host)[i] = wide ? (int32_t)r : (int32_t)small;
      break;
    case U8:
      ((uint8_t *)x->host)[i] = wide ? (uint8_t)r : r % 4000 == 0;
      break;
    }
  }
  trial_upload(t, x);
}

static trial_array *operand(kernel_trial *t, element type, int64_t n)
{
  trial_array *x = trial_zeros(t, n, (size_t)size_of[type]);
  fill(t, x, type, n);
  return x;
}

static void expect(kernel_trial *t, trial_array *y, element type,
                   const void *want, int64_t n)
{
  switch (type) {
  case F32: trial_expect_f32(t, y, want, n); break;
  case F64: trial_expect_f64(t, y, want, n); break;
  case I64: trial_expect_u64(t, y, want, n); break;
  case I32: trial_expect_u32(t, y, want, n); break;
  case U8: trial_expect_u8(t, y, want, n); break;
  }
}

/* The kernel for the level over n values. */
static const char *kernel_at(const kernel_trial *t, bool first, int64_t n)
{
  const operation *of = t->of->detail;
  if (of->last) return n <= BLOCK ? of->last : of->levels;
  return first || !of->levels ? t->of->name : of->levels;
}

static void rows(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, count = 1 + trial_below(t, 4);
  int64_t stride = n + trial_below(t, 3);
  trial_array *x = operand(t, of->in, count * stride), *y = NULL;
  char *want = trial_memory(count, (size_t)size_of[of->out]);
  for (int64_t r = 0; r < count; r++)
    of->reference((char *)x->host + r * stride * size_of[of->in], n, 1,
                  want + r * size_of[of->out]);
  for (bool first = true, last = false; !last; first = false) {
    const char *kernel = kernel_at(t, first, n);
    int64_t blocks = blocks_of(n);
    last = n <= BLOCK;
    y = trial_output(t, count * blocks, (size_t)size_of[of->out]);
    tn_arg args[] = { TRIAL_PTR(y),       TRIAL_PTR(x),
                      TN_ARG_I64(count),  TN_ARG_I64(n),
                      TN_ARG_I64(stride), TN_ARG_I64(blocks),
                      TN_ARG_F64((double)t->size) };
    trial_launch_groups(t, kernel, count * blocks, args,
                        last && of->last ? 7 : 6);
    x = y;
    n = stride = blocks;
  }
  expect(t, y, of->out, want, count);
  free(want);
}

static void columns_of(kernel_trial *t, int64_t outer, int64_t inner)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, step = inner + trial_below(t, 3);
  int64_t stride = n * step + trial_below(t, 3);
  trial_array *x = operand(t, of->in, outer * stride), *y = NULL;
  char *want = trial_memory(outer * inner, (size_t)size_of[of->out]);
  for (int64_t i = 0; i < outer * inner; i++)
    of->reference((char *)x->host + (i / inner * stride + i % inner) *
                                        size_of[of->in],
                  n, step, want + i * size_of[of->out]);
  for (bool first = true, last = false; !last; first = false) {
    const char *kernel = kernel_at(t, first, n);
    int64_t blocks = blocks_of(n);
    last = n <= BLOCK;
    y = trial_output(t, outer * blocks * inner, (size_t)size_of[of->out]);
    tn_arg args[] = { TRIAL_PTR(y),       TRIAL_PTR(x),
                      TN_ARG_I64(outer),  TN_ARG_I64(n),
                      TN_ARG_I64(inner),  TN_ARG_I64(stride),
                      TN_ARG_I64(step),   TN_ARG_I64(blocks),
                      TN_ARG_F64((double)t->size) };
    trial_launch_groups(t, kernel,
                        outer * blocks * ((inner + TILE - 1) / TILE), args,
                        last && of->last ? 9 : 8);
    x = y;
    n = blocks;
    step = inner;
    stride = blocks * inner;
  }
  expect(t, y, of->out, want, outer * inner);
  free(want);
}

static void columns(kernel_trial *t)
{
  int64_t outer = 1 + trial_below(t, 2);
  columns_of(t, outer, 1 + trial_below(t, 80));
}

/* Rows that a cpu does not take in one piece: of more than 4 KiB. */
static void wide_columns(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t least = 4096 / size_of[of->out];
  columns_of(t, 1, least + 1 + trial_below(t, least));
}

static void places(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size, count = 1 + trial_below(t, 4), blocks = blocks_of(n);
  trial_array *x = operand(t, of->in, count * n);
  int64_t *want = trial_memory(count, sizeof *want);
  for (int64_t r = 0; r < count; r++)
    of->reference((char *)x->host + r * n * size_of[of->in], n, 1, want + r);
  trial_array *at = trial_output(t, count * blocks, sizeof(int64_t));
  trial_array *y = trial_output(t, count * blocks, (size_t)size_of[of->in]);
  trial_launch_groups(
      t, t->of->name, count * blocks,
      TN_ARGS(TRIAL_PTR(at), TRIAL_PTR(y), TRIAL_PTR(x), TN_ARG_I64(count),
              TN_ARG_I64(n), TN_ARG_I64(n), TN_ARG_I64(blocks)));
  if (blocks > 1) {
    trial_array *from_at = at, *from_y = y;
    at = trial_output(t, count, sizeof(int64_t));
    y = trial_output(t, count, (size_t)size_of[of->in]);
    trial_launch_groups(
        t, of->at_blocks, count,
        TN_ARGS(TRIAL_PTR(at), TRIAL_PTR(y), TRIAL_PTR(from_y),
                TN_ARG_I64(count), TN_ARG_I64(blocks), TN_ARG_I64(blocks),
                TN_ARG_I64(1), TRIAL_PTR(from_at)));
  }
  expect(t, at, I64, want, count);
  free(want);
}

#define ROWS(family, name, type, in, out, levels, last, flavours)            \
  { #name "_" #type, family, rows,                                          \
    &(const operation){ ref_##name##_##type, in, out, levels, last, NULL }, \
    lengths, flavours }
#define COLUMNS(family, name, type, in, out, levels, last, flavours)        \
  { #name "_columns_" #type, family, columns,                               \
    &(const operation){ ref_##name##_##type, in, out, levels, last, NULL }, \
    lengths, flavours }
#define WIDE(family, name, type, in, out)                                   \
  { #name "_columns_" #type, family, wide_columns,                          \
    &(const operation){ ref_##name##_##type, in, out, NULL, NULL, NULL },   \
    wide_lengths, TRIAL_WIDE }
#define BOTH(family, name, type, kind, flavours)                            \
  ROWS(family, name, type, kind, kind, NULL, NULL, flavours),               \
  COLUMNS(family, name, type, kind, kind, NULL, NULL, flavours)
#define SUMS(type, kind)                                                    \
  ROWS("reduce_i64", sum, type, kind, I64, "sum_i64", NULL, TRIAL_SPECIAL), \
  COLUMNS("reduce_i64", sum, type, kind, I64, "sum_columns_i64", NULL,      \
          TRIAL_SPECIAL)
#define PLACES(family, name, type, kind, flavours)                          \
  { #name "_" #type, family, places,                                        \
    &(const operation){ ref_##name##_##type, kind, I64, NULL, NULL,         \
                        #name "_of_blocks_" #type },                        \
    lengths, flavours }

const kernel_case reduce_types_cases[] = {
  BOTH("reduce", prod, f32, F32, TRIAL_FLAVOURS),
  BOTH("reduce_f64", sum, f64, F64, TRIAL_FLAVOURS),
  BOTH("reduce_f64", prod, f64, F64, TRIAL_FLAVOURS),
  BOTH("reduce_f64", max, f64, F64, TRIAL_FLAVOURS),
  BOTH("reduce_f64", min, f64, F64, TRIAL_FLAVOURS),
  ROWS("reduce_f64", mean, f64, F64, F64, "sum_f64", "mean_f64",
       TRIAL_FLAVOURS),
  COLUMNS("reduce_f64", mean, f64, F64, F64, "sum_columns_f64",
          "mean_columns_f64", TRIAL_FLAVOURS),
  PLACES("reduce_f64", argmax, f64, F64, TRIAL_FLAVOURS),
  PLACES("reduce_f64", argmin, f64, F64, TRIAL_FLAVOURS),
  BOTH("reduce_i64", sum, i64, I64, TRIAL_SPECIAL),
  SUMS(i32, I32),
  SUMS(u8, U8),
  BOTH("reduce_i64", prod, i64, I64, TRIAL_SPECIAL),
  BOTH("reduce_i64", max, i64, I64, TRIAL_SPECIAL),
  BOTH("reduce_i64", min, i64, I64, TRIAL_SPECIAL),
  BOTH("reduce_i64", any, u8, U8, TRIAL_SPECIAL),
  BOTH("reduce_i64", all, u8, U8, TRIAL_SPECIAL),
  PLACES("reduce_i64", argmax, i64, I64, TRIAL_SPECIAL),
  PLACES("reduce_i64", argmin, i64, I64, TRIAL_SPECIAL),
  WIDE("reduce", prod, f32, F32, F32),
  WIDE("reduce_f64", sum, f64, F64, F64),
  WIDE("reduce_i64", sum, u8, U8, I64),
  WIDE("reduce_i64", any, u8, U8, U8),
  { 0 }
};
