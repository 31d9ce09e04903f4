#include "config.h"

#include "core/memory/free_list.h"

static unsigned bin_of(uint64_t size)
{
  uint64_t units = size / TN_BLOCK_UNIT;
  if (units < 64) return (unsigned)units;
  unsigned doubling = 63 - (unsigned)__builtin_clzll(units); /* 6 and up */
  return 64 + 8 * (doubling - 6) + (unsigned)(units >> (doubling - 3) & 7);
}

static void mark(tn_free_list *list, unsigned bin)
{
  list->used[bin / 64] |= (uint64_t)1 << bin % 64;
}

static void unmark(tn_free_list *list, unsigned bin)
{
  list->used[bin / 64] &= ~((uint64_t)1 << bin % 64);
}

void tn_free_list_insert(tn_free_list *list, tn_block *block)
{
  unsigned bin = bin_of(block->size);
  tn_block *before = NULL, *next = list->bins[bin];
  while (next && next->size < block->size) {
    before = next;
    next = next->free_next;
  }
  block->free_before = before;
  block->free_next = next;
  if (next) next->free_before = block;
  if (before) before->free_next = block;
  else list->bins[bin] = block;
  mark(list, bin);
}

static void unlink_from(tn_free_list *list, tn_block *block, unsigned bin)
{
  if (block->free_next) block->free_next->free_before = block->free_before;
  if (block->free_before) {
    block->free_before->free_next = block->free_next;
    return;
  }
  list->bins[bin] = block->free_next;
  if (!block->free_next) unmark(list, bin);
}

void tn_free_list_remove(tn_free_list *list, tn_block *block)
{
  unlink_from(list, block, bin_of(block->size));
}

/* The first used bin from `bin` on; TN_FREE_LIST_BINS if there is none. */
static unsigned next_used(const tn_free_list *list, unsigned bin)
{
  unsigned word = bin / 64;
  if (word >= TN_FREE_LIST_WORDS) return TN_FREE_LIST_BINS;
  uint64_t bits = list->used[word] & ~(uint64_t)0 << bin % 64;
  while (!bits) {
    if (++word == TN_FREE_LIST_WORDS) return TN_FREE_LIST_BINS;
    bits = list->used[word];
  }
  return 64 * word + (unsigned)__builtin_ctzll(bits);
}

tn_block *tn_free_list_find(const tn_free_list *list, uint64_t size)
{
  unsigned bin = bin_of(size);
  tn_block *block = list->bins[bin];
  while (block && block->size < size) block = block->free_next;
  if (block) return block;
  bin = next_used(list, bin + 1);
  return bin == TN_FREE_LIST_BINS ? NULL : list->bins[bin];
}
