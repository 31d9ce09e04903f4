/* Operands: registers, numbers, addresses. */
#include "tests/cudaemu/ptx/parse.h"

#include <string.h>

static const char *const special_names[PTX_SPECIAL_COUNT] = {
#define X(id, text) text,
  PTX_SPECIALS(X)
#undef X
};

/* A register's bytes; a predicate's are those of its mask. */
static unsigned register_bytes(ptx_type type)
{
  return type == PTX_pred ? 4 : ptx_type_bytes(type);
}

/* Bytes a value of the type takes in a register. */
static unsigned value_bytes(ptx_type type)
{
  return ptx_type_bytes(type) == 1 ? 2 : register_bytes(type);
}

static bool is_whole(ptx_class class)
{
  return class == PTX_CLASS_SIGNED || class == PTX_CLASS_UNSIGNED;
}

/* Whether a register may stand where the instruction's type is `type`. */
static bool agrees(ptx_type reg, ptx_type type, bool relaxed)
{
  ptx_class have = ptx_type_class(reg), want = ptx_type_class(type);
  if (reg == type)
    return true;
  if (have == PTX_CLASS_PRED || want == PTX_CLASS_PRED)
    return false;
  if (ptx_type_bytes(reg) != ptx_type_bytes(type) &&
      (!relaxed || ptx_type_bytes(reg) < ptx_type_bytes(type) ||
       have == PTX_CLASS_FLOAT || want == PTX_CLASS_FLOAT))
    return false;
  if (have == PTX_CLASS_BITS || want == PTX_CLASS_BITS)
    return true;
  return is_whole(have) && is_whole(want);
}

static noreturn void fail_type(ptx_parser *p, const ptx_token *name,
                               ptx_type have, ptx_type want)
{
  ptx_parse_fail(p, name->line, "\"%.*s\" is of type .%s where .%s is wanted",
                 (int)name->length, name->text, ptx_type_name(have),
                 ptx_type_name(want));
}

/* "_", where a result is dropped */
static ptx_source drop(ptx_type type)
{
  return (ptx_source) {
    ptx_operand_at(PTX_BANK_SPECIAL, PTX_DROP_OFFSET), value_bytes(type), false
  };
}

ptx_source ptx_parse_target(ptx_parser *p, ptx_type type, bool relaxed)
{
  ptx_token name = ptx_parse_word(p, "a register");
  if (ptx_token_is(&name, "_"))
    return drop(type);
  ptx_source found = { PTX_NONE, 0, false };
  const ptx_register *r = ptx_parse_register(p, &name, &found.operand);
  if (!r)
    ptx_parse_fail(p, name.line, "there is no register \"%.*s\"",
                   (int)name.length, name.text);
  if (!agrees(r->type, type, relaxed))
    fail_type(p, &name, r->type, type);
  found.size = register_bytes(r->type);
  return found;
}

static bool find_special(const ptx_token *name, ptx_operand *operand)
{
  for (uint32_t i = 0; i < PTX_SPECIAL_COUNT; i++)
    if (ptx_token_is(name, special_names[i])) {
      *operand = ptx_operand_at(PTX_BANK_SPECIAL, i * 4 * PTX_LANES);
      return true;
    }
  return false;
}

static ptx_source parse_named(ptx_parser *p, ptx_type type, bool relaxed)
{
  ptx_token name = ptx_parse_word(p, "a register or a number");
  ptx_source found = { PTX_NONE, 0, false };
  const ptx_register *r = ptx_parse_register(p, &name, &found.operand);
  if (r) {
    if (!agrees(r->type, type, relaxed))
      fail_type(p, &name, r->type, type);
    found.size = register_bytes(r->type);
  } else if (find_special(&name, &found.operand)) {
    if (!agrees(PTX_u32, type, relaxed))
      fail_type(p, &name, PTX_u32, type);
    found.size = 4;
  } else if (ptx_token_is(&name, "WARP_SZ") && agrees(PTX_u32, type, false))
    found = (ptx_source) { ptx_parse_constant(p, PTX_LANES, 4), 4, false };
  else
    ptx_parse_fail(p, name.line, "there is no register \"%.*s\"",
                   (int)name.length, name.text);
  return found;
}

ptx_source ptx_parse_source(ptx_parser *p, ptx_type type, bool relaxed)
{
  bool inverted = type == PTX_pred && ptx_parse_take(p, "!");
  if (p->token.kind == PTX_TOKEN_WORD) {
    ptx_source found = parse_named(p, type, relaxed);
    found.inverted = inverted;
    return found;
  }
  if (p->token.kind != PTX_TOKEN_NUMBER && !ptx_parse_at(p, "-"))
    ptx_parse_unexpected(p, "a register or a number");
  uint64_t bits = ptx_parse_bits(p, type);
  if (type == PTX_pred) {
    uint32_t offset = bits ? PTX_TRUE_OFFSET : PTX_FALSE_OFFSET;
    return (ptx_source) {
      ptx_operand_at(PTX_BANK_SPECIAL, offset), 4, inverted
    };
  }
  unsigned size = value_bytes(type);
  return (ptx_source) { ptx_parse_constant(p, bits, size), size, false };
}

bool ptx_parse_at_predicate(const ptx_parser *p)
{
  ptx_operand ignored;
  const ptx_register *r = NULL;
  if (p->token.kind == PTX_TOKEN_WORD)
    r = ptx_parse_register(p, &p->token, &ignored);
  return ptx_parse_at(p, "!") || (r && r->type == PTX_pred);
}

