/* The images of the built-in kernels: see images.h. */
#include "tests/kernels/images.h"

#include <string.h>

TN_CPU_IMAGE(baseline, tn_kernels_baseline);
#ifdef TN_CPU_LEVELS
TN_CPU_IMAGE(v3, tn_kernels_v3);
TN_CPU_IMAGE(v4, tn_kernels_v4);
#endif

const tn_cpu_image *kernel_image(const char *level)
{
  if (strcmp(level, "baseline") == 0) return &baseline;
#ifdef TN_CPU_LEVELS
  __builtin_cpu_init();
  if (strcmp(level, "v3") == 0)
    return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma") &&
                   __builtin_cpu_supports("bmi2")
               ? &v3 : NULL;
  if (strcmp(level, "v4") == 0)
    return __builtin_cpu_supports("avx512vl") &&
                   __builtin_cpu_supports("avx512dq") &&
                   __builtin_cpu_supports("avx512bw")
               ? &v4 : NULL;
#endif
  return NULL;
}
