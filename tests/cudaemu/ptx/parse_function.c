/* Entries and device functions: their heads, and the order of their code. */
#include "tests/cudaemu/ptx/parse.h"

#include <string.h>

enum { PARAMETER_LIMIT = 32764 };

static void add_formal(ptx_parser *p, ptx_formal **list, size_t *count,
                       size_t *capacity, const ptx_declaration *d,
                       uint32_t *used)
{
  uint64_t at = (*used + d->align - 1) / d->align * d->align;
  if (!d->size || d->size > PARAMETER_LIMIT ||
      at + d->size > PARAMETER_LIMIT)
    ptx_parse_fail(p, d->name.line, "parameter \"%.*s\": parameters take 1 to "
                   "%u bytes", (int)d->name.length, d->name.text,
                   PARAMETER_LIMIT);
  PTX_GROW(p, *list, *count, *capacity);
  (*list)[(*count)++] = (ptx_formal) {
    ptx_arena_text(p->arena, d->name.text, d->name.length), (uint32_t)at,
    (uint32_t)d->size, (uint32_t)d->align
  };
  *used = (uint32_t)(at + d->size);
}

/* "(.param .u64 a, .param .b32 b)" or nothing */
static void parse_formals(ptx_parser *p, ptx_formal **list, size_t *count,
                          size_t *capacity, uint32_t *used)
{
  if (!ptx_parse_take(p, "(") || ptx_parse_take(p, ")"))
    return;
  do {
    if (!ptx_parse_take(p, ".param"))
      ptx_parse_unexpected(p, "\".param\"");
    ptx_declaration d = ptx_parse_declaration(p);
    add_formal(p, list, count, capacity, &d, used);
  } while (ptx_parse_take(p, ","));
  ptx_parse_expect(p, ")");
}

static void parse_extent(ptx_parser *p, unsigned extent[3])
{
  extent[0] = extent[1] = extent[2] = 1;
  int i = 0;
  do
    extent[i++] = (unsigned)ptx_parse_count(p, 1024, "a number of threads");
  while (i < 3 && ptx_parse_take(p, ","));
}

static void parse_tuning(ptx_parser *p, ptx_entry *entry)
{
  for (;;) {
    if (ptx_parse_take(p, ".maxntid"))
      parse_extent(p, entry->max_threads);
    else if (ptx_parse_take(p, ".reqntid"))
      parse_extent(p, entry->required_threads);
    else if (ptx_parse_take(p, ".minnctapersm") ||
             ptx_parse_take(p, ".maxnctapersm") ||
             ptx_parse_take(p, ".maxnreg"))
      ptx_parse_count(p, UINT32_MAX, "a number");
    else if (ptx_parse_take(p, ".pragma")) {
      if (p->token.kind != PTX_TOKEN_STRING)
        ptx_parse_unexpected(p, "a text");
      ptx_parse_next(p);
      ptx_parse_expect(p, ";");
    } else if (!ptx_parse_take(p, ".noreturn"))
      return;
  }
}

/* The parameters as the launch sees them. */
static void describe_parameters(ptx_parser *p, ptx_function *f, uint32_t bytes)
{
  ptx_parameter *list = ptx_arena_take(p->arena,
                                       f->parameter_count * sizeof *list);
  for (size_t i = 0; i < f->parameter_count; i++) {
    const ptx_formal *formal = &f->parameters[i];
    list[i] = (ptx_parameter) { formal->offset, formal->size, formal->align };
  }
  f->entry.parameters = list;
  f->entry.parameter_count = (unsigned)f->parameter_count;
  f->entry.parameter_bytes = bytes;
}

static bool same_formals(const ptx_formal *a, size_t a_count,
                         const ptx_formal *b, size_t b_count)
{
  if (a_count != b_count)
    return false;
  for (size_t i = 0; i < a_count; i++)
    if (a[i].size != b[i].size)
      return false;
  return true;
}