/* Makes room in the constant bank. */
static uint32_t add_constant(ptx_parser *p, uint64_t bits, unsigned size)
{
  ptx_module *m = p->module;
  uint32_t at = (uint32_t)((m->constant_bytes + 63) / 64 * 64);
  uint32_t end = at + size * PTX_LANES;
  if (end >= PTX_BANK_BYTES)
    ptx_parse_fail(p, p->token.line, "too many numbers in one module");
  while (m->constant_capacity < end)
    m->constants = ptx_arena_grow(p->arena, m->constants, m->constant_capacity,
                                  &m->constant_capacity, 1);
  for (unsigned lane = 0; lane < PTX_LANES; lane++)
    memcpy(m->constants + at + lane * size, &bits, size);
  m->constant_bytes = end;
  return at;
}

ptx_operand ptx_parse_constant(ptx_parser *p, uint64_t bits, unsigned size)
{
  char key[9];
  memcpy(key, &bits, 8);
  key[8] = (char)size;
  uint32_t *known = ptx_map_get(&p->constants, key, sizeof key);
  if (!known) {
    known = ptx_arena_take(p->arena, sizeof *known);
    *known = add_constant(p, bits, size);
    ptx_map_put(&p->constants, p->arena,
                ptx_arena_text(p->arena, key, sizeof key), sizeof key, known);
  }
  return ptx_operand_at(PTX_BANK_CONSTANT, *known);
}

ptx_operand ptx_parse_relocated(ptx_parser *p, uint32_t variable,
                                int64_t addend)
{
  ptx_module *m = p->module;
  uint32_t at = add_constant(p, 0, 8);
  PTX_GROW(p, m->relocations, m->relocation_count, m->relocation_capacity);
  m->relocations[m->relocation_count++] = (ptx_relocation) {
    variable, true, at, 0, addend
  };
  return ptx_operand_at(PTX_BANK_CONSTANT, at);
}

ptx_symbol *ptx_parse_symbol(ptx_parser *p, const ptx_token *name)
{
  if (p->function)
    for (size_t i = p->local_count; i-- > 0;)
      if (p->locals[i]->length == name->length &&
          memcmp(p->locals[i]->name, name->text, name->length) == 0)
        return p->locals[i];
  ptx_symbol *found = ptx_map_get(&p->globals, name->text, name->length);
  if (!found)
    ptx_parse_fail(p, name->line, "\"%.*s\" is not declared",
                   (int)name->length, name->text);
  return found;
}

int64_t ptx_parse_addend(ptx_parser *p)
{
  bool minus = ptx_parse_at(p, "-");
  if (!minus && !ptx_parse_take(p, "+"))
    return 0;
  minus = ptx_parse_take(p, "-");
  int64_t value = (int64_t)ptx_parse_count(p, INT64_MAX, "an offset");
  return minus ? -value : value;
}

static void need_space(ptx_parser *p, const ptx_token *name, bool met)
{
  if (!met)
    ptx_parse_fail(p, name->line, "\"%.*s\" lies in another state space",
                   (int)name->length, name->text);
}

static void use_symbol(ptx_parser *p, ptx_insn *insn, const ptx_token *name)
{
  const ptx_symbol *symbol = ptx_parse_symbol(p, name);
  bool param = insn->space == PTX_SPACE_PARAM;
  bool constant = PTX_HAS(&insn->name->words, constant);
  switch (symbol->kind) {
  case PTX_SYMBOL_VARIABLE:
    need_space(p, name, insn->space <= PTX_SPACE_GLOBAL);
    if (insn->space == PTX_SPACE_GLOBAL)
      need_space(p, name, constant == p->module->variables
                                        [symbol->address]->constant);
    insn->operand[5] = ptx_parse_relocated(p, (uint32_t)symbol->address, 0);
    insn->wide_address = true;
    return;
  case PTX_SYMBOL_SHARED:
    need_space(p, name, insn->space == PTX_SPACE_SHARED);
    break;
  case PTX_SYMBOL_LOCAL:
    need_space(p, name, symbol->param ? param
                                      : insn->space == PTX_SPACE_LOCAL);
    insn->space = PTX_SPACE_LOCAL;
    break;
  case PTX_SYMBOL_PARAM:
    need_space(p, name, param);
    break;
  case PTX_SYMBOL_FUNCTION:
    need_space(p, name, false);
  }
  insn->offset = (int64_t)symbol->address;
}

void ptx_parse_address(ptx_parser *p, ptx_insn *insn)
{
  ptx_parse_expect(p, "[");
  insn->operand[5] = PTX_NONE;
  bool symbolic = false;
  if (p->token.kind == PTX_TOKEN_NUMBER)
    insn->offset = (int64_t)ptx_parse_bits(p, PTX_b64);
  else {
    ptx_token name = ptx_parse_word(p, "an address");
    const ptx_register *r = ptx_parse_register(p, &name, &insn->operand[5]);
    if (r) {
      insn->wide_address = ptx_type_bytes(r->type) == 8;
      if (!agrees(r->type, PTX_u64, false) &&
          !(agrees(r->type, PTX_u32, false) &&
            insn->space >= PTX_SPACE_SHARED))
        fail_type(p, &name, r->type, PTX_u64);
    } else {
      use_symbol(p, insn, &name);
      symbolic = true;
    }
    insn->offset += ptx_parse_addend(p);
  }
  if (!symbolic && insn->space == PTX_SPACE_PARAM && !p->function->is_entry)
    insn->space = PTX_SPACE_LOCAL;
  ptx_parse_expect(p, "]");
}
