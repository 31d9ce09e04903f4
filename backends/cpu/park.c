#include "backends/cpu/park.h"

#include <errno.h>
#include <linux/futex.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#define SECOND 1000000000u
#define SPIN_TIME 30000u /* ns */
#define SPIN_TURNS 16u   /* between looks at the clock */

static bool spinning = true;

uint64_t tn_cpu_clock(void)
{
  struct timespec now;
  clock_gettime(CLOCK_MONOTONIC, &now);
  return (uint64_t)now.tv_sec * SECOND + (uint64_t)now.tv_nsec;
}

uint64_t tn_cpu_deadline(uint64_t timeout)
{
  if (timeout == TN_CPU_NO_DEADLINE) return timeout;
  uint64_t deadline;
  if (__builtin_add_overflow(tn_cpu_clock(), timeout, &deadline))
    return TN_CPU_NO_DEADLINE;
  return deadline;
}

bool tn_cpu_park(_Atomic uint32_t *word, uint32_t value, uint64_t deadline)
{
  struct timespec at = { (time_t)(deadline / SECOND),
                         (long)(deadline % SECOND) };
  long result = syscall(SYS_futex, word, FUTEX_WAIT_BITSET_PRIVATE, value,
                        deadline == TN_CPU_NO_DEADLINE ? NULL : &at, NULL,
                        FUTEX_BITSET_MATCH_ANY);
  return !(result == -1 && errno == ETIMEDOUT);
}

void tn_cpu_unpark(_Atomic uint32_t *word, int count)
{
  syscall(SYS_futex, word, FUTEX_WAKE_PRIVATE, count, NULL, NULL, 0);
}

void tn_cpu_spin_allow(bool allow)
{
  spinning = allow;
}

static void spin_pause(void)
{
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  __asm__ __volatile__("isb");
#endif
}

bool tn_cpu_spin_again(tn_cpu_spin *spin)
{
  if (!spinning) return false;
  spin_pause();
  if (++spin->turns % SPIN_TURNS) return true;
  uint64_t now = tn_cpu_clock();
  if (!spin->until) spin->until = now + SPIN_TIME;
  return now < spin->until;
}
