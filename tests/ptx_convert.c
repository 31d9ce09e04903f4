/* cvt of the PTX interpreter against C, and moves between kinds of register. */
#include "tests/cudaemu/ptx_operation.h"

#include <fenv.h>
#include <float.h>
#include <math.h>

#include "tests/tap.h"

typedef __int128 wide;

static wide between(wide value, wide low, wide high)
{
  return value < low ? low : value > high ? high : value;
}

/* Rounds as a mode says, then clamps; NaN becomes 0. */
static wide whole(double x, double (*round)(double), wide low, wide high)
{
  if (x != x)
    return 0;
  x = round(x);
  if (x < -0x1p100 || x > 0x1p100)
    return x < 0 ? low : high;
  return between((wide)x, low, high);
}

static float flush(float x)
{
  return fabsf(x) < FLT_MIN ? copysignf(0, x) : x;
}

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

/* X(type, C's type, register, lowest, highest) */
#define WHOLES(X, more)                                          \
  X(u8, uint8_t, u16, 0, UINT8_MAX, more)                        \
  X(u16, uint16_t, u16, 0, UINT16_MAX, more)                     \
  X(u32, uint32_t, u32, 0, UINT32_MAX, more)                     \
  X(u64, uint64_t, u64, 0, UINT64_MAX, more)                     \
  X(s8, int8_t, s16, INT8_MIN, INT8_MAX, more)                   \
  X(s16, int16_t, s16, INT16_MIN, INT16_MAX, more)               \
  X(s32, int32_t, s32, INT32_MIN, INT32_MAX, more)               \
  X(s64, int64_t, s64, INT64_MIN, INT64_MAX, more)

