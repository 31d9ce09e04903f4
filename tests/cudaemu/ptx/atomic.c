/* atom and red.  Several launches may run at a time on device memory, so the
 * host's own atomic operations are used there. */
#include "tests/cudaemu/ptx/run.h"

#include <string.h>

static float float_of(uint64_t bits)
{
  uint32_t low = (uint32_t)bits;
  float value;
  memcpy(&value, &low, sizeof value);
  return value;
}

static uint64_t bits_of(float value)
{
  uint32_t bits;
  memcpy(&bits, &value, sizeof bits);
  return value != value ? 0x7fffffff : bits;
}

static uint64_t flushed(uint64_t bits)
{
  return bits & 0x7f800000 ? bits : bits & 0x80000000;
}

/* Additions of f32 flush subnormal numbers in global memory only. */
static uint64_t add_f32(uint64_t old, uint64_t value, bool flush)
{
  if (!flush)
    return bits_of(float_of(old) + float_of(value));
  return flushed(bits_of(float_of(flushed(old)) + float_of(flushed(value))));
}

static uint64_t add_f64(uint64_t old, uint64_t value)
{
  double x, y;
  memcpy(&x, &old, sizeof x);
  memcpy(&y, &value, sizeof y);
  x += y;
  memcpy(&old, &x, sizeof old);
  return x != x ? UINT64_C(0xfff8000000000000) : old;
}

static bool less(ptx_type type, uint64_t x, uint64_t y)
{
  if (type == PTX_s32)
    return (int32_t)x < (int32_t)y;
  if (type == PTX_s64)
    return (int64_t)x < (int64_t)y;
  return x < y;
}

/* What memory holds afterwards; operands are cut to their size. */
static uint64_t combine(const ptx_insn *insn, uint64_t old, uint64_t b,
                        uint64_t c, bool global)
{
  ptx_type type = (ptx_type)insn->type;
  switch ((ptx_word)insn->word) {
  case PTX_WORD_add:
    if (type == PTX_f32)
      return add_f32(old, b, global);
    return type == PTX_f64 ? add_f64(old, b) : old + b;
  case PTX_WORD_min:
    return less(type, old, b) ? old : b;
  case PTX_WORD_max:
    return less(type, old, b) ? b : old;
  case PTX_WORD_inc:
    return old >= b ? 0 : old + 1;
  case PTX_WORD_dec:
    return !old || old > b ? b : old - 1;
  case PTX_WORD_and:
    return old & b;
  case PTX_WORD_or:
    return old | b;
  case PTX_WORD_xor:
    return old ^ b;
  case PTX_WORD_cas:
    return old == b ? c : old;
  default: /* exch */
    return b;
  }
}

#define UPDATE(T)                                                          \
  do {                                                                     \
    T *place = (T *)(void *)host;                                          \
    T old = __atomic_load_n(place, __ATOMIC_RELAXED), now;                 \
    do                                                                     \
      now = (T)combine(insn, old, b, c, global);                           \
    while (!__atomic_compare_exchange_n(place, &old, now, false,           \
                                        __ATOMIC_SEQ_CST,                  \
                                        __ATOMIC_RELAXED));                \
    return old;                                                            \
  } while (0)

static uint64_t update(const ptx_insn *insn, unsigned char *host, uint64_t b,
                       uint64_t c, bool global)
{
  switch (insn->size) {
  case 2:
    UPDATE(uint16_t);
  case 4:
    UPDATE(uint32_t);
  default:
    UPDATE(uint64_t);
  }
}

static uint64_t lane_value(const ptx_warp *w, const ptx_insn *insn, int i,
                           int lane)
{
  uint64_t value = 0;
  if (insn->operand[i] != PTX_NONE)
    memcpy(&value, (char *)ptx_at(w, insn->operand[i]) +
           (size_t)lane * insn->size, insn->size);
  return value;
}

bool ptx_do_atomic(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                   uint32_t mask)
{
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    ptx_space space;
    uint64_t address;
    unsigned char *host = ptx_atomic_bytes(run, w, l, insn, &space, &address);
    if (!host)
      return false;
    uint64_t old = update(insn, host, lane_value(w, insn, 1, l),
                          lane_value(w, insn, 2, l),
                          space == PTX_SPACE_GLOBAL);
    if (insn->operand[0] != PTX_NONE)
      memcpy((char *)ptx_at(w, insn->operand[0]) + (size_t)l * insn->size,
             &old, insn->size);
  }
  return true;
}
