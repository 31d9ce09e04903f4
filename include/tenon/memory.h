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

#include "tenon/stream.h"

#ifdef __cplusplus
extern "C" {
#endif

typedef struct tn_block tn_block;

/* A block for the device's current stream. 0 bytes give a block without
 * memory, whose address is NULL. NULL on failure: TN_OUT_OF_MEMORY names the
 * size, the device, its capacity, and what is allocated and reserved. */
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

/* Whether an address lies in memory from tn_malloc_pinned. */
TN_API bool tn_memory_is_pinned(const void *address);

/* What the program holds, and what the library holds of the device. */
TN_API size_t tn_memory_allocated(tn_device device);
TN_API size_t tn_max_memory_allocated(tn_device device);
TN_API size_t tn_memory_reserved(tn_device device);
TN_API size_t tn_max_memory_reserved(tn_device device);

/* The peaks become what is current. */
TN_API tn_status tn_reset_peak_memory_stats(tn_device device);

/* Gives unused reserved memory back to the device. */
TN_API tn_status tn_empty_cache(tn_device device);

/* The device's own figures, which other programs change too. */
TN_API tn_status tn_mem_get_info(tn_device device, size_t *free_bytes,
                                 size_t *total_bytes);

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
  uint64_t num_ooms, num_alloc_retries;
} tn_memory_stats;

TN_API tn_status tn_memory_get_stats(tn_device device, tn_memory_stats *out);

/* The same for pinned memory. */
TN_API tn_status tn_host_memory_get_stats(tn_memory_stats *out);

#ifdef __cplusplus
}
#endif
#endif
