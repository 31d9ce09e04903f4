/* Attention by tiles of keys.  A family defines REAL, FMA, EXP_NEG (of
 * arguments <= 0), LEAST (minus infinity) and NAMED.
 *
 * A query i and a key j have x = scale (q[i] . k[j]), plus mask[i][j] if there
 * is a mask.  Keys come in tiles of 64.  For each query a running maximum m, a
 * running sum s of exp(x - m) and a row of y, its sum of exp(x - m) v[j], are
 * brought up to date tile by tile; at the end y is divided by s.  The order of
 * all additions is that of docs/numbers.md. */

/* REAL and NAMED are replaced on the way, so that texts have the words. */
#define KERNEL(name, ...) TN_KERNEL(name, __VA_ARGS__)

#define KEYS 64                          /* in a tile */
#define QUERIES 32                       /* that a group takes */
#define DEPTH (128 / (int32)sizeof(REAL)) /* of keys in shared memory */

/* What one item computes at a time, in registers: rows of queries, columns
 * of keys or values. */
#if defined(TN_ON_CPU) && defined(__AVX512F__)
#define ROWS 4
#define WIDTH (128 / (int32)sizeof(REAL))
#elif defined(TN_ON_CPU) && defined(__AVX2__)
#define ROWS 4
#define WIDTH (64 / (int32)sizeof(REAL))
#elif defined(TN_ON_CPU)
#define ROWS 4
#define WIDTH (32 / (int32)sizeof(REAL))
#else
#define ROWS 1
#define WIDTH 8
#endif
#define MIDDLE (WIDTH / 2) /* columns, where fewer than WIDTH are left */
#define NARROW (WIDTH / 4)

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

/* Of two the greater; a NaN wins. */
TN_FUNCTION REAL greater(REAL p, REAL v)
{
  return ((v > p) | (v != v)) ? v : p;
}

/* What exp is taken of is relative to this: a row of which nothing has been
 * seen but minus infinity gives zeros, not NaNs. */
TN_FUNCTION REAL base_of(REAL m) { return m == LEAST ? (REAL)0 : m; }

/* sums[ROWS][KEYS] += the products of rows of q with WIDTH columns of a tile
 * that is DEPTH or less deep: tile[depth][KEYS].  Rows from `height` on are
 * the last one again. */
TN_SEPARATE_FUNCTION void add_scores(TN_LOCAL REAL *sums,
                                     TN_GLOBAL const REAL *q, int64 row,
                                     int32 height,
                                     TN_LOCAL const REAL *tile, int32 depth)
{
  REAL sum[ROWS][WIDTH];
  int64 at[ROWS];
  for (int32 i = 0; i < ROWS; i++) {
    at[i] = (i < height ? i : height - 1) * row;
    for (int32 j = 0; j < WIDTH; j++)
      sum[i][j] = sums[i * KEYS + j];
  }
  for (int32 e = 0; e < depth; e++) {
    TN_UNROLL
    for (int32 i = 0; i < ROWS; i++) {
      const REAL x = q[at[i] + e];
      for (int32 j = 0; j < WIDTH; j++)
        sum[i][j] = FMA(x, tile[e * KEYS + j], sum[i][j]);
    }
  }
  for (int32 i = 0; i < ROWS; i++)
    for (int32 j = 0; j < WIDTH; j++)
      sums[i * KEYS + j] = sum[i][j];
}

/* y[i][j] = y[i][j] factor[i], or 0 at the first tile, plus the sum of
 * weight[i][k] v[k][j] over k < length; `width` columns, `height` rows. */
#define ADD_VALUES(name, width)                                           \
  TN_SEPARATE_FUNCTION void name(                                         \
    TN_GLOBAL REAL *y, int64 y_row, int32 height,                         \
    TN_LOCAL const REAL *weight, TN_LOCAL const REAL *factor,             \
    int32 is_first, TN_GLOBAL const REAL *v, int64 v_row, int32 length)   \
  {                                                                       \
    REAL sum[ROWS][width];                                                \
    for (int32 i = 0; i < ROWS; i++)                                      \
      for (int32 j = 0; j < (width); j++)                                 \
        sum[i][j] = is_first || i >= height ? (REAL)0                     \
                                            : y[i * y_row + j] * factor[i]; \
    for (int32 k = 0; k < length; k++) {                                  \
      TN_UNROLL                                                           \
      for (int32 i = 0; i < ROWS; i++) {                                  \
        const REAL x = weight[i * KEYS + k];                              \
        for (int32 j = 0; j < (width); j++)                               \
          sum[i][j] = FMA(x, v[k * v_row + j], sum[i][j]);                \
      }                                                                   \
    }                                                                     \
    for (int32 i = 0; i < ROWS; i++)                                      \
      for (int32 j = 0; j < (width); j++)                                 \
        if (i < height)                                                   \
          y[i * y_row + j] = sum[i][j];                                   \
  }

ADD_VALUES(add_wide, WIDTH)
ADD_VALUES(add_middle, MIDDLE)
ADD_VALUES(add_narrow, NARROW)
ADD_VALUES(add_column, 1)

