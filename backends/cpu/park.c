#include "backends/cpu/park.h"

#include <errno.h>
#include <linux/futex.h>
#include <linux/membarrier.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#if __has_include(<sys/single_threaded.h>)
#include <sys/single_threaded.h>
#else
#define __libc_single_threaded 0
#endif

#define SECOND 1000000000u
#define SPIN_TIME 30000u /* ns */
#define SPIN_TURNS 16u   /* between looks at the clock */
#define BRIEF_PAUSES 16

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

void tn_cpu_pause_briefly(void)
{
  for (int i = 0; i < BRIEF_PAUSES && spinning; i++) spin_pause();
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

/* --- fences --- */

atomic_bool tn_cpu_fence_is_heavy = true;

static bool membarrier(int command)
{
  return syscall(SYS_membarrier, command, 0, 0) == 0;
}

/* Light fences are light from now on, if that goes well. */
static void fence_register(void)
{
  if (membarrier(MEMBARRIER_CMD_REGISTER_PRIVATE_EXPEDITED))
    atomic_store(&tn_cpu_fence_is_heavy, false);
}

void tn_cpu_fence_prepare(void)
{
  if (__libc_single_threaded) fence_register();
}

/* A light fence that does nothing was preceded by the registration, so the
 * first try fails only where all of them are fences still. */
void tn_cpu_fence_all(void)
{
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  fence_register();
  if (membarrier(MEMBARRIER_CMD_PRIVATE_EXPEDITED)) return;
  atomic_thread_fence(memory_order_seq_cst);
}
