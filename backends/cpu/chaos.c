#include "backends/cpu/chaos.h"

#include <sched.h>
#include <stdatomic.h>

#include "backends/cpu/host.h"

/* Commands that follow each other have the same mood: work of several commands
 * lags as a whole. */
#define STRETCH 4
#define NEVER (UINT32_C(1) << 30) /* ticks: not before it is waited for */

int tn_cpu_chaos_seed;
static _Atomic uint32_t ticks;
static _Atomic int holding; /* threads */

void tn_cpu_chaos_setup(int seed)
{
  tn_cpu_chaos_seed = seed;
  tn_cpu_host->log(TN_LOG_WARNING,
                   "cpu: TENON_CPU_CHAOS=%d: streams lag and overtake each "
                   "other, memory is poisoned",
                   seed);
}

/* The threads that hold commands back get a chance to see it. */
void tn_cpu_chaos_tick(void)
{
  atomic_fetch_add(&ticks, 1);
  if (atomic_load(&holding) > 0) sched_yield();
}

/* Every bit of the result depends on every bit of the value (the finaliser of
 * splitmix64). */
static uint64_t mix(uint64_t value)
{
  value += UINT64_C(0x9e3779b97f4a7c15);
  value = (value ^ (value >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
  value = (value ^ (value >> 27)) * UINT64_C(0x94d049bb133111eb);
  return value ^ (value >> 31);
}

uint32_t tn_cpu_chaos_due(uint32_t stream, uint64_t command)
{
  uint64_t draw = mix((uint64_t)tn_cpu_chaos_seed << 32 | stream);
  uint64_t mood = mix(draw + command / STRETCH) & 3;
  uint32_t lag = (uint32_t)(mix(draw ^ ~command) >> 32);
  uint32_t now = atomic_load(&ticks);
  switch (mood) {
  case 0: return now;
  case 1: return now + 1 + lag % 8;
  case 2: return now + 16 + lag % 240;
  default: return now + NEVER;
  }
}

bool tn_cpu_chaos_is_due(uint32_t due)
{
  return (int32_t)(atomic_load(&ticks) - due) >= 0;
}

void tn_cpu_chaos_hold_begin(void)
{
  atomic_fetch_add(&holding, 1);
}

void tn_cpu_chaos_hold_end(void)
{
  atomic_fetch_sub(&holding, 1);
}

void tn_cpu_chaos_after_fork(void)
{
  atomic_store(&holding, 0);
}
