/* One backend of the registry: from its file to its open devices. */
#ifndef TN_CORE_DEVICE_SLOT_H
#define TN_CORE_DEVICE_SLOT_H

#include <pthread.h>

#include "core/device/device_state.h"
#include "core/device/search.h"
#include "core/device/visibility.h"

typedef enum tn_backend_stage {
  TN_STAGE_LOCATED,
  TN_STAGE_LOADED,
  TN_STAGE_REFUSED
} tn_backend_stage;

typedef struct tn_backend_slot {
  tn_backend backend; /* name and id always, the rest once loaded */
  tn_backend_api api; /* the core's copy */
  char *path; /* of the plugin's file, absolute */
  tn_identity identity;
  /* Loading, opening, resetting. Checks errors, so that a plugin which calls
   * back into the library is refused instead of waiting for itself. */
  pthread_mutex_t lock;
  _Atomic tn_backend_stage stage;
  tn_status refusal; /* with its reason, from TN_STAGE_REFUSED on */
  char *reason;
  /* Under the lock: */
  bool in_use;         /* a device was opened, or tried */
  bool is_broken;      /* forked while another thread held the lock */
  unsigned generation; /* of forks, when last made usable */
  /* Frozen at the first use of a device, then constant: */
  atomic_bool is_frozen;
  tn_visibility visibility;
  /* All opened devices, the last one first, closed at shutdown; a list that
   * grows under the lock and is read without. */
  _Atomic(tn_device_state *) opened;
  /* What the hot path sees: the opened ones, or NULL after a fork, a loss or
   * the shutdown, so that the slow path looks. */
  _Atomic(tn_device_state *) ready[TN_BACKEND_DEVICES_MAX];
} tn_backend_slot;

/* Loads the plugin if that was not tried yet, and in a forked child makes it
 * usable or refuses: what every use of a backend begins with. */
tn_status tn_slot_use(tn_backend_slot *slot);

/* The lock of a slot around tn_slot_use_locked and what follows. */
tn_status tn_slot_lock(tn_backend_slot *slot);
bool tn_slot_lock_for(tn_backend_slot *slot, int seconds);
void tn_slot_unlock(tn_backend_slot *slot);
tn_status tn_slot_use_locked(tn_backend_slot *slot);

/* Which devices are visible; frozen once one was opened. The slot was
 * tn_slot_use'd. */
tn_status tn_slot_visibility(tn_backend_slot *slot, tn_visibility *out);

/* TN_NO_SUCH_DEVICE: says how many there are, and what is masked. */
tn_status tn_slot_refuse_ordinal(const tn_backend_slot *slot, int ordinal,
                                 const tn_visibility *visibility);

/* The open device of an ordinal, NULL if it is not open. */
tn_device_state *tn_slot_opened(tn_backend_slot *slot, int index);

/* A new, open lock: at the beginning, and in a forked child. */
void tn_slot_make_lock(tn_backend_slot *slot);

/* Makes the hot path look again. */
void tn_slot_hide(tn_backend_slot *slot);

#endif
