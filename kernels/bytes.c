/* Statistics of bytes, a piece at a time: how often each byte and each pair
 * of neighbours occurs, and a hash of the content.  All results are exact
 * integers, so they do not depend on how the work is cut.
 *
 * A piece lies in a buffer at [begin, end).  For pairs, begin may be that of
 * the last byte of the piece before, so that pairs across the border count.
 *
 * Counting: each of `groups` groups (as many as suit the device) counts its
 * share of the piece into a table of its own, counts[group][value]; a table
 * holds 32 bits a value, so fold_counts moves it into 64-bit totals at the
 * latest after 2^32 - 1 bytes.
 *
 * Hashing: blocks of TN_HASH_BLOCK bytes from the start of the content, each
 * in 64 lanes: lane l takes bytes l, l + 64, ... of its block by
 *     h = (h ^ byte) * P,  starting from l + 1
 * and then, h becoming scramble(h ^ lane) for each lane in order, starting
 * from the block's number, the lanes become the block's hash.  The sum of the
 * blocks' hashes modulo 2^64, scrambled with the content's length by whoever
 * knows it (examples/textstats.c), is the hash of the content. */
#include <tenon/kernel_lang.h>

#define TN_HASH_BLOCK 16384
#define LANES 64
#define P ((uint64)0x100000001b3)

TN_FUNCTION int64 least(int64 a, int64 b) { return a < b ? a : b; }

/* A bijection in which every bit of h changes half of the result's. */
TN_FUNCTION uint64 scramble(uint64 h)
{
  h = (h ^ (h >> 33)) * (uint64)0xff51afd7ed558ccd;
  h = (h ^ (h >> 33)) * (uint64)0xc4ceb9fe1a85ec53;
  return h ^ (h >> 33);
}

#define PIECE TN_IN(uint8, data), TN_VAL(int64, begin), TN_VAL(int64, end)

/* The share of group g: `length` items (at most 2^31 - 1) from `from` on. */
#define SHARE_OF_GROUP(g, items)                            \
  const int64 share = ((items) + groups - 1) / groups;      \
  const int64 skipped = least((g) * share, (items));        \
  const int64 length = least(share, (items) - skipped);     \
  TN_GLOBAL const uint8 *from = data + begin + skipped

TN_KERNEL(count_bytes, TN_OUT(uint32, counts), PIECE, TN_VAL(int64, groups))
{
  TN_SHARED(uint32, part, 256);
  TN_GROUPS(g, groups) {
    SHARE_OF_GROUP(g, end - begin);
    TN_ITEMS(t, 256) part[t] = 0;
    TN_ITEMS(t, length) TN_GROUP_ATOMIC_ADD(&part[from[t]], 1u);
    TN_ITEMS(t, 256) counts[g * 256 + t] += part[t];
  }
}

/* Pair (a, b) is counted at a * 256 + b. */
TN_KERNEL(count_pairs, TN_OUT(uint32, counts), PIECE, TN_VAL(int64, groups))
{
  TN_GROUPS(g, groups) {
    SHARE_OF_GROUP(g, end - begin > 0 ? end - begin - 1 : 0);
    TN_GLOBAL uint32 *table = counts + g * 65536;
    TN_ITEMS(t, length)
      TN_GROUP_ATOMIC_ADD(&table[from[t] * 256 + from[t + 1]], 1u);
  }
}

/* Adds the groups' tables of `size` values to the totals, and clears them. */
TN_KERNEL(fold_counts, TN_OUT(uint64, totals), TN_OUT(uint32, counts),
          TN_VAL(int64, size), TN_VAL(int64, groups))
{
  TN_PARALLEL_FOR(i, size) {
    uint64 sum = totals[i];
    for (int64 g = 0; g < groups; g++) {
      sum += counts[g * size + i];
      counts[g * size + i] = 0;
    }
    totals[i] = sum;
  }
}

/* hashes[b] for each block b of the piece, which starts with block `first` of
 * the content. */
TN_KERNEL(hash_blocks, TN_OUT(uint64, hashes), PIECE, TN_VAL(int64, first))
{
  TN_SHARED(uint64, lane, LANES);
  TN_GROUPS(b, (end - begin + TN_HASH_BLOCK - 1) / TN_HASH_BLOCK) {
    const int64 skipped = b * TN_HASH_BLOCK;
    const int64 length = least(end - begin - skipped, TN_HASH_BLOCK);
    TN_GLOBAL const uint8 *from = data + begin + skipped;
    TN_ITEMS(l, LANES) lane[l] = (uint64)(l + 1);
    TN_LANES(l, LANES, i, length, lane[l] = (lane[l] ^ from[i]) * P);
    TN_ITEMS(t, 1) {
      uint64 h = (uint64)(first + b);
      for (int32 l = 0; l < LANES; l++) h = scramble(h ^ lane[l]);
      hashes[b] = h;
    }
  }
}

/* Adds n blocks' hashes to *total. One group. */
TN_KERNEL(fold_hashes, TN_OUT(uint64, total), TN_IN(uint64, hashes),
          TN_VAL(int64, n))
{
  TN_SHARED(uint64, part, 256);
  TN_GROUPS(g, 1) {
    TN_ITEMS(t, 256) part[t] = 0;
    TN_LANES(l, 256, i, n, part[l] += hashes[i]);
    TN_TREE(part, 256, +);
    TN_ITEMS(t, 1) total[g] += part[0];
  }
}
