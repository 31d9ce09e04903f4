/* docs/numbers.md in plain C: see numbers_functions.h. */
#include "tests/numbers_functions.h"

#include <math.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/numbers_reference.h"

typedef unsigned __int128 bits128;

/* A number as a sum. */
typedef struct two_f32 {
  float high, low;
} two_f32;
typedef struct two_f64 {
  double high, low;
} two_f64;

/* The coefficients, lowest power first. */
static const float exp_f32[] = {
  0.49999994f, 0.166665196f, 0.0416682586f, 0.0083688572f, 0.0013821742f
};
static const float log_f32[] = {
  0.333333135f, -0.250000089f, 0.200020716f, -0.166679904f, 0.142203629f,
  -0.124062061f, 0.118834674f, -0.116702095f, 0.0674959421f
};
static const float pow_f32[] = {
  0.400000155f, 0.28562218f, 0.230490029f
};
static const double exp_f64[] = {
  0.5, 0.16666666666666671, 0.041666666666666671, 0.0083333333333259641,
  0.001388888888888333, 0.00019841269875419388, 2.4801587326761239e-05,
  2.7557254642964194e-06, 2.7557272266210231e-07, 2.5105531238467167e-08,
  2.0915218877135749e-09
};
static const double log_f64[] = {
  0.66666666666666696, 0.39999999999898889, 0.28571428626253864,
  0.22222211089376664, 0.18182892432697201, 0.153316117176995,
  0.14617807198921109
};
static const double pow_f64[] = {
  0.40000000000000002, 0.28571428571428564, 0.22222222222228469,
  0.1818181817964499, 0.15384615762908271, 0.13333296397955968,
  0.11766819021917133, 0.10456195104822083, 0.10763621559581356
};
static const double sin_f64[] = {
  -0.16666666666666666, 0.0083333333333309254, -0.00019841269836722418,
  2.7557316083816333e-06, -2.5051127944010316e-08, 1.5917848524580534e-10
};
static const double cos_f64[] = {
  0.041666666666666664, -0.0013888888888887382, 2.480158729874307e-05,
  -2.7557317260008821e-07, 2.0876143827990713e-09, -1.138245677791886e-11
};
static const double tanh_f64[] = {
  -0.33333333333333331, 0.13333333333333042, -0.053968253967896992,
  0.021869488519008305, -0.0088632351032408557, 0.0035921217511547389,
  -0.0014557754120463136, 0.00058966065776917332, -0.00023759064958691012,
  9.2571161262135324e-05, -3.1201101391622794e-05, 6.4851634676022395e-06
};
static const double erf_f64[] = {
  0.12837916709551259, -0.37612638903183754, 0.11283791670955121,
  -0.02686617064512984, 0.0052239776254232985, -0.00085483270219348297,
  0.00012055332902888734, -1.4925647567519298e-05, 1.6462045441467787e-06,
  -1.636464215815949e-07, 1.4792401209333676e-08, -1.2164560056878832e-09,
  8.7090451277052205e-11, -4.2309458222996191e-12
};
static const double near_f64[] = {
  -1.8496055099332482, -2.6389675142347913, -0.84310725635849215,
  -0.04156109804631631, 0.01003382543096866, -0.0019779029887615255,
  0.00023732450083426202, 2.6271290408641714e-05, -2.7144038618098892e-05,
  9.5842473285365609e-06, -2.0308756230599035e-06, 1.1897767169234061e-07,
  1.1079639220388816e-07, -5.6218485267731067e-08, 1.504208793678136e-08,
  -2.3854764846624626e-09, 1.7748283148269701e-10
};
static const double far_f64[] = {
  -6.5274598963658033, -4.8829138105468077, -0.9348675668200177,
  -0.01331254898947907, 0.002771340059672717, -0.00055485159040545714,
  0.00010266125760492385, -1.6640046820739522e-05, 2.0887706447947617e-06,
  -1.0586974903119711e-07, -4.029858438790326e-08, 1.6341169322420535e-08,
  -3.5605031381771712e-09, 5.271368426465566e-10, -5.2796635341590138e-11,
  3.2435734420593287e-12, -9.242656579931413e-14
};
static const float ln2_f32 = 0.693147182f, ln2_rest_f32 = -1.90465430e-9f;
static const double ln2_f64 = 0.6931471805599453;
static const double ln2_rest_f64 = 2.3190468138462996e-17;

static double two_to(int power)
{
  return ldexp(1, power);
}

/* What both types do in the same way: T, suffix of the C library's functions
 * and of ours, of constants. */
