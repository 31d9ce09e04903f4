/* The reference of attention for one type: REAL, FMA, MAX, SUM, EXP,
 * ATTENTION and NAMED are defined by who includes it. */
/* What exp is taken of for query i and key j. */
static REAL NAMED(score)(const ATTENTION *of, int64_t i, int64_t j, REAL x)
{
  x = of->is_causal && j > i ? -INFINITY : x * of->scale;
  return of->mask ? x + of->mask[i * of->keys + j] : x;
}

static REAL NAMED(relative_to)(REAL m)
{
  return m == -INFINITY ? 0 : m;
}

/* The tile of keys from `first` on. */
static void NAMED(add_tile)(const ATTENTION *of, int64_t i, int64_t first,
                     REAL *y, REAL *stats)
{
  REAL weight[TILE];
  int64_t length = of->keys - first < TILE ? of->keys - first : TILE;
  for (int64_t j = 0; j < length; j++) {
    REAL x = 0;
    for (int64_t e = 0; e < of->size; e++)
      x = FMA(of->q[i * of->size + e],
               of->k[(first + j) * of->size + e], x);
    weight[j] = NAMED(score)(of, i, first + j, x);
  }
  REAL greatest = MAX(weight, length, 1);
  REAL m = isnan(greatest) || greatest > stats[0] ? greatest : stats[0];
  REAL base = NAMED(relative_to)(m), factor = EXP(stats[0] - base);
  for (int64_t j = 0; j < length; j++)
    weight[j] = EXP(weight[j] - base);
  stats[1] = FMA(stats[1], factor, SUM(weight, length, 1));
  stats[0] = m;
  for (int64_t c = 0; c < of->values; c++) {
    if (first > 0) y[c] *= factor;
    else y[c] = 0;
    for (int64_t j = 0; j < length; j++)
      y[c] = FMA(weight[j], of->v[(first + j) * of->values + c], y[c]);
  }
}

void NAMED(row)(const ATTENTION *of, int64_t i, REAL *y,
                       REAL *stats)
{
  stats[0] = -INFINITY;
  stats[1] = 0;
  for (int64_t first = 0; first < of->keys; first += TILE)
    if (!of->is_causal || first <= i) NAMED(add_tile)(of, i, first, y, stats);
  for (int64_t c = 0; c < of->values; c++) y[c] /= stats[1];
}

void NAMED(backward)(const ATTENTION *of, int64_t i, int64_t j,
                            REAL x, REAL dp, REAL dot,
                            const REAL *stats, REAL *weight,
                            REAL *gradient)
{
  REAL top = NAMED(score)(of, i, j, x) - NAMED(relative_to)(stats[0]);
  *weight = EXP(top) / stats[1];
  *gradient = *weight * (dp - dot);
}
