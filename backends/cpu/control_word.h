/* The processor's floating-point control word. Kernels need the one a program
 * starts with: round to nearest, denormals kept. A program may have set another
 * in the thread that launches. Exceptions it unmasked are left to it: it asked
 * to be stopped by them, but for those in helper threads. */
#ifndef TN_BACKENDS_CPU_CONTROL_WORD_H
#define TN_BACKENDS_CPU_CONTROL_WORD_H

#include <stdbool.h>
#include <stdint.h>

#if defined(__SSE2__)
#include <emmintrin.h>
#define TN_CPU_CONTROL_STANDARD 0x1f80u

static inline uint64_t tn_cpu_control_get(void)
{
  return _mm_getcsr();
}

static inline void tn_cpu_control_set(uint64_t word)
{
  _mm_setcsr((unsigned)word);
}

/* By the word: to add numbers that rounding and denormals change takes 65 ns
 * on Intel's processors, where denormals are the microcode's; this takes 3. */
static inline bool tn_cpu_control_is_standard(void)
{
  const unsigned modes = 0xe040u; /* rounding, FZ, DAZ */
  return !((_mm_getcsr() ^ TN_CPU_CONTROL_STANDARD) & modes);
}
#elif defined(__aarch64__)
#define TN_CPU_CONTROL_STANDARD 0u
#define TN_CPU_CONTROL_MASK 0x07c80000u /* AHP, DN, FZ, mode, FZ16 */

static inline uint64_t tn_cpu_control_get(void)
{
  uint64_t word;
  __asm__ __volatile__("mrs %0, fpcr" : "=r"(word));
  return word;
}

static inline void tn_cpu_control_set(uint64_t word)
{
  __asm__ __volatile__("msr fpcr, %0" : : "r"(word) : "memory");
}

static inline bool tn_cpu_control_is_standard(void)
{
  return !(tn_cpu_control_get() & TN_CPU_CONTROL_MASK);
}
#else /* no mode that flushes denormals is known */
#define TN_CPU_CONTROL_STANDARD 0u

static inline uint64_t tn_cpu_control_get(void)
{
  return 0;
}

static inline void tn_cpu_control_set(uint64_t word)
{
  (void)word;
}

static inline bool tn_cpu_control_is_standard(void)
{
  return true;
}
#endif

#endif
