/* Opening devices (device_state.h). */
#include "config.h"

#include "core/device/device_state.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/shutdown.h"
#include "core/device/current_device.h"
#include "core/device/host.h"
#include "core/device/registry.h"

/* From the first use on the visible devices are what they are. */
static tn_status freeze_visibility(tn_backend_slot *slot)
{
  if (atomic_load_explicit(&slot->is_frozen, memory_order_relaxed))
    return TN_OK;
  tn_status status = tn_visibility_read(&slot->backend, &slot->visibility);
  if (status == TN_OK)
    atomic_store_explicit(&slot->is_frozen, true, memory_order_release);
  return status;
}

/* The layers above divide by it. */
static tn_status check_alignment(const tn_device_state *state)
{
  uint32_t alignment = state->info.alignment;
  if (alignment >= 256 && (alignment & (alignment - 1)) == 0) return TN_OK;
  return tn_error(TN_BAD_PLUGIN, "%s:%d: its plugin aligns memory to %u: a "
                  "power of two, at least 256, is needed",
                  state->backend->name, state->device.index, alignment);
}

static tn_status read_info(tn_device_state *state)
{
  const tn_backend *backend = state->backend;
  state->info.struct_size = sizeof state->info;
  state->info.numa_node = -1;
  tn_host_error_clear();
  tn_status status = backend->device.info(backend->api->self,
                                          state->physical, &state->info);
  if (status != TN_OK)
    return tn_plugin_error(state, status, "asking for the device");
  state->info.capabilities = tn_capabilities_of(backend,
                                                state->info.capabilities);
  if (state->info.unavailable[0])
    return tn_error(TN_DEVICE_UNAVAILABLE, "%s:%d: %.255s", backend->name,
                    state->device.index, state->info.unavailable);
  return check_alignment(state);
}

static tn_status call_open(tn_device_state *state)
{
  const tn_backend *backend = state->backend;
  tn_host_error_clear();
  tn_status status = backend->device.open(backend->api->self,
                                          state->physical, &state->handle);
  if (status != TN_OK) return tn_plugin_error(state, status, "opening");
  return TN_OK;
}

static tn_device_state *make_state(const tn_backend_slot *slot, int index)
{
  tn_device_state *state = calloc(1, sizeof *state);
  if (!state) {
    tn_error(TN_OUT_OF_MEMORY, "%s:%d: no memory for its state (%zu bytes)",
             slot->backend.name, index, sizeof *state);
    return NULL;
  }
  state->device = (tn_device){ slot->backend.id, (int16_t)index };
  state->backend = &slot->backend;
  state->physical = slot->visibility.ordinals[index];
  return state;
}

/* Before the plugin is asked to open anything, children count as forked. */
static void mark_in_use(tn_backend_slot *slot)
{
  if (slot->in_use) return;
  tn_fork_mark();
  slot->generation = tn_fork_generation();
  slot->in_use = true;
}

static tn_status open_new(tn_backend_slot *slot, int index)
{
  bool is_first = !slot->in_use;
  tn_device_state *state = make_state(slot, index);
  if (!state) return TN_OUT_OF_MEMORY;
  tn_status status = read_info(state);
  if (status != TN_OK) goto discard;
  mark_in_use(slot);
  status = call_open(state);
  if (status != TN_OK) goto discard;
  if (is_first) tn_shutdown_arm();
  state->next = atomic_load_explicit(&slot->opened, memory_order_relaxed);
  atomic_store_explicit(&slot->opened, state, memory_order_release);
  return TN_OK;
discard:
  free(state);
  return status;
}

static tn_status open_locked(tn_backend_slot *slot, int index,
                             tn_device_state **out)
{
  tn_status status = tn_slot_use_locked(slot);
  if (status == TN_OK) status = freeze_visibility(slot);
  if (status != TN_OK) return status;
  if (index >= slot->visibility.count)
    return tn_slot_refuse_ordinal(slot, index, &slot->visibility);
  if (!tn_slot_opened(slot, index)) status = open_new(slot, index);
  if (status != TN_OK) return status;
  tn_device_state *state = tn_slot_opened(slot, index);
  if (atomic_load(&state->lost))
    return tn_error(TN_DEVICE_LOST, "device \"%s:%d\" is lost: an earlier "
                    "call reported it (tn_device_reset)", slot->backend.name,
                    index);
  atomic_store_explicit(&slot->ready[index], state, memory_order_release);
  *out = state;
  return TN_OK;
}

static tn_status acquire_slowly(tn_device device, tn_device_state **out)
{
  tn_status status = tn_device_resolve(device, &device);
  if (status != TN_OK) return status;
  tn_backend_slot *slot = tn_registry_at(device.backend);
  status = tn_slot_lock(slot);
  if (status != TN_OK) return status;
  status = open_locked(slot, device.index, out);
  tn_slot_unlock(slot);
  return status;
}

tn_status tn_device_acquire(tn_device device, tn_device_state **out)
{
  tn_backend_slot *slot = tn_registry_at(device.backend);
  int index = device.index;
  if (slot && index == -1) index = tn_current_ordinals[device.backend];
  if (slot && (unsigned)index < TN_BACKEND_DEVICES_MAX) {
    *out = atomic_load_explicit(&slot->ready[index], memory_order_acquire);
    if (*out) return TN_OK;
  }
  *out = NULL;
  return acquire_slowly(device, out);
}

void tn_device_visit(void (*visit)(tn_device_state *, void *), void *argument)
{
  int count = atomic_load_explicit(&tn_registry.filled, memory_order_acquire);
  for (int id = 1; id <= count; id++) {
    tn_device_state *state = atomic_load_explicit(
        &tn_registry_at(id)->opened, memory_order_acquire);
    for (; state; state = state->next) visit(state, argument);
  }
}
