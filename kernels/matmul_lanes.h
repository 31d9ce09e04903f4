/* Products with one row or one column: lanes over k. */
/* y[batch][row][block] = the lane sum of a[row][i] x[i] over a block of k.
 * groups: batches x rows x blocks */
KERNEL(NAMED(matvec), TN_OUT(REAL, y), TN_IN(REAL, a), TN_IN(REAL, x),
       TN_VAL(int64, batches), TN_VAL(int64, rows), TN_VAL(int64, k),
       TN_VAL(int64, blocks), TN_VAL(int64, a_stride),
       TN_VAL(int64, a_across), TN_VAL(int64, a_along),
       TN_VAL(int64, x_stride), TN_VAL(int64, x_along))
{
  TN_SHARED(REAL, part, LANES);
  TN_GROUPS(g, batches * rows * blocks) {
    const int64 above = tn_quotient(g, blocks);
    const int64 first = (g - above * blocks) * BLOCK;
    const int64 batch = tn_quotient(above, rows);
    const int64 length = least(k - first, BLOCK);
    TN_GLOBAL const REAL *p = a + batch * a_stride + first * a_along +
                               (above - batch * rows) * a_across;
    TN_GLOBAL const REAL *q = x + batch * x_stride + first * x_along;
    TN_ITEMS(l, LANES) part[l] = ZERO;
    if (a_along == 1 && x_along == 1)
      TN_LANES(l, LANES, i, length, part[l] = FMA(p[i], q[i], part[l]));
    else
      TN_LANES(l, LANES, i, length,
               part[l] = FMA(p[i * a_along], q[i * x_along], part[l]));
    TN_TREE(part, LANES, +);
    TN_ITEMS(t, 1) y[g] = part[0];
  }
}

/* The same for many columns that lie side by side: y[batch][block][column] =
 * the lane sum of x[i] b[i][column].
 * groups: batches x blocks x ceil(columns / 64) */
KERNEL(NAMED(vecmat), TN_OUT(REAL, y), TN_IN(REAL, x), TN_IN(REAL, b),
       TN_VAL(int64, batches), TN_VAL(int64, columns), TN_VAL(int64, k),
       TN_VAL(int64, blocks), TN_VAL(int64, x_stride),
       TN_VAL(int64, x_along), TN_VAL(int64, b_stride),
       TN_VAL(int64, b_along))
{
  TN_SHARED(REAL, part, LANES * COLUMNS);
  const int64 tiles = parts(columns, COLUMNS);
  TN_GROUPS(g, batches * blocks * tiles) {
    const int64 above = tn_quotient(g, tiles);
    const int64 column = (g - above * tiles) * COLUMNS;
    const int64 batch = tn_quotient(above, blocks);
    const int64 first = (above - batch * blocks) * BLOCK;
    const int64 length = least(k - first, BLOCK);
    const int32 width = (int32)least(columns - column, COLUMNS);
    TN_GLOBAL const REAL *p = x + batch * x_stride + first * x_along;
    TN_GLOBAL const REAL *q = b + batch * b_stride + first * b_along + column;
    TN_ITEMS(t, LANES * COLUMNS) part[t] = ZERO;
    if (width == COLUMNS)
      TN_LANES(l, LANES, i, length,
               for (int32 c = 0; c < COLUMNS; c++) part[l * COLUMNS + c] =
                 FMA(p[i * x_along], q[i * b_along + c],
                        part[l * COLUMNS + c]));
    else
      TN_LANES(l, LANES, i, length,
               for (int32 c = 0; c < width; c++) part[l * COLUMNS + c] =
                 FMA(p[i * x_along], q[i * b_along + c],
                        part[l * COLUMNS + c]));
    TN_TREE_PAIRS(t, u, LANES,
                  for (int32 c = 0; c < COLUMNS; c++) part[t * COLUMNS + c] +=
                    part[u * COLUMNS + c]);
    TN_ITEMS(t, width) y[above * columns + column + t] = part[t];
  }
}
