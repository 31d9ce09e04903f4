/* Allocations of all backends, alive and lately freed, each with what was done
 * to it. Callers exclude each other. */
#ifndef TN_LAYERS_RACE_MEMORY_H
#define TN_LAYERS_RACE_MEMORY_H

#include "layers/forward.h"
#include "layers/order.h"

typedef struct race_allocation {
  tn_address address;
  uint64_t bytes;
  bool is_freed, is_pinned;
  uint32_t made, freed; /* tags of sites */
  order_shadow *shadow;
} race_allocation;

/* False without memory. Forgets freed ones that it overlaps. */
bool race_memory_add(tn_address address, uint64_t bytes, bool is_pinned,
                     uint32_t tag);

/* NULL if unknown, or the one at exactly that address. */
void race_memory_free(tn_address address, uint32_t tag);

/* Forgets the one at exactly that address; its bytes, 0: there is none. */
uint64_t race_memory_drop(tn_address address);

/* The one that holds the address, also a freed one; NULL: none of ours. */
race_allocation *race_memory_find(tn_address address);

#endif
