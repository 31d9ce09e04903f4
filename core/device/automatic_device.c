#include "config.h"

#include "core/device/automatic_device.h"

#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/log.h"
#include "core/device/host.h"
#include "core/device/registry.h"

static bool is_usable(const tn_backend *backend, int ordinal)
{
  tn_backend_device_info info = { .struct_size = sizeof info };
  tn_host_error_clear();
  tn_status status =
      backend->device.info(backend->api->self, ordinal, &info);
  if (status != TN_OK)
    tn_plugin_error_of_backend(backend, status, "asking for device %d",
                               ordinal);
  else if (info.unavailable[0])
    status = tn_error(TN_DEVICE_UNAVAILABLE, "%s: %.255s", backend->name,
                      info.unavailable);
  return status == TN_OK;
}

tn_status tn_first_usable_device(tn_backend_slot *slot, int *ordinal)
{
  tn_visibility visible;
  tn_status status = tn_slot_use(slot);
  if (status == TN_OK) status = tn_slot_visibility(slot, &visible);
  if (status != TN_OK) return status;
  if (visible.count == 0)
    return tn_slot_refuse_ordinal(slot, 0, &visible);
  for (int i = 0; i < visible.count; i++) {
    *ordinal = i;
    if (is_usable(&slot->backend, visible.ordinals[i])) return TN_OK;
  }
  return TN_DEVICE_UNAVAILABLE;
}

typedef struct choice {
  tn_backend_slot *slot;
  int ordinal;
} choice;

static void consider(tn_backend_slot *slot, choice *best)
{
  int ordinal;
  if (tn_first_usable_device(slot, &ordinal) != TN_OK) {
    tn_log(TN_LOG_INFO, "auto: not %s: %s", slot->backend.name,
           tn_error_message());
    return;
  }
  int32_t rank = slot->api.rank;
  if (rank < 0)
    tn_error(TN_DEVICE_UNAVAILABLE, "backend \"%s\" is used only by name",
             slot->backend.name);
  else if (!best->slot || rank > best->slot->api.rank)
    *best = (choice){ slot, ordinal };
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
  choice best = { NULL, 0 };
  int count = atomic_load(&tn_registry.filled);
  for (int id = 1; id <= count; id++) consider(tn_registry_at(id), &best);
  if (!best.slot) return refuse();
  tn_error_restore(&before);
  *out = (tn_device){ best.slot->backend.id,
                      (int16_t)(best.ordinal ? best.ordinal : -1) };
  return TN_OK;
}
