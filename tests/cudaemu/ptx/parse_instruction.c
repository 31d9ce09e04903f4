/* Instructions, decoded once. */
#include "tests/cudaemu/ptx/parse.h"

#include <string.h>

ptx_insn *ptx_parse_emit(ptx_parser *p, unsigned line)
{
  ptx_function *f = p->function;
  if (f->code_count >= 1 << 24)
    ptx_parse_fail(p, line, "a function of more than 2^24 instructions");
  PTX_GROW(p, f->code, f->code_count, f->code_capacity);
  ptx_insn *insn = &f->code[f->code_count++];
  memset(insn, 0, sizeof *insn);
  insn->line = line;
  insn->guard = PTX_NONE;
  for (int i = 0; i < 6; i++)
    insn->operand[i] = PTX_NONE;
  return insn;
}

/* The form of the word in hand; each name is looked up once a module. */
static const ptx_mnemonic *parse_name(ptx_parser *p)
{
  ptx_token word = ptx_parse_word(p, "an instruction");
  ptx_mnemonic *known = ptx_map_get(&p->mnemonics, word.text, word.length);
  if (known)
    return known;
  char reason[256];
  known = ptx_arena_take(p->arena, sizeof *known);
  char *text = ptx_arena_text(p->arena, word.text, word.length);
  if (!ptx_mnemonic_find(text, p->module->version, p->module->target, known,
                         reason, sizeof reason))
    ptx_parse_fail(p, word.line, "%s", reason);
  ptx_map_put(&p->mnemonics, p->arena, text, word.length, known);
  return known;
}

static ptx_space space_of(const ptx_word_set *words)
{
  if (PTX_HAS(words, global) || PTX_HAS(words, constant))
    return PTX_SPACE_GLOBAL;
  if (PTX_HAS(words, shared) || PTX_HAS(words, shared_cta))
    return PTX_SPACE_SHARED;
  if (PTX_HAS(words, local))
    return PTX_SPACE_LOCAL;
  if (PTX_HAS(words, param) || PTX_HAS(words, param_entry) ||
      PTX_HAS(words, param_func))
    return PTX_SPACE_PARAM;
  return PTX_SPACE_GENERIC;
}

/* The type an operand's letter stands for. */
static ptx_type operand_type(const ptx_mnemonic *name, char letter)
{
  switch (letter) {
  case 'u':
    return PTX_u32;
  case 'x':
    return PTX_u64;
  case 'p':
    return PTX_pred;
  case 'w':
    switch (name->types[0]) {
    case PTX_u16: return PTX_u32;
    case PTX_s16: return PTX_s32;
    case PTX_u32: return PTX_u64;
    default: return PTX_s64;
    }
  default:
    return name->types[letter - '0'];
  }
}

static void keep(ptx_insn *insn, unsigned at, ptx_source source)
{
  insn->operand[at] = source.operand;
  insn->inverted |= (uint8_t)(source.inverted << at);
}

/* "{a, b, c, d}" or one register: the data of a load or store. */
static void parse_vector(ptx_parser *p, ptx_insn *insn, bool written)
{
  const ptx_word_set *words = &insn->name->words;
  ptx_type type = insn->name->types[0];
  unsigned count = PTX_HAS(words, v4) ? 4 : PTX_HAS(words, v2) ? 2 : 1;
  if (count > 1)
    ptx_parse_expect(p, "{");
  for (unsigned i = 0; i < count; i++) {
    unsigned line = p->token.line;
    if (i)
      ptx_parse_expect(p, ",");
    bool dropped = ptx_parse_at(p, "_");
    ptx_source s = written ? ptx_parse_target(p, type, true)
                           : ptx_parse_source(p, type, true);
    keep(insn, i, s);
    if (i && !dropped && insn->sizes[0] && s.size != insn->sizes[0])
      ptx_parse_fail(p, line, "the registers of a vector differ in width");
    if (!dropped)
      insn->sizes[0] = (uint8_t)s.size;
  }
  if (!insn->sizes[0])
    insn->sizes[0] = (uint8_t)(ptx_type_bytes(type) == 1
                                 ? 2 : ptx_type_bytes(type));
  if (count > 1)
    ptx_parse_expect(p, "}");
  insn->count = (uint8_t)count;
  insn->size = (uint8_t)ptx_type_bytes(type);
}

