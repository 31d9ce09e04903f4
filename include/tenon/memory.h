/* Tenon: device and pinned memory from caching allocators.
 *
 * Memory is ordered on the stream it was allocated for (the device's current
 * one): freeing needs no waiting, and the next allocation for that stream may
 * have it at once. Use on another stream is declared with record_stream, and
 * then the memory is handed out again only after that use.
 *
 * Sizes are bytes. All functions are thread-safe.
 *
 * SPDX-License-Identifier: MIT
 */
#ifndef TENON_MEMORY_H
#define TENON_MEMORY_H

#include <stdio.h>

#include "tenon/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_block tn_block;

/* A block for the device's current stream. 0 bytes give a block without
 * memory, whose address is NULL. NULL on failure: TN_OUT_OF_MEMORY names the
 * size, the device, its capacity, what is allocated and reserved, in how many
 * pieces the rest lies, and who holds most (by tag, or by code). */
TN_API tn_block *tn_block_new(tn_device device, size_t bytes);

/* In the device's own address space: the host may use it only where the
 * device's info says host_access. */
TN_API void *tn_block_address(const tn_block *block);
TN_API size_t tn_block_size(const tn_block *block); /* as asked for */
TN_API tn_device tn_block_device(const tn_block *block);
TN_API tn_block *tn_block_retain(tn_block *block);
TN_API void tn_block_release(tn_block *block);

/* The block is also used by what is queued on `stream` until now. */
TN_API tn_status tn_block_record_stream(tn_block *block, tn_stream *stream);

/* The same by address, for callers that hold only one (a look-up each).
 * NULL for 0 bytes, which is no failure. tn_free takes device and pinned
 * memory and NULL; an address it does not know sets TN_INVALID_ARGUMENT and
 * does nothing else. */
TN_API void *tn_malloc(tn_device device, size_t bytes);
TN_API void tn_free(void *address);
TN_API tn_status tn_memory_record_stream(void *address, tn_stream *stream);

/* Host memory that devices copy from and to asynchronously, page-locked by
 * the accelerator in use: the default device if that is one, or else the
 * first one the program has used; plain memory if there is none. Freed by
 * tn_free, and reused only when copies queued with it are complete. */
TN_API void *tn_malloc_pinned(size_t bytes);

/* Whether an address lies in memory from tn_malloc_pinned, or in registered
 * memory. Uses no device. */
TN_API bool tn_memory_is_pinned(const void *address);

/* Page-locks host memory that the program owns, for the same accelerator, so
 * that it counts as pinned; the program undoes that, by the address it began
 * with, before it frees the memory (this waits for queued copies).
 * TN_UNSUPPORTED where the backend cannot. */
TN_API tn_status tn_host_register(void *memory, size_t bytes);
TN_API tn_status tn_host_unregister(void *memory);

/* Gives cached pinned memory back that no queued copy uses. */
TN_API tn_status tn_empty_host_cache(void);

/* What the program holds, and what the library holds of the device. */
TN_API size_t tn_memory_allocated(tn_device device);
TN_API size_t tn_max_memory_allocated(tn_device device);
TN_API size_t tn_memory_reserved(tn_device device);
TN_API size_t tn_max_memory_reserved(tn_device device);

/* The peaks become what is current. */
TN_API tn_status tn_reset_peak_memory_stats(tn_device device);

/* Totals begin anew with what is current, the num_ counts with 0. */
TN_API tn_status tn_reset_accumulated_memory_stats(tn_device device);

/* Gives unused reserved memory back to the device, waiting for its streams;
 * that of memory pools only when they were released. Inside a tn_with_pool of
 * the device it does nothing. */
TN_API tn_status tn_empty_cache(tn_device device);

/* The device's own figures, which other programs change too. */
TN_API tn_status tn_mem_get_info(tn_device device, size_t *free_bytes,
                                 size_t *total_bytes);

/* A budget for what is reserved of the device, as a part (0 to 1) of its
 * capacity; 1 at first, which is none. An allocation that would need more is
 * TN_OUT_OF_MEMORY, as if the device were so large. */
