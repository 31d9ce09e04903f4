/* One warp: which lanes run next, and instruction after instruction. */
#include "tests/cudaemu/ptx/run.h"

#include <string.h>
#include <time.h>

/* The lanes that run together now. */
typedef struct group {
  uint32_t mask;
  uint32_t pc;
  uint32_t stop; /* lowest counter of the others: where they may join */
} group;

typedef enum outcome {
  GO_ON,   /* with the next instruction */
  REGROUP, /* counters have been set, or lanes wait */
  FAULTED,
} outcome;

/* Adds one instruction of `size` lanes, a set bit each. */
static unsigned count_lanes(uint32_t mask)
{
  if (mask == UINT32_MAX)
    return PTX_LANES;
  mask -= mask >> 1 & 0x55555555;
  mask = (mask & 0x33333333) + (mask >> 2 & 0x33333333);
  return ((mask + (mask >> 4)) & 0x0f0f0f0f) * 0x01010101 >> 24;
}

void ptx_keep(void *d, const void *t, unsigned size, uint32_t mask)
{
  if (mask == UINT32_MAX) {
    memcpy(d, t, size * PTX_LANES);
    return;
  }
  for (; mask; mask &= mask - 1) {
    size_t at = (size_t)__builtin_ctz(mask) * size;
    unsigned char *to = (unsigned char *)d + at;
    const unsigned char *from = (const unsigned char *)t + at;
    switch (size) {
    case 2:
      memcpy(to, from, 2);
      break;
    case 4:
      memcpy(to, from, 4);
      break;
    default:
      memcpy(to, from, 8);
    }
  }
}

static const void *source(const ptx_warp *w, const ptx_insn *insn, int i)
{
  return insn->operand[i] == PTX_NONE ? NULL : ptx_at(w, insn->operand[i]);
}

static void do_lanes(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint64_t kept[PTX_LANES];
  void *d = ptx_at(w, insn->operand[0]);
  void *to = mask == UINT32_MAX ? d : kept;
  insn->how.lanes(to, source(w, insn, 1), source(w, insn, 2),
                  source(w, insn, 3), source(w, insn, 4));
  if (to != d)
    ptx_keep(d, kept, insn->size, mask);
}

static void do_clock(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                     uint32_t mask)
{
  uint64_t values[PTX_LANES], now = run->warp_steps;
  struct timespec t;
  if (insn->word == 3 && clock_gettime(CLOCK_MONOTONIC, &t) == 0)
    now = (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
  if (insn->word == 1)
    now >>= 32;
  for (int l = 0; l < PTX_LANES; l++) {
    if (insn->size == 8)
      values[l] = now;
    else {
      uint32_t low = (uint32_t)now;
      memcpy((uint32_t *)values + l, &low, 4);
    }
  }
  ptx_keep(ptx_at(w, insn->operand[0]), values, insn->size, mask);
}

static void do_active_mask(ptx_warp *w, const ptx_insn *insn, uint32_t mask)
{
  uint32_t values[PTX_LANES];
  for (int l = 0; l < PTX_LANES; l++)
    values[l] = mask;
  ptx_keep(ptx_at(w, insn->operand[0]), values, 4, mask);
}

static void set_counters(ptx_warp *w, uint32_t mask, uint32_t pc)
{
  for (; mask; mask &= mask - 1)
    w->pc[__builtin_ctz(mask)] = pc;
}

/* Lanes `taken` go to a target, the group's others on. */
static outcome jump(ptx_warp *w, group *g, uint32_t taken, uint32_t target)
{
  if (taken == g->mask) {
    g->pc = target - 1; /* the loop adds one */
    return GO_ON;
  }
  if (!taken)
    return GO_ON;
  set_counters(w, taken, target);
  set_counters(w, g->mask & ~taken, g->pc + 1);
  return REGROUP;
}

static outcome do_table(ptx_run *run, ptx_warp *w, group *g,
                        const ptx_insn *insn, uint32_t mask)
{
  const ptx_table *table = insn->how.table;
  const uint32_t *index = ptx_at(w, insn->operand[0]);
  set_counters(w, g->mask & ~mask, g->pc + 1);
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (index[l] >= table->count) {
      ptx_run_fault(run, w, l, insn, PTX_TRAPPED, 0,
                    "index %u of a table of %zu labels", index[l],
                    table->count);
      return FAULTED;
    }
    w->pc[l] = table->targets[index[l]];
  }
  return REGROUP;
}