static void parse_label_operand(ptx_parser *p, bool table)
{
  ptx_token label = ptx_parse_word(p, "a label");
  ptx_parse_label_use(p, &label, p->function->code_count - 1, NULL, table);
}

/* One operand of a form: kind and type, "d0", "su"; returns where the next
 * one goes. */
static unsigned parse_operand(ptx_parser *p, ptx_insn *insn, const char *spec,
                              unsigned at)
{
  char kind = spec[0];
  if (strchr("mlti", kind)) {
    if (kind == 'm')
      ptx_parse_address(p, insn);
    else if (kind == 'i')
      insn->offset = (int64_t)ptx_parse_bits(p, PTX_u32);
    else
      parse_label_operand(p, kind == 't');
    return at;
  }
  if (kind == 'v' || kind == 'V') {
    parse_vector(p, insn, kind == 'v');
    return at;
  }
  ptx_type type = operand_type(insn->name, spec[1]);
  bool written = kind == 'd' || kind == 'D' || kind == '|';
  bool relaxed = kind == 'D' || kind == 'S';
  ptx_source s = written ? ptx_parse_target(p, type, relaxed)
                         : ptx_parse_source(p, type, relaxed);
  keep(insn, at, s);
  if (kind == 'd' && !insn->size)
    insn->size = (uint8_t)s.size;
  if (relaxed)
    insn->sizes[kind == 'S'] = (uint8_t)s.size;
  return at + 1;
}

static void parse_operands(ptx_parser *p, ptx_insn *insn)
{
  unsigned at = insn->action == PTX_DO_REDUCE;
  bool first = true;
  for (const char *spec = insn->name->form->operands; *spec; spec += 2) {
    bool ends = spec[2] == '?';
    if (spec[0] == '|') {
      if (ptx_parse_take(p, "|"))
        parse_operand(p, insn, spec, at);
      at++;
      continue;
    }
    if (!first && ends && !ptx_parse_at(p, ","))
      return;
    if (!first)
      ptx_parse_expect(p, ",");
    first = false;
    if (spec[0] == 'o' && ptx_parse_at_predicate(p)) {
      at++;
      first = true; /* its comma has been taken */
      continue;
    }
    at = parse_operand(p, insn, spec, at);
    spec += ends;
  }
}

/* The selecting word of a set, or PTX_WORD_COUNT. */
static ptx_word selected(uint64_t words)
{
  return words ? (ptx_word)__builtin_ctzll(words) : PTX_WORD_COUNT;
}

static uint64_t chosen_among(const ptx_word_set *words, uint64_t set)
{
  return words->bits[0] & set;
}

#define COMPARISONS                                                         \
  (PTX_BIT(eq) | PTX_BIT(ne) | PTX_BIT(lt) | PTX_BIT(le) | PTX_BIT(gt) |    \
   PTX_BIT(ge) | PTX_BIT(equ) | PTX_BIT(neu) | PTX_BIT(ltu) |               \
   PTX_BIT(leu) | PTX_BIT(gtu) | PTX_BIT(geu) | PTX_BIT(num) |              \
   PTX_BIT(nan) | PTX_BIT(ls) | PTX_BIT(hs) | PTX_BIT(hi))
#define BOOLEANS (PTX_BIT(and) | PTX_BIT(or) | PTX_BIT(xor))

/* lo ls hi hs are lt le gt ge of unsigned numbers. */
static ptx_word comparison(const ptx_word_set *words)
{
  if (PTX_HAS(words, lo))
    return PTX_WORD_lt;
  if (PTX_HAS(words, ls))
    return PTX_WORD_le;
  if (PTX_HAS(words, hi))
    return PTX_WORD_gt;
  if (PTX_HAS(words, hs))
    return PTX_WORD_ge;
  return selected(chosen_among(words, COMPARISONS));
}

static void decode_compare(ptx_parser *p, ptx_insn *insn)
{
  const ptx_mnemonic *name = insn->name;
  unsigned which = insn->action == PTX_DO_SET;
  insn->type = (uint8_t)name->types[which];
  insn->how.compare = ptx_compare_find(name->types[which],
                                       comparison(&name->words));
  insn->word = (uint8_t)selected(chosen_among(&name->words, BOOLEANS));
  if (!insn->how.compare)
    ptx_parse_fail(p, insn->line, "\"%s\" has no implementation", name->text);
}