#define SHARED(T, c, s, of, fma, with_exp_neg)                               \
  static T polynomial_##s(const T *p, int degree, T x)                       \
  {                                                                          \
    T y = p[degree];                                                         \
    for (int i = degree - 1; i >= 0; i--) y = fma(y, x, p[i]);               \
    return y;                                                                \
  }                                                                          \
  static two_##s sum_##s(T high, T low)                                      \
  {                                                                          \
    T sum = high + low;                                                      \
    return (two_##s){ sum, low - (sum - high) };                             \
  }                                                                          \
  static T multiples_##s(T x)                                                \
  {                                                                          \
    return (T)nearbyintl((long double)x *                                    \
                         (long double)(T)1.44269504088896340736L);           \
  }                                                                          \
  /* e^r - 1 and the n of x = n ln 2 + r, with an addition to r. */          \
  static T reduced_##s(T x, T more, T n, bool normalise)                     \
  {                                                                          \
    T first = fma(-n, ln2_##s, x);                                           \
    T r = fma(-n, ln2_rest_##s, first);                                      \
    T rest = fma(-n, ln2_rest_##s, first - r) + more;                        \
    if (normalise) {                                                         \
      two_##s both = sum_##s(r, rest);                                       \
      r = both.high;                                                         \
      rest = both.low;                                                       \
    }                                                                        \
    return r + fma(r * r, polynomial_##s(exp_##s, EXP_##s, r), rest);        \
  }                                                                          \
  T ref_expm1##of(T x)                                                       \
  {                                                                          \
    if (isnan(x) || x == 0) return x;                                        \
    if (x > EXP_MOST_##s) return INFINITY;                                   \
    if (x < -50) x = -50;                                                    \
    T n = multiples_##s(x), y = reduced_##s(x, 0, n, false);                 \
    T half = (T)two_to((int)n - 1);                                          \
    return n == 0 ? y : 2 * fma(y, half, half - (T)0.5);                     \
  }                                                                          \
  /* log(a) as a sum. */                                                     \
  static two_##s log_two_##s(T a)                                            \
  {                                                                          \
    int k;                                                                   \
    T m = frexp##c(a, &k);                                                   \
    if (m < ROOT_HALF_##s) {                                                 \
      m *= 2;                                                                \
      k--;                                                                   \
    }                                                                        \
    T f = m - 1, high = m + 1, low = m - (high - 1);                         \
    T s = f / high;                                                          \
    T s_low = (fma(-s, high, f) - s * low) / high;                           \
    T z = s * s, z_low = fma(s, s, -z) + 2 * s * s_low;                      \
    T third = TWO_THIRDS_##s;                                                \
    T q = third * z;                                                         \
    T q_low = fma(third, z, -q) + fma(third, z_low, THIRDS_REST_##s * z);    \
    two_##s w = sum_##s(q, fma(z * z, polynomial_##s(pow_##s, POW_##s, z),   \
                               q_low));                                      \
    T v = s * w.high;                                                        \
    T v_low = fma(s, w.high, -v) + fma(s, w.low, s_low * w.high);            \
    two_##s y = sum_##s(2 * s, v);                                           \
    y.low += fma(2, s_low, v_low);                                           \
    two_##s sum = sum_##s((T)k * LN2_SHORT_##s, y.high);                     \
    return sum_##s(sum.high, sum.low + fma((T)k, LN2_LEFT_##s, y.low));      \
  }                                                                          \
  static T positive_pow_##s(T a, T y)                                        \
  {                                                                          \
    two_##s log = log_two_##s(a);                                            \
    T high = y * log.high;                                                   \
    if (high >= POW_FAR_##s) return INFINITY;                                \
    if (high <= -POW_FAR_##s) return 0;                                      \
    T low = fma(y, log.high, -high) + y * log.low, n = multiples_##s(high);  \
    return ldexp##c(1 + reduced_##s(high, low, n, true), (int)n);            \
  }                                                                          \
  T ref_pow##of(T x, T y)                                                    \
  {                                                                          \
    T a = fabs##c(x);                                                        \
    bool plain = isfinite(x) && isfinite(y) && a != 0 && a != 1 && y != 0 && \
                 (x > 0 || nearbyint##c(y) == y);                            \
    if (!plain) return pow##c(x, y); /* exact cases */                       \
    T result = positive_pow_##s(a, y);                                       \
    return x < 0 && fmod##c(y, 2) != 0 ? -result : result;                   \
  }                                                                          \
  T ref_rsqrt##of(T x) { return 1 / sqrt##c(x); }                            \
  T ref_reciprocal##of(T x) { return 1 / x; }                                \
  T ref_sign##of(T x) { return (T)(x > 0 ? 1 : x < 0 ? -1 : 0); }            \
  T ref_sigmoid##of(T x)                                                     \
  {                                                                          \
    T e = with_exp_neg(-fabs##c(x));                                         \
    return x < 0 ? e / (1 + e) : 1 / (1 + e);                                \
  }                                                                          \
  T ref_silu##of(T x) { return x * ref_sigmoid##of(x); }                     \
  T ref_gelu##of(T x)                                                        \
  {                                                                          \
    return x * (T)0.5 * (ref_erf##of(x * (T)0.70710678118654752) + 1);       \
  }                                                                          \
  static T gelu_inner_##s(T x)                                               \
  {                                                                          \
    return fma(x * x * (T)0.044715, x, x) * (T)0.79788456080286536;          \
  }                                                                          \
  T ref_gelu_tanh##of(T x)                                                   \
  {                                                                          \
    return x * (T)0.5 * (ref_tanh##of(gelu_inner_##s(x)) + 1);               \
  }                                                                          \
  T ref_remainder##of(T a, T b)                                              \
  {                                                                          \
    T rest = fmod##c(a, b);                                                  \
    if (rest != 0 && (rest < 0) != (b < 0)) rest += b;                       \
    return rest;                                                             \
  }                                                                          \
  T ref_floor_divide##of(T a, T b)                                           \
  {                                                                          \
    if (b == 0) return a / b;                                                \
    T rest = fmod##c(a, b), whole = (a - rest) / b;                          \
    if (rest != 0 && (rest < 0) != (b < 0)) whole -= 1;                      \
    if (whole == 0) return copysign##c(0, a / b);                            \
    T down = floor##c(whole);                                                \
    return whole - down > (T)0.5 ? down + 1 : down;                          \
  }                                                                          \
  T ref_relu_backward##of(T g, T y) { return y <= 0 ? 0 : g; }               \
  T ref_sigmoid_backward##of(T g, T y) { return g * (1 - y) * y; }           \
  T ref_tanh_backward##of(T g, T y) { return g * fma(-y, y, 1); }            \
  T ref_silu_backward##of(T g, T x)                                          \
  {                                                                          \
    T s = ref_sigmoid##of(x);                                                \
    return g * (fma(x, 1 - s, 1) * s);                                       \
  }                                                                          \
  T ref_gelu_backward##of(T g, T x)                                          \
  {                                                                          \
    T below = (ref_erf##of(x * (T)0.70710678118654752) + 1) * (T)0.5;        \
    T density = with_exp_neg(x * x * (T)-0.5) * (T)0.39894228040143268;      \
    return g * fma(x, density, below);                                       \
  }                                                                          \
  T ref_gelu_tanh_backward##of(T g, T x)                                     \
  {                                                                          \
    T t = ref_tanh##of(gelu_inner_##s(x));                                   \
    T slope = fma(3 * (T)0.044715, x * x, 1) * (T)0.79788456080286536;       \
    return g * ((t + 1) * (T)0.5 + x * (T)0.5 * fma(-t, t, 1) * slope);      \
  }

enum { EXP_f32 = 4, EXP_f64 = 10, POW_f32 = 2, POW_f64 = 8 };
enum { EXP_MOST_f32 = 89, EXP_MOST_f64 = 710 };
enum { POW_FAR_f32 = 110, POW_FAR_f64 = 750 };
#define ROOT_HALF_f32 0.707106769f
#define ROOT_HALF_f64 0.70710678118654757
#define TWO_THIRDS_f32 0.666666687f
#define TWO_THIRDS_f64 0.6666666666666666
#define THIRDS_REST_f32 -1.98682151e-08f
#define THIRDS_REST_f64 3.700743415417188e-17
#define LN2_SHORT_f32 0.693145752f
#define LN2_SHORT_f64 0.6931471805598903
#define LN2_LEFT_f32 1.42860677e-06f
#define LN2_LEFT_f64 5.497923018708371e-14
SHARED(float, f, f32, , fmaf, ref_exp_neg)
SHARED(double, , f64, _f64, fma, ref_exp_f64)

double ref_exp_f64(double x)
{
  if (isnan(x)) return x;
  if (x < -746) return 0;
  if (x > 710) return INFINITY;
  double n = multiples_f64(x);
  return ldexp(1 + reduced_f64(x, 0, n, false), (int)n);
}

/* log(2^k (1 + f)), and lost besides. */
static double log_of_parts(int k, double f, double lost)
{
  double half = 0.5 * (f * f), s = f / (f + 2), z = s * s;
  double more = fma(k, ln2_rest_f64, lost);
  double y = fma(s, fma(z, polynomial_f64(log_f64, 6, z), half), more);
  return fma(k, ln2_f64, f - (half - y));
}

static double fraction_of(double a, int *k)
{
  double m = frexp(a, k);
  if (m >= ROOT_HALF_f64) return m - 1;
  *k -= 1;
  return 2 * m - 1;
}

double ref_log_f64(double x)
{
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (isinf(x)) return x;
  int k;
  double f = fraction_of(x, &k);
  return log_of_parts(k, f, 0);
}

double ref_log1p_f64(double x)
{
  if (isnan(x) || x < -1) return NAN;
  if (x == -1) return -INFINITY;
  if (isinf(x) || x == 0) return x;
  int k;
  double u = 1 + x, t = u - 1, lost = (x - t) + (1 - (u - t));
  double f = fraction_of(u, &k);
  return k == 0 ? log_of_parts(0, x, 0) : log_of_parts(k, f, lost / u);
}

float ref_log1p(float x)
{
  if (isnan(x) || x < -1) return NAN;
  if (x == -1) return -INFINITY;
  if (isinf(x) || x == 0) return x;
  int k;
  float u = 1 + x, t = u - 1, lost = (x - t) + (1 - (u - t));
  float m = frexpf(u, &k);
  if (m < ROOT_HALF_f32) {
    m *= 2;
    k--;
  }
  float f = k == 0 ? x : m - 1, more = k == 0 ? 0 : lost / u;
  float y = fmaf(f * (f * f), polynomial_f32(log_f32, 8, f),
                 -0.5f * (f * f));
  y = fmaf((float)k, ln2_rest_f32, y) + more + f;
  return fmaf((float)k, ln2_f32, y);
}

double ref_tanh_f64(double x)
{
  double a = fabs(x), z = x * x;
  if (a < 0.625)
    return copysign(fma(x * z, polynomial_f64(tanh_f64, 11, z), x), x);
  double e = ref_exp_f64(-2 * a);
  return copysign(1 - 2 * e / (1 + e), x);
}

double ref_erf_f64(double x)
{
  double a = fabs(x);
  if (isnan(x)) return x;
  if (a < 1) return fma(x, polynomial_f64(erf_f64, 13, x * x), x);
  double t = a > 6 ? 6 : a;
  double log = t < 2.25 ? polynomial_f64(near_f64, 16, t - 1)
                        : polynomial_f64(far_f64, 16, t - 2.25);
  return copysign(1 - ref_exp_f64(log), x);
}

/* Angles, as in numbers_reference.c: in f64 with 128 binary digits of turns.
 * Sine and cosine are sums, for the tangent. */
typedef struct angle {
  double high, low;
  unsigned quadrant;
} angle;

/* Binary digit p of 2/pi, of weight 2^-p. */
static unsigned digit_of_two_over_pi(int p)
{
  static const uint64_t words[] = {
    0xa2f9836e4e441529, 0xfc2757d1f534ddc0, 0xdb6295993c439041,
    0xfe5163abdebbc561, 0xb7246e3a424dd2e0, 0x06492eea09d1921c,
    0xfe1deb1cb129a73e, 0xe88235f52ebb4484, 0xe99c7026b45f7e41,
    0x3991d639835339f4, 0x9c845f8bbdf9283b, 0x1ff897ffde05980f,
    0xef2f118b5a0a6d1f, 0x6d367ecf27cb09b7, 0x4f463f669e5fea2d,
    0x7527bac7ebe5f17b, 0x3d0739f78a5292ea, 0x6bfb5fb11f8d5d08,
    0x56033046fc7b6bab,
  };
  if (p < 1) return 0;
  return words[(p - 1) / 64] >> (63 - (p - 1) % 64) & 1;
}

/* a = m 2^(e - 1075): digits of 2/pi from p = e - 1076 to e - 885, times m,
 * without the lowest 64, modulo 2^128. */
static bits128 turns_of(double a)
{
  uint64_t bits;
  memcpy(&bits, &a, sizeof bits);
  int e = (int)(bits >> 52);
  uint64_t m = (bits & 0xfffffffffffff) | UINT64_C(1) << 52, guard = 0;
  bits128 digits = 0;
  for (int p = e - 1076; p <= e - 949; p++)
    digits = digits * 2 + digit_of_two_over_pi(p);
  for (int p = e - 948; p <= e - 885; p++)
    guard = guard * 2 + digit_of_two_over_pi(p);
  return digits * m + ((bits128)guard * m >> 64);
}

static angle angle_of_turns(bits128 turns)
{
  uint64_t upper = (uint64_t)(turns >> 64), lower = (uint64_t)turns;
  unsigned quadrant = (unsigned)(upper >> 62);
  int64_t left = (int64_t)(upper & 0x3fffffffffffffff);
  if (left >> 61) {
    left -= INT64_C(1) << 62;
    quadrant++;
  }
  double first = (double)left;
  double second = (double)(left - (int64_t)first) +
                  ldexp((double)(lower >> 11), -53);
  double sum = first + second;
  second -= sum - first;
  const double scale = 3.4061215800865545e-19, rest = 1.3277647201629795e-35;
  double high = sum * scale;
  double low = fma(second, scale, fma(sum, rest, fma(sum, scale, -high)));
  return (angle){ high, low, quadrant % 4 };
}

static angle angle_of(double x)
{
  double a = fabs(x);
  if (a < 0.7853981633974483) return (angle){ a, 0, 0 };
  return angle_of_turns(turns_of(a));
}

static two_f64 sine_of(angle of)
{
  double r = of.high, z = r * r;
  double low = fma(-0.5 * z, of.low, of.low);
  return sum_f64(r, fma(r * z, polynomial_f64(sin_f64, 5, z), low));
}

static two_f64 cosine_of(angle of)
{
  double r = of.high, z = r * r, h = 0.5 * z, w = 1 - h;
  double lost = fma(r, of.low, 0.5 * fma(r, r, -z));
  return sum_f64(w, (1 - w - h) +
                        fma(z * z, polynomial_f64(cos_f64, 5, z), -lost));
}

static double sine_ahead(angle of, unsigned further)
{
  unsigned quadrant = of.quadrant + further;
  double y = quadrant % 2 ? cosine_of(of).high : sine_of(of).high;
  return quadrant / 2 % 2 ? -y : y;
}

static double ahead(double x, unsigned further)
{
  return sine_ahead(angle_of(x), further);
}

double ref_sin_f64(double x)
{
  if (!isfinite(x)) return NAN;
  return signbit(x) ? -ahead(x, 0) : ahead(x, 0);
}

double ref_cos_f64(double x)
{
  return isfinite(x) ? ahead(x, 1) : NAN;
}

double ref_tan_f64(double x)
{
  if (!isfinite(x)) return NAN;
  angle of = angle_of(x);
  two_f64 s = sine_of(of), c = cosine_of(of);
  two_f64 top = s, bottom = c;
  if (of.quadrant % 2) {
    top = c;
    bottom = (two_f64){ -s.high, -s.low };
  }
  double y = top.high / bottom.high;
  double left = fma(-y, bottom.high, top.high) +
                fma(-y, bottom.low, top.low);
  y += left / bottom.high;
  return signbit(x) ? -y : y;
}

float ref_tan(float x)
{
  if (!isfinite(x)) return NAN;
  ref_parts s, c;
  unsigned quadrant = ref_angle_parts(fabsf(x), &s, &c);
  ref_parts top = s, bottom = c;
  if (quadrant % 2) {
    top = c;
    bottom = (ref_parts){ -s.high, -s.low };
  }
  float y = top.high / bottom.high;
  float left = fmaf(-y, bottom.high, top.high) +
               fmaf(-y, bottom.low, top.low);
  y += left / bottom.high;
  return signbit(x) ? -y : y;
}

/* Random numbers: two words each, or four for two normal ones. */

static uint64_t two_words(uint64_t seed, uint64_t offset, int64_t block,
                          int at)
{
  uint64_t high = ref_random(seed, offset, 4 * block + at);
  return high << 32 | ref_random(seed, offset, 4 * block + at + 1);
}

double ref_uniform_f64(uint64_t seed, uint64_t offset, int64_t i)
{
  uint64_t word = two_words(seed, offset, i / 2, (int)(i % 2) * 2);
  return ldexp((double)(word >> 11), -53);
}

double ref_normal_f64(uint64_t seed, uint64_t offset, int64_t i)
{
  uint64_t word = two_words(seed, offset, i / 2, 0);
  double u = ldexp((double)((word >> 11) + 1), -53);
  bits128 turns = (bits128)two_words(seed, offset, i / 2, 2) << 64;
  double radius = sqrt(-2 * ref_log_f64(u));
  return radius * sine_ahead(angle_of_turns(turns), i % 2 == 0 ? 1 : 0);
}
