/* Declarations of variables, with what they begin as. */
#include "tests/cudaemu/ptx/parse.h"

#include <string.h>

static uint64_t parse_alignment(ptx_parser *p)
{
  unsigned line = p->token.line;
  uint64_t align = ptx_parse_count(p, 4096, "an alignment");
  if (!align || (align & (align - 1)))
    ptx_parse_fail(p, line, ".align %llu is not a power of two",
                   (unsigned long long)align);
  return align;
}

ptx_declaration ptx_parse_declaration(ptx_parser *p)
{
  ptx_declaration d = { .elements = 1 };
  unsigned vector = 1;
  for (;;) {
    if (ptx_parse_take(p, ".align"))
      d.align = parse_alignment(p);
    else if (ptx_parse_take(p, ".v2"))
      vector = 2;
    else if (ptx_parse_take(p, ".v4"))
      vector = 4;
    else
      break;
  }
  d.type = ptx_parse_type_at(p);
  if (!d.type || d.type == PTX_pred)
    ptx_parse_unexpected(p, "a type");
  ptx_parse_next(p);
  if (ptx_parse_take(p, ".ptr"))
    while (p->token.kind == PTX_TOKEN_DOT) {
      if (ptx_parse_take(p, ".align"))
        parse_alignment(p);
      else
        ptx_parse_next(p);
    }
  d.name = ptx_parse_word(p, "a name");
  unsigned bytes = ptx_type_bytes(d.type) * vector;
  while (ptx_parse_take(p, "[")) {
    uint64_t n = ptx_parse_at(p, "]") ? 0 : ptx_parse_count(
      p, UINT64_C(1) << 40, "a length");
    if (n && d.elements > (UINT64_C(1) << 40) / n)
      ptx_parse_fail(p, d.name.line, "\"%.*s\" is too large",
                     (int)d.name.length, d.name.text);
    d.elements *= n;
    ptx_parse_expect(p, "]");
  }
  d.size = d.elements * bytes;
  if (!d.align)
    d.align = bytes;
  return d;
}

/* Appends an element to an image that is being read. */
typedef struct image {
  unsigned char *bytes;
  size_t size, capacity;
} image;

static void append(ptx_parser *p, image *to, uint64_t bits, unsigned size)
{
  for (unsigned i = 0; i < size; i++) {
    PTX_GROW(p, to->bytes, to->size, to->capacity);
    to->bytes[to->size++] = (unsigned char)(bits >> 8 * i);
  }
}

static void append_address(ptx_parser *p, image *to, ptx_type type,
                           uint32_t holder)
{
  bool generic = ptx_parse_take(p, "generic");
  if (generic)
    ptx_parse_expect(p, "(");
  ptx_token name = ptx_parse_word(p, "a number or a variable");
  if (generic)
    ptx_parse_expect(p, ")");
  const ptx_symbol *symbol = ptx_parse_symbol(p, &name);
  if (symbol->kind != PTX_SYMBOL_VARIABLE || ptx_type_bytes(type) != 8)
    ptx_parse_fail(p, name.line, "the address of \"%.*s\" cannot be written "
                   "in .%s", (int)name.length, name.text,
                   ptx_type_name(type));
  ptx_module *m = p->module;
  PTX_GROW(p, m->relocations, m->relocation_count, m->relocation_capacity);
  m->relocations[m->relocation_count++] = (ptx_relocation) {
    (uint32_t)symbol->address, false, to->size, holder, ptx_parse_addend(p)
  };
  append(p, to, 0, 8);
}

static void parse_element(ptx_parser *p, image *to, const ptx_declaration *d,
                          uint32_t holder)
{
  unsigned line = p->token.line;
  if (p->token.kind == PTX_TOKEN_WORD)
    append_address(p, to, d->type, holder);
  else
    append(p, to, ptx_parse_bits(p, d->type), ptx_type_bytes(d->type));
  if (d->elements && to->size > d->size)
    ptx_parse_fail(p, line, "\"%.*s\" has more initial values than elements",
                   (int)d->name.length, d->name.text);
}

static void parse_image(ptx_parser *p, ptx_declaration *d, uint32_t holder,
                        image *to)
{
  if (!ptx_parse_take(p, "{")) {
    parse_element(p, to, d, holder);
    return;
  }
  if (ptx_parse_at(p, "{"))
    ptx_parse_fail(p, p->token.line, "nested initial values are not emulated");
  do
    parse_element(p, to, d, holder);
  while (ptx_parse_take(p, ","));
  ptx_parse_expect(p, "}");
  if (!d->elements)
    d->size = to->size;
}

