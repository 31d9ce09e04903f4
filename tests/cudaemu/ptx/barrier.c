/* Barriers of a block, and what is said when nobody can go on. */
#include "tests/cudaemu/ptx/run.h"

#include <stdio.h>
#include <string.h>

/* Operands of bar.sync id, count are 0 and 1; bar.red has its result first. */
static int first_operand(const ptx_insn *insn)
{
  return insn->word != PTX_WORD_COUNT;
}

static bool wants_alignment(const ptx_insn *insn)
{
  return insn->name->form->op == PTX_OP_bar ||
         PTX_HAS(&insn->name->words, aligned);
}

static void write_result(ptx_warp *w, const ptx_insn *insn, int lane,
                         const ptx_barrier *b)
{
  uint32_t lane_bit = UINT32_C(1) << lane;
  if (insn->word == PTX_WORD_popc)
    ((uint32_t *)ptx_at(w, insn->operand[0]))[lane] = b->set;
  else if (insn->word == PTX_WORD_and)
    ptx_set_predicate(w, insn->operand[0],
                      b->set == b->voters ? lane_bit : 0, lane_bit);
  else if (insn->word == PTX_WORD_or)
    ptx_set_predicate(w, insn->operand[0], b->set ? lane_bit : 0, lane_bit);
}

/* Lets the lanes of one warp that wait at barrier `id` go on. */
static bool open_for(ptx_run *run, ptx_warp *w, unsigned id)
{
  uint32_t place = UINT32_MAX;
  for (uint32_t m = w->at_barrier; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (w->barrier[l] != id)
      continue;
    const ptx_insn *insn = ptx_insn_at(run, w->pc[l]);
    if (place != UINT32_MAX && place != w->pc[l] && wants_alignment(insn))
      return ptx_run_fault(run, w, l, insn, PTX_BAD_BARRIER, 0,
                           "barrier %u: other threads of this warp are at "
                           "line %u", id, ptx_insn_at(run, place)->line);
    place = w->pc[l];
    write_result(w, insn, l, &run->barriers[id]);
    w->at_barrier &= ~(UINT32_C(1) << l);
    w->pc[l]++;
  }
  return true;
}

static bool open_barrier(ptx_run *run, unsigned id)
{
  for (unsigned i = 0; i < run->warp_count; i++)
    if (!open_for(run, &run->warps[i], id))
      return false;
  run->barriers[id] = (ptx_barrier) { 0, 0, 0, 0 };
  if (run->race)
    ptx_race_order(run->race);
  return true;
}

/* What one lane brings: how many threads are to come, and its vote. */
static bool arrive_one(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                       int lane, unsigned *which)
{
  int at = first_operand(insn);
  uint32_t id = ((const uint32_t *)ptx_at(w, insn->operand[at]))[lane];
  uint32_t expected = run->threads;
  bool counted = insn->operand[at + 1] != PTX_NONE;
  if (counted)
    expected = ((const uint32_t *)ptx_at(w, insn->operand[at + 1]))[lane];
  if (id >= PTX_BARRIERS)
    return ptx_run_fault(run, w, lane, insn, PTX_BAD_BARRIER, 0,
                         "barrier %u: there are 0 to 15", id);
  if (counted && (!expected || expected % PTX_LANES ||
                  expected > run->warp_count * PTX_LANES))
    return ptx_run_fault(run, w, lane, insn, PTX_BAD_BARRIER, 0,
                         "barrier %u for %u threads: a multiple of 32, at "
                         "most the block's", id, expected);
  ptx_barrier *b = &run->barriers[id];
  if (b->arrived && b->expected != expected)
    return ptx_run_fault(run, w, lane, insn, PTX_BAD_BARRIER, 0,
                         "barrier %u for %u threads, others wait there for %u",
                         id, expected, b->expected);
  b->expected = expected;
  b->arrived++;
  /* Counts are in whole warps; the lanes that a last warp lacks come along
   * with its first one. */
  if (counted && lane == 0)
    b->arrived += PTX_LANES - (uint32_t)__builtin_popcount(w->members);
  if (insn->word != PTX_WORD_COUNT) {
    b->voters++;
    b->set += ptx_predicate(w, insn, 3) >> lane & 1;
  }
  *which = id;
  return true;
}

