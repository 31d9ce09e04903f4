/* A copy of what an allocator has, all of one moment. */
#ifndef TN_CORE_MEMORY_SNAPSHOT_H
#define TN_CORE_MEMORY_SNAPSHOT_H

#include "core/memory/allocator.h"

typedef struct tn_seen_block {
  uint64_t address, size, requested;
  tn_block_state state; /* never deferred */
  tn_holder holder;
} tn_seen_block;

typedef struct tn_seen_segment {
  uint64_t address, size, allocated, active, requested, stream, pool[2];
  bool is_small;
  size_t first, count; /* its blocks */
} tn_seen_segment;

typedef struct tn_snapshot {
  tn_device device;
  tn_conf conf;
  double fraction;
  size_t segment_count, block_count, event_count;
  tn_seen_segment *segments; /* by address */
  tn_seen_block *blocks;
  tn_trace_event *events; /* the oldest first; their notes referenced */
  tn_memory_stats stats;
} tn_snapshot;

/* TN_OUT_OF_MEMORY without memory. */
tn_status tn_snapshot_take(tn_allocator *allocator, tn_snapshot *out);
void tn_snapshot_free(tn_snapshot *snapshot);

/* The allocator of a device, made if need be; NULL with the error set. */
tn_allocator *tn_allocator_acquire(tn_device device);

#endif
