/* Free blocks by size: the best fit in a few instructions.
 *
 * Sizes are counted in units of 512 bytes. Below 64 units each has its bin;
 * above, every doubling has 8. A bin is sorted by size, the last freed block
 * first among equals. A bit for each bin says whether it has blocks. (More
 * bins would cost a first allocation more, in pages, than they save.) */
#ifndef TN_CORE_MEMORY_FREE_LIST_H
#define TN_CORE_MEMORY_FREE_LIST_H

#include "core/memory/block.h"

#define TN_BLOCK_UNIT 512u

/* Bins for sizes up to 2^60 bytes and a little more. */
enum {
  TN_FREE_LIST_WORDS = 7,
  TN_FREE_LIST_BINS = TN_FREE_LIST_WORDS * 64
};

typedef struct tn_free_list {
  uint64_t used[TN_FREE_LIST_WORDS];
  tn_block *bins[TN_FREE_LIST_BINS];
} tn_free_list;

void tn_free_list_insert(tn_free_list *list, tn_block *block);
void tn_free_list_remove(tn_free_list *list, tn_block *block);

/* The smallest block of at least `size` bytes, which stays in the list; NULL
 * if there is none. */
tn_block *tn_free_list_find(const tn_free_list *list, uint64_t size);

#endif
