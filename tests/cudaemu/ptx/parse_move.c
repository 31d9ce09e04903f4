/* mov, in its several meanings, and call. */
#include "tests/cudaemu/ptx/parse.h"

#include <string.h>

/* The type of the elements of a vector that packs into `type`. */
static ptx_type element_type(ptx_parser *p, ptx_type type, unsigned count)
{
  unsigned bytes = ptx_type_bytes(type) / count;
  if (ptx_type_class(type) == PTX_CLASS_BITS && bytes == 2)
    return PTX_b16;
  if (ptx_type_class(type) == PTX_CLASS_BITS && bytes == 4)
    return PTX_b32;
  ptx_parse_fail(p, p->token.line, "a vector of %u does not make a .%s", count,
                 ptx_type_name(type));
}

/* How many elements "{a, b}" has; the text is looked through beforehand. */
static unsigned count_elements(ptx_parser *p)
{
  ptx_lexer copy = p->lexer;
  ptx_token token;
  unsigned count = 1;
  while (!ptx_lexer_next(&copy, &token) && token.kind != PTX_TOKEN_END &&
         !ptx_token_is(&token, "}"))
    count += ptx_token_is(&token, ",");
  if (count != 2 && count != 4)
    ptx_parse_fail(p, p->token.line, "a vector has 2 or 4 elements");
  return count;
}

/* Elements go into operands 1 to 4. */
static void parse_elements(ptx_parser *p, ptx_insn *insn, bool written)
{
  unsigned count = count_elements(p);
  ptx_type type = element_type(p, insn->name->types[0], count);
  ptx_parse_expect(p, "{");
  for (unsigned i = 0; i < count; i++) {
    if (i)
      ptx_parse_expect(p, ",");
    ptx_source s = written ? ptx_parse_target(p, type, false)
                           : ptx_parse_source(p, type, false);
    insn->operand[1 + i] = s.operand;
  }
  ptx_parse_expect(p, "}");
  insn->count = (uint8_t)count;
}

/* %clock and others that change while a kernel runs */
static bool parse_clock(ptx_parser *p, ptx_insn *insn)
{
  static const struct clock {
    const char *name;
    unsigned bytes;
  } clocks[] = {
    { "%clock", 4 }, { "%clock_hi", 4 }, { "%clock64", 8 },
    { "%globaltimer", 8 },
  };
  for (unsigned i = 0; i < sizeof clocks / sizeof *clocks; i++)
    if (ptx_parse_at(p, clocks[i].name)) {
      ptx_type type = insn->name->types[0];
      if (ptx_type_bytes(type) != clocks[i].bytes ||
          ptx_type_class(type) == PTX_CLASS_FLOAT)
        ptx_parse_fail(p, p->token.line, "\"%s\" is not of type .%s",
                       clocks[i].name, ptx_type_name(type));
      ptx_parse_next(p);
      insn->action = PTX_DO_READ_CLOCK;
      insn->word = (uint8_t)i;
      return true;
    }
  return false;
}

/* Whether the word in hand can only be a variable's name. */
static bool at_symbol(const ptx_parser *p)
{
  ptx_operand ignored;
  return p->token.kind == PTX_TOKEN_WORD && p->token.text[0] != '%' &&
         !ptx_parse_at(p, "WARP_SZ") &&
         !ptx_parse_register(p, &p->token, &ignored);
}

/* mov of a variable's address within its own state space */
static ptx_operand parse_symbol_address(ptx_parser *p, const ptx_insn *insn)
{
  ptx_token name = ptx_parse_word(p, "a variable");
  const ptx_symbol *symbol = ptx_parse_symbol(p, &name);
  ptx_type type = insn->name->types[0];
  unsigned bytes = ptx_type_bytes(type);
  if (symbol->kind == PTX_SYMBOL_FUNCTION)
    ptx_parse_fail(p, name.line, "addresses of functions are not emulated");
  if (bytes < 4 || ptx_type_class(type) == PTX_CLASS_FLOAT ||
      (symbol->kind == PTX_SYMBOL_VARIABLE && bytes != 8))
    ptx_parse_fail(p, name.line, "an address does not fit .%s",
                   ptx_type_name(type));
  int64_t addend = ptx_parse_addend(p);
  if (symbol->kind == PTX_SYMBOL_VARIABLE)
    return ptx_parse_relocated(p, (uint32_t)symbol->address, addend);
  uint64_t address = symbol->address + (uint64_t)addend;
  return ptx_parse_constant(p, bytes == 4 ? (uint32_t)address : address,
                            bytes);
}

static void parse_move_source(ptx_parser *p, ptx_insn *insn)
{
  if (parse_clock(p, insn))
    return;
  insn->how.lanes = ptx_lanes_find(insn->name);
  insn->action = PTX_DO_LANES;
  if (at_symbol(p))
    insn->operand[1] = parse_symbol_address(p, insn);
  else
    insn->operand[1] = ptx_parse_source(p, insn->name->types[0],
                                        false).operand;
  if (!insn->how.lanes)
    ptx_parse_fail(p, insn->line, "\"%s\" has no implementation",
                   insn->name->text);
}

