/* Tenon's own kernels, built into this plugin once for each level. */
#ifndef TN_BACKENDS_CPU_IMAGE_H
#define TN_BACKENDS_CPU_IMAGE_H

#include "backends/cpu/level.h"

/* All kernels of all families at a level that was built. */
const tn_cpu_image *tn_cpu_image_get(tn_cpu_level level);

#endif
