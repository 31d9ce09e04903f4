/* Products of integer matrices, modulo 2^64, 2^32 and 2^8.  Any order of
 * additions gives the same. */
#include <tenon/kernel_lang.h>

#define WIDTH 32 /* columns that one item takes */

/* c[batch][i][j] is at batch stride + i row + j, a[batch][i][k] at batch
 * a_stride + i a_across + k a_along, b[batch][k][j] at batch b_stride + j
 * b_across + k b_along.  Sums are made in U, without a sign, for those wrap.
 * items: batches x m x ceil(n / 32) */
#define MATMUL(suffix, T, U)                                          \
  TN_KERNEL(matmul_##suffix, TN_OUT(T, c), TN_IN(T, a), TN_IN(T, b),  \
            TN_VAL(int64, batches), TN_VAL(int64, m),                 \
            TN_VAL(int64, n), TN_VAL(int64, k), TN_VAL(int64, stride), \
            TN_VAL(int64, row), TN_VAL(int64, a_stride),              \
            TN_VAL(int64, a_across), TN_VAL(int64, a_along),          \
            TN_VAL(int64, b_stride), TN_VAL(int64, b_across),         \
            TN_VAL(int64, b_along))                                   \
  {                                                                   \
    const int64 columns = tn_quotient(n + WIDTH - 1, WIDTH);          \
    TN_TASKS(item, batches * m * columns) {                           \
      const int64 above = tn_quotient(item, columns);                 \
      const int64 column = (item - above * columns) * WIDTH;          \
      const int64 batch = tn_quotient(above, m);                      \
      const int64 i = above - batch * m;                              \
      const int32 width =                                             \
        (int32)(n - column < WIDTH ? n - column : WIDTH);             \
      TN_GLOBAL const T *p = a + batch * a_stride + i * a_across;     \
      TN_GLOBAL const T *q =                                          \
        b + batch * b_stride + column * b_across;                     \
      TN_GLOBAL T *to = c + batch * stride + i * row + column;        \
      U sum[WIDTH];                                                   \
      for (int32 j = 0; j < WIDTH; j++)                               \
        sum[j] = 0;                                                   \
      for (int64 kk = 0; kk < k; kk++) {                              \
        const U x = (U)p[kk * a_along];                               \
        if (b_across == 1)                                            \
          for (int32 j = 0; j < width; j++)                           \
            sum[j] += x * (U)q[kk * b_along + j];                     \
        else                                                          \
          for (int32 j = 0; j < width; j++)                           \
            sum[j] += x * (U)q[kk * b_along + j * b_across];          \
      }                                                               \
      for (int32 j = 0; j < width; j++)                               \
        to[j] = (T)sum[j];                                            \
    }                                                                 \
  }

MATMUL(i64, int64, uint64)
MATMUL(i32, int32, uint32)
MATMUL(u8, uint8, uint32)
