/* "auto": the best device there is. */
#ifndef TN_CORE_DEVICE_AUTOMATIC_DEVICE_H
#define TN_CORE_DEVICE_AUTOMATIC_DEVICE_H

#include "tenon/device.h"

/* Of the backends with a usable device, the one of highest rank (not below
 * 0; equal ranks: the first found). Without ordinal if its first device is
 * usable, else with that of the first that is. Loads all plugins. */
tn_status tn_automatic_device(tn_device *out);

/* Whether a backend has a usable device, and the first one's ordinal; sets
 * the error if not. */
struct tn_backend_slot;
tn_status tn_first_usable_device(struct tn_backend_slot *slot, int *ordinal);

#endif
