/* A device's caching allocator.
 *
 * Memory comes from the plugin in segments, is cut into blocks and joined
 * again. Each stream has a cache of its own, since a free block may still be
 * in use by work queued on its stream: only that stream may have it at once.
 * Files: allocator.c (blocks), segment.c (segments, and what is done when
 * memory is short), pending.c (blocks in use by recorded streams).
 */
#ifndef TN_CORE_MEMORY_ALLOCATOR_H
#define TN_CORE_MEMORY_ALLOCATOR_H

#include "core/base/brief_lock.h"
#include "core/memory/block.h"
#include "core/memory/free_list.h"
#include "core/memory/statistics.h"

/* PyTorch's sizes: requests up to 1 MiB come from segments of 2 MiB, those
 * below 10 MiB from 20 MiB, larger ones have their own in steps of 2 MiB. */
#define TN_SMALL_REQUEST ((uint64_t)1 << 20)
#define TN_SMALL_SEGMENT ((uint64_t)2 << 20)
#define TN_LARGE_SEGMENT ((uint64_t)20 << 20)
#define TN_OWN_SEGMENT ((uint64_t)10 << 20)
#define TN_SEGMENT_STEP ((uint64_t)2 << 20)
#define TN_LARGEST_REQUEST ((uint64_t)1 << 60)

/* Small blocks that were given back just now are kept as they are for the
 * next request of their size. All other requests find them joined: what is
 * cached looks as if joining were done at once. */
enum { TN_DEFERRED_MAX = 16 };

typedef struct tn_stream_cache {
  struct tn_allocator *allocator;
  tn_stream *stream; /* NULL: it ended, and with it all work of the cache */
  unsigned deferred_count;
  tn_block *deferred[TN_DEFERRED_MAX]; /* the last one last */
  tn_free_list lists[2]; /* large, small */
  struct tn_stream_cache *next;
} tn_stream_cache;

/* Blocks given back but in use, in the queue of one of the streams that use
 * them: only the first of each queue need be looked at. */
typedef struct tn_pending_queue {
  const tn_stream *stream; /* only compared */
  tn_block *first, *last;  /* linked by free_next */
  struct tn_pending_queue *next;
} tn_pending_queue;

typedef struct tn_allocator {
  tn_device_state *state;
  struct tn_allocator *next; /* of all allocators, for good */
  bool is_caching;
  tn_brief_lock lock; /* guards what follows; never held while blocking */
  tn_stream_cache *caches;
  tn_segment *segments;
  tn_block *unused; /* structs, linked by free_next */
  tn_pending_queue *pending;
  unsigned pending_count; /* blocks */
  tn_statistics statistics;
  /* Threads that give segments back, which no other can see meanwhile. */
  pthread_mutex_t trim_lock; /* guards the rest */
  pthread_cond_t trimmed;
  unsigned trimming;
  uint64_t trim_round; /* changes when memory was given back */
} tn_allocator;

/* What a request is on its way. */
typedef struct tn_request {
  tn_allocator *allocator;
  tn_stream_cache *cache;
  uint64_t requested, size; /* as asked for, and in whole units */
  bool is_small;
} tn_request;

/* The device's, made at first use. NULL with the error set without memory. */
tn_allocator *tn_allocator_of(tn_device_state *state);

/* The first of all, linked by `next`. */
tn_allocator *tn_allocator_first(void);

/* All below: the allocator's lock is held, unless said otherwise. */

/* A struct for a block; NULL without memory. */
tn_block *tn_block_struct(tn_allocator *allocator);
void tn_block_struct_release(tn_allocator *allocator, tn_block *block);

/* The best cached block for the request, made live; NULL if there is none. */
tn_block *tn_request_from_cache(const tn_request *request);

/* Makes a block that is in no list live for the request: cuts off what is
 * too much. */
tn_block *tn_request_finish(const tn_request *request, tn_block *block);

/* Counts a block as not used any more, and joins it with its free neighbours
 * into its cache's list. */
void tn_block_to_cache(tn_block *block);

/* Joins what was deferred, in all caches. */
void tn_allocator_settle(tn_allocator *allocator);

/* Not locked: from the plugin, after everything that may make room. NULL with
 * the error set. */
tn_block *tn_request_from_device(const tn_request *request);

/* Not locked: gives wholly free segments back, waiting for the streams of
 * their caches. False if there was nothing, here or in other threads. */
bool tn_allocator_trim(tn_allocator *allocator);

/* Not locked: gives an uncached block's segment back, waiting for its users.
 * The block is not live any more. */
void tn_segment_give_back(tn_block *block);

/* Makes the queue that tn_pending_add will need for a use on `stream`. */
tn_status tn_pending_prepare(tn_allocator *allocator,
                             const tn_stream *stream);

/* A block with uses, given back. */
void tn_pending_add(tn_block *block);

/* Puts pending blocks whose uses are past into their caches. */
void tn_pending_poll(tn_allocator *allocator);

/* Not locked: waits for all pending uses; false if there were none. */
bool tn_pending_wait(tn_allocator *allocator);

#endif
