/* Whether copies between two devices of one backend go directly. */
#ifndef TN_CORE_COPY_PEER_PATH_H
#define TN_CORE_COPY_PEER_PATH_H

#include "core/device/device_state.h"

/* Found out once for each pair, by sending a pattern and looking whether it
 * arrived whole; meanwhile, for other threads, no. The devices differ. */
bool tn_peer_path_is_direct(tn_device_state *dst, tn_device_state *src);

/* The reason, one line; for the whole process. */
const char *tn_peer_path_reason(tn_device_state *dst, tn_device_state *src);

#endif
