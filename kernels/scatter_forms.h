/* Sums by index, once positions are sorted by destination. */
#define SCATTER_COLUMNS 64 /* of a row that one item takes */

/* For each p in order, row key[p] of y += row order[p] of x, rows being
 * `columns` elements side by side, y_row and x_row from one to the next.  Keys
 * are in ascending order; those from `limit` on add nothing.  Sums are made
 * in U, for integers without a sign wrap.
 * items: n x ceil(columns / 64); the first of equal keys does the work. */
#define SCATTER(suffix, T, U)                                             \
  TN_KERNEL(scatter_##suffix, TN_OUT(T, y), TN_IN(T, x),                  \
            TN_IN(int64, key), TN_IN(int64, order), TN_VAL(int64, n),     \
            TN_VAL(int64, columns), TN_VAL(int64, limit),                 \
            TN_VAL(int64, y_row), TN_VAL(int64, x_row))                   \
  {                                                                       \
    const int64 pieces =                                                  \
      tn_quotient(columns + SCATTER_COLUMNS - 1, SCATTER_COLUMNS);        \
    TN_TASKS(item, n * pieces) {                                          \
      const int64 p = tn_quotient(item, pieces);                          \
      const int64 column = (item - p * pieces) * SCATTER_COLUMNS;         \
      const int32 width =                                                 \
        (int32)(columns - column < SCATTER_COLUMNS ? columns - column     \
                                                   : SCATTER_COLUMNS);    \
      const int64 own = key[p];                                           \
      const int32 is_first =                                              \
        own < limit && (p == 0 || key[p - 1] != own);                     \
      for (int64 q = p; is_first && q < n && key[q] == own; q++) {        \
        TN_GLOBAL T *to = y + own * y_row + column;                       \
        TN_GLOBAL const T *from = x + order[q] * x_row + column;          \
        for (int32 c = 0; c < width; c++)                                 \
          to[c] = (T)((U)to[c] + (U)from[c]);                             \
      }                                                                   \
    }                                                                     \
  }
