/* Counting and describing devices without opening them (tenon/device.h). */
#include "config.h"

#include "tenon/device.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/automatic_device.h"
#include "core/device/current_device.h"
#include "core/device/host.h"
#include "core/device/registry.h"

int tn_device_count(const char *backend)
{
  if (!backend) {
    tn_error(TN_INVALID_ARGUMENT, "tn_device_count: the name is NULL");
    return 0;
  }
  tn_backend_slot *slot;
  tn_visibility visible;
  tn_status status =
      tn_registry_require(backend, strlen(backend), backend, &slot);
  if (status == TN_OK) status = tn_slot_use(slot);
  if (status == TN_OK) status = tn_slot_visibility(slot, &visible);
  return status == TN_OK ? visible.count : 0;
}

bool tn_is_available(const char *backend)
{
  tn_error_state before;
  tn_error_save(&before);
  tn_backend_slot *slot;
  bool is_usable =
      backend &&
      tn_registry_require(backend, strlen(backend), backend, &slot) ==
          TN_OK &&
      tn_backend_check_usable(slot) == TN_OK;
  tn_error_restore(&before);
  return is_usable;
}

int tn_backend_list(const char **names, int capacity)
{
  if (tn_is_shut_down()) {
    tn_refuse_shut_down();
    return 0;
  }
  tn_registry_locate_all();
  int count = atomic_load_explicit(&tn_registry.filled, memory_order_acquire);
  for (int i = 0; names && i < count && i < capacity; i++)
    names[i] = tn_registry.names[i + 1];
  return count;
}

/* 8-4-4-4-12; "" for a device without one. */
static void write_uuid(const uint8_t uuid[16], char text[37])
{
  static const uint8_t none[16];
  text[0] = 0;
  if (memcmp(uuid, none, sizeof none) == 0) return;
  for (int i = 0, at = 0; i < 16; i++) {
    if (i == 4 || i == 6 || i == 8 || i == 10) text[at++] = '-';
    at += snprintf(text + at, (size_t)(37 - at), "%02x", uuid[i]);
  }
}

/* A plugin's text may lack its end. */
static void copy_text(char *to, size_t size, const char *from, size_t most)
{
  snprintf(to, size, "%.*s", (int)strnlen(from, most), from);
}
#define COPY_TEXT(to, from) copy_text(to, sizeof(to), from, sizeof(from))

static void write_capabilities(uint32_t bits, tn_device_info *out)
{
  out->host_access = bits & TN_CAP_HOST_ACCESS;
  out->f64 = bits & TN_CAP_F64;
  out->fast_fma = bits & TN_CAP_FAST_FMA;
  out->denormals = bits & TN_CAP_DENORMALS;
  out->exact_divide = bits & TN_CAP_EXACT_DIVIDE;
  out->unified = bits & TN_CAP_UNIFIED;
  out->atomic64 = bits & TN_CAP_ATOMIC64;
}

static void write_facts(const tn_backend_device_info *info,
                        tn_device_info *out)
{
  COPY_TEXT(out->name, info->name);
  COPY_TEXT(out->driver, info->driver);
  COPY_TEXT(out->unavailable, info->unavailable);
  COPY_TEXT(out->pci_id, info->pci_id);
  COPY_TEXT(out->not_reproducible, info->not_reproducible);
  write_uuid(info->uuid, out->uuid);
  write_capabilities(info->capabilities, out);
  out->memory_total = info->memory_total;
  out->compute_units = info->compute_units;
  out->max_group_size = info->max_group_size;
  out->subgroup_sizes = info->subgroup_sizes;
  out->numa_node = info->numa_node;
  out->max_shared_bytes = info->max_shared_bytes;
}

static void write_backend(const tn_backend *backend, tn_device_info *out)
{
  snprintf(out->backend, sizeof out->backend, "%s", backend->name);
  snprintf(out->backend_version, sizeof out->backend_version, "%s",
           backend->api->version);
  out->has_launch = backend->has_launch;
  out->has_stream = backend->has_stream;
  out->has_graph = backend->has_graph;
}

static uint64_t generation_of(tn_backend_slot *slot, int index)
{
  const tn_device_state *state = tn_slot_opened(slot, index);
  return state ? atomic_load(&state->generation) : 0;
}

/* The device is there: if its plugin cannot describe it, that is a fact about
 * the device. */
static void describe(tn_backend_slot *slot, int index, int physical,
                     tn_device_info *out)
{
  const tn_backend *backend = &slot->backend;
  tn_backend_device_info info = { .struct_size = sizeof info,
                                  .numa_node = -1 };
  write_backend(backend, out);
  out->generation = generation_of(slot, index);
  tn_host_error_clear();
  tn_status status =
      backend->device.info(backend->api->self, physical, &info);
  info.capabilities = tn_capabilities_of(backend, info.capabilities);
  if (status == TN_OK) write_facts(&info, out);
  else
    snprintf(out->unavailable, sizeof out->unavailable, "%s",
             tn_host_error_text(status));
}

tn_status tn_device_get_info(tn_device device, tn_device_info *out)
{
  if (!out)
    return tn_error(TN_INVALID_ARGUMENT, "tn_device_get_info: out is NULL");
  memset(out, 0, sizeof *out);
  out->numa_node = -1;
  tn_status status = tn_device_resolve(device, &device);
  if (status != TN_OK) return status;
  tn_backend_slot *slot = tn_registry_at(device.backend);
  tn_visibility visible;
  status = tn_slot_use(slot);
  if (status == TN_OK) status = tn_slot_visibility(slot, &visible);
  if (status != TN_OK) return status;
  if (device.index >= visible.count)
    return tn_slot_refuse_ordinal(slot, device.index, &visible);
  describe(slot, device.index, visible.ordinals[device.index], out);
  return TN_OK;
}
