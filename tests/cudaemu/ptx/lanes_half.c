/* f16 and bf16 over lanes.  The packed types are the same on twice as many
 * elements, for lane l's two halves are elements 2 l and 2 l + 1. */
#include "tests/cudaemu/ptx/lane.h"

#include <math.h>
#include <string.h>

static double double_from_bits(uint64_t bits)
{
  double value;
  memcpy(&value, &bits, sizeof value);
  return value;
}

static uint64_t bits_of_double(double value)
{
  uint64_t bits;
  memcpy(&bits, &value, sizeof bits);
  return bits;
}

float ptx_bfloat_to_float(uint16_t bits)
{
  uint32_t wide = (uint32_t)bits << 16;
  float value;
  memcpy(&value, &wide, sizeof value);
  return value;
}

float ptx_half_to_float(uint16_t bits)
{
  unsigned exponent = bits >> 10 & 31, fraction = bits & 1023;
  float value;
  if (exponent == 0)
    value = (float)fraction * 0x1p-24f;
  else if (exponent == 31)
    value = fraction ? NAN : INFINITY;
  else
    value = ldexpf((float)(1024 + fraction), (int)exponent - 25);
  return bits & 0x8000 ? -value : value;
}

/* Whether the discarded part makes the kept one larger. */
static bool rounds_up(uint64_t rest, uint64_t half, bool odd, bool negative,
                      ptx_word round)
{
  switch (round) {
  case PTX_WORD_rz:
    return false;
  case PTX_WORD_rm:
    return negative && rest;
  case PTX_WORD_rp:
    return !negative && rest;
  default:
    return rest > half || (rest == half && odd);
  }
}

/* A number too large becomes infinity or the largest. */
static bool becomes_infinite(bool negative, ptx_word round)
{
  return round == PTX_WORD_rm ? negative
         : round == PTX_WORD_rp ? !negative : round != PTX_WORD_rz;
}

/* Rounds to a format of 1 + exponent_bits + fraction_bits = 16 bits. */
static uint16_t narrow(double value, int exponent_bits, int fraction_bits,
                       ptx_word round)
{
  const int bias = (1 << (exponent_bits - 1)) - 1, lowest = 1 - bias;
  const uint32_t infinite = ((1u << exponent_bits) - 1) << fraction_bits;
  uint64_t bits = bits_of_double(value);
  bool negative = bits >> 63;
  uint32_t sign = negative ? 0x8000 : 0;
  if (value != value)
    return 0x7fff;
  if (isinf(value))
    return (uint16_t)(sign | infinite);
  int exponent = (int)(bits >> 52 & 2047);
  uint64_t significand = bits & ((UINT64_C(1) << 52) - 1);
  if (exponent)
    significand |= UINT64_C(1) << 52;
  exponent = (exponent ? exponent : 1) - 1023;
  int shift = 52 - fraction_bits;
  if (exponent < lowest)
    shift += lowest - exponent;
  if (shift > 60) /* far below half of the smallest number */
    shift = 60;
  uint64_t kept = significand >> shift;
  uint64_t rest = significand & ((UINT64_C(1) << shift) - 1);
  kept += rounds_up(rest, UINT64_C(1) << (shift - 1), kept & 1, negative,
                    round);
  uint32_t result = (uint32_t)kept;
  if (exponent >= lowest)
    result += (uint32_t)(exponent + bias - 1) << fraction_bits;
  if (exponent > bias || result >= infinite)
    result = becomes_infinite(negative, round) ? infinite : infinite - 1;
  return (uint16_t)(sign | result);
}

uint16_t ptx_half_from_double(double value, ptx_word round)
{
  return narrow(value, 5, 10, round);
}

uint16_t ptx_bfloat_from_double(double value, ptx_word round)
{
  return narrow(value, 8, 7, round);
}

/* a * b + c as a double rounded to odd, which a second rounding, to fewer
 * bits, does not spoil. */
static double fma_to_odd(double a, double b, double c)
{
  double product = a * b; /* exact: 22 bits at most */
  double sum = product + c;
  double part = sum - product;
  double error = (product - (sum - part)) + (c - part);
  if (error == 0 || !isfinite(sum) || bits_of_double(sum) & 1)
    return sum;
  bool outward = (error > 0) == (sum > 0);
  return double_from_bits(bits_of_double(sum) + (outward ? 1 : UINT64_MAX));
}

