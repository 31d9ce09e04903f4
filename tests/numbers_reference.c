/* docs/numbers.md in plain C. */
#include "tests/numbers_reference.h"

#include <math.h>
#include <stdlib.h>
#include <string.h>

enum { LANES = 64, BLOCK = 4096, CHUNK = 1024 };


static uint32_t bits_of(float x)
{
  uint32_t bits;
  memcpy(&bits, &x, sizeof bits);
  return bits;
}

/* c[0] + c[1] x + ... + c[degree] x^degree, from the highest power. */
static float polynomial(const float *c, int degree, float x)
{
  float y = c[degree];
  for (int i = degree - 1; i >= 0; i--) y = fmaf(y, x, c[i]);
  return y;
}

/* Elementary functions */

static const float exp_c[] = { 0.49999994f, 0.166665196f, 0.0416682586f,
                               0.0083688572f, 0.0013821742f };
static const float ln2_high = 0.693147182f, ln2_low = -1.90465430e-9f;

/* The integer nearest to x / ln 2; the product is exact in double. */
static float multiples_of_ln2(float x)
{
  return (float)nearbyint((double)x * (double)1.44269502f);
}

float ref_exp(float x)
{
  if (isnan(x)) return x;
  if (x < -104) return 0;
  if (x > 89) return INFINITY;
  float n = multiples_of_ln2(x);
  float first = fmaf(-n, ln2_high, x);
  float r = fmaf(-n, ln2_low, first);
  float rest = fmaf(-n, ln2_low, first - r);
  float y = 1 + (r + fmaf(r * r, polynomial(exp_c, 4, r), rest));
  return ldexpf(y, (int)n);
}

float ref_exp_neg(float x)
{
  if (isnan(x)) return x;
  if (x < -87) return 0;
  float n = multiples_of_ln2(x);
  float r = fmaf(-n, ln2_low, fmaf(-n, ln2_high, x));
  return ldexpf(1 + fmaf(r * r, polynomial(exp_c, 4, r), r), (int)n);
}

float ref_log(float x)
{
  static const float c[] = { 0.333333135f,  -0.250000089f, 0.200020716f,
                             -0.166679904f, 0.142203629f,  -0.124062061f,
                             0.118834674f,  -0.116702095f, 0.0674959421f };
  if (isnan(x) || x < 0) return NAN;
  if (x == 0) return -INFINITY;
  if (isinf(x)) return x;
  int k;
  float m = frexpf(x, &k);
  if (m < 0.707106769f) {
    m *= 2;
    k--;
  }
  float f = m - 1;
  float s = f * f;
  float y = fmaf(f * s, polynomial(c, 8, f), -0.5f * s);
  return fmaf((float)k, ln2_high, fmaf((float)k, ln2_low, y) + f);
}

float ref_tanh(float x)
{
  static const float c[] = { -0.333332807f, 0.133314118f, -0.0537374355f,
                             0.020632321f, -0.00569802988f };
  float a = fabsf(x);
  if (a < 0.625f)
    return copysignf(fmaf(x * (x * x), polynomial(c, 4, x * x), x), x);
  float e = ref_exp_neg(-2 * a);
  return copysignf(1 - 2 * e / (1 + e), x);
}

float ref_erf(float x)
{
  static const float small[] = { 0.128379166f,    -0.376126289f,
                                 0.112836316f,    -0.0268564951f,
                                 0.00519579649f,  -0.000811763457f,
                                 8.62349116e-05f, -2.1721246e-06f };
  static const float large[] = { 0.000188869555f, -1.12958205f,
                                 -0.633213222f,   -0.108425289f,
                                 0.0252122451f,   -0.00420596311f,
                                 0.00044160636f,  -2.17089037e-05f };
  float a = fabsf(x);
  if (a < 1) return fmaf(x, polynomial(small, 7, x * x), x);
  float t = a > 4 ? 4 : a;
  return copysignf(1 - ref_exp_neg(polynomial(large, 7, t)), x);
}

