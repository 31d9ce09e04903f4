#include "config.h"

#include "core/device/native.h"

#include "core/base/error.h"
#include "core/device/host.h"

tn_status tn_native_handle(tn_device_state *state, tn_native_kind kind,
                           const void *object, void **native)
{
  const tn_backend *backend = state->backend;
  void *handle = NULL;
  *native = NULL;
  if (!backend->device.native_handle)
    return tn_refuse_absent(backend, "device.native_handle");
  tn_host_error_clear();
  tn_status status =
      backend->device.native_handle(state->handle, kind, object, &handle);
  if (status != TN_OK)
    return tn_plugin_error(state, status, "asking for a native handle");
  *native = handle;
  return TN_OK;
}

static tn_status handle_of(tn_device device, tn_native_kind kind,
                           void **native)
{
  tn_device_state *state;
  if (!native)
    return tn_error(TN_INVALID_ARGUMENT, "no place for the native handle");
  *native = NULL;
  tn_status status = tn_device_acquire(device, &state);
  if (status != TN_OK) return status;
  return tn_native_handle(state, kind, NULL, native);
}

tn_status tn_device_native(tn_device device, void **native)
{
  return handle_of(device, TN_NATIVE_DEVICE, native);
}

tn_status tn_device_native_context(tn_device device, void **native)
{
  return handle_of(device, TN_NATIVE_CONTEXT, native);
}
