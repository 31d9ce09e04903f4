/* The modules of a device, from loading to unloading. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/device/mirror_gate.h"
#include "core/launch/finish.h"
#include "core/launch/mirror.h"
#include "core/launch/module.h"

static pthread_mutex_t making = PTHREAD_MUTEX_INITIALIZER;

tn_launcher *tn_launcher_of(tn_device_state *state)
{
  tn_launcher *launcher = atomic_load_explicit(&state->launcher,
                                               memory_order_acquire);
  if (launcher) return launcher;
  tn_launch_arm();
  pthread_mutex_lock(&making);
  launcher = atomic_load(&state->launcher);
  if (!launcher && (launcher = calloc(1, sizeof *launcher)) != NULL) {
    pthread_mutex_init(&launcher->lock, NULL);
    atomic_store_explicit(&state->launcher, launcher, memory_order_release);
  }
  pthread_mutex_unlock(&making);
  if (!launcher) tn_error(TN_OUT_OF_MEMORY, "no memory for modules");
  return launcher;
}

static void link_module(tn_module **list, tn_module *module)
{
  module->before = NULL;
  module->next = *list;
  if (module->next) module->next->before = module;
  *list = module;
}

static void unlink_module(tn_module **list, tn_module *module)
{
  if (module->next) module->next->before = module->before;
  if (module->before) module->before->next = module->next;
  else *list = module->next;
}

static void free_module(tn_module *module)
{
  tn_uses_clear(&module->uses);
  free(module->name);
  free(module->family);
  free(module);
}

static tn_module *prepare(tn_device_state *state, const tn_module_desc *desc)
{
  tn_module *module = calloc(1, sizeof *module);
  if (!module) goto refuse;
  tn_refcount_init(&module->refs);
  module->state = state;
  module->name = strdup(desc->name);
  bool is_builtin = desc->kind == TN_MODULE_BUILTIN;
  if (is_builtin) module->family = strdup(desc->name);
  if (module->name && (module->family || !is_builtin)) return module;
  free_module(module);
refuse:
  tn_error(TN_OUT_OF_MEMORY, "no memory for a module");
  return NULL;
}

tn_module *tn_module_make(tn_device_state *state, const tn_module_desc *desc,
                          tn_status *status)
{
  tn_device_state *runner;
  *status = tn_runner_of(state, &runner);
  if (*status != TN_OK) return NULL;
  *status = TN_OUT_OF_MEMORY;
  tn_launcher *launcher = tn_launcher_of(state);
  tn_module *module = launcher ? prepare(state, desc) : NULL;
  if (!module) return NULL;
  tn_launcher_poll(launcher);
  module->runner = runner;
  *status = runner->backend->launch.module_load(runner->handle, desc,
                                                &module->handle);
  tn_shutdown_arm(); /* a driver's compiler may have started just now */
  if (*status != TN_OK) {
    tn_plugin_error(state, *status, "module \"%s\"", desc->name);
    free_module(module);
    return NULL;
  }
  pthread_mutex_lock(&launcher->lock);
  link_module(&launcher->modules, module);
  pthread_mutex_unlock(&launcher->lock);
  return module;
}

static bool try_retain(tn_module *module)
{
  unsigned count = atomic_load(&module->refs.count);
  while (count != 0)
    if (atomic_compare_exchange_weak(&module->refs.count, &count, count + 1))
      return true;
  return false;
}

tn_module *tn_module_find_family(tn_device_state *state, const char *family)
{
  tn_launcher *launcher = tn_launcher_of(state);
  if (!launcher) return NULL;
  pthread_mutex_lock(&launcher->lock);
  tn_module *module = launcher->modules;
  while (module && (!module->family || strcmp(module->family, family) != 0 ||
                    !try_retain(module)))
    module = module->next;
  pthread_mutex_unlock(&launcher->lock);
  return module;
}

/* The lock is held. Moves what may be unloaded to a list of its own. */
static tn_module *take_past(tn_launcher *launcher)
{
  tn_module *past = NULL;
  for (tn_module *m = launcher->leaving, *next; m; m = next) {
    next = m->next;
    if (m->is_unsure || !tn_uses_are_past(&m->uses)) continue;
    unlink_module(&launcher->leaving, m);
    link_module(&past, m);
  }
  return past;
}

static void unload_all(tn_module *list)
{
  while (list) {
    tn_module *next = list->next;
    list->runner->backend->launch.module_unload(list->handle);
    free_module(list);
    list = next;
  }
}