static float lesser(float a, float b)
{
  if (a == b)
    return signbit(a) ? a : b;
  return a != a ? b : b != b || a < b ? a : b;
}

static float greater(float a, float b)
{
  if (a == b)
    return signbit(a) ? b : a;
  return a != a ? b : b != b || a > b ? a : b;
}

#define ANY_NAN(x, y) ((x) != (x) || (y) != (y))

/* `count` elements of format F; x, y, z are their values. */
#define HALVES(name, F, count, ...)                                      \
  static void name(ARGUMENTS)                                            \
  {                                                                      \
    u16 *d = dv;                                                         \
    const u16 *a = av, *b = bv ? bv : av, *c = cv ? cv : av;             \
    (void)ev;                                                            \
    for (int l = 0; l < (count); l++) {                                  \
      const float x = ptx_##F##_to_float(a[l]);                          \
      const float y = ptx_##F##_to_float(b[l]);                          \
      const float z = ptx_##F##_to_float(c[l]);                          \
      (void)x, (void)y, (void)z;                                         \
      d[l] = ptx_##F##_from_double((double)(__VA_ARGS__), PTX_WORD_rn);  \
    }                                                                    \
  }
/* Sums and products of two such numbers are exact in double, or (bf16 sums)
 * so near that rounding twice is harmless beyond twice 8 + 2 bits. */
#define FORMAT(T, F, count)                                                 \
  HALVES(add_##T, F, count, (double)x + y)                                  \
  HALVES(sub_##T, F, count, (double)x - y)                                  \
  HALVES(mul_##T, F, count, (double)x * y)                                  \
  HALVES(fma_##T, F, count, fma_to_odd(x, y, z))                            \
  HALVES(min_##T, F, count, lesser(x, y))                                   \
  HALVES(max_##T, F, count, greater(x, y))                                  \
  HALVES(min_nan_##T, F, count, ANY_NAN(x, y) ? NAN : lesser(x, y))         \
  HALVES(max_nan_##T, F, count, ANY_NAN(x, y) ? NAN : greater(x, y))        \
  HALVES(ex2_##T, F, count, exp2f(x))                                       \
  HALVES(tanh_##T, F, count, tanhf(x))                                      \
  static void neg_##T(ARGUMENTS)                                            \
  {                                                                         \
    u16 *d = dv;                                                            \
    const u16 *a = av;                                                      \
    (void)bv, (void)cv, (void)ev;                                           \
    for (int l = 0; l < (count); l++)                                       \
      d[l] = a[l] ^ 0x8000;                                                 \
  }                                                                         \
  static void abs_##T(ARGUMENTS)                                            \
  {                                                                         \
    u16 *d = dv;                                                            \
    const u16 *a = av;                                                      \
    (void)bv, (void)cv, (void)ev;                                           \
    for (int l = 0; l < (count); l++)                                       \
      d[l] = a[l] & 0x7fff;                                                 \
  }
FORMAT(f16, half, 32)
FORMAT(f16x2, half, 64)
FORMAT(bf16, bfloat, 32)
FORMAT(bf16x2, bfloat, 64)

#define APPROX PTX_BIT(approx)
#define NAN_WINS PTX_BIT(nan_wins)

#define FORMAT_ENTRIES(T)                  \
  ENTRY(add, T, 0, add_##T)                \
  ENTRY(sub, T, 0, sub_##T)                \
  ENTRY(mul, T, 0, mul_##T)                \
  ENTRY(fma, T, 0, fma_##T)                \
  ENTRY(min, T, 0, min_##T)                \
  ENTRY(max, T, 0, max_##T)                \
  ENTRY(min, T, NAN_WINS, min_nan_##T)     \
  ENTRY(max, T, NAN_WINS, max_nan_##T)     \
  ENTRY(neg, T, 0, neg_##T)                \
  ENTRY(abs, T, 0, abs_##T)                \
  ENTRY(ex2, T, APPROX, ex2_##T)           \
  ENTRY(tanh, T, APPROX, tanh_##T)

static const ptx_lanes_entry entries[] = {
  FORMAT_ENTRIES(f16) FORMAT_ENTRIES(f16x2)
  FORMAT_ENTRIES(bf16) FORMAT_ENTRIES(bf16x2)
};

const ptx_lanes_table ptx_half_lanes = {
  entries, sizeof entries / sizeof *entries
};