static void transfer(const ptx_run *run, const ptx_warp *w, int lane,
                     const ptx_transfer *list, size_t count)
{
  for (size_t i = 0; i < count; i++)
    memmove(ptx_local_bytes(run, w, lane, list[i].to, list[i].size),
            ptx_local_bytes(run, w, lane, list[i].from, list[i].size),
            list[i].size);
}

static outcome do_call(const ptx_run *run, ptx_warp *w, group *g,
                       const ptx_insn *insn, uint32_t mask)
{
  const ptx_call *call = insn->how.call;
  set_counters(w, g->mask & ~mask, g->pc + 1);
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    transfer(run, w, l, call->arguments, call->argument_count);
    w->returns[w->depth[l]++][l] = g->pc;
    w->pc[l] = call->callee->begin;
  }
  return REGROUP;
}

static outcome do_return(const ptx_run *run, ptx_warp *w, group *g,
                         uint32_t mask)
{
  set_counters(w, g->mask & ~mask, g->pc + 1);
  for (uint32_t m = mask; m; m &= m - 1) {
    int l = __builtin_ctz(m);
    if (!w->depth[l]) {
      w->live &= ~(UINT32_C(1) << l);
      continue;
    }
    uint32_t from = w->returns[--w->depth[l]][l];
    const ptx_call *call = ptx_insn_at(run, from)->how.call;
    transfer(run, w, l, call->results, call->result_count);
    w->pc[l] = from + 1;
  }
  return mask ? REGROUP : GO_ON;
}

static outcome do_exit(ptx_warp *w, group *g, uint32_t mask)
{
  set_counters(w, g->mask & ~mask, g->pc + 1);
  w->live &= ~mask;
  return mask ? REGROUP : GO_ON;
}

static outcome do_sync(ptx_run *run, ptx_warp *w, group *g, uint32_t mask)
{
  uint32_t done = 0;
  if (!mask)
    return GO_ON;
  if (!ptx_sync_arrive(run, w, g->pc, mask, &done))
    return FAULTED;
  if (done == g->mask)
    return GO_ON;
  set_counters(w, g->mask & ~mask, g->pc + 1);
  return REGROUP;
}

static outcome do_barrier(ptx_run *run, ptx_warp *w, group *g, uint32_t mask)
{
  if (!mask)
    return GO_ON;
  set_counters(w, g->mask & ~mask, g->pc + 1);
  return ptx_barrier_arrive(run, w, g->pc, mask) ? REGROUP : FAULTED;
}

static outcome do_trap(ptx_run *run, ptx_warp *w, const ptx_insn *insn,
                       uint32_t mask)
{
  if (!mask)
    return GO_ON;
  ptx_run_fault(run, w, __builtin_ctz(mask), insn, PTX_TRAPPED, 0, "trap");
  return FAULTED;
}

/* Control and what lanes do together. */
static outcome do_control(ptx_run *run, ptx_warp *w, group *g,
                          const ptx_insn *insn, uint32_t mask)
{
  switch ((ptx_action)insn->action) {
  case PTX_DO_BRANCH:
    return jump(w, g, mask, insn->target);
  case PTX_DO_BRANCH_TABLE:
    return do_table(run, w, g, insn, mask);
  case PTX_DO_CALL:
    return do_call(run, w, g, insn, mask);
  case PTX_DO_RETURN:
    return do_return(run, w, g, mask);
  case PTX_DO_EXIT:
    return do_exit(w, g, mask);
  case PTX_DO_TRAP:
    return do_trap(run, w, insn, mask);
  case PTX_DO_BARRIER:
    return do_barrier(run, w, g, mask);
  case PTX_DO_READ_CLOCK:
    do_clock(run, w, insn, mask);
    return GO_ON;
  case PTX_DO_ACTIVE_MASK:
    do_active_mask(w, insn, mask);
    return GO_ON;
  case PTX_DO_NOTHING:
    return GO_ON;
  default:
    return do_sync(run, w, g, mask);
  }
}

