/* What the lanes of a warp do together: the .sync instructions.  Each names
 * its members; those wait until all that have not exited are there. */
#include "tests/cudaemu/ptx/run.h"

#include <string.h>

static const uint32_t *words(const ptx_warp *w, const ptx_insn *insn, int i)
{
  return ptx_at(w, insn->operand[i]);
}

/* Where lane l reads from, and whether that is within its segment. */
static int shuffle_source(ptx_word kind, int l, uint32_t b, uint32_t c,
                          bool *within)
{
  int by = (int)(b & 31), clamp = (int)(c & 31), segment = (int)(c >> 8 & 31);
  int last = (l & segment) | (clamp & ~segment), from;
  switch (kind) {
  case PTX_WORD_up:
    from = l - by;
    *within = from >= last;
    break;
  case PTX_WORD_down:
    from = l + by;
    *within = from <= last;
    break;
  case PTX_WORD_bfly:
    from = l ^ by;
    *within = from <= last;
    break;
  default:
    from = (l & segment) | (by & ~segment);
    *within = from <= last;
  }
  return *within ? from : l;
}

static bool do_shuffle(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                       uint32_t mask)
{
  const uint32_t *a = words(w, insn, 2);
  const uint32_t *b = words(w, insn, 3), *c = words(w, insn, 4);
  uint32_t values[PTX_LANES], inside = 0;
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    bool within;
    int from = shuffle_source((ptx_word)insn->word, l, b[l], c[l], &within);
    if (!(mask >> from & 1))
      return ptx_run_fault(run, w, l, insn, PTX_INACTIVE_LANE, 0,
                           "reads lane %d, which does not take part "
                           "(lanes 0x%08x do)", from, mask);
    values[l] = a[from];
    inside |= (uint32_t)within << l;
  }
  ptx_keep(ptx_at(w, insn->operand[0]), values, 4, mask);
  if (insn->operand[1] != PTX_NONE)
    ptx_set_predicate(w, insn->operand[1], inside, mask);
  return true;
}

static void spread(ptx_warp *w, const ptx_insn *insn, uint32_t value,
                   uint32_t mask)
{
  uint32_t values[PTX_LANES];
  for (int l = 0; l < PTX_LANES; l++)
    values[l] = value;
  ptx_keep(ptx_at(w, insn->operand[0]), values, 4, mask);
}

static void do_vote(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint32_t yes = ptx_predicate(w, insn, 1) & mask;
  bool result = insn->word == PTX_WORD_any   ? yes != 0
                : insn->word == PTX_WORD_all ? yes == mask
                                             : yes == mask || !yes;
  if (insn->word == PTX_WORD_ballot)
    spread(w, insn, yes, mask);
  else
    ptx_set_predicate(w, insn->operand[0], result ? mask : 0, mask);
}

static void do_match(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  bool all = insn->word == PTX_WORD_all;
  const char *a = ptx_at(w, insn->operand[all ? 2 : 1]);
  size_t size = ptx_type_bytes((ptx_type)insn->type);
  uint32_t values[PTX_LANES], same = 0;
  for (int l = 0; l < PTX_LANES; l++) {
    values[l] = 0;
    for (int other = 0; other < PTX_LANES; other++)
      if (mask >> other & 1 &&
          memcmp(a + (size_t)l * size, a + (size_t)other * size, size) == 0)
        values[l] |= UINT32_C(1) << other;
    same |= (uint32_t)(values[l] == mask) << l;
    if (all && values[l] != mask)
      values[l] = 0;
  }
  ptx_keep(ptx_at(w, insn->operand[0]), values, 4, mask);
  if (all && insn->operand[1] != PTX_NONE)
    ptx_set_predicate(w, insn->operand[1], same, mask);
}

static uint32_t combine(const ptx_insn *insn, uint32_t x, uint32_t y)
{
  bool less = insn->type == PTX_s32 ? (int32_t)x < (int32_t)y : x < y;
  switch ((ptx_word)insn->word) {
  case PTX_WORD_add:
    return x + y;
  case PTX_WORD_min:
    return less ? x : y;
  case PTX_WORD_max:
    return less ? y : x;
  case PTX_WORD_and:
    return x & y;
  case PTX_WORD_or:
    return x | y;
  default:
    return x ^ y;
  }
}

static void do_redux(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  const uint32_t *a = words(w, insn, 1);
  uint32_t result = a[__builtin_ctz(mask)];
  for (uint32_t m = mask & (mask - 1); m; m &= m - 1)
    result = combine(insn, result, a[__builtin_ctz(m)]);
  spread(w, insn, result, mask);
}

static bool perform(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                    uint32_t mask)
{
  switch ((ptx_action)insn->action) {
  case PTX_DO_SHUFFLE:
    return do_shuffle(run, w, insn, mask);
  case PTX_DO_VOTE:
    do_vote(w, insn, mask);
    return true;
  case PTX_DO_MATCH:
    do_match(w, insn, mask);
    return true;
  case PTX_DO_REDUX:
    do_redux(w, insn, mask);
    return true;
  default: /* bar.warp.sync */
    w->epoch++;
    return true;
  }
}

/* The lanes of mask that name the same members as its first. */
static uint32_t same_members(const uint32_t *members, uint32_t mask)
{
  uint32_t first = members[__builtin_ctz(mask)], same = 0;
  for (uint32_t m = mask; m; m &= m - 1)
    if (members[__builtin_ctz(m)] == first)
      same |= m & (0 - m);
  return same;
}

bool ptx_sync_arrive(ptx_run *run, ptx_warp *w, uint32_t pc, uint32_t mask,
                     uint32_t *done)
{
  const ptx_insn *insn = ptx_insn_at(run, pc);
  const uint32_t *members = words(w, insn, (int)insn->target);
  uint32_t here = mask;
  for (uint32_t m = w->syncing; m; m &= m - 1)
    if (w->pc[__builtin_ctz(m)] == pc)
      here |= m & (0 - m);
  for (uint32_t left = here; left;) {
    int first = __builtin_ctz(left);
    uint32_t named = members[first], same = same_members(members, left);
    left &= ~same;
    if (same & ~named)
      return ptx_run_fault(run, w, __builtin_ctz(same & ~named), insn,
                           PTX_INACTIVE_LANE, 0,
                           "is not among its own members 0x%08x", named);
    if (named & w->live & ~same)
      continue;
    if (!perform(run, w, insn, same))
      return false;
    *done |= same;
  }
  w->syncing = (w->syncing | here) & ~*done;
  for (uint32_t m = here; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    w->pc[l] = *done >> l & 1 ? pc + 1 : pc;
  }
  return true;
}

bool ptx_sync_retry(ptx_run *run, ptx_warp *w, uint32_t *done)
{
  for (uint32_t left = w->syncing; left; left &= left - 1) {
    int l = __builtin_ctz(left);
    if (w->syncing >> l & 1 &&
        !ptx_sync_arrive(run, w, w->pc[l], 0, done))
      return false;
  }
  return true;
}
