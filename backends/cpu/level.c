#include "backends/cpu/level.h"

/* The C library knows the processor's features from program start. Asking the
 * processor takes up to 75 us for each question in a virtual machine. */
#if defined(TN_CPU_HAS_LEVELS) && __has_include(<sys/platform/x86.h>)
#include <sys/platform/x86.h>
#define HAS(library_name, compiler_name) is_active(x86_cpu_##library_name)
#define KNOWS_ALL 1

/* As x86_cpu_active, which shifts into the sign. A feature's index counts the
 * bits of leaves of four words. */
static bool is_active(unsigned index)
{
  const struct cpuid_feature *leaf = __x86_get_cpuid_feature_leaf(index / 128);
  return leaf->active_array[index / 32 % 4] >> index % 32 & 1;
}
#elif defined(TN_CPU_HAS_LEVELS)
#define HAS(library_name, compiler_name) __builtin_cpu_supports(compiler_name)
#define KNOWS_ALL 0
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

/* Every processor with AVX2 and BMI2 has those the compiler cannot ask for. */
static bool has_v3(void)
{
#if KNOWS_ALL
  if (!HAS(F16C, ) || !HAS(LZCNT, ) || !HAS(MOVBE, )) return false;
#endif
  return HAS(AVX2, "avx2") && HAS(FMA, "fma") && HAS(BMI1, "bmi") &&
         HAS(BMI2, "bmi2") && HAS(POPCNT, "popcnt") &&
         HAS(SSE4_2, "sse4.2");
}

static bool has_v4(void)
{
  return has_v3() && HAS(AVX512F, "avx512f") && HAS(AVX512BW, "avx512bw") &&
         HAS(AVX512CD, "avx512cd") && HAS(AVX512DQ, "avx512dq") &&
         HAS(AVX512VL, "avx512vl");
}

const char *tn_cpu_level_problem(tn_cpu_level level)
{
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
