/* Instructions that work on lanes one by one and are more than a function
 * over registers. */
#include "tests/cudaemu/ptx/run.h"

#include <string.h>

void ptx_do_float(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint64_t kept[PTX_LANES], in[3][PTX_LANES];
  const void *from[3] = { NULL, NULL, NULL };
  for (int i = 0; i < 3; i++)
    if (insn->operand[1 + i] != PTX_NONE) {
      from[i] = ptx_at(w, insn->operand[1 + i]);
      if (insn->flush) {
        ptx_lanes_flush((ptx_type)insn->type, in[i], from[i]);
        from[i] = in[i];
      }
    }
  insn->how.lanes(kept, from[0], from[1], from[2], NULL);
  if (insn->flush)
    ptx_lanes_flush((ptx_type)insn->type, kept, kept);
  if (insn->saturate)
    ptx_lanes_saturate((ptx_type)insn->type, kept);
  ptx_keep(ptx_at(w, insn->operand[0]), kept, insn->size, mask);
}

static uint32_t boolean(ptx_word word, uint32_t a, uint32_t b)
{
  switch (word) {
  case PTX_WORD_and:
    return a & b;
  case PTX_WORD_or:
    return a | b;
  case PTX_WORD_xor:
    return a ^ b;
  default:
    return a;
  }
}

/* and, or, xor, not, mov on predicates */
void ptx_do_logic(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint32_t value = ptx_predicate(w, insn, 1);
  switch (insn->name->form->op) {
  case PTX_OP_and:
    value &= ptx_predicate(w, insn, 2);
    break;
  case PTX_OP_or:
    value |= ptx_predicate(w, insn, 2);
    break;
  case PTX_OP_xor:
    value ^= ptx_predicate(w, insn, 2);
    break;
  case PTX_OP_not:
    value = ~value;
    break;
  default:
    break;
  }
  ptx_set_predicate(w, insn->operand[0], value, mask);
}

/* Half `which` of packed values. */
static void take_half(void *to, const void *from, int which)
{
  for (int l = 0; l < PTX_LANES; l++)
    memcpy((uint16_t *)to + l, (const uint16_t *)from + 2 * l + which, 2);
}

/* Operands at, at + 1, flushed if the instruction says so; of packed ones the
 * lower or upper halves. */
static uint32_t compare(const ptx_warp *w, const ptx_insn *insn, int at,
                        int which)
{
  const void *a = ptx_at(w, insn->operand[at]);
  const void *b = ptx_at(w, insn->operand[at + 1]);
  ptx_type type = (ptx_type)insn->type;
  uint64_t flushed[2][PTX_LANES], halves[2][PTX_LANES];
  if (insn->flush) {
    ptx_lanes_flush(type, flushed[0], a);
    ptx_lanes_flush(type, flushed[1], b);
    a = flushed[0], b = flushed[1];
  }
  if (type == PTX_f16x2 || type == PTX_bf16x2) {
    take_half(halves[0], a, which);
    take_half(halves[1], b, which);
    a = halves[0], b = halves[1];
  }
  return insn->how.compare(a, b);
}

/* setp p|q, a, b, c: p = (a ? b) op c, q = !(a ? b) op c */
void ptx_do_compare(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint32_t holds = compare(w, insn, 2, 0), fails = ~holds;
  if (insn->operand[4] != PTX_NONE) {
    uint32_t c = ptx_predicate(w, insn, 4);
    holds = boolean((ptx_word)insn->word, holds, c);
    fails = boolean((ptx_word)insn->word, fails, c);
  }
  ptx_set_predicate(w, insn->operand[0], holds, mask);
  if (insn->operand[1] != PTX_NONE)
    ptx_set_predicate(w, insn->operand[1], fails, mask);
}

/* What set writes for yes: 1 of a float type, all ones of others. */
static uint32_t yes_of(ptx_type type)
{
  switch (type) {
  case PTX_f32:
    return 0x3f800000;
  case PTX_f16:
  case PTX_f16x2:
    return 0x3c00;
  case PTX_bf16:
  case PTX_bf16x2:
    return 0x3f80;
  default:
    return UINT32_MAX;
  }
}

void ptx_do_set(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint32_t kept[PTX_LANES], yes = yes_of(insn->name->types[0]);
  bool packed = insn->type == PTX_f16x2 || insn->type == PTX_bf16x2;
  uint32_t low = compare(w, insn, 1, 0);
  uint32_t high = packed ? compare(w, insn, 1, 1) : 0;
  if (insn->operand[3] != PTX_NONE) {
    uint32_t c = ptx_predicate(w, insn, 3);
    low = boolean((ptx_word)insn->word, low, c);
    high = boolean((ptx_word)insn->word, high, c);
  }
  for (int l = 0; l < PTX_LANES; l++) {
    uint32_t value = low >> l & 1 ? yes : 0;
    if (packed)
      value = (value & 0xffff) | (high >> l & 1 ? yes << 16 : 0);
    memcpy((char *)kept + (size_t)l * insn->size, &value, insn->size);
  }
  ptx_keep(ptx_at(w, insn->operand[0]), kept, insn->size, mask);
}

