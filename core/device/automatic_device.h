/* "auto": the best device there is. */
#ifndef TN_CORE_DEVICE_AUTOMATIC_DEVICE_H
#define TN_CORE_DEVICE_AUTOMATIC_DEVICE_H

#include "tenon/device.h"

struct tn_backend_slot;

/* Of the backends with a usable device, the one of highest rank (not below
 * 0; equal ranks: the first found). A device on the host's own cores counts
 * as minus its rank, so that cpu, whose rank is 0, comes before it. Without
 * ordinal if the device is the backend's first. Loads all plugins. */
tn_status tn_automatic_device(tn_device *out);

/* Whether a backend has a usable device; sets the error if not. */
tn_status tn_backend_check_usable(struct tn_backend_slot *slot);

#endif
