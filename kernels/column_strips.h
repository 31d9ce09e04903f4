/* How cpu devices reduce columns: a few lanes after the others, so that what is
 * kept is a short row, or some; eight rows of a lane at once, for what is kept
 * is slower to come and go than the operand; in strips as wide as 4 KiB, for
 * memory is read fastest in long pieces; and, where it is memory, with the next
 * pieces asked for in advance, since rows that lie apart are not foreseen.
 *
 * Lanes come in the order of their reversed bits: then folding in halves joins
 * the last two of the same size, and seven rows hold what is kept. */

#define STRIP 4096     /* bytes of results that are kept of a lane, or some */
#define FOLDS 6        /* of 64 lanes */
#define LINE 64        /* bytes */
#define CACHED 8388608 /* bytes of an operand that is likely to be in a cache */

TN_FUNCTION int64 most(int64 a, int64 b) { return a > b ? a : b; }
TN_FUNCTION int64 parts_of(int64 n, int64 size)
{
  return tn_quotient(n + size - 1, size);
}

/* The lane, of 2^depth, that comes as number `turn`. */
TN_FUNCTION int64 lane_of_turn(int64 turn, int32 depth)
{
  int64 lane = 0;
  for (int32 d = 0; d < depth; d++)
    lane |= ((turn >> d) & 1) << (depth - 1 - d);
  return lane;
}

/* Lanes that are not empty, up to a power of two: the others are what a lane
 * starts from, which changes nothing. */
TN_FUNCTION int64 lanes_of(int64 length)
{
  int64 lanes = 1;
  while (lanes < LANES && lanes < length)
    lanes *= 2;
  return lanes;
}

/* How a strip is read. */
typedef struct strip {
  int64 step, apart; /* from row to row, and in a lane */
  int64 width;       /* columns; those of all lanes read together, if the rows
                      * have no gaps */
  int64 lines;       /* lanes read together, if they have */
  int64 together;    /* lanes read together */
  int32 is_ahead;    /* rows are asked for in advance */
} strip;

TN_FUNCTION strip strip_of(int64 step, int64 length, int64 width, int64 room,
                           int32 is_ahead)
{
  strip s = { step, LANES * step, width, lanes_of(length), 1, is_ahead };
  while (s.lines > 1 && s.lines * width > room)
    s.lines /= 2;
  s.together = s.lines;
  if (step == width) {
    s.width *= s.lines;
    s.lines = 1;
  }
  return s;
}

/* Tiles of a strip that a thread takes, if several may: few enough for eight
 * strips in all, which are as many threads as a memory is shared by before it
 * is the limit, but 64 KiB at least. */
TN_FUNCTION int64 shared_tiles(int64 tiles, int64 others, int64 tile_bytes,
                               int64 limit)
{
  const int64 shared = tn_quotient(tiles * others, 8);
  const int64 worth = parts_of(65536, tile_bytes);
  return most(1, least(limit, most(shared, worth)));
}

/* part[c] becomes that of `count` rows, s->apart from each other; those at
 * `next`, if it is not NULL, are asked for. */
#define COLUMNS_ROWS(name, count, T, R, take)                               \
  TN_FUNCTION R name##_each(R p, const T *from, int64 apart)                \
  {                                                                         \
    TN_UNROLL for (int32 k = 0; k < count; k++)                             \
      p = take(p, from[k * apart]);                                         \
    return p;                                                               \
  }                                                                         \
  TN_FUNCTION void name(R *part, const T *from, const T *next, int64 apart, \
                        int64 width)                                        \
  {                                                                         \
    int64 c = 0;                                                            \
    for (; c + COLUMNS <= width; c += COLUMNS) {                            \
      for (int32 k = 0; next && k < count; k++)                             \
        for (int32 b = 0; b < COLUMNS; b += LINE / (int32)sizeof(T))        \
          __builtin_prefetch(next + k * apart + c + b, 0, 2);               \
      TN_IVDEP for (int32 i = 0; i < COLUMNS; i++)                          \
        part[c + i] = name##_each(part[c + i], from + c + i, apart);        \
    }                                                                       \
    TN_IVDEP for (int64 i = c; i < width; i++)                              \
      part[i] = name##_each(part[i], from + i, apart);                      \
  }

/* The lines of `count` rows each that begin at `from`; after: what is read
 * behind them. */
#define COLUMNS_LINES(name, count, T, R, take)                              \
  COLUMNS_ROWS(name##_rows, count, T, R, take)                              \
  TN_FUNCTION void name(R *part, const T *from, const T *after,             \
                        const strip *s)                                     \
  {                                                                         \
    for (int64 l = 0; l < s->lines; l++) {                                  \
      const T *here = from + l * s->step;                                   \
      const T *next = l + 1 < s->lines ? here + s->step : after;            \
      name##_rows(part + l * s->width, here, s->is_ahead ? next : 0, s->apart, \
                  s->width);                                                \
    }                                                                       \
  }

