/* Random numbers of f64: see random.c.
 *
 * Element i takes words 2 (i % 2) and the next one of block offset + i / 2 of
 * the seed's stream; an operation advances its generator by ceil(n / 2)
 * blocks.  Dropout takes words as that of f32 does. */
#include <tenon/kernel_math.h>
#include <tenon/kernel_math_f64.h>

#define BLOCK_AT(counter) \
  tn_philox((uint64)seed, (uint64)offset + (uint64)(counter))

/* In [0, 1): a multiple of 2^-53. */
TN_FUNCTION double uniform_of(uint32 high, uint32 low)
{
  const uint64 bits = (uint64)high << 32 | low;
  return (double)(int64)(bits >> 11) * 1.1102230246251565e-16;
}

/* low + u span, rounded once. */
TN_KERNEL(uniform_f64, TN_OUT(double, y), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(double, low), TN_VAL(double, span),
          TN_VAL(int64, n))
{
  TN_TASKS(i, (n + 1) >> 1) {
    const tn_words_ block = BLOCK_AT(i);
    y[2 * i] = tn_fma_f64(uniform_of(block.w0, block.w1), span, low);
    if (2 * i + 1 < n)
      y[2 * i + 1] = tn_fma_f64(uniform_of(block.w2, block.w3), span, low);
  }
}

/* mean + z deviation: the radius from words 0 and 1, the angle from 2 and 3.
 */
TN_KERNEL(normal_f64, TN_OUT(double, y), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(double, mean),
          TN_VAL(double, deviation), TN_VAL(int64, n))
{
  TN_TASKS(i, (n + 1) >> 1) {
    const tn_words_ block = BLOCK_AT(i);
    const double u =
      uniform_of(block.w0, block.w1) + 1.1102230246251565e-16;
    const double radius = tn_sqrt_f64(-2.0 * tn_log_f64(u));
    const tn_angle_f64_ angle = tn_angle_of_turns_f64_(
      (uint64)block.w2 << 32 | block.w3, 0u);
    y[2 * i] =
      tn_fma_f64(radius * tn_sin_ahead_f64_(angle, 1u), deviation, mean);
    if (2 * i + 1 < n)
      y[2 * i + 1] =
        tn_fma_f64(radius * tn_sin_ahead_f64_(angle, 0u), deviation, mean);
  }
}

/* Elements kept with probability 1 - p, scaled; 0 for the others. */
TN_KERNEL(dropout_f64, TN_OUT(double, y), TN_IN(double, x),
          TN_VAL(int64, seed), TN_VAL(int64, offset), TN_VAL(float, p),
          TN_VAL(double, scale), TN_VAL(int64, n))
{
  TN_TASKS(i, (n + 3) >> 2) {
    const tn_words_ block = BLOCK_AT(i);
    const uint32 words[4] = { block.w0, block.w1, block.w2, block.w3 };
    for (int32 k = 0; k < 4; k++)
      if (4 * i + k < n)
        y[4 * i + k] = tn_uniform(words[k]) < p ? 0.0 : x[4 * i + k] * scale;
  }
}