static outcome execute(ptx_run *run, ptx_warp *w, group *g,
                       const ptx_insn *insn, uint32_t mask)
{
  switch ((ptx_action)insn->action) {
  case PTX_DO_LANES:
    do_lanes(w, insn, mask);
    return GO_ON;
  case PTX_DO_FLOAT:
    if (insn->flush || insn->saturate)
      ptx_do_float(w, insn, mask);
    else
      do_lanes(w, insn, mask);
    return GO_ON;
  case PTX_DO_LOAD:
    return ptx_do_load(run, w, insn, mask) ? GO_ON : FAULTED;
  case PTX_DO_STORE:
    return ptx_do_store(run, w, insn, mask) ? GO_ON : FAULTED;
  case PTX_DO_ATOMIC:
  case PTX_DO_REDUCE:
    return ptx_do_atomic(run, w, insn, mask) ? GO_ON : FAULTED;
#define SIMPLE(NAME, name)            \
  case PTX_DO_##NAME:                 \
    ptx_do_##name(w, insn, mask);     \
    return GO_ON;
  SIMPLE(COMPARE, compare)
  SIMPLE(SELECT, select)
  SIMPLE(CONVERT, convert)
  SIMPLE(ADDRESS, address)
  SIMPLE(IS_SPACE, is_space)
  SIMPLE(CARRY, carry)
  SIMPLE(TEST, test)
  SIMPLE(SET, set)
  SIMPLE(LOOKUP, lookup)
  SIMPLE(LOGIC, logic)
  SIMPLE(MOVE_PRED, logic)
  SIMPLE(PACK, pack)
  SIMPLE(UNPACK, unpack)
  SIMPLE(PACK_HALVES, pack_halves)
#undef SIMPLE
  default:
    return do_control(run, w, g, insn, mask);
  }
}

/* The lanes that can run: those with the lowest counter, or, so that all get
 * a turn, with the lowest one from `from` on. */
static group choose(const ptx_warp *w, uint32_t ready, uint32_t from)
{
  group g = { 0, UINT32_MAX, UINT32_MAX };
  for (int pass = 0; pass < 2 && !g.mask; pass++, from = 0)
    for (uint32_t m = ready; m; m &= m - 1) {
      int l = __builtin_ctz(m);
      if (w->pc[l] < from || w->pc[l] > g.pc)
        continue;
      g.mask = (w->pc[l] < g.pc ? 0 : g.mask) | UINT32_C(1) << l;
      g.pc = w->pc[l];
    }
  for (uint32_t m = ready & ~g.mask; m; m &= m - 1) {
    uint32_t pc = w->pc[__builtin_ctz(m)];
    if (pc > g.pc && pc < g.stop)
      g.stop = pc;
  }
  return g;
}

/* Runs a group until it changes; *turn counts down. */
static outcome run_group(ptx_run *run, ptx_warp *w, group *g, uint32_t *turn)
{
  outcome result = GO_ON;
  while (result == GO_ON && g->pc < g->stop && *turn) {
    const ptx_insn *insn = ptx_insn_at(run, g->pc);
    uint32_t mask = g->mask;
    if (insn->guard != PTX_NONE) {
      uint32_t p = *(const uint32_t *)ptx_at(w, insn->guard);
      mask &= insn->guard_inverted ? ~p : p;
    }
    (*turn)--;
    run->warp_steps++;
    run->lane_steps += count_lanes(mask);
    result = execute(run, w, g, insn, mask);
    g->pc += result == GO_ON;
  }
  if (result == GO_ON)
    set_counters(w, g->mask, g->pc);
  return result;
}

static bool check_limit(ptx_run *run, ptx_warp *w, const group *g)
{
  uint64_t limit = run->config->step_limit;
  if (!limit || run->warp_steps <= limit)
    return true;
  return ptx_run_fault(run, w, __builtin_ctz(g->mask), ptx_insn_at(run, g->pc),
                       PTX_TOO_MANY_STEPS, 0, "stopped after %llu steps",
                       (unsigned long long)limit);
}

/* Lanes that others wait for must not be kept from running by lanes that
 * spin at lower counters: after a while apart, those behind have a turn. */
bool ptx_warp_run(ptx_run *run, ptx_warp *w)
{
  uint32_t turn = run->turn, from = 0, apart = 0;
  while (turn) {
    uint32_t ready = w->live & ~w->at_barrier & ~w->syncing;
    if (!ready) {
      uint32_t done = 0;
      if (w->syncing && !ptx_sync_retry(run, w, &done))
        return false;
      if (!done)
        return true;
      continue;
    }
    group g = choose(w, ready, from);
    uint32_t left = turn < PTX_LANES_TURN ? turn : PTX_LANES_TURN;
    turn -= left;
    apart += left;
    if (run_group(run, w, &g, &left) == FAULTED || !check_limit(run, w, &g))
      return false;
    turn += left;
    apart = g.mask == ready ? 0 : apart - left;
    bool enough = apart >= PTX_LANES_TURN;
    from = enough ? g.pc + 1 : 0;
    apart = enough ? 0 : apart;
  }
  return true;
}
