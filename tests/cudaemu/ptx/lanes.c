/* Which function implements what; comparisons, flushing, clamping. */
#include "tests/cudaemu/ptx/lane.h"

#include <string.h>

static ptx_lanes *search(const ptx_mnemonic *name, ptx_type type,
                         uint64_t words)
{
  static const ptx_lanes_table *const tables[] = {
    &ptx_integer_lanes, &ptx_float_lanes, &ptx_half_lanes, &ptx_round_lanes
  };
  for (size_t t = 0; t < sizeof tables / sizeof *tables; t++)
    for (size_t i = 0; i < tables[t]->count; i++) {
      const ptx_lanes_entry *entry = &tables[t]->entries[i];
      if (entry->op == name->form->op && entry->type == type &&
          entry->second == name->types[1] && entry->words == words)
        return entry->lanes;
    }
  return NULL;
}

/* The type of the same size and another class. */
static ptx_type like(ptx_type type, ptx_class class)
{
  for (int i = 1; i < PTX_TYPE_COUNT; i++)
    if (ptx_type_bytes((ptx_type)i) == ptx_type_bytes(type) &&
        ptx_type_class((ptx_type)i) == class)
      return (ptx_type)i;
  return PTX_NO_TYPE;
}

ptx_lanes *ptx_lanes_find(const ptx_mnemonic *name)
{
  uint64_t words = name->words.bits[0] & PTX_SELECTING_SET;
  if (name->form->action == PTX_DO_FLOAT)
    words &= ~PTX_BIT(sat);
  ptx_type type = name->types[0];
  ptx_lanes *found = ptx_lanes_seed(name);
  /* What does not depend on signs stands under the unsigned type, what moves
   * bits under the untyped one. */
  if (!found)
    found = search(name, type, words);
  if (!found)
    found = search(name, like(type, PTX_CLASS_UNSIGNED), words);
  if (!found)
    found = search(name, like(type, PTX_CLASS_BITS), words);
  return ptx_lanes_faster(found);
}

/* 32 bytes of 0 or 1 to 32 bits. */
static uint32_t gather(const unsigned char *flags)
{
  uint32_t bits = 0;
  for (int i = 0; i < 4; i++) {
    uint64_t eight;
    memcpy(&eight, flags + 8 * i, sizeof eight);
    uint64_t packed = eight * UINT64_C(0x0102040810204080) >> 56;
    bits |= (uint32_t)packed << 8 * i;
  }
  return bits;
}

#define COMPARE(name, T, ...)                                  \
  static uint32_t name(const void *av, const void *bv)         \
  {                                                            \
    const T *a = av, *b = bv;                                  \
    unsigned char flags[32];                                   \
    EACH(l) flags[l] = (__VA_ARGS__);                          \
    return gather(flags);                                      \
  }
#define ORDER(T)                          \
  COMPARE(eq_##T, T, a[l] == b[l])        \
  COMPARE(ne_##T, T, a[l] != b[l])        \
  COMPARE(lt_##T, T, a[l] < b[l])         \
  COMPARE(le_##T, T, a[l] <= b[l])        \
  COMPARE(gt_##T, T, a[l] > b[l])         \
  COMPARE(ge_##T, T, a[l] >= b[l])
ORDER(u16) ORDER(s16) ORDER(u32) ORDER(s32) ORDER(u64) ORDER(s64)

/* eq ... ge are false for NaN, ne too; the others with u are true. */
#define FLOAT_ORDER(T, x, y)                                   \
  COMPARE(eq_##T, T, x == y)                                   \
  COMPARE(ne_##T, T, x < y || x > y)                           \
  COMPARE(lt_##T, T, x < y)                                    \
  COMPARE(le_##T, T, x <= y)                                   \
  COMPARE(gt_##T, T, x > y)                                    \
  COMPARE(ge_##T, T, x >= y)                                   \
  COMPARE(equ_##T, T, !(x < y || x > y))                       \
  COMPARE(neu_##T, T, x != y)                                  \
  COMPARE(ltu_##T, T, !(x >= y))                               \
  COMPARE(leu_##T, T, !(x > y))                                \
  COMPARE(gtu_##T, T, !(x <= y))                               \
  COMPARE(geu_##T, T, !(x < y))                                \
  COMPARE(num_##T, T, x == x && y == y)                        \
  COMPARE(nan_##T, T, x != x || y != y)
FLOAT_ORDER(f32, a[l], b[l])
FLOAT_ORDER(f64, a[l], b[l])
typedef u16 f16;
typedef u16 bf16;
FLOAT_ORDER(f16, ptx_half_to_float(a[l]), ptx_half_to_float(b[l]))
FLOAT_ORDER(bf16, ptx_bfloat_to_float(a[l]), ptx_bfloat_to_float(b[l]))

static const struct comparison {
  ptx_type type;
  ptx_word word;
  ptx_compare *compare;
} comparisons[] = {
#define ROW(T, w) { PTX_##T, PTX_WORD_##w, w##_##T },
#define ROWS(T) \
  ROW(T, eq) ROW(T, ne) ROW(T, lt) ROW(T, le) ROW(T, gt) ROW(T, ge)
#define FLOAT_ROWS(T)                                                   \
  ROWS(T) ROW(T, equ) ROW(T, neu) ROW(T, ltu) ROW(T, leu) ROW(T, gtu)   \
  ROW(T, geu) ROW(T, num) ROW(T, nan)
  ROWS(u16) ROWS(s16) ROWS(u32) ROWS(s32) ROWS(u64) ROWS(s64)
  FLOAT_ROWS(f16) FLOAT_ROWS(bf16) FLOAT_ROWS(f32) FLOAT_ROWS(f64)
};

ptx_compare *ptx_compare_find(ptx_type type, ptx_word word)
{
  if (ptx_type_class(type) == PTX_CLASS_BITS)
    type = like(type, PTX_CLASS_UNSIGNED);
  /* Packed ones are compared half by half. */
  if (type == PTX_f16x2 || type == PTX_bf16x2)
    type = type == PTX_f16x2 ? PTX_f16 : PTX_bf16;
  for (size_t i = 0; i < sizeof comparisons / sizeof *comparisons; i++)
    if (comparisons[i].type == type && comparisons[i].word == word)
      return comparisons[i].compare;
  return NULL;
}

static void flush_halves(u16 *to, const u16 *from, int count)
{
  for (int l = 0; l < count; l++)
    to[l] = from[l] & 0x7c00 ? from[l] : from[l] & 0x8000;
}

void ptx_lanes_flush(ptx_type type, void *to, const void *from)
{
  if (type == PTX_f32) {
    u32 *t = to;
    const u32 *f = from;
    EACH(l) t[l] = f[l] & 0x7f800000 ? f[l] : f[l] & 0x80000000;
  } else if (type == PTX_f16 || type == PTX_f16x2)
    flush_halves(to, from, type == PTX_f16 ? 32 : 64);
  else
    memmove(to, from, ptx_type_bytes(type) * 32);
}

static void saturate_halves(u16 *values, int count)
{
  for (int l = 0; l < count; l++) {
    float value = ptx_half_to_float(values[l]);
    values[l] = value > 1 ? 0x3c00 : value > 0 ? values[l] : 0;
  }
}

void ptx_lanes_saturate(ptx_type type, void *values)
{
  if (type == PTX_f32) {
    f32 *v = values;
    EACH(l) v[l] = v[l] > 1 ? 1 : v[l] > 0 ? v[l] : 0;
  } else
    saturate_halves(values, type == PTX_f16 ? 32 : 64);
}
