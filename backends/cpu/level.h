/* The instruction-set levels that kernels are built for. */
#ifndef TN_BACKENDS_CPU_LEVEL_H
#define TN_BACKENDS_CPU_LEVEL_H

#include <stdbool.h>
#include <stddef.h>

#include "tenon/kernel_lang.h"

typedef enum tn_cpu_level {
  TN_CPU_BASELINE, /* what the plugin itself is compiled for */
  TN_CPU_V3,       /* x86-64-v3: AVX2 and fma */
  TN_CPU_V4,       /* x86-64-v4: AVX-512 */
  TN_CPU_LEVELS
} tn_cpu_level;

/* "baseline", "v3", "v4". */
const char *tn_cpu_level_name(tn_cpu_level level);

/* Flags that make a compiler build for a level: `count` words. */
const char *const *tn_cpu_level_flags(tn_cpu_level level, size_t *count);

/* Why a level cannot be used here; NULL if it can. */
const char *tn_cpu_level_problem(tn_cpu_level level);

/* The highest level that can be used here. */
tn_cpu_level tn_cpu_level_best(void);

/* Whether fma is one instruction at this level. */
bool tn_cpu_level_has_fma(tn_cpu_level level);

#endif
