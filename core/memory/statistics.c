#include "config.h"

#include "core/memory/statistics.h"

void tn_statistics_reset_peaks(tn_statistics *statistics)
{
  for (int i = 0; i < TN_STATISTIC_COUNT; i++) {
    tn_counter *counter = &statistics->counters[i];
    counter->peak[0] = counter->current[0];
    counter->peak[1] = counter->current[1];
    counter->peak_of_all = counter->current[0] + counter->current[1];
  }
}

static tn_memory_stat read_pool(const tn_counter *counter, bool is_small)
{
  return (tn_memory_stat){
    .current = counter->current[is_small],
    .peak = counter->peak[is_small],
    .total_allocated = counter->current[is_small] + counter->freed[is_small],
    .total_freed = counter->freed[is_small],
  };
}

static tn_memory_stat_pools read_counter(const tn_counter *counter)
{
  tn_memory_stat_pools pools = {
    .small = read_pool(counter, true),
    .large = read_pool(counter, false),
  };
  pools.all = (tn_memory_stat){
    .current = pools.small.current + pools.large.current,
    .peak = counter->peak_of_all,
    .total_allocated =
        pools.small.total_allocated + pools.large.total_allocated,
    .total_freed = pools.small.total_freed + pools.large.total_freed,
  };
  return pools;
}

void tn_statistics_read(const tn_statistics *statistics,
                        tn_memory_stats *out)
{
#define READ(name) \
  out->name = read_counter(&statistics->counters[TN_STATISTIC_##name]);
  TN_STATISTIC_MAP(READ)
#undef READ
  out->num_ooms = statistics->ooms;
  out->num_alloc_retries = statistics->retries;
}
