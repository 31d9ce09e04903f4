/* Products of f32 matrices.
 *
 * The order of additions is that of docs/numbers.md: chunks of 1024 along k,
 * in each chunk in order with fma from +0, the chunks' sums by the lane sum.
 * Both factors are first copied into panels (pack_a, pack_b), then each item
 * computes one tile whose sums stay in registers.  Packing pads with zeros,
 * so every tile is whole; what lies outside c is not stored.
 *
 * A product with one row or one column is a lane sum with fma (matvec,
 * vecmat) of blocks of 4096, whose sums are summed by sum_f32 and
 * sum_columns_f32 of reduce.c. */
#include <tenon/kernel_lang.h>

#define CHUNK 1024
#define LANES 64
#define BLOCK 4096
#define COLUMNS 64
#define PIECE 64 /* elements along k that one item packs */

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }
TN_FUNCTION int64 parts(int64 n, int64 size)
{
  return tn_quotient(n + size - 1, size);
}

/* The lane, of 2^depth, that comes as number `turn` when the folding in
 * halves is done pairwise from the left: its bits in reverse. */
TN_FUNCTION int64 lane_of_turn(int64 turn, int32 depth)
{
  int64 lane = 0;
  for (int32 d = 0; d < depth; d++)
    lane |= ((turn >> d) & 1) << (depth - 1 - d);
  return lane;
}

#ifdef TN_ON_CUDA
#include "matmul_blocks.h"
#else

/* Sums in a tile: as many as the registers hold. */
#if defined(TN_ON_CPU) && defined(__AVX512F__)
#define TILE_M 12
#define TILE_N 32
#elif defined(TN_ON_CPU) && defined(__AVX2__)
#define TILE_M 6
#define TILE_N 16
#else
#define TILE_M 4
#define TILE_N 8
#endif
#define TILE (TILE_M * TILE_N)

#define BAND 131072 /* elements: half of a second-level cache of 1 MiB */

/* One piece of one panel: out[k][i] for a panel of `tile` rows or columns,
 * from[i * across + k * along], with zeros where i is beyond `there`. */
#define PACK_PIECE(tile)                                              \
  if (there == (tile) && across == 1) {                               \
    for (int64 kk = 0; kk < length; kk++)                             \
      for (int32 i = 0; i < (tile); i++)                              \
        out[kk * (tile) + i] = from[kk * along + i];                  \
  } else if (there == (tile) && along == 1) {                         \
    for (int32 i = 0; i < (tile); i++)                                \
      for (int64 kk = 0; kk < length; kk++)                           \
        out[kk * (tile) + i] = from[i * across + kk];                 \
  } else {                                                            \
    for (int64 kk = 0; kk < length; kk++)                             \
      for (int32 i = 0; i < (tile); i++)                              \
        out[kk * (tile) + i] =                                        \
          i < there ? from[i * across + kk * along] : 0.0f;           \
  }

/* panels[batch][panel][k][tile] from x, a matrix of m rows (across) and k
 * columns (along) per batch.  items: batches x ceil(m / 4) x ceil(k / 64) */
#define PACK(name, tile)                                              \
  TN_KERNEL(name, TN_OUT(float, panels), TN_IN(float, x),             \
            TN_VAL(int64, batches), TN_VAL(int64, m), TN_VAL(int64, k), \
            TN_VAL(int64, stride), TN_VAL(int64, across),             \
            TN_VAL(int64, along))                                     \
  {                                                                   \
    const int64 pieces = parts(k, PIECE);                             \
    const int64 rows = parts(m, tile);                                \
    TN_TASKS(item, batches * rows * pieces) {                         \
      const int64 above = tn_quotient(item, pieces);                  \
      const int64 first = (item - above * pieces) * PIECE;            \
      const int64 batch = tn_quotient(above, rows);                   \
      const int64 row = (above - batch * rows) * (tile);              \
      const int64 length = least(k - first, PIECE);                   \
      const int64 there = least(m - row, tile);                       \
      TN_GLOBAL float *out = panels + (above * k + first) * (tile);   \
      TN_GLOBAL const float *from =                                   \
        x + batch * stride + row * across + first * along;            \
      PACK_PIECE(tile)                                                \
    }                                                                 \
  }

