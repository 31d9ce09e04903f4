/* The public calls on memory by address, statistics, recorded streams. */
#include "config.h"

#include <inttypes.h>

#include "core/base/error.h"
#include "core/memory/address_table.h"
#include "core/memory/allocator.h"
#include "core/memory/extent.h"
#include "core/memory/pinned.h"
#include "core/memory/pool.h"
#include "core/memory/snapshot.h"

tn_allocator *tn_allocator_acquire(tn_device device)
{
  tn_device_state *state;
  if (tn_device_acquire(device, &state) != TN_OK) return NULL;
  return tn_allocator_of(state);
}

void *tn_malloc(tn_device device, size_t bytes)
{
  tn_block *block = tn_block_new_for(device, bytes,
                                     __builtin_return_address(0));
  if (!block) return NULL;
  bool is_known = block->is_in_table;
  if (bytes == 0 || (!is_known && tn_address_table_add(block) != TN_OK)) {
    tn_block_release(block);
    return NULL;
  }
  atomic_store_explicit(&block->is_named, true, memory_order_relaxed);
  return tn_block_address(block);
}

static tn_status refuse_address(const void *address)
{
  return tn_error(TN_INVALID_ARGUMENT, "address 0x%" PRIxPTR " is not of "
                  "memory from tn_malloc or tn_malloc_pinned",
                  (uintptr_t)address);
}

/* The table may have blocks that were given back a moment ago. */
static tn_block *find_named(tn_address address)
{
  tn_block *block = tn_address_table_find(address);
  bool is_named = block && atomic_load_explicit(&block->is_named,
                                                memory_order_relaxed);
  return is_named ? block : NULL;
}

void tn_free(void *address)
{
  if (!address || tn_is_shut_down()) return;
  tn_block *block = find_named((tn_address)(uintptr_t)address);
  if (block) {
    atomic_store_explicit(&block->is_named, false, memory_order_relaxed);
    tn_block_release(block);
  } else if (!tn_pinned_free(address)) {
    refuse_address(address);
  }
}

static tn_status add_use(tn_block *block, tn_stream *stream,
                         tn_moment *moment)
{
  tn_allocator *allocator = block->allocator;
  tn_brief_lock_take(&allocator->lock);
  tn_status status = tn_pending_prepare(allocator, stream);
  if (status == TN_OK) status = tn_uses_add(&block->uses, stream, moment);
  else tn_moment_release(moment);
  tn_brief_lock_give(&allocator->lock);
  return status;
}

static bool is_of_stream(tn_block *block, const tn_stream *stream)
{
  return !block->segment || block->segment->cache->stream == stream;
}

static tn_status record(tn_block *block, tn_stream *stream)
{
  if (is_of_stream(block, stream)) return TN_OK;
  tn_moment *moment;
  tn_status status = tn_stream_moment(stream, 0, &moment);
  return status == TN_OK && moment ? add_use(block, stream, moment) : status;
}

tn_status tn_block_record_stream(tn_block *block, tn_stream *stream)
{
  if (!block || !stream)
    return tn_error(TN_INVALID_ARGUMENT, "%s is NULL",
                    block ? "stream" : "block");
  tn_status status = tn_enter(stream->state);
  if (status != TN_OK) return status;
  status = record(block, stream);
  tn_leave();
  return status;
}

tn_status tn_memory_record_stream(void *address, tn_stream *stream)
{
  if (!stream) return tn_error(TN_INVALID_ARGUMENT, "stream is NULL");
  tn_address number = (tn_address)(uintptr_t)address;
  if (tn_pinned_has(address, 1)) {
    tn_status status = tn_enter(stream->state);
    if (status != TN_OK) return status;
    status = tn_pinned_use(address, stream);
    tn_leave();
    return status;
  }
  tn_block *block = find_named(number);
  /* An address inside a block is looked for among all: views begin there. */
  if (!block) block = tn_block_around(number);
  return block ? tn_block_record_stream(block, stream)
               : refuse_address(address);
}

static size_t current(tn_device device, tn_statistic which)
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return 0;
  tn_brief_lock_take(&allocator->lock);
  uint64_t value = tn_statistics_current(&allocator->statistics, which);
  tn_brief_lock_give(&allocator->lock);
  return (size_t)value;
}