TN_FUNCTION REAL plus(REAL a, REAL b) { return a + b; }

/* Folds KEYS values in halves; written out, since constant lengths make
 * vectors. */
#define HALVE(x, n, take)         \
  for (int32 k = 0; k < (n); k++) \
    x[k] = take(x[k], x[k + (n)]);
#define HALVES(x, take)                                            \
  HALVE(x, 32, take) HALVE(x, 16, take) HALVE(x, 8, take)          \
  HALVE(x, 4, take) HALVE(x, 2, take) HALVE(x, 1, take)

/* Scores of a row become weights; m and s are brought up to date, and the
 * factor is what earlier sums count from now on. */
TN_FUNCTION void weigh(TN_LOCAL REAL *x, TN_LOCAL REAL *m, TN_LOCAL REAL *s,
                       TN_LOCAL REAL *factor)
{
  REAL folded[KEYS];
  for (int32 k = 0; k < KEYS; k++)
    folded[k] = x[k];
  HALVES(folded, greater)
  const REAL top = greater(*m, folded[0]);
  const REAL base = base_of(top);
  for (int32 k = 0; k < KEYS; k++) {
    x[k] = EXP_NEG(x[k] - base);
    folded[k] = x[k];
  }
  HALVES(folded, plus)
  *factor = EXP_NEG(*m - base);
  *s = FMA(*s, *factor, folded[0]);
  *m = top;
}

#define BATCH_STRIDES(name) TN_VAL(int64, name##1), TN_VAL(int64, name##0)

/* y: contiguous, [outer][inner][queries][values].  stats[row]: the final m,
 * then s.  q, k and v: batch strides 1 (outer) and 0, then from row to row;
 * along a row their elements lie side by side.  has_mask: 0 or 1; if 0, mask
 * is not read.  is_causal: 0, or 1 for keys after the query to be left out.
 * There is at least one key.
 * groups: outer x inner x ceil(queries / 32) */
KERNEL(NAMED(attention), TN_OUT(REAL, y), TN_OUT(REAL, stats),
       TN_IN(REAL, q), TN_IN(REAL, k), TN_IN(REAL, v), TN_IN(REAL, mask),
       TN_VAL(int64, outer), TN_VAL(int64, inner), TN_VAL(int64, queries),
       TN_VAL(int64, keys), TN_VAL(int64, size), TN_VAL(int64, values),
       BATCH_STRIDES(q), TN_VAL(int64, q_row), BATCH_STRIDES(k),
       TN_VAL(int64, k_row), BATCH_STRIDES(v), TN_VAL(int64, v_row),
       BATCH_STRIDES(mask), TN_VAL(int64, mask_row),
       TN_VAL(int64, mask_column), TN_VAL(REAL, scale),
       TN_VAL(int32, has_mask), TN_VAL(int32, is_causal))
{
  TN_SHARED(REAL, tile, DEPTH * KEYS);
  TN_SHARED(REAL, weight, QUERIES * KEYS);
  TN_SHARED(REAL, top, QUERIES);
  TN_SHARED(REAL, sum_of, QUERIES);
  TN_SHARED(REAL, factor, QUERIES);
  const int64 blocks = tn_quotient(queries + QUERIES - 1, QUERIES);
  /* Pieces of a row of y: of WIDTH columns, then of fewer and fewer. */
  const int32 wide = (int32)tn_quotient(values, WIDTH);
  const int32 rest = (int32)(values - wide * WIDTH);
  const int32 middle = wide + rest / MIDDLE;
  const int32 narrow = middle + rest % MIDDLE / NARROW;
  const int32 pieces = narrow + rest % NARROW;
  TN_GROUPS(g, outer * inner * blocks) {
    const int64 batch = tn_quotient(g, blocks);
    const int64 first = (g - batch * blocks) * QUERIES;
    const int64 b1 = tn_quotient(batch, inner), b0 = batch - b1 * inner;
    const int32 here = (int32)least(queries - first, QUERIES);
    TN_GLOBAL const REAL *from_q = q + b1 * q1 + b0 * q0 + first * q_row;
    TN_GLOBAL const REAL *from_k = k + b1 * k1 + b0 * k0;
    TN_GLOBAL const REAL *from_v = v + b1 * v1 + b0 * v0;
    TN_GLOBAL const REAL *from_mask =
      mask + b1 * mask1 + b0 * mask0 + first * mask_row;
    TN_GLOBAL REAL *to = y + (batch * queries + first) * values;
    TN_GLOBAL REAL *stats_to = stats + (batch * queries + first) * 2;
    TN_ITEMS(r, QUERIES) {
      top[r] = LEAST;
      sum_of[r] = 0;
    }
    /* Blocks of queries do not cross tiles: all of a block's queries come
     * after the first key of a tile, or none does. */
    const int64 end = is_causal ? least(keys, first + 1) : keys;
    for (int64 begin = 0; begin < end; begin += KEYS) {
      const int32 length = (int32)least(keys - begin, KEYS);
      TN_ITEMS(t, QUERIES * KEYS) weight[t] = 0;
      for (int64 e = 0; e < size; e += DEPTH) {
        const int32 depth = (int32)least(size - e, DEPTH);
        TN_ITEMS(j, KEYS) {
          TN_GLOBAL const REAL *key = from_k + (begin + j) * k_row + e;
          for (int32 i = 0; i < depth; i++)
            tile[i * KEYS + j] = j < length ? key[i] : (REAL)0;
        }
        TN_ITEMS(t, QUERIES / ROWS * (KEYS / WIDTH)) {
          const int32 r = t / (KEYS / WIDTH) * ROWS;
          const int32 j = t % (KEYS / WIDTH) * WIDTH;
          if (r < here)
            add_scores(weight + r * KEYS + j, from_q + r * q_row + e, q_row,
                       here - r, tile + j, depth);
        }
      }
      TN_ITEMS(r, here) {
        TN_LOCAL REAL *x = weight + r * KEYS;
        const int32 seen =
          is_causal ? (int32)least(first + r - begin + 1, length) : length;
        for (int32 j = 0; j < KEYS; j++)
          x[j] = j < seen ? x[j] * scale : LEAST;
        if (has_mask)
          for (int32 j = 0; j < length; j++)
            x[j] +=
              from_mask[r * mask_row + (begin + j) * mask_column];
        weigh(x, top + r, sum_of + r, factor + r);
      }
      TN_ITEMS(t, QUERIES / ROWS * pieces) {
        const int32 r = t / pieces * ROWS, piece = t % pieces;
        const int32 j = piece < wide     ? piece * WIDTH
                        : piece < middle ? wide * WIDTH
                        : piece < narrow
                          ? (int32)values - rest % MIDDLE +
                              (piece - middle) * NARROW
                          : (int32)values - pieces + piece;
        TN_GLOBAL REAL *at = to + r * values + j;
        TN_GLOBAL const REAL *value = from_v + begin * v_row + j;
        if (r < here && piece < wide)
          add_wide(at, values, here - r, weight + r * KEYS, factor + r,
                   begin == 0, value, v_row, length);
        else if (r < here && piece < middle)
          add_middle(at, values, here - r, weight + r * KEYS, factor + r,
                     begin == 0, value, v_row, length);
        else if (r < here && piece < narrow)
          add_narrow(at, values, here - r, weight + r * KEYS, factor + r,
                     begin == 0, value, v_row, length);
        else if (r < here)
          add_column(at, values, here - r, weight + r * KEYS, factor + r,
                     begin == 0, value, v_row, length);
      }
    }
    TN_ITEMS(r, here) {
      for (int64 j = 0; j < values; j++)
        to[r * values + j] /= sum_of[r];
      stats_to[2 * r] = top[r];
      stats_to[2 * r + 1] = sum_of[r];
    }
  }
}

