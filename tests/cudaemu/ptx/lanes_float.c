/* f32 and f64 over lanes, rounded to nearest, and the approximations. */
#include "tests/cudaemu/ptx/lane.h"

#include <math.h>

#define ARITHMETIC(T)                 \
  FLOATS(add_##T, T, a[l] + b[l])     \
  FLOATS(sub_##T, T, a[l] - b[l])     \
  FLOATS(mul_##T, T, a[l] * b[l])     \
  FLOATS(div_##T, T, a[l] / b[l])     \
  FLOATS(rcp_##T, T, 1 / a[l])
ARITHMETIC(f32)
ARITHMETIC(f64)
FLOATS(sqrt_f32, f32, __builtin_sqrtf(a[l]))
FLOATS(sqrt_f64, f64, __builtin_sqrt(a[l]))
FLOATS(fma_f32, f32, __builtin_fmaf(a[l], b[l], c[l]))
FLOATS(fma_f64, f64, __builtin_fma(a[l], b[l], c[l]))

/* Without the machine's own instruction fma is a call for each lane. */
#if defined(__x86_64__) && !defined(__FMA__)
#define HAVE_FAST_FMA 1
#define FAST __attribute__((target("avx2,fma")))

FAST static void fma_fast_f32(ARGUMENTS)
{
  f32 *d = dv;
  const f32 *a = av, *b = bv, *c = cv;
  (void)ev;
  EACH(l) d[l] = __builtin_fmaf(a[l], b[l], c[l]);
  lane_canonical_f32(dv);
}

FAST static void fma_fast_f64(ARGUMENTS)
{
  f64 *d = dv;
  const f64 *a = av, *b = bv, *c = cv;
  (void)ev;
  EACH(l) d[l] = __builtin_fma(a[l], b[l], c[l]);
  lane_canonical_f64(dv);
}
#endif

SAME(neg_f32, u32, a[l] ^ 0x80000000)
SAME(abs_f32, u32, a[l] & 0x7fffffff)
SAME(neg_f64, u64, a[l] ^ UINT64_C(1) << 63)
SAME(abs_f64, u64, a[l] & UINT64_MAX >> 1)
SAME(copysign_f32, u32, (b[l] & 0x7fffffff) | (a[l] & 0x80000000))
SAME(copysign_f64, u64, (b[l] & UINT64_MAX >> 1) |
                          (a[l] & UINT64_C(1) << 63))

/* The number wins over NaN, -0 is less than +0. */
#define LESSER(T)                             \
  static inline T lesser_##T(T a, T b)        \
  {                                           \
    if (a != a)                               \
      return b;                               \
    if (b != b)                               \
      return a;                               \
    if (a == b)                               \
      return signbit(a) ? a : b;              \
    return a < b ? a : b;                     \
  }                                           \
  static inline T greater_##T(T a, T b)       \
  {                                           \
    if (a != a)                               \
      return b;                               \
    if (b != b)                               \
      return a;                               \
    if (a == b)                               \
      return signbit(a) ? b : a;              \
    return a > b ? a : b;                     \
  }                                           \
  FLOATS(min_##T, T, lesser_##T(a[l], b[l]))  \
  FLOATS(max_##T, T, greater_##T(a[l], b[l]))
LESSER(f32)
LESSER(f64)
FLOATS(min_nan_f32, f32,
       isnan(a[l]) || isnan(b[l]) ? NAN : lesser_f32(a[l], b[l]))
FLOATS(max_nan_f32, f32,
       isnan(a[l]) || isnan(b[l]) ? NAN : greater_f32(a[l], b[l]))

FLOATS(rsqrt_f32, f32, (float)(1.0 / sqrt((double)a[l])))
FLOATS(rsqrt_f64, f64, 1.0 / sqrt(a[l]))
FLOATS(ex2_f32, f32, exp2f(a[l]))
FLOATS(lg2_f32, f32, log2f(a[l]))
FLOATS(sin_f32, f32, sinf(a[l]))
FLOATS(cos_f32, f32, cosf(a[l]))
FLOATS(tanh_f32, f32, tanhf(a[l]))

/* These look at the upper word only, and give one. */
static u64 upper_word(double value)
{
  union {
    double value;
    uint64_t bits;
  } both = { value };
  return both.bits & UINT64_C(0xffffffff00000000);
}

static double seed(u64 bits)
{
  union {
    uint64_t bits;
    double value;
  } both = { bits & UINT64_C(0xffffffff00000000) };
  if (fabs(both.value) < 0x1p-1022)
    return copysign(0.0, both.value);
  return both.value;
}

SAME(rcp_seed_f64, u64, upper_word(seed(upper_word(1 / seed(a[l])))))
SAME(rsqrt_seed_f64, u64, upper_word(1 / sqrt(seed(a[l]))))

#define APPROX PTX_BIT(approx)

static const ptx_lanes_entry entries[] = {
#define BOTH(op)                \
  ENTRY(op, f32, 0, op##_f32)   \
  ENTRY(op, f64, 0, op##_f64)
  BOTH(add) BOTH(sub) BOTH(mul) BOTH(div) BOTH(rcp) BOTH(sqrt) BOTH(fma)
  BOTH(neg) BOTH(abs) BOTH(min) BOTH(max) BOTH(copysign)
  ENTRY(mad, f32, 0, fma_f32)
  ENTRY(mad, f64, 0, fma_f64)
  ENTRY(min, f32, PTX_BIT(nan_wins), min_nan_f32)
  ENTRY(max, f32, PTX_BIT(nan_wins), max_nan_f32)
  ENTRY(div, f32, APPROX, div_f32)
  ENTRY(div, f32, PTX_BIT(full), div_f32)
  ENTRY(rcp, f32, APPROX, rcp_f32)
  ENTRY(rcp, f64, APPROX, rcp_seed_f64)
  ENTRY(sqrt, f32, APPROX, sqrt_f32)
  ENTRY(rsqrt, f32, APPROX, rsqrt_f32)
  ENTRY(ex2, f32, APPROX, ex2_f32)
  ENTRY(lg2, f32, APPROX, lg2_f32)
  ENTRY(sin, f32, APPROX, sin_f32)
  ENTRY(cos, f32, APPROX, cos_f32)
  ENTRY(tanh, f32, APPROX, tanh_f32)
  ENTRY(rsqrt, f64, APPROX, rsqrt_f64)
};

const ptx_lanes_table ptx_float_lanes = {
  entries, sizeof entries / sizeof *entries
};

ptx_lanes *ptx_lanes_faster(ptx_lanes *lanes)
{
#ifdef HAVE_FAST_FMA
  bool fast = __builtin_cpu_supports("fma") && __builtin_cpu_supports("avx2");
  if (fast && lanes == fma_f32)
    return fma_fast_f32;
  if (fast && lanes == fma_f64)
    return fma_fast_f64;
#endif
  return lanes;
}

/* rsqrt.approx.ftz.f64 is told from rsqrt.approx.f64 by its .ftz. */
ptx_lanes *ptx_lanes_seed(const ptx_mnemonic *name)
{
  bool seeds = name->form->op == PTX_OP_rsqrt && name->types[0] == PTX_f64 &&
               PTX_HAS(&name->words, ftz);
  return seeds ? rsqrt_seed_f64 : NULL;
}
