/* Fills with patterns. */
#ifndef TN_CORE_COPY_FILL_H
#define TN_CORE_COPY_FILL_H

#include "core/exec/stream.h"

typedef struct tn_fill {
  tn_address dst; /* aligned to pattern_bytes */
  uint32_t pattern_bytes; /* 1, 2, 4 or 8 */
  uint64_t pattern;       /* in the low bytes */
  uint64_t count;         /* patterns, more than 0 */
} tn_fill;

/* Queues a fill; by copies where the backend has none. The caller is inside
 * tn_enter. */
tn_status tn_fill_queue(tn_stream *stream, const tn_fill *fill);

#endif
