/* Exact counts of what an allocator holds. Guarded by its lock. */
#ifndef TN_CORE_MEMORY_STATISTICS_H
#define TN_CORE_MEMORY_STATISTICS_H

#include <stdbool.h>
#include <stdint.h>

#include "tenon/memory.h"

/* X(member of tn_memory_stats) */
#define TN_STATISTIC_MAP(X) \
  X(allocated) \
  X(reserved) \
  X(active) \
  X(requested) \
  X(inactive_split) \
  X(allocations) \
  X(segments)

typedef enum tn_statistic {
#define TN_STATISTIC_ENUM_(name) TN_STATISTIC_##name,
  TN_STATISTIC_MAP(TN_STATISTIC_ENUM_)
#undef TN_STATISTIC_ENUM_
  TN_STATISTIC_COUNT
} tn_statistic;

typedef struct tn_counter {
  uint64_t current[2];  /* large, small */
  uint64_t peak[2];
  uint64_t peak_of_all; /* not the sum of the two peaks */
  uint64_t freed[2];    /* since the start; allocated = current + freed */
} tn_counter;

typedef struct tn_statistics {
  tn_counter counters[TN_STATISTIC_COUNT];
  uint64_t ooms, retries;
} tn_statistics;

static inline void tn_statistics_add(tn_statistics *statistics,
                                     tn_statistic which, bool is_small,
                                     uint64_t amount)
{
  tn_counter *counter = &statistics->counters[which];
  uint64_t now = counter->current[is_small] += amount;
  if (now > counter->peak[is_small]) counter->peak[is_small] = now;
  now += counter->current[!is_small];
  if (now > counter->peak_of_all) counter->peak_of_all = now;
}

static inline void tn_statistics_subtract(tn_statistics *statistics,
                                          tn_statistic which, bool is_small,
                                          uint64_t amount)
{
  tn_counter *counter = &statistics->counters[which];
  counter->current[is_small] -= amount;
  counter->freed[is_small] += amount;
}

static inline uint64_t tn_statistics_current(const tn_statistics *statistics,
                                             tn_statistic which)
{
  const tn_counter *counter = &statistics->counters[which];
  return counter->current[0] + counter->current[1];
}

void tn_statistics_reset_peaks(tn_statistics *statistics);
void tn_statistics_read(const tn_statistics *statistics,
                        tn_memory_stats *out);

#endif
