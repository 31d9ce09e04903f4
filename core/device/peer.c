#include "config.h"

#include "core/device/peer.h"

#include "core/base/error.h"
#include "core/device/host.h"
#include "core/device/registry.h"

/* Enabling is rare, and takes the lock of the backend; reading is done for
 * each launch that mixes devices, and takes none. */

static uint64_t bit_of(const tn_device_state *to)
{
  return UINT64_C(1) << (to->device.index % 64);
}

static _Atomic uint64_t *word_of(tn_device_state *from,
                                 const tn_device_state *to)
{
  return &from->peers[to->device.index / 64];
}

bool tn_peer_is_enabled(const tn_device_state *from,
                        const tn_device_state *to)
{
  if (from == to) return true;
  if (from->backend != to->backend) return false;
  return atomic_load_explicit(&from->peers[to->device.index / 64],
                              memory_order_acquire) & bit_of(to);
}

tn_status tn_peer_query(tn_device_state *from, tn_device_state *to,
                        bool *possible)
{
  const tn_backend *backend = from->backend;
  int answer = 0;
  *possible = from == to;
  if (from == to || backend != to->backend || !backend->copy.peer_query)
    return TN_OK;
  tn_host_error_clear();
  tn_status status =
      backend->copy.peer_query(from->handle, to->handle, &answer);
  if (status != TN_OK)
    return tn_plugin_error(from, status, "asking for access to peer %d",
                           to->device.index);
  *possible = answer != 0;
  return TN_OK;
}

static tn_status acquire_both(tn_device from, tn_device to,
                              tn_device_state **first,
                              tn_device_state **second)
{
  tn_status status = tn_device_acquire(from, first);
  if (status == TN_OK) status = tn_device_acquire(to, second);
  return status;
}

bool tn_can_access_peer(tn_device from, tn_device to)
{
  tn_device_state *first, *second;
  bool possible = false;
  tn_status status = acquire_both(from, to, &first, &second);
  if (status == TN_OK) status = tn_peer_query(first, second, &possible);
  return status == TN_OK && possible;
}

bool tn_peer_access_enabled(tn_device from, tn_device to)
{
  tn_device_state *first, *second;
  return acquire_both(from, to, &first, &second) == TN_OK &&
         tn_peer_is_enabled(first, second);
}

static tn_status refuse(tn_status status, const tn_device_state *from,
                        const tn_device_state *to, const char *why)
{
  return tn_error(status, "peer access from %s:%d to %s:%d: %s",
                  from->backend->name, from->device.index, to->backend->name,
                  to->device.index, why);
}

static tn_status check_pair(tn_device_state *from, tn_device_state *to)
{
  if (from == to)
    return refuse(TN_INVALID_ARGUMENT, from, to,
                  "two different devices are needed");
  if (from->backend != to->backend)
    return refuse(TN_DEVICE_MISMATCH, from, to,
                  "both must be of one backend");
  if (!from->backend->copy.peer_enable)
    return tn_refuse_absent(from->backend, "copy.peer_enable");
  return TN_OK;
}

static tn_status enable_locked(tn_device_state *from, tn_device_state *to)
{
  if (tn_peer_is_enabled(from, to)) return TN_OK;
  tn_host_error_clear();
  tn_status status =
      from->backend->copy.peer_enable(from->handle, to->handle);
  if (status != TN_OK)
    return tn_plugin_error(from, status, "enabling access to peer %d",
                           to->device.index);
  atomic_fetch_or_explicit(word_of(from, to), bit_of(to),
                           memory_order_release);
  return TN_OK;
}

static tn_status disable_locked(tn_device_state *from, tn_device_state *to)
{
  if (!tn_peer_is_enabled(from, to))
    return refuse(TN_INVALID_ARGUMENT, from, to, "it is not enabled");
  tn_host_error_clear();
  tn_status status =
      from->backend->copy.peer_disable(from->handle, to->handle);
  if (status != TN_OK)
    return tn_plugin_error(from, status, "disabling access to peer %d",
                           to->device.index);
  atomic_fetch_and_explicit(word_of(from, to), ~bit_of(to),
                            memory_order_release);
  return TN_OK;
}

static tn_status locked(tn_status (*change)(tn_device_state *from,
                                            tn_device_state *to),
                        tn_device_state *from, tn_device_state *to)
{
  tn_backend_slot *slot = tn_registry_at(from->device.backend);
  tn_status status = tn_slot_lock(slot);
  if (status != TN_OK) return status;
  status = change(from, to);
  tn_slot_unlock(slot);
  return status;
}

tn_status tn_enable_peer_access(tn_device from, tn_device to)
{
  tn_device_state *first, *second;
  bool possible;
  tn_status status = acquire_both(from, to, &first, &second);
  if (status == TN_OK) status = check_pair(first, second);
  if (status == TN_OK) status = tn_peer_query(first, second, &possible);
  if (status != TN_OK) return status;
  if (!possible)
    return refuse(TN_UNSUPPORTED, first, second,
                  "the backend says it is not possible");
  return locked(enable_locked, first, second);
}

tn_status tn_disable_peer_access(tn_device from, tn_device to)
{
  tn_device_state *first, *second;
  tn_status status = acquire_both(from, to, &first, &second);
  if (status == TN_OK) status = check_pair(first, second);
  if (status != TN_OK) return status;
  return locked(disable_locked, first, second);
}