/* Angles: quadrants and a rest in two floats. */
typedef struct angle {
  float high, low;
  unsigned quadrant;
} angle;

/* From a fraction of a turn in units of 2^-64. */
static angle angle_of_turns(uint64_t turns)
{
  unsigned quadrant = (unsigned)(turns >> 62);
  int64_t left = (int64_t)(turns & 0x3fffffffffffffff);
  if (left >> 61) { /* the next quadrant is nearer */
    left -= INT64_C(1) << 62;
    quadrant++;
  }
  int64_t top = left >= 0 ? left / 4294967296
                          : -((-left + 4294967295) / 4294967296);
  int64_t bottom = left - top * 4294967296;
  float a = (float)top;
  float b = ldexpf((float)(top - (int64_t)a), 32);
  a = ldexpf(a, 32);
  b += ldexpf((float)(bottom / 2), 1);
  float sum = a + b;
  b -= sum - a;
  const float scale = 3.4061216748705226e-19f, lacks = -9.47839680e-27f;
  angle result = { sum * scale, 0, quadrant % 4 };
  result.low = fmaf(sum, scale, -result.high);
  result.low = fmaf(sum, lacks, result.low);
  result.low = fmaf(b, scale, result.low);
  return result;
}

/* Binary digit p of 2/pi, of weight 2^-p. */
static unsigned digit_of_two_over_pi(int p)
{
  static const uint32_t words[] = { 0xa2f983, 0x6e4e44, 0x1529fc, 0x2757d1,
                                    0xf534dd, 0xc0db62, 0x95993c, 0x439041,
                                    0xfe5163, 0xabdebb, 0xc561b7 };
  if (p < 1) return 0;
  return words[(p - 1) / 24] >> (23 - (p - 1) % 24) & 1;
}

/* a = m 2^(e - 150): the sum over digits p of 2/pi of m 2^(e - 88 - p),
 * modulo 2^64 and without what is below 1, digits to e - 56. */
static angle angle_of(float a)
{
  if (a < 0.785398126f) return (angle){ a, 0, 0 };
  int e = (int)(bits_of(a) >> 23);
  uint64_t m = (bits_of(a) & 0x7fffff) | 0x800000;
  uint64_t digits = 0;
  uint32_t guard = 0;
  for (int p = e - 88 - 63; p <= e - 88; p++)
    digits = digits * 2 + digit_of_two_over_pi(p);
  for (int p = e - 87; p <= e - 56; p++)
    guard = guard * 2 + digit_of_two_over_pi(p);
  return angle_of_turns(m * digits + (m * guard >> 32));
}

static const float sin_c[] = { -0.166666552f, 0.00833218731f,
                               -0.000195179091f };
static const float cos_c[] = { 0.0416666456f, -0.00138873095f,
                               2.44323383e-05f };

/* Sine of an angle, `ahead` quadrants further. */
static float sine(angle of, unsigned ahead)
{
  unsigned quadrant = (of.quadrant + ahead) % 4;
  float r = of.high, z = r * r, y;
  if (quadrant % 2 == 0) {
    float low = fmaf(-0.5f * z, of.low, of.low);
    y = r + fmaf(r * z, polynomial(sin_c, 2, z), low);
  } else {
    float h = 0.5f * z, w = 1 - h;
    float lost = fmaf(r, of.low, 0.5f * fmaf(r, r, -z));
    y = w + ((1 - w - h) + fmaf(z * z, polynomial(cos_c, 2, z), -lost));
  }
  return quadrant >= 2 ? -y : y;
}

float ref_sin(float x)
{
  if (!isfinite(x)) return NAN;
  float y = sine(angle_of(fabsf(x)), 0);
  return signbit(x) ? -y : y;
}

float ref_cos(float x)
{
  return isfinite(x) ? sine(angle_of(fabsf(x)), 1) : NAN;
}

