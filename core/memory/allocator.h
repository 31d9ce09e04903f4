/* A device's caching allocator.
 *
 * Memory comes from the plugin in segments, is cut into blocks and joined
 * again. Each stream has a cache of its own, since a free block may still be
 * in use by work queued on its stream: only that stream may have it at once.
 * Files: allocator.c (the device's, and streams' caches), block.c (blocks),
 * segment.c (segments, and what is done when memory is short), trim.c (giving
 * segments back), pending.c (blocks in use by recorded streams), oom.c (the
 * error).
 */
#ifndef TN_CORE_MEMORY_ALLOCATOR_H
#define TN_CORE_MEMORY_ALLOCATOR_H

#include "core/base/brief_lock.h"
#include "core/memory/block.h"
#include "core/memory/conf.h"
#include "core/memory/free_list.h"
#include "core/memory/statistics.h"
#include "core/memory/trace.h"

/* PyTorch's sizes: requests up to 1 MiB come from segments of 2 MiB, those
 * below 10 MiB from 20 MiB, larger ones have their own in steps of 2 MiB. */
#define TN_SMALL_REQUEST ((uint64_t)1 << 20)
#define TN_SMALL_SEGMENT ((uint64_t)2 << 20)
#define TN_LARGE_SEGMENT ((uint64_t)20 << 20)
#define TN_OWN_SEGMENT ((uint64_t)10 << 20)
#define TN_SEGMENT_STEP ((uint64_t)2 << 20)
#define TN_LARGEST_REQUEST ((uint64_t)1 << 60)

/* Blocks that were given back just now are kept as they are for the next
 * request of their size. All other requests find them joined: what is cached
 * looks as if joining were done at once. */
enum { TN_DEFERRED_MAX = 16 };

typedef struct tn_stream_cache {
  struct tn_allocator *allocator;
  /* NULL: it ended, and with it all work of the cache. Written under the
   * lock. */
  _Atomic(tn_stream *) stream;
  uint64_t stream_id;  /* in snapshots: 0 for the default stream */
  struct tn_mem_pool *pool; /* NULL: the device's own */
  size_t segments;     /* that belong to it */
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
  tn_conf conf;
  double fraction;    /* of the capacity that may be reserved */
  uint64_t limit;     /* that in bytes; UINT64_MAX: no limit */
  uint64_t promised;  /* bytes the plugin is being asked for */
  tn_trace *trace;    /* NULL: nothing is recorded */
  /* There is a trace, or something is pending, or there was a
   * max_split_size: whatever the short way can leave out. */
  bool is_watched, had_max_split;
  uint64_t clock;     /* requests that looked among cached blocks */
  struct tn_mem_pool *pools;
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
  const void *caller; /* the code that asks */
} tn_request;

/* The device's, made at first use. NULL with the error set without memory, or
 * if TENON_ALLOC_CONF is wrong. */
tn_allocator *tn_allocator_of(tn_device_state *state);

/* The first of all, linked by `next`. */
tn_allocator *tn_allocator_first(void);

/* Not locked: puts options in force. */
void tn_allocator_configure(tn_allocator *allocator, const tn_conf *conf);

/* Not locked: what the device has in all. */
uint64_t tn_allocator_capacity(tn_allocator *allocator);

/* Not locked: a budget as part of the capacity, 0 to 1. */
void tn_allocator_limit(tn_allocator *allocator, double fraction);

/* Not locked: the cache of a stream in a pool (NULL: the device's own). NULL
 * with the error set without memory. */
tn_stream_cache *tn_stream_cache_of(tn_stream *stream,
                                    struct tn_mem_pool *pool);

/* All below: the allocator's lock is held, unless said otherwise. */

/* After a change of what it depends on. */
static inline void tn_allocator_set_watched(tn_allocator *allocator)
{
  allocator->is_watched = allocator->trace || allocator->pending_count ||
                          allocator->had_max_split;
}

/* Records what was done to a block or a segment, if a history is kept. */
void tn_allocator_trace_block(tn_trace_action action, const tn_block *block);
void tn_allocator_trace_segment(tn_trace_action action,
                                const tn_segment *segment);

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

/* Not locked: one segment for a request from the plugin, or from its pool's
 * own allocator. NULL: *is_short if there is no memory left, otherwise the
 * error is set. */
tn_block *tn_segment_get(const tn_request *request, uint64_t bytes,
                         bool *is_short);
uint64_t tn_segment_size(const tn_request *request);

/* Not locked, the following five: give wholly free segments back, waiting for
 * the streams of their caches. False if there was nothing, here or in other
 * threads. */

/* All that no pool in use has; `own`: and those of one pool (NULL: none)
 * unless it keeps them. */
bool tn_allocator_trim(tn_allocator *allocator,
                       const struct tn_mem_pool *own);

/* Those of one pool. */
bool tn_allocator_trim_pool(tn_allocator *allocator,
                            const struct tn_mem_pool *pool);

/* Just enough of those that are not cut (max_split_size) for a request. */
bool tn_allocator_trim_oversized(const tn_request *request);

/* The longest unused ones, when more is reserved than the threshold. */
bool tn_allocator_collect(tn_allocator *allocator);

/* What else may hold the backend's memory: its other devices, and pinned
 * memory. */
bool tn_allocator_trim_relatives(tn_allocator *allocator);

/* Not locked: changes whenever memory was given back. */
uint64_t tn_allocator_trim_round(tn_allocator *allocator);

/* The plugin's call, or the one of the cache's pool. */
void tn_segment_free_memory(const tn_stream_cache *cache, uint64_t bytes,
                            tn_address address);
void tn_segment_unlink(tn_allocator *allocator, tn_segment *segment);
void tn_segment_count(tn_segment *segment, bool is_new);

/* Not locked: tells the observers, and sets the error. Allocates nothing. */
void tn_request_refuse(const tn_request *request);

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
