/* The happens-before engine against plain bookkeeping: what it reports is so,
 * and it misses next to nothing. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/order.h"
#include "tests/tap.h"

enum { AGENTS = 3, STEPS = 40, BYTES = 160, TRACES = 20000 };

typedef struct past {
  uint32_t agent, step;
  order_kind kind;
  uint64_t from, to;
} past;

static uint64_t seed;

static uint32_t draw(uint32_t below)
{
  seed = seed * UINT64_C(6364136223846793005) + 1442695040888963407u;
  return (uint32_t)((seed >> 33) % below);
}

static bool clashes(const past *a, const past *b, uint32_t known)
{
  bool both_read = a->kind == ORDER_READ && b->kind == ORDER_READ;
  bool both_atomic = a->kind == ORDER_ATOMIC && b->kind == ORDER_ATOMIC;
  return a->agent != b->agent && known < a->step && a->from < b->to &&
         b->from < a->to && !both_read && !both_atomic;
}

typedef struct trace {
  order_clock clocks[AGENTS];
  uint32_t known[AGENTS][AGENTS]; /* the same, plainly */
  past pasts[STEPS];
  int count;
  order_shadow *shadow;
} trace;

/* Agent a learns what b knows and did. */
static void learn(trace *t, uint32_t a, uint32_t b)
{
  order_join(&t->clocks[a], &t->clocks[b]);
  for (int i = 0; i < AGENTS; i++)
    if (t->known[b][i] > t->known[a][i]) t->known[a][i] = t->known[b][i];
}

/* 0: no conflict and none reported, 1: reported rightly, 2: missed,
 * -1: made up. */
static int access(trace *t)
{
  past *now = &t->pasts[t->count];
  uint32_t a = draw(AGENTS), step = ++t->known[a][a];
  order_note(&t->clocks[a], a, step);
  uint64_t from = draw(BYTES - 40);
  *now = (past){ a, step, (order_kind)draw(3), from, from + 1 + draw(40) };
  bool is_conflict = false, is_named = false;
  order_step by = { a, step, step, &t->clocks[a] };
  order_conflict told;
  bool is_fine = order_access(t->shadow, &by, now->kind, now->from,
                              now->to - now->from, &told);
  for (int i = 0; i < t->count; i++) {
    const past *p = &t->pasts[i];
    if (!clashes(p, now, t->known[a][p->agent])) continue;
    is_conflict = true;
    is_named = is_named || (!is_fine && p->agent == told.agent &&
                            p->step == told.step && p->kind == told.kind &&
                            told.offset >= p->from && told.offset < p->to &&
                            told.offset >= now->from && told.offset < now->to);
  }
  t->count++;
  if (is_fine) return is_conflict ? 2 : 0;
  return is_named ? 1 : -1;
}

/* Until the first conflict. */
static int run(void)
{
  trace t = { .shadow = order_shadow_make(BYTES) };
  int result = t.shadow ? 0 : -1;
  while (result == 0 && t.count < STEPS) {
    for (uint32_t n = draw(4); n > 0; n--) learn(&t, draw(AGENTS),
                                                 draw(AGENTS));
    result = access(&t);
  }
  for (int i = 0; i < AGENTS; i++) order_clock_free(&t.clocks[i]);
  order_shadow_free(t.shadow);
  return result;
}

int main(void)
{
  int counts[4] = { 0 };
  seed = 20261130;
  tap_note("seed %llu", (unsigned long long)seed);
  for (int i = 0; i < TRACES; i++) counts[run() + 1]++;
  tap_is_int(counts[0], 0, "no conflict of %d traces is made up", TRACES);
  tap_ok(counts[2] > TRACES / 4, "%d are found", counts[2]);
  tap_ok(counts[3] * 50 <= counts[2], "at most one in 50 is missed: %d",
         counts[3]);
  return tap_done();
}
