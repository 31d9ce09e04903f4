#include "backends/cpu/graph_run.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/control_word.h"
#include "backends/cpu/park.h"
#include "backends/cpu/workers.h"

#define TIMED_RUNS 3       /* the least of so many times counts */
#define SPLIT_TIME 3000.0f /* ns of a node, from which it is cut in pieces */
#define PIECE_TIME 1500.0f /* ns, of the shortest piece */
#define PIECES_EACH 4      /* at most, for each thread */
#define TEAM_TIME 60000.0f /* ns in split nodes that pay for waking a helper */
#define TURNS_EACH 8       /* how often a helper may come, or come again */
#define STALL_TIME 50000   /* ns beyond what two pieces take */
#define ALONE_MOST 63      /* runs without helpers after stalls */

typedef struct node_plan {
  float time; /* ns of one thread, 0: not known */
  int32_t pieces; /* 0: run by one thread */
} node_plan;

struct tn_cpu_plan {
  uint32_t timed; /* runs */
  uint32_t alone, rest; /* runs without helpers: to come, and chosen last */
  float shared;   /* ns in nodes that are split */
  uint32_t count;
  node_plan nodes[];
};

/* A run on several threads, on the stack of its driver. The others take
 * pieces of the node that is announced, from its end, while the driver takes
 * them from its begin: so each thread meets much the same part of one node
 * after the other, which is in its caches. A helper that lost its processor
 * holds all up; then the driver goes on alone, and does so for some more
 * runs. */
typedef struct team {
  const tn_cpu_recording *recording;
  tn_cpu_plan *plan;
  const void *driver; /* a mark of its thread */
  bool is_urgent, is_over, is_stalled;
  float left; /* ns in split nodes to come */
  uint32_t helped; /* pieces that others took; `done` when they are complete */
  /* The node's number + 1, the first piece not taken, and the last + 1. */
  _Alignas(64) _Atomic uint64_t ticket;
  _Atomic uint32_t changes; /* of the ticket, to sleep on */
  _Atomic uint32_t sleeping;
  _Alignas(64) _Atomic uint32_t done; /* pieces of others */
  _Atomic uint32_t driver_sleeps;
} team;

#define TICKET(node, begin, end)                                     \
  ((uint64_t)(node) << 32 | (uint64_t)(begin) << 16 | (uint64_t)(end))
#define TICKET_OVER UINT64_MAX
#define TICKET_BEGIN(ticket) ((uint32_t)((ticket) >> 16 & 0xffff))
#define TICKET_END(ticket) ((uint32_t)((ticket) & 0xffff))

static _Thread_local char thread_mark
  __attribute__((tls_model("initial-exec")));

tn_cpu_plan *tn_cpu_plan_new(uint32_t count)
{
  tn_cpu_plan *plan =
    calloc(1, sizeof *plan + (size_t)count * sizeof *plan->nodes);
  if (plan) plan->count = count;
  return plan;
}

void tn_cpu_plan_free(tn_cpu_plan *plan)
{
  free(plan);
}

/* --- on one thread --- */

static inline void node_run(const tn_cpu_node *node)
{
  if (node->run)
    node->run((tn_range){ 0, INT64_MAX }, node->slots);
  else if (node->command)
    node->command->run(node->command);
}

static void run_alone(const tn_cpu_recording *recording)
{
  const tn_cpu_node *end = recording->nodes + recording->count;
  for (const tn_cpu_node *node = recording->nodes; node < end; node++)
    node_run(node);
}

/* --- times and pieces --- */

static int32_t pieces_of(const tn_cpu_node *node, float time)
{
  int64_t threads = tn_cpu_workers_count(), most = threads * PIECES_EACH;
  if (!node->run || time < SPLIT_TIME) return 0;
  if (most > (int64_t)(time / PIECE_TIME)) most = (int64_t)(time / PIECE_TIME);
  if (most > threads) most -= most % threads; /* as many for each */
  if (most > node->items) most = node->items;
  if (most > UINT16_MAX) most = UINT16_MAX;
  return most > 1 ? (int32_t)most : 0;
}