void ptx_parse_move(ptx_parser *p, ptx_insn *insn)
{
  ptx_type type = insn->name->types[0];
  insn->type = (uint8_t)type;
  insn->size = (uint8_t)ptx_type_bytes(type);
  if (ptx_parse_at(p, "{")) {
    insn->action = PTX_DO_UNPACK;
    parse_elements(p, insn, true);
    ptx_parse_expect(p, ",");
    insn->operand[0] = ptx_parse_source(p, type, false).operand;
    return;
  }
  insn->operand[0] = ptx_parse_target(p, type, false).operand;
  ptx_parse_expect(p, ",");
  if (type == PTX_pred) {
    ptx_source s = ptx_parse_source(p, type, false);
    insn->operand[1] = s.operand;
    insn->inverted = (uint8_t)(s.inverted << 1);
    insn->action = PTX_DO_MOVE_PRED;
  } else if (ptx_parse_at(p, "{")) {
    insn->action = PTX_DO_PACK;
    parse_elements(p, insn, false);
  } else
    parse_move_source(p, insn);
}

/* "(a, b)": variables in parameter space; an empty list has no brackets */
static ptx_symbol **parse_arguments(ptx_parser *p, size_t *count)
{
  ptx_symbol **list = NULL;
  size_t capacity = 0;
  *count = 0;
  if (!ptx_parse_take(p, "(") || ptx_parse_take(p, ")"))
    return list;
  do {
    ptx_token name = p->token;
    if (name.kind != PTX_TOKEN_WORD || name.text[0] == '%')
      ptx_parse_unexpected(p, "a .param variable");
    ptx_parse_next(p);
    ptx_symbol *symbol = ptx_parse_symbol(p, &name);
    if (!symbol->param || symbol->kind != PTX_SYMBOL_LOCAL)
      ptx_parse_fail(p, name.line, "\"%.*s\" is not a .param variable",
                     (int)name.length, name.text);
    PTX_GROW(p, list, *count, capacity);
    list[(*count)++] = symbol;
  } while (ptx_parse_take(p, ","));
  ptx_parse_expect(p, ")");
  return list;
}

/* Pairs a call's variables with the function's. */
static ptx_transfer *pair(ptx_parser *p, const ptx_insn *insn,
                          ptx_symbol **given, size_t given_count,
                          const ptx_formal *formals, size_t count, bool back)
{
  const char *callee = insn->how.call->callee->entry.name;
  const char *what = back ? "results" : "arguments";
  if (given_count != count)
    ptx_parse_fail(p, insn->line, "\"%s\" has %zu %s, the call has %zu",
                   callee, count, what, given_count);
  ptx_transfer *list = ptx_arena_take(p->arena, count * sizeof *list);
  for (size_t i = 0; i < count; i++) {
    uint32_t outer = (uint32_t)given[i]->address, inner = formals[i].offset;
    if (given[i]->size != formals[i].size)
      ptx_parse_fail(p, insn->line, "\"%s\": \"%s\" takes %u bytes, the call "
                     "has %llu", callee, formals[i].name, formals[i].size,
                     (unsigned long long)given[i]->size);
    list[i] = (ptx_transfer) {
      back ? inner : outer, back ? outer : inner, formals[i].size
    };
  }
  return list;
}

static ptx_function *parse_callee(ptx_parser *p)
{
  ptx_token name = ptx_parse_word(p, "a function");
  if (name.text[0] == '%')
    ptx_parse_fail(p, name.line, "indirect calls are not emulated");
  const ptx_symbol *symbol = ptx_parse_symbol(p, &name);
  if (symbol->kind != PTX_SYMBOL_FUNCTION || symbol->function->is_entry)
    ptx_parse_fail(p, name.line, "\"%.*s\" is not a device function",
                   (int)name.length, name.text);
  return symbol->function;
}

/* "call (result), name, (arguments)" */
void ptx_parse_call(ptx_parser *p, ptx_insn *insn)
{
  size_t results = 0, arguments = 0;
  ptx_symbol **result_list = NULL, **argument_list = NULL;
  if (ptx_parse_at(p, "(")) {
    result_list = parse_arguments(p, &results);
    ptx_parse_expect(p, ",");
  }
  ptx_call *call = ptx_arena_take(p->arena, sizeof *call);
  ptx_function *callee = call->callee = parse_callee(p);
  call->line = insn->line;
  insn->how.call = call;
  if (ptx_parse_take(p, ","))
    argument_list = parse_arguments(p, &arguments);
  call->arguments = pair(p, insn, argument_list, arguments, callee->parameters,
                         callee->parameter_count, false);
  call->results = pair(p, insn, result_list, results, callee->results,
                       callee->result_count, true);
  call->argument_count = arguments;
  call->result_count = results;
  ptx_function *f = p->function;
  PTX_GROW(p, f->calls, f->call_count, f->call_capacity);
  f->calls[f->call_count++] = call;
}
