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
#define TILES 16  /* of rows that one item takes */

/* What the tiles of an item have in common, for one piece along k. */
typedef struct direct_piece {
  const REAL *a, *panel; /* a where it lies */
  int64 across, along, length;
  REAL *to;              /* where the item's sums belong */
  int64 row, height, width;
  int32 is_first, is_last;
} direct_piece;

/* As tile_add, with `rows` rows and a where it lies: to = sums + a b, a row of
 * `to` being `row` long.  A lane starts from +0, so that a sum of -0 becomes
 * +0. */
#define DIRECT_ADD(name, rows)                                        \
  TN_SEPARATE_FUNCTION void name(REAL *to, int64 row,                 \
                                 const REAL *sums, const REAL *a,     \
                                 int64 across, int64 along,           \
                                 const REAL *b, int64 k)              \
  {                                                                   \
    REAL sum[rows][TILE_N];                                           \
    TN_UNROLL                                                         \
    for (int32 i = 0; i < (rows); i++)                                \
      for (int32 j = 0; j < TILE_N; j++)                              \
        sum[i][j] = sums[i * TILE_N + j];                             \
    for (int64 kk = 0; kk < k; kk++) {                                \
      TN_UNROLL                                                       \
      for (int32 i = 0; i < (rows); i++) {                            \
        const REAL x = a[i * across + kk * along];                    \
        for (int32 j = 0; j < TILE_N; j++)                            \
          sum[i][j] = FMA(x, b[kk * TILE_N + j], sum[i][j]);          \
      }                                                               \
    }                                                                 \
    for (int32 i = 0; i < (rows); i++)                                \
      for (int32 j = 0; j < TILE_N; j++)                              \
        to[i * row + j] = ZERO + sum[i][j];                           \
  }

DIRECT_ADD(direct_add, TILE_M)
#if TILE_M > 4
DIRECT_ADD(direct_add_4, 4)
#endif
#if TILE_M > 8
DIRECT_ADD(direct_add_8, 8)
#endif

/* The lowest tile that has so many rows. */
TN_FUNCTION int64 direct_height(int64 rows)
{
  return TILE_M > 4 && rows <= 4 ? 4 : TILE_M > 8 && rows <= 8 ? 8 : TILE_M;
}

TN_FUNCTION void direct_tile(int64 height, REAL *to, int64 row,
                             const REAL *sums, const REAL *a, int64 across,
                             int64 along, const REAL *b, int64 k)
{
#if TILE_M > 8
  if (height == 8)
    direct_add_8(to, row, sums, a, across, along, b, k);
  else
#endif
#if TILE_M > 4
  if (height == 4)
    direct_add_4(to, row, sums, a, across, along, b, k);
  else
#endif
    direct_add(to, row, sums, a, across, along, b, k);
  (void)height;
}

/* A panel of b: out[k][j], zeros from column `there` on. */
TN_SEPARATE_FUNCTION void direct_panel(REAL *out, const REAL *from,
                                       int64 length, int64 there,
                                       int64 across, int64 along)
{
  PACK_PIECE(TILE_N)
}

/* Fewer rows than the tile has, with zeros for the others. */
TN_SEPARATE_FUNCTION void direct_rows(REAL *out, const REAL *from,
                                      int64 rows, int64 across, int64 along,
                                      int64 length)
{
  for (int64 i = 0; i < TILE_M; i++)
    for (int64 kk = 0; kk < length; kk++)
      out[i * SHORT + kk] = i < rows ? from[i * across + kk * along] : ZERO;
}

/* Sums go to where they belong when they are complete, by way of `sums` if the
 * tile is larger than what there is. */
TN_SEPARATE_FUNCTION void direct_rows_add(const direct_piece *p, REAL *sums,
                                          int64 top, int64 rows)
{
  static const REAL zeros[TILE];
  REAL few[SHORT * TILE_M];
  const int64 height = direct_height(rows);
  const REAL *from = p->a + top * p->across;
  const REAL *begin = p->is_first ? zeros : sums;
  REAL *to = p->to + top * p->row;
  if (rows < height) {
    direct_rows(few, from, rows, p->across, p->along, p->length);
    direct_tile(height, sums, TILE_N, begin, few, SHORT, 1, p->panel,
                p->length);
  } else if (p->is_last && p->width == TILE_N) {
    direct_tile(height, to, p->row, begin, from, p->across, p->along,
                p->panel, p->length);
    return;
  } else {
    direct_tile(height, sums, TILE_N, begin, from, p->across, p->along,
                p->panel, p->length);
  }
  if (p->is_last)
    for (int64 i = 0; i < rows; i++)
      for (int64 j = 0; j < p->width; j++)
        to[i * p->row + j] = sums[i * TILE_N + j];
}

TN_FUNCTION void direct_bias(const direct_piece *p, const REAL *bias)
{
  for (int64 i = 0; i < p->height; i++)
    for (int64 j = 0; j < p->width; j++)
      p->to[i * p->row + j] += bias[j];
}

/* An item takes TILES tiles of rows and one of columns. */
KERNEL(NAMED(matmul_direct), DIRECT_PARAMETERS)
{
  REAL sums[TILES * TILE], panel[SHORT * TILE_N];
  const int64 columns = parts(n, TILE_N), blocks = parts(m, TILES * TILE_M);
  SPREAD_TASKS(item, batches * blocks * columns,
               batches * parts(m, 4) * parts(n, 4)) {
    const int64 above = tn_quotient(item, columns);
    const int64 column = (item - above * columns) * TILE_N;
    const int64 batch = tn_quotient(above, blocks);
    const int64 top = (above - batch * blocks) * (TILES * TILE_M);
    const REAL *p = a + batch * a_stride + top * a_across;
    const REAL *q = b + batch * b_stride + column * b_across;
    direct_piece piece = {
      p, panel, a_across, a_along, 0,
      c + batch * stride + top * row + column, row,
      least(m - top, TILES * TILE_M), least(n - column, TILE_N), 1, k <= SHORT
    };
    int64 first = 0;
    do { /* once if k is 0 */
      piece.length = least(k - first, SHORT);
      piece.a = p + first * a_along;
      piece.is_last = first + SHORT >= k;
      direct_panel(panel, q + first * b_along, piece.length, piece.width,
                   b_across, b_along);
      for (int64 i = 0; i < piece.height; i += TILE_M)
        direct_rows_add(&piece, sums + i * TILE_N, i,
                        least(piece.height - i, TILE_M));
      piece.is_first = 0;
      first += SHORT;
    } while (first < k);
    if (has_bias)
      direct_bias(&piece, bias + column);
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
