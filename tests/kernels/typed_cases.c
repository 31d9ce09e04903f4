/* Trials of the elementwise kernels of every type that take numbers, mix
 * types or work on integers; of those that move elements; and of casts. */
#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/kernels/cases.h"
#include "tests/kernels/layout.h"
#include "tests/numbers_reference.h"

typedef enum element { F32, F64, I64, I32, U8 } element;
static const size_t size_of[] = { 4, 8, 8, 4, 1 };

typedef union number {
  float f32;
  double f64;
  int64_t i64;
  int32_t i32;
  uint8_t u8;
} number;

/* x: operands, then numbers. */
typedef number formula(const number *x);

typedef struct operation {
  formula *value;
  element out, in[3];
  int operands, numbers;
  element number;     /* their type */
  bool is_comparison; /* the last number is the i32 `which` */
} operation;

static const int64_t sizes[] = { 0, 1, 3, 1500, -1 };
static const int64_t rows[] = { 1, 7, 20, -1 };

static number load(element type, const void *from, int64_t i)
{
  number x = { 0 };
  memcpy(&x, (const char *)from + (size_t)i * size_of[type], size_of[type]);
  return x;
}

static void store(element type, void *to, int64_t i, number x)
{
  memcpy((char *)to + (size_t)i * size_of[type], &x, size_of[type]);
}

/* Many small ones, and those that are special. */
static int64_t some_integer(kernel_trial *t, int bits)
{
  uint64_t r = trial_random(t);
  int64_t least = -1 - (int64_t)(UINT64_MAX >> (65 - bits));
  int64_t special[] = { 0, 1, -1, least, -1 - least, 2, -2, least + 1 };
  if (t->flavour == TRIAL_PLAIN || r % 4 == 0)
    return (int64_t)(r >> 8) % 41 - 20;
  if (t->flavour == TRIAL_SPECIAL && r % 4 == 1) return special[r / 4 % 8];
  return (int64_t)(r >> 3);
}

static number some_number(kernel_trial *t, element type)
{
  switch (type) {
  case F32: return (number){ .f32 = trial_float(t) };
  case F64: return (number){ .f64 = trial_double(t) };
  case I64: return (number){ .i64 = some_integer(t, 64) };
  case I32: return (number){ .i32 = (int32_t)some_integer(t, 32) };
  case U8: break;
  }
  return (number){ .u8 = (uint8_t)some_integer(t, 8) };
}

static trial_array *some_array(kernel_trial *t, element type, int64_t n)
{
  trial_array *a = trial_zeros(t, n, size_of[type]);
  for (int64_t i = 0; i < n; i++)
    store(type, a->host, i, some_number(t, type));
  trial_upload(t, a);
  return a;
}

