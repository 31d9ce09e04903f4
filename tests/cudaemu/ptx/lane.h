/* For the files that define functions over lanes. */
#ifndef TN_TESTS_CUDAEMU_LANE_H
#define TN_TESTS_CUDAEMU_LANE_H

#include "tests/cudaemu/ptx/lanes.h"

/* Registers are untyped memory, read as whatever an instruction says. */
#define ALIASING __attribute__((may_alias))
typedef int16_t s16 ALIASING;
typedef int32_t s32 ALIASING;
typedef int64_t s64 ALIASING;
typedef uint16_t u16 ALIASING;
typedef uint32_t u32 ALIASING;
typedef uint64_t u64 ALIASING;
typedef float f32 ALIASING;
typedef double f64 ALIASING;

/* Lane l depends on lane l only. */
#if defined(__clang__)
#pragma clang diagnostic ignored "-Wpass-failed"
#define INDEPENDENT _Pragma("clang loop vectorize(assume_safety)")
#else
#define INDEPENDENT _Pragma("GCC ivdep")
#endif
#define EACH(l) INDEPENDENT for (int l = 0; l < 32; l++)

#define ARGUMENTS                                                     \
  void *dv, const void *av, const void *bv, const void *cv, const void *ev

/* d = expression in a, b, c of lane l */
#define LANES(name, D, A, B, C, ...)          \
  static void name(ARGUMENTS)                 \
  {                                           \
    D *d = dv;                                \
    const A *a = av;                          \
    const B *b = bv;                          \
    const C *c = cv;                          \
    (void)a, (void)b, (void)c, (void)ev;      \
    EACH(l) d[l] = (D)(__VA_ARGS__);          \
  }
#define SAME(name, T, ...) LANES(name, T, T, T, T, __VA_ARGS__)

/* NaN results of f32 are 0x7fffffff; those of f64 are chosen. */
static inline void lane_canonical_f32(void *values)
{
  u32 *v = values;
  EACH(l) v[l] = (v[l] & 0x7fffffff) > 0x7f800000 ? 0x7fffffff : v[l];
}

static inline void lane_canonical_f64(void *values)
{
  const u64 infinity = UINT64_C(0x7ff0000000000000);
  u64 *v = values;
  EACH(l)
    v[l] = (v[l] & (UINT64_MAX >> 1)) > infinity
             ? UINT64_C(0xfff8000000000000) : v[l];
}

/* As LANES, for float types. */
#define FLOATS(name, T, ...)                  \
  static void name(ARGUMENTS)                 \
  {                                           \
    T *d = dv;                                \
    const T *a = av, *b = bv, *c = cv;        \
    (void)a, (void)b, (void)c, (void)ev;      \
    EACH(l) d[l] = (T)(__VA_ARGS__);          \
    lane_canonical_##T(dv);                   \
  }

#define ENTRY(op, type, words, lanes) \
  { PTX_OP_##op, PTX_##type, PTX_NO_TYPE, words, lanes },

#endif
