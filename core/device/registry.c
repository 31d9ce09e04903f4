#include "config.h"

#include "core/device/registry.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/backend_name.h"

tn_registry_table tn_registry;

/* Guards appending only. */
static pthread_mutex_t append_lock = PTHREAD_MUTEX_INITIALIZER;

static int filled(void)
{
  return atomic_load_explicit(&tn_registry.filled, memory_order_acquire);
}

/* Fork ------------------------------------------------------------------ */

/* The child must find no lock held by a thread that is not there. Appending
 * is short, so a fork waits for it. Loading may be long, or may itself be
 * what forks, so a fork waits only so long, and the child then knows the
 * backend as broken. */
static bool is_held[TN_BACKENDS_MAX + 1];

static void before_fork(void)
{
  pthread_mutex_lock(&append_lock);
  for (int id = 1; id <= filled(); id++)
    is_held[id] = tn_slot_lock_for(tn_registry_at(id), 1);
}

static void after_fork_in_parent(void)
{
  for (int id = 1; id <= filled(); id++)
    if (is_held[id]) tn_slot_unlock(tn_registry_at(id));
  pthread_mutex_unlock(&append_lock);
}

static void after_fork_in_child(void)
{
  for (int id = 1; id <= filled(); id++) {
    tn_backend_slot *slot = tn_registry_at(id);
    /* Its owner was the parent's thread: unlocking would be refused. */
    tn_slot_make_lock(slot);
    if (!is_held[id]) slot->is_broken = true;
    tn_slot_hide(slot);
  }
  pthread_mutex_unlock(&append_lock);
}

static void watch_forks(void)
{
  pthread_atfork(before_fork, after_fork_in_parent, after_fork_in_child);
}

/* Shutdown -------------------------------------------------------------- */

static void shut_gate(void)
{
  atomic_store_explicit(&tn_registry.count, 0, memory_order_relaxed);
  for (int id = 1; id <= filled(); id++) tn_slot_hide(tn_registry_at(id));
}

/* A thread that is stuck in a driver must not hold up the exit for long. */
static void close_devices_of(tn_backend_slot *slot)
{
  bool is_locked = tn_slot_lock_for(slot, 1);
  for (tn_device_state *state = slot->opened; state; state = state->next)
    slot->backend.device.close(state->handle);
  if (is_locked) tn_slot_unlock(slot);
}

static void close_devices(void)
{
  for (int id = 1; id <= filled(); id++)
    close_devices_of(tn_registry_at(id));
  for (int id = 1; id <= filled(); id++) {
    const tn_backend_slot *slot = tn_registry_at(id);
    if (atomic_load(&slot->stage) == TN_STAGE_LOADED &&
        slot->backend.device.shutdown)
      slot->backend.device.shutdown(slot->api.self);
  }
}

/* Locating -------------------------------------------------------------- */

static tn_backend_slot *find(const char *name, size_t length)
{
  for (int id = 1; id <= filled(); id++)
    if (strlen(tn_registry.names[id]) == length &&
        memcmp(tn_registry.names[id], name, length) == 0)
      return tn_registry_at(id);
  return NULL;
}

static tn_backend_slot *make_slot(const char *name, size_t length, int id,
                                  const tn_plugin_file *file)
{
  tn_backend_slot *slot = calloc(1, sizeof *slot);
  char *path = strdup(file->path);
  if (!slot || !path) {
    free(slot);
    free(path);
    tn_error(TN_OUT_OF_MEMORY, "no memory for the table of backend \"%.*s\" "
             "(%zu bytes)", (int)length, name, sizeof *slot);
    return NULL;
  }
  memcpy(slot->backend.name, name, length);
  slot->backend.id = (int16_t)id;
  slot->path = path;
  slot->identity = file->identity;
  tn_slot_make_lock(slot);
  return slot;
}

static void prepare(void)
{
  watch_forks();
  tn_shutdown_hook(TN_SHUTDOWN_GATE, shut_gate);
  tn_shutdown_hook(TN_SHUTDOWN_DEVICE, close_devices);
}

static tn_backend_slot *append(const char *name, size_t length,
                               const tn_plugin_file *file)
{
  int id = filled() + 1;
  if (id > TN_BACKENDS_MAX) {
    tn_error(TN_DEVICE_UNAVAILABLE, "backend \"%.*s\": a program can use at "
             "most %d backends", (int)length, name, TN_BACKENDS_MAX);
    return NULL;
  }
  tn_backend_slot *slot = make_slot(name, length, id, file);
  if (!slot) return NULL;
  if (id == 1) prepare();
  memcpy(tn_registry.names[id], name, length);
  atomic_store_explicit(&tn_registry.slots[id], slot, memory_order_release);
  atomic_store_explicit(&tn_registry.filled, id, memory_order_release);
  if (!tn_is_shut_down())
    atomic_store_explicit(&tn_registry.count, id, memory_order_release);
  return slot;
}

static tn_backend_slot *append_once(const char *name, size_t length,
                                    const tn_plugin_file *file)
{
  pthread_mutex_lock(&append_lock);
  tn_backend_slot *slot = find(name, length);
  if (!slot) slot = append(name, length, file);
  pthread_mutex_unlock(&append_lock);
  return slot;
}

/* Searching is not under the lock: of two threads that find a file the first
 * one's counts. */
tn_status tn_registry_locate(const char *name, size_t length,
                             tn_backend_slot **out)
{
  tn_plugin_file file;
  *out = find(name, length);
  if (*out) return TN_OK;
  if (!tn_backend_name_is_legal(name, length) ||
      !tn_search_find(name, length, &file))
    return TN_UNKNOWN_BACKEND;
  *out = append_once(name, length, &file);
  return *out ? TN_OK : tn_last_status();
}

static void locate_row(const tn_search_row *row, void *argument)
{
  (void)argument;
  size_t length;
  if (!row->file) return;
  const char *name = tn_backend_name_in(row->file->path, &length);
  if (name && row->file->identity.inode &&
      tn_backend_name_is_legal(name, length) && !find(name, length))
    append_once(name, length, row->file);
}

void tn_registry_locate_all(void) { tn_search_visit(locate_row, NULL); }

/* `device "foo:0": unknown backend "foo": ...`, or without the first part
 * where only a name was asked for. */
static void refuse_unknown(const char *name, size_t length, const char *text)
{
  char names[256] = "", places[768];
  tn_registry_locate_all();
  size_t used = 0;
  for (int id = 1; id <= filled() && used < sizeof names; id++)
    used += (size_t)snprintf(names + used, sizeof names - used, "%s%s",
                             used ? ", " : "", tn_registry.names[id]);
  tn_search_describe(places, sizeof places);
  bool is_alone = strlen(text) == length;
  tn_error(TN_UNKNOWN_BACKEND, "%s%.60s%sunknown backend \"%.*s\": installed "
           "%s%s; looked for in %s", is_alone ? "" : "device \"",
           is_alone ? "" : text, is_alone ? "" : "\": ",
           (int)(length < 40 ? length : 40), name,
           used ? "are " : "is none", names, places);
}

tn_status tn_registry_require(const char *name, size_t length,
                              const char *text, tn_backend_slot **out)
{
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  tn_status status = tn_registry_locate(name, length, out);
  if (status == TN_UNKNOWN_BACKEND) refuse_unknown(name, length, text);
  return status;
}
