/* Between copies and kernels of backends without a launch table.
 *
 * A kernel that the core runs over mirrors (core/launch/mirror.h) brings whole
 * blocks back. What a copy or a fill on another stream puts meanwhile into
 * another part of such a block would be lost: so those share the gate, and a
 * kernel has it alone. Other backends do not notice it.
 *
 * Taken before the lock of a stream. */
#ifndef TN_CORE_DEVICE_MIRROR_GATE_H
#define TN_CORE_DEVICE_MIRROR_GATE_H

#include <pthread.h>

#include "core/device/device_state.h"

extern pthread_rwlock_t tn_mirror_gate;

static inline void tn_mirror_gate_enter(const tn_backend *backend)
{
  if (__builtin_expect(!backend->has_launch, 0))
    pthread_rwlock_rdlock(&tn_mirror_gate);
}

static inline void tn_mirror_gate_leave(const tn_backend *backend)
{
  if (__builtin_expect(!backend->has_launch, 0))
    pthread_rwlock_unlock(&tn_mirror_gate);
}

/* For a kernel, and around fork. */
void tn_mirror_gate_shut(void);
void tn_mirror_gate_open(void);

/* In a forked child, whose thread has another number than the one that shut
 * the gate: the C library would take it for a reader. */
void tn_mirror_gate_renew(void);

#endif
