/* The backends known to this process: an append-only list, read without a
 * lock. A name gets its place when it is first parsed (its file is then only
 * located); the plugin is loaded at its first use, once. */
#ifndef TN_CORE_DEVICE_REGISTRY_H
#define TN_CORE_DEVICE_REGISTRY_H

#include "core/device/slot.h"

#define TN_BACKENDS_MAX 64

/* Slots by id, from 1 on. `count` is 0 again after shutdown, `filled` is
 * not. */
typedef struct tn_registry_table {
  atomic_int count, filled;
  char names[TN_BACKENDS_MAX + 1][TN_BACKEND_NAME_SIZE];
  _Atomic(tn_backend_slot *) slots[TN_BACKENDS_MAX + 1];
} tn_registry_table;

extern tn_registry_table tn_registry;

/* The slot of an id, NULL if there is none. */
static inline tn_backend_slot *tn_registry_at(int id)
{
  if (id < 0 || id > TN_BACKENDS_MAX) return NULL;
  return atomic_load_explicit(&tn_registry.slots[id], memory_order_acquire);
}

/* The slot of a name that is known, or whose file is found now. If there is no
 * such file TN_UNKNOWN_BACKEND, without setting the error. */
tn_status tn_registry_locate(const char *name, size_t length,
                             tn_backend_slot **out);

/* The same, with the error set; `text` is the device string, or again the
 * name, that was asked for. Refuses after shutdown. */
tn_status tn_registry_require(const char *name, size_t length,
                              const char *text, tn_backend_slot **out);

/* Gives every backend found its slot. */
void tn_registry_locate_all(void);

#endif