/* Some lanes: `rows` rows of each, then `rest` elements of one more. */
#define COLUMNS_LANES(name, T, R, start, take)                              \
  COLUMNS_LINES(name##_8, 8, T, R, take)                                    \
  COLUMNS_LINES(name##_4, 4, T, R, take)                                    \
  COLUMNS_LINES(name##_1, 1, T, R, take)                                    \
  TN_FUNCTION void name##_begin(R *part, const T *from, const strip *s)     \
  {                                                                         \
    for (int64 l = 0; l < s->lines; l++, from += s->step, part += s->width) \
      TN_IVDEP for (int64 c = 0; c < s->width; c++)                         \
        part[c] = take(start, from[c]);                                     \
  }                                                                         \
  TN_SEPARATE_FUNCTION void name##_lanes(R *part, const T *from,            \
                                         const T *after, const strip *s,    \
                                         int64 rows, int64 rest)            \
  {                                                                         \
    if (rows > 0 && rows < 4) {                                             \
      name##_begin(part, from, s);                                          \
      rows--;                                                               \
      from += s->apart;                                                     \
    } else {                                                                \
      for (int64 c = 0; c < s->lines * s->width; c++)                       \
        part[c] = start;                                                    \
    }                                                                       \
    for (; rows >= 8; rows -= 8, from += 8 * s->apart)                      \
      name##_8(part, from, rows >= 12 ? from + 8 * s->apart : after, s);    \
    for (; rows >= 4; rows -= 4, from += 4 * s->apart)                      \
      name##_4(part, from, after, s);                                       \
    for (; rows > 0; rows--, from += s->apart)                              \
      name##_1(part, from, after, s);                                       \
    for (; rest > 0; rest -= s->width, part += s->width, from += s->step)   \
      name##_1_rows(part, from, 0, 0, least(rest, s->width));               \
  }                                                                         \
  TN_FUNCTION void name##_fold(R *part, const R *other, int64 width)        \
  {                                                                         \
    TN_IVDEP for (int64 c = 0; c < width; c++)                              \
      part[c] = take(part[c], other[c]);                                    \
  }

/* All lanes of a block's strip; their fold lies at the beginning of part. */
#define COLUMNS_STRIP(name, T, R, start, take)                              \
  COLUMNS_LANES(name, T, R, start, take)                                    \
  TN_FUNCTION void name##_strip(R *part, const T *from, int64 length,       \
                                const strip *s)                             \
  {                                                                         \
    const int64 room = STRIP / (int64)sizeof(R);                            \
    const int64 turns = lanes_of(length) / s->together;                     \
    const int64 rows = length / LANES, left = length - rows * LANES;        \
    const int64 wide = s->lines * s->width, width = wide / s->together;     \
    int32 depth = 0;                                                        \
    while ((int64)1 << depth < turns)                                       \
      depth++;                                                              \
    for (int64 turn = 0, kept = 0; turn < turns; turn++, kept++) {          \
      const int64 lane = lane_of_turn(turn, depth) * s->together;           \
      const int64 after = lane_of_turn(turn + 1, depth) * s->together;      \
      const int64 over = most(0, least(left - lane, s->together));          \
      name##_lanes(part + kept * room, from + lane * s->step,               \
                   from + after * s->step, s, rows, over * width);          \
      for (int64 done = turn + 1; !(done & 1); done >>= 1, kept--)          \
        name##_fold(part + (kept - 1) * room, part + kept * room, wide);    \
    }                                                                       \
    for (int64 half = s->together / 2; half >= 1; half /= 2)                \
      name##_fold(part, part + half * width, half * width);                 \
  }

/* A thread that runs all groups has no others to leave strips to. */
#define RUNS_ALONE (tn_range_.begin == 0 && tn_range_.end == INT64_MAX)

#define REDUCE_COLUMNS(name, T, R, start, take, result, ...)                \
  COLUMNS_STRIP(name, T, R, start, take)                                    \
  TN_KERNEL(name, __VA_ARGS__)                                              \
  {                                                                         \
    const int64 room = STRIP / (int64)sizeof(R);                            \
    TN_SHARED(R, part, (FOLDS + 1) * STRIP / sizeof(R));                    \
    const int64 tiles = parts_of(inner, COLUMNS);                           \
    const int64 tile_bytes = least(n, BLOCK) * COLUMNS * (int64)sizeof(T);  \
    const int64 taken =                                                     \
      RUNS_ALONE ? room / COLUMNS                                           \
                 : shared_tiles(tiles, outer * blocks, tile_bytes,          \
                                room / COLUMNS);                            \
    const int32 is_ahead = outer * n * inner * (int64)sizeof(T) > CACHED;   \
    TN_GROUPS(g, outer * blocks * tiles) {                                  \
      const int64 above = g / tiles, tile = g - above * tiles;              \
      if (tile % taken)                                                     \
        continue;                                                           \
      const int64 column = tile * COLUMNS;                                  \
      const int64 row = above / blocks;                                     \
      const int64 first = (above - row * blocks) * BLOCK;                   \
      const int64 length = least(n - first, BLOCK);                         \
      const int64 width = least(inner - column, taken * COLUMNS);           \
      const strip s = strip_of(step, length, width, room, is_ahead);        \
      name##_strip(part, x + row * stride + first * step + column, length,  \
                   &s);                                                     \
      TN_ITEMS(t, width) y[above * inner + column + t] = result;            \
    }                                                                       \
  }
