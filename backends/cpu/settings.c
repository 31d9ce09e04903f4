#include "backends/cpu/settings.h"

#include <limits.h>
#include <stdio.h>
#include <string.h>

#include "backends/cpu/fma.h"
#include "backends/cpu/host.h"
#include "backends/cpu/machine.h"

static tn_cpu_settings settings;

/* A number without sign, leading zeros or anything around it. */
static bool number_parse(const char *text, int least, int most, int *value)
{
  long number = 0;
  if (*text < '1' || *text > '9') return false;
  for (; *text >= '0' && *text <= '9'; text++) {
    number = number * 10 + (*text - '0');
    if (number > most) return false;
  }
  *value = (int)number;
  return !*text && number >= least;
}

static void number_read(const char *name, int most, int *value)
{
  const char *text = tn_cpu_host->environment(name);
  if (!text || number_parse(text, 1, most, value)) return;
  snprintf(settings.problem, sizeof settings.problem,
           "%s=\"%.64s\": must be a number from 1 to %d", name, text, most);
}

static void level_read(void)
{
  settings.level = tn_cpu_level_best();
  const char *text = tn_cpu_host->environment("TENON_CPU_ISA");
  if (!text) return;
  int level = 0;
  while (level < TN_CPU_LEVELS &&
         strcmp(text, tn_cpu_level_name((tn_cpu_level)level)) != 0)
    level++;
  const char *why = level == TN_CPU_LEVELS
                      ? "unknown level"
                      : tn_cpu_level_problem((tn_cpu_level)level);
  if (!why)
    settings.level = (tn_cpu_level)level;
  else
    snprintf(settings.problem, sizeof settings.problem,
             "TENON_CPU_ISA=\"%.64s\": %s: here it may be baseline%s%s", text,
             why, tn_cpu_level_problem(TN_CPU_V3) ? "" : ", v3",
             tn_cpu_level_problem(TN_CPU_V4) ? "" : ", v4");
}

/* Only at this level kernels call it. */
static void fma_find(void)
{
  if (settings.level != TN_CPU_BASELINE || tn_cpu_fma_setup()) return;
  snprintf(settings.problem, sizeof settings.problem,
           "level baseline needs fma and fmaf of libm.so.6, which is not here");
}

void tn_cpu_settings_read(void)
{
  settings.problem[0] = 0;
  settings.device_count = 1;
  settings.processors = tn_cpu_machine_processors();
  settings.thread_count = settings.processors;
  if (settings.thread_count > TN_CPU_THREADS_MAX)
    settings.thread_count = TN_CPU_THREADS_MAX;
  number_read("TENON_CPU_DEVICES", TN_CPU_DEVICES_MAX,
              &settings.device_count);
  number_read("TENON_NUM_THREADS", TN_CPU_THREADS_MAX,
              &settings.thread_count);
  settings.chaos_seed = 0;
  number_read("TENON_CPU_CHAOS", INT_MAX, &settings.chaos_seed);
  level_read();
  fma_find();
}

const tn_cpu_settings *tn_cpu_settings_get(void)
{
  return &settings;
}
