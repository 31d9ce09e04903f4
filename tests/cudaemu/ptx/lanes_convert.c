/* cvt: conversions between all types, in three steps: read the values, round
 * or clamp them, write them.  Frequent ones have a function of their own. */
#include "tests/cudaemu/ptx/lane.h"

#include <math.h>
#include <string.h>

/* Registers hold 8-bit values in 16 bits. */
typedef u16 u8_lane;
typedef u16 s8_lane;
typedef u16 u16_lane;
typedef u16 s16_lane;
typedef u32 u32_lane;
typedef u32 s32_lane;
typedef u64 u64_lane;
typedef u64 s64_lane;

#define WHOLES(X, other)                                              \
  X(other, u8) X(other, u16) X(other, u32) X(other, u64)              \
  X(other, s8) X(other, s16) X(other, s32) X(other, s64)
#define WHOLE_TYPES(X) \
  X(u8) X(u16) X(u32) X(u64) X(s8) X(s16) X(s32) X(s64)

#define QUICK(to, from)                                                      \
  LANES(to##_of_##from, to##_lane, from##_lane, u16, u16,                    \
        (to##_t)(from##_t)a[l])
typedef uint8_t u8_t;
typedef uint16_t u16_t;
typedef uint32_t u32_t;
typedef uint64_t u64_t;
typedef int8_t s8_t;
typedef int16_t s16_t;
typedef int32_t s32_t;
typedef int64_t s64_t;
#define QUICK_FROM(from)                                                     \
  QUICK(u8, from) QUICK(u16, from) QUICK(u32, from) QUICK(u64, from)         \
  QUICK(s8, from) QUICK(s16, from) QUICK(s32, from) QUICK(s64, from)
WHOLE_TYPES(QUICK_FROM)

LANES(f32_of_s32, f32, s32, u16, u16, a[l])
LANES(f32_of_u32, f32, u32, u16, u16, a[l])
LANES(f64_of_s32, f64, s32, u16, u16, a[l])
LANES(f64_of_u32, f64, u32, u16, u16, a[l])

static void f64_of_f32(ARGUMENTS)
{
  f64 *d = dv;
  const f32 *a = av;
  (void)bv, (void)cv, (void)ev;
  EACH(l) d[l] = (f64)a[l];
  lane_canonical_f64(dv);
}

static void f32_of_f64(ARGUMENTS)
{
  f32 *d = dv;
  const f64 *a = av;
  (void)bv, (void)cv, (void)ev;
  EACH(l) d[l] = (f32)a[l];
  lane_canonical_f32(dv);
}

static const struct quick {
  ptx_type to, from;
  ptx_lanes *lanes;
} quicks[] = {
#define QUICK_ROW(from, to) { PTX_##to, PTX_##from, to##_of_##from },
#define QUICK_ROWS(from) WHOLES(QUICK_ROW, from)
  WHOLE_TYPES(QUICK_ROWS)
  { PTX_f32, PTX_s32, f32_of_s32 }, { PTX_f32, PTX_u32, f32_of_u32 },
  { PTX_f64, PTX_s32, f64_of_s32 }, { PTX_f64, PTX_u32, f64_of_u32 },
  { PTX_f64, PTX_f32, f64_of_f32 }, { PTX_f32, PTX_f64, f32_of_f64 },
};

#define ROUNDINGS                                                          \
  (PTX_BIT(rz) | PTX_BIT(rm) | PTX_BIT(rp) | PTX_BIT(rni) | PTX_BIT(rzi) | \
   PTX_BIT(rmi) | PTX_BIT(rpi))

void ptx_convert_plan(const ptx_mnemonic *name, ptx_convert *plan)
{
  uint64_t round = name->words.bits[0] & ROUNDINGS;
  *plan = (ptx_convert) {
    .to = name->types[0], .from = name->types[1],
    .round = round ? (ptx_word)__builtin_ctzll(round) : PTX_WORD_rn,
    .flush = PTX_HAS(&name->words, ftz),
    .saturate = PTX_HAS(&name->words, sat),
  };
  if (round || plan->flush || plan->saturate)
    return;
  for (size_t i = 0; i < sizeof quicks / sizeof *quicks; i++)
    if (quicks[i].to == plan->to && quicks[i].from == plan->from)
      plan->quick = quicks[i].lanes;
}

/* Values on the way: whole ones as 64 bits, others as doubles. */
typedef struct values {
  bool whole, is_signed;
  u64 bits[32];
  f64 number[32];
} values;

static void read_values(values *v, ptx_type type, const void *from)
{
  v->whole = ptx_type_class(type) != PTX_CLASS_FLOAT;
  v->is_signed = ptx_type_class(type) == PTX_CLASS_SIGNED;
  switch (type) {
#define READ(T)                                                \
  case PTX_##T: {                                              \
    const T##_lane *a = from;                                  \
    EACH(l) v->bits[l] = (u64)(s64)(T##_t)a[l];                \
    break;                                                     \
  }
  WHOLE_TYPES(READ)
  case PTX_f16: {
    const u16 *a = from;
    EACH(l) v->number[l] = ptx_half_to_float(a[l]);
    break;
  }
  case PTX_bf16: {
    const u16 *a = from;
    EACH(l) v->number[l] = ptx_bfloat_to_float(a[l]);
    break;
  }
  case PTX_f32: {
    const f32 *a = from;
    EACH(l) v->number[l] = a[l];
    break;
  }
  default: {
    const f64 *a = from;
    EACH(l) v->number[l] = a[l];
  }
  }
}

static void round_whole(values *v, ptx_word round)
{
  switch (round) {
  case PTX_WORD_rni:
    EACH(l) v->number[l] = rint(v->number[l]);
    break;
  case PTX_WORD_rzi:
    EACH(l) v->number[l] = trunc(v->number[l]);
    break;
  case PTX_WORD_rmi:
    EACH(l) v->number[l] = floor(v->number[l]);
    break;
  case PTX_WORD_rpi:
    EACH(l) v->number[l] = ceil(v->number[l]);
    break;
  default:
    break;
  }
}

/* The limits of a whole type; of an unsigned one the lower is 0. */
static int64_t lowest(ptx_type type)
{
  if (ptx_type_class(type) != PTX_CLASS_SIGNED)
    return 0;
  return INT64_MIN >> (64 - 8 * ptx_type_bytes(type));
}

static uint64_t highest(ptx_type type)
{
  unsigned drop = 64 - 8 * ptx_type_bytes(type);
  return UINT64_MAX >> (drop + (ptx_type_class(type) == PTX_CLASS_SIGNED));
}

/* Clamps numbers to a whole type, NaN becoming 0. */
static void whole_of_number(values *v, ptx_type type)
{
  const int64_t low = lowest(type);
  const uint64_t high = highest(type);
  for (int l = 0; l < 32; l++) {
    double value = v->number[l];
    if (value != value)
      v->bits[l] = 0;
    else if (value <= (double)low)
      v->bits[l] = (u64)low;
    else if (value >= (double)high)
      v->bits[l] = high;
    else
      v->bits[l] = low ? (u64)(s64)value : (u64)value;
  }
}

static void clamp_whole(values *v, ptx_type type)
{
  const int64_t low = lowest(type);
  const uint64_t high = highest(type);
  for (int l = 0; l < 32; l++) {
    bool negative = v->is_signed && (s64)v->bits[l] < 0;
    if (negative)
      v->bits[l] = (s64)v->bits[l] < low ? (u64)low : v->bits[l];
    else if (v->bits[l] > high)
      v->bits[l] = high;
  }
}

static void write_whole(const values *v, ptx_type type, void *to)
{
  switch (type) {
#define WRITE(T)                                               \
  case PTX_##T: {                                              \
    T##_lane *d = to;                                          \
    EACH(l) d[l] = (T##_lane)(T##_t)v->bits[l];                \
    break;                                                     \
  }
  WHOLE_TYPES(WRITE)
  default:
    break;
  }
}

static bool is_directed(ptx_word round)
{
  return round == PTX_WORD_rz || round == PTX_WORD_rm || round == PTX_WORD_rp;
}

static float f32_of(const values *v, int l, ptx_word round)
{
  if (!v->whole)
    return is_directed(round) ? ptx_round_to_f32(v->number[l], round)
                              : (float)v->number[l];
  if (v->is_signed)
    return is_directed(round)
             ? ptx_round_signed_to_f32((s64)v->bits[l], round)
             : (float)(s64)v->bits[l];
  return is_directed(round) ? ptx_round_unsigned_to_f32(v->bits[l], round)
                            : (float)v->bits[l];
}

static double f64_of(const values *v, int l, ptx_word round)
{
  if (!v->whole)
    return v->number[l];
  if (v->is_signed)
    return is_directed(round)
             ? ptx_round_signed_to_f64((s64)v->bits[l], round)
             : (double)(s64)v->bits[l];
  return is_directed(round) ? ptx_round_unsigned_to_f64(v->bits[l], round)
                            : (double)v->bits[l];
}

static void write_float(const values *v, const ptx_convert *plan, void *to)
{
  ptx_word round = is_directed(plan->round) ? plan->round : PTX_WORD_rn;
  u16 *half = to;
  f32 *single = to;
  f64 *wide = to;
  /* Whole numbers of more than 53 bits are beyond the range of f16, so that
   * going through a double is harmless. */
  for (int l = 0; l < 32; l++)
    switch (plan->to) {
    case PTX_f16:
      half[l] = ptx_half_from_double(f64_of(v, l, round), round);
      break;
    case PTX_bf16:
      half[l] = ptx_bfloat_from_double(f64_of(v, l, round), round);
      break;
    case PTX_f32:
      single[l] = f32_of(v, l, round);
      break;
    default:
      wide[l] = f64_of(v, l, round);
    }
  if (plan->to == PTX_f32)
    lane_canonical_f32(to);
  if (plan->to == PTX_f64)
    lane_canonical_f64(to);
}

static void saturate_numbers(values *v)
{
  for (int l = 0; l < 32; l++) {
    double value = v->whole ? f64_of(v, l, PTX_WORD_rn) : v->number[l];
    v->number[l] = value > 1 ? 1 : value > 0 ? value : 0;
  }
  v->whole = false;
}

static void convert_to_float(values *v, const ptx_convert *plan, void *d)
{
  if (!v->whole)
    round_whole(v, plan->round);
  if (plan->saturate)
    saturate_numbers(v);
  write_float(v, plan, d);
  if (plan->flush)
    ptx_lanes_flush(plan->to, d, d);
}

void ptx_convert_run(const ptx_convert *plan, void *d, const void *a)
{
  if (plan->quick) {
    plan->quick(d, a, NULL, NULL, NULL);
    return;
  }
  values v;
  uint64_t flushed[32];
  if (plan->flush && plan->from == PTX_f32) {
    ptx_lanes_flush(plan->from, flushed, a);
    a = flushed;
  }
  read_values(&v, plan->from, a);
  if (ptx_type_class(plan->to) == PTX_CLASS_FLOAT) {
    convert_to_float(&v, plan, d);
    return;
  }
  if (!v.whole) {
    round_whole(&v, plan->round);
    whole_of_number(&v, plan->to);
  } else if (plan->saturate)
    clamp_whole(&v, plan->to);
  write_whole(&v, plan->to, d);
}
