/* Elements by index, and the sorting that makes sums by index repeatable.
 *
 * What only moves elements is made for elements of 1, 4 and 8 bytes.  Sums
 * by index use no atomics: positions are sorted by destination, stably
 * (scatter_keys, then for each 8 bits sort_count, sort_scan, sort_place), and
 * then each destination adds what comes to it in order (scatter). */
#include <tenon/kernel_lang.h>

#include "scatter_forms.h"

#define DIGITS 256
#define CHUNK 256 /* positions that one item of the sort takes */

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

/* Where row r of n1 n2 n3 rows begins, from strides named NAME1 ... NAME3. */
#define ROW_OF(name) (i1 * name##1 + i2 * name##2 + i3 * name##3)
#define ROW_INDICES(r)                     \
  const int64 rest = tn_quotient(r, n1);   \
  const int64 i1 = r - rest * n1;          \
  const int64 i3 = tn_quotient(rest, n2);  \
  const int64 i2 = rest - i3 * n2
#define SIZES \
  TN_VAL(int64, n3), TN_VAL(int64, n2), TN_VAL(int64, n1), TN_VAL(int64, n0)
#define STRIDES(name)                             \
  TN_VAL(int64, name##3), TN_VAL(int64, name##2), \
  TN_VAL(int64, name##1), TN_VAL(int64, name##0)

/* y[i] = x[i + index[i] along], strides of x being 0 along the dimension
 * that the index is for.  An index outside [0, count) gives 0: index_check
 * tells of it. */
#define TAKE(suffix, T)                                                    \
  TN_KERNEL(take_##suffix, TN_OUT(T, y), TN_IN(T, x), TN_IN(int64, index), \
            SIZES, STRIDES(y), STRIDES(x), STRIDES(index),                 \
            TN_VAL(int64, along), TN_VAL(int64, count))                    \
  {                                                                        \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                         \
      ROW_INDICES(r);                                                      \
      TN_GLOBAL T *to = y + ROW_OF(y);                                     \
      TN_GLOBAL const T *from = x + ROW_OF(x);                             \
      TN_GLOBAL const int64 *at = index + ROW_OF(index);                   \
      if (index0 == 0) {                                                   \
        const int64 same = *at;                                            \
        const int32 is_there = same >= 0 && same < count;                  \
        TN_GLOBAL const T *p = from + (is_there ? same * along : 0);       \
        if (is_there && y0 == 1 && x0 == 1)                                \
          TN_ROW(c) to[c] = p[c];                                          \
        else                                                               \
          TN_ROW(c) to[c * y0] = is_there ? p[c * x0] : (T)0;              \
      } else                                                               \
        TN_ROW(c) {                                                        \
          const int64 own = at[c * index0];                                \
          if (own >= 0 && own < count)                                     \
            to[c * y0] = from[c * x0 + own * along];                       \
          else                                                             \
            to[c * y0] = 0;                                                \
        }                                                                  \
    }                                                                      \
  }

TAKE(b1, uint8)
TAKE(b4, uint32)
TAKE(b8, uint64)

/* report[0] += how many of the indices lie outside [0, count). */
TN_KERNEL(index_check, TN_OUT(uint32, report), TN_IN(int64, index), SIZES,
          STRIDES(index), TN_VAL(int64, count))
{
  TN_ROWS(r, n1 * n2 * n3, n0) {
    ROW_INDICES(r);
    TN_GLOBAL const int64 *at = index + ROW_OF(index);
    TN_ROW(c) {
      const int64 own = at[c * index0];
      if (own < 0 || own >= count)
        TN_ATOMIC_ADD(&report[0], 1u);
    }
  }
}

/* key[p] = where the element at position p, in the order of rows, adds: y's
 * strides times its indices, and index[p] along.  What is not to add, having
 * an index outside [0, count) or equal to `left_out`, has the key `limit`,
 * which is greater than all others.  order[p] = p. */
TN_KERNEL(scatter_keys, TN_OUT(int64, key), TN_OUT(int64, order),
          TN_IN(int64, index), SIZES, STRIDES(y), STRIDES(index),
          TN_VAL(int64, along), TN_VAL(int64, count),
          TN_VAL(int64, left_out), TN_VAL(int64, limit))
{
  TN_ROWS(r, n1 * n2 * n3, n0) {
    ROW_INDICES(r);
    const int64 to = ROW_OF(y);
    TN_GLOBAL const int64 *at = index + ROW_OF(index);
    TN_ROW(c) {
      const int64 own = at[c * index0];
      const int32 is_there = own >= 0 && own < count && own != left_out;
      key[r * n0 + c] = is_there ? to + c * y0 + own * along : limit;
      order[r * n0 + c] = r * n0 + c;
    }
  }
}

/* count[digit][chunk]: how many keys of a chunk have that digit, which is
 * the 8 bits from `shift` on.  items: ceil(n / 256) */
TN_KERNEL(sort_count, TN_OUT(int64, count), TN_IN(int64, key),
          TN_VAL(int64, n), TN_VAL(int64, shift))
{
  const int64 chunks = tn_quotient(n + CHUNK - 1, CHUNK);
  TN_TASKS(chunk, chunks) {
    for (int32 d = 0; d < DIGITS; d++)
      count[d * chunks + chunk] = 0;
    const int64 end = least(n, (chunk + 1) * CHUNK);
    for (int64 p = chunk * CHUNK; p < end; p++)
      count[((key[p] >> shift) & (DIGITS - 1)) * chunks + chunk]++;
  }
}

/* Each count becomes the sum of those before it.  groups: 1 */
TN_KERNEL(sort_scan, TN_OUT(int64, count), TN_VAL(int64, n))
{
  TN_SHARED(int64, sum, DIGITS);
  const int64 chunks = tn_quotient(n + CHUNK - 1, CHUNK);
  TN_GROUPS(g, 1) {
    TN_GLOBAL int64 *of = count + g;
    TN_ITEMS(d, DIGITS) {
      int64 all = 0;
      for (int64 chunk = 0; chunk < chunks; chunk++)
        all += of[d * chunks + chunk];
      sum[d] = all;
    }
    TN_ITEMS(t, 1) {
      int64 before = t;
      for (int32 d = 0; d < DIGITS; d++) {
        const int64 here = sum[d];
        sum[d] = before;
        before += here;
      }
    }
    TN_ITEMS(d, DIGITS) {
      int64 before = sum[d];
      for (int64 chunk = 0; chunk < chunks; chunk++) {
        const int64 here = of[d * chunks + chunk];
        of[d * chunks + chunk] = before;
        before += here;
      }
    }
  }
}

/* Moves keys and their order to where the digit sorts them.
 * items: ceil(n / 256) */
TN_KERNEL(sort_place, TN_OUT(int64, key_to), TN_OUT(int64, order_to),
          TN_OUT(int64, count), TN_IN(int64, key), TN_IN(int64, order),
          TN_VAL(int64, n), TN_VAL(int64, shift))
{
  const int64 chunks = tn_quotient(n + CHUNK - 1, CHUNK);
  TN_TASKS(chunk, chunks) {
    const int64 end = least(n, (chunk + 1) * CHUNK);
    for (int64 p = chunk * CHUNK; p < end; p++) {
      const int64 own = key[p];
      const int64 to =
        count[((own >> shift) & (DIGITS - 1)) * chunks + chunk]++;
      key_to[to] = own;
      order_to[to] = order[p];
    }
  }
}

SCATTER(f32, float, float)
SCATTER(i64, int64, uint64)
SCATTER(i32, int32, uint32)
SCATTER(u8, uint8, uint32)

/* y[i] = a[i] where low <= column - row <= high, else 0; rows and columns
 * are the last two dimensions. */
#define TRIANGLE(suffix, T)                                               \
  TN_KERNEL(triangle_##suffix, TN_OUT(T, y), TN_IN(T, a), SIZES,          \
            STRIDES(y), STRIDES(a), TN_VAL(int64, low),                   \
            TN_VAL(int64, high))                                          \
  {                                                                       \
    TN_ROWS(r, n1 * n2 * n3, n0) {                                        \
      ROW_INDICES(r);                                                     \
      TN_GLOBAL T *to = y + ROW_OF(y);                                    \
      TN_GLOBAL const T *from = a + ROW_OF(a);                            \
      TN_ROW(c) to[c * y0] =                                              \
        c - i1 >= low && c - i1 <= high ? from[c * a0] : (T)0;            \
    }                                                                     \
  }

TRIANGLE(b1, uint8)
TRIANGLE(b4, uint32)
TRIANGLE(b8, uint64)

/* y[i][c] = index[i] == c, n x classes.  items: n x classes */
TN_KERNEL(one_hot_i64, TN_OUT(int64, y), TN_IN(int64, index),
          TN_VAL(int64, n), TN_VAL(int64, classes))
{
  TN_ROWS(r, n, classes) {
    const int64 own = index[r];
    TN_ROW(c) y[r * classes + c] = c == own;
  }
}