bool ptx_barrier_arrive(ptx_run *run, ptx_warp *w, uint32_t pc, uint32_t mask)
{
  const ptx_insn *insn = ptx_insn_at(run, pc);
  bool arrives_only = insn->carry_out;
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    unsigned id = 0;
    if (!arrive_one(run, w, insn, l, &id))
      return false;
    w->pc[l] = arrives_only ? pc + 1 : pc;
    w->barrier[l] = (uint8_t)id;
    if (!arrives_only)
      w->at_barrier |= UINT32_C(1) << l;
    if (run->barriers[id].arrived == run->barriers[id].expected &&
        !open_barrier(run, id))
      return false;
  }
  return true;
}

/* What keeps a thread, for the end of a sentence. */
static void describe(const ptx_run *run, const ptx_warp *w, int lane,
                     char *text, size_t size)
{
  uint32_t bit = UINT32_C(1) << lane, thread[3];
  ptx_thread_of(run, w, lane, thread);
  int length = snprintf(text, size, "thread (%u,%u,%u) ", thread[0], thread[1],
                        thread[2]);
  text += length;
  size -= (size_t)length;
  if (!(w->live & bit))
    snprintf(text, size, "has exited");
  else if (w->at_barrier & bit)
    snprintf(text, size, "waits at barrier %u in line %u", w->barrier[lane],
             ptx_insn_at(run, w->pc[lane])->line);
  else
    snprintf(text, size, "waits in line %u",
             ptx_insn_at(run, w->pc[lane])->line);
}

/* The member mask of a lane that waits at a .sync instruction. */
static uint32_t member_mask(const ptx_run *run, const ptx_warp *w, int lane)
{
  const ptx_insn *insn = ptx_insn_at(run, w->pc[lane]);
  return ((const uint32_t *)ptx_at(w, insn->operand[insn->target]))[lane];
}

static bool stuck_sync(ptx_run *run, ptx_warp *w)
{
  int lane = __builtin_ctz(w->syncing);
  uint32_t members = member_mask(run, w, lane), away = 0;
  for (int l = 0; l < PTX_LANES; l++)
    if ((members & w->live) >> l & 1 &&
        (!(w->syncing >> l & 1) || w->pc[l] != w->pc[lane] ||
         member_mask(run, w, l) != members))
      away |= UINT32_C(1) << l;
  char what[128] = "the others have exited";
  if (away)
    describe(run, w, __builtin_ctz(away), what, sizeof what);
  return ptx_run_fault(run, w, lane, ptx_insn_at(run, w->pc[lane]),
                       PTX_INACTIVE_LANE, 0,
                       "waits for all lanes of 0x%08x, but %s", members, what);
}

/* A thread that does not wait at barrier id; false when all do. */
static bool find_absent(const ptx_run *run, unsigned id, unsigned *warp,
                        int *lane)
{
  for (*warp = 0; *warp < run->warp_count; (*warp)++) {
    const ptx_warp *w = &run->warps[*warp];
    for (*lane = 0; *lane < PTX_LANES; (*lane)++)
      if (w->members >> *lane & 1 &&
          (!(w->at_barrier >> *lane & 1) || w->barrier[*lane] != id))
        return true;
  }
  return false;
}

static bool stuck_barrier(ptx_run *run, ptx_warp *w)
{
  int lane = __builtin_ctz(w->at_barrier), other;
  unsigned id = w->barrier[lane], warp;
  char what[128] = "no other thread is left";
  if (find_absent(run, id, &warp, &other))
    describe(run, &run->warps[warp], other, what, sizeof what);
  return ptx_run_fault(run, w, lane, ptx_insn_at(run, w->pc[lane]),
                       PTX_BAD_BARRIER, 0,
                       "barrier %u was reached by %u of %u threads: %s", id,
                       run->barriers[id].arrived, run->barriers[id].expected,
                       what);
}

bool ptx_run_stuck(ptx_run *run)
{
  for (unsigned i = 0; i < run->warp_count; i++)
    if (run->warps[i].syncing)
      return stuck_sync(run, &run->warps[i]);
  for (unsigned i = 0; i < run->warp_count; i++)
    if (run->warps[i].at_barrier)
      return stuck_barrier(run, &run->warps[i]);
  return true;
}