unsigned ref_angle_parts(float a, ref_parts *s, ref_parts *c)
{
  angle of = angle_of(a);
  angle at = { of.high, of.low, 0 };
  float r = of.high, z = r * r, h = 0.5f * z, w = 1 - h;
  float low = fmaf(-0.5f * z, of.low, of.low);
  float lost = fmaf(r, of.low, 0.5f * fmaf(r, r, -z));
  s->high = sine(at, 0);
  s->low = fmaf(r * z, polynomial(sin_c, 2, z), low) - (s->high - r);
  c->high = sine(at, 1);
  c->low = ((1 - w - h) + fmaf(z * z, polynomial(cos_c, 2, z), -lost)) -
           (c->high - w);
  return of.quadrant;
}

float ref_relu(float x)
{
  return isnan(x) ? x : x > 0 ? x : 0;
}

float ref_maximum(float a, float b)
{
  return isnan(a) ? a : isnan(b) ? b : a > b ? a : b;
}

float ref_minimum(float a, float b)
{
  return isnan(a) ? a : isnan(b) ? b : a < b ? a : b;
}

double ref_maximum_f64(double a, double b)
{
  return isnan(a) ? a : isnan(b) ? b : a > b ? a : b;
}

double ref_minimum_f64(double a, double b)
{
  return isnan(a) ? a : isnan(b) ? b : a < b ? a : b;
}

/* Reductions */

typedef float combine(float, float);

static float plus(float a, float b)
{
  return a + b;
}

/* Of two equal numbers the earlier one stays. */
static float greater(float kept, float other)
{
  return isnan(kept) || !(isnan(other) || other > kept) ? kept : other;
}

static float smaller(float kept, float other)
{
  return isnan(kept) || !(isnan(other) || other < kept) ? kept : other;
}

/* The lane walk over n <= 4096 values. */
static float walk(const float *x, int64_t n, int64_t step, float start,
                  combine *with)
{
  float lane[LANES];
  for (int l = 0; l < LANES; l++) {
    lane[l] = start;
    for (int64_t i = l; i < n; i += LANES) lane[l] = with(lane[l], x[i * step]);
  }
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] = with(lane[l], lane[l + half]);
  return lane[0];
}

/* Any n: blocks of 4096, then the same over the blocks' results. */
static float reduce(const float *x, int64_t n, int64_t step, float start,
                    combine *with)
{
  if (n <= BLOCK) return walk(x, n, step, start, with);
  int64_t blocks = (n + BLOCK - 1) / BLOCK;
  float *part = malloc((size_t)blocks * sizeof *part);
  if (!part) abort();
  for (int64_t b = 0; b < blocks; b++) {
    int64_t length = n - b * BLOCK < BLOCK ? n - b * BLOCK : BLOCK;
    part[b] = walk(x + b * BLOCK * step, length, step, start, with);
  }
  float result = reduce(part, blocks, 1, start, with);
  free(part);
  return result;
}

float ref_sum(const float *x, int64_t n, int64_t step)
{
  return reduce(x, n, step, 0, plus);
}

float ref_mean(const float *x, int64_t n, int64_t step)
{
  return ref_sum(x, n, step) / (float)n;
}

float ref_max(const float *x, int64_t n, int64_t step)
{
  return reduce(x, n, step, -INFINITY, greater);
}

float ref_min(const float *x, int64_t n, int64_t step)
{
  return reduce(x, n, step, INFINITY, smaller);
}

int64_t ref_argmax(const float *x, int64_t n, int64_t step)
{
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++) {
    float v = x[i * step], kept = x[best * step];
    if (!isnan(kept) && (isnan(v) || v > kept)) best = i;
  }
  return best;
}

int64_t ref_argmin(const float *x, int64_t n, int64_t step)
{
  int64_t best = 0;
  for (int64_t i = 1; i < n; i++) {
    float v = x[i * step], kept = x[best * step];
    if (!isnan(kept) && (isnan(v) || v < kept)) best = i;
  }
  return best;
}

/* Products */

