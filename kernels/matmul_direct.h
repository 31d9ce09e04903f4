/* Small products, k <= 1024, without panels in memory: one launch, the same
 * bits.  c[batch][i][j] is at batch stride + i row + j; the factors have any
 * layout, as for packing.  has_bias: 1 to add bias[j] at the end; if 0, bias is
 * not read. */
#define DIRECT_PARAMETERS                                             \
  TN_OUT(REAL, c), TN_IN(REAL, a), TN_IN(REAL, b),                    \
    TN_VAL(int64, batches), TN_VAL(int64, m), TN_VAL(int64, n),       \
    TN_VAL(int64, k), TN_VAL(int64, stride), TN_VAL(int64, row),      \
    TN_VAL(int64, a_stride), TN_VAL(int64, a_across),                 \
    TN_VAL(int64, a_along), TN_VAL(int64, b_stride),                  \
    TN_VAL(int64, b_across), TN_VAL(int64, b_along),                  \
    TN_IN(REAL, bias), TN_VAL(int32, has_bias)

#ifdef TN_ON_CPU

#define SHORT 128 /* along k at a time: a panel of b in the first cache */
#define TILES 8   /* of rows that one item takes */

/* As tile_add, with a where it lies. */
TN_SEPARATE_FUNCTION void direct_add(REAL *sums, const REAL *a,
                                     int64 across, int64 along,
                                     const REAL *b, int64 k)
{
  REAL sum[TILE_M][TILE_N];
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sum[i][j] = sums[i * TILE_N + j];
  for (int64 kk = 0; kk < k; kk++) {
    TN_UNROLL
    for (int32 i = 0; i < TILE_M; i++) {
      const REAL x = a[i * across + kk * along];
      for (int32 j = 0; j < TILE_N; j++)
        sum[i][j] = FMA(x, b[kk * TILE_N + j], sum[i][j]);
    }
  }
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sums[i * TILE_N + j] = sum[i][j];
}

/* A panel of b: out[k][j], zeros from column `there` on. */
TN_SEPARATE_FUNCTION void direct_panel(REAL *out, const REAL *from,
                                       int64 length, int64 there,
                                       int64 across, int64 along)
{
  PACK_PIECE(TILE_N)
}

/* Fewer rows than a tile has, with zeros for the others. */
TN_SEPARATE_FUNCTION void direct_rows(REAL *out, const REAL *from,
                                      int64 rows, int64 across, int64 along,
                                      int64 length)
{
  for (int64 i = 0; i < TILE_M; i++)
    for (int64 kk = 0; kk < length; kk++)
      out[i * SHORT + kk] = i < rows ? from[i * across + kk * along] : ZERO;
}

/* An item takes TILES tiles of rows and one of columns. */
KERNEL(NAMED(matmul_direct), DIRECT_PARAMETERS)
{
  REAL sums[TILES * TILE], panel[SHORT * TILE_N], few[SHORT * TILE_M];
  const int64 columns = parts(n, TILE_N), blocks = parts(m, TILES * TILE_M);
  TN_TASKS(item, batches * blocks * columns) {
    const int64 above = tn_quotient(item, columns);
    const int64 column = (item - above * columns) * TILE_N;
    const int64 batch = tn_quotient(above, blocks);
    const int64 top = (above - batch * blocks) * (TILES * TILE_M);
    const int64 height = least(m - top, TILES * TILE_M);
    const int64 width = least(n - column, TILE_N);
    const REAL *p = a + batch * a_stride + top * a_across;
    const REAL *q = b + batch * b_stride + column * b_across;
    REAL *to = c + batch * stride + top * row + column;
    for (int64 s = 0; s < parts(height, TILE_M) * TILE; s++)
      sums[s] = ZERO;
    for (int64 first = 0; first < k; first += SHORT) {
      const int64 length = least(k - first, SHORT);
      direct_panel(panel, q + first * b_along, length, width, b_across,
                   b_along);
      for (int64 i = 0; i < height; i += TILE_M) {
        const REAL *from = p + i * a_across + first * a_along;
        if (height - i >= TILE_M) {
          direct_add(sums + i * TILE_N, from, a_across, a_along, panel,
                     length);
        } else {
          direct_rows(few, from, height - i, a_across, a_along, length);
          direct_add(sums + i * TILE_N, few, SHORT, 1, panel, length);
        }
      }
    }
    /* A lane starts from +0: -0 becomes +0. */
    for (int64 i = 0; i < height; i++)
      if (has_bias)
        for (int64 j = 0; j < width; j++)
          to[i * row + j] = ZERO + sums[i * TILE_N + j] + bias[column + j];
      else
        for (int64 j = 0; j < width; j++)
          to[i * row + j] = ZERO + sums[i * TILE_N + j];
  }
}

#else

#define SPOT_M 4
#define SPOT_N 4

/* items: batches x ceil(m / 4) x ceil(n / 4), each a tile. */
KERNEL(NAMED(matmul_direct), DIRECT_PARAMETERS)
{
  const int64 rows = parts(m, SPOT_M), columns = parts(n, SPOT_N);
  TN_TASKS(item, batches * rows * columns) {
    const int64 above = tn_quotient(item, columns);
    const int64 column = (item - above * columns) * SPOT_N;
    const int64 batch = tn_quotient(above, rows);
    const int64 top = (above - batch * rows) * SPOT_M;
    TN_GLOBAL const REAL *p = a + batch * a_stride + top * a_across;
    TN_GLOBAL const REAL *q = b + batch * b_stride + column * b_across;
    TN_GLOBAL REAL *to = c + batch * stride + top * row + column;
    REAL sum[SPOT_M * SPOT_N];
    for (int32 s = 0; s < SPOT_M * SPOT_N; s++)
      sum[s] = ZERO;
    /* What lies outside is computed from the last row or column again. */
    for (int64 kk = 0; kk < k; kk++)
      for (int32 s = 0; s < SPOT_M * SPOT_N; s++)
        sum[s] = FMA(
          p[least(s / SPOT_N, m - 1 - top) * a_across + kk * a_along],
          q[least(s % SPOT_N, n - 1 - column) * b_across + kk * b_along],
          sum[s]);
    for (int32 s = 0; s < SPOT_M * SPOT_N; s++)
      if (s / SPOT_N < m - top && s % SPOT_N < n - column) {
        const REAL found = ZERO + sum[s];
        to[s / SPOT_N * row + s % SPOT_N] =
          has_bias ? found + bias[column + s % SPOT_N] : found;
      }
  }
}

#endif
