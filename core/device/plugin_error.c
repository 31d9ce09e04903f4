/* Errors of plugin calls, told to the program (device_state.h). */
#include "config.h"

#include "core/device/device_state.h"

#include <stdio.h>

#include "core/base/error.h"
#include "core/device/host.h"
#include "core/device/registry.h"

tn_status tn_refuse_absent(const tn_backend *backend, const char *entry)
{
  return tn_error(TN_UNSUPPORTED, "backend \"%s\" has no %s", backend->name,
                  entry);
}

static tn_status tell(const char *who, tn_status status, const char *what,
                      va_list arguments)
{
  char doing[256];
  vsnprintf(doing, sizeof doing, what, arguments);
  tn_error(status, "%s: %s: %s", who, doing, tn_host_error_text(status));
  tn_host_error_clear();
  return status;
}

void tn_device_lose(tn_device_state *state)
{
  atomic_store(&state->lost, true);
  tn_slot_hide(tn_registry_at(state->device.backend));
}

tn_status tn_plugin_error(tn_device_state *state, tn_status status,
                          const char *what, ...)
{
  char device[TN_DEVICE_TEXT_SIZE];
  tn_device_format(state->device, device, sizeof device);
  va_list arguments;
  va_start(arguments, what);
  tell(device, status, what, arguments);
  va_end(arguments);
  if (status == TN_DEVICE_LOST) tn_device_lose(state);
  return status;
}

tn_status tn_plugin_error_of_backend(const tn_backend *backend,
                                     tn_status status, const char *what, ...)
{
  va_list arguments;
  va_start(arguments, what);
  tell(backend->name, status, what, arguments);
  va_end(arguments);
  return status;
}
