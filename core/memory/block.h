/* Blocks: pieces of segments, in use or free. */
#ifndef TN_CORE_MEMORY_BLOCK_H
#define TN_CORE_MEMORY_BLOCK_H

#include "core/memory/holder.h"
#include "core/memory/uses.h"
#include "tenon/memory.h"

typedef enum tn_block_state {
  TN_BLOCK_FREE,     /* in its cache's free list */
  TN_BLOCK_DEFERRED, /* given back just now, not joined with others yet */
  TN_BLOCK_LIVE,     /* held by the program */
  TN_BLOCK_PENDING   /* given back, but in use by recorded streams */
} tn_block_state;

struct tn_block {
  tn_refcount refs; /* while live */
  uint8_t state;    /* tn_block_state; under the allocator's lock */
  bool is_small;    /* of its segment */
  bool is_oversize; /* live, and counted as such */
  /* For those who hold only the address: whether the program got it so, and
   * whether the table of addresses has it. */
  atomic_bool is_named;
  bool is_in_table; /* under the allocator's lock, or its holder's */
  _Atomic tn_address address;
  uint64_t size;      /* a multiple of 512 */
  uint64_t requested; /* what the program asked for */
  tn_holder holder;
  struct tn_allocator *allocator;
  struct tn_segment *segment;     /* NULL: a block of 0 bytes */
  struct tn_block *before, *after; /* neighbours in the segment */
  struct tn_block *free_before, *free_next; /* in a free list, a queue of
                                             * pending blocks, or the store of
                                             * unused structs */
  tn_uses uses;
};

/* Memory from the plugin. */
typedef struct tn_segment {
  tn_address address;
  uint64_t size;
  bool is_small;
  bool is_uncached; /* one block, given back as it is freed */
  bool is_oversize; /* counted as such */
  struct tn_stream_cache *cache; /* whose blocks these are */
  tn_block *first;
  struct tn_segment *before, *next; /* of the allocator */
  tn_stream *stream; /* referenced while it is given back, else NULL */
  uint64_t free_since; /* the allocator's clock when it became wholly free */
} tn_segment;

/* A block for a stream, which is current or not; as tn_block_new. The caller
 * is inside tn_enter. `caller`: the code to be named as its holder. */
tn_block *tn_block_for_stream(tn_stream *stream, size_t bytes,
                              const void *caller);

/* tn_block_new, for a caller's caller. */
tn_block *tn_block_new_for(tn_device device, size_t bytes,
                           const void *caller);

#endif
