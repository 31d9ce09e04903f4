#include "backends/cpu/level.h"

#ifdef TN_CPU_HAS_LEVELS
#include <cpuid.h>
#endif

const char *tn_cpu_level_name(tn_cpu_level level)
{
  static const char *const names[TN_CPU_LEVELS] = { "baseline", "v3", "v4" };
  return names[level];
}

const char *const *tn_cpu_level_flags(tn_cpu_level level, size_t *count)
{
  static const char *const flags[] = {
    "-march=x86-64-v3",
    "-march=x86-64-v4", "-mprefer-vector-width=512",
  };
  *count = level == TN_CPU_BASELINE ? 0 : level == TN_CPU_V3 ? 1 : 2;
  return level == TN_CPU_V4 ? flags + 1 : flags;
}

#ifdef TN_CPU_HAS_LEVELS

/* Those of v3 that __builtin_cpu_supports does not know in every compiler. */
static bool has_small_features(void)
{
  unsigned a, b, c, d;
  const unsigned movbe = 1u << 22, f16c = 1u << 29, lzcnt = 1u << 5;
  if (!__get_cpuid(1, &a, &b, &c, &d)) return false;
  if ((c & (movbe | f16c)) != (movbe | f16c)) return false;
  return __get_cpuid(0x80000001u, &a, &b, &c, &d) && (c & lzcnt);
}

static bool has_v3(void)
{
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
         __builtin_cpu_supports("bmi") && __builtin_cpu_supports("bmi2") &&
         __builtin_cpu_supports("popcnt") &&
         __builtin_cpu_supports("sse4.2") && has_small_features();
}

static bool has_v4(void)
{
  return has_v3() && __builtin_cpu_supports("avx512f") &&
         __builtin_cpu_supports("avx512bw") &&
         __builtin_cpu_supports("avx512cd") &&
         __builtin_cpu_supports("avx512dq") &&
         __builtin_cpu_supports("avx512vl");
}

const char *tn_cpu_level_problem(tn_cpu_level level)
{
  __builtin_cpu_init();
  bool has = level == TN_CPU_BASELINE ||
             (level == TN_CPU_V3 ? has_v3() : has_v4());
  return has ? NULL : "this processor lacks its instructions";
}

#else

const char *tn_cpu_level_problem(tn_cpu_level level)
{
  return level == TN_CPU_BASELINE ? NULL
                                  : "this plugin was built without it";
}

#endif

tn_cpu_level tn_cpu_level_best(void)
{
  int level = TN_CPU_LEVELS - 1;
  while (tn_cpu_level_problem((tn_cpu_level)level)) level--;
  return (tn_cpu_level)level;
}

bool tn_cpu_level_has_fma(tn_cpu_level level)
{
#if defined(__FMA__) || defined(__aarch64__)
  (void)level;
  return true;
#else
  return level != TN_CPU_BASELINE;
#endif
}
