/* Random numbers: Philox 4x32-10, the same on every device.
 *
 * Element i takes word i % 4 of block offset + i / 4 of the seed's stream; an
 * operation advances its generator by ceil(n / 4) blocks. */
#include <tenon/kernel_math.h>

/* Word `word` (0 ... 3) of a block, for the last few elements. */
TN_FUNCTION uint32 word_of(tn_words_ block, int64 word)
{
  const uint32 low = word == 0 ? block.w0 : block.w1;
  const uint32 high = word == 2 ? block.w2 : block.w3;
  return word < 2 ? low : high;
}

#define BLOCK_AT(counter) \
  tn_philox((uint64)seed, (uint64)offset + (uint64)(counter))

TN_KERNEL(random_u32, TN_OUT(uint32, y), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(int64, n))
{
  const int64 whole = n >> 2;
  TN_PARALLEL_FOR(i, whole) {
    const tn_words_ block = BLOCK_AT(i);
    y[4 * i] = block.w0;
    y[4 * i + 1] = block.w1;
    y[4 * i + 2] = block.w2;
    y[4 * i + 3] = block.w3;
  }
  TN_TASKS(t, n - 4 * whole)
    y[4 * whole + t] = word_of(BLOCK_AT(whole), t);
}

/* low + u span, u in [0, 1) a multiple of 2^-24; rounded once. */
TN_KERNEL(uniform_f32, TN_OUT(float, y), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(float, low), TN_VAL(float, span),
          TN_VAL(int64, n))
{
  const int64 whole = n >> 2;
  TN_PARALLEL_FOR(i, whole) {
    const tn_words_ block = BLOCK_AT(i);
    y[4 * i] = tn_fma(tn_uniform(block.w0), span, low);
    y[4 * i + 1] = tn_fma(tn_uniform(block.w1), span, low);
    y[4 * i + 2] = tn_fma(tn_uniform(block.w2), span, low);
    y[4 * i + 3] = tn_fma(tn_uniform(block.w3), span, low);
  }
  TN_TASKS(t, n - 4 * whole)
    y[4 * whole + t] =
      tn_fma(tn_uniform(word_of(BLOCK_AT(whole), t)), span, low);
}

/* mean + z deviation: words 0 and 1 give elements 0 and 1 of a block, words 2
 * and 3 the others. */
TN_KERNEL(normal_f32, TN_OUT(float, y), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(float, mean),
          TN_VAL(float, deviation), TN_VAL(int64, n))
{
  const int64 whole = n >> 2;
  TN_PARALLEL_FOR(i, whole) {
    const tn_words_ block = BLOCK_AT(i);
    const tn_pair_ a = tn_normal_pair(block.w0, block.w1);
    const tn_pair_ b = tn_normal_pair(block.w2, block.w3);
    y[4 * i] = tn_fma(a.first, deviation, mean);
    y[4 * i + 1] = tn_fma(a.second, deviation, mean);
    y[4 * i + 2] = tn_fma(b.first, deviation, mean);
    y[4 * i + 3] = tn_fma(b.second, deviation, mean);
  }
  TN_TASKS(t, n - 4 * whole) {
    const tn_words_ block = BLOCK_AT(whole);
    const tn_pair_ z = t < 2 ? tn_normal_pair(block.w0, block.w1)
                             : tn_normal_pair(block.w2, block.w3);
    y[4 * whole + t] =
      tn_fma(t % 2 == 0 ? z.first : z.second, deviation, mean);
  }
}

/* Elements kept with probability 1 - p, scaled; 0 for the others. */
TN_KERNEL(dropout_f32, TN_OUT(float, y), TN_IN(float, x), TN_VAL(int64, seed),
          TN_VAL(int64, offset), TN_VAL(float, p), TN_VAL(float, scale),
          TN_VAL(int64, n))
{
  const int64 whole = n >> 2;
  TN_PARALLEL_FOR(i, whole) {
    const tn_words_ block = BLOCK_AT(i);
    y[4 * i] = tn_uniform(block.w0) < p ? 0.0f : x[4 * i] * scale;
    y[4 * i + 1] = tn_uniform(block.w1) < p ? 0.0f : x[4 * i + 1] * scale;
    y[4 * i + 2] = tn_uniform(block.w2) < p ? 0.0f : x[4 * i + 2] * scale;
    y[4 * i + 3] = tn_uniform(block.w3) < p ? 0.0f : x[4 * i + 3] * scale;
  }
  TN_TASKS(t, n - 4 * whole) {
    const float u = tn_uniform(word_of(BLOCK_AT(whole), t));
    y[4 * whole + t] = u < p ? 0.0f : x[4 * whole + t] * scale;
  }
}
