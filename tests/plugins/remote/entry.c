/* The backend's entry, and its devices. */
#include "tests/plugins/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/host.h"

const tn_host_api *remote_host;

static tn_status count(void *self, int *out)
{
  (void)self;
  *out = REMOTE_DEVICES;
  return TN_OK;
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *out)
{
  (void)self;
  tn_backend_device_info facts = {
    .struct_size = out->struct_size,
    .capabilities = TN_CAP_DENORMALS | TN_CAP_EXACT_DIVIDE,
    .numa_node = -1,
    .driver = "rehearsal",
    .memory_total = REMOTE_MEMORY_BYTES,
    .compute_units = REMOTE_QUEUES,
    .subgroup_sizes = 1,
    .max_group_size = 64,
    .alignment = REMOTE_ALIGNMENT,
    .max_shared_bytes = 32768,
  };
  snprintf(facts.name, sizeof facts.name, "Rehearsal device %d", ordinal);
  memcpy(facts.uuid, "remote rehearsal", sizeof facts.uuid);
  facts.uuid[0] = (uint8_t)(0x10 * (ordinal + 1)); /* unique prefixes */
  size_t size = out->struct_size < sizeof facts ? out->struct_size
                                                : sizeof facts;
  memcpy(out, &facts, size);
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal, tn_backend_device **out)
{
  (void)self;
  if (ordinal < 0 || ordinal >= REMOTE_DEVICES)
    remote_broken("open of device %d", ordinal);
  tn_backend_device *device = calloc(1, sizeof *device);
  if (!device)
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a device");
  device->ordinal = ordinal;
  tn_status status = remote_memory_open(&device->memory);
  if (status) goto free_device;
  status = remote_queues_start(device);
  if (status) goto close_memory;
  *out = device;
  return TN_OK;

close_memory:
  remote_memory_close(&device->memory);
free_device:
  free(device);
  return status;
}

static void close_device(tn_backend_device *device)
{
  if (device->streams)
    remote_broken("device closed with %u streams", device->streams);
  if (atomic_load(&device->modules))
    remote_broken("device closed with %u modules",
                  atomic_load(&device->modules));
  if (atomic_load(&device->graphs))
    remote_broken("device closed with %u graphs",
                  atomic_load(&device->graphs));
  remote_queues_stop(device);
  remote_memory_close(&device->memory);
  free(device);
}

static const tn_backend_device_table device_table = {
  .struct_size = sizeof(tn_backend_device_table),
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

static tn_backend_api api = {
  .struct_size = sizeof(tn_backend_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "remote",
  .version = "0",
  .rank = -1,
  .device = &device_table,
  .alloc = &remote_alloc_table,
  .copy = &remote_copy_table,
  .launch = &remote_launch_table,
  .stream = &remote_stream_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)next;
  remote_host = tn_cpu_host = host;
  remote_rules_init();
  const char *graphs = host->environment("TENON_REMOTE_GRAPHS");
  if (graphs && strcmp(graphs, "1") == 0) {
    api.copy = &remote_copy_fill_table;
    api.graph = &remote_graph_table;
  }
  return &api;
}