TN_API tn_status tn_set_memory_fraction(tn_device device, double fraction);
TN_API double tn_memory_fraction(tn_device device); /* -1 on failure */

/* Options of the allocator for all devices, as PyTorch writes them:
 * "max_split_size_mb:128,roundup_power2_divisions:[256:1,512:2,>:4]". What is
 * not named gets its default (but per_process_memory_fraction stays). Those of
 * TENON_ALLOC_CONF hold from the start. TN_INVALID_ARGUMENT names a key that
 * is unknown, or a key with its bad value; TN_UNSUPPORTED an option that is
 * not there yet; both change nothing. See tenon(7) for the keys. */
TN_API tn_status tn_set_alloc_conf(const char *conf);

typedef struct tn_memory_stat {
  uint64_t current, peak, total_allocated, total_freed;
} tn_memory_stat;

/* Small: blocks of at most 1 MiB. */
typedef struct tn_memory_stat_pools {
  tn_memory_stat all, small, large;
} tn_memory_stat_pools;

typedef struct tn_memory_stats {
  tn_memory_stat_pools allocated; /* bytes of live blocks, rounded */
  tn_memory_stat_pools reserved;  /* bytes of segments */
  tn_memory_stat_pools active;    /* allocated, and freed but still in use by
                                   * a recorded stream */
  tn_memory_stat_pools requested; /* bytes as asked for */
  tn_memory_stat_pools inactive_split; /* free bytes of split segments */
  tn_memory_stat_pools allocations;    /* numbers, not bytes */
  tn_memory_stat_pools segments;
  tn_memory_stat_pools active_blocks, inactive_splits;
  tn_memory_stat oversize_allocations; /* of max_split_size and more */
  tn_memory_stat oversize_segments;
  uint64_t num_ooms, num_alloc_retries;
  uint64_t num_sync_all_streams; /* times all was given back that could be */
  uint64_t num_device_alloc, num_device_free; /* segments */
} tn_memory_stats;

TN_API tn_status tn_memory_get_stats(tn_device device, tn_memory_stats *out);

/* The same for pinned memory. */
TN_API tn_status tn_host_memory_get_stats(tn_memory_stats *out);
TN_API tn_status tn_reset_peak_host_memory_stats(void);
TN_API tn_status tn_reset_accumulated_host_memory_stats(void);

/* Names the memory that this thread allocates from now on, of any device:
 * messages and snapshots say who holds what. At most 63 bytes, which are
 * copied and kept for good; NULL or "": no name. As with tn_device_push. */
typedef struct tn_memory_tag_guard {
  const char *saved;
  int active;
} tn_memory_tag_guard;

TN_API tn_memory_tag_guard tn_memory_tag_push(const char *tag);
TN_API void tn_memory_tag_pop(tn_memory_tag_guard *guard);
#define tn_with_memory_tag(tag) \
  TN_BLOCK_(tn_memory_tag_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_memory_tag_push(tag), tn_memory_tag_pop)

/* Writes all segments and blocks of a device and the events recorded, with
 * PyTorch's keys: as JSON, or as PyTorch's own snapshot file (a pickle of
 * protocol 2), which its viewer at pytorch.org/memory_viz opens. The sums are
 * those of tn_memory_get_stats at that moment. `tenon memory` shows the JSON.
 * The file stays open. */
TN_API tn_status tn_memory_snapshot(tn_device device, FILE *json);
TN_API tn_status tn_memory_snapshot_pickle(tn_device device, FILE *pickle);

/* The statistics as a table, and the largest holders. */
TN_API tn_status tn_memory_summary(tn_device device, FILE *text);

/* Keeps the last `entries` events of a device's memory for its snapshots,
 * from now on; 0: none any more. Events kept so far are dropped. */
typedef struct tn_memory_history_options {
  const char *skip; /* actions that are not kept: "alloc,free_requested" */
  char tn_end_;
} tn_memory_history_options;

TN_API tn_status tn_memory_record_history(tn_device device, size_t entries);
TN_API tn_status tn_memory_record_history_with(
    tn_device device, size_t entries, tn_memory_history_options options);