/* Gives the formals of a device function places in local memory. */
static void place_formals(ptx_parser *p, ptx_formal *list, size_t count)
{
  for (size_t i = 0; i < count; i++) {
    uint32_t *used = &p->module->function_local_bytes;
    uint64_t at = (*used + list[i].align - 1) / list[i].align * list[i].align;
    if (at + list[i].size > PTX_LOCAL_LIMIT)
      ptx_parse_fail(p, p->token.line, "more than %u bytes of local memory",
                     PTX_LOCAL_LIMIT);
    list[i].offset = (uint32_t)at + PTX_LOCAL_FUNCTION;
    *used = (uint32_t)at + list[i].size;
  }
}

static ptx_function *add_function(ptx_parser *p, const ptx_token *name,
                                  const ptx_function *head)
{
  ptx_module *m = p->module;
  ptx_function *f = ptx_arena_take(p->arena, sizeof *f);
  *f = *head;
  f->line = name->line;
  f->entry.name = ptx_arena_text(p->arena, name->text, name->length);
  PTX_GROW(p, m->functions, m->function_count, m->function_capacity);
  m->functions[m->function_count++] = f;
  ptx_symbol *symbol = ptx_arena_take(p->arena, sizeof *symbol);
  *symbol = (ptx_symbol) {
    .kind = PTX_SYMBOL_FUNCTION, .name = f->entry.name,
    .length = name->length, .function = f
  };
  ptx_map_put(&p->globals, p->arena, symbol->name, symbol->length, symbol);
  if (!f->is_entry) {
    place_formals(p, f->parameters, f->parameter_count);
    place_formals(p, f->results, f->result_count);
  }
  return f;
}

/* The function of this name, perhaps declared before. */
static ptx_function *meet_function(ptx_parser *p, const ptx_token *name,
                                   const ptx_function *head)
{
  const ptx_symbol *known = ptx_map_get(&p->globals, name->text, name->length);
  if (!known)
    return add_function(p, name, head);
  ptx_function *f = known->function;
  if (!f || f->defined || f->is_entry || head->is_entry)
    ptx_parse_fail(p, name->line, "\"%.*s\" is declared twice",
                   (int)name->length, name->text);
  if (!same_formals(f->parameters, f->parameter_count, head->parameters,
                    head->parameter_count) ||
      !same_formals(f->results, f->result_count, head->results,
                    head->result_count))
    ptx_parse_fail(p, name->line, "\"%.*s\" was declared with other "
                   "parameters in line %u", (int)name->length, name->text,
                   f->line);
  for (size_t i = 0; i < f->parameter_count; i++)
    f->parameters[i].name = head->parameters[i].name;
  for (size_t i = 0; i < f->result_count; i++)
    f->results[i].name = head->results[i].name;
  return f;
}

static void add_formal_symbols(ptx_parser *p, const ptx_formal *list,
                               size_t count)
{
  for (size_t i = 0; i < count; i++) {
    ptx_symbol *symbol = ptx_arena_take(p->arena, sizeof *symbol);
    *symbol = (ptx_symbol) {
      .kind = p->function->is_entry ? PTX_SYMBOL_PARAM : PTX_SYMBOL_LOCAL,
      .name = list[i].name, .length = strlen(list[i].name),
      .address = list[i].offset, .size = list[i].size, .param = true
    };
    PTX_GROW(p, p->locals, p->local_count, p->local_capacity);
    p->locals[p->local_count++] = symbol;
  }
}

static void define(ptx_parser *p, ptx_function *f)
{
  f->defined = true;
  p->function = f;
  p->register_count = p->local_count = p->use_count = p->scope_count = 0;
  p->depth = 0;
  p->labels = p->tables = (ptx_map) { NULL, 0, 0 };
  add_formal_symbols(p, f->parameters, f->parameter_count);
  add_formal_symbols(p, f->results, f->result_count);
  ptx_parse_body(p);
  p->function = NULL;
}

