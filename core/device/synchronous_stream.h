/* Streams for backends without a stream table: there all work is complete
 * when its call returns, so a point is always reached. The handle of such a
 * stream is NULL, as copy and launch expect it. */
#ifndef TN_CORE_DEVICE_SYNCHRONOUS_STREAM_H
#define TN_CORE_DEVICE_SYNCHRONOUS_STREAM_H

#include "tenon/backend.h"

void tn_synchronous_stream_fill(tn_backend_stream_table *table);

#endif
