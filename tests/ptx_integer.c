/* Integer and bit instructions of the PTX interpreter against C. */
#include "tests/cudaemu/ptx_operation.h"
#include "tests/tap.h"

typedef __int128 wide_signed;
typedef unsigned __int128 wide_unsigned;

#define BASIC(n, U, S)                                                       \
  MEANING(add_##n, U, U, U, U, (uint64_t)a + b)                              \
  MEANING(sub_##n, U, U, U, U, (uint64_t)a - b)                              \
  MEANING(mul_##n, U, U, U, U, (uint64_t)a * b)                              \
  MEANING(mad_##n, U, U, U, U, (uint64_t)a * b + c)                          \
  MEANING(hi_u##n, U, U, U, U, ((wide_unsigned)a * b) >> n)                  \
  MEANING(hi_s##n, S, S, S, S, ((wide_signed)a * b) >> n)                    \
  MEANING(mad_hi_u##n, U, U, U, U, (((wide_unsigned)a * b) >> n) + c)        \
  MEANING(mad_hi_s##n, S, S, S, S, (((wide_signed)a * b) >> n) + c)          \
  MEANING(div_u##n, U, U, U, U, b ? a / b : (U##_value)-1)                   \
  MEANING(rem_u##n, U, U, U, U, b ? a % b : a)                               \
  MEANING(div_s##n, S, S, S, S, b ? (wide_signed)a / b : -1)                 \
  MEANING(rem_s##n, S, S, S, S, b ? (wide_signed)a % b : a)                  \
  MEANING(min_u##n, U, U, U, U, a < b ? a : b)                               \
  MEANING(max_u##n, U, U, U, U, a < b ? b : a)                               \
  MEANING(min_s##n, S, S, S, S, a < b ? a : b)                               \
  MEANING(max_s##n, S, S, S, S, a < b ? b : a)                               \
  MEANING(abs_s##n, S, S, S, S, a < 0 ? -(wide_signed)a : a)                 \
  MEANING(neg_s##n, S, S, S, S, -(wide_signed)a)                             \
  MEANING(sad_u##n, U, U, U, U, c + (wide_signed)(a > b ? a - b : b - a))    \
  MEANING(sad_s##n, S, S, S, S,                                              \
          c + (a > b ? (wide_signed)a - b : (wide_signed)b - a))             \
  MEANING(and_##n, U, U, U, U, a & b)                                        \
  MEANING(or_##n, U, U, U, U, a | b)                                         \
  MEANING(xor_##n, U, U, U, U, a ^ b)                                        \
  MEANING(not_##n, U, U, U, U, ~(uint64_t)a)                                 \
  MEANING(cnot_##n, U, U, U, U, !a)                                          \
  MEANING(mov_##n, U, U, U, U, a)                                            \
  MEANING(shl_##n, U, U, u32, U, b < n ? (uint64_t)a << b : 0)               \
  MEANING(shr_u##n, U, U, u32, U, b < n ? a >> b : 0)                        \
  MEANING(shr_s##n, S, S, u32, S, a >> (b < n ? b : n - 1))                  \
  MEANING(slct_##n, U, U, U, s32, c >= 0 ? a : b)                            \
  MEANING(slctf_##n, U, U, U, f32, c >= 0 ? a : b)
BASIC(16, u16, s16)
BASIC(32, u32, s32)
BASIC(64, u64, s64)

MEANING(wide_u16, u32, u16, u16, u32, (uint32_t)a * b)
MEANING(wide_s16, s32, s16, s16, s32, a * b)
MEANING(wide_u32, u64, u32, u32, u64, (uint64_t)a * b)
MEANING(wide_s32, s64, s32, s32, s64, (int64_t)a * b)
MEANING(mad_wide_u16, u32, u16, u16, u32, (uint32_t)a * b + c)
MEANING(mad_wide_s16, u32, s16, s16, u32, (uint32_t)(a * b) + c)
MEANING(mad_wide_u32, u64, u32, u32, u64, (uint64_t)a * b + c)
MEANING(mad_wide_s32, u64, s32, s32, u64, (uint64_t)((int64_t)a * b) + c)

static int64_t clamp(int64_t value)
{
  return value > INT32_MAX ? INT32_MAX : value < INT32_MIN ? INT32_MIN : value;
}

MEANING(add_sat, s32, s32, s32, s32, clamp((int64_t)a + b))
MEANING(sub_sat, s32, s32, s32, s32, clamp((int64_t)a - b))
MEANING(mad_sat, s32, s32, s32, s32, clamp((((int64_t)a * b) >> 32) + c))

static int64_t low24(uint32_t value)
{
  int64_t low = value & 0xffffff;
  return low & 0x800000 ? low - 0x1000000 : low;
}

#define LOW24(x) ((uint64_t)(x) & 0xffffff)
MEANING(mul24_lo_u, u32, u32, u32, u32, LOW24(a) * LOW24(b))
MEANING(mul24_hi_u, u32, u32, u32, u32, (LOW24(a) * LOW24(b)) >> 16)
MEANING(mul24_lo_s, s32, u32, u32, u32, low24(a) * low24(b))
MEANING(mul24_hi_s, s32, u32, u32, u32, (low24(a) * low24(b)) >> 16)
MEANING(mad24_lo_u, u32, u32, u32, u32, LOW24(a) * LOW24(b) + c)
MEANING(mad24_hi_u, u32, u32, u32, u32, ((LOW24(a) * LOW24(b)) >> 16) + c)
MEANING(mad24_lo_s, u32, u32, u32, u32, (uint64_t)(low24(a) * low24(b)) + c)
MEANING(mad24_hi_s, u32, u32, u32, u32,
        (uint64_t)((low24(a) * low24(b)) >> 16) + c)

static uint64_t count_bits(uint64_t value)
{
  uint64_t count = 0;
  for (; value; value >>= 1)
    count += value & 1;
  return count;
}

static int top_bit(uint64_t value)
{
  int top = -1;
  for (; value; value >>= 1)
    top++;
  return top;
}

MEANING(popc32, u32, u32, u32, u32, count_bits(a))
MEANING(popc64, u32, u64, u32, u32, count_bits(a))
MEANING(clz32, u32, u32, u32, u32, 31 - top_bit(a))
MEANING(clz64, u32, u64, u32, u32, 63 - top_bit(a))
MEANING(bfind_u32, s32, u32, u32, u32, top_bit(a))
MEANING(bfind_s32, s32, s32, u32, u32, top_bit((uint32_t)(a < 0 ? ~a : a)))
MEANING(bfind_u64, s32, u64, u32, u32, top_bit(a))
MEANING(bfind_s64, s32, s64, u32, u32, top_bit((uint64_t)(a < 0 ? ~a : a)))
MEANING(shift_u32, s32, u32, u32, u32, top_bit(a) < 0 ? -1 : 31 - top_bit(a))
MEANING(shift_s64, s32, s64, u32, u32,
        top_bit((uint64_t)(a < 0 ? ~a : a)) < 0
          ? -1 : 63 - top_bit((uint64_t)(a < 0 ? ~a : a)))

static uint64_t reversed(uint64_t value, int bits)
{
  uint64_t result = 0;
  for (int i = 0; i < bits; i++)
    result |= (value >> i & 1) << (bits - 1 - i);
  return result;
}

MEANING(brev32, u32, u32, u32, u32, reversed(a, 32))
MEANING(brev64, u64, u64, u32, u32, reversed(a, 64))

/* As the manual writes it, bit by bit. */
static uint64_t field(uint64_t a, uint32_t pos, uint32_t len, int msb,
                      bool is_signed)
{
  uint64_t result = 0;
  pos &= 255, len &= 255;
  uint32_t last = pos + len - 1 < (uint32_t)msb ? pos + len - 1
                                                : (uint32_t)msb;
  uint64_t sign = !is_signed || !len ? 0 : a >> last & 1;
  for (uint32_t i = 0; i <= (uint32_t)msb; i++) {
    bool inside = i < len && pos + i <= (uint32_t)msb;
    result |= (inside ? a >> (pos + i) & 1 : sign) << i;
  }
  return result;
}

MEANING(bfe_u32, u32, u32, u32, u32, field(a, b, c, 31, false))
MEANING(bfe_s32, u32, u32, u32, u32, field(a, b, c, 31, true))
MEANING(bfe_u64, u64, u64, u32, u32, field(a, b, c, 63, false))
MEANING(bfe_s64, u64, u64, u32, u32, field(a, b, c, 63, true))

MEANING(shf_l_wrap, u32, u32, u32, u32,
        c & 31 ? b << (c & 31) | a >> (32 - (c & 31)) : b)
MEANING(shf_r_wrap, u32, u32, u32, u32,
        c & 31 ? b << (32 - (c & 31)) | a >> (c & 31) : a)
MEANING(shf_l_clamp, u32, u32, u32, u32,
        c >= 32 ? a : c ? b << c | a >> (32 - c) : b)
MEANING(shf_r_clamp, u32, u32, u32, u32,
        c >= 32 ? b : c ? b << (32 - c) | a >> c : a)

static uint32_t permuted(uint32_t a, uint32_t b, uint32_t c)
{
  uint8_t bytes[8], result[4];
  memcpy(bytes, &a, 4);
  memcpy(bytes + 4, &b, 4);
  for (int i = 0; i < 4; i++) {
    uint8_t byte = bytes[c >> 4 * i & 7];
    result[i] = c >> 4 * i & 8 ? (byte & 0x80 ? 0xff : 0) : byte;
  }
  uint32_t word;
  memcpy(&word, result, 4);
  return word;
}

MEANING(prmt, u32, u32, u32, u32, permuted(a, b, c))

static uint32_t dot(uint32_t a, uint32_t b, uint32_t c, bool sa, bool sb)
{
  for (int i = 0; i < 4; i++) {
    int x = a >> 8 * i & 255, y = b >> 8 * i & 255;
    x -= sa && x > 127 ? 256 : 0;
    y -= sb && y > 127 ? 256 : 0;
    c += (uint32_t)(x * y);
  }
  return c;
}

MEANING(dp4a_uu, u32, u32, u32, u32, dot(a, b, c, false, false))
MEANING(dp4a_us, u32, u32, u32, u32, dot(a, b, c, false, true))
MEANING(dp4a_su, u32, u32, u32, u32, dot(a, b, c, true, false))
MEANING(dp4a_ss, u32, u32, u32, u32, dot(a, b, c, true, true))

static uint32_t dot_halves(uint32_t a, uint32_t b, uint32_t c, int at)
{
  for (int i = 0; i < 2; i++)
    c += (uint32_t)((int16_t)(a >> 16 * i) * (int8_t)(b >> 8 * (i + at)));
  return c;
}

MEANING(dp2a_lo, u32, u32, u32, u32, dot_halves(a, b, c, 0))
MEANING(dp2a_hi, u32, u32, u32, u32, dot_halves(a, b, c, 2))

#define BASIC_ROWS(n)                                                       \
  { "add.u" #n, "u" #n " u" #n " u" #n, add_##n, 0 },                       \
  { "add.s" #n, "s" #n " s" #n " s" #n, add_##n, 0 },                       \
  { "sub.s" #n, "s" #n " s" #n " s" #n, sub_##n, 0 },                       \
  { "mul.lo.u" #n, "u" #n " u" #n " u" #n, mul_##n, 0 },                    \
  { "mul.lo.s" #n, "s" #n " s" #n " s" #n, mul_##n, 0 },                    \
  { "mad.lo.s" #n, "s" #n " s" #n " s" #n " s" #n, mad_##n, 0 },            \
  { "mul.hi.u" #n, "u" #n " u" #n " u" #n, hi_u##n, 0 },                    \
  { "mul.hi.s" #n, "s" #n " s" #n " s" #n, hi_s##n, 0 },                    \
  { "mad.hi.u" #n, "u" #n " u" #n " u" #n " u" #n, mad_hi_u##n, 0 },        \
  { "mad.hi.s" #n, "s" #n " s" #n " s" #n " s" #n, mad_hi_s##n, 0 },        \
  { "div.u" #n, "u" #n " u" #n " u" #n, div_u##n, 0 },                      \
  { "div.s" #n, "s" #n " s" #n " s" #n, div_s##n, 0 },                      \
  { "rem.u" #n, "u" #n " u" #n " u" #n, rem_u##n, 0 },                      \
  { "rem.s" #n, "s" #n " s" #n " s" #n, rem_s##n, 0 },                      \
  { "min.u" #n, "u" #n " u" #n " u" #n, min_u##n, 0 },                      \
  { "min.s" #n, "s" #n " s" #n " s" #n, min_s##n, 0 },                      \
  { "max.u" #n, "u" #n " u" #n " u" #n, max_u##n, 0 },                      \
  { "max.s" #n, "s" #n " s" #n " s" #n, max_s##n, 0 },                      \
  { "abs.s" #n, "s" #n " s" #n, abs_s##n, 0 },                              \
  { "neg.s" #n, "s" #n " s" #n, neg_s##n, 0 },                              \
  { "sad.u" #n, "u" #n " u" #n " u" #n " u" #n, sad_u##n, 0 },              \
  { "sad.s" #n, "s" #n " s" #n " s" #n " s" #n, sad_s##n, 0 },              \
  { "and.b" #n, "b" #n " b" #n " b" #n, and_##n, 0 },                       \
  { "or.b" #n, "b" #n " b" #n " b" #n, or_##n, 0 },                         \
  { "xor.b" #n, "b" #n " b" #n " b" #n, xor_##n, 0 },                       \
  { "not.b" #n, "b" #n " b" #n, not_##n, 0 },                               \
  { "cnot.b" #n, "b" #n " b" #n, cnot_##n, 0 },                             \
  { "mov.b" #n, "b" #n " b" #n, mov_##n, 0 },                               \
  { "shl.b" #n, "b" #n " b" #n " u32", shl_##n, 0 },                        \
  { "shr.b" #n, "b" #n " b" #n " u32", shr_u##n, 0 },                       \
  { "shr.u" #n, "u" #n " u" #n " u32", shr_u##n, 0 },                       \
  { "shr.s" #n, "s" #n " s" #n " u32", shr_s##n, 0 },                       \
  { "slct.b" #n ".s32", "b" #n " b" #n " b" #n " s32", slct_##n, 0 },       \
  { "slct.u" #n ".f32", "u" #n " u" #n " u" #n " f32", slctf_##n, 0 },

static const ptx_operation operations[] = {
  BASIC_ROWS(16) BASIC_ROWS(32) BASIC_ROWS(64)
  { "mul.wide.u16", "u32 u16 u16", wide_u16, 0 },
  { "mul.wide.s16", "s32 s16 s16", wide_s16, 0 },
  { "mul.wide.u32", "u64 u32 u32", wide_u32, 0 },
  { "mul.wide.s32", "s64 s32 s32", wide_s32, 0 },
  { "mad.wide.u16", "u32 u16 u16 u32", mad_wide_u16, 0 },
  { "mad.wide.s16", "s32 s16 s16 s32", mad_wide_s16, 0 },
  { "mad.wide.u32", "u64 u32 u32 u64", mad_wide_u32, 0 },
  { "mad.wide.s32", "s64 s32 s32 s64", mad_wide_s32, 0 },
  { "add.sat.s32", "s32 s32 s32", add_sat, 0 },
  { "sub.sat.s32", "s32 s32 s32", sub_sat, 0 },
  { "mad.hi.sat.s32", "s32 s32 s32 s32", mad_sat, 0 },
  { "mul24.lo.u32", "u32 u32 u32", mul24_lo_u, 0 },
  { "mul24.hi.u32", "u32 u32 u32", mul24_hi_u, 0 },
  { "mul24.lo.s32", "s32 s32 s32", mul24_lo_s, 0 },
  { "mul24.hi.s32", "s32 s32 s32", mul24_hi_s, 0 },
  { "mad24.lo.u32", "u32 u32 u32 u32", mad24_lo_u, 0 },
  { "mad24.hi.u32", "u32 u32 u32 u32", mad24_hi_u, 0 },
  { "mad24.lo.s32", "s32 s32 s32 s32", mad24_lo_s, 0 },
  { "mad24.hi.s32", "s32 s32 s32 s32", mad24_hi_s, 0 },
  { "popc.b32", "u32 b32", popc32, 0 },
  { "popc.b64", "u32 b64", popc64, 0 },
  { "clz.b32", "u32 b32", clz32, 0 },
  { "clz.b64", "u32 b64", clz64, 0 },
  { "bfind.u32", "u32 u32", bfind_u32, 0 },
  { "bfind.s32", "u32 s32", bfind_s32, 0 },
  { "bfind.u64", "u32 u64", bfind_u64, 0 },
  { "bfind.s64", "u32 s64", bfind_s64, 0 },
  { "bfind.shiftamt.u32", "u32 u32", shift_u32, 0 },
  { "bfind.shiftamt.s64", "u32 s64", shift_s64, 0 },
  { "brev.b32", "b32 b32", brev32, 0 },
  { "brev.b64", "b64 b64", brev64, 0 },
  { "bfe.u32", "u32 u32 u32 u32", bfe_u32, 0 },
  { "bfe.s32", "s32 s32 u32 u32", bfe_s32, 0 },
  { "bfe.u64", "u64 u64 u32 u32", bfe_u64, 0 },
  { "bfe.s64", "s64 s64 u32 u32", bfe_s64, 0 },
  { "shf.l.wrap.b32", "b32 b32 b32 u32", shf_l_wrap, 0 },
  { "shf.r.wrap.b32", "b32 b32 b32 u32", shf_r_wrap, 0 },
  { "shf.l.clamp.b32", "b32 b32 b32 u32", shf_l_clamp, 0 },
  { "shf.r.clamp.b32", "b32 b32 b32 u32", shf_r_clamp, 0 },
  { "prmt.b32", "b32 b32 b32 b32", prmt, 0 },
  { "dp4a.u32.u32", "u32 b32 b32 u32", dp4a_uu, 0 },
  { "dp4a.u32.s32", "u32 b32 b32 u32", dp4a_us, 0 },
  { "dp4a.s32.u32", "u32 b32 b32 u32", dp4a_su, 0 },
  { "dp4a.s32.s32", "u32 b32 b32 u32", dp4a_ss, 0 },
  { "dp2a.lo.s32.s32", "u32 b32 b32 u32", dp2a_lo, 0 },
  { "dp2a.hi.s32.s32", "u32 b32 b32 u32", dp2a_hi, 0 },
};

int main(void)
{
  ptx_operation_check(operations, sizeof operations / sizeof *operations);
  return tap_done();
}
