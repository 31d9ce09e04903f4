/* Exact counts of what an allocator holds. Guarded by its lock. */
#ifndef TN_CORE_MEMORY_STATISTICS_H
#define TN_CORE_MEMORY_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/memory.h"

/* X(member of tn_memory_stats). What is active is what is allocated or
 * pending; it is not counted but summed up. */
#define TN_STATISTIC_MAP(X) \
  X(allocated) \
  X(reserved) \
  X(requested) \
  X(inactive_split) \
  X(allocations) \
  X(segments) \
  X(inactive_splits)

typedef enum tn_statistic {
#define TN_STATISTIC_ENUM_(name) TN_STATISTIC_##name,
  TN_STATISTIC_MAP(TN_STATISTIC_ENUM_)
#undef TN_STATISTIC_ENUM_
  TN_STATISTIC_pending,  /* bytes given back, but still in use */
  TN_STATISTIC_pendings, /* blocks */
  TN_STATISTIC_COUNT
} tn_statistic;

typedef struct tn_peak {
  uint64_t pool[2]; /* large, small */
  uint64_t all;     /* not the sum of the two */
} tn_peak;

/* Since the start, or since the totals were reset. */
typedef struct tn_counter {
  uint64_t total[2], freed[2]; /* large, small */
  uint64_t carried[2];         /* what was there when totals were reset */
  tn_peak peak;
} tn_counter;

/* Of blocks or segments above max_split_size. */
typedef struct tn_oversize {
  uint64_t total, freed, peak;
} tn_oversize;

typedef struct tn_statistics {
  tn_counter counters[TN_STATISTIC_COUNT];
  tn_peak active, active_blocks; /* while something was pending */
  tn_oversize oversize_allocations, oversize_segments;
  uint64_t ooms, retries, syncs, device_allocs, device_frees;
} tn_statistics;

static inline uint64_t tn_counter_current(const tn_counter *counter,
                                          bool is_small)
{
  return counter->total[is_small] - counter->freed[is_small];
}

static inline void tn_peak_see(tn_peak *peak, bool is_small, uint64_t pool,
                               uint64_t all)
{
  if (pool > peak->pool[is_small]) peak->pool[is_small] = pool;
  if (all > peak->all) peak->all = all;
}

static inline void tn_statistics_add(tn_statistics *statistics,
                                     tn_statistic which, bool is_small,
                                     uint64_t amount)
{
  tn_counter *counter = &statistics->counters[which];
  counter->total[is_small] += amount;
  uint64_t now = tn_counter_current(counter, is_small);
  tn_peak_see(&counter->peak, is_small, now,
              now + tn_counter_current(counter, !is_small));
}

static inline void tn_statistics_subtract(tn_statistics *statistics,
                                          tn_statistic which, bool is_small,
                                          uint64_t amount)
{
  statistics->counters[which].freed[is_small] += amount;
}

static inline uint64_t tn_statistics_current(const tn_statistics *statistics,
                                             tn_statistic which)
{
  const tn_counter *counter = &statistics->counters[which];
  return tn_counter_current(counter, false) +
         tn_counter_current(counter, true);
}

/* A block of a size became pending, or is so no more. */
void tn_statistics_pend(tn_statistics *statistics, bool is_small,
                        uint64_t size);
void tn_statistics_unpend(tn_statistics *statistics, bool is_small,
                          uint64_t size);

/* After an allocation while blocks are pending: the peaks of what is
 * active. */
void tn_statistics_see_active(tn_statistics *statistics);

void tn_oversize_add(tn_oversize *counter);
void tn_oversize_subtract(tn_oversize *counter);

void tn_statistics_reset_peaks(tn_statistics *statistics);

/* Totals begin with what is current, counts at 0. */
void tn_statistics_reset_totals(tn_statistics *statistics);

void tn_statistics_read(const tn_statistics *statistics,
                        tn_memory_stats *out);

#endif
