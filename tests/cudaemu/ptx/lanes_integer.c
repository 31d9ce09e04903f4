/* Integer and bit operations over lanes. */
#include "tests/cudaemu/ptx/lane.h"

typedef __int128 s128;
typedef unsigned __int128 u128;

/* Wrapping arithmetic, the same for signed and unsigned. */
#define WRAPPING(T, W)                                                     \
  SAME(add_##T, T, (W)a[l] + (W)b[l])                                      \
  SAME(sub_##T, T, (W)a[l] - (W)b[l])                                      \
  SAME(mul_##T, T, (W)a[l] * (W)b[l])                                      \
  SAME(mad_##T, T, (W)a[l] * (W)b[l] + (W)c[l])                            \
  SAME(neg_##T, T, 0 - (W)a[l])                                            \
  SAME(and_##T, T, a[l] & b[l])                                            \
  SAME(or_##T, T, a[l] | b[l])                                             \
  SAME(xor_##T, T, a[l] ^ b[l])                                            \
  SAME(not_##T, T, ~(W)a[l])                                               \
  SAME(cnot_##T, T, a[l] == 0)                                             \
  SAME(mov_##T, T, a[l])                                                   \
  LANES(shl_##T, T, T, u32, T, b[l] < 8 * sizeof(T) ? (W)a[l] << b[l] : 0) \
  LANES(slct_##T, T, T, T, s32, c[l] >= 0 ? a[l] : b[l])                   \
  LANES(slct_f32_##T, T, T, T, f32, c[l] >= 0 ? a[l] : b[l])
WRAPPING(u16, u32)
WRAPPING(u32, u32)
WRAPPING(u64, u64)

/* What depends on the sign.  N is the type of twice the width, U the unsigned
 * type of the same. */
#define SIGNED_OR_NOT(T, N, U, bits)                                         \
  SAME(mul_hi_##T, T, ((N)a[l] * (N)b[l]) >> bits)                           \
  SAME(mad_hi_##T, T, (U)(((N)a[l] * (N)b[l]) >> bits) + (U)c[l])            \
  SAME(min_##T, T, a[l] < b[l] ? a[l] : b[l])                                \
  SAME(max_##T, T, a[l] > b[l] ? a[l] : b[l])                                \
  SAME(sad_##T, T,                                                           \
       (U)c[l] + (a[l] > b[l] ? (U)a[l] - (U)b[l] : (U)b[l] - (U)a[l]))
SIGNED_OR_NOT(u16, u32, u16, 16)
SIGNED_OR_NOT(s16, s32, u16, 16)
SIGNED_OR_NOT(u32, u64, u32, 32)
SIGNED_OR_NOT(s32, s64, u32, 32)
SIGNED_OR_NOT(u64, u128, u64, 64)
SIGNED_OR_NOT(s64, s128, u64, 64)

LANES(mul_wide_u16, u32, u16, u16, u16, (u32)a[l] * b[l])
LANES(mul_wide_s16, s32, s16, s16, s16, (s32)a[l] * b[l])
LANES(mul_wide_u32, u64, u32, u32, u32, (u64)a[l] * b[l])
LANES(mul_wide_s32, s64, s32, s32, s32, (s64)a[l] * b[l])
LANES(mad_wide_u16, u32, u16, u16, u32, (u32)a[l] * b[l] + c[l])
LANES(mad_wide_s16, u32, s16, s16, u32, (u32)((s32)a[l] * b[l]) + c[l])
LANES(mad_wide_u32, u64, u32, u32, u64, (u64)a[l] * b[l] + c[l])
LANES(mad_wide_s32, u64, s32, s32, u64, (u64)((s64)a[l] * b[l]) + c[l])

/* Division by zero gives all ones and the dividend as the rest, as GPUs do
 * though nothing says so; the quotient that overflows wraps. */
#define DIVISION(U, S)                                                      \
  SAME(div_##U, U, b[l] ? a[l] / b[l] : (U)-1)                              \
  SAME(rem_##U, U, b[l] ? a[l] % b[l] : a[l])                               \
  SAME(div_##S, S, b[l] == 0    ? -1                                        \
                   : b[l] == -1 ? (S)(0 - (U)a[l])                          \
                                : a[l] / b[l])                              \
  SAME(rem_##S, S, b[l] == 0 ? a[l] : b[l] == -1 ? 0 : a[l] % b[l])         \
  SAME(abs_##S, U, (S)a[l] < 0 ? 0 - (U)a[l] : a[l])
DIVISION(u16, s16)
DIVISION(u32, s32)
DIVISION(u64, s64)

#define RIGHT_SHIFT(U, S, top)                                              \
  LANES(shr_##U, U, U, u32, U, b[l] > top ? 0 : a[l] >> b[l])               \
  LANES(shr_##S, S, S, u32, S, a[l] >> (b[l] > top ? top : b[l]))
RIGHT_SHIFT(u16, s16, 15)
RIGHT_SHIFT(u32, s32, 31)
RIGHT_SHIFT(u64, s64, 63)

static s32 clamp_s32(s64 value)
{
  return value > INT32_MAX ? INT32_MAX
                           : value < INT32_MIN ? INT32_MIN : (s32)value;
}

SAME(add_sat_s32, s32, clamp_s32((s64)a[l] + b[l]))
SAME(sub_sat_s32, s32, clamp_s32((s64)a[l] - b[l]))
SAME(mad_hi_sat_s32, s32, clamp_s32((((s64)a[l] * b[l]) >> 32) + c[l]))

static s64 low24(s32 value)
{
  return (s32)((u32)value << 8) >> 8;
}

#define U24(x) ((u64)(x) & 0xffffff)
SAME(mul24_lo_u32, u32, U24(a[l]) * U24(b[l]))
SAME(mul24_hi_u32, u32, (U24(a[l]) * U24(b[l])) >> 16)
SAME(mul24_lo_s32, s32, low24(a[l]) * low24(b[l]))
SAME(mul24_hi_s32, s32, (low24(a[l]) * low24(b[l])) >> 16)
SAME(mad24_lo_u32, u32, U24(a[l]) * U24(b[l]) + c[l])
SAME(mad24_hi_u32, u32, ((U24(a[l]) * U24(b[l])) >> 16) + c[l])
SAME(mad24_lo_s32, u32, (u64)(low24((s32)a[l]) * low24((s32)b[l])) + c[l])
SAME(mad24_hi_s32, u32,
     (u64)((low24((s32)a[l]) * low24((s32)b[l])) >> 16) + c[l])

LANES(popc_b32, u32, u32, u32, u32, __builtin_popcount(a[l]))
LANES(popc_b64, u32, u64, u64, u64, __builtin_popcountll(a[l]))
LANES(clz_b32, u32, u32, u32, u32, a[l] ? __builtin_clz(a[l]) : 32)
LANES(clz_b64, u32, u64, u64, u64, a[l] ? __builtin_clzll(a[l]) : 64)

/* Position of the highest bit that differs from the sign, or all ones. */
static u32 highest(u64 value)
{
  return value ? (u32)(63 - __builtin_clzll(value)) : UINT32_MAX;
}

static u32 to_shift(u32 position, u32 top)
{
  return position == UINT32_MAX ? position : top - position;
}

#define BFIND(T, U, top)                                                     \
  LANES(bfind_##T, u32, T, T, T, highest((U)(a[l] < 0 ? ~a[l] : a[l])))      \
  LANES(bfind_shift_##T, u32, T, T, T,                                       \
        to_shift(highest((U)(a[l] < 0 ? ~a[l] : a[l])), top))
BFIND(s32, u32, 31)
BFIND(s64, u64, 63)
LANES(bfind_u32, u32, u32, u32, u32, highest(a[l]))
LANES(bfind_u64, u32, u64, u64, u64, highest(a[l]))
LANES(bfind_shift_u32, u32, u32, u32, u32, to_shift(highest(a[l]), 31))
LANES(bfind_shift_u64, u32, u64, u64, u64, to_shift(highest(a[l]), 63))

static u64 reverse(u64 value)
{
  u64 reversed = 0;
  for (int i = 0; i < 64; i++)
    reversed |= (value >> i & 1) << (63 - i);
  return reversed;
}

SAME(brev_b32, u32, reverse(a[l]) >> 32)
SAME(brev_b64, u64, reverse(a[l]))

/* bits[pos, pos + len), filled up with the sign's bit */
static u64 extract(u64 value, u32 pos, u32 len, u32 width, bool is_signed)
{
  pos &= 255;
  len &= 255;
  if (!len)
    return 0;
  u32 last = pos + len - 1 < width - 1 ? pos + len - 1 : width - 1;
  bool sign = is_signed && (value >> last & 1);
  u64 got = pos < width ? value >> pos : 0;
  u32 valid = pos < width ? last - pos + 1 : 0;
  u64 mask = valid < 64 ? (UINT64_C(1) << valid) - 1 : UINT64_MAX;
  return (got & mask) | (sign ? ~mask : 0);
}

LANES(bfe_u32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, false))
LANES(bfe_s32, u32, u32, u32, u32, extract(a[l], b[l], c[l], 32, true))
LANES(bfe_u64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, false))
LANES(bfe_s64, u64, u64, u32, u32, extract(a[l], b[l], c[l], 64, true))

static u64 insert(u64 from, u64 into, u32 pos, u32 len, u32 width)
{
  pos &= 255;
  len &= 255;
  if (!len || pos >= width)
    return into;
  u64 mask = (len < 64 ? (UINT64_C(1) << len) - 1 : UINT64_MAX) << pos;
  return (into & ~mask) | ((from << pos) & mask);
}

#define BFI(T, width)                                            \
  static void bfi_##T(ARGUMENTS)                                 \
  {                                                              \
    T *d = dv;                                                   \
    const T *a = av, *b = bv;                                    \
    const u32 *c = cv, *e = ev;                                  \
    EACH(l) d[l] = (T)insert(a[l], b[l], c[l], e[l], width);     \
  }
BFI(u32, 32)
BFI(u64, 64)

/* Bytes or halves of a word, signed or not. */
static s32 part(u32 word, int i, int bits, bool is_signed)
{
  u32 up = word << (32 - bits * (i + 1));
  return is_signed ? (s32)up >> (32 - bits) : (s32)(up >> (32 - bits));
}

static u32 dot4(u32 a, u32 b, u32 c, bool sa, bool sb)
{
  for (int i = 0; i < 4; i++)
    c += (u32)(part(a, i, 8, sa) * part(b, i, 8, sb));
  return c;
}

static u32 dot2(u32 a, u32 b, u32 c, bool sa, bool sb, int high)
{
  for (int i = 0; i < 2; i++)
    c += (u32)part(a, i, 16, sa) * (u32)part(b, i + high, 8, sb);
  return c;
}

#define DOT(x, y, sx, sy)                                                    \
  SAME(dp4a_##x##_##y, u32, dot4(a[l], b[l], c[l], sx, sy))                  \
  SAME(dp2a_lo_##x##_##y, u32, dot2(a[l], b[l], c[l], sx, sy, 0))            \
  SAME(dp2a_hi_##x##_##y, u32, dot2(a[l], b[l], c[l], sx, sy, 2))
DOT(u32, u32, false, false)
DOT(u32, s32, false, true)
DOT(s32, u32, true, false)
DOT(s32, s32, true, true)

/* Funnel shifts of b:a. */
static u32 funnel_left(u32 low, u32 high, u32 n)
{
  return (u32)(((u64)high << 32 | low) << n >> 32);
}

static u32 funnel_right(u32 low, u32 high, u32 n)
{
  return (u32)(((u64)high << 32 | low) >> n);
}

#define CLAMP32(n) ((n) > 32 ? 32 : (n))
SAME(shf_l_wrap, u32, funnel_left(a[l], b[l], c[l] & 31))
SAME(shf_l_clamp, u32, c[l] > 31 ? a[l] : funnel_left(a[l], b[l], c[l]))
SAME(shf_r_wrap, u32, funnel_right(a[l], b[l], c[l] & 31))
SAME(shf_r_clamp, u32, funnel_right(a[l], b[l], CLAMP32(c[l])))

static u32 permute(u32 low, u32 high, u32 selector)
{
  u64 bytes = (u64)high << 32 | low;
  u32 result = 0;
  for (int i = 0; i < 4; i++) {
    u32 s = selector >> 4 * i & 15;
    u32 byte = (u32)(bytes >> 8 * (s & 7)) & 255;
    if (s & 8)
      byte = byte & 128 ? 255 : 0;
    result |= byte << 8 * i;
  }
  return result;
}

SAME(prmt_b32, u32, permute(a[l], b[l], c[l]))

#define HI PTX_BIT(hi)
#define WIDE PTX_BIT(wide)
#define SAT PTX_BIT(sat)
#define SHIFT PTX_BIT(shiftamt)

#define BITS_ENTRIES(n)               \
  ENTRY(add, u##n, 0, add_u##n)       \
  ENTRY(sub, u##n, 0, sub_u##n)       \
  ENTRY(mul, u##n, 0, mul_u##n)       \
  ENTRY(mad, u##n, 0, mad_u##n)       \
  ENTRY(neg, u##n, 0, neg_u##n)       \
  ENTRY(and, b##n, 0, and_u##n)       \
  ENTRY(or, b##n, 0, or_u##n)         \
  ENTRY(xor, b##n, 0, xor_u##n)       \
  ENTRY(not, b##n, 0, not_u##n)       \
  ENTRY(cnot, b##n, 0, cnot_u##n)     \
  ENTRY(mov, b##n, 0, mov_u##n)       \
  ENTRY(shl, b##n, 0, shl_u##n)       \
  ENTRY(shr, b##n, 0, shr_u##n)       \
  ENTRY(shr, u##n, 0, shr_u##n)       \
  ENTRY(shr, s##n, 0, shr_s##n)       \
  ENTRY(abs, s##n, 0, abs_s##n)       \
  { PTX_OP_slct, PTX_b##n, PTX_s32, 0, slct_u##n }, \
  { PTX_OP_slct, PTX_b##n, PTX_f32, 0, slct_f32_u##n },

#define SIGN_ENTRIES(T)               \
  ENTRY(mul, T, HI, mul_hi_##T)       \
  ENTRY(mad, T, HI, mad_hi_##T)       \
  ENTRY(min, T, 0, min_##T)           \
  ENTRY(max, T, 0, max_##T)           \
  ENTRY(sad, T, 0, sad_##T)           \
  ENTRY(div, T, 0, div_##T)           \
  ENTRY(rem, T, 0, rem_##T)

#define WIDE_ENTRIES(T)               \
  ENTRY(mul, T, WIDE, mul_wide_##T)   \
  ENTRY(mad, T, WIDE, mad_wide_##T)

#define FIND_ENTRIES(T)               \
  ENTRY(bfind, T, 0, bfind_##T)       \
  ENTRY(bfind, T, SHIFT, bfind_shift_##T) \
  ENTRY(bfe, T, 0, bfe_##T)

#define DOT_ENTRIES(x, y)                                           \
  { PTX_OP_dp4a, PTX_##x, PTX_##y, 0, dp4a_##x##_##y },             \
  { PTX_OP_dp2a, PTX_##x, PTX_##y, 0, dp2a_lo_##x##_##y },          \
  { PTX_OP_dp2a, PTX_##x, PTX_##y, HI, dp2a_hi_##x##_##y },

static const ptx_lanes_entry entries[] = {
  BITS_ENTRIES(16) BITS_ENTRIES(32) BITS_ENTRIES(64)
  SIGN_ENTRIES(u16) SIGN_ENTRIES(s16) SIGN_ENTRIES(u32)
  SIGN_ENTRIES(s32) SIGN_ENTRIES(u64) SIGN_ENTRIES(s64)
  WIDE_ENTRIES(u16) WIDE_ENTRIES(s16) WIDE_ENTRIES(u32) WIDE_ENTRIES(s32)
  FIND_ENTRIES(u32) FIND_ENTRIES(s32) FIND_ENTRIES(u64) FIND_ENTRIES(s64)
  DOT_ENTRIES(u32, u32) DOT_ENTRIES(u32, s32)
  DOT_ENTRIES(s32, u32) DOT_ENTRIES(s32, s32)
  ENTRY(add, s32, SAT, add_sat_s32)
  ENTRY(sub, s32, SAT, sub_sat_s32)
  ENTRY(mad, s32, HI | SAT, mad_hi_sat_s32)
  ENTRY(mul24, u32, 0, mul24_lo_u32)
  ENTRY(mul24, u32, HI, mul24_hi_u32)
  ENTRY(mul24, s32, 0, mul24_lo_s32)
  ENTRY(mul24, s32, HI, mul24_hi_s32)
  ENTRY(mad24, u32, 0, mad24_lo_u32)
  ENTRY(mad24, u32, HI, mad24_hi_u32)
  ENTRY(mad24, s32, 0, mad24_lo_s32)
  ENTRY(mad24, s32, HI, mad24_hi_s32)
  ENTRY(popc, b32, 0, popc_b32)
  ENTRY(popc, b64, 0, popc_b64)
  ENTRY(clz, b32, 0, clz_b32)
  ENTRY(clz, b64, 0, clz_b64)
  ENTRY(brev, b32, 0, brev_b32)
  ENTRY(brev, b64, 0, brev_b64)
  ENTRY(bfi, b32, 0, bfi_u32)
  ENTRY(bfi, b64, 0, bfi_u64)
  ENTRY(prmt, b32, 0, prmt_b32)
  ENTRY(shf, b32, PTX_BIT(l) | PTX_BIT(wrap), shf_l_wrap)
  ENTRY(shf, b32, PTX_BIT(l), shf_l_clamp)
  ENTRY(shf, b32, PTX_BIT(r) | PTX_BIT(wrap), shf_r_wrap)
  ENTRY(shf, b32, PTX_BIT(r), shf_r_clamp)
};

const ptx_lanes_table ptx_integer_lanes = {
  entries, sizeof entries / sizeof *entries
};
