/* The device that a backend's name means, in each thread. */
#ifndef TN_CORE_DEVICE_CURRENT_DEVICE_H
#define TN_CORE_DEVICE_CURRENT_DEVICE_H

#include <stdint.h>

#include "core/base/thread.h"
#include "core/device/registry.h"

/* Ordinals by backend id; a new thread has 0 everywhere. */
extern TN_HOT_THREAD_LOCAL int16_t tn_current_ordinals[TN_BACKENDS_MAX + 1];

/* Whether the device, with an ordinal, exists; loads its backend, opens
 * nothing. */
tn_status tn_device_check(tn_device device);

/* The device with an ordinal: its own or the current one. Refuses the invalid
 * device and one not given. */
tn_status tn_device_resolve(tn_device device, tn_device *out);

#endif