static tn_status note_stream(tn_stream *stream, void *argument)
{
  tn_module *module = argument;
  tn_moment *moment;
  tn_status status = tn_stream_moment(stream, 0, &moment);
  if (status != TN_OK || !moment) return status;
  return tn_uses_add(&module->uses, stream, moment);
}

/* Any stream of the device may have its launches. What cannot be remembered is
 * waited for. True if one of the two went well, or the device is lost. */
static bool note_launches(tn_module *module)
{
  tn_status status = tn_stream_visit(module->state, note_stream, module);
  if (status == TN_OK || status == TN_DEVICE_LOST) return true;
  status = tn_synchronize(module->state->device);
  return status == TN_OK || status == TN_DEVICE_LOST;
}

static tn_module *take_unsure(tn_launcher *launcher)
{
  tn_module *m = launcher->leaving;
  while (m && !m->is_unsure) m = m->next;
  if (m) unlink_module(&launcher->leaving, m);
  return m;
}

/* One is enough for each call: all get their turn. */
static void note_unsure(tn_launcher *launcher)
{
  pthread_mutex_lock(&launcher->lock);
  tn_module *module = take_unsure(launcher);
  pthread_mutex_unlock(&launcher->lock);
  if (!module) return;
  tn_error_state before;
  tn_error_save(&before);
  module->is_unsure = !note_launches(module);
  tn_error_restore(&before);
  pthread_mutex_lock(&launcher->lock);
  link_module(&launcher->leaving, module);
  pthread_mutex_unlock(&launcher->lock);
}

void tn_launcher_poll(tn_launcher *launcher)
{
  note_unsure(launcher);
  pthread_mutex_lock(&launcher->lock);
  tn_module *past = take_past(launcher);
  pthread_mutex_unlock(&launcher->lock);
  unload_all(past);
}

static void leave(tn_module *module)
{
  tn_launcher *launcher = tn_launcher_of(module->state);
  bool is_sure = note_launches(module);
  pthread_mutex_lock(&launcher->lock);
  unlink_module(&launcher->modules, module);
  module->is_unsure = !is_sure;
  link_module(&launcher->leaving, module);
  pthread_mutex_unlock(&launcher->lock);
  tn_launcher_poll(launcher);
}

tn_module *tn_module_retain(tn_module *module)
{
  if (module) tn_refcount_retain(&module->refs);
  return module;
}

void tn_module_release(tn_module *module)
{
  if (!module || tn_is_shut_down()) return;
  if (!tn_refcount_release(&module->refs)) return;
  tn_error_state before;
  tn_error_save(&before);
  if (tn_enter_to_release(module->state)) {
    leave(module);
    tn_leave();
  }
  tn_error_restore(&before);
}

/* The structs stay, with their names. */
static void unload_at_end(const tn_module *list)
{
  for (const tn_module *m = list; m; m = m->next)
    m->runner->backend->launch.module_unload(m->handle);
}

/* At the end all launches are past. */
static void unload_device(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_launcher *launcher = atomic_load(&state->launcher);
  if (!launcher) return;
  pthread_mutex_lock(&launcher->lock);
  unload_at_end(launcher->modules);
  unload_at_end(launcher->leaving);
  pthread_mutex_unlock(&launcher->lock);
}

void tn_launcher_unload_all(void)
{
  tn_device_visit(unload_device, NULL);
  tn_mirror_end();
}

static void lock_device(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_launcher *launcher = atomic_load(&state->launcher);
  if (launcher) pthread_mutex_lock(&launcher->lock);
}

static void unlock_device(tn_device_state *state, void *argument)
{
  (void)argument;
  tn_launcher *launcher = atomic_load(&state->launcher);
  if (launcher) pthread_mutex_unlock(&launcher->lock);
}

void tn_launcher_before_fork(void)
{
  tn_mirror_gate_shut();
  pthread_mutex_lock(&making);
  tn_device_visit(lock_device, NULL);
}

void tn_launcher_after_fork(void)
{
  tn_device_visit(unlock_device, NULL);
  pthread_mutex_unlock(&making);
  tn_mirror_gate_open();
}

void tn_launcher_in_child(void)
{
  tn_device_visit(unlock_device, NULL);
  pthread_mutex_unlock(&making);
  tn_mirror_gate_renew();
}
