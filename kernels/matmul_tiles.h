/* Products by panels: each item computes one tile, whose sums stay in
 * registers.  A tile has as many sums as those hold. */
#if defined(TN_ON_CPU) && defined(__AVX512F__)
#define TILE_M 12
#define TILE_N (128 / (int32)sizeof(REAL))
#elif defined(TN_ON_CPU) && defined(__AVX2__)
#define TILE_M 6
#define TILE_N (64 / (int32)sizeof(REAL))
#else
#define TILE_M 4
#define TILE_N (32 / (int32)sizeof(REAL))
#endif
#define TILE (TILE_M * TILE_N)

/* elements: half of a second-level cache of 1 MiB */
#define BAND (524288 / (int32)sizeof(REAL))

/* out[k][i] = from[i * across + k] for i < tile, k < length */
TN_FUNCTION void turn(TN_GLOBAL REAL *out, TN_GLOBAL const REAL *from,
                      int32 tile, int64 length, int64 across)
{
  int64 done = 0;
#if defined(TN_ON_CPU) && defined(__SSE__)
  /* Four by four. */
  for (int32 i = 0; sizeof(REAL) == sizeof(float) && i + 4 <= tile; i += 4)
    for (done = 0; done + 4 <= length; done += 4) {
      const float *p = (const float *)(const void *)(from + i * across + done);
      float *q = (float *)(void *)(out + done * tile + i);
      __m128 r0 = _mm_loadu_ps(p), r1 = _mm_loadu_ps(p + across);
      __m128 r2 = _mm_loadu_ps(p + 2 * across);
      __m128 r3 = _mm_loadu_ps(p + 3 * across);
      _MM_TRANSPOSE4_PS(r0, r1, r2, r3);
      _mm_storeu_ps(q, r0);
      _mm_storeu_ps(q + tile, r1);
      _mm_storeu_ps(q + 2 * tile, r2);
      _mm_storeu_ps(q + 3 * tile, r3);
    }
#endif
  for (int32 i = 0; i < tile; i++)
    for (int64 kk = i < tile / 4 * 4 ? done : 0; kk < length; kk++)
      out[kk * tile + i] = from[i * across + kk];
}

/* One piece of one panel: out[k][i] for a panel of `tile` rows or columns,
 * from[i * across + k * along], with zeros where i is beyond `there`. */
#define PACK_PIECE(tile)                                              \
  if (there == (tile) && across == 1) {                               \
    for (int64 kk = 0; kk < length; kk++)                             \
      for (int32 i = 0; i < (tile); i++)                              \
        out[kk * (tile) + i] = from[kk * along + i];                  \
  } else if (there == (tile) && along == 1) {                         \
    turn(out, from, tile, length, across);                            \
  } else {                                                            \
    for (int64 kk = 0; kk < length; kk++)                             \
      for (int32 i = 0; i < (tile); i++)                              \
        out[kk * (tile) + i] =                                        \
          i < there ? from[i * across + kk * along] : ZERO;           \
  }

/* The piece, in the order of panels, that an item packs.  On cpu those which
 * come from the same lines of memory follow each other. */
TN_FUNCTION int64 place_of_item(int64 item, int64 rows, int64 pieces,
                                int64 across)
{
#ifdef TN_ON_CPU
  if (across == 1) {
    const int64 each = rows * pieces, batch = tn_quotient(item, each);
    const int64 here = item - batch * each, piece = tn_quotient(here, rows);
    return batch * each + (here - piece * rows) * pieces + piece;
  }
#endif
  (void)rows, (void)pieces, (void)across;
  return item;
}

/* panels[batch][panel][k][tile] from x, a matrix of m rows (across) and k
 * columns (along) per batch.  items: batches x ceil(m / 4) x ceil(k / 64) */
#define PACK(name, tile)                                              \
  KERNEL(name, TN_OUT(REAL, panels), TN_IN(REAL, x),                  \
         TN_VAL(int64, batches), TN_VAL(int64, m), TN_VAL(int64, k),  \
         TN_VAL(int64, stride), TN_VAL(int64, across),                \
         TN_VAL(int64, along))                                        \
  {                                                                   \
    const int64 pieces = parts(k, PIECE);                             \
    const int64 rows = parts(m, tile);                                \
    SPREAD_TASKS(item, batches * rows * pieces,                       \
                 batches * parts(m, 4) * pieces) {                    \
      const int64 at = place_of_item(item, rows, pieces, across);     \
      const int64 above = tn_quotient(at, pieces);                    \
      const int64 first = (at - above * pieces) * PIECE;              \
      const int64 batch = tn_quotient(above, rows);                   \
      const int64 row = (above - batch * rows) * (tile);              \
      const int64 length = least(k - first, PIECE);                   \
      const int64 there = least(m - row, tile);                       \
      TN_GLOBAL REAL *out = panels + (above * k + first) * (tile);   \
      TN_GLOBAL const REAL *from =                                   \
        x + batch * stride + row * across + first * along;            \
      PACK_PIECE(tile)                                                \
    }                                                                 \
  }

