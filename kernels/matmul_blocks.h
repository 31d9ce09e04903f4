/* Products of f32 matrices on cuda: a group computes a block of 64 x 64 of c,
 * each thread 8 x 4 of it.  Both panels go through shared memory 16 steps at a
 * time.  The order of additions is that of matmul.c, so the bits are the same.
 * A launch may have any number of threads per group up to the bound; groups of
 * 128 (matmul) and 64 (packing) need one pass. */
#define SIDE 64      /* rows and columns of a block, and width of a panel */
#define STEP 16      /* along k, in shared memory at a time */
#define THREAD_M 8
#define THREAD_N 4
#define TILE (THREAD_M * THREAD_N)
#define SPOTS (SIDE * SIDE / TILE) /* tiles in a block */

/* A kernel whose groups have at most `threads` threads. */
#define BOUNDED_KERNEL(threads, name, ...)                            \
  extern "C" {                                                        \
  __device__ char tn_signature_##name[] = TN_TEXT(__VA_ARGS__);       \
  }                                                                   \
  extern "C" __global__ void __launch_bounds__(threads)               \
    name(TN_MAP(TN_PARAMETER_, __VA_ARGS__))

/* panels[batch][panel][k][64], with zeros where a panel is wider than x.  What
 * lies side by side along k is turned in shared memory, so that both sides are
 * read and written in order. */
#define PACK(name)                                                    \
  BOUNDED_KERNEL(64, name, TN_OUT(float, panels), TN_IN(float, x),    \
                 TN_VAL(int64, batches), TN_VAL(int64, m),            \
                 TN_VAL(int64, k), TN_VAL(int64, stride),             \
                 TN_VAL(int64, across), TN_VAL(int64, along))         \
  {                                                                   \
    TN_SHARED(float, turned, PIECE * (SIDE + 1));                     \
    const int64 pieces = parts(k, PIECE), rows = parts(m, SIDE);      \
    TN_GROUPS(g, batches * rows * pieces) {                           \
      const int64 above = tn_quotient(g, pieces);                     \
      const int64 first = (g - above * pieces) * PIECE;               \
      const int64 batch = tn_quotient(above, rows);                   \
      const int64 row = (above - batch * rows) * SIDE;                \
      const int32 length = (int32)least(k - first, PIECE);            \
      const int32 there = (int32)least(m - row, SIDE);                \
      float *out = panels + (above * k + first) * SIDE;               \
      const float *from =                                             \
        x + batch * stride + row * across + first * along;            \
      if (along == 1 && across != 1) {                                \
        TN_ITEMS(t, there * PIECE)                                    \
          if (t % PIECE < length)                                     \
            turned[t % PIECE * (SIDE + 1) + t / PIECE] =              \
              from[t / PIECE * across + t % PIECE];                   \
        TN_ITEMS(t, length * SIDE)                                    \
          out[t] = t % SIDE < there                                   \
                     ? turned[t / SIDE * (SIDE + 1) + t % SIDE]       \
                     : 0.0f;                                          \
      } else {                                                        \
        TN_ITEMS(t, length * SIDE)                                    \
          out[t] = t % SIDE < there                                   \
                     ? from[t % SIDE * across + t / SIDE * along]     \
                     : 0.0f;                                          \
      }                                                               \
    }                                                                 \
  }

PACK(pack_a_f32)
PACK(pack_b_f32)

/* One step along k: sums of a thread's tile, row by row. */
TN_FUNCTION void add_products(float *sums, const float4 *a, const float4 *b)
{
  const float4 a0 = a[0], a1 = a[1], b0 = b[0];
  const float x[THREAD_M] = { a0.x, a0.y, a0.z, a0.w,
                              a1.x, a1.y, a1.z, a1.w };
  const float y[THREAD_N] = { b0.x, b0.y, b0.z, b0.w };
#pragma unroll
  for (int32 i = 0; i < THREAD_M; i++)
#pragma unroll
    for (int32 j = 0; j < THREAD_N; j++)
      sums[i * THREAD_N + j] =
        tn_fma(x[i], y[j], sums[i * THREAD_N + j]);
}

/* Shared memory of a group: STEP rows of each panel. */
struct both_panels {
  float4 a[STEP * SIDE / 4], b[STEP * SIDE / 4];
};

/* A thread's tile: at (i, j) of the block, and how much of it is in c. */
struct place_of_tile {
  int32 i, j, height, width;
};

/* Adds k more products to a thread's tile.  All threads of the group come
 * here together; those whose tile is not in c only help with the panels. */
