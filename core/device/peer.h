/* Which devices may use which others' memory. */
#ifndef TN_CORE_DEVICE_PEER_H
#define TN_CORE_DEVICE_PEER_H

#include "core/device/device_state.h"

/* Whether kernels of `from` may use memory of `to` now: the same device, or
 * access was enabled. */
bool tn_peer_is_enabled(const tn_device_state *from,
                        const tn_device_state *to);

/* Whether it could be enabled, as the backend says; false for devices of
 * different backends. */
tn_status tn_peer_query(tn_device_state *from, tn_device_state *to,
                        bool *possible);

#endif
