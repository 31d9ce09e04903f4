/* Counts of byte values. */
#include <tenon/kernel_lang.h>

#define LANES 64
#define COPIES 4 /* neighbours count in different ones: fewer collisions */

/* counts[b] += how often b occurs in x; counts wrap at 2^32.  Each of the
 * groups counts one slice in shared memory. */
TN_KERNEL(histogram_u8, TN_OUT(uint32, counts), TN_IN(uint8, x),
          TN_VAL(int64, n), TN_VAL(int64, groups))
{
  TN_SHARED(uint32, part, 256 * COPIES);
  const int64 slice = tn_quotient(n + groups - 1, groups);
  TN_GROUPS(g, groups) {
    const int64 first = g * slice;
    const int64 length = n - first < slice ? n - first : slice;
    TN_GLOBAL const uint8 *from = x + first;
    TN_ITEMS(t, 256 * COPIES) part[t] = 0;
    TN_LANES(l, LANES, i, length,
             TN_GROUP_ATOMIC_ADD(&part[from[i] * COPIES + l % COPIES], 1u));
    TN_ITEMS(b, 256) {
      uint32 sum = 0;
      for (int32 c = 0; c < COPIES; c++)
        sum += part[b * COPIES + c];
      TN_ATOMIC_ADD(&counts[b], sum);
    }
  }
}
