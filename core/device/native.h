/* Vendors' handles behind our objects. */
#ifndef TN_CORE_DEVICE_NATIVE_H
#define TN_CORE_DEVICE_NATIVE_H

#include "core/device/device_state.h"

/* The handle behind an object of the device, borrowed; `object` is the
 * plugin's own (a tn_backend_stream, say), NULL for the device and its
 * context. *native is NULL on failure. */
tn_status tn_native_handle(tn_device_state *state, tn_native_kind kind,
                           const void *object, void **native);

#endif
