/* f32, f64, f16 and bf16 instructions of the PTX interpreter against C. */
#include "tests/cudaemu/ptx_operation.h"

#include <fenv.h>
#include <math.h>

#include "tests/tap.h"

/* What the interpreter says of NaN: one pattern for each type. */
static float plain(float x)
{
  uint32_t nan = 0x7fffffff;
  if (x != x)
    memcpy(&x, &nan, sizeof x);
  return x;
}

static double plain64(double x)
{
  uint64_t nan = UINT64_C(0xfff8000000000000);
  if (x != x)
    memcpy(&x, &nan, sizeof x);
  return x;
}

static float flush(float x)
{
  return fabsf(x) < 0x1p-126f ? copysignf(0, x) : x;
}

static float clamp(float x)
{
  return x > 1 ? 1 : x > 0 ? x : 0;
}

/* -0 is less than +0, a number wins over NaN. */
static double least(double x, double y)
{
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  return x < y || (x == y && signbit(x)) ? x : y;
}

static double most(double x, double y)
{
  if (isnan(x) || isnan(y))
    return isnan(x) ? y : x;
  return x < y || (x == y && signbit(x)) ? y : x;
}

#define F32(name, ...) MEANING(name, f32, f32, f32, f32, plain(__VA_ARGS__))
#define F64(name, ...) MEANING(name, f64, f64, f64, f64, plain64(__VA_ARGS__))
F32(add, a + b)
F32(sub, a - b)
F32(mul, a * b)
F32(quotient, a / b)
F32(reciprocal, 1 / a)
F32(root, sqrtf(a))
F32(fused, fmaf(a, b, c))
F32(smaller, (float)least(a, b))
F32(larger, (float)most(a, b))
F32(smaller_nan, isnan(a) || isnan(b) ? NAN : (float)least(a, b))
F32(larger_nan, isnan(a) || isnan(b) ? NAN : (float)most(a, b))
F32(add_ftz, flush(flush(a) + flush(b)))
F32(mul_ftz, flush(flush(a) * flush(b)))
F32(fma_ftz, flush(fmaf(flush(a), flush(b), flush(c))))
F32(div_ftz, flush(flush(a) / flush(b)))
F32(add_sat, clamp(a + b))
F32(fma_ftz_sat, clamp(flush(fmaf(flush(a), flush(b), flush(c)))))
F64(add64, a + b)
F64(sub64, a - b)
F64(mul64, a * b)
F64(div64, a / b)
F64(rcp64, 1 / a)
F64(sqrt64, sqrt(a))
F64(fma64, fma(a, b, c))
F64(min64, least(a, b))
F64(max64, most(a, b))
MEANING(neg, b32, b32, b32, b32, a ^ 0x80000000)
MEANING(absolute, b32, b32, b32, b32, a & 0x7fffffff)
MEANING(neg64, b64, b64, b64, b64, a ^ UINT64_C(1) << 63)
MEANING(abs64, b64, b64, b64, b64, a & INT64_MAX)
MEANING(sign, b32, b32, b32, b32, (b & 0x7fffffff) | (a & 0x80000000))
MEANING(sign64, b64, b64, b64, b64,
        (b & INT64_MAX) | (a & UINT64_C(1) << 63))