static size_t peak(tn_device device, tn_statistic which)
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return 0;
  tn_brief_lock_take(&allocator->lock);
  uint64_t value = allocator->statistics.counters[which].peak.all;
  tn_brief_lock_give(&allocator->lock);
  return (size_t)value;
}

size_t tn_memory_allocated(tn_device device)
{
  return current(device, TN_STATISTIC_allocated);
}

size_t tn_max_memory_allocated(tn_device device)
{
  return peak(device, TN_STATISTIC_allocated);
}

size_t tn_memory_reserved(tn_device device)
{
  return current(device, TN_STATISTIC_reserved);
}

size_t tn_max_memory_reserved(tn_device device)
{
  return peak(device, TN_STATISTIC_reserved);
}

static tn_status reset(tn_device device, void (*what)(tn_statistics *))
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_brief_lock_take(&allocator->lock);
  what(&allocator->statistics);
  tn_brief_lock_give(&allocator->lock);
  return TN_OK;
}

tn_status tn_reset_peak_memory_stats(tn_device device)
{
  return reset(device, tn_statistics_reset_peaks);
}

tn_status tn_reset_accumulated_memory_stats(tn_device device)
{
  return reset(device, tn_statistics_reset_totals);
}

tn_status tn_memory_get_stats(tn_device device, tn_memory_stats *out)
{
  if (!out) return tn_error(TN_INVALID_ARGUMENT, "out is NULL");
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  bool is_inside = tn_enter_to_release(allocator->state);
  tn_brief_lock_take(&allocator->lock);
  if (is_inside) tn_pending_poll(allocator);
  tn_allocator_settle(allocator);
  tn_statistics_read(&allocator->statistics, out);
  tn_brief_lock_give(&allocator->lock);
  if (is_inside) tn_leave();
  return TN_OK;
}

tn_status tn_empty_cache(tn_device device)
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_status status = tn_enter(allocator->state);
  if (status != TN_OK) return status;
  if (!tn_pool_current_of(allocator->state)) {
    tn_brief_lock_take(&allocator->lock);
    allocator->statistics.syncs++;
    tn_pending_poll(allocator);
    tn_brief_lock_give(&allocator->lock);
    tn_allocator_trim(allocator, NULL);
  }
  tn_leave();
  return TN_OK;
}

static tn_status info_of(tn_allocator *allocator, uint64_t *unused,
                         uint64_t *total)
{
  tn_device_state *state = allocator->state;
  if (state->backend->alloc.mem_info) {
    tn_status status = state->backend->alloc.mem_info(state->handle, unused,
                                                      total);
    if (status != TN_OK) tn_plugin_error(state, status, "memory figures");
    return status;
  }
  tn_brief_lock_take(&allocator->lock);
  uint64_t reserved = tn_statistics_current(&allocator->statistics,
                                            TN_STATISTIC_reserved);
  tn_brief_lock_give(&allocator->lock);
  *total = state->info.memory_total;
  *unused = *total > reserved ? *total - reserved : 0;
  return TN_OK;
}

tn_status tn_mem_get_info(tn_device device, size_t *free_bytes,
                          size_t *total_bytes)
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_status status = tn_enter(allocator->state);
  if (status != TN_OK) return status;
  uint64_t unused = 0, total = 0;
  status = info_of(allocator, &unused, &total);
  tn_leave();
  if (status != TN_OK) return status;
  if (free_bytes) *free_bytes = (size_t)unused;
  if (total_bytes) *total_bytes = (size_t)total;
  return TN_OK;
}

tn_status tn_set_memory_fraction(tn_device device, double fraction)
{
  if (!(fraction >= 0 && fraction <= 1))
    return tn_error(TN_INVALID_ARGUMENT, "memory fraction %g: must be from 0 "
                    "to 1", fraction);
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return tn_last_status();
  tn_status status = tn_enter(allocator->state);
  if (status != TN_OK) return status;
  tn_allocator_limit(allocator, fraction);
  tn_leave();
  return TN_OK;
}

double tn_memory_fraction(tn_device device)
{
  tn_allocator *allocator = tn_allocator_acquire(device);
  if (!allocator) return -1;
  tn_brief_lock_take(&allocator->lock);
  double fraction = allocator->fraction;
  tn_brief_lock_give(&allocator->lock);
  return fraction;
}