void ptx_parse_function(ptx_parser *p, bool is_entry)
{
  ptx_function head = { .is_entry = is_entry };
  uint32_t bytes = 0, ignored = 0;
  if (!is_entry)
    parse_formals(p, &head.results, &head.result_count, &head.result_capacity,
                  &ignored);
  ptx_token name = ptx_parse_word(p, "a function's name");
  parse_formals(p, &head.parameters, &head.parameter_count,
                &head.parameter_capacity, &bytes);
  parse_tuning(p, &head.entry);
  if (is_entry)
    describe_parameters(p, &head, bytes);
  ptx_function *f = meet_function(p, &name, &head);
  if (ptx_parse_take(p, ";"))
    return;
  ptx_parse_expect(p, "{");
  define(p, f);
}

/* Functions are laid out callees first: of diverged lanes those in a callee
 * then have the lower counter, run first, and join the others again. */
typedef struct walk {
  ptx_function *function;
  size_t next; /* call to look at */
} walk;

static void visit(ptx_parser *p, ptx_function *root, ptx_function **order,
                  size_t *count, walk *stack)
{
  size_t depth = 0;
  root->visit = 1;
  stack[depth++] = (walk) { root, 0 };
  while (depth) {
    walk *top = &stack[depth - 1];
    if (top->next == top->function->call_count) {
      top->function->visit = 2;
      order[(*count)++] = top->function;
      depth--;
      continue;
    }
    ptx_call *call = top->function->calls[top->next++];
    ptx_function *callee = call->callee;
    if (!callee->defined)
      ptx_parse_fail(p, call->line, "call of \"%s\", which the module does "
                     "not define", callee->entry.name);
    if (callee->visit == 1)
      ptx_parse_fail(p, call->line, "recursive call of \"%s\" is not emulated",
                     callee->entry.name);
    if (callee->visit)
      continue;
    if (depth == PTX_CALL_DEPTH)
      ptx_parse_fail(p, call->line, "calls nest more than %u deep",
                     PTX_CALL_DEPTH);
    callee->visit = 1;
    stack[depth++] = (walk) { callee, 0 };
  }
}

static void move_code(ptx_module *m, ptx_function *f)
{
  f->begin = (uint32_t)m->code_count;
  for (size_t i = 0; i < f->code_count; i++) {
    ptx_insn *insn = &m->code[m->code_count++];
    *insn = f->code[i];
    if (insn->action == PTX_DO_BRANCH)
      insn->target += f->begin;
    if (insn->action == PTX_DO_BRANCH_TABLE && !insn->how.table->moved) {
      insn->how.table->moved = true;
      for (size_t t = 0; t < insn->how.table->count; t++)
        insn->how.table->targets[t] += f->begin;
    }
  }
}

static void finish_entry(ptx_module *m, ptx_function *f)
{
  f->entry.shared_bytes = f->shared_bytes + m->shared_bytes;
  f->entry.local_bytes = f->local_bytes + m->function_local_bytes;
  m->entries[m->entry_count++] = &f->entry;
}

void ptx_module_link(ptx_parser *p)
{
  ptx_module *m = p->module;
  size_t count = 0, total = 0;
  ptx_function **order = ptx_arena_take(p->arena, m->function_count *
                                        sizeof *order);
  walk *stack = ptx_arena_take(p->arena, PTX_CALL_DEPTH * sizeof *stack);
  for (size_t i = 0; i < m->function_count; i++)
    if (m->functions[i]->defined && !m->functions[i]->visit)
      visit(p, m->functions[i], order, &count, stack);
  for (size_t i = 0; i < count; i++)
    total += order[i]->code_count;
  m->code = ptx_arena_take(p->arena, total * sizeof *m->code);
  for (size_t i = 0; i < count; i++)
    move_code(m, order[i]);
  m->entries = ptx_arena_take(p->arena, m->function_count *
                              sizeof *m->entries);
  for (size_t i = 0; i < m->function_count; i++)
    if (m->functions[i]->is_entry && m->functions[i]->defined)
      finish_entry(m, m->functions[i]);
}