PACK(NAMED(pack_a), TILE_M)
PACK(NAMED(pack_b), TILE_N)

/* Panels come from the second-level cache. */
#ifdef TN_ON_CPU
#define PREFETCH(address) __builtin_prefetch(address);
#else
#define PREFETCH(address)
#endif

/* Adds k more products to the sums of one tile, from a panel of each factor.
 * The compiler sees every index of the array, so it stays in registers (gcc
 * needs it loaded, not set to zero, for that, and makes a call to copy memory
 * of a loop that is not unrolled). */
TN_SEPARATE_FUNCTION void tile_add(REAL *sums, TN_GLOBAL const REAL *a,
                                   TN_GLOBAL const REAL *b, int64 k)
{
  REAL sum[TILE_M][TILE_N];
  TN_UNROLL
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sum[i][j] = sums[i * TILE_N + j];
  for (int64 kk = 0; kk < k; kk++) {
    PREFETCH(a + (kk + 24) * TILE_M)
    PREFETCH(b + (kk + 12) * TILE_N)
    PREFETCH(b + (kk + 12) * TILE_N + TILE_N / 2)
    TN_UNROLL
    for (int32 i = 0; i < TILE_M; i++) {
      const REAL x = a[kk * TILE_M + i];
      for (int32 j = 0; j < TILE_N; j++)
        sum[i][j] = FMA(x, b[kk * TILE_N + j], sum[i][j]);
    }
  }
  for (int32 i = 0; i < TILE_M; i++)
    for (int32 j = 0; j < TILE_N; j++)
      sums[i * TILE_N + j] = sum[i][j];
}

TN_FUNCTION void tile_clear(REAL *sums)
{
  for (int32 s = 0; s < TILE; s++)
    sums[s] = ZERO;
}

/* The lane sum over all chunks of k.  Lanes beyond the number of chunks are
 * +0 and are left out as far as a power of two allows; the pairs that the
 * folding adds are added as soon as both are there. */
TN_FUNCTION void tile_of_chunks(REAL *total, TN_GLOBAL const REAL *a,
                                TN_GLOBAL const REAL *b, int64 k)
{
  REAL level[7][TILE];
  REAL sums[TILE];
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
KERNEL(NAMED(matmul), TN_OUT(REAL, c), TN_IN(REAL, a), TN_IN(REAL, b),
       TN_VAL(int64, batches), TN_VAL(int64, m), TN_VAL(int64, n),
       TN_VAL(int64, k), TN_VAL(int64, stride), TN_VAL(int64, row))
{
  const int64 rows = parts(m, TILE_M), columns = parts(n, TILE_N);
  const int64 height_of_band = parts(BAND, TILE_M * (k + 1));
  SPREAD_TASKS(item, batches * rows * columns,
               batches * parts(m, 4) * parts(n, 8)) {
    const int64 batch = tn_quotient(item, rows * columns);
    const int64 tile = item - batch * rows * columns;
    /* A band of rows small enough for a cache meets all columns, then the
     * next band; in it rows are innermost, so a panel of b stays nearer. */
    const int64 band = tn_quotient(tile, height_of_band * columns);
    const int64 top = band * height_of_band;
    const int64 here = least(rows - top, height_of_band);
    const int64 q = tn_quotient(tile - top * columns, here);
    const int64 p = top + tile - top * columns - q * here;
    TN_GLOBAL const REAL *pa = a + (batch * rows + p) * TILE_M * k;
    TN_GLOBAL const REAL *pb = b + (batch * columns + q) * TILE_N * k;
    TN_GLOBAL REAL *to =
      c + batch * stride + p * TILE_M * row + q * TILE_N;
    const int64 height = least(m - p * TILE_M, TILE_M);
    const int64 width = least(n - q * TILE_N, TILE_N);
    REAL total[TILE];
    tile_clear(total);
    if (k <= CHUNK)
      tile_add(total, pa, pb, k);
    else
      tile_of_chunks(total, pa, pb, k);
    /* A lane starts from +0: -0 becomes +0. */
    for (int32 i = 0; i < height; i++)
      for (int32 j = 0; j < width; j++)
        to[i * row + j] = ZERO + total[i * TILE_N + j];
  }
}
