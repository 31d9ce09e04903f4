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

/* Four additions tell rounding and denormals; reading the word takes longer
 * than a whole launch should. By lane: 1 + 3/4 ulp is rounded up by "nearest"
 * and "up" alone, 1 + 1/4 ulp not by "up"; a denormal result is lost where they
 * are flushed, a denormal operand where they are taken for zero. */
static inline bool tn_cpu_control_is_standard(void)
{
  __m128 a = _mm_castsi128_ps(
    _mm_setr_epi32(0x3f800000, 0x3f800000, 0x00c00000, 0x00000001));
  const __m128 b = _mm_castsi128_ps(
    _mm_setr_epi32(0x33c00000, 0x33000000, (int)0x80800000, 0x00000001));
  const __m128i wanted =
    _mm_setr_epi32(0x3f800001, 0x3f800000, 0x00400000, 0x00000002);
  __asm__ __volatile__("" : "+x"(a)); /* not to be added by the compiler */
  __m128i got = _mm_castps_si128(_mm_add_ps(a, b));
  return _mm_movemask_epi8(_mm_cmpeq_epi32(got, wanted)) == 0xffff;
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
