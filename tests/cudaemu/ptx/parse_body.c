/* Bodies of functions: scopes, registers, labels. */
#include "tests/cudaemu/ptx/parse.h"

#include <stdio.h>
#include <string.h>

enum { REGISTER_LIMIT = 16 << 20 }; /* bytes of a bank */

static void open_scope(ptx_parser *p)
{
  if (p->depth == PTX_SCOPE_DEPTH)
    ptx_parse_fail(p, p->token.line, "blocks nest more than %u deep",
                   PTX_SCOPE_DEPTH);
  uint32_t number = (uint32_t)p->scope_count;
  uint32_t parent = p->depth ? p->scopes[p->depth - 1].number : UINT32_MAX;
  PTX_GROW(p, p->parents, p->scope_count, p->scope_capacity);
  p->parents[p->scope_count++] = parent;
  p->scopes[p->depth++] = (ptx_scope) {
    number, parent, p->register_count, p->local_count
  };
}

static void close_scope(ptx_parser *p)
{
  p->depth--;
  p->register_count = p->scopes[p->depth].registers;
  p->local_count = p->scopes[p->depth].locals;
}

/* Takes room for count registers of a type. */
static ptx_operand reserve(ptx_parser *p, ptx_type type, uint64_t count)
{
  bool own = p->function->is_entry;
  uint32_t *used = own ? &p->function->register_bytes
                       : &p->module->function_register_bytes;
  uint64_t each = type == PTX_pred ? 4 : ptx_type_bytes(type) * PTX_LANES;
  uint32_t at = (*used + 63) / 64 * 64;
  if (at + each * count > REGISTER_LIMIT)
    ptx_parse_fail(p, p->token.line, "registers take more than %u bytes",
                   REGISTER_LIMIT);
  *used = at + (uint32_t)(each * count);
  return ptx_operand_at(own ? PTX_BANK_ENTRY : PTX_BANK_FUNCTION, at);
}

static void parse_registers(ptx_parser *p)
{
  ptx_type type = ptx_parse_type_at(p);
  if (!type)
    ptx_parse_unexpected(p, "a type");
  if (type != PTX_pred && ptx_type_bytes(type) < 2)
    ptx_parse_fail(p, p->token.line, "registers of type .%s are not emulated",
                   ptx_type_name(type));
  ptx_parse_next(p);
  do {
    ptx_token name = ptx_parse_word(p, "a register's name");
    uint64_t count = 0;
    if (ptx_parse_take(p, "<")) {
      count = ptx_parse_count(p, 1 << 20, "a number of registers");
      ptx_parse_expect(p, ">");
      if (!count)
        continue;
    }
    PTX_GROW(p, p->registers, p->register_count, p->register_capacity);
    p->registers[p->register_count++] = (ptx_register) {
      name.text, name.length, type, reserve(p, type, count ? count : 1),
      (uint32_t)count
    };
  } while (ptx_parse_take(p, ","));
  ptx_parse_expect(p, ";");
}

/* The number behind a family's name, or count and more. */
static uint32_t member(const ptx_register *r, const ptx_token *name)
{
  const char *digits = name->text + r->length;
  size_t length = name->length - r->length;
  uint32_t number = 0;
  if (!length || length > 7 || (length > 1 && *digits == '0'))
    return UINT32_MAX;
  for (size_t i = 0; i < length; i++) {
    if (digits[i] < '0' || digits[i] > '9')
      return UINT32_MAX;
    number = number * 10 + (uint32_t)(digits[i] - '0');
  }
  return number;
}

const ptx_register *ptx_parse_register(const ptx_parser *p,
                                       const ptx_token *name,
                                       ptx_operand *operand)
{
  for (size_t i = p->register_count; i-- > 0;) {
    const ptx_register *r = &p->registers[i];
    if (name->length < r->length ||
        memcmp(name->text, r->name, r->length) != 0)
      continue;
    uint32_t number = r->count ? member(r, name) : 0;
    if (r->count ? number >= r->count : name->length != r->length)
      continue;
    unsigned each = r->type == PTX_pred ? 4 : ptx_type_bytes(r->type) *
                                              PTX_LANES;
    *operand = r->first + number * each;
    return r;
  }
  return NULL;
}

/* Labels belong to scopes: the key is "scope name". */
enum { KEY_SIZE = 4200 };

static size_t label_key(char *key, uint32_t scope, const char *name,
                        size_t length)
{
  int size = snprintf(key, KEY_SIZE, "%u %.*s", scope, (int)length, name);
  return (size_t)size;
}

static void put_label(ptx_parser *p, ptx_map *map, const ptx_token *name,
                      void *value)
{
  char key[KEY_SIZE];
  size_t size = label_key(key, p->scopes[p->depth - 1].number, name->text,
                          name->length);
  if (ptx_map_get(map, key, size))
    ptx_parse_fail(p, name->line, "label \"%.*s\" stands twice",
                   (int)name->length, name->text);
  ptx_map_put(map, p->arena, ptx_arena_text(p->arena, key, size), size, value);
}

