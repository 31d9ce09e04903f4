#include "config.h"

#include "core/device/slot.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

#include "core/base/environment.h"
#include "core/base/error.h"
#include "core/base/fork.h"
#include "core/base/shutdown.h"
#include "core/device/host.h"
#include "core/device/plugin.h"

void tn_slot_make_lock(tn_backend_slot *slot)
{
  pthread_mutexattr_t kind;
  pthread_mutexattr_init(&kind);
  pthread_mutexattr_settype(&kind, PTHREAD_MUTEX_ERRORCHECK);
  pthread_mutex_init(&slot->lock, &kind);
  pthread_mutexattr_destroy(&kind);
}

void tn_slot_hide(tn_backend_slot *slot)
{
  for (int i = 0; i < TN_BACKEND_DEVICES_MAX; i++)
    atomic_store_explicit(&slot->ready[i], NULL, memory_order_relaxed);
}

tn_device_state *tn_slot_opened(tn_backend_slot *slot, int index)
{
  tn_device_state *state =
      atomic_load_explicit(&slot->opened, memory_order_acquire);
  while (state && state->device.index != index) state = state->next;
  return state;
}

tn_status tn_slot_lock(tn_backend_slot *slot)
{
  if (pthread_mutex_lock(&slot->lock) != EDEADLK) return TN_OK;
  return tn_error(TN_DEVICE_UNAVAILABLE, "backend \"%s\" is being loaded or "
                  "opened by this thread: its plugin called the library",
                  slot->backend.name);
}

bool tn_slot_lock_for(tn_backend_slot *slot, int seconds)
{
  struct timespec deadline;
  clock_gettime(CLOCK_REALTIME, &deadline);
  deadline.tv_sec += seconds;
  return pthread_mutex_timedlock(&slot->lock, &deadline) == 0;
}

void tn_slot_unlock(tn_backend_slot *slot)
{
  pthread_mutex_unlock(&slot->lock);
}

static tn_status refuse_for(const tn_backend_slot *slot, const char *reason)
{
  return tn_error(slot->refusal, "backend \"%s\": %s: %s",
                  slot->backend.name, slot->path, reason);
}

static tn_status refuse(const tn_backend_slot *slot)
{
  return refuse_for(slot, slot->reason);
}

/* The host's memory may be there at the next use. */
static tn_status refuse_this_time(const tn_backend_slot *slot)
{
  char reason[TN_BACKEND_TEXT_SIZE];
  snprintf(reason, sizeof reason, "%s", tn_error_message());
  return refuse_for(slot, reason);
}

static tn_status load(tn_backend_slot *slot)
{
  slot->refusal = tn_plugin_load(slot->path, slot->backend.name,
                                 &slot->api, &slot->backend);
  if (slot->refusal == TN_OK) {
    tn_shutdown_arm();
    atomic_store_explicit(&slot->stage, TN_STAGE_LOADED,
                          memory_order_release);
    return TN_OK;
  }
  slot->reason = slot->refusal == TN_OUT_OF_MEMORY
                     ? NULL : strdup(tn_error_message());
  if (!slot->reason) return refuse_this_time(slot);
  atomic_store_explicit(&slot->stage, TN_STAGE_REFUSED, memory_order_release);
  return refuse(slot);
}

static tn_status refuse_forked(const tn_backend_slot *slot)
{
  return tn_error(TN_FORKED, "backend \"%s\" was in use before fork, and "
                  "cannot be used in the child: fork first, or start the "
                  "child as a new program (spawn)", slot->backend.name);
}

/* In a child whose parent used the backend: once it was told, it goes on. */
static tn_status cross_fork(tn_backend_slot *slot)
{
  unsigned now = tn_fork_generation();
  if (slot->is_broken) return refuse_forked(slot);
  if (!slot->in_use || slot->generation == now) return TN_OK;
  if (!slot->backend.device.after_fork) return refuse_forked(slot);
  tn_host_error_clear();
  tn_status status = slot->backend.device.after_fork(slot->api.self);
  if (status != TN_OK)
    return tn_plugin_error_of_backend(&slot->backend, status,
                                      "going on after fork");
  slot->generation = now;
  return TN_OK;
}

tn_status tn_slot_use_locked(tn_backend_slot *slot)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (slot->is_broken) return refuse_forked(slot);
  switch (atomic_load_explicit(&slot->stage, memory_order_acquire)) {
  case TN_STAGE_LOADED: return cross_fork(slot);
  case TN_STAGE_REFUSED: return refuse(slot);
  default: return load(slot);
  }
}

tn_status tn_slot_use(tn_backend_slot *slot)
{
  tn_status status = tn_slot_lock(slot);
  if (status != TN_OK) return status;
  status = tn_slot_use_locked(slot);
  tn_slot_unlock(slot);
  return status;
}

tn_status tn_slot_visibility(tn_backend_slot *slot, tn_visibility *out)
{
  if (!atomic_load_explicit(&slot->is_frozen, memory_order_acquire))
    return tn_visibility_read(&slot->backend, out);
  *out = slot->visibility;
  return TN_OK;
}

/* "cuda has 2 devices (cuda:0, cuda:1)", "cuda has 1 device (cuda:0)". */
static void describe_devices(const char *name, int count, char *text,
                             size_t size)
{
  int used = snprintf(text, size, "%s has %d device%s", name, count,
                      count == 1 ? "" : "s");
  if (used < 0 || (size_t)used >= size || count == 0) return;
  text += used, size -= (size_t)used;
  if (count == 1) snprintf(text, size, " (%s:0)", name);
  else
    snprintf(text, size, " (%s:0%s %s:%d)", name, count == 2 ? "," : " to",
             name, count - 1);
}

tn_status tn_slot_refuse_ordinal(const tn_backend_slot *slot, int ordinal,
                                 const tn_visibility *visibility)
{
  const char *name = slot->backend.name;
  char present[128], variable[TN_VISIBILITY_NAME_SIZE];
  describe_devices(name, visibility->count, present, sizeof present);
  tn_visibility_variable(name, variable);
  const char *mask = tn_environment(variable);
  int masked = visibility->physical - visibility->count;
  if (masked > 0 && mask)
    return tn_error(TN_NO_SUCH_DEVICE, "device \"%s:%d\": no such device: "
                    "%s; %s=%.100s hides %d", name, ordinal, present,
                    variable, mask, masked);
  return tn_error(TN_NO_SUCH_DEVICE, "device \"%s:%d\": no such device: %s",
                  name, ordinal, present);
}