static void check_new(ptx_parser *p, const ptx_token *name)
{
  if (p->function) {
    size_t outside = p->depth ? p->scopes[p->depth - 1].locals : 0;
    for (size_t i = outside; i < p->local_count; i++)
      if (p->locals[i]->length == name->length &&
          memcmp(p->locals[i]->name, name->text, name->length) == 0)
        ptx_parse_fail(p, name->line, "\"%.*s\" is declared twice",
                       (int)name->length, name->text);
  } else if (ptx_map_get(&p->globals, name->text, name->length))
    ptx_parse_fail(p, name->line, "\"%.*s\" is declared twice",
                   (int)name->length, name->text);
}

static ptx_symbol *add_symbol(ptx_parser *p, const ptx_declaration *d,
                              ptx_symbol_kind kind, uint64_t address)
{
  check_new(p, &d->name);
  ptx_symbol *symbol = ptx_arena_take(p->arena, sizeof *symbol);
  symbol->kind = kind;
  symbol->length = d->name.length;
  symbol->name = ptx_arena_text(p->arena, d->name.text, d->name.length);
  symbol->address = address;
  symbol->size = d->size;
  if (p->function) {
    PTX_GROW(p, p->locals, p->local_count, p->local_capacity);
    p->locals[p->local_count++] = symbol;
  } else
    ptx_map_put(&p->globals, p->arena, symbol->name, symbol->length, symbol);
  return symbol;
}

static void add_variable(ptx_parser *p, ptx_declaration *d, bool constant,
                         bool external)
{
  ptx_module *m = p->module;
  uint32_t index = (uint32_t)m->variable_count;
  ptx_symbol *symbol = add_symbol(p, d, PTX_SYMBOL_VARIABLE, index);
  ptx_variable *variable = ptx_arena_take(p->arena, sizeof *variable);
  PTX_GROW(p, m->variables, m->variable_count, m->variable_capacity);
  m->variables[m->variable_count++] = variable;
  image initial = { NULL, 0, 0 };
  if (ptx_parse_take(p, "="))
    parse_image(p, d, index, &initial);
  else if (!d->elements && !external)
    ptx_parse_fail(p, d->name.line, "\"%.*s\" has no size",
                   (int)d->name.length, d->name.text);
  symbol->size = d->size;
  *variable = (ptx_variable) {
    symbol->name, d->size, d->align, initial.bytes, initial.size, 0, constant,
    external
  };
}

/* Takes size bytes of an area that holds *used of limit. */
static uint32_t reserve(ptx_parser *p, const ptx_declaration *d, uint32_t *used,
                        uint32_t limit, const char *what)
{
  uint64_t at = (*used + d->align - 1) / d->align * d->align;
  if (d->size > limit || at + d->size > limit)
    ptx_parse_fail(p, d->name.line, "\"%.*s\": more than %u bytes of %s "
                   "memory", (int)d->name.length, d->name.text, limit, what);
  *used = (uint32_t)(at + d->size);
  return (uint32_t)at;
}

static void add_shared(ptx_parser *p, const ptx_declaration *d)
{
  bool own = p->function && p->function->is_entry;
  if (!d->elements) {
    add_symbol(p, d, PTX_SYMBOL_SHARED, PTX_SHARED_DYNAMIC);
    return;
  }
  uint32_t *used = own ? &p->function->shared_bytes : &p->module->shared_bytes;
  uint32_t at = reserve(p, d, used, PTX_SHARED_AREA, "shared");
  add_symbol(p, d, PTX_SYMBOL_SHARED,
             at + (own ? PTX_SHARED_ENTRY : PTX_SHARED_MODULE));
}

static void add_local(ptx_parser *p, const ptx_declaration *d, bool param)
{
  bool own = p->function->is_entry;
  if (!d->size)
    ptx_parse_fail(p, d->name.line, "\"%.*s\" has no size",
                   (int)d->name.length, d->name.text);
  uint32_t *used = own ? &p->function->local_bytes
                       : &p->module->function_local_bytes;
  uint32_t at = reserve(p, d, used, PTX_LOCAL_LIMIT, "local");
  add_symbol(p, d, PTX_SYMBOL_LOCAL, at + (own ? 0 : PTX_LOCAL_FUNCTION))
    ->param = param;
}

void ptx_parse_variable(ptx_parser *p, const char *space, bool external)
{
  ptx_declaration d = ptx_parse_declaration(p);
  if (strcmp(space, ".shared") == 0)
    add_shared(p, &d);
  else if (strcmp(space, ".local") == 0)
    add_local(p, &d, false);
  else if (strcmp(space, ".param") == 0)
    add_local(p, &d, true);
  else
    add_variable(p, &d, strcmp(space, ".const") == 0, external);
  if (ptx_parse_at(p, ","))
    ptx_parse_fail(p, p->token.line,
                   "several variables in one declaration are not emulated");
  ptx_parse_expect(p, ";");
}
