/* Bringing lost devices back (tenon/device.h). */
#include "config.h"

#include "core/device/device_state.h"

#include "core/base/error.h"
#include "core/device/current_device.h"
#include "core/device/host.h"

typedef void reset_hook(tn_device_state *state);

static _Atomic(reset_hook *) hooks[TN_SHUTDOWN_STEP_COUNT];

void tn_device_reset_hook(tn_shutdown_step layer,
                          void (*hook)(tn_device_state *state))
{
  atomic_store(&hooks[layer], hook);
}

static tn_status check_layer(const tn_device_state *state,
                             tn_shutdown_step layer, bool is_used,
                             const char *what)
{
  if (!is_used || atomic_load(&hooks[layer])) return TN_OK;
  return tn_error(TN_UNSUPPORTED, "device \"%s:%d\" cannot be reset: its %s "
                  "are still in use", state->backend->name,
                  state->device.index, what);
}

static tn_status check_layers(tn_device_state *state)
{
  bool has_streams = atomic_load(&state->default_stream) != NULL ||
                     atomic_load(&state->streams) != NULL;
  bool has_memory = atomic_load(&state->allocator) != NULL;
  bool has_kernels = atomic_load(&state->launcher) != NULL;
  tn_status status = check_layer(state, TN_SHUTDOWN_LAUNCH, has_kernels,
                                 "kernels");
  if (status == TN_OK)
    status = check_layer(state, TN_SHUTDOWN_MEMORY, has_memory, "memory");
  if (status == TN_OK)
    status = check_layer(state, TN_SHUTDOWN_EXEC, has_streams, "streams");
  return status;
}

static void drop_objects(tn_device_state *state)
{
  for (int layer = TN_SHUTDOWN_GRAPH; layer <= TN_SHUTDOWN_EXEC; layer++) {
    reset_hook *hook = atomic_load(&hooks[layer]);
    if (hook) hook(state);
  }
  for (size_t i = 0; i < sizeof state->peers / sizeof state->peers[0]; i++)
    atomic_store(&state->peers[i], 0);
}

static tn_status reset(tn_device_state *state)
{
  const tn_backend *backend = state->backend;
  uint64_t generation;
  if (!backend->device.reset)
    return tn_refuse_absent(backend, "device.reset");
  tn_status status = check_layers(state);
  if (status != TN_OK) return status;
  drop_objects(state);
  tn_host_error_clear();
  status = backend->device.reset(state->handle, &generation);
  if (status != TN_OK) return tn_plugin_error(state, status, "resetting");
  atomic_store(&state->generation, generation);
  atomic_store(&state->lost, false);
  return TN_OK;
}

static tn_status reset_locked(tn_backend_slot *slot, int index)
{
  tn_status status = tn_slot_use_locked(slot);
  if (status != TN_OK) return status;
  tn_device_state *state = tn_slot_opened(slot, index);
  if (state && atomic_load(&state->lost)) return reset(state);
  return tn_error(TN_INVALID_ARGUMENT, "device \"%s:%d\" is not lost: there "
                  "is nothing to reset", slot->backend.name, index);
}

tn_status tn_device_reset(tn_device device)
{
  tn_status status = tn_device_resolve(device, &device);
  if (status != TN_OK) return status;
  tn_backend_slot *slot = tn_registry_at(device.backend);
  status = tn_slot_lock(slot);
  if (status != TN_OK) return status;
  status = reset_locked(slot, device.index);
  tn_slot_unlock(slot);
  return status;
}