static void plan_make(tn_cpu_plan *plan, const tn_cpu_recording *recording)
{
  plan->shared = 0;
  for (uint32_t i = 0; i < plan->count; i++) {
    node_plan *node = &plan->nodes[i];
    node->pieces = pieces_of(&recording->nodes[i], node->time);
    if (node->pieces) plan->shared += node->time;
  }
}

static void run_timed(const tn_cpu_recording *recording, tn_cpu_plan *plan)
{
  uint64_t before = tn_cpu_clock();
  for (uint32_t i = 0; i < plan->count; i++) {
    node_run(&recording->nodes[i]);
    uint64_t now = tn_cpu_clock();
    float time = (float)(now - before);
    if (!plan->timed || time < plan->nodes[i].time)
      plan->nodes[i].time = time;
    before = now;
  }
  if (++plan->timed == TIMED_RUNS) plan_make(plan, recording);
}

/* --- on several --- */

/* Pieces end where those of the cpu's launches do: at whole lines. */
static int64_t piece_begin(int64_t items, int64_t pieces, int64_t piece)
{
  int64_t each = items / pieces, rest = items % pieces;
  int64_t step = each >= 8192 ? 1024 : each >= 256 ? 64 : 1;
  int64_t at = piece * each + (piece < rest ? piece : rest);
  return at - at % step;
}

static void piece_run(const tn_cpu_node *node, int64_t pieces, int64_t piece)
{
  int64_t begin = piece_begin(node->items, pieces, piece);
  int64_t end = piece + 1 == pieces
                  ? INT64_MAX
                  : piece_begin(node->items, pieces, piece + 1);
  if (begin < end) node->run((tn_range){ begin, end }, node->slots);
}

static bool piece_take_first(team *t, uint32_t *piece)
{
  uint64_t ticket = atomic_load_explicit(&t->ticket, memory_order_relaxed);
  do {
    if (TICKET_BEGIN(ticket) >= TICKET_END(ticket)) return false;
    *piece = TICKET_BEGIN(ticket);
  } while (!atomic_compare_exchange_weak_explicit(
    &t->ticket, &ticket, ticket + TICKET(0, 1, 0), memory_order_relaxed,
    memory_order_relaxed));
  return true;
}

/* Makes what the others wait for known. */
static void announce(team *t, uint64_t ticket, bool is_worth_waking)
{
  atomic_store_explicit(&t->ticket, ticket, memory_order_release);
  atomic_fetch_add(&t->changes, 1);
  if (atomic_load(&t->sleeping) > 0 && is_worth_waking)
    tn_cpu_unpark(&t->changes, INT_MAX);
}

/* Sleeps until more pieces of others are complete, or looks again. */
static void helped_sleep(team *t, uint32_t done)
{
  atomic_store(&t->driver_sleeps, 1);
  if (atomic_load(&t->done) == done)
    tn_cpu_park(&t->done, done, TN_CPU_NO_DEADLINE);
  atomic_store(&t->driver_sleeps, 0);
}

static void helped_await(team *t, float piece_time)
{
  tn_cpu_spin spin = { 0 };
  uint64_t start = 0;
  uint32_t done;
  while ((done = atomic_load(&t->done)) != t->helped) {
    if (tn_cpu_spin_again(&spin)) continue;
    if (!start) start = tn_cpu_clock();
    helped_sleep(t, done);
  }
  if (start && (float)(tn_cpu_clock() - start) > 2 * piece_time + STALL_TIME)
    t->is_stalled = true;
}

static void node_share(team *t, uint32_t number)
{
  const tn_cpu_node *node = &t->recording->nodes[number];
  const node_plan *plan = &t->plan->nodes[number];
  uint32_t pieces = (uint32_t)plan->pieces, piece, own = 0;
  announce(t, TICKET(number + 1, 0, pieces), t->left > TEAM_TIME);
  for (; piece_take_first(t, &piece); own++) piece_run(node, pieces, piece);
  t->left -= plan->time;
  t->helped += pieces - own;
  helped_await(t, plan->time / (float)pieces);
}

