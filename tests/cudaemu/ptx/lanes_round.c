/* Directed rounding: f32 and f64 in the modes rz, rm and rp.  Compiled with
 * -frounding-math. */
#include "tests/cudaemu/ptx/lane.h"

#include <fenv.h>
#include <math.h>

#if defined(__clang__)
#pragma STDC FENV_ACCESS ON
#endif

static int mode_of(ptx_word round)
{
  switch (round) {
  case PTX_WORD_rz:
    return FE_TOWARDZERO;
  case PTX_WORD_rm:
    return FE_DOWNWARD;
  case PTX_WORD_rp:
    return FE_UPWARD;
  default:
    return FE_TONEAREST;
  }
}

/* volatile keeps the operation between the two changes of mode. */
#define ROUNDED(name, T, mode, ...)                   \
  static void name##_##mode(ARGUMENTS)                \
  {                                                   \
    T *d = dv;                                        \
    const T *a = av, *b = bv, *c = cv;                \
    (void)a, (void)b, (void)c, (void)ev;              \
    fesetround(mode_of(PTX_WORD_##mode));             \
    for (int l = 0; l < 32; l++) {                    \
      volatile T result = (T)(__VA_ARGS__);           \
      d[l] = result;                                  \
    }                                                 \
    fesetround(FE_TONEAREST);                         \
    lane_canonical_##T(dv);                           \
  }
#define MODES(name, T, ...)          \
  ROUNDED(name, T, rz, __VA_ARGS__)  \
  ROUNDED(name, T, rm, __VA_ARGS__)  \
  ROUNDED(name, T, rp, __VA_ARGS__)
#define OPERATIONS(T)                \
  MODES(add_##T, T, a[l] + b[l])     \
  MODES(sub_##T, T, a[l] - b[l])     \
  MODES(mul_##T, T, a[l] * b[l])     \
  MODES(div_##T, T, a[l] / b[l])     \
  MODES(rcp_##T, T, 1 / a[l])
OPERATIONS(f32)
OPERATIONS(f64)
MODES(sqrt_f32, f32, sqrtf(a[l]))
MODES(sqrt_f64, f64, sqrt(a[l]))
MODES(fma_f32, f32, fmaf(a[l], b[l], c[l]))
MODES(fma_f64, f64, fma(a[l], b[l], c[l]))

#define CONVERSION(name, T, S)                        \
  T name(S value, ptx_word round)                     \
  {                                                   \
    volatile S from = value;                          \
    fesetround(mode_of(round));                       \
    volatile T result = (T)from;                      \
    fesetround(FE_TONEAREST);                         \
    return result;                                    \
  }
CONVERSION(ptx_round_to_f32, float, double)
CONVERSION(ptx_round_signed_to_f32, float, int64_t)
CONVERSION(ptx_round_unsigned_to_f32, float, uint64_t)
CONVERSION(ptx_round_signed_to_f64, double, int64_t)
CONVERSION(ptx_round_unsigned_to_f64, double, uint64_t)

static const ptx_lanes_entry entries[] = {
#define MODE_ENTRIES(op, T, name)                     \
  ENTRY(op, T, PTX_BIT(rz), name##_##T##_rz)          \
  ENTRY(op, T, PTX_BIT(rm), name##_##T##_rm)          \
  ENTRY(op, T, PTX_BIT(rp), name##_##T##_rp)
#define ALL_ENTRIES(op, name)                         \
  MODE_ENTRIES(op, f32, name) MODE_ENTRIES(op, f64, name)
  ALL_ENTRIES(add, add) ALL_ENTRIES(sub, sub) ALL_ENTRIES(mul, mul)
  ALL_ENTRIES(div, div) ALL_ENTRIES(rcp, rcp) ALL_ENTRIES(sqrt, sqrt)
  ALL_ENTRIES(fma, fma) ALL_ENTRIES(mad, fma)
};

const ptx_lanes_table ptx_round_lanes = {
  entries, sizeof entries / sizeof *entries
};
