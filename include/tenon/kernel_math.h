/* Elementary functions of the portable kernel language, in f32.
 *
 * One polynomial each, every fused multiply-add written out, no table look-up
 * beyond the digits of 2/pi, no double: the same bits on every device.  The
 * bounds were found by trying all 2^32 arguments (tests/kernel_math.c) and are
 * stated in units in the last place of the exact result.  Infinities, NaNs,
 * signed zeros and denormals follow the C standard's annex F.
 *
 *   tn_exp      0.9      tn_log  0.9      tn_tanh  1.5
 *   tn_exp_neg  1.02, for x <= 0; below -87 exactly 0
 *   tn_sin      0.8      tn_cos  0.8      over the whole range of f32
 *   tn_tan      1.0      over the whole range
 *   tn_erf      1.1      tn_expm1 1.6     tn_log1p 0.9
 *   tn_pow      1.0      (0.87 among some 10^7 arguments)
 *   tn_fmod, tn_round, tn_floor, tn_ceil are exact.
 *
 * The coefficients come from build-aux/fit_kernel_math.py.
 */
#ifndef TENON_KERNEL_MATH_H
#define TENON_KERNEL_MATH_H

#include <tenon/kernel_lang.h>

#if defined(TN_ON_CPU) && defined(__cplusplus)
extern "C" {
#endif

/* (e^r - 1 - r) / r^2 for |r| <= ln(2)/2 */
TN_FUNCTION float tn_exp_series_(float r)
{
  float q = 0.0013821742f;
  q = tn_fma(q, r, 0.0083688572f);
  q = tn_fma(q, r, 0.0416682586f);
  q = tn_fma(q, r, 0.166665196f);
  return tn_fma(q, r, 0.49999994f);
}

TN_FUNCTION float tn_exp(float x)
{
  const float magic = 12582912.0f; /* 1.5 2^23: its last bit counts ones */
  x = x < -104.0f ? -104.0f : x;
  x = x > 89.0f ? 89.0f : x;
  float z = tn_fma(x, 1.44269502f, magic);
  float n = z - magic;
  /* x - n ln 2 in two parts; the first product and difference are exact. */
  float first = tn_fma(n, -0.693147182f, x);
  float r = tn_fma(n, 1.90465430e-9f, first);
  float rest = tn_fma(n, 1.90465430e-9f, first - r);
  float y = 1.0f + (r + tn_fma(r * r, tn_exp_series_(r), rest));
  /* Two factors, so that denormal results are rounded once. */
  int32 k = (int32)(tn_bits(z) - tn_bits(magic));
  int32 k1 = k >> 1;
  y *= tn_from_bits((uint32)(k1 + 127) << 23);
  return y * tn_from_bits((uint32)(k - k1 + 127) << 23);
}

TN_FUNCTION float tn_exp_neg(float x)
{
  const float magic = 12583039.0f; /* as above plus the exponent's bias */
  float z = tn_fma(x, 1.44269502f, magic);
  float n = z - magic;
  float r = tn_fma(n, -0.693147182f, x);
  r = tn_fma(n, 1.90465430e-9f, r);
  float y = 1.0f + tn_fma(r * r, tn_exp_series_(r), r);
  y *= tn_from_bits(tn_bits(z) << 23);
  return x < -87.0f ? 0.0f : y;
}

/* (log(1 + f) - f + f^2 / 2) / f^3 for sqrt(1/2) <= 1 + f < sqrt(2) */
TN_FUNCTION float tn_log_series_(float f)
{
  float p = 0.0674959421f;
  p = tn_fma(p, f, -0.116702095f);
  p = tn_fma(p, f, 0.118834674f);
  p = tn_fma(p, f, -0.124062061f);
  p = tn_fma(p, f, 0.142203629f);
  p = tn_fma(p, f, -0.166679904f);
  p = tn_fma(p, f, 0.200020716f);
  p = tn_fma(p, f, -0.250000089f);
  return tn_fma(p, f, 0.333333135f);
}

TN_FUNCTION float tn_log(float x)
{
  const uint32 low = 0x3f3504f3u; /* sqrt(1/2): m is in [low, 2 low) */
  int32 small = x < 1.17549435e-38f;
  uint32 b = tn_bits(small ? x * 8388608.0f : x) - low;
  float k = (float)(((int32)b >> 23) - (small ? 23 : 0));
  float f = tn_from_bits((b & 0x7fffffu) + low) - 1.0f;
  float s = f * f;
  float y = tn_fma(f * s, tn_log_series_(f), -0.5f * s);
  y = tn_fma(k, -1.90465430e-9f, y) + f;
  y = tn_fma(k, 0.693147182f, y);
  y = x > 3.40282347e+38f ? x : y;
  y = x == 0.0f ? tn_from_bits(0xff800000u) : y;
  return x >= 0.0f ? y : tn_from_bits(0x7fc00000u);
}

/* The magnitude of x with the sign of y. */
TN_FUNCTION float tn_with_sign(float x, float y)
{
  return tn_from_bits((tn_bits(x) & 0x7fffffffu) |
                      (tn_bits(y) & 0x80000000u));
}

/* To the nearest integer, ties to even. */
TN_FUNCTION float tn_round(float x)
{
  const float ones = 8388608.0f; /* 2^23: from here on all are integers */
  float a = tn_abs(x);
  float y = (a + ones) - ones;
  return tn_with_sign(a < ones ? y : a, x);
}

TN_FUNCTION float tn_floor(float x)
{
  float y = tn_round(x);
  return y > x ? y - 1.0f : y;
}

TN_FUNCTION float tn_ceil(float x)
{
  return -tn_floor(-x);
}

/* What is left of a after taking b away as often as it goes, with the sign
 * of a: exact. By long division, 40 binary digits a step. */
TN_FUNCTION float tn_fmod(float a, float b)
{
  const uint32 x = tn_bits(a) & 0x7fffffffu, y = tn_bits(b) & 0x7fffffffu;
  if (x >= 0x7f800000u || y > 0x7f800000u || y == 0u)
    return tn_from_bits(0x7fc00000u);
  if (x < y)
    return a;
  const uint32 x_power = x >> 23 ? x >> 23 : 1u;
  const uint32 y_power = y >> 23 ? y >> 23 : 1u;
  const uint32 divisor = (y & 0x7fffffu) | (y >> 23 ? 0x800000u : 0u);
  uint32 rest = ((x & 0x7fffffu) | (x >> 23 ? 0x800000u : 0u)) % divisor;
  for (uint32 left = x_power - y_power; left && rest;) {
    uint32 step = left < 40u ? left : 40u;
    rest = (uint32)(((uint64)rest << step) % divisor);
    left -= step;
  }
  float unit = y_power > 23u ? tn_from_bits((y_power - 23u) << 23)
                             : tn_from_bits(1u << (y_power - 1u));
  return tn_with_sign((float)(int32)rest * unit, a);
}

TN_FUNCTION float tn_expm1(float given)
{
  const float magic = 12582912.0f;
  float x = given < -50.0f ? -50.0f : given;
  x = x > 89.0f ? 89.0f : x;
  float z = tn_fma(x, 1.44269502f, magic);
  float n = z - magic;
  float first = tn_fma(n, -0.693147182f, x);
  float r = tn_fma(n, 1.90465430e-9f, first);
  float rest = tn_fma(n, 1.90465430e-9f, first - r);
  float y = r + tn_fma(r * r, tn_exp_series_(r), rest);
  /* y 2^n + 2^n - 1, by halves: 2^128 is too much. */
  float unit = tn_from_bits((tn_bits(z) - tn_bits(magic) + 126u) << 23);
  float sum = tn_fma(y, unit, unit - 0.5f);
  y = n == 0.0f ? y : sum + sum;
  return given == 0.0f ? given : y;
}

TN_FUNCTION float tn_log1p(float x)
{
  const uint32 low = 0x3f3504f3u; /* as in tn_log */
  float u = 1.0f + x;
  float t = u - 1.0f;
  float lost = (x - t) + (1.0f - (u - t)); /* u + lost = 1 + x */
  uint32 b = tn_bits(u) - low;
  float k = (float)((int32)b >> 23);
  float f = tn_from_bits((b & 0x7fffffu) + low) - 1.0f;
  f = k == 0.0f ? x : f;
  lost = k == 0.0f ? 0.0f : lost;
  float s = f * f;
  float y = tn_fma(f * s, tn_log_series_(f), -0.5f * s);
  y = (tn_fma(k, -1.90465430e-9f, y) + lost / u) + f;
  y = tn_fma(k, 0.693147182f, y);
  y = x > 3.40282347e+38f ? x : y;
  y = x == -1.0f ? tn_from_bits(0xff800000u) : y;
  y = x == 0.0f ? x : y;
  return x >= -1.0f ? y : tn_from_bits(0x7fc00000u);
}

TN_FUNCTION float tn_tanh(float x)
{
  float a = tn_abs(x);
  float e = tn_exp_neg(-2.0f * a);
  float large = 1.0f - (e + e) / (1.0f + e);
  float z = x * x;
  float p = -0.00569802988f;
  p = tn_fma(p, z, 0.020632321f);
  p = tn_fma(p, z, -0.0537374355f);
  p = tn_fma(p, z, 0.133314118f);
  p = tn_fma(p, z, -0.333332807f);
  float small = tn_fma(x * z, p, x);
  return tn_with_sign(a < 0.625f ? small : large, x);
}

TN_FUNCTION float tn_erf(float x)
{
  float a = tn_abs(x);
  float t = a > 4.0f ? 4.0f : a;
  float q = -2.17089037e-05f;
  q = tn_fma(q, t, 0.00044160636f);
  q = tn_fma(q, t, -0.00420596311f);
  q = tn_fma(q, t, 0.0252122451f);
  q = tn_fma(q, t, -0.108425289f);
  q = tn_fma(q, t, -0.633213222f);
  q = tn_fma(q, t, -1.12958205f);
  q = tn_fma(q, t, 0.000188869555f);
  float large = 1.0f - tn_exp_neg(q); /* q = log(erfc(t)) */
  float z = x * x;
  float p = -2.1721246e-06f;
  p = tn_fma(p, z, 8.62349116e-05f);
  p = tn_fma(p, z, -0.000811763457f);
  p = tn_fma(p, z, 0.00519579649f);
  p = tn_fma(p, z, -0.0268564951f);
  p = tn_fma(p, z, 0.112836316f);
  p = tn_fma(p, z, -0.376126289f);
  p = tn_fma(p, z, 0.128379166f);
  float small = tn_fma(x, p, x);
  large = x < 0.0f ? -large : large;
  return a < 1.0f ? small : large;
}

/* An angle: high + low + quadrant pi/2, |high| <= pi/4 (or a little more),
 * low being what does not fit in high. */
typedef struct tn_angle_ {
  float high, low;
  uint32 quadrant;
} tn_angle_;

/* From turns: an angle of fraction 2^-64 turns. */
TN_FUNCTION tn_angle_ tn_angle_of_turns_(uint64 fraction)
{
  const float scale = 3.4061216748705226e-19f; /* pi/2 2^-62 */
  const float rest = -9.47839680e-27f;          /* what scale lacks */
  tn_angle_ angle;
  /* The nearest quadrant, and what is left in units of 2^-62 quadrants. */
  angle.quadrant = (uint32)((fraction + 0x2000000000000000u) >> 62);
  int64 left = (int64)(fraction << 2) >> 2;
  /* Its value as a sum of two floats, from conversions of 32 bits. */
  int32 top = (int32)(left >> 32);
  float a = (float)top;
  float b = (float)(top - (int32)a) * 4294967296.0f;
  a *= 4294967296.0f;
  uint32 bottom = (uint32)left;
  b += (float)(int32)(bottom >> 1) * 2.0f;
  float sum = a + b;
  b -= sum - a;
  angle.high = sum * scale;
  angle.low = tn_fma(sum, scale, -angle.high);
  angle.low = tn_fma(sum, rest, angle.low);
  angle.low = tn_fma(b, scale, angle.low);
  return angle;
}

/* The binary digits of 2/pi that matter for x = m 2^(e - 150), m of 24 bits,
 * e = 126, ..., 254: three words of weights 2^63 ... 2^-32 when the product
 * is to be in units of 2^-62 quadrants. */
TN_TABLE(uint32, tn_two_over_pi_, 387) = {
  0x00000028u, 0xbe60db93u, 0x91054a7fu, 0x00000051u, 0x7cc1b727u, 0x220a94feu,
  0x000000a2u, 0xf9836e4eu, 0x441529fcu, 0x00000145u, 0xf306dc9cu, 0x882a53f8u,
  0x0000028bu, 0xe60db939u, 0x1054a7f0u, 0x00000517u, 0xcc1b7272u, 0x20a94fe1u,
  0x00000a2fu, 0x9836e4e4u, 0x41529fc2u, 0x0000145fu, 0x306dc9c8u, 0x82a53f84u,
  0x000028beu, 0x60db9391u, 0x054a7f09u, 0x0000517cu, 0xc1b72722u, 0x0a94fe13u,
  0x0000a2f9u, 0x836e4e44u, 0x1529fc27u, 0x000145f3u, 0x06dc9c88u, 0x2a53f84eu,
  0x00028be6u, 0x0db93910u, 0x54a7f09du, 0x000517ccu, 0x1b727220u, 0xa94fe13au,
  0x000a2f98u, 0x36e4e441u, 0x529fc275u, 0x00145f30u, 0x6dc9c882u, 0xa53f84eau,
  0x0028be60u, 0xdb939105u, 0x4a7f09d5u, 0x00517cc1u, 0xb727220au, 0x94fe13abu,
  0x00a2f983u, 0x6e4e4415u, 0x29fc2757u, 0x0145f306u, 0xdc9c882au, 0x53f84eafu,
  0x028be60du, 0xb9391054u, 0xa7f09d5fu, 0x0517cc1bu, 0x727220a9u, 0x4fe13abeu,
  0x0a2f9836u, 0xe4e44152u, 0x9fc2757du, 0x145f306du, 0xc9c882a5u, 0x3f84eafau,
  0x28be60dbu, 0x9391054au, 0x7f09d5f4u, 0x517cc1b7u, 0x27220a94u, 0xfe13abe8u,
  0xa2f9836eu, 0x4e441529u, 0xfc2757d1u, 0x45f306dcu, 0x9c882a53u, 0xf84eafa3u,
  0x8be60db9u, 0x391054a7u, 0xf09d5f47u, 0x17cc1b72u, 0x7220a94fu, 0xe13abe8fu,
  0x2f9836e4u, 0xe441529fu, 0xc2757d1fu, 0x5f306dc9u, 0xc882a53fu, 0x84eafa3eu,
  0xbe60db93u, 0x91054a7fu, 0x09d5f47du, 0x7cc1b727u, 0x220a94feu, 0x13abe8fau,
  0xf9836e4eu, 0x441529fcu, 0x2757d1f5u, 0xf306dc9cu, 0x882a53f8u, 0x4eafa3eau,
  0xe60db939u, 0x1054a7f0u, 0x9d5f47d4u, 0xcc1b7272u, 0x20a94fe1u, 0x3abe8fa9u,
  0x9836e4e4u, 0x41529fc2u, 0x757d1f53u, 0x306dc9c8u, 0x82a53f84u, 0xeafa3ea6u,
  0x60db9391u, 0x054a7f09u, 0xd5f47d4du, 0xc1b72722u, 0x0a94fe13u, 0xabe8fa9au,
  0x836e4e44u, 0x1529fc27u, 0x57d1f534u, 0x06dc9c88u, 0x2a53f84eu, 0xafa3ea69u,
  0x0db93910u, 0x54a7f09du, 0x5f47d4d3u, 0x1b727220u, 0xa94fe13au, 0xbe8fa9a6u,
  0x36e4e441u, 0x529fc275u, 0x7d1f534du, 0x6dc9c882u, 0xa53f84eau, 0xfa3ea69bu,
  0xdb939105u, 0x4a7f09d5u, 0xf47d4d37u, 0xb727220au, 0x94fe13abu, 0xe8fa9a6eu,
  0x6e4e4415u, 0x29fc2757u, 0xd1f534ddu, 0xdc9c882au, 0x53f84eafu, 0xa3ea69bbu,
  0xb9391054u, 0xa7f09d5fu, 0x47d4d377u, 0x727220a9u, 0x4fe13abeu, 0x8fa9a6eeu,
  0xe4e44152u, 0x9fc2757du, 0x1f534ddcu, 0xc9c882a5u, 0x3f84eafau, 0x3ea69bb8u,
  0x9391054au, 0x7f09d5f4u, 0x7d4d3770u, 0x27220a94u, 0xfe13abe8u, 0xfa9a6ee0u,
  0x4e441529u, 0xfc2757d1u, 0xf534ddc0u, 0x9c882a53u, 0xf84eafa3u, 0xea69bb81u,
  0x391054a7u, 0xf09d5f47u, 0xd4d37703u, 0x7220a94fu, 0xe13abe8fu, 0xa9a6ee06u,
  0xe441529fu, 0xc2757d1fu, 0x534ddc0du, 0xc882a53fu, 0x84eafa3eu, 0xa69bb81bu,
  0x91054a7fu, 0x09d5f47du, 0x4d377036u, 0x220a94feu, 0x13abe8fau, 0x9a6ee06du,
  0x441529fcu, 0x2757d1f5u, 0x34ddc0dbu, 0x882a53f8u, 0x4eafa3eau, 0x69bb81b6u,
  0x1054a7f0u, 0x9d5f47d4u, 0xd377036du, 0x20a94fe1u, 0x3abe8fa9u, 0xa6ee06dbu,
  0x41529fc2u, 0x757d1f53u, 0x4ddc0db6u, 0x82a53f84u, 0xeafa3ea6u, 0x9bb81b6cu,
  0x054a7f09u, 0xd5f47d4du, 0x377036d8u, 0x0a94fe13u, 0xabe8fa9au, 0x6ee06db1u,
  0x1529fc27u, 0x57d1f534u, 0xddc0db62u, 0x2a53f84eu, 0xafa3ea69u, 0xbb81b6c5u,
  0x54a7f09du, 0x5f47d4d3u, 0x77036d8au, 0xa94fe13au, 0xbe8fa9a6u, 0xee06db14u,
  0x529fc275u, 0x7d1f534du, 0xdc0db629u, 0xa53f84eau, 0xfa3ea69bu, 0xb81b6c52u,
  0x4a7f09d5u, 0xf47d4d37u, 0x7036d8a5u, 0x94fe13abu, 0xe8fa9a6eu, 0xe06db14au,
  0x29fc2757u, 0xd1f534ddu, 0xc0db6295u, 0x53f84eafu, 0xa3ea69bbu, 0x81b6c52bu,
  0xa7f09d5fu, 0x47d4d377u, 0x036d8a56u, 0x4fe13abeu, 0x8fa9a6eeu, 0x06db14acu,
  0x9fc2757du, 0x1f534ddcu, 0x0db62959u, 0x3f84eafau, 0x3ea69bb8u, 0x1b6c52b3u,
  0x7f09d5f4u, 0x7d4d3770u, 0x36d8a566u, 0xfe13abe8u, 0xfa9a6ee0u, 0x6db14accu,
  0xfc2757d1u, 0xf534ddc0u, 0xdb629599u, 0xf84eafa3u, 0xea69bb81u, 0xb6c52b32u,
  0xf09d5f47u, 0xd4d37703u, 0x6d8a5664u, 0xe13abe8fu, 0xa9a6ee06u, 0xdb14acc9u,
  0xc2757d1fu, 0x534ddc0du, 0xb6295993u, 0x84eafa3eu, 0xa69bb81bu, 0x6c52b327u,
  0x09d5f47du, 0x4d377036u, 0xd8a5664fu, 0x13abe8fau, 0x9a6ee06du, 0xb14acc9eu,
  0x2757d1f5u, 0x34ddc0dbu, 0x6295993cu, 0x4eafa3eau, 0x69bb81b6u, 0xc52b3278u,
  0x9d5f47d4u, 0xd377036du, 0x8a5664f1u, 0x3abe8fa9u, 0xa6ee06dbu, 0x14acc9e2u,
  0x757d1f53u, 0x4ddc0db6u, 0x295993c4u, 0xeafa3ea6u, 0x9bb81b6cu, 0x52b32788u,
  0xd5f47d4du, 0x377036d8u, 0xa5664f10u, 0xabe8fa9au, 0x6ee06db1u, 0x4acc9e21u,
  0x57d1f534u, 0xddc0db62u, 0x95993c43u, 0xafa3ea69u, 0xbb81b6c5u, 0x2b327887u,
  0x5f47d4d3u, 0x77036d8au, 0x5664f10eu, 0xbe8fa9a6u, 0xee06db14u, 0xacc9e21cu,
  0x7d1f534du, 0xdc0db629u, 0x5993c439u, 0xfa3ea69bu, 0xb81b6c52u, 0xb3278872u,
  0xf47d4d37u, 0x7036d8a5u, 0x664f10e4u, 0xe8fa9a6eu, 0xe06db14au, 0xcc9e21c8u,
  0xd1f534ddu, 0xc0db6295u, 0x993c4390u, 0xa3ea69bbu, 0x81b6c52bu, 0x32788720u,
  0x47d4d377u, 0x036d8a56u, 0x64f10e41u, 0x8fa9a6eeu, 0x06db14acu, 0xc9e21c82u,
  0x1f534ddcu, 0x0db62959u, 0x93c43904u, 0x3ea69bb8u, 0x1b6c52b3u, 0x27887208u,
  0x7d4d3770u, 0x36d8a566u, 0x4f10e410u, 0xfa9a6ee0u, 0x6db14accu, 0x9e21c820u,
  0xf534ddc0u, 0xdb629599u, 0x3c439041u, 0xea69bb81u, 0xb6c52b32u, 0x78872083u,
  0xd4d37703u, 0x6d8a5664u, 0xf10e4107u, 0xa9a6ee06u, 0xdb14acc9u, 0xe21c820fu,
  0x534ddc0du, 0xb6295993u, 0xc439041fu, 0xa69bb81bu, 0x6c52b327u, 0x8872083fu,
  0x4d377036u, 0xd8a5664fu, 0x10e4107fu,
};

/* The angle of a >= 0, by integer multiplication with 2/pi (Payne and
 * Hanek), which is as good for 1e38 as for 1. */
TN_FUNCTION tn_angle_ tn_angle_of_(float a)
{
  uint32 b = tn_bits(a);
  int32 at = (int32)(b >> 23) - 126;
  at = at < 0 ? 0 : at;
  at = at > 128 ? 128 : at;
  uint32 m = (b & 0x7fffffu) | 0x800000u;
  uint64 turns = (uint64)(m * tn_two_over_pi_[3 * at]) << 32;
  turns += (uint64)m * tn_two_over_pi_[3 * at + 1];
  turns += ((uint64)m * tn_two_over_pi_[3 * at + 2]) >> 32;
  tn_angle_ angle = tn_angle_of_turns_(turns);
  int32 small = a < 0.785398126f;
  angle.high = small ? a : angle.high;
  angle.low = small ? 0.0f : angle.low;
  angle.quadrant = small ? 0u : angle.quadrant;
  return angle;
}

/* A number as a sum: low is what does not fit in high. */
typedef struct tn_two_ {
  float high, low;
} tn_two_;

/* high + low for |low| <= |high|. */
TN_FUNCTION tn_two_ tn_two_of_(float high, float low)
{
  tn_two_ two;
  two.high = high + low;
  two.low = low - (two.high - high);
  return two;
}

TN_FUNCTION tn_two_ tn_sin_two_(tn_angle_ angle)
{
  float r = angle.high;
  float z = r * r;
  float p = -0.000195179091f;
  p = tn_fma(p, z, 0.00833218731f);
  p = tn_fma(p, z, -0.166666552f);
  float low = tn_fma(-0.5f * z, angle.low, angle.low);
  return tn_two_of_(r, tn_fma(r * z, p, low));
}

TN_FUNCTION tn_two_ tn_cos_two_(tn_angle_ angle)
{
  float r = angle.high;
  float z = r * r;
  float p = 2.44323383e-05f;
  p = tn_fma(p, z, -0.00138873095f);
  p = tn_fma(p, z, 0.0416666456f);
  float h = 0.5f * z;
  float w = 1.0f - h;
  float lost = tn_fma(r, angle.low, 0.5f * tn_fma(r, r, -z));
  return tn_two_of_(w, ((1.0f - w) - h) + tn_fma(z * z, p, -lost));
}

/* The sine of an angle that is further quadrants ahead. */
TN_FUNCTION float tn_sin_ahead_(tn_angle_ angle, uint32 further)
{
  float s = tn_sin_two_(angle).high;
  float c = tn_cos_two_(angle).high;
  uint32 quadrant = angle.quadrant + further;
  float y = quadrant & 1u ? c : s;
  return quadrant & 2u ? -y : y;
}

TN_FUNCTION float tn_sin(float x)
{
  float a = tn_abs(x);
  float y = tn_sin_ahead_(tn_angle_of_(a), 0u);
  y = tn_bits(x) >> 31 ? -y : y;
  return a <= 3.40282347e+38f ? y : a - a;
}

TN_FUNCTION float tn_cos(float x)
{
  float a = tn_abs(x);
  float y = tn_sin_ahead_(tn_angle_of_(a), 1u);
  return a <= 3.40282347e+38f ? y : a - a;
}

TN_FUNCTION float tn_tan(float x)
{
  float a = tn_abs(x);
  tn_angle_ angle = tn_angle_of_(a);
  tn_two_ s = tn_sin_two_(angle), c = tn_cos_two_(angle);
  int32 turned = (angle.quadrant & 1u) != 0u;
  float top = turned ? c.high : s.high;
  float top_low = turned ? c.low : s.low;
  float bottom = turned ? -s.high : c.high;
  float bottom_low = turned ? -s.low : c.low;
  float y = top / bottom;
  float left = tn_fma(-y, bottom, top) + tn_fma(-y, bottom_low, top_low);
  y = y + left / bottom;
  y = tn_bits(x) >> 31 ? -y : y;
  return a <= 3.40282347e+38f ? y : a - a;
}

/* log(a) for a > 0, finite. With s = (m - 1) / (m + 1),
 * log(m) = 2 s + s (2/3 z + z^2 A(z)), z = s^2; what comes before A in twos. */
TN_FUNCTION tn_two_ tn_log_two_(float a)
{
  const uint32 low = 0x3f3504f3u;
  int32 small = a < 1.17549435e-38f;
  uint32 b = tn_bits(small ? a * 8388608.0f : a) - low;
  float k = (float)(((int32)b >> 23) - (small ? 23 : 0));
  float m = tn_from_bits((b & 0x7fffffu) + low);
  float f = m - 1.0f;
  tn_two_ t = tn_two_of_(1.0f, m); /* exact, though m may be above 1 */
  float s = f / t.high;
  float s_low = (tn_fma(-s, t.high, f) - s * t.low) / t.high;
  float z = s * s;
  float z_low = tn_fma(s, s, -z) + (s + s) * s_low;
  float p = 0.230490029f;
  p = tn_fma(p, z, 0.28562218f);
  p = tn_fma(p, z, 0.400000155f);
  float q = 0.666666687f * z;
  float q_low = tn_fma(0.666666687f, z, -q);
  q_low = q_low + tn_fma(0.666666687f, z_low, -1.98682151e-08f * z);
  tn_two_ w = tn_two_of_(q, tn_fma(z * z, p, q_low));
  float v = s * w.high;
  float v_low = tn_fma(s, w.high, -v) + tn_fma(s, w.low, s_low * w.high);
  tn_two_ y = tn_two_of_(s + s, v);
  y.low = y.low + tn_fma(2.0f, s_low, v_low);
  /* k times 0.693145752 is exact. */
  tn_two_ sum = tn_two_of_(k * 0.693145752f, y.high);
  return tn_two_of_(sum.high,
                    sum.low + tn_fma(k, 1.42860677e-06f, y.low));
}

/* e to the power of a sum, |high| <= 110. */
TN_FUNCTION float tn_exp_of_two_(tn_two_ x)
{
  const float magic = 12582912.0f;
  float z = tn_fma(x.high, 1.44269502f, magic);
  float n = z - magic;
  float first = tn_fma(n, -0.693147182f, x.high);
  float r = tn_fma(n, 1.90465430e-9f, first);
  float rest = tn_fma(n, 1.90465430e-9f, first - r) + x.low;
  tn_two_ sum = tn_two_of_(r, rest);
  r = sum.high;
  float y = 1.0f + (r + tn_fma(r * r, tn_exp_series_(r), sum.low));
  int32 k = (int32)(tn_bits(z) - tn_bits(magic));
  int32 k1 = k >> 1;
  y *= tn_from_bits((uint32)(k1 + 127) << 23);
  return y * tn_from_bits((uint32)(k - k1 + 127) << 23);
}

/* a^y for a >= 0 where neither is a NaN and y is not 0. */
TN_FUNCTION float tn_pow_positive_(float a, float y)
{
  const float infinity = tn_from_bits(0x7f800000u);
  int32 ordinary = a > 0.0f && a < infinity;
  tn_two_ log = tn_log_two_(ordinary ? a : 1.0f);
  tn_two_ x;
  x.high = y * log.high;
  x.low = tn_fma(y, log.high, -x.high) + y * log.low;
  int32 far = !(tn_abs(x.high) < 110.0f);
  x.low = far ? 0.0f : x.low;
  x.high = far ? (x.high < 0.0f ? -110.0f : 110.0f) : x.high;
  float result = tn_exp_of_two_(x);
  result = a == 1.0f ? 1.0f : result;
  return ordinary ? result : ((a > 0.0f) == (y > 0.0f) ? infinity : 0.0f);
}

/* As in annex F of the C standard. */
TN_FUNCTION float tn_pow(float x, float y)
{
  float whole = tn_round(y);
  int32 integer = whole == y;
  int32 odd = integer && tn_abs(y) < 16777216.0f &&
              ((int32)(tn_abs(y) < 16777216.0f ? whole : 0.0f) & 1);
  float result = tn_pow_positive_(tn_abs(x), y);
  result = tn_bits(x) >> 31 && odd ? -result : result;
  int32 none = x < 0.0f && !integer && tn_abs(x) <= 3.40282347e+38f &&
               tn_abs(y) <= 3.40282347e+38f;
  none = none || x != x || y != y;
  result = none ? tn_from_bits(0x7fc00000u) : result;
  return y == 0.0f || x == 1.0f ? 1.0f : result;
}

/* Random numbers: Philox 4x32 with 10 rounds (Salmon et al., 2011).  Block c
 * of the stream of a seed is four words; counter's upper half is zero. */
typedef struct tn_words_ {
  uint32 w0, w1, w2, w3;
} tn_words_;

TN_FUNCTION tn_words_ tn_philox(uint64 seed, uint64 counter)
{
  tn_words_ c = { (uint32)counter, (uint32)(counter >> 32), 0, 0 };
  uint32 k0 = (uint32)seed, k1 = (uint32)(seed >> 32);
  TN_UNROLL
  for (int32 round = 0; round < 10; round++) {
    uint32 high0 = tn_mul_high(0xd2511f53u, c.w0);
    uint32 low0 = 0xd2511f53u * c.w0;
    uint32 high1 = tn_mul_high(0xcd9e8d57u, c.w2);
    uint32 low1 = 0xcd9e8d57u * c.w2;
    c.w0 = high1 ^ c.w1 ^ k0;
    c.w1 = low1;
    c.w2 = high0 ^ c.w3 ^ k1;
    c.w3 = low0;
    k0 += 0x9e3779b9u;
    k1 += 0xbb67ae85u;
  }
  return c;
}

/* In [0, 1): a multiple of 2^-24. */
TN_FUNCTION float tn_uniform(uint32 word)
{
  return (float)(int32)(word >> 8) * 5.9604644775390625e-8f;
}

/* Two independent normal numbers from two words (Box and Muller):
 * radius times cosine, radius times sine. */
typedef struct tn_pair_ {
  float first, second;
} tn_pair_;

TN_FUNCTION tn_pair_ tn_normal_pair(uint32 a, uint32 b)
{
  float u = (float)(int32)((a >> 8) + 1u) * 5.9604644775390625e-8f;
  float radius = tn_sqrt(-2.0f * tn_log(u));
  tn_angle_ angle = tn_angle_of_turns_((uint64)b << 32);
  tn_pair_ pair;
  pair.first = radius * tn_sin_ahead_(angle, 1u);
  pair.second = radius * tn_sin_ahead_(angle, 0u);
  return pair;
}

#if defined(TN_ON_CPU) && defined(__cplusplus)
}
#endif

#endif