static uint32_t test_one(ptx_word word, uint64_t bits, bool wide)
{
  uint64_t fraction = wide ? bits & (UINT64_MAX >> 12) : bits & 0x7fffff;
  uint32_t exponent = wide ? bits >> 52 & 2047 : bits >> 23 & 255;
  uint32_t top = wide ? 2047 : 255;
  switch (word) {
  case PTX_WORD_finite:
    return exponent != top;
  case PTX_WORD_infinite:
    return exponent == top && !fraction;
  case PTX_WORD_number:
    return exponent != top || !fraction;
  case PTX_WORD_notanumber:
    return exponent == top && fraction;
  case PTX_WORD_normal:
    return exponent && exponent != top;
  default:
    return !exponent && fraction;
  }
}

void ptx_do_test(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const unsigned char *a = ptx_at(w, insn->operand[1]);
  bool wide = insn->type == PTX_f64;
  unsigned size = wide ? 8 : 4;
  uint32_t holds = 0;
  for (int l = 0; l < PTX_LANES; l++) {
    uint64_t bits = 0;
    memcpy(&bits, a + (size_t)l * size, size);
    holds |= test_one((ptx_word)insn->word, bits, wide) << l;
  }
  ptx_set_predicate(w, insn->operand[0], holds, mask);
}

/* selp d, a, b, p */
void ptx_do_select(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint64_t kept[PTX_LANES];
  uint32_t chosen = ptx_predicate(w, insn, 3);
  memcpy(kept, ptx_at(w, insn->operand[2]), insn->size * PTX_LANES);
  ptx_keep(kept, ptx_at(w, insn->operand[1]), insn->size, chosen);
  ptx_keep(ptx_at(w, insn->operand[0]), kept, insn->size, mask);
}

/* lop3: bit i of the table is the result for a, b, c = bits 2, 1, 0 of i */
void ptx_do_lookup(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const uint32_t *a = ptx_at(w, insn->operand[1]);
  const uint32_t *b = ptx_at(w, insn->operand[2]);
  const uint32_t *c = ptx_at(w, insn->operand[3]);
  uint32_t kept[PTX_LANES];
  for (int l = 0; l < PTX_LANES; l++) {
    uint32_t result = 0;
    for (int i = 0; i < 8; i++)
      if (insn->offset >> i & 1)
        result |= (i & 4 ? a[l] : ~a[l]) & (i & 2 ? b[l] : ~b[l]) &
                  (i & 1 ? c[l] : ~c[l]);
    kept[l] = result;
  }
  ptx_keep(ptx_at(w, insn->operand[0]), kept, 4, mask);
}

void ptx_do_pack(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  unsigned char kept[8 * PTX_LANES];
  size_t part = insn->size / insn->count;
  for (size_t i = 0; i < insn->count; i++) {
    const unsigned char *from = ptx_at(w, insn->operand[1 + i]);
    for (size_t l = 0; l < PTX_LANES; l++)
      memcpy(kept + l * insn->size + i * part, from + l * part, part);
  }
  ptx_keep(ptx_at(w, insn->operand[0]), kept, insn->size, mask);
}

void ptx_do_unpack(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  unsigned char whole[8 * PTX_LANES];
  size_t part = insn->size / insn->count;
  memcpy(whole, ptx_at(w, insn->operand[0]), insn->size * PTX_LANES);
  for (size_t i = 0; i < insn->count; i++) {
    unsigned char *to = ptx_at(w, insn->operand[1 + i]);
    for (uint32_t m = mask; m; m &= m - 1) {
      size_t l = (size_t)__builtin_ctz(m);
      memcpy(to + l * part, whole + l * insn->size + i * part, part);
    }
  }
}

/* cvt.rn.f16x2.f32 d, a, b: a becomes the upper half */
void ptx_do_pack_halves(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const float *a = ptx_at(w, insn->operand[1]);
  const float *b = ptx_at(w, insn->operand[2]);
  bool brain = insn->type == PTX_bf16x2;
  ptx_word round = PTX_HAS(&insn->name->words, rz) ? PTX_WORD_rz : PTX_WORD_rn;
  uint32_t kept[PTX_LANES];
  for (int l = 0; l < PTX_LANES; l++) {
    float x, y;
    memcpy(&x, a + l, sizeof x);
    memcpy(&y, b + l, sizeof y);
    uint32_t upper = brain ? ptx_bfloat_from_double(x, round)
                           : ptx_half_from_double(x, round);
    uint32_t lower = brain ? ptx_bfloat_from_double(y, round)
                           : ptx_half_from_double(y, round);
    kept[l] = upper << 16 | lower;
  }
  ptx_keep(ptx_at(w, insn->operand[0]), kept, 4, mask);
}

