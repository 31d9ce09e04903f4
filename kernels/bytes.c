/* Statistics of a text of any length that comes in pieces.
 *
 * Counts of a piece are made per group in 32 bits (a piece has less than 2^32
 * bytes) and then added into 64-bit totals by a second launch, since not
 * every device has 64-bit atomics.  Nothing depends on how the text is cut,
 * on the order of pieces, or on the number of groups. */
#include <tenon/kernel_math.h>

#define LANES 64
#define COPIES 4

#define SLICE_OF(g)                                                    \
  const int64 slice = tn_quotient(n + groups - 1, groups);             \
  const int64 first = (g)*slice;                                       \
  const int64 length = n - first < slice ? n - first : slice

/* part[g][b]: how often byte b occurs in slice g of x. */
TN_KERNEL(bytes_count, TN_OUT(uint32, part), TN_IN(uint8, x),
          TN_VAL(int64, n), TN_VAL(int64, groups))
{
  TN_SHARED(uint32, count, 256 * COPIES);
  TN_GROUPS(g, groups) {
    SLICE_OF(g);
    TN_GLOBAL const uint8 *from = x + first;
    TN_ITEMS(t, 256 * COPIES) count[t] = 0;
    TN_LANES(l, LANES, i, length,
             TN_GROUP_ATOMIC_ADD(&count[from[i] * COPIES + l % COPIES], 1u));
    TN_ITEMS(b, 256) {
      uint32 sum = 0;
      for (int32 c = 0; c < COPIES; c++)
        sum += count[b * COPIES + c];
      part[g * 256 + b] = sum;
    }
  }
}

/* part[g][a * 256 + b]: how often byte a is followed by b, b being in slice g
 * of x.  before: the byte before x[0], or -1 if x begins the text. */
TN_KERNEL(pairs_count, TN_OUT(uint32, part), TN_IN(uint8, x),
          TN_VAL(int64, n), TN_VAL(int32, before), TN_VAL(int64, groups))
{
  TN_GROUPS(g, groups) {
    SLICE_OF(g);
    TN_GLOBAL uint32 *count = part + g * 65536;
    TN_GLOBAL const uint8 *from = x + first;
    TN_ITEMS(t, 65536) count[t] = 0;
    TN_ITEMS(t, length > 0 ? 1 : 0) {
      const int32 a = g > 0 ? (int32)x[first - 1] : before;
      if (a >= 0)
        count[a * 256 + from[0]] = 1;
    }
    TN_LANES(l, LANES, i, length - 1,
             TN_GROUP_ATOMIC_ADD(&count[from[i] * 256 + from[i + 1]], 1u));
  }
}

/* total[b] += sum of part[g][b] over g. */
TN_KERNEL(counts_add, TN_OUT(uint64, total), TN_IN(uint32, part),
          TN_VAL(int64, bins), TN_VAL(int64, groups))
{
  TN_PARALLEL_FOR(b, bins) {
    uint64 sum = total[b];
    for (int64 g = 0; g < groups; g++)
      sum += part[g * bins + b];
    total[b] = sum;
  }
}

/* What a byte adds to the hash of a text, by its position: the finaliser of
 * splitmix64 (Steele, Lea, Flood 2014). */
TN_FUNCTION uint64 hash_of(uint64 position, uint8 byte)
{
  uint64 z = (position * 256 + byte + 1) * 0x9e3779b97f4a7c15u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return z ^ (z >> 31);
}

/* part[g]: the sum, modulo 2^64, over the bytes of slice g of x.  offset:
 * position of x[0] in the text. */
TN_KERNEL(hash_count, TN_OUT(uint64, part), TN_IN(uint8, x),
          TN_VAL(int64, n), TN_VAL(int64, offset), TN_VAL(int64, groups))
{
  TN_SHARED(uint64, sum, LANES);
  TN_GROUPS(g, groups) {
    SLICE_OF(g);
    TN_GLOBAL const uint8 *from = x + first;
    TN_ITEMS(l, LANES) sum[l] = 0;
    TN_LANES(l, LANES, i, length,
             sum[l] += hash_of((uint64)(offset + first + i), from[i]));
    TN_TREE(sum, LANES, +);
    TN_ITEMS(t, 1) part[g] = sum[0];
  }
}

/* total[0] += sum of part[g] over g. */
TN_KERNEL(hash_add, TN_OUT(uint64, total), TN_IN(uint64, part),
          TN_VAL(int64, groups))
{
  TN_TASKS(i, 1) {
    uint64 sum = total[i];
    for (int64 g = 0; g < groups; g++)
      sum += part[g];
    total[i] = sum;
  }
}

/* y[b] = -p log2(p), p = count[b] / total: sum them for the entropy in bits. */
TN_KERNEL(entropy_terms, TN_OUT(float, y), TN_IN(uint64, count),
          TN_VAL(int64, bins), TN_VAL(int64, total))
{
  TN_PARALLEL_FOR(b, bins) {
    const float p = (float)(int64)count[b] / (float)total;
    const float bits = tn_log(p) * -1.44269502f;
    y[b] = count[b] ? p * bits : 0.0f;
  }
}
