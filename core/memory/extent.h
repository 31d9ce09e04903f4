/* Which memory an address is in. */
#ifndef TN_CORE_MEMORY_EXTENT_H
#define TN_CORE_MEMORY_EXTENT_H

#include "core/memory/block.h"

typedef struct tn_extent {
  tn_device_state *state;
  tn_address address;
  uint64_t bytes;
} tn_extent;

/* The live block of any device around an address; NULL if there is none. A
 * walk through all segments: not for hot paths. */
tn_block *tn_block_around(tn_address address);

/* What work that is given the address may reach: its live block; or, in memory
 * that graphs hold, whose blocks are cut anew while the graphs go on using
 * them as they were, the whole segment. False if it is neither. */
bool tn_extent_of(tn_address address, tn_extent *extent);

#endif
