/* What the environment asks of the cpu backend, read once at load. */
#ifndef TN_BACKENDS_CPU_SETTINGS_H
#define TN_BACKENDS_CPU_SETTINGS_H

#include "backends/cpu/level.h"

#define TN_CPU_DEVICES_MAX 64
#define TN_CPU_THREADS_MAX 1024

typedef struct tn_cpu_settings {
  /* One line, "" if all is well. With a problem the backend has no devices:
   * what was asked for is never replaced by something else. */
  char problem[256];
  int device_count;   /* TENON_CPU_DEVICES: 1 */
  int processors;     /* of the affinity mask */
  int thread_count;   /* TENON_NUM_THREADS: as many */
  tn_cpu_level level; /* TENON_CPU_ISA: the best there is */
  int chaos_seed;     /* TENON_CPU_CHAOS: 0, which is none */
} tn_cpu_settings;

/* Reads the environment through the host. Called once, at load. */
void tn_cpu_settings_read(void);

const tn_cpu_settings *tn_cpu_settings_get(void);

#endif