static tn_arg argument(element type, number x)
{
  switch (type) {
  case F32: return (tn_arg)TN_ARG_F32(x.f32);
  case F64: return (tn_arg)TN_ARG_F64(x.f64);
  case I64: return (tn_arg)TN_ARG_I64(x.i64);
  case I32: return (tn_arg)TN_ARG_I32(x.i32);
  case U8: break;
  }
  return (tn_arg)TN_ARG_I32(x.u8);
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

/* Draws the numbers: x[operands], ... */
static void draw_numbers(kernel_trial *t, const operation *of, number *x)
{
  for (int i = 0; i < of->numbers; i++)
    x[of->operands + i] = some_number(t, of->number);
  if (of->is_comparison)
    x[of->operands + of->numbers].i32 = (int32_t)trial_below(t, 16);
}

/* The arguments before sizes; how many. */
static int first_arguments(const operation *of, trial_array *const *arrays,
                           const number *x, tn_arg *args)
{
  int count = 0;
  args[count++] = (tn_arg)TRIAL_PTR(arrays[0]);
  for (int i = 0; i < of->operands; i++)
    args[count++] = (tn_arg)TRIAL_PTR(arrays[1 + i]);
  for (int i = 0; i < of->numbers; i++)
    args[count++] = argument(of->number, x[of->operands + i]);
  if (of->is_comparison)
    args[count++] = argument(I32, x[of->operands + of->numbers]);
  return count;
}

static void flat(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size;
  number x[8];
  trial_array *arrays[4] = { trial_output(t, n, size_of[of->out]) };
  for (int i = 0; i < of->operands; i++)
    arrays[1 + i] = some_array(t, of->in[i], n);
  draw_numbers(t, of, x);
  void *want = trial_memory(n, size_of[of->out]);
  for (int64_t i = 0; i < n; i++) {
    for (int j = 0; j < of->operands; j++)
      x[j] = load(of->in[j], arrays[1 + j]->host, i);
    store(of->out, want, i, of->value(x));
  }
  tn_arg args[TN_ARGS_MAX];
  int count = first_arguments(of, arrays, x, args);
  args[count++] = (tn_arg)TN_ARG_I64(n);
  trial_launch(t, t->of->name, n, args, (size_t)count);
  expect(t, arrays[0], of->out, want, n);
  free(want);
}

static number number_of(element type, int64_t i)
{
  switch (type) {
  case F32: return (number){ .f32 = (float)i };
  case F64: return (number){ .f64 = (double)i };
  case I64: return (number){ .i64 = i };
  case I32: return (number){ .i32 = (int32_t)i };
  case U8: break;
  }
  return (number){ .u8 = (uint8_t)i };
}

/* arange: start and i and step, as add_scaled has them. */
static void counted(kernel_trial *t)
{
  const operation *of = t->of->detail;
  int64_t n = t->size;
  number x[3] = { some_number(t, of->out), { 0 }, some_number(t, of->out) };
  trial_array *y = trial_output(t, n, size_of[of->out]);
  void *want = trial_memory(n, size_of[of->out]);
  for (int64_t i = 0; i < n; i++) {
    x[1] = number_of(of->out, i);
    store(of->out, want, i, of->value(x));
  }
  trial_launch(t, t->of->name, n,
               TN_ARGS(TRIAL_PTR(y), argument(of->out, x[0]),
                       argument(of->out, x[2]), TN_ARG_I64(n)));
  expect(t, y, of->out, want, n);
  free(want);
}

static int layout_arguments(const layout *l, int layouts, tn_arg *args)
{
  int count = 0;
  for (int d = 0; d < 4; d++) args[count++] = (tn_arg)TN_ARG_I64(l->size[d]);
  for (int i = 0; i < layouts; i++)
    for (int d = 0; d < 4; d++)
      args[count++] = (tn_arg)TN_ARG_I64(l[i].stride[d]);
  return count;
}

static void strided(kernel_trial *t)
{
  const operation *of = t->of->detail;
  number x[8];
  layout l[4];
  random_layouts(t, l, of->operands + 1);
  trial_array *arrays[4];
  arrays[0] = trial_output(t, l[0].extent, size_of[of->out]);
  for (int i = 0; i < of->operands; i++)
    arrays[1 + i] = some_array(t, of->in[i], l[1 + i].extent);
  draw_numbers(t, of, x);
  void *want = trial_memory(l[0].extent, size_of[of->out]);
  memcpy(want, arrays[0]->host, arrays[0]->bytes);
  for (int64_t i = 0; i < layout_count(l); i++) {
    for (int j = 0; j < of->operands; j++)
      x[j] = load(of->in[j], arrays[1 + j]->host, layout_place(&l[1 + j], i));
    store(of->out, want, layout_place(l, i), of->value(x));
  }
  tn_arg args[TN_ARGS_MAX];
  int count = first_arguments(of, arrays, x, args);
  count += layout_arguments(l, of->operands + 1, args + count);
  trial_launch(t, t->of->name, layout_count(l), args, (size_t)count);
  expect(t, arrays[0], of->out, want, l[0].extent);
  free(want);
}

/* What is computed, for each type: a and b are operands or numbers. */
#define A x[0].
#define B x[1].
#define C x[2].
#define FORMULA(name, s, expression)                                  \
  static number name##_##s(const number *x)                           \
  {                                                                   \
    return (number){ .s = (expression) };                             \
  }

#define REAL_FORMULAS(s, fma, more, less)                             \
  FORMULA(add, s, A s + B s)                                          \
  FORMULA(mul, s, A s * B s)                                          \
  FORMULA(div, s, A s / B s)                                          \
  FORMULA(maximum, s, more(A s, B s))                                 \
  FORMULA(minimum, s, less(A s, B s))                                 \
  FORMULA(add_scaled, s, fma(C s, B s, A s))                          \
  FORMULA(clamp, s, less(more(A s, B s), C s))                        \
  static number reversed_sub_##s(const number *x)                     \
  {                                                                   \
    return (number){ .s = B s - A s };                                \
  }                                                                   \
  static number reversed_div_##s(const number *x)                     \
  {                                                                   \
    return (number){ .s = B s / A s };                                \
  }                                                                   \
  static number isnan_##s(const number *x)                            \
  {                                                                   \
    return (number){ .u8 = isnan(A s) != 0 };                         \
  }
REAL_FORMULAS(f32, fmaf, ref_maximum, ref_minimum)
REAL_FORMULAS(f64, fma, ref_maximum_f64, ref_minimum_f64)

/* Integers: in 128 bits, then cut to the type. */
typedef __int128 wide;
typedef unsigned __int128 unsigned_wide;

static wide floor_quotient(wide a, wide b)
{
  if (b == 0) return 0;
  wide whole = a / b;
  return a % b != 0 && (a < 0) != (b < 0) ? whole - 1 : whole;
}

static wide integer_power(wide a, wide b)
{
  if (b < 0) return a == 1 ? 1 : a != -1 ? 0 : b % 2 ? -1 : 1;
  unsigned_wide power = 1;
  for (int bit = 63; bit >= 0; bit--) {
    power *= power;
    if (b >> bit & 1) power *= (unsigned_wide)a;
  }
  return (wide)power;
}

static wide greater(wide a, wide b) { return a > b ? a : b; }
static wide smaller(wide a, wide b) { return a < b ? a : b; }

#define INTEGER_FORMULAS(s, T)                                        \
  FORMULA(add, s, (T)((wide)A s + B s))                               \
  FORMULA(sub, s, (T)((wide)A s - B s))                               \
  FORMULA(mul, s, (T)((wide)A s * B s))                               \
  FORMULA(floor_divide, s, (T)floor_quotient(A s, B s))               \
  FORMULA(remainder, s,                                               \
          (T)(A s - (wide)B s * floor_quotient(A s, B s)))            \
  FORMULA(pow, s, (T)integer_power(A s, B s))                         \
  FORMULA(maximum, s, (T)greater(A s, B s))                           \
  FORMULA(minimum, s, (T)smaller(A s, B s))                           \
  FORMULA(add_scaled, s, (T)(A s + (wide)B s * C s))                  \
  FORMULA(clamp, s, (T)smaller(greater(A s, B s), C s))               \
  FORMULA(neg, s, (T) - (wide)A s)                                    \
  FORMULA(abs, s, (T)greater(A s, -(wide)A s))                        \
  FORMULA(sign, s, (T)((A s > 0) - (A s < 0)))                        \
  static number reversed_sub_##s(const number *x)                     \
  {                                                                   \
    return (number){ .s = (T)((wide)B s - A s) };                     \
  }                                                                   \
  FORMULA(copy, s, A s)                                               \
  FORMULA(where, s, A u8 ? B s : C s)                                 \
  FORMULA(masked_fill, s, B u8 ? C s : A s)
INTEGER_FORMULAS(i64, int64_t)
INTEGER_FORMULAS(i32, int32_t)
INTEGER_FORMULAS(u8, uint8_t)

#define COMPARISON(s)                                                 \
  static number compare_##s(const number *x)                          \
  {                                                                   \
    bool holds = A s < B s    ? C i32 & 1                             \
                 : A s == B s ? C i32 >> 1 & 1                        \
                 : A s > B s  ? C i32 >> 2 & 1 : false;               \
    return (number){ .u8 = holds != (C i32 >> 3 & 1) };               \
  }
COMPARISON(f32)
COMPARISON(f64)
COMPARISON(i64)
COMPARISON(i32)
COMPARISON(u8)

FORMULA(and, u8, A u8 && B u8)
FORMULA(or, u8, A u8 || B u8)
FORMULA(xor, u8, !A u8 != !B u8)
FORMULA(not, u8, !A u8)

/* From a floating number: cut, and kept within the type's range. */
#define CUT(from, to, T, least, most)                                 \
  static number cast_##from##_##to(const number *x)                   \
  {                                                                   \
    long double a = truncl((long double)A from);                      \
    return (number){ .to = isnan(a)    ? 0                            \
                           : a <= (long double)(least) ? (least)      \
                           : a >= (long double)(most)  ? (most)       \
                                                       : (T)a };      \
  }
#define CUTS(from)                                                    \
  CUT(from, i64, int64_t, INT64_MIN, INT64_MAX)                       \
  CUT(from, i32, int32_t, INT32_MIN, INT32_MAX)                       \
  CUT(from, u8, uint8_t, 0, 255)
#define CAST(from, to, T)                                             \
  static number cast_##from##_##to(const number *x)                   \
  {                                                                   \
    return (number){ .to = (T)A from };                               \
  }
#define TRUTH(from)                                                   \
  static number cast_##from##_bool(const number *x)                   \
  {                                                                   \
    return (number){ .u8 = A from != 0 };                             \
  }
CUTS(f32) CUTS(f64)
CAST(f32, f64, double) CAST(f64, f32, float)
CAST(i64, f32, float) CAST(i64, f64, double)
CAST(i64, i32, int32_t) CAST(i64, u8, uint8_t)
CAST(i32, f32, float) CAST(i32, f64, double)
CAST(i32, i64, int64_t) CAST(i32, u8, uint8_t)
CAST(u8, f32, float) CAST(u8, f64, double)
CAST(u8, i64, int64_t) CAST(u8, i32, int32_t)
TRUTH(f32) TRUTH(f64) TRUTH(i64) TRUTH(i32) TRUTH(u8)

/* The kernels */

#define CASE(kernel, family, form, where, ...)                        \
  { kernel, family, form, &(const operation){ __VA_ARGS__ }, where,   \
    TRIAL_FLAVOURS }
#define ONE(f, s, T, name, result)                                    \
  CASE(#name "_" #s, f, flat, sizes, .value = name##_##s,             \
       .out = result, .in = { T }, .operands = 1)
#define TWO(f, s, T, name)                                            \
  CASE(#name "_" #s, f, flat, sizes, .value = name##_##s, .out = T,   \
       .in = { T, T }, .operands = 2),                                \
  CASE(#name "_strided_" #s, f, strided, rows, .value = name##_##s,   \
       .out = T, .in = { T, T }, .operands = 2)
#define NUMBER(f, s, T, name)                                         \
  CASE(#name "_scalar_" #s, f, flat, sizes, .value = name##_##s,      \
       .out = T, .in = { T }, .operands = 1, .numbers = 1, .number = T)
#define NUMBER_FIRST(f, s, T, name)                                   \
  CASE("scalar_" #name "_" #s, f, flat, sizes,                        \
       .value = reversed_##name##_##s, .out = T, .in = { T },         \
       .operands = 1, .numbers = 1, .number = T)
#define OF_EVERY_TYPE(f, s, T)                                        \
  CASE("add_scaled_" #s, f, flat, sizes, .value = add_scaled_##s,     \
       .out = T, .in = { T, T }, .operands = 2, .numbers = 1,         \
       .number = T),                                                  \
  CASE("add_scaled_strided_" #s, f, strided, rows,                    \
       .value = add_scaled_##s, .out = T, .in = { T, T },             \
       .operands = 2, .numbers = 1, .number = T),                     \
  CASE("arange_" #s, f, counted, sizes, .value = add_scaled_##s,      \
       .out = T),                                                     \
  CASE("clamp_" #s, f, flat, sizes, .value = clamp_##s, .out = T,     \
       .in = { T }, .operands = 1, .numbers = 2, .number = T),        \
  CASE("compare_" #s, f, flat, sizes, .value = compare_##s,           \
       .out = U8, .in = { T, T }, .operands = 2,                      \
       .is_comparison = true),                                        \
  CASE("compare_strided_" #s, f, strided, rows,                       \
       .value = compare_##s, .out = U8, .in = { T, T },               \
       .operands = 2, .is_comparison = true),                         \
  CASE("compare_scalar_" #s, f, flat, sizes, .value = compare_##s,    \
       .out = U8, .in = { T }, .operands = 1, .numbers = 1,           \
       .number = T, .is_comparison = true),                           \
  NUMBER(f, s, T, add), NUMBER(f, s, T, mul),                         \
  NUMBER(f, s, T, maximum), NUMBER(f, s, T, minimum),                 \
  NUMBER_FIRST(f, s, T, sub)
#define OF_REALS(f, functions, s, T)                                  \
  OF_EVERY_TYPE(f, s, T), NUMBER(f, s, T, div),                       \
  NUMBER_FIRST(f, s, T, div), ONE(functions, s, T, isnan, U8)
#define OF_INTEGERS(s, T)                                             \
  OF_EVERY_TYPE("elementwise_" #s, s, T),                             \
  TWO("elementwise_" #s, s, T, add),                                  \
  TWO("elementwise_" #s, s, T, sub),                                  \
  TWO("elementwise_" #s, s, T, mul),                                  \
  TWO("elementwise_" #s, s, T, maximum),                              \
  TWO("elementwise_" #s, s, T, minimum),                              \
  TWO("elementwise_" #s, s, T, floor_divide),                         \
  TWO("elementwise_" #s, s, T, remainder),                            \
  TWO("elementwise_" #s, s, T, pow),                                  \
  NUMBER("elementwise_" #s, s, T, floor_divide),                      \
  NUMBER("elementwise_" #s, s, T, remainder),                         \
  ONE("elementwise_" #s, s, T, neg, T),                               \
  ONE("elementwise_" #s, s, T, abs, T),                               \
  ONE("elementwise_" #s, s, T, sign, T)
#define MOVES(s, T)                                                   \
  CASE("copy_strided_" #s, "move", strided, rows, .value = copy_##s,  \
       .out = T, .in = { T }, .operands = 1),                         \
  CASE("fill_" #s, "move", flat, sizes, .value = copy_##s, .out = T,  \
       .numbers = 1, .number = T),                                    \
  CASE("fill_strided_" #s, "move", strided, rows,                     \
       .value = copy_##s, .out = T, .numbers = 1, .number = T),       \
  CASE("where_" #s, "move", flat, sizes, .value = where_##s,          \
       .out = T, .in = { U8, T, T }, .operands = 3),                  \
  CASE("where_strided_" #s, "move", strided, rows,                    \
       .value = where_##s, .out = T, .in = { U8, T, T },              \
       .operands = 3),                                                \
  CASE("masked_fill_" #s, "move", flat, sizes,                        \
       .value = masked_fill_##s, .out = T, .in = { T, U8 },           \
       .operands = 2, .numbers = 1, .number = T)
#define CASTS(f, from, F, to, T)                                      \
  CASE("cast_" #from "_" #to, f, strided, rows,                       \
       .value = cast_##from##_##to, .out = T, .in = { F },            \
       .operands = 1)

const kernel_case typed_cases[] = {
  OF_REALS("elementwise", "functions", f32, F32),
  OF_REALS("elementwise_f64", "functions_f64", f64, F64),
  OF_INTEGERS(i64, I64),
  OF_INTEGERS(i32, I32),
  OF_INTEGERS(u8, U8),
  TWO("elementwise_u8", u8, U8, and),
  TWO("elementwise_u8", u8, U8, or),
  TWO("elementwise_u8", u8, U8, xor),
  ONE("elementwise_u8", u8, U8, not, U8),
  MOVES(u8, U8),
  MOVES(i32, I32),
  MOVES(i64, I64),
  CASTS("cast", f32, F32, i64, I64),
  CASTS("cast", f32, F32, i32, I32),
  CASTS("cast", f32, F32, u8, U8),
  CASTS("cast", f32, F32, bool, U8),
  CASTS("cast", i64, I64, f32, F32),
  CASTS("cast", i64, I64, i32, I32),
  CASTS("cast", i64, I64, u8, U8),
  CASTS("cast", i64, I64, bool, U8),
  CASTS("cast", i32, I32, f32, F32),
  CASTS("cast", i32, I32, i64, I64),
  CASTS("cast", i32, I32, u8, U8),
  CASTS("cast", i32, I32, bool, U8),
  CASTS("cast", u8, U8, f32, F32),
  CASTS("cast", u8, U8, i64, I64),
  CASTS("cast", u8, U8, i32, I32),
  CASTS("cast", u8, U8, bool, U8),
  CASTS("cast_f64", f64, F64, f32, F32),
  CASTS("cast_f64", f64, F64, i64, I64),
  CASTS("cast_f64", f64, F64, i32, I32),
  CASTS("cast_f64", f64, F64, u8, U8),
  CASTS("cast_f64", f64, F64, bool, U8),
  CASTS("cast_f64", f32, F32, f64, F64),
  CASTS("cast_f64", i64, I64, f64, F64),
  CASTS("cast_f64", i32, I32, f64, F64),
  CASTS("cast_f64", u8, U8, f64, F64),
  { 0 }
};