static void decode_lanes(ptx_parser *p, ptx_insn *insn)
{
  const ptx_word_set *words = &insn->name->words;
  insn->how.lanes = ptx_lanes_find(insn->name);
  insn->saturate = insn->action == PTX_DO_FLOAT && PTX_HAS(words, sat);
  if (!insn->how.lanes)
    ptx_parse_fail(p, insn->line, "\"%s\" has no implementation",
                   insn->name->text);
}

static void decode_convert(ptx_parser *p, ptx_insn *insn)
{
  ptx_convert *plan = ptx_arena_take(p->arena, sizeof *plan);
  ptx_convert_plan(insn->name, plan);
  insn->how.convert = plan;
  insn->type = (uint8_t)insn->name->types[0];
  insn->size = insn->sizes[0];
}

static void decode_barrier(ptx_insn *insn)
{
  const ptx_word_set *words = &insn->name->words;
  insn->word = (uint8_t)selected(chosen_among(
    words, PTX_BIT(popc) | PTX_BIT(and) | PTX_BIT(or)));
  insn->carry_out = PTX_HAS(words, arrive);
}

/* Which operand of a .sync instruction is its member mask. */
static uint32_t member_operand(const ptx_insn *insn)
{
  switch ((ptx_action)insn->action) {
  case PTX_DO_SHUFFLE:
    return 5;
  case PTX_DO_MATCH:
    return insn->word == PTX_WORD_all ? 3 : 2;
  case PTX_DO_WARP_BARRIER:
    return 0;
  default:
    return 2;
  }
}

static void decode(ptx_parser *p, ptx_insn *insn)
{
  const ptx_word_set *words = &insn->name->words;
  insn->type = (uint8_t)insn->name->types[0];
  insn->word = (uint8_t)selected(words->bits[0]);
  insn->flush = PTX_HAS(words, ftz);
  insn->strong = PTX_HAS(words, volatile) || PTX_HAS(words, relaxed) ||
                 PTX_HAS(words, acquire) || PTX_HAS(words, release);
  switch ((ptx_action)insn->action) {
  case PTX_DO_LANES:
  case PTX_DO_FLOAT:
    decode_lanes(p, insn);
    break;
  case PTX_DO_COMPARE:
  case PTX_DO_SET:
    decode_compare(p, insn);
    break;
  case PTX_DO_CONVERT:
    decode_convert(p, insn);
    break;
  case PTX_DO_BARRIER:
    decode_barrier(insn);
    break;
  case PTX_DO_CARRY:
    insn->carry_out = PTX_HAS(words, cc);
    break;
  case PTX_DO_ATOMIC:
  case PTX_DO_REDUCE:
    insn->size = (uint8_t)ptx_type_bytes(insn->name->types[0]);
    break;
  case PTX_DO_SHUFFLE:
  case PTX_DO_VOTE:
  case PTX_DO_MATCH:
  case PTX_DO_REDUX:
  case PTX_DO_WARP_BARRIER:
    insn->target = member_operand(insn);
    break;
  default:
    break;
  }
}

/* "@%p" or "@!%p" before an instruction */
static void parse_guard(ptx_parser *p, ptx_insn *insn)
{
  if (!ptx_parse_take(p, "@"))
    return;
  ptx_source guard = ptx_parse_source(p, PTX_pred, false);
  insn->guard = guard.operand;
  insn->guard_inverted = guard.inverted;
}

void ptx_parse_instruction(ptx_parser *p)
{
  ptx_insn *insn = ptx_parse_emit(p, p->token.line);
  parse_guard(p, insn);
  insn->line = p->token.line;
  insn->name = parse_name(p);
  insn->action = (uint8_t)insn->name->form->action;
  insn->space = (uint8_t)space_of(&insn->name->words);
  if (insn->action == PTX_DO_MOVE)
    ptx_parse_move(p, insn);
  else if (insn->action == PTX_DO_CALL)
    ptx_parse_call(p, insn);
  else {
    parse_operands(p, insn);
    decode(p, insn);
  }
  if (!ptx_parse_at(p, ";"))
    ptx_parse_unexpected(p, "\";\"");
  ptx_parse_next(p);
}
