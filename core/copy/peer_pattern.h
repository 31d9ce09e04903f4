/* Sends a known pattern from one device to another. */
#ifndef TN_CORE_COPY_PEER_PATTERN_H
#define TN_CORE_COPY_PEER_PATTERN_H

#include "core/device/device_state.h"

typedef enum tn_pattern_result {
  TN_PATTERN_WHOLE,
  TN_PATTERN_DAMAGED,
  TN_PATTERN_NOT_SENT /* with the error set */
} tn_pattern_result;

/* On streams and memory of its own, so that it waits for nothing of the
 * program's. */
tn_pattern_result tn_peer_pattern_send(tn_device_state *dst,
                                       tn_device_state *src);

#endif
