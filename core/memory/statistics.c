#include "config.h"

#include "core/memory/statistics.h"

void tn_statistics_pend(tn_statistics *statistics, bool is_small,
                        uint64_t size)
{
  tn_statistics_add(statistics, TN_STATISTIC_pending, is_small, size);
  tn_statistics_add(statistics, TN_STATISTIC_pendings, is_small, 1);
}

void tn_statistics_unpend(tn_statistics *statistics, bool is_small,
                          uint64_t size)
{
  tn_statistics_subtract(statistics, TN_STATISTIC_pending, is_small, size);
  tn_statistics_subtract(statistics, TN_STATISTIC_pendings, is_small, 1);
}

static void see_sum(tn_peak *peak, const tn_counter *one,
                    const tn_counter *other)
{
  uint64_t large = tn_counter_current(one, false) +
                   tn_counter_current(other, false);
  uint64_t small = tn_counter_current(one, true) +
                   tn_counter_current(other, true);
  tn_peak_see(peak, false, large, large + small);
  tn_peak_see(peak, true, small, large + small);
}

void tn_statistics_see_active(tn_statistics *statistics)
{
  const tn_counter *counters = statistics->counters;
  see_sum(&statistics->active, &counters[TN_STATISTIC_allocated],
          &counters[TN_STATISTIC_pending]);
  see_sum(&statistics->active_blocks, &counters[TN_STATISTIC_allocations],
          &counters[TN_STATISTIC_pendings]);
}

void tn_oversize_add(tn_oversize *counter)
{
  uint64_t now = ++counter->total - counter->freed;
  if (now > counter->peak) counter->peak = now;
}

void tn_oversize_subtract(tn_oversize *counter) { counter->freed++; }

void tn_statistics_reset_peaks(tn_statistics *statistics)
{
  for (int i = 0; i < TN_STATISTIC_COUNT; i++) {
    tn_counter *counter = &statistics->counters[i];
    uint64_t large = tn_counter_current(counter, false);
    uint64_t small = tn_counter_current(counter, true);
    counter->peak = (tn_peak){ { large, small }, large + small };
  }
  tn_oversize *oversize = &statistics->oversize_allocations;
  oversize->peak = oversize->total - oversize->freed;
  oversize = &statistics->oversize_segments;
  oversize->peak = oversize->total - oversize->freed;
  statistics->active = statistics->active_blocks = (tn_peak){ { 0, 0 }, 0 };
  tn_statistics_see_active(statistics);
}

static void reset_oversize(tn_oversize *counter)
{
  counter->total -= counter->freed;
  counter->freed = 0;
}

void tn_statistics_reset_totals(tn_statistics *statistics)
{
  for (int i = 0; i < TN_STATISTIC_COUNT; i++)
    for (int is_small = 0; is_small < 2; is_small++) {
      tn_counter *counter = &statistics->counters[i];
      counter->total[is_small] = tn_counter_current(counter, is_small);
      counter->carried[is_small] = counter->total[is_small];
      counter->freed[is_small] = 0;
    }
  reset_oversize(&statistics->oversize_allocations);
  reset_oversize(&statistics->oversize_segments);
  statistics->ooms = statistics->retries = statistics->syncs = 0;
  statistics->device_allocs = statistics->device_frees = 0;
}

static tn_memory_stat read_pool(const tn_counter *counter, bool is_small)
{
  return (tn_memory_stat){
    .current = tn_counter_current(counter, is_small),
    .peak = counter->peak.pool[is_small],
    .total_allocated = counter->total[is_small],
    .total_freed = counter->freed[is_small],
  };
}

static void sum_up(tn_memory_stat_pools *pools, uint64_t peak)
{
  const tn_memory_stat *small = &pools->small, *large = &pools->large;
  pools->all = (tn_memory_stat){
    .current = small->current + large->current,
    .peak = peak,
    .total_allocated = small->total_allocated + large->total_allocated,
    .total_freed = small->total_freed + large->total_freed,
  };
}

static tn_memory_stat_pools read_counter(const tn_counter *counter)
{
  tn_memory_stat_pools pools = {
    .small = read_pool(counter, true),
    .large = read_pool(counter, false),
  };
  sum_up(&pools, counter->peak.all);
  return pools;
}

static uint64_t larger(uint64_t a, uint64_t b) { return a > b ? a : b; }

static void add_pending(tn_memory_stat *stat, const tn_counter *pending,
                        const tn_peak *peak, bool is_small)
{
  stat->current += tn_counter_current(pending, is_small);
  stat->total_allocated += pending->carried[is_small];
  stat->total_freed = stat->total_allocated - stat->current;
  stat->peak = larger(stat->peak, peak->pool[is_small]);
}

/* What is active: the given, and what is pending of it. */
static tn_memory_stat_pools read_active(const tn_counter *given,
                                        const tn_counter *pending,
                                        const tn_peak *peak)
{
  tn_memory_stat_pools pools = read_counter(given);
  add_pending(&pools.small, pending, peak, true);
  add_pending(&pools.large, pending, peak, false);
  sum_up(&pools, larger(given->peak.all, peak->all));
  return pools;
}

static tn_memory_stat read_oversize(const tn_oversize *counter)
{
  return (tn_memory_stat){
    .current = counter->total - counter->freed,
    .peak = counter->peak,
    .total_allocated = counter->total,
    .total_freed = counter->freed,
  };
}

void tn_statistics_read(const tn_statistics *statistics,
                        tn_memory_stats *out)
{
  const tn_counter *counters = statistics->counters;
#define READ(name) \
  out->name = read_counter(&counters[TN_STATISTIC_##name]);
  TN_STATISTIC_MAP(READ)
#undef READ
  out->active = read_active(&counters[TN_STATISTIC_allocated],
                            &counters[TN_STATISTIC_pending],
                            &statistics->active);
  out->active_blocks = read_active(&counters[TN_STATISTIC_allocations],
                                   &counters[TN_STATISTIC_pendings],
                                   &statistics->active_blocks);
  out->oversize_allocations =
      read_oversize(&statistics->oversize_allocations);
  out->oversize_segments = read_oversize(&statistics->oversize_segments);
  out->num_ooms = statistics->ooms;
  out->num_alloc_retries = statistics->retries;
  out->num_sync_all_streams = statistics->syncs;
  out->num_device_alloc = statistics->device_allocs;
  out->num_device_free = statistics->device_frees;
}
