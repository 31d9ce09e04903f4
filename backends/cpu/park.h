/* Sleeping until another thread changes a word, and the clock that goes with
 * it. Callers spin for a bounded time first: waking a sleeper costs 20 us and
 * more, and spinning longer takes a processor from those with work. */
#ifndef TN_BACKENDS_CPU_PARK_H
#define TN_BACKENDS_CPU_PARK_H

#include <limits.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#define TN_CPU_NO_DEADLINE UINT64_MAX

/* Nanoseconds of the monotonic clock. */
uint64_t tn_cpu_clock(void);

/* `timeout` nanoseconds from now; UINT64_MAX stays "never". */
uint64_t tn_cpu_deadline(uint64_t timeout);

/* Sleeps while *word is `value`, until `deadline`. May return early. False
 * once the deadline has passed. */
bool tn_cpu_park(_Atomic uint32_t *word, uint32_t value, uint64_t deadline);

/* Wakes up to `count` sleepers on a word. The word need not exist any more:
 * a sleeper elsewhere then looks again for nothing. */
void tn_cpu_unpark(_Atomic uint32_t *word, int count);

/* One turn of a spinning loop. Begin with {0}; false when spinning has gone
 * on long enough (at once on a single processor). */
typedef struct tn_cpu_spin {
  uint64_t until;
  uint32_t turns;
} tn_cpu_spin;

bool tn_cpu_spin_again(tn_cpu_spin *spin);

/* Less than half a microsecond, where spinning is of use. */
void tn_cpu_pause_briefly(void);

/* For two sides of which one is passed often and the other seldom, and which
 * must not both miss what the other wrote before its fence. The light side
 * costs nothing once the system orders all threads when asked (membarrier);
 * until then, and where it cannot, both are fences. The other side takes
 * microseconds; the first time, milliseconds, unless `prepare` was called
 * while the process had one thread. */
extern atomic_bool tn_cpu_fence_is_heavy;
void tn_cpu_fence_prepare(void);
void tn_cpu_fence_all(void);

static inline void tn_cpu_fence_light(void)
{
  atomic_signal_fence(memory_order_seq_cst);
  if (__builtin_expect(atomic_load_explicit(&tn_cpu_fence_is_heavy,
                                            memory_order_relaxed), 0))
    atomic_thread_fence(memory_order_seq_cst);
}

/* Whether spinning is of use: there is more than one processor. */
void tn_cpu_spin_allow(bool allow);

#endif