/* Directed rounding, by the host's own. */
#define DIRECTED(name, T, fix, mode, ...)                             \
  static T##_value name##_by(T##_value a, T##_value b, T##_value c)   \
  {                                                                   \
    volatile T##_value x = a, y = b, z = c, r;                        \
    (void)y, (void)z;                                                 \
    fesetround(mode);                                                 \
    r = (__VA_ARGS__);                                                \
    fesetround(FE_TONEAREST);                                         \
    return r;                                                         \
  }                                                                   \
  MEANING(name, T, T, T, T, fix(name##_by(a, b, c)))
#define MODES(op, T, fix, ...)                                 \
  DIRECTED(op##_rz, T, fix, FE_TOWARDZERO, __VA_ARGS__)        \
  DIRECTED(op##_rm, T, fix, FE_DOWNWARD, __VA_ARGS__)          \
  DIRECTED(op##_rp, T, fix, FE_UPWARD, __VA_ARGS__)
MODES(add, f32, plain, x + y)
MODES(sub, f32, plain, x - y)
MODES(mul, f32, plain, x * y)
MODES(div, f32, plain, x / y)
MODES(rcp, f32, plain, 1 / x)
MODES(sqrt, f32, plain, sqrtf(x))
MODES(fma, f32, plain, fmaf(x, y, z))
MODES(add64, f64, plain64, x + y)
MODES(mul64, f64, plain64, x * y)
MODES(div64, f64, plain64, x / y)
MODES(sqrt64, f64, plain64, sqrt(x))
MODES(fma64, f64, plain64, fma(x, y, z))

/* Comparisons, as the manual's table has them. */
#define COMPARE(name, ...)                                               \
  MEANING(is_##name, s32, f32, f32, f32, (__VA_ARGS__) ? -1 : 0)              \
  MEANING(is_##name##64, s32, f64, f64, f64, (__VA_ARGS__) ? -1 : 0)
#define NANS (isnan(a) || isnan(b))
COMPARE(eq, !NANS && a == b)
COMPARE(ne, !NANS && a != b)
COMPARE(lt, !NANS && a < b)
COMPARE(le, !NANS && a <= b)
COMPARE(gt, !NANS && a > b)
COMPARE(ge, !NANS && a >= b)
COMPARE(equ, NANS || a == b)
COMPARE(neu, NANS || a != b)
COMPARE(ltu, NANS || a < b)
COMPARE(leu, NANS || a <= b)
COMPARE(gtu, NANS || a > b)
COMPARE(geu, NANS || a >= b)
COMPARE(num, !NANS)
COMPARE(nan, NANS)
MEANING(lt_ftz, s32, f32, f32, f32, flush(a) < flush(b) ? -1 : 0)

/* The class tests: one bit each. */
MEANING(classes, u32, f32, f32, f32,
        isfinite(a) | !!isinf(a) << 1 | !isnan(a) << 2 | !!isnan(a) << 3 |
          !!isnormal(a) << 4 | (fpclassify(a) == FP_SUBNORMAL) << 5)
MEANING(classes64, u32, f64, f64, f64,
        isfinite(a) | !!isinf(a) << 1 | !isnan(a) << 2 | !!isnan(a) << 3 |
          !!isnormal(a) << 4 | (fpclassify(a) == FP_SUBNORMAL) << 5)
#define TEST(word, type, bit)                                             \
  "testp." word "." type " p, %v1; selp.u32 t, " bit ", 0, p; "           \
  "or.b32 %v0, %v0, t;"
#define TESTS(type)                                                       \
  "{ .reg .pred p; .reg .b32 t; mov.u32 %v0, 0;"                          \
  TEST("finite", type, "1") TEST("infinite", type, "2")                   \
  TEST("number", type, "4") TEST("notanumber", type, "8")                 \
  TEST("normal", type, "16") TEST("subnormal", type, "32") "}"

/* Approximations: near what they approximate. */
F32(ex2, (float)exp2(a))
F32(lg2, (float)log2(a))
F32(sine, (float)sin(a))
F32(cosine, (float)cos(a))
F32(tanhyp, (float)tanh(a))
F32(rsqrt, (float)(1 / sqrt(a)))

/* Half precision by search: all values of a format in order, the nearest one
 * taken, of two the even one. */
typedef struct format {
  int exponent_bits, fraction_bits;
} format;

static const format half = { 5, 10 }, brain = { 8, 7 };

static double value_of(format f, uint16_t bits)
{
  int exponent = bits >> f.fraction_bits & ((1 << f.exponent_bits) - 1);
  int fraction = bits & ((1 << f.fraction_bits) - 1);
  int bias = (1 << (f.exponent_bits - 1)) - 1;
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == (1 << f.exponent_bits) - 1)
    return fraction ? NAN : sign * INFINITY;
  if (!exponent)
    return sign * ldexp(fraction, 1 - bias - f.fraction_bits);
  return sign * ldexp((1 << f.fraction_bits) + fraction,
                      exponent - bias - f.fraction_bits);
}

/* x + rest, rest far smaller and only telling on which side it lies */
static uint16_t nearest(format f, double x, double rest)
{
  uint16_t sign = signbit(x) ? 0x8000 : 0, low = 0;
  uint16_t infinite = (uint16_t)(((1 << f.exponent_bits) - 1)
                                 << f.fraction_bits);
  uint16_t high = infinite;
  double size = fabs(x), side = signbit(x) ? -rest : rest;
  if (x != x)
    return 0x7fff;
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    double v = value_of(f, middle);
    if (v < size || (v == size && side >= 0))
      low = middle;
    else
      high = middle;
  }
  double below = value_of(f, low), above = value_of(f, high);
  if (high == infinite)
    above = 2 * below - value_of(f, low - 1);
  double down = size - below, up = above - size;
  bool take_high = up < down || (up == down && (side > 0 ||
                                                (side == 0 && low & 1)));
  return (uint16_t)(sign | (take_high ? high : low));
}

static double error_of_sum(double x, double y)
{
  double sum = x + y, part = sum - x;
  double error = (x - (sum - part)) + (y - part);
  return isfinite(sum) ? error : 0;
}

#define A(f) value_of(f, (uint16_t)a)
#define B(f) value_of(f, (uint16_t)b)
#define C(f) value_of(f, (uint16_t)c)
#define HALF(name, T, f)                                                     \
  MEANING(add_##name, T, T, T, T, nearest(f, A(f) + B(f),                    \
                                          error_of_sum(A(f), B(f))))         \
  MEANING(sub_##name, T, T, T, T, nearest(f, A(f) - B(f),                    \
                                          error_of_sum(A(f), -B(f))))        \
  MEANING(mul_##name, T, T, T, T, nearest(f, A(f) * B(f), 0))                \
  MEANING(fma_##name, T, T, T, T,                                            \
          nearest(f, A(f) * B(f) + C(f), error_of_sum(A(f) * B(f), C(f))))   \
  MEANING(min_##name, T, T, T, T, nearest(f, least(A(f), B(f)), 0))          \
  MEANING(max_##name, T, T, T, T, nearest(f, most(A(f), B(f)), 0))           \
  MEANING(min_nan_##name, T, T, T, T,                                        \
          nearest(f, isnan(A(f) + B(f)) && (isnan(A(f)) || isnan(B(f)))      \
                       ? NAN : least(A(f), B(f)), 0))
HALF(half, u16, half)
HALF(brain, u16, brain)
MEANING(neg16, u16, u16, u16, u16, a ^ 0x8000)
MEANING(abs16, u16, u16, u16, u16, a & 0x7fff)
#define PAIR(name, f, op)                                                    \
  MEANING(name, u32, u32, u32, u32,                                          \
          nearest(f, value_of(f, (uint16_t)a) op value_of(f, (uint16_t)b),   \
                  0) |                                                       \
            (uint32_t)nearest(f, value_of(f, (uint16_t)(a >> 16))            \
                                   op value_of(f, (uint16_t)(b >> 16)), 0)   \
              << 16)
PAIR(mul_pair, half, *)
PAIR(mul_brain_pair, brain, *)
MEANING(lt_half, s32, u16, u16, u16,
        value_of(half, a) < value_of(half, b) ? -1 : 0)

MEANING(ge_half, u16, u16, u16, u16,
        value_of(half, a) >= value_of(half, b) ? 0x3c00 : 0)
#define GREATER(f, shift)                                               \
  (value_of(f, (uint16_t)(a >> shift)) > value_of(f, (uint16_t)(b >> shift)))
MEANING(gt_pair, u32, u32, u32, u32,
        (GREATER(half, 0) ? 0x3c00 : 0) | (GREATER(half, 16) ? 0x3c000000 : 0))
MEANING(gt_mask, u32, u32, u32, u32,
        (GREATER(half, 0) ? 0xffff : 0) | (GREATER(half, 16) ? 0xffff0000 : 0))
MEANING(gt_brain_pair, u32, u32, u32, u32,
        (GREATER(brain, 0) ? 0x3f80 : 0) |
          (GREATER(brain, 16) ? 0x3f800000 : 0))

#define T3 "f32 f32 f32"
#define T4 "f32 f32 f32 f32"
#define D3 "f64 f64 f64"
#define D4 "f64 f64 f64 f64"
#define MODE_ROWS(op, suffix, types, name)                      \
  { op ".rz." suffix, types, name##_rz, 0 },                    \
  { op ".rm." suffix, types, name##_rm, 0 },                    \
  { op ".rp." suffix, types, name##_rp, 0 },
#define COMPARE_ROWS(op)                                        \
  { "set." #op ".u32.f32", "u32 f32 f32", is_##op, 0 },              \
  { "set." #op ".s32.f64", "u32 f64 f64", is_##op##64, 0 },
#define HALF_ROWS(T, name)                                      \
  { "add." #T, #T " " #T " " #T, add_##name, 0 },               \
  { "sub.rn." #T, #T " " #T " " #T, sub_##name, 0 },            \
  { "mul." #T, #T " " #T " " #T, mul_##name, 0 },               \
  { "fma.rn." #T, #T " " #T " " #T " " #T, fma_##name, 0 },     \
  { "neg." #T, #T " " #T, neg16, 0 },                           \
  { "abs." #T, #T " " #T, abs16, 0 },                           \
  { "min.NaN." #T, #T " " #T " " #T, min_nan_##name, 0 },

static const ptx_operation operations[] = {
  { "add.f32", T3, add, 0 },
  { "add.rn.f32", T3, add, 0 },
  { "sub.f32", T3, sub, 0 },
  { "mul.rn.f32", T3, mul, 0 },
  { "div.rn.f32", T3, quotient, 0 },
  { "rcp.rn.f32", "f32 f32", reciprocal, 0 },
  { "sqrt.rn.f32", "f32 f32", root, 0 },
  { "fma.rn.f32", T4, fused, 0 },
  { "mad.rn.f32", T4, fused, 0 },
  { "min.f32", T3, smaller, 0 },
  { "max.f32", T3, larger, 0 },
  { "min.NaN.f32", T3, smaller_nan, 0 },
  { "max.NaN.f32", T3, larger_nan, 0 },
  { "add.ftz.f32", T3, add_ftz, 0 },
  { "mul.rn.ftz.f32", T3, mul_ftz, 0 },
  { "fma.rn.ftz.f32", T4, fma_ftz, 0 },
  { "div.rn.ftz.f32", T3, div_ftz, 0 },
  { "add.sat.f32", T3, add_sat, 0 },
  { "fma.rn.ftz.sat.f32", T4, fma_ftz_sat, 0 },
  { "add.f64", D3, add64, 0 },
  { "sub.rn.f64", D3, sub64, 0 },
  { "mul.f64", D3, mul64, 0 },
  { "div.rn.f64", D3, div64, 0 },
  { "rcp.rn.f64", "f64 f64", rcp64, 0 },
  { "sqrt.rn.f64", "f64 f64", sqrt64, 0 },
  { "fma.rn.f64", D4, fma64, 0 },
  { "min.f64", D3, min64, 0 },
  { "max.f64", D3, max64, 0 },
  { "neg.f32", "f32 f32", neg, 0 },
  { "abs.f32", "f32 f32", absolute, 0 },
  { "neg.f64", "f64 f64", neg64, 0 },
  { "abs.f64", "f64 f64", abs64, 0 },
  { "copysign.f32", T3, sign, 0 },
  { "copysign.f64", D3, sign64, 0 },
  MODE_ROWS("add", "f32", T3, add)
  MODE_ROWS("sub", "f32", T3, sub)
  MODE_ROWS("mul", "f32", T3, mul)
  MODE_ROWS("div", "f32", T3, div)
  MODE_ROWS("rcp", "f32", "f32 f32", rcp)
  MODE_ROWS("sqrt", "f32", "f32 f32", sqrt)
  MODE_ROWS("fma", "f32", T4, fma)
  MODE_ROWS("add", "f64", D3, add64)
  MODE_ROWS("mul", "f64", D3, mul64)
  MODE_ROWS("div", "f64", D3, div64)
  MODE_ROWS("sqrt", "f64", "f64 f64", sqrt64)
  MODE_ROWS("fma", "f64", D4, fma64)
  COMPARE_ROWS(eq) COMPARE_ROWS(ne) COMPARE_ROWS(lt) COMPARE_ROWS(le)
  COMPARE_ROWS(gt) COMPARE_ROWS(ge) COMPARE_ROWS(equ) COMPARE_ROWS(neu)
  COMPARE_ROWS(ltu) COMPARE_ROWS(leu) COMPARE_ROWS(gtu) COMPARE_ROWS(geu)
  COMPARE_ROWS(num) COMPARE_ROWS(nan)
  { "set.lt.ftz.u32.f32", "u32 f32 f32", lt_ftz, 0 },
  { TESTS("f32"), "u32 f32", classes, 0 },
  { TESTS("f64"), "u32 f64", classes64, 0 },
  { "ex2.approx.f32", "f32 f32", ex2, 0x1p-22 },
  { "lg2.approx.f32", "f32 f32", lg2, 0x1p-22 },
  { "sin.approx.f32", "f32 f32", sine, 0x1p-20 },
  { "cos.approx.f32", "f32 f32", cosine, 0x1p-20 },
  { "tanh.approx.f32", "f32 f32", tanhyp, 0x1p-11 },
  { "rsqrt.approx.f32", "f32 f32", rsqrt, 0x1p-22 },
  { "rcp.approx.f32", "f32 f32", reciprocal, 0x1p-22 },
  { "div.full.f32", T3, quotient, 0x1p-22 },
  HALF_ROWS(f16, half)
  HALF_ROWS(bf16, brain)
  { "max.bf16", "bf16 bf16 bf16", max_brain, 0 },
  { "min.bf16", "bf16 bf16 bf16", min_brain, 0 },
  { "mul.f16x2", "f16x2 f16x2 f16x2", mul_pair, 0 },
  { "mul.bf16x2", "bf16x2 bf16x2 bf16x2", mul_brain_pair, 0 },
  { "set.ge.f16.f16", "f16 f16 f16", ge_half, 0 },
  { "set.gt.f16x2.f16x2", "f16x2 f16x2 f16x2", gt_pair, 0 },
  { "set.gt.u32.f16x2", "u32 f16x2 f16x2", gt_mask, 0 },
  { "set.gt.bf16x2.bf16x2", "bf16x2 bf16x2 bf16x2", gt_brain_pair, 0 },
  { "{ .reg .pred p; setp.lt.f16 p, %v1, %v2; selp.s32 %v0, -1, 0, p; }",
    "u32 f16 f16", lt_half, 0 },
};

int main(void)
{
  (void)min_half, (void)max_half;
  ptx_operation_check(operations, sizeof operations / sizeof *operations);
  return tap_done();
}
