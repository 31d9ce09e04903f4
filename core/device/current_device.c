#include "config.h"

#include "core/device/current_device.h"

#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"

TN_HOT_THREAD_LOCAL int16_t tn_current_ordinals[TN_BACKENDS_MAX + 1];

static const tn_device invalid = { -1, -1 };
static const tn_device not_given = { 0, 0 };

/* The invalid device mostly comes from a call that failed just before. */
static bool is_explained(void)
{
  tn_status status = tn_last_status();
  return status == TN_INVALID_DEVICE_STRING || status == TN_UNKNOWN_BACKEND ||
         status == TN_NO_SUCH_DEVICE || status == TN_DEVICE_UNAVAILABLE;
}

/* A second use of the same device: the text has its cause already. */
#define AFTER "the device is the invalid one, after this failure: "
static bool is_told(void)
{
  return tn_last_status() == TN_INVALID_ARGUMENT &&
         strncmp(tn_error_message(), AFTER, sizeof AFTER - 1) == 0;
}

static tn_status refuse_invalid(tn_device device)
{
  if (tn_device_equal(device, not_given))
    return tn_error(TN_INVALID_ARGUMENT, "no device is given");
  if (!tn_device_equal(device, invalid))
    return tn_error(TN_INVALID_ARGUMENT, "backend %d, index %d is no device",
                    device.backend, device.index);
  if (is_told()) return TN_INVALID_ARGUMENT;
  if (!is_explained())
    return tn_error(TN_INVALID_ARGUMENT, "the device is the invalid one");
  return tn_error(TN_INVALID_ARGUMENT, AFTER "%s", tn_error_message());
}

tn_status tn_device_resolve(tn_device device, tn_device *out)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (!tn_registry_at(device.backend) || device.index < -1 ||
      device.index >= TN_BACKEND_DEVICES_MAX)
    return refuse_invalid(device);
  *out = device;
  if (device.index == -1) out->index = tn_current_ordinals[device.backend];
  return TN_OK;
}

tn_status tn_device_check(tn_device device)
{
  tn_backend_slot *slot = tn_registry_at(device.backend);
  if (atomic_load_explicit(&slot->ready[device.index], memory_order_acquire))
    return TN_OK;
  tn_visibility visible;
  tn_status status = tn_slot_use(slot);
  if (status == TN_OK) status = tn_slot_visibility(slot, &visible);
  if (status == TN_OK && device.index >= visible.count)
    status = tn_slot_refuse_ordinal(slot, device.index, &visible);
  return status;
}

tn_status tn_set_device(tn_device device)
{
  tn_status status = tn_device_resolve(device, &device);
  if (status == TN_OK) status = tn_device_check(device);
  if (status == TN_OK) tn_current_ordinals[device.backend] = device.index;
  return status;
}

tn_device tn_current_device(const char *backend)
{
  if (!backend) {
    tn_error(TN_INVALID_ARGUMENT, "tn_current_device: the name is NULL");
    return invalid;
  }
  tn_backend_slot *slot;
  tn_status status =
      tn_registry_require(backend, strlen(backend), backend, &slot);
  if (status != TN_OK) return invalid;
  int id = slot->backend.id;
  return (tn_device){ (int16_t)id, tn_current_ordinals[id] };
}

/* A device that is not given changes nothing, and is no failure. */
tn_device_guard tn_device_push(tn_device device)
{
  tn_device_guard guard = { not_given, 1 };
  if (tn_device_equal(device, not_given)) return guard;
  /* tn_with_device("text") shows what is wrong with the text. */
  if (tn_device_equal(device, invalid) && is_explained())
    return (tn_device_guard){ invalid, 0 };
  tn_device wanted;
  tn_status status = tn_device_resolve(device, &wanted);
  if (status == TN_OK) status = tn_device_check(wanted);
  if (status != TN_OK) return (tn_device_guard){ invalid, 0 };
  guard.saved = (tn_device){ device.backend,
                             tn_current_ordinals[device.backend] };
  tn_current_ordinals[device.backend] = wanted.index;
  return guard;
}

void tn_device_pop(tn_device_guard *guard)
{
  if (!guard || !guard->active) return;
  guard->active = 0;
  if (guard->saved.backend > 0)
    tn_current_ordinals[guard->saved.backend] = guard->saved.index;
}
