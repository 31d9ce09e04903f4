/* Elementary functions of the portable kernel language, in f64: see
 * kernel_math.h for f32. For modules that are built only where there is f64.
 *
 * The same on every device, to the bit. Largest errors found, in units in the
 * last place, among some 10^7 arguments (tests/kernels/math_f64.c):
 *
 *   tn_exp_f64   0.9     tn_log_f64   0.9     tn_expm1_f64 1.6
 *   tn_log1p_f64 0.9     tn_tanh_f64  1.5     tn_erf_f64   1.0
 *   tn_sin_f64   0.9     tn_cos_f64   0.9     tn_tan_f64   1.0
 *   tn_pow_f64   1.0
 *   tn_fmod_f64, tn_round_f64, tn_floor_f64, tn_ceil_f64 are exact.
 *
 * The coefficients come from build-aux/fit_kernel_math_f64.py.
 */
#ifndef TENON_KERNEL_MATH_F64_H
#define TENON_KERNEL_MATH_F64_H

#include <tenon/kernel_lang.h>

#if defined(TN_ON_CPU) && defined(__cplusplus)
extern "C" {
#endif

#define TN_NAN_F64_ tn_from_bits_f64(0x7ff8000000000000u)
#define TN_INFINITY_F64_ tn_from_bits_f64(0x7ff0000000000000u)
#define TN_GREATEST_F64_ 1.7976931348623157e+308

/* (e^r - 1 - r) / r^2 for |r| <= ln(2)/2 */
TN_FUNCTION double tn_exp_series_f64_(double r)
{
  double p = 2.0915218877135749e-09;
  p = tn_fma_f64(p, r, 2.5105531238467167e-08);
  p = tn_fma_f64(p, r, 2.7557272266210231e-07);
  p = tn_fma_f64(p, r, 2.7557254642964194e-06);
  p = tn_fma_f64(p, r, 2.4801587326761239e-05);
  p = tn_fma_f64(p, r, 0.00019841269875419388);
  p = tn_fma_f64(p, r, 0.001388888888888333);
  p = tn_fma_f64(p, r, 0.0083333333333259641);
  p = tn_fma_f64(p, r, 0.041666666666666671);
  p = tn_fma_f64(p, r, 0.16666666666666671);
  return tn_fma_f64(p, r, 0.5);
}

/* 2^k for -1022 <= k <= 1023 */
TN_FUNCTION double tn_power_of_two_f64_(int32 k)
{
  return tn_from_bits_f64((uint64)(uint32)(k + 1023) << 52);
}

TN_FUNCTION double tn_exp_f64(double x)
{
  const double magic = 6755399441055744.0; /* 1.5 2^52 */
  x = x < -746.0 ? -746.0 : x;
  x = x > 710.0 ? 710.0 : x;
  double z = tn_fma_f64(x, 1.4426950408889634, magic);
  double n = z - magic;
  double first = tn_fma_f64(n, -0.6931471805599453, x);
  double r = tn_fma_f64(n, -2.3190468138462996e-17, first);
  double rest = tn_fma_f64(n, -2.3190468138462996e-17, first - r);
  double y = 1.0 + (r + tn_fma_f64(r * r, tn_exp_series_f64_(r), rest));
  int32 k = (int32)(uint32)tn_bits_f64(z);
  int32 k1 = k >> 1;
  return y * tn_power_of_two_f64_(k1) * tn_power_of_two_f64_(k - k1);
}

/* For x <= 0: in f64 no faster than any other. */
TN_FUNCTION double tn_exp_neg_f64(double x)
{
  return tn_exp_f64(x);
}

/* (2 atanh(s) / s - 2) / s^2, z = s^2,
 * for sqrt(1/2) <= (1 + s) / (1 - s) < sqrt(2) */
TN_FUNCTION double tn_log_series_f64_(double z)
{
  double p = 0.14617807198921109;
  p = tn_fma_f64(p, z, 0.153316117176995);
  p = tn_fma_f64(p, z, 0.18182892432697201);
  p = tn_fma_f64(p, z, 0.22222211089376664);
  p = tn_fma_f64(p, z, 0.28571428626253864);
  p = tn_fma_f64(p, z, 0.39999999999898889);
  return tn_fma_f64(p, z, 0.66666666666666696);
}

/* m 2^k = a, sqrt(1/2) <= m < sqrt(2), for a > 0, finite. */
typedef struct tn_split_f64_ {
  double m, k;
} tn_split_f64_;

TN_FUNCTION tn_split_f64_ tn_split_of_f64_(double a)
{
  const uint64 low = 0x3fe6a09e667f3bcdu; /* sqrt(1/2) */
  tn_split_f64_ split;
  int32 small = a < 2.2250738585072014e-308;
  uint64 b = tn_bits_f64(small ? a * 18014398509481984.0 : a) - low;
  int32 top = (int32)(uint32)(b >> 32);
  split.k = (double)((top >> 20) - (small ? 54 : 0));
  split.m = tn_from_bits_f64((b & 0xfffffffffffffu) + low);
  return split;
}

/* log(2^k (1 + f)), and lost besides. */
TN_FUNCTION double tn_log_of_parts_f64_(double k, double f, double lost)
{
  double square = 0.5 * (f * f);
  double s = f / (2.0 + f);
  double z = s * s;
  double y = tn_fma_f64(s, tn_fma_f64(z, tn_log_series_f64_(z), square),
                        tn_fma_f64(k, 2.3190468138462996e-17, lost));
  return tn_fma_f64(k, 0.6931471805599453, f - (square - y));
}

TN_FUNCTION double tn_log_f64(double x)
{
  tn_split_f64_ split = tn_split_of_f64_(x);
  double y = tn_log_of_parts_f64_(split.k, split.m - 1.0, 0.0);
  y = x > TN_GREATEST_F64_ ? x : y;
  y = x == 0.0 ? -TN_INFINITY_F64_ : y;
  return x >= 0.0 ? y : TN_NAN_F64_;
}

/* The magnitude of x with the sign of y. */
TN_FUNCTION double tn_with_sign_f64(double x, double y)
{
  return tn_from_bits_f64((tn_bits_f64(x) & 0x7fffffffffffffffu) |
                          (tn_bits_f64(y) & 0x8000000000000000u));
}

/* To the nearest integer, ties to even. */
TN_FUNCTION double tn_round_f64(double x)
{
  const double ones = 4503599627370496.0; /* 2^52 */
  double a = tn_abs_f64(x);
  double y = (a + ones) - ones;
  return tn_with_sign_f64(a < ones ? y : a, x);
}

TN_FUNCTION double tn_floor_f64(double x)
{
  double y = tn_round_f64(x);
  return y > x ? y - 1.0 : y;
}

TN_FUNCTION double tn_ceil_f64(double x)
{
  return -tn_floor_f64(-x);
}

/* As tn_fmod, 11 binary digits a step. */
TN_FUNCTION double tn_fmod_f64(double a, double b)
{
  const uint64 x = tn_bits_f64(a) & 0x7fffffffffffffffu;
  const uint64 y = tn_bits_f64(b) & 0x7fffffffffffffffu;
  const uint64 one = 0x10000000000000u;
  if (x >= 0x7ff0000000000000u || y > 0x7ff0000000000000u || y == 0u)
    return TN_NAN_F64_;
  if (x < y)
    return a;
  const uint32 x_power = x >> 52 ? (uint32)(x >> 52) : 1u;
  const uint32 y_power = y >> 52 ? (uint32)(y >> 52) : 1u;
  const uint64 divisor = (y & (one - 1u)) | (y >> 52 ? one : 0u);
  uint64 rest = ((x & (one - 1u)) | (x >> 52 ? one : 0u)) % divisor;
  for (uint32 left = x_power - y_power; left && rest;) {
    uint32 step = left < 11u ? left : 11u;
    rest = (rest << step) % divisor;
    left -= step;
  }
  double unit = tn_from_bits_f64(y_power > 52u
                                   ? (uint64)(y_power - 52u) << 52
                                   : (uint64)1u << (y_power - 1u));
  return tn_with_sign_f64((double)(int64)rest * unit, a);
}

TN_FUNCTION double tn_expm1_f64(double given)
{
  const double magic = 6755399441055744.0;
  double x = given < -50.0 ? -50.0 : given;
  x = x > 710.0 ? 710.0 : x;
  double z = tn_fma_f64(x, 1.4426950408889634, magic);
  double n = z - magic;
  double first = tn_fma_f64(n, -0.6931471805599453, x);
  double r = tn_fma_f64(n, -2.3190468138462996e-17, first);
  double rest = tn_fma_f64(n, -2.3190468138462996e-17, first - r);
  double y = r + tn_fma_f64(r * r, tn_exp_series_f64_(r), rest);
  /* y 2^n + 2^n - 1, by halves: 2^1024 is too much. */
  double unit = tn_power_of_two_f64_((int32)(uint32)tn_bits_f64(z) - 1);
  double sum = tn_fma_f64(y, unit, unit - 0.5);
  y = n == 0.0 ? y : sum + sum;
  return given == 0.0 ? given : y;
}

TN_FUNCTION double tn_log1p_f64(double x)
{
  double u = 1.0 + x;
  double t = u - 1.0;
  double lost = (x - t) + (1.0 - (u - t)); /* u + lost = 1 + x */
  tn_split_f64_ split = tn_split_of_f64_(u);
  int32 near = split.k == 0.0;
  double y = tn_log_of_parts_f64_(split.k, near ? x : split.m - 1.0,
                                  near ? 0.0 : lost / u);
  y = x > TN_GREATEST_F64_ ? x : y;
  y = x == -1.0 ? -TN_INFINITY_F64_ : y;
  y = x == 0.0 ? x : y;
  return x >= -1.0 ? y : TN_NAN_F64_;
}

/* (tanh(x) - x) / x^3, z = x^2, |x| < 0.625 */
TN_FUNCTION double tn_tanh_series_f64_(double z)
{
  double p = 6.4851634676022395e-06;
  p = tn_fma_f64(p, z, -3.1201101391622794e-05);
  p = tn_fma_f64(p, z, 9.2571161262135324e-05);
  p = tn_fma_f64(p, z, -0.00023759064958691012);
  p = tn_fma_f64(p, z, 0.00058966065776917332);
  p = tn_fma_f64(p, z, -0.0014557754120463136);
  p = tn_fma_f64(p, z, 0.0035921217511547389);
  p = tn_fma_f64(p, z, -0.0088632351032408557);
  p = tn_fma_f64(p, z, 0.021869488519008305);
  p = tn_fma_f64(p, z, -0.053968253967896992);
  p = tn_fma_f64(p, z, 0.13333333333333042);
  return tn_fma_f64(p, z, -0.33333333333333331);
}

TN_FUNCTION double tn_tanh_f64(double x)
{
  double a = tn_abs_f64(x);
  double e = tn_exp_f64(-2.0 * a);
  double large = 1.0 - (e + e) / (1.0 + e);
  double z = x * x;
  double small = tn_fma_f64(x * z, tn_tanh_series_f64_(z), x);
  return tn_with_sign_f64(a < 0.625 ? small : large, x);
}

/* erf(x) / x - 1, z = x^2, |x| < 1 */
TN_FUNCTION double tn_erf_series_f64_(double z)
{
  double p = -4.2309458222996191e-12;
  p = tn_fma_f64(p, z, 8.7090451277052205e-11);
  p = tn_fma_f64(p, z, -1.2164560056878832e-09);
  p = tn_fma_f64(p, z, 1.4792401209333676e-08);
  p = tn_fma_f64(p, z, -1.636464215815949e-07);
  p = tn_fma_f64(p, z, 1.6462045441467787e-06);
  p = tn_fma_f64(p, z, -1.4925647567519298e-05);
  p = tn_fma_f64(p, z, 0.00012055332902888734);
  p = tn_fma_f64(p, z, -0.00085483270219348297);
  p = tn_fma_f64(p, z, 0.0052239776254232985);
  p = tn_fma_f64(p, z, -0.02686617064512984);
  p = tn_fma_f64(p, z, 0.11283791670955121);
  p = tn_fma_f64(p, z, -0.37612638903183754);
  return tn_fma_f64(p, z, 0.12837916709551259);
}

/* log(1 - erf(t)) for 1 <= t <= 6 */
TN_FUNCTION double tn_log_erfc_f64_(double t)
{
  const int32 far = t >= 2.25;
  const double u = t - (far ? 2.25 : 1.0);
  double p = far ? -9.242656579931413e-14 : 1.7748283148269701e-10;
  p = tn_fma_f64(p, u, far ? 3.2435734420593287e-12 : -2.3854764846624626e-09);
  p = tn_fma_f64(p, u, far ? -5.2796635341590138e-11 : 1.504208793678136e-08);
  p = tn_fma_f64(p, u, far ? 5.271368426465566e-10 : -5.6218485267731067e-08);
  p = tn_fma_f64(p, u, far ? -3.5605031381771712e-09 : 1.1079639220388816e-07);
  p = tn_fma_f64(p, u, far ? 1.6341169322420535e-08 : 1.1897767169234061e-07);
  p = tn_fma_f64(p, u, far ? -4.029858438790326e-08 : -2.0308756230599035e-06);
  p = tn_fma_f64(p, u, far ? -1.0586974903119711e-07 : 9.5842473285365609e-06);
  p = tn_fma_f64(p, u, far ? 2.0887706447947617e-06 : -2.7144038618098892e-05);
  p = tn_fma_f64(p, u, far ? -1.6640046820739522e-05 : 2.6271290408641714e-05);
  p = tn_fma_f64(p, u, far ? 0.00010266125760492385 : 0.00023732450083426202);
  p = tn_fma_f64(p, u, far ? -0.00055485159040545714 : -0.0019779029887615255);
  p = tn_fma_f64(p, u, far ? 0.002771340059672717 : 0.01003382543096866);
  p = tn_fma_f64(p, u, far ? -0.01331254898947907 : -0.04156109804631631);
  p = tn_fma_f64(p, u, far ? -0.9348675668200177 : -0.84310725635849215);
  p = tn_fma_f64(p, u, far ? -4.8829138105468077 : -2.6389675142347913);
  p = tn_fma_f64(p, u, far ? -6.5274598963658033 : -1.8496055099332482);
  return p;
}

TN_FUNCTION double tn_erf_f64(double x)
{
  double a = tn_abs_f64(x);
  double t = a > 6.0 ? 6.0 : a;
  double large = 1.0 - tn_exp_f64(tn_log_erfc_f64_(t < 1.0 ? 1.0 : t));
  double small = tn_fma_f64(x, tn_erf_series_f64_(x * x), x);
  return a < 1.0 ? small : tn_with_sign_f64(large, x);
}

/* A number as a sum: low is what does not fit in high. */
typedef struct tn_two_f64_ {
  double high, low;
} tn_two_f64_;

/* high + low for |low| <= |high|. */
TN_FUNCTION tn_two_f64_ tn_two_of_f64_(double high, double low)
{
  tn_two_f64_ two;
  two.high = high + low;
  two.low = low - (two.high - high);
  return two;
}

/* An angle: high + low + quadrant pi/2, |high| <= pi/4 (or a little more). */
typedef struct tn_angle_f64_ {
  double high, low;
  uint32 quadrant;
} tn_angle_f64_;

/* From turns: an angle of fraction 2^-64 + more 2^-128 turns. */
TN_FUNCTION tn_angle_f64_ tn_angle_of_turns_f64_(uint64 fraction, uint64 more)
{
  const double scale = 3.4061215800865545e-19; /* pi/2 2^-62 */
  const double rest = 1.3277647201629795e-35;  /* what scale lacks */
  tn_angle_f64_ angle;
  angle.quadrant = (uint32)((fraction + 0x2000000000000000u) >> 62);
  int64 left = (int64)(fraction << 2) >> 2;
  double a = (double)left;
  double b = (double)(left - (int64)a);
  b += (double)(int64)(more >> 11) * 1.1102230246251565e-16;
  double sum = a + b;
  b -= sum - a;
  angle.high = sum * scale;
  angle.low = tn_fma_f64(sum, scale, -angle.high);
  angle.low = tn_fma_f64(sum, rest, angle.low);
  angle.low = tn_fma_f64(b, scale, angle.low);
  return angle;
}

/* 2/pi: 64 zeros, then its binary digits. */
TN_TABLE(uint64, tn_two_over_pi_f64_, 20) = {
  0x0000000000000000u, 0xa2f9836e4e441529u, 0xfc2757d1f534ddc0u,
  0xdb6295993c439041u, 0xfe5163abdebbc561u, 0xb7246e3a424dd2e0u,
  0x06492eea09d1921cu, 0xfe1deb1cb129a73eu, 0xe88235f52ebb4484u,
  0xe99c7026b45f7e41u, 0x3991d639835339f4u, 0x9c845f8bbdf9283bu,
  0x1ff897ffde05980fu, 0xef2f118b5a0a6d1fu, 0x6d367ecf27cb09b7u,
  0x4f463f669e5fea2du, 0x7527bac7ebe5f17bu, 0x3d0739f78a5292eau,
  0x6bfb5fb11f8d5d08u, 0x56033046fc7b6babu,
};

/* The angle of a >= 0, by integer multiplication with 2/pi (Payne and Hanek).
 * a = m 2^(e - 1075); of m times 192 digits the upper 128, modulo 2^128, are
 * the turns. */
TN_FUNCTION tn_angle_f64_ tn_angle_of_f64_(double a)
{
  uint64 b = tn_bits_f64(a);
  int32 first = (int32)(uint32)(b >> 52) - 1013;
  first = first < 0 ? 0 : first;
  first = first > 1033 ? 1033 : first;
  const int32 word = first >> 6, shift = first & 63;
  uint64 digits[3];
  for (int32 i = 0; i < 3; i++)
    digits[i] = tn_two_over_pi_f64_[word + i] << shift |
                tn_two_over_pi_f64_[word + i + 1] >> 1 >> (63 - shift);
  uint64 m = (b & 0xfffffffffffffu) | 0x10000000000000u;
  uint64 carry = tn_mul_high_u64(m, digits[2]);
  uint64 low = m * digits[1] + carry;
  uint64 high = m * digits[0] + tn_mul_high_u64(m, digits[1]) +
                (low < carry ? 1u : 0u);
  tn_angle_f64_ angle = tn_angle_of_turns_f64_(high, low);
  int32 small = a < 0.7853981633974483;
  angle.high = small ? a : angle.high;
  angle.low = small ? 0.0 : angle.low;
  angle.quadrant = small ? 0u : angle.quadrant;
  return angle;
}

/* (sin(r) - r) / r^3, z = r^2, |r| <= pi/4 */
TN_FUNCTION double tn_sin_series_f64_(double z)
{
  double p = 1.5917848524580534e-10;
  p = tn_fma_f64(p, z, -2.5051127944010316e-08);
  p = tn_fma_f64(p, z, 2.7557316083816333e-06);
  p = tn_fma_f64(p, z, -0.00019841269836722418);
  p = tn_fma_f64(p, z, 0.0083333333333309254);
  return tn_fma_f64(p, z, -0.16666666666666666);
}

/* (cos(r) - 1 + z / 2) / z^2, z = r^2, |r| <= pi/4 */
TN_FUNCTION double tn_cos_series_f64_(double z)
{
  double p = -1.138245677791886e-11;
  p = tn_fma_f64(p, z, 2.0876143827990713e-09);
  p = tn_fma_f64(p, z, -2.7557317260008821e-07);
  p = tn_fma_f64(p, z, 2.480158729874307e-05);
  p = tn_fma_f64(p, z, -0.0013888888888887382);
  return tn_fma_f64(p, z, 0.041666666666666664);
}

TN_FUNCTION tn_two_f64_ tn_sin_two_f64_(tn_angle_f64_ angle)
{
  double r = angle.high;
  double z = r * r;
  double low = tn_fma_f64(-0.5 * z, angle.low, angle.low);
  return tn_two_of_f64_(r, tn_fma_f64(r * z, tn_sin_series_f64_(z), low));
}

TN_FUNCTION tn_two_f64_ tn_cos_two_f64_(tn_angle_f64_ angle)
{
  double r = angle.high;
  double z = r * r;
  double h = 0.5 * z;
  double w = 1.0 - h;
  double lost = tn_fma_f64(r, angle.low, 0.5 * tn_fma_f64(r, r, -z));
  return tn_two_of_f64_(
    w, ((1.0 - w) - h) + tn_fma_f64(z * z, tn_cos_series_f64_(z), -lost));
}

/* The sine of an angle that is further quadrants ahead. */
TN_FUNCTION double tn_sin_ahead_f64_(tn_angle_f64_ angle, uint32 further)
{
  double s = tn_sin_two_f64_(angle).high;
  double c = tn_cos_two_f64_(angle).high;
  uint32 quadrant = angle.quadrant + further;
  double y = quadrant & 1u ? c : s;
  return quadrant & 2u ? -y : y;
}

TN_FUNCTION double tn_sin_f64(double x)
{
  double a = tn_abs_f64(x);
  double y = tn_sin_ahead_f64_(tn_angle_of_f64_(a), 0u);
  y = tn_bits_f64(x) >> 63 ? -y : y;
  return a <= TN_GREATEST_F64_ ? y : TN_NAN_F64_;
}

TN_FUNCTION double tn_cos_f64(double x)
{
  double a = tn_abs_f64(x);
  double y = tn_sin_ahead_f64_(tn_angle_of_f64_(a), 1u);
  return a <= TN_GREATEST_F64_ ? y : TN_NAN_F64_;
}

TN_FUNCTION double tn_tan_f64(double x)
{
  double a = tn_abs_f64(x);
  tn_angle_f64_ angle = tn_angle_of_f64_(a);
  tn_two_f64_ s = tn_sin_two_f64_(angle), c = tn_cos_two_f64_(angle);
  int32 turned = (angle.quadrant & 1u) != 0u;
  double top = turned ? c.high : s.high;
  double top_low = turned ? c.low : s.low;
  double bottom = turned ? -s.high : c.high;
  double bottom_low = turned ? -s.low : c.low;
  double y = top / bottom;
  double left = tn_fma_f64(-y, bottom, top) +
                tn_fma_f64(-y, bottom_low, top_low);
  y = y + left / bottom;
  y = tn_bits_f64(x) >> 63 ? -y : y;
  return a <= TN_GREATEST_F64_ ? y : TN_NAN_F64_;
}

/* (2 atanh(s) / s - 2 - 2 z / 3) / z^2, z = s^2 */
TN_FUNCTION double tn_log_rest_f64_(double z)
{
  double p = 0.10763621559581356;
  p = tn_fma_f64(p, z, 0.10456195104822083);
  p = tn_fma_f64(p, z, 0.11766819021917133);
  p = tn_fma_f64(p, z, 0.13333296397955968);
  p = tn_fma_f64(p, z, 0.15384615762908271);
  p = tn_fma_f64(p, z, 0.1818181817964499);
  p = tn_fma_f64(p, z, 0.22222222222228469);
  p = tn_fma_f64(p, z, 0.28571428571428564);
  return tn_fma_f64(p, z, 0.40000000000000002);
}

/* log(a) for a > 0, finite: as tn_log_two_. */
TN_FUNCTION tn_two_f64_ tn_log_two_f64_(double a)
{
  tn_split_f64_ split = tn_split_of_f64_(a);
  double m = split.m;
  double f = m - 1.0;
  tn_two_f64_ t = tn_two_of_f64_(1.0, m); /* exact, though m may be above 1 */
  double s = f / t.high;
  double s_low = (tn_fma_f64(-s, t.high, f) - s * t.low) / t.high;
  double z = s * s;
  double z_low = tn_fma_f64(s, s, -z) + (s + s) * s_low;
  double q = 0.6666666666666666 * z;
  double q_low = tn_fma_f64(0.6666666666666666, z, -q);
  q_low += tn_fma_f64(0.6666666666666666, z_low, 3.700743415417188e-17 * z);
  tn_two_f64_ w =
    tn_two_of_f64_(q, tn_fma_f64(z * z, tn_log_rest_f64_(z), q_low));
  double v = s * w.high;
  double v_low = tn_fma_f64(s, w.high, -v) +
                 tn_fma_f64(s, w.low, s_low * w.high);
  tn_two_f64_ y = tn_two_of_f64_(s + s, v);
  y.low = y.low + tn_fma_f64(2.0, s_low, v_low);
  /* k times 0.6931471805598903 is exact. */
  tn_two_f64_ sum = tn_two_of_f64_(split.k * 0.6931471805598903, y.high);
  return tn_two_of_f64_(
    sum.high, sum.low + tn_fma_f64(split.k, 5.497923018708371e-14, y.low));
}

/* e to the power of a sum, |high| <= 750. */
TN_FUNCTION double tn_exp_of_two_f64_(tn_two_f64_ x)
{
  const double magic = 6755399441055744.0;
  double z = tn_fma_f64(x.high, 1.4426950408889634, magic);
  double n = z - magic;
  double first = tn_fma_f64(n, -0.6931471805599453, x.high);
  double r = tn_fma_f64(n, -2.3190468138462996e-17, first);
  double rest = tn_fma_f64(n, -2.3190468138462996e-17, first - r) + x.low;
  tn_two_f64_ sum = tn_two_of_f64_(r, rest);
  r = sum.high;
  double y = 1.0 + (r + tn_fma_f64(r * r, tn_exp_series_f64_(r), sum.low));
  int32 k = (int32)(uint32)tn_bits_f64(z);
  int32 k1 = k >> 1;
  return y * tn_power_of_two_f64_(k1) * tn_power_of_two_f64_(k - k1);
}

/* a^y for a >= 0 where neither is a NaN and y is not 0. */
TN_FUNCTION double tn_pow_positive_f64_(double a, double y)
{
  int32 ordinary = a > 0.0 && a <= TN_GREATEST_F64_;
  tn_two_f64_ log = tn_log_two_f64_(ordinary ? a : 1.0);
  tn_two_f64_ x;
  x.high = y * log.high;
  x.low = tn_fma_f64(y, log.high, -x.high) + y * log.low;
  int32 far = !(tn_abs_f64(x.high) < 750.0);
  x.low = far ? 0.0 : x.low;
  x.high = far ? (x.high < 0.0 ? -750.0 : 750.0) : x.high;
  double result = tn_exp_of_two_f64_(x);
  result = a == 1.0 ? 1.0 : result;
  return ordinary ? result
                  : ((a > 0.0) == (y > 0.0) ? TN_INFINITY_F64_ : 0.0);
}

/* As in annex F of the C standard. */
TN_FUNCTION double tn_pow_f64(double x, double y)
{
  double whole = tn_round_f64(y);
  int32 integer = whole == y;
  int32 exact = tn_abs_f64(y) < 9007199254740992.0;
  int32 odd = integer && exact && ((int64)(exact ? whole : 0.0) & 1);
  double result = tn_pow_positive_f64_(tn_abs_f64(x), y);
  result = tn_bits_f64(x) >> 63 && odd ? -result : result;
  int32 none = x < 0.0 && !integer && tn_abs_f64(x) <= TN_GREATEST_F64_ &&
               tn_abs_f64(y) <= TN_GREATEST_F64_;
  none = none || x != x || y != y;
  result = none ? TN_NAN_F64_ : result;
  return y == 0.0 || x == 1.0 ? 1.0 : result;
}

#if defined(TN_ON_CPU) && defined(__cplusplus)
}
#endif

#endif