static void drive(team *t)
{
  const tn_cpu_plan *plan = t->plan;
  for (uint32_t i = 0; i < plan->count; i++)
    if (plan->nodes[i].pieces && !t->is_stalled)
      node_share(t, i);
    else
      node_run(&t->recording->nodes[i]);
  t->is_over = true;
  announce(t, TICKET_OVER, true);
}

/* One piece from the end of the node that is announced; false: there is
 * none. */
static bool piece_help(team *t, uint64_t ticket)
{
  if (ticket == TICKET_OVER || TICKET_BEGIN(ticket) >= TICKET_END(ticket) ||
      !atomic_compare_exchange_strong_explicit(&t->ticket, &ticket, ticket - 1,
                                               memory_order_acquire,
                                               memory_order_relaxed))
    return false;
  uint32_t number = (uint32_t)(ticket >> 32) - 1;
  piece_run(&t->recording->nodes[number], t->plan->nodes[number].pieces,
            TICKET_END(ticket) - 1);
  atomic_fetch_add(&t->done, 1);
  if (atomic_load(&t->driver_sleeps)) tn_cpu_unpark(&t->done, 1);
  return true;
}

static void help(team *t)
{
  tn_cpu_spin spin = { 0 };
  while (!tn_cpu_workers_step_back(t->is_urgent)) {
    uint32_t seen = atomic_load(&t->changes);
    uint64_t ticket = atomic_load_explicit(&t->ticket, memory_order_acquire);
    if (ticket == TICKET_OVER) return;
    if (piece_help(t, ticket)) {
      spin = (tn_cpu_spin){ 0 };
      continue;
    }
    if (tn_cpu_spin_again(&spin)) continue;
    atomic_fetch_add(&t->sleeping, 1);
    if (atomic_load(&t->changes) == seen)
      tn_cpu_park(&t->changes, seen, TN_CPU_NO_DEADLINE);
    atomic_fetch_sub(&t->sleeping, 1);
  }
}

/* What the helpers are given to run: any turns of it. The first ones are the
 * driver's, so nobody waits for one that never comes. */
static void take_part(tn_range turns, const uint64_t *slots)
{
  team *t = (team *)(uintptr_t)*slots;
  (void)turns;
  if (t->driver != &thread_mark)
    help(t);
  else if (!t->is_over)
    drive(t);
}

static void run_together(const tn_cpu_recording *recording, tn_cpu_plan *plan,
                         bool is_urgent)
{
  team t = { .recording = recording, .plan = plan, .driver = &thread_mark,
             .is_urgent = is_urgent, .left = plan->shared };
  uint64_t slot = (uintptr_t)&t;
  int64_t turns = (int64_t)tn_cpu_workers_count() * TURNS_EACH;
  const tn_cpu_work work = { take_part, &slot, 0, turns,
                             (double)plan->shared / (double)turns,
                             is_urgent };
  tn_cpu_workers_run(&work);
  if (!t.is_stalled)
    plan->rest = 0;
  else if (plan->rest < ALONE_MOST)
    plan->rest = 2 * plan->rest + 1;
  plan->alone = plan->rest;
}

void tn_cpu_graph_run(const tn_cpu_recording *recording, tn_cpu_plan *plan,
                      bool is_urgent)
{
  if (tn_cpu_workers_count() < 2)
    run_alone(recording);
  else if (plan->timed < TIMED_RUNS)
    run_timed(recording, plan);
  else if (plan->shared < TEAM_TIME)
    run_alone(recording);
  else if (plan->alone > 0) {
    plan->alone--;
    run_alone(recording);
  } else
    run_together(recording, plan, is_urgent);
}

void tn_cpu_graph_run_inline(const tn_cpu_recording *recording,
                             tn_cpu_plan *plan, bool is_urgent)
{
  bool differs = !tn_cpu_control_is_standard();
  uint64_t word = differs ? tn_cpu_control_get() : 0;
  if (differs) tn_cpu_control_set(TN_CPU_CONTROL_STANDARD);
  tn_cpu_workers_enter();
  tn_cpu_graph_run(recording, plan, is_urgent);
  tn_cpu_workers_leave();
  if (differs) tn_cpu_control_set(word);
}