#define CUT(to, C, R, low, high, from)                                       \
  MEANING(to##_##from, R, from##_in, u32, u32, (C)(from##_c)a)               \
  MEANING(sat_##to##_##from, R, from##_in, u32, u32,                         \
          (C)between((wide)(from##_c)a, low, high))
#define CUT_ROW(to, C, R, low, high, from)                                   \
  { "cvt." #to "." #from, #R " " from##_r, to##_##from, 0 },                 \
  { "cvt.sat." #to "." #from, #R " " from##_r, sat_##to##_##from, 0 },
#define INPUT(T, C, R)                                                       \
  typedef R##_value T##_in_value;                                            \
  typedef C T##_c;
INPUT(u8, uint8_t, u16) INPUT(u16, uint16_t, u16) INPUT(u32, uint32_t, u32)
INPUT(u64, uint64_t, u64) INPUT(s8, int8_t, s16) INPUT(s16, int16_t, s16)
INPUT(s32, int32_t, s32) INPUT(s64, int64_t, s64)
#define u8_r "u16"
#define u16_r "u16"
#define u32_r "u32"
#define u64_r "u64"
#define s8_r "s16"
#define s16_r "s16"
#define s32_r "s32"
#define s64_r "s64"
WHOLES(CUT, u8) WHOLES(CUT, u16) WHOLES(CUT, u32) WHOLES(CUT, u64)
WHOLES(CUT, s8) WHOLES(CUT, s16) WHOLES(CUT, s32) WHOLES(CUT, s64)

#define FROM_FLOAT(to, C, R, low, high, F)                                   \
  MEANING(rni_##to##_##F, R, F, u32, u32, whole(a, rint, low, high))         \
  MEANING(rzi_##to##_##F, R, F, u32, u32, whole(a, trunc, low, high))        \
  MEANING(rmi_##to##_##F, R, F, u32, u32, whole(a, floor, low, high))        \
  MEANING(rpi_##to##_##F, R, F, u32, u32, whole(a, ceil, low, high))
#define FROM_FLOAT_ROW(to, C, R, low, high, F)                               \
  { "cvt.rni." #to "." #F, #R " " #F, rni_##to##_##F, 0 },                   \
  { "cvt.rzi." #to "." #F, #R " " #F, rzi_##to##_##F, 0 },                   \
  { "cvt.rmi." #to "." #F, #R " " #F, rmi_##to##_##F, 0 },                   \
  { "cvt.rpi." #to "." #F, #R " " #F, rpi_##to##_##F, 0 },
WHOLES(FROM_FLOAT, f32) WHOLES(FROM_FLOAT, f64)
MEANING(rzi_ftz, s32, f32, u32, u32,
        whole(flush(a), ceil, INT32_MIN, INT32_MAX))

/* Directed rounding by the host's own. */
#define IN_MODE(name, T, S, mode)                              \
  static T name(S value)                                       \
  {                                                            \
    volatile S from = value;                                   \
    fesetround(mode);                                          \
    volatile T result = (T)from;                               \
    fesetround(FE_TONEAREST);                                  \
    return result;                                             \
  }
#define IN_MODES(name, T, S)                                   \
  IN_MODE(name##_rn, T, S, FE_TONEAREST)                       \
  IN_MODE(name##_rz, T, S, FE_TOWARDZERO)                      \
  IN_MODE(name##_rm, T, S, FE_DOWNWARD)                        \
  IN_MODE(name##_rp, T, S, FE_UPWARD)
IN_MODES(f32_signed, float, int64_t)
IN_MODES(f32_unsigned, float, uint64_t)
IN_MODES(f64_signed, double, int64_t)
IN_MODES(f64_unsigned, double, uint64_t)
IN_MODES(f32_double, float, double)

#define TO_FLOAT(from, sign, mode)                                           \
  MEANING(f32_##from##_##mode, f32, from##_in, u32, u32,                     \
          f32_##sign##_##mode((from##_c)a))                                  \
  MEANING(f64_##from##_##mode, f64, from##_in, u32, u32,                     \
          f64_##sign##_##mode((from##_c)a))
#define TO_FLOAT_ROW(from, mode)                                             \
  { "cvt." #mode ".f32." #from, "f32 " from##_r, f32_##from##_##mode, 0 },   \
  { "cvt." #mode ".f64." #from, "f64 " from##_r, f64_##from##_##mode, 0 },
#define TO_FLOATS(from, sign)                                                \
  TO_FLOAT(from, sign, rn) TO_FLOAT(from, sign, rz)                          \
  TO_FLOAT(from, sign, rm) TO_FLOAT(from, sign, rp)
#define TO_FLOAT_ROWS(from)                                                  \
  TO_FLOAT_ROW(from, rn) TO_FLOAT_ROW(from, rz)                              \
  TO_FLOAT_ROW(from, rm) TO_FLOAT_ROW(from, rp)
TO_FLOATS(u8, unsigned) TO_FLOATS(u16, unsigned) TO_FLOATS(u32, unsigned)
TO_FLOATS(u64, unsigned) TO_FLOATS(s8, signed) TO_FLOATS(s16, signed)
TO_FLOATS(s32, signed) TO_FLOATS(s64, signed)

#define F32(name, ...) MEANING(name, f32, f32, f32, f32, plain(__VA_ARGS__))
F32(f32_rni, rintf(a))
F32(f32_rzi, truncf(a))
F32(f32_rmi, floorf(a))
F32(f32_rpi, ceilf(a))
F32(f32_sat, a > 1 ? 1 : a > 0 ? a : 0)
F32(f32_ftz, flush(a))
MEANING(f64_rni, f64, f64, u32, u32, plain64(rint(a)))
MEANING(f64_of_f32, f64, f32, u32, u32, plain64(a))
MEANING(f32_rn, f32, f64, u32, u32, plain(f32_double_rn(a)))
MEANING(f32_rz, f32, f64, u32, u32, plain(f32_double_rz(a)))
MEANING(f32_rm, f32, f64, u32, u32, plain(f32_double_rm(a)))
MEANING(f32_rp, f32, f64, u32, u32, plain(f32_double_rp(a)))

/* f16 and bf16: the value, and the value of the next one up. */
static double value_of(uint16_t bits, int exponent_bits, int fraction_bits)
{
  int top = (1 << exponent_bits) - 1, bias = top / 2;
  int exponent = bits >> fraction_bits & top;
  int fraction = bits & ((1 << fraction_bits) - 1);
  double sign = bits & 0x8000 ? -1 : 1;
  if (exponent == top)
    return fraction ? NAN : sign * INFINITY;
  if (!exponent)
    return sign * ldexp(fraction, 1 - bias - fraction_bits);
  return sign * ldexp((1 << fraction_bits) + fraction,
                      exponent - bias - fraction_bits);
}

static uint16_t toward_zero(double x, int exponent_bits, int fraction_bits)
{
  uint16_t sign = signbit(x) ? 0x8000 : 0, low = 0;
  uint16_t high = (uint16_t)(((1 << exponent_bits) - 1) << fraction_bits);
  if (x != x)
    return 0x7fff;
  if (isinf(x))
    return sign | high;
  while (high - low > 1) {
    uint16_t middle = (uint16_t)((low + high) / 2);
    if (value_of(middle, exponent_bits, fraction_bits) <= fabs(x))
      low = middle;
    else
      high = middle;
  }
  return sign | low;
}

static uint16_t to_nearest(double x, int exponent_bits, int fraction_bits)
{
  uint16_t low = toward_zero(x, exponent_bits, fraction_bits);
  if (x != x || isinf(x))
    return low;
  double below = fabs(value_of(low, exponent_bits, fraction_bits));
  double above = fabs(value_of(low + 1, exponent_bits, fraction_bits));
  if (isinf(above))
    above = 2 * below - fabs(value_of(low - 1, exponent_bits, fraction_bits));
  double down = fabs(x) - below, up = above - fabs(x);
  return low + (up < down || (up == down && low & 1));
}

MEANING(half_f32, u16, f32, u32, u32, to_nearest(a, 5, 10))
MEANING(half_f32_rz, u16, f32, u32, u32, toward_zero(a, 5, 10))
MEANING(half_f64, u16, f64, u32, u32, to_nearest(a, 5, 10))
MEANING(half_s32, u16, s32, u32, u32, to_nearest(a, 5, 10))
MEANING(half_u64_rz, u16, u64, u32, u32, toward_zero((double)a, 5, 10))
MEANING(f32_half, f32, u16, u32, u32, plain((float)value_of(a, 5, 10)))
MEANING(f64_half, f64, u16, u32, u32, plain64(value_of(a, 5, 10)))
MEANING(s16_half, s16, u16, u32, u32,
        whole(value_of(a, 5, 10), trunc, INT16_MIN, INT16_MAX))
MEANING(brain_f32, u16, f32, u32, u32, to_nearest(a, 8, 7))
MEANING(brain_f32_rz, u16, f32, u32, u32, toward_zero(a, 8, 7))
MEANING(f32_brain, f32, u16, u32, u32, plain((float)value_of(a, 8, 7)))
MEANING(pair_half, u32, f32, f32, u32,
        (uint32_t)to_nearest(a, 5, 10) << 16 | to_nearest(b, 5, 10))
MEANING(pair_brain, u32, f32, f32, u32,
        (uint32_t)to_nearest(a, 8, 7) << 16 | to_nearest(b, 8, 7))

/* Registers wider than the type: the value fills them. */
MEANING(wide_s8, s64, s64, u32, u32, (int8_t)a)
MEANING(wide_u8, u32, u64, u32, u32, (uint8_t)a)
MEANING(wide_s16, s32, s32, u32, u32, (int16_t)a)

/* Moves and choices. */
MEANING(pack2, u32, u16, u16, u32, (uint32_t)b << 16 | a)
MEANING(pack4, u64, u16, u16, u16,
        (uint64_t)a | (uint64_t)b << 16 | (uint64_t)c << 32 |
          (uint64_t)a << 48)
MEANING(unpack, u32, u64, u64, u32, (uint32_t)(a >> 32) - (uint32_t)b)
MEANING(carry, u64, u64, u64, u32, a + b)
MEANING(borrow, u64, u64, u64, u32, a - b)
MEANING(high_product, u32, u32, u32, u32,
        (((uint64_t)a * b) + ((uint64_t)c << 32 | c)) >> 32)
MEANING(carry64, u32, u64, u64, u32, a + b < a)
MEANING(lookup, u32, u32, u32, u32, (a & b) ^ c)
MEANING(select, u32, u32, u32, u32, a < b ? a : c)
MEANING(select64, u64, u64, u64, s32, c > 0 ? a : b)
MEANING(logic, u32, u32, u32, u32,
        ((a < b) & (b < c)) | ((a < b) ^ (b < c)) << 1 | !(a < b) << 2 |
          ((a < b) | !(b < c)) << 3)
MEANING(both, u32, s32, s32, s32,
        ((a < b) & (c != 0)) | (!(a < b) & (c != 0)) << 1)

#define CARRY(...) "{ .reg .b32 a, b, c, d, e, f; " __VA_ARGS__ " }"
#define LOGIC                                                                 \
  "{ .reg .pred p, q, r; .reg .b32 t; mov.u32 %v0, 0;"                        \
  "setp.lt.u32 p, %v1, %v2; setp.lt.u32 q, %v2, %v3;"                         \
  "and.pred r, p, q; @r or.b32 %v0, %v0, 1;"                                  \
  "xor.pred r, p, q; @r or.b32 %v0, %v0, 2;"                                  \
  "not.pred r, p; @r or.b32 %v0, %v0, 4;"                                     \
  "or.pred r, p, !q; @!r bra L; or.b32 %v0, %v0, 8; L: }"
#define BOTH                                                                  \
  "{ .reg .pred p, q, r; .reg .b32 t; mov.u32 %v0, 0;"                        \
  "setp.ne.s32 r, %v3, 0; setp.lt.and.s32 p|q, %v1, %v2, r;"                  \
  "@p or.b32 %v0, %v0, 1; @q or.b32 %v0, %v0, 2; }"

static const ptx_operation operations[] = {
  WHOLES(CUT_ROW, u8) WHOLES(CUT_ROW, u16) WHOLES(CUT_ROW, u32)
  WHOLES(CUT_ROW, u64) WHOLES(CUT_ROW, s8) WHOLES(CUT_ROW, s16)
  WHOLES(CUT_ROW, s32) WHOLES(CUT_ROW, s64)
  WHOLES(FROM_FLOAT_ROW, f32) WHOLES(FROM_FLOAT_ROW, f64)
  TO_FLOAT_ROWS(u8) TO_FLOAT_ROWS(u16) TO_FLOAT_ROWS(u32) TO_FLOAT_ROWS(u64)
  TO_FLOAT_ROWS(s8) TO_FLOAT_ROWS(s16) TO_FLOAT_ROWS(s32) TO_FLOAT_ROWS(s64)
  { "cvt.rpi.ftz.s32.f32", "s32 f32", rzi_ftz, 0 },
  { "cvt.rni.f32.f32", "f32 f32", f32_rni, 0 },
  { "cvt.rzi.f32.f32", "f32 f32", f32_rzi, 0 },
  { "cvt.rmi.f32.f32", "f32 f32", f32_rmi, 0 },
  { "cvt.rpi.f32.f32", "f32 f32", f32_rpi, 0 },
  { "cvt.sat.f32.f32", "f32 f32", f32_sat, 0 },
  { "cvt.ftz.f32.f32", "f32 f32", f32_ftz, 0 },
  { "cvt.rni.f64.f64", "f64 f64", f64_rni, 0 },
  { "cvt.f64.f32", "f64 f32", f64_of_f32, 0 },
  { "cvt.rn.f32.f64", "f32 f64", f32_rn, 0 },
  { "cvt.rz.f32.f64", "f32 f64", f32_rz, 0 },
  { "cvt.rm.f32.f64", "f32 f64", f32_rm, 0 },
  { "cvt.rp.f32.f64", "f32 f64", f32_rp, 0 },
  { "cvt.rn.f16.f32", "f16 f32", half_f32, 0 },
  { "cvt.rz.f16.f32", "f16 f32", half_f32_rz, 0 },
  { "cvt.rn.f16.f64", "f16 f64", half_f64, 0 },
  { "cvt.rn.f16.s32", "f16 s32", half_s32, 0 },
  { "cvt.rz.f16.u64", "f16 u64", half_u64_rz, 0 },
  { "cvt.f32.f16", "f32 f16", f32_half, 0 },
  { "cvt.f64.f16", "f64 f16", f64_half, 0 },
  { "cvt.rzi.s16.f16", "s16 f16", s16_half, 0 },
  { "cvt.rn.bf16.f32", "bf16 f32", brain_f32, 0 },
  { "cvt.rz.bf16.f32", "bf16 f32", brain_f32_rz, 0 },
  { "cvt.f32.bf16", "f32 bf16", f32_brain, 0 },
  { "cvt.rn.f16x2.f32", "f16x2 f32 f32", pair_half, 0 },
  { "cvt.rn.bf16x2.f32", "bf16x2 f32 f32", pair_brain, 0 },
  { "cvt.s8.s64", "s64 s64", wide_s8, 0 },
  { "cvt.u8.u64", "u32 u64", wide_u8, 0 },
  { "cvt.s32.s16", "s32 s32", wide_s16, 0 },
  { "mov.b32 %v0, {%v1, %v2};", "b32 b16 b16", pack2, 0 },
  { "mov.b64 %v0, {%v1, %v2, %v3, %v1};", "b64 b16 b16 b16", pack4, 0 },
  { "{ .reg .b32 a, b; mov.b64 {_, a}, %v1; mov.b64 {b, _}, %v2; "
    "sub.s32 %v0, a, b; }", "b32 b64 b64", unpack, 0 },
  { CARRY("mov.b64 {a, b}, %v1; mov.b64 {c, d}, %v2; add.cc.u32 e, a, c;"
          "addc.u32 f, b, d; mov.b64 %v0, {e, f};"),
    "b64 b64 b64", carry, 0 },
  { CARRY("mov.b64 {a, b}, %v1; mov.b64 {c, d}, %v2; sub.cc.u32 e, a, c;"
          "subc.cc.u32 f, b, d; mov.b64 %v0, {e, f};"),
    "b64 b64 b64", borrow, 0 },
  { CARRY("mad.lo.cc.u32 a, %v1, %v2, %v3; madc.hi.u32 %v0, %v1, %v2, %v3;"),
    "u32 u32 u32 u32", high_product, 0 },
  { "{ .reg .b64 t; add.cc.u64 t, %v1, %v2; addc.u32 %v0, 0, 0; }",
    "u32 u64 u64", carry64, 0 },
  { "lop3.b32 %v0, %v1, %v2, %v3, 0x6a;", "b32 b32 b32 b32", lookup, 0 },
  { "{ .reg .pred p; setp.lt.u32 p, %v1, %v2; "
    "selp.u32 %v0, %v1, %v3, p; }", "u32 u32 u32 u32", select, 0 },
  { "{ .reg .pred p; setp.le.s32 p, %v3, 0; "
    "selp.b64 %v0, %v1, %v2, !p; }", "b64 b64 b64 s32", select64, 0 },
  { LOGIC, "u32 u32 u32 u32", logic, 0 },
  { BOTH, "u32 s32 s32 s32", both, 0 },
};

int main(void)
{
  ptx_operation_check(operations, sizeof operations / sizeof *operations);
  return tap_done();
}