float ref_product(const float *a, int64_t a_step, const float *b,
                  int64_t b_step, int64_t k)
{
  int64_t chunks = (k + CHUNK - 1) / CHUNK;
  float *sum = calloc((size_t)chunks + 1, sizeof *sum);
  if (!sum) abort();
  for (int64_t i = 0; i < k; i++)
    sum[i / CHUNK] = fmaf(a[i * a_step], b[i * b_step], sum[i / CHUNK]);
  float result = ref_sum(sum, chunks, 1);
  free(sum);
  return result;
}

static float dot_of_block(const float *a, int64_t a_step, const float *b,
                          int64_t b_step, int64_t k)
{
  float lane[LANES] = { 0 };
  for (int64_t i = 0; i < k; i++)
    lane[i % LANES] = fmaf(a[i * a_step], b[i * b_step], lane[i % LANES]);
  for (int half = LANES / 2; half > 0; half /= 2)
    for (int l = 0; l < half; l++) lane[l] += lane[l + half];
  return lane[0];
}

float ref_dot(const float *a, int64_t a_step, const float *b, int64_t b_step,
              int64_t k)
{
  if (k <= BLOCK) return dot_of_block(a, a_step, b, b_step, k);
  int64_t blocks = (k + BLOCK - 1) / BLOCK;
  float *part = malloc((size_t)blocks * sizeof *part);
  if (!part) abort();
  for (int64_t n = 0; n < blocks; n++) {
    int64_t length = k - n * BLOCK < BLOCK ? k - n * BLOCK : BLOCK;
    part[n] = dot_of_block(a + n * BLOCK * a_step, a_step,
                           b + n * BLOCK * b_step, b_step, length);
  }
  float result = ref_sum(part, blocks, 1);
  free(part);
  return result;
}

/* Random numbers */

static void philox(uint64_t seed, uint64_t counter, uint32_t word[4])
{
  uint32_t x[4] = { (uint32_t)counter, (uint32_t)(counter >> 32), 0, 0 };
  uint32_t key[2] = { (uint32_t)seed, (uint32_t)(seed >> 32) };
  for (int round = 0; round < 10; round++) {
    uint64_t p = UINT64_C(0xd2511f53) * x[0];
    uint64_t q = UINT64_C(0xcd9e8d57) * x[2];
    uint32_t next[4] = { (uint32_t)(q >> 32) ^ x[1] ^ key[0], (uint32_t)q,
                         (uint32_t)(p >> 32) ^ x[3] ^ key[1], (uint32_t)p };
    memcpy(x, next, sizeof x);
    key[0] += 0x9e3779b9;
    key[1] += 0xbb67ae85;
  }
  memcpy(word, x, sizeof x);
}

uint32_t ref_random(uint64_t seed, uint64_t offset, int64_t i)
{
  uint32_t word[4];
  philox(seed, offset + (uint64_t)i / 4, word);
  return word[i % 4];
}

float ref_uniform(uint64_t seed, uint64_t offset, int64_t i)
{
  return ldexpf((float)(ref_random(seed, offset, i) >> 8), -24);
}

float ref_normal(uint64_t seed, uint64_t offset, int64_t i)
{
  uint32_t word[4];
  philox(seed, offset + (uint64_t)i / 4, word);
  uint32_t first = word[i % 4 / 2 * 2], second = word[i % 4 / 2 * 2 + 1];
  float u = ldexpf((float)((first >> 8) + 1), -24);
  float radius = sqrtf(-2 * ref_log(u));
  angle of = angle_of_turns((uint64_t)second << 32);
  return radius * sine(of, i % 2 == 0 ? 1 : 0);
}

/* Text */

uint64_t ref_hash(const uint8_t *text, int64_t n, uint64_t position)
{
  uint64_t sum = 0;
  for (int64_t i = 0; i < n; i++) {
    uint64_t z = ((position + (uint64_t)i) << 8) + text[i] + 1;
    z *= UINT64_C(0x9e3779b97f4a7c15);
    z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
    sum += z ^ z >> 31;
  }
  return sum;
}

float ref_entropy_term(uint64_t count, uint64_t total)
{
  if (count == 0) return 0;
  float p = (float)count / (float)total;
  return p * (ref_log(p) * -1.44269502f);
}
