#include "tests/cudaemu/access.h"

#include <inttypes.h>
#include <stdio.h>

static const char *const verbs[] = { "reads", "writes", "updates" };
static const char *const pasts[] = { "read", "wrote", "updated" };

static void report(emu_command *command, const emu_allocation *a,
                   order_kind kind, const order_conflict *c,
                   const ptx_place *place)
{
  char who[256] = "", node[32] = "";
  if (command->is_reported) return;
  command->is_reported = true;
  if (place)
    snprintf(who, sizeof who, ", line %u (%s), block (%u,%u,%u) thread "
             "(%u,%u,%u),", place->line, place->instruction, place->block[0],
             place->block[1], place->block[2], place->thread[0],
             place->thread[1], place->thread[2]);
  if (command->node)
    snprintf(node, sizeof node, " (node %u of a graph)", command->node);
  emu_report("unordered: %s%s%s on stream %u %s byte %" PRIu64 " (0x%" PRIx64
             ") of allocation %u of %" PRIu64 " bytes, which %s of another "
             "%s %s, and nothing says which comes first",
             emu_tag_text(command->tag), node, who, command->stream->number,
             verbs[kind], c->offset,
             a->address + c->offset, a->number, a->bytes,
             emu_tag_text(c->tag), command->node ? "path" : "stream",
             pasts[c->kind]);
}

void emu_access(emu_command *command, emu_allocation *a, order_kind kind,
                uint64_t address, uint64_t bytes, const ptx_place *place)
{
  order_conflict conflict;
  order_step step = { .agent = command->agent, .step = command->step,
                      .tag = command->tag, .clock = &command->clock };
  if (emu.settings.no_races) return;
  pthread_mutex_lock(&a->lock);
  if (!a->shadow && emu_is_live(a)) a->shadow = order_shadow_make(a->bytes);
  bool is_ordered = !a->shadow ||
                    order_access(a->shadow, &step, kind, address - a->address,
                                 bytes, &conflict);
  pthread_mutex_unlock(&a->lock);
  if (!is_ordered) report(command, a, kind, &conflict, place);
}
