/* Loading modules and asking them. */
#include "tests/cudaemu/ptx/parse.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

enum { LONGEST_TEXT = 256 << 20 };

static bool run_parser(ptx_parser *p)
{
  jmp_buf failed;
  if (setjmp(failed))
    return false;
  p->failed = &failed;
  ptx_parse_file(p);
  return true;
}

static bool run_with_memory(ptx_parser *p)
{
  jmp_buf exhausted;
  if (setjmp(exhausted)) {
    p->status = PTX_NO_MEMORY;
    snprintf(p->log, p->log_size, "no memory for the module");
    return false;
  }
  p->arena->exhausted = &exhausted;
  return run_parser(p);
}

ptx_status ptx_module_load(const char *text, size_t length,
                           const ptx_limits *limits, char *log,
                           size_t log_size, ptx_module **module)
{
  static const ptx_limits no_limits = { 0, 0 };
  *module = NULL;
  if (log_size)
    *log = '\0';
  if (length > LONGEST_TEXT) {
    snprintf(log, log_size, "%zu bytes of text: at most %d are read", length,
             LONGEST_TEXT);
    return PTX_INVALID;
  }
  ptx_module *made = calloc(1, sizeof *made);
  ptx_parser *p = calloc(1, sizeof *p);
  ptx_status status = PTX_NO_MEMORY;
  if (made && p) {
    /* A NUL ends the text, as it does for the driver. */
    size_t end = strnlen(text, length);
    p->lexer = (ptx_lexer) { text, text + end, 1 };
    p->module = made;
    p->arena = &made->arena;
    p->limits = limits ? limits : &no_limits;
    p->log = log;
    p->log_size = log_size;
    if (run_with_memory(p)) {
      *module = made;
      made = NULL;
    }
    status = p->status;
  }
  free(p);
  ptx_module_free(made);
  return status;
}

void ptx_module_free(ptx_module *module)
{
  if (!module)
    return;
  ptx_arena_free(&module->arena);
  free(module);
}

unsigned ptx_module_version(const ptx_module *module)
{
  return module->version;
}

unsigned ptx_module_target(const ptx_module *module)
{
  return module->target;
}

size_t ptx_module_entry_count(const ptx_module *module)
{
  return module->entry_count;
}

const ptx_entry *ptx_module_entry(const ptx_module *module, size_t index)
{
  return module->entries[index];
}

const ptx_entry *ptx_module_find(const ptx_module *module, const char *name)
{
  for (size_t i = 0; i < module->entry_count; i++)
    if (strcmp(module->entries[i]->name, name) == 0)
      return module->entries[i];
  return NULL;
}

size_t ptx_module_variable_count(const ptx_module *module)
{
  return module->variable_count;
}

const ptx_variable *ptx_module_variable(const ptx_module *module, size_t index)
{
  return module->variables[index];
}

const ptx_variable *ptx_module_find_variable(const ptx_module *module,
                                             const char *name)
{
  for (size_t i = 0; i < module->variable_count; i++)
    if (strcmp(module->variables[i]->name, name) == 0)
      return module->variables[i];
  return NULL;
}

static void relocate(ptx_module *module, const ptx_relocation *at,
                     uint64_t address)
{
  uint64_t bits = address + (uint64_t)at->addend;
  unsigned copies = at->constant ? PTX_LANES : 1;
  unsigned char *to = module->constants;
  if (!at->constant) {
    const ptx_variable *holder = module->variables[at->holder];
    to = (unsigned char *)(uintptr_t)holder->image;
  }
  for (unsigned i = 0; i < copies; i++)
    memcpy(to + at->offset + 8 * i, &bits, 8);
}

void ptx_module_place(ptx_module *module, size_t index, uint64_t address)
{
  module->variables[index]->address = address;
  for (size_t i = 0; i < module->relocation_count; i++)
    if (module->relocations[i].variable == index)
      relocate(module, &module->relocations[i], address);
}