void ptx_parse_label(ptx_parser *p, const ptx_token *name)
{
  uint32_t *place = ptx_arena_take(p->arena, sizeof *place);
  *place = (uint32_t)p->function->code_count;
  put_label(p, &p->labels, name, place);
}

void ptx_parse_label_use(ptx_parser *p, const ptx_token *name, size_t insn,
                         uint32_t *target, bool table)
{
  PTX_GROW(p, p->uses, p->use_count, p->use_capacity);
  p->uses[p->use_count++] = (ptx_label_use) {
    name->text, name->length, name->line, p->scopes[p->depth - 1].number,
    insn, target, table
  };
}

/* "name: .branchtargets a, b, c;" */
void ptx_parse_table(ptx_parser *p, const ptx_token *name)
{
  ptx_table *table = ptx_arena_take(p->arena, sizeof *table);
  put_label(p, &p->tables, name, table);
  size_t first = p->use_count;
  do {
    ptx_token label = ptx_parse_word(p, "a label");
    ptx_parse_label_use(p, &label, SIZE_MAX, NULL, false);
    table->count++;
  } while (ptx_parse_take(p, ","));
  ptx_parse_expect(p, ";");
  table->targets = ptx_arena_take(p->arena, table->count *
                                  sizeof *table->targets);
  for (size_t i = 0; i < table->count; i++)
    p->uses[first + i].target = &table->targets[i];
}

/* What a label means where it is used: the scope's own, or one outside. */
static void *find_label(ptx_parser *p, const ptx_label_use *use)
{
  const ptx_map *map = use->table ? &p->tables : &p->labels;
  uint32_t scope = use->scope;
  do {
    char key[KEY_SIZE];
    size_t size = label_key(key, scope, use->name, use->length);
    void *found = ptx_map_get(map, key, size);
    if (found)
      return found;
    scope = p->parents[scope];
  } while (scope != UINT32_MAX);
  ptx_parse_fail(p, use->line, "there is no label \"%.*s\"", (int)use->length,
                 use->name);
}

void ptx_parse_labels_resolve(ptx_parser *p)
{
  for (size_t i = 0; i < p->use_count; i++) {
    const ptx_label_use *use = &p->uses[i];
    void *found = find_label(p, use);
    if (use->table)
      p->function->code[use->insn].how.table = found;
    else if (use->target)
      *use->target = *(uint32_t *)found;
    else
      p->function->code[use->insn].target = *(uint32_t *)found;
  }
}

static void parse_directive(ptx_parser *p)
{
  ptx_token word = p->token;
  ptx_parse_next(p);
  if (ptx_token_is(&word, ".reg"))
    parse_registers(p);
  else if (ptx_token_is(&word, ".loc"))
    ptx_parse_location(p);
  else if (ptx_token_is(&word, ".pragma")) {
    if (p->token.kind != PTX_TOKEN_STRING)
      ptx_parse_unexpected(p, "a text");
    ptx_parse_next(p);
    ptx_parse_expect(p, ";");
  } else if (ptx_token_is(&word, ".shared"))
    ptx_parse_variable(p, ".shared", false);
  else if (ptx_token_is(&word, ".local"))
    ptx_parse_variable(p, ".local", false);
  else if (ptx_token_is(&word, ".param"))
    ptx_parse_variable(p, ".param", false);
  else if (ptx_token_is(&word, ".global"))
    ptx_parse_variable(p, ".global", false);
  else
    ptx_parse_fail(p, word.line, "unknown directive \"%.*s\" in a function",
                   (int)word.length, word.text);
}

/* Whether the word in hand is a label: a colon follows, but not two. */
static bool at_label(const ptx_parser *p)
{
  ptx_lexer copy = p->lexer;
  ptx_token next;
  return p->token.kind == PTX_TOKEN_WORD && !ptx_lexer_next(&copy, &next) &&
         ptx_token_is(&next, ":");
}

static void parse_statement(ptx_parser *p)
{
  if (p->token.kind == PTX_TOKEN_DOT)
    parse_directive(p);
  else if (at_label(p)) {
    ptx_token name = p->token;
    ptx_parse_next(p);
    ptx_parse_next(p);
    if (ptx_parse_take(p, ".branchtargets"))
      ptx_parse_table(p, &name);
    else
      ptx_parse_label(p, &name);
  } else if (!ptx_parse_take(p, ";"))
    ptx_parse_instruction(p);
}

/* A body that runs off its end returns. */
static void emit_return(ptx_parser *p)
{
  ptx_insn *insn = ptx_parse_emit(p, p->token.line);
  static const ptx_mnemonic end = { .text = "}" };
  insn->name = &end;
  insn->action = PTX_DO_RETURN;
}

void ptx_parse_body(ptx_parser *p)
{
  open_scope(p);
  while (p->depth) {
    if (p->token.kind == PTX_TOKEN_END)
      ptx_parse_unexpected(p, "\"}\"");
    if (ptx_parse_take(p, "{"))
      open_scope(p);
    else if (ptx_parse_at(p, "}")) {
      if (p->depth == 1) {
        emit_return(p);
        ptx_parse_labels_resolve(p);
      }
      close_scope(p);
      ptx_parse_next(p);
    } else
      parse_statement(p);
  }
}
