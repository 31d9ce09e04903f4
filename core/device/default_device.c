/* The process's default device (tenon/device.h). */
#include "config.h"

#include "tenon/device.h"

#include <stdatomic.h>
#include <stdio.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/current_device.h"

/* Not given until it is set, or first asked for with success. A pair of
 * int16_t is read and written whole. */
static _Atomic tn_device chosen;

static const tn_device invalid = { -1, -1 };

static tn_device read_initial(void)
{
  const char *text = tn_environment("TENON_DEVICE");
  tn_device device;
  if (!text || !*text) return tn_device_of("cpu");
  if (tn_device_parse(text, &device) == TN_OK) return device;
  char reason[TN_ERROR_TEXT_SIZE];
  snprintf(reason, sizeof reason, "%s", tn_error_message());
  tn_error(tn_last_status(), "TENON_DEVICE=%.60s: %s", text, reason);
  return invalid;
}

tn_device tn_default_device(void)
{
  tn_device device = atomic_load_explicit(&chosen, memory_order_relaxed);
  if (tn_is_shut_down()) {
    tn_refuse_shut_down();
    return invalid;
  }
  if (device.backend) return device;
  device = read_initial();
  /* Not over what another thread set meanwhile. */
  tn_device none = { 0, 0 };
  if (device.backend > 0 &&
      !atomic_compare_exchange_strong(&chosen, &none, device))
    return none;
  return device;
}

tn_status tn_set_default_device(tn_device device)
{
  tn_device resolved;
  tn_status status = tn_device_resolve(device, &resolved);
  if (status == TN_OK && device.index != -1)
    status = tn_device_check(resolved);
  else if (status == TN_OK)
    status = tn_slot_use(tn_registry_at(device.backend));
  if (status == TN_OK) atomic_store(&chosen, device);
  return status;
}
