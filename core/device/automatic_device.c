#include "config.h"

#include "core/device/automatic_device.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/host.h"
#include "core/device/registry.h"

static bool is_usable(const tn_backend *backend, int ordinal,
                      tn_backend_device_info *info)
{
  *info = (tn_backend_device_info){ .struct_size = sizeof *info };
  tn_host_error_clear();
  tn_status status = backend->device.info(backend->api->self, ordinal, info);
  if (status != TN_OK)
    tn_plugin_error_of_backend(backend, status, "asking for device %d",
                               ordinal);
  else if (info->unavailable[0])
    status = tn_error(TN_DEVICE_UNAVAILABLE, "%s: %.255s", backend->name,
                      info->unavailable);
  return status == TN_OK;
}

/* Visits usable devices until `visit` says that it has what it wants;
 * TN_OK if there was a usable one. */
static tn_status visit_usable(
    tn_backend_slot *slot,
    bool (*visit)(tn_backend_slot *slot, int ordinal,
                  const tn_backend_device_info *info, void *argument),
    void *argument)
{
  tn_visibility visible;
  tn_backend_device_info info;
  tn_status status = tn_slot_use(slot);
  if (status == TN_OK) status = tn_slot_visibility(slot, &visible);
  if (status != TN_OK) return status;
  if (visible.count == 0)
    return tn_slot_refuse_ordinal(slot, 0, &visible);
  status = TN_DEVICE_UNAVAILABLE;
  for (int i = 0; i < visible.count; i++) {
    if (!is_usable(&slot->backend, visible.ordinals[i], &info)) continue;
    status = TN_OK;
    if (visit(slot, i, &info, argument)) break;
  }
  return status;
}

static bool be_content(tn_backend_slot *slot, int ordinal,
                       const tn_backend_device_info *info, void *argument)
{
  (void)slot, (void)ordinal, (void)info, (void)argument;
  return true;
}

tn_status tn_backend_check_usable(tn_backend_slot *slot)
{
  return visit_usable(slot, be_content, NULL);
}

typedef struct choice {
  tn_device device; /* not given: none yet */
  int64_t worth;
} choice;

static bool compare(tn_backend_slot *slot, int ordinal,
                    const tn_backend_device_info *info, void *argument)
{
  choice *best = argument;
  bool is_host = info->capabilities & TN_CAP_HOST_CORES;
  int64_t rank = slot->api.rank;
  int64_t worth = is_host ? -rank : rank;
  if (!best->device.backend || worth > best->worth)
    *best = (choice){ { slot->backend.id, (int16_t)(ordinal ? ordinal : -1) },
                      worth };
  return !is_host;
}

static void consider(tn_backend_slot *slot, choice *best)
{
  tn_status status = tn_slot_use(slot);
  if (status == TN_OK && slot->api.rank < 0)
    status = tn_error(TN_DEVICE_UNAVAILABLE, "backend \"%s\" is used only "
                      "when it is named", slot->backend.name);
  if (status == TN_OK) status = visit_usable(slot, compare, best);
  if (status != TN_OK)
    tn_log(TN_LOG_INFO, "auto: not %s: %s", slot->backend.name,
           tn_error_message());
}

/* One reason for each backend would not fit a line; the first stands for
 * them, and `tenon doctor` tells all. */
static tn_status refuse(void)
{
  char reason[TN_ERROR_TEXT_SIZE], places[512];
  if (atomic_load(&tn_registry.filled) > 0) {
    snprintf(reason, sizeof reason, "%s", tn_error_message());
    return tn_error(TN_DEVICE_UNAVAILABLE, "device \"auto\": no backend has a "
                    "device that can be used here; the last one: %s", reason);
  }
  tn_search_describe(places, sizeof places);
  return tn_error(TN_DEVICE_UNAVAILABLE, "device \"auto\": no backend is "
                  "installed; looked for in %s", places);
}

tn_status tn_automatic_device(tn_device *out)
{
  tn_error_state before;
  tn_error_save(&before);
  tn_registry_locate_all();
  choice best = { { 0, 0 }, 0 };
  int count = atomic_load(&tn_registry.filled);
  for (int id = 1; id <= count; id++) consider(tn_registry_at(id), &best);
  if (!best.device.backend) return refuse();
  tn_error_restore(&before);
  *out = best.device;
  return TN_OK;
}