PACK(pack_a_f32, TILE_M)
PACK(pack_b_f32, TILE_N)

/* Adds k more products to the sums of one tile, from a panel of each factor.
 * The compiler sees every index of the array, so it stays in registers (gcc
 * needs it loaded, not set to zero, for that). */
TN_SEPARATE_FUNCTION void tile_add(float *sums, TN_GLOBAL const float *a,
                                   TN_GLOBAL const float *b, int64 k)
{
  float sum[TILE_M][TILE_N];
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sum[i][j] = sums[i * TILE_N + j];
  for (int64 kk = 0; kk < k; kk++) {
    TN_UNROLL
    for (int32 i = 0; i < TILE_M; i++) {
      const float x = a[kk * TILE_M + i];
      for (int32 j = 0; j < TILE_N; j++)
        sum[i][j] = tn_fma(x, b[kk * TILE_N + j], sum[i][j]);
    }
  }
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sums[i * TILE_N + j] = sum[i][j];
}

TN_FUNCTION void tile_clear(float *sums)
{
  for (int32 s = 0; s < TILE; s++)
    sums[s] = 0.0f;
}

/* The lane sum over all chunks of k.  Lanes beyond the number of chunks are
 * +0 and are left out as far as a power of two allows; the pairs that the
 * folding adds are added as soon as both are there. */
TN_FUNCTION void tile_of_chunks(float *total, TN_GLOBAL const float *a,
                                TN_GLOBAL const float *b, int64 k)
{
  float level[7][TILE];
  float sums[TILE];
  const int64 chunks = parts(k, CHUNK);
  int32 depth = 0;
  while (depth < 6 && (1 << depth) < chunks)
    depth++;
  for (int64 turn = 0; turn < (1 << depth); turn++) {
    tile_clear(total);
    for (int64 c = lane_of_turn(turn, depth); c < chunks; c += LANES) {
      tile_clear(sums);
      tile_add(sums, a + c * CHUNK * TILE_M, b + c * CHUNK * TILE_N,
               least(k - c * CHUNK, CHUNK));
      for (int32 s = 0; s < TILE; s++)
        total[s] += sums[s];
    }
    int32 d = 0;
    for (; (turn >> d) & 1; d++)
      for (int32 s = 0; s < TILE; s++)
        total[s] = level[d][s] + total[s];
    for (int32 s = 0; s < TILE; s++)
      level[d][s] = total[s];
  }
}

/* c[batch] = a[batch] b[batch], m x k and k x n, from their panels; c has
 * rows of `row` elements, `stride` from batch to batch.  k at most 2^22.
 * items: batches x ceil(m / 4) x ceil(n / 8) */
TN_KERNEL(matmul_f32, TN_OUT(float, c), TN_IN(float, a), TN_IN(float, b),
          TN_VAL(int64, batches), TN_VAL(int64, m), TN_VAL(int64, n),
          TN_VAL(int64, k), TN_VAL(int64, stride), TN_VAL(int64, row))
{
  const int64 rows = parts(m, TILE_M), columns = parts(n, TILE_N);
  const int64 height_of_band = parts(BAND, TILE_M * (k + 1));
  TN_TASKS(item, batches * rows * columns) {
    const int64 batch = tn_quotient(item, rows * columns);
    const int64 tile = item - batch * rows * columns;
    /* A band of rows small enough for a cache meets all columns, then the
     * next band; in it rows are innermost, so a panel of b stays nearer. */
    const int64 band = tn_quotient(tile, height_of_band * columns);
    const int64 top = band * height_of_band;
    const int64 here = least(rows - top, height_of_band);
    const int64 q = tn_quotient(tile - top * columns, here);
    const int64 p = top + tile - top * columns - q * here;
    TN_GLOBAL const float *pa = a + (batch * rows + p) * TILE_M * k;
    TN_GLOBAL const float *pb = b + (batch * columns + q) * TILE_N * k;
    TN_GLOBAL float *to =
      c + batch * stride + p * TILE_M * row + q * TILE_N;
    const int64 height = least(m - p * TILE_M, TILE_M);
    const int64 width = least(n - q * TILE_N, TILE_N);
    float total[TILE];
    tile_clear(total);
    if (k <= CHUNK)
      tile_add(total, pa, pb, k);
    else
      tile_of_chunks(total, pa, pb, k);
    /* A lane starts from +0: -0 becomes +0. */
    for (int32 i = 0; i < height; i++)
      for (int32 j = 0; j < width; j++)
        to[i * row + j] = 0.0f + total[i * TILE_N + j];
  }
}

