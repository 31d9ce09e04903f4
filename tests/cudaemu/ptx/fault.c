/* Reports of what threads do wrong. */
#include "tests/cudaemu/ptx/run.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

void ptx_thread_of(const ptx_run *run, const ptx_warp *w, int lane,
                   uint32_t thread[3])
{
  const uint32_t *size = run->config->block;
  uint32_t number = w->number * PTX_LANES + (uint32_t)lane;
  thread[0] = number % size[0];
  thread[1] = number / size[0] % size[1];
  thread[2] = number / size[0] / size[1];
}

void ptx_run_place(const ptx_run *run, const ptx_warp *w, int lane,
                   const ptx_insn *insn, ptx_place *place)
{
  place->kernel = run->function->entry.name;
  place->instruction = insn->name->text;
  place->line = insn->line;
  memcpy(place->block, run->block, sizeof place->block);
  ptx_thread_of(run, w, lane, place->thread);
}

bool ptx_run_fault(ptx_run *run, const ptx_warp *w, int lane,
                   const ptx_insn *insn, ptx_fault_kind kind, uint64_t address,
                   const char *format, ...)
{
  ptx_fault *fault = run->fault;
  fault->kind = kind;
  fault->address = address;
  ptx_run_place(run, w, lane, insn, &fault->place);
  const ptx_place *at = &fault->place;
  int length = snprintf(
    fault->text, sizeof fault->text,
    "kernel %s, line %u (%s), block (%u,%u,%u) thread (%u,%u,%u): ",
    at->kernel, at->line, at->instruction, at->block[0], at->block[1],
    at->block[2], at->thread[0], at->thread[1], at->thread[2]);
  va_list arguments;
  va_start(arguments, format);
  if (length > 0 && (size_t)length < sizeof fault->text)
    vsnprintf(fault->text + length, sizeof fault->text - (size_t)length,
              format, arguments);
  va_end(arguments);
  return false;
}