/* For the way back.  x: the scores q[i] . k[j] without scale, [outer][inner]
 * [queries][keys], contiguous, and so dp, the products of the gradient of y
 * with v; both are overwritten: x by the weights p = exp(x - m) / s, dp by the
 * gradient of what exp was taken of, p (dp - dot).  dot[row]: the gradient of y
 * times y.  items: outer x inner x queries x keys */
KERNEL(NAMED(attention_backward), TN_OUT(REAL, x), TN_OUT(REAL, dp),
       TN_IN(REAL, stats), TN_IN(REAL, dot), TN_IN(REAL, mask),
       TN_VAL(int64, outer), TN_VAL(int64, inner), TN_VAL(int64, queries),
       TN_VAL(int64, keys), BATCH_STRIDES(mask), TN_VAL(int64, mask_row),
       TN_VAL(int64, mask_column), TN_VAL(REAL, scale),
       TN_VAL(int32, has_mask), TN_VAL(int32, is_causal))
{
  TN_ROWS(r, outer * inner * queries, keys) {
    const int64 batch = tn_quotient(r, queries), i = r - batch * queries;
    const int64 b1 = tn_quotient(batch, inner), b0 = batch - b1 * inner;
    const REAL base = base_of(stats[2 * r]), sum = stats[2 * r + 1];
    const REAL own = dot[r];
    const int64 last = is_causal ? i : keys;
    TN_GLOBAL const REAL *from_mask =
      mask + b1 * mask1 + b0 * mask0 + i * mask_row;
    TN_GLOBAL REAL *to = x + r * keys, *gradient = dp + r * keys;
    if (has_mask)
      TN_ROW(j) {
        const REAL score = j <= last ? to[j] * scale : LEAST;
        const REAL p =
          EXP_NEG(score + from_mask[j * mask_column] - base) / sum;
        to[j] = p;
        gradient[j] = p * (gradient[j] - own);
      }
    else
      TN_ROW(j) {
        const REAL score = j <= last ? to[j] * scale : LEAST;
        const REAL p = EXP_NEG(score - base) / sum;
        to[j] = p;
        gradient[j] = p * (gradient[j] - own);
      }
  }
}