#endif /* not cuda */

/* y[batch][row][block] = the lane sum of a[row][i] x[i] over a block of k.
 * groups: batches x rows x blocks */
TN_KERNEL(matvec_f32, TN_OUT(float, y), TN_IN(float, a), TN_IN(float, x),
          TN_VAL(int64, batches), TN_VAL(int64, rows), TN_VAL(int64, k),
          TN_VAL(int64, blocks), TN_VAL(int64, a_stride),
          TN_VAL(int64, a_across), TN_VAL(int64, a_along),
          TN_VAL(int64, x_stride), TN_VAL(int64, x_along))
{
  TN_SHARED(float, part, LANES);
  TN_GROUPS(g, batches * rows * blocks) {
    const int64 above = tn_quotient(g, blocks);
    const int64 first = (g - above * blocks) * BLOCK;
    const int64 batch = tn_quotient(above, rows);
    const int64 length = least(k - first, BLOCK);
    TN_GLOBAL const float *p = a + batch * a_stride + first * a_along +
                               (above - batch * rows) * a_across;
    TN_GLOBAL const float *q = x + batch * x_stride + first * x_along;
    TN_ITEMS(l, LANES) part[l] = 0.0f;
    if (a_along == 1 && x_along == 1)
      TN_LANES(l, LANES, i, length, part[l] = tn_fma(p[i], q[i], part[l]));
    else
      TN_LANES(l, LANES, i, length,
               part[l] = tn_fma(p[i * a_along], q[i * x_along], part[l]));
    TN_TREE(part, LANES, +);
    TN_ITEMS(t, 1) y[g] = part[0];
  }
}

/* The same for many columns that lie side by side: y[batch][block][column] =
 * the lane sum of x[i] b[i][column].
 * groups: batches x blocks x ceil(columns / 64) */
TN_KERNEL(vecmat_f32, TN_OUT(float, y), TN_IN(float, x), TN_IN(float, b),
          TN_VAL(int64, batches), TN_VAL(int64, columns), TN_VAL(int64, k),
          TN_VAL(int64, blocks), TN_VAL(int64, x_stride),
          TN_VAL(int64, x_along), TN_VAL(int64, b_stride),
          TN_VAL(int64, b_along))
{
  TN_SHARED(float, part, LANES * COLUMNS);
  const int64 tiles = parts(columns, COLUMNS);
  TN_GROUPS(g, batches * blocks * tiles) {
    const int64 above = tn_quotient(g, tiles);
    const int64 column = (g - above * tiles) * COLUMNS;
    const int64 batch = tn_quotient(above, blocks);
    const int64 first = (above - batch * blocks) * BLOCK;
    const int64 length = least(k - first, BLOCK);
    const int32 width = (int32)least(columns - column, COLUMNS);
    TN_GLOBAL const float *p = x + batch * x_stride + first * x_along;
    TN_GLOBAL const float *q = b + batch * b_stride + first * b_along + column;
    TN_ITEMS(t, LANES * COLUMNS) part[t] = 0.0f;
    if (width == COLUMNS)
      TN_LANES(l, LANES, i, length,
               for (int32 c = 0; c < COLUMNS; c++) part[l * COLUMNS + c] =
                 tn_fma(p[i * x_along], q[i * b_along + c],
                        part[l * COLUMNS + c]));
    else
      TN_LANES(l, LANES, i, length,
               for (int32 c = 0; c < width; c++) part[l * COLUMNS + c] =
                 tn_fma(p[i * x_along], q[i * b_along + c],
                        part[l * COLUMNS + c]));
    TN_TREE_PAIRS(t, u, LANES,
                  for (int32 c = 0; c < COLUMNS; c++) part[t * COLUMNS + c] +=
                    part[u * COLUMNS + c]);
    TN_ITEMS(t, width) y[above * columns + column + t] = part[t];
  }
}
