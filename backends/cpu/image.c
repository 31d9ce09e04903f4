#include "backends/cpu/image.h"

TN_CPU_IMAGE(baseline, tn_kernels_baseline);
#ifdef TN_CPU_HAS_LEVELS
TN_CPU_IMAGE(v3, tn_kernels_v3);
TN_CPU_IMAGE(v4, tn_kernels_v4);
#endif

const tn_cpu_image *tn_cpu_image_get(tn_cpu_level level)
{
#ifdef TN_CPU_HAS_LEVELS
  if (level == TN_CPU_V3) return &v3;
  if (level == TN_CPU_V4) return &v4;
#endif
  (void)level;
  return &baseline;
}