/* Copies registers into narrower or wider ones; wider ones are filled up with
 * the sign of signed types. */
static void resize(void *to, unsigned to_size, const void *from,
                   unsigned from_size, bool is_signed)
{
  for (size_t l = 0; l < PTX_LANES; l++) {
    uint64_t bits = 0;
    memcpy(&bits, (const char *)from + l * from_size,
           from_size < to_size ? from_size : to_size);
    unsigned unused = 64 - 8 * from_size;
    if (is_signed && from_size < to_size)
      bits = (uint64_t)((int64_t)(bits << unused) >> unused);
    memcpy((char *)to + l * to_size, &bits, to_size);
  }
}

static unsigned container(ptx_type type)
{
  unsigned bytes = ptx_type_bytes(type);
  return bytes == 1 ? 2 : bytes;
}

void ptx_do_convert(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const ptx_convert *plan = insn->how.convert;
  const void *from = ptx_at(w, insn->operand[1]);
  void *d = ptx_at(w, insn->operand[0]);
  unsigned need = container(plan->from), gives = container(plan->to);
  uint64_t narrow[PTX_LANES], got[PTX_LANES], wide[PTX_LANES];
  if (insn->sizes[1] != need) {
    resize(narrow, need, from, insn->sizes[1], false);
    from = narrow;
  }
  if (insn->sizes[0] == gives && mask == UINT32_MAX) {
    ptx_convert_run(plan, d, from);
    return;
  }
  ptx_convert_run(plan, got, from);
  const void *kept = got;
  if (insn->sizes[0] != gives) {
    resize(wide, insn->sizes[0], got, gives,
           ptx_type_class(plan->to) == PTX_CLASS_SIGNED);
    kept = wide;
  }
  ptx_keep(d, kept, insn->sizes[0], mask);
}

/* One lane of add.cc, addc, sub.cc, subc, mad.cc, madc of `bits` bits: the
 * result, and the carry or borrow out. */
static uint64_t carry_one(const ptx_insn *insn, uint64_t a, uint64_t b,
                          uint64_t c, bool in, unsigned bits, bool *out)
{
  unsigned __int128 mask = ((unsigned __int128)1 << bits) - 1, result;
  bool is_signed = ptx_type_class((ptx_type)insn->type) == PTX_CLASS_SIGNED;
  unsigned __int128 product;
  switch (insn->name->form->op) {
  case PTX_OP_addc:
  case PTX_OP_add:
    result = (unsigned __int128)a + b + in;
    break;
  case PTX_OP_subc:
  case PTX_OP_sub:
    result = (unsigned __int128)a - b - in;
    break;
  default:
    if (is_signed) {
      unsigned unused = 64 - bits;
      product = (unsigned __int128)((__int128)((int64_t)(a << unused) >> unused)
                                    * ((int64_t)(b << unused) >> unused));
    } else
      product = (unsigned __int128)a * b;
    if (PTX_HAS(&insn->name->words, hi))
      product >>= bits;
    result = (product & mask) + c + in;
  }
  *out = result >> bits & 1;
  return (uint64_t)(result & mask);
}

void ptx_do_carry(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  ptx_op op = insn->name->form->op;
  bool takes = op == PTX_OP_addc || op == PTX_OP_subc || op == PTX_OP_madc;
  uint32_t in = takes ? w->carry : 0, carry = w->carry;
  for (uint32_t m = mask; m; m &= m - 1) {
    size_t l = (size_t)__builtin_ctz(m);
    uint64_t v[3] = { 0, 0, 0 };
    for (int i = 0; i < 3; i++)
      if (insn->operand[1 + i] != PTX_NONE)
        memcpy(&v[i], (char *)ptx_at(w, insn->operand[1 + i]) + l * insn->size,
               insn->size);
    bool out;
    uint64_t result = carry_one(insn, v[0], v[1], v[2], in >> l & 1,
                                8 * insn->size, &out);
    memcpy((char *)ptx_at(w, insn->operand[0]) + l * insn->size, &result,
           insn->size);
    carry = (carry & ~(UINT32_C(1) << l)) | (uint32_t)out << l;
  }
  if (insn->carry_out)
    w->carry = carry;
}