/* A text that goes with each event from now on, of all devices and threads;
 * copied. NULL or "": none. */
TN_API tn_status tn_memory_set_metadata(const char *text);

/* Called by the thread whose allocation fails, before the error is set, with
 * what it asked for, what the device has and what is free of it. It may call
 * the library. At most 16 at a time; those of a pair of function and argument
 * are called once for each time they were added. */
typedef void (*tn_oom_observer)(tn_device device, size_t requested,
                                size_t total, size_t unused, void *argument);
TN_API tn_status tn_memory_observe_oom(tn_oom_observer function,
                                       void *argument);
TN_API tn_status tn_memory_ignore_oom(tn_oom_observer function,
                                      void *argument);

/* A memory pool: a part of a device's memory with caches of its own. Inside
 * tn_with_pool, this thread's allocations for its device come from it; they
 * go back to it wherever they are freed. Its memory goes back to the device
 * when it was released and its last block is gone. */
typedef struct tn_mem_pool tn_mem_pool;

/* All zero: the device's memory. With both functions: the program's own. They
 * are called by any thread, and must not call the library for this device. */
typedef struct tn_mem_pool_options {
  /* Memory of the device for work on `stream`; NULL if there is none, and
   * then memory is made free and it is called again. */
  void *(*alloc)(size_t bytes, tn_device device, tn_stream *stream,
                 void *context);
  /* All work on the memory is complete. `stream` is NULL if it has ended. Not
   * called for what is left at the end of the library. */
  void (*free)(void *address, size_t bytes, tn_device device,
               tn_stream *stream, void *context);
  /* When the pool and all its memory are gone; may be NULL. */
  void (*destroy)(void *context);
  void *context;
  bool use_on_oom, no_split; /* not there yet: TN_UNSUPPORTED */
  char tn_end_;
} tn_mem_pool_options;

/* NULL on failure. Release it with tn_mem_pool_release. */
TN_API tn_mem_pool *tn_mem_pool_new_with(tn_device device,
                                         tn_mem_pool_options options);
TN_API tn_mem_pool *tn_mem_pool_retain(tn_mem_pool *pool);
TN_API void tn_mem_pool_release(tn_mem_pool *pool);

/* References, each tn_with_pool holding one. */
TN_API size_t tn_mem_pool_use_count(const tn_mem_pool *pool);

/* {0, n}, n growing from pool to pool in the process; graphs' own pools have
 * {n, 0}. {0, 0} for NULL, which is no pool. */
TN_API void tn_mem_pool_id(const tn_mem_pool *pool, uint64_t id[2]);
TN_API tn_device tn_mem_pool_device(const tn_mem_pool *pool);

/* Whether the pool's live blocks begin at just these addresses. */
TN_API bool tn_mem_pool_check_live(const tn_mem_pool *pool,
                                   void *const *addresses, size_t count);

/* Makes the pool this thread's pool of its device until the pop, which
 * restores what was. As with tn_device_push. */
typedef struct tn_mem_pool_guard {
  tn_mem_pool *entered, *saved;
  int active;
} tn_mem_pool_guard;

TN_API tn_mem_pool_guard tn_mem_pool_push(tn_mem_pool *pool);
TN_API void tn_mem_pool_pop(tn_mem_pool_guard *guard);
#define tn_with_pool(pool) \
  TN_BLOCK_(tn_mem_pool_guard, TN_GLUE_(tn_guard_, __COUNTER__), \
            tn_mem_pool_push(pool), tn_mem_pool_pop)

#ifndef __cplusplus
#define TN_MEM_POOL_NEW_(device, ...) \
  tn_mem_pool_new_with(device, (tn_mem_pool_options){ __VA_ARGS__ })
/* tn_mem_pool_new(device) or tn_mem_pool_new(device, .alloc = ...) */
#define tn_mem_pool_new(...) TN_MEM_POOL_NEW_(__VA_ARGS__, .tn_end_ = 0)
#endif

#ifdef __cplusplus
}
#endif
#endif
