#include "backends/cpu/device.h"

#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/alloc.h"
#include "backends/cpu/chaos.h"
#include "backends/cpu/graph.h"
#include "backends/cpu/host.h"
#include "backends/cpu/launch.h"
#include "backends/cpu/machine.h"
#include "backends/cpu/quarantine.h"
#include "backends/cpu/settings.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/workers.h"

/* Shared arrays of a group lie on the stack of the thread that runs it. */
#define SHARED_MAX (256u << 10) /* bytes */

static tn_status settings_check(void)
{
  const char *problem = tn_cpu_settings_get()->problem;
  if (!*problem) return TN_OK;
  return tn_cpu_host->error(TN_DEVICE_UNAVAILABLE, "%s", problem);
}

static tn_status ordinal_check(int ordinal)
{
  tn_status status = settings_check();
  if (status) return status;
  int count = tn_cpu_settings_get()->device_count;
  if (ordinal >= 0 && ordinal < count) return TN_OK;
  return tn_cpu_host->error(TN_NO_SUCH_DEVICE,
                            "no such device: cpu has %d device%s; "
                            "TENON_CPU_DEVICES sets how many",
                            count, count == 1 ? "" : "s");
}

tn_status tn_cpu_device_count(void *self, int *count)
{
  (void)self;
  tn_status status = settings_check();
  if (status) return status;
  *count = tn_cpu_settings_get()->device_count;
  return TN_OK;
}

static uint32_t capabilities(void)
{
  uint32_t all = TN_CAP_HOST_ACCESS | TN_CAP_F64 | TN_CAP_DENORMALS |
                 TN_CAP_EXACT_DIVIDE | TN_CAP_UNIFIED | TN_CAP_ATOMIC64 |
                 TN_CAP_INLINE_DEFAULT | TN_CAP_HOST_CORES;
  if (tn_cpu_level_has_fma(tn_cpu_settings_get()->level))
    all |= TN_CAP_FAST_FMA;
  return all;
}

/* Read once: nothing tells when a control group's limit changes. */
static uint64_t memory_total(void)
{
  static _Atomic uint64_t known;
  uint64_t bytes = atomic_load(&known);
  if (bytes) return bytes;
  uint64_t limit = tn_cpu_machine_limit("");
  bytes = tn_cpu_machine_memory();
  if (limit < bytes) bytes = limit;
  atomic_store(&known, bytes);
  return bytes;
}

static void info_fill(int ordinal, tn_backend_device_info *info)
{
  const tn_cpu_settings *settings = tn_cpu_settings_get();
  info->capabilities = capabilities();
  info->numa_node = tn_cpu_machine_numa_node();
  tn_cpu_machine_name(info->name, sizeof info->name);
  snprintf(info->driver, sizeof info->driver, "level %s, %d thread%s",
           tn_cpu_level_name(settings->level), settings->thread_count,
           settings->thread_count == 1 ? "" : "s");
  tn_cpu_machine_uuid(info->name, ordinal, info->uuid);
  info->memory_total = memory_total();
  info->compute_units = (uint32_t)settings->thread_count;
  info->subgroup_sizes = 1;
  info->max_group_size = TN_CPU_GROUP_MAX;
  info->alignment = TN_CPU_ALIGNMENT;
  info->max_shared_bytes = SHARED_MAX;
}

tn_status tn_cpu_device_info(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  (void)self;
  tn_status status = ordinal_check(ordinal);
  if (status) return status;
  tn_backend_device_info facts;
  memset(&facts, 0, sizeof facts);
  info_fill(ordinal, &facts);
  size_t size = info->struct_size;
  if (size > sizeof facts) size = sizeof facts;
  facts.struct_size = info->struct_size;
  memcpy(info, &facts, size);
  return TN_OK;
}

tn_status tn_cpu_device_open(void *self, int ordinal,
                             tn_backend_device **out)
{
  (void)self;
  tn_status status = ordinal_check(ordinal);
  if (status) return status;
  tn_backend_device *device = malloc(sizeof *device);
  if (!device)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for a device");
  device->ordinal = ordinal;
  device->memory = memory_total();
  *out = device;
  return TN_OK;
}

void tn_cpu_device_close(tn_backend_device *device)
{
  free(device);
}

void tn_cpu_device_shutdown(void *self)
{
  (void)self;
  tn_cpu_streams_stop();
  tn_cpu_workers_stop();
  tn_cpu_quarantine_empty();
}

tn_status tn_cpu_device_after_fork(void *self)
{
  (void)self;
  tn_cpu_workers_after_fork();
  tn_cpu_streams_after_fork();
  tn_cpu_graphs_after_fork();
  tn_cpu_chaos_after_fork();
  tn_cpu_quarantine_after_fork();
  return TN_OK;
}