TN_FUNCTION void add_chunk(float *sums, const float *a, const float *b,
                           int32 k, both_panels *shared, place_of_tile tile)
{
  float *shared_a = (float *)shared->a, *shared_b = (float *)shared->b;
  const float4 *tile_a = shared->a + tile.i / 4;
  const float4 *tile_b = shared->b + tile.j / 4;
  const bool is_idle = tile.height <= 0 || tile.width <= 0;
  for (int32 first = 0; first < k; first += STEP) {
    const int32 length = k - first < STEP ? k - first : STEP;
    TN_GPU_BARRIER_();
    for (int32 t = TN_GPU_ITEM_; t < length * SIDE; t += TN_GPU_ITEMS_) {
      shared_a[t] = a[first * SIDE + t];
      shared_b[t] = b[first * SIDE + t];
    }
    TN_GPU_BARRIER_();
    if (is_idle) continue;
    if (length == STEP) {
#pragma unroll
      for (int32 kk = 0; kk < STEP; kk++)
        add_products(sums, tile_a + kk * (SIDE / 4),
                     tile_b + kk * (SIDE / 4));
    } else {
      for (int32 kk = 0; kk < length; kk++)
        add_products(sums, tile_a + kk * (SIDE / 4),
                     tile_b + kk * (SIDE / 4));
    }
  }
}

/* As tile_of_chunks in matmul.c. */
TN_FUNCTION void sum_chunks(float *total, const float *a, const float *b,
                            int64 k, both_panels *shared, place_of_tile tile)
{
  float level[7][TILE], sums[TILE];
  const int64 chunks = parts(k, CHUNK);
  int32 depth = 0;
  while (depth < 6 && (1 << depth) < chunks)
    depth++;
  for (int64 turn = 0; turn < (1 << depth); turn++) {
#pragma unroll
    for (int32 s = 0; s < TILE; s++) total[s] = 0.0f;
    for (int64 c = lane_of_turn(turn, depth); c < chunks; c += LANES) {
#pragma unroll
      for (int32 s = 0; s < TILE; s++) sums[s] = 0.0f;
      add_chunk(sums, a + c * CHUNK * SIDE, b + c * CHUNK * SIDE,
                (int32)least(k - c * CHUNK, CHUNK), shared, tile);
#pragma unroll
      for (int32 s = 0; s < TILE; s++) total[s] += sums[s];
    }
    int32 d = 0;
    for (; (turn >> d) & 1; d++)
#pragma unroll
      for (int32 s = 0; s < TILE; s++) total[s] = level[d][s] + total[s];
#pragma unroll
    for (int32 s = 0; s < TILE; s++) level[d][s] = total[s];
  }
}

/* items: batches x ceil(m / 4) x ceil(n / 8), as many threads as there are
 * tiles. */
BOUNDED_KERNEL(128, matmul_f32, TN_OUT(float, c), TN_IN(float, a),
               TN_IN(float, b), TN_VAL(int64, batches), TN_VAL(int64, m),
               TN_VAL(int64, n), TN_VAL(int64, k), TN_VAL(int64, stride),
               TN_VAL(int64, row))
{
  __shared__ both_panels shared;
  const int64 rows = parts(m, SIDE), columns = parts(n, SIDE);
  TN_GROUPS(g, batches * rows * columns) {
    const int64 batch = tn_quotient(g, rows * columns);
    const int64 block = g - batch * rows * columns;
    const int64 q = tn_quotient(block, rows), p = block - q * rows;
    const float *pa = a + (batch * rows + p) * SIDE * k;
    const float *pb = b + (batch * columns + q) * SIDE * k;
    float *to = c + batch * stride + p * SIDE * row + q * SIDE;
    /* A group smaller than the block has tiles comes round again; threads
     * without a tile of their own help with the last one's panels. */
    for (int32 base = 0; base < SPOTS; base += TN_GPU_ITEMS_) {
      const int32 own = base + TN_GPU_ITEM_;
      const int32 spot = own < SPOTS ? own : SPOTS - 1;
      const int32 i = spot / (SIDE / THREAD_N) * THREAD_M;
      const int32 j = spot % (SIDE / THREAD_N) * THREAD_N;
      const place_of_tile tile = {
        i, j, own < SPOTS ? (int32)least(m - p * SIDE - i, THREAD_M) : 0,
        (int32)least(n - q * SIDE - j, THREAD_N)
      };
      float total[TILE];
      sum_chunks(total, pa, pb, k, &shared, tile);
      /* A lane starts from +0: -0 becomes +0. */
#pragma unroll
      for (int32 y = 0; y < THREAD_M; y++)
#pragma unroll
        for (int32 x = 0; x < THREAD_N; x++)
          if (y < tile.height && x < tile.width)
            to[(i + y) * row + j + x] = 0.0f + total[y * THREAD_N + x];
    }
  }
}
