#include "layers/order.h"

#include <stdlib.h>
#include <string.h>

/* Memory is looked at in cells of 64 bytes, the bytes of a mask. Each keeps a
 * few accesses; with more, ones that are ordered before the new one go first.
 * So a conflict may be missed, but none is made up. */
enum { CELL = 64, KEPT = 4 };

typedef struct access {
  uint64_t mask; /* bytes; 0: none */
  uint32_t step, tag;
  uint16_t agent;
  uint8_t kind;
} access;

typedef struct cell {
  access kept[KEPT];
} cell;

struct order_shadow {
  cell *cells; /* zero pages until touched */
};

static bool grow(order_clock *clock, uint32_t count)
{
  if (count <= clock->count) return true;
  uint32_t *steps = realloc(clock->steps, count * sizeof *steps);
  if (!steps) return false;
  memset(steps + clock->count, 0, (count - clock->count) * sizeof *steps);
  clock->steps = steps;
  clock->count = count;
  return true;
}

bool order_join(order_clock *into, const order_clock *other)
{
  if (!grow(into, other->count)) return false;
  for (uint32_t i = 0; i < other->count; i++)
    if (other->steps[i] > into->steps[i]) into->steps[i] = other->steps[i];
  return true;
}

bool order_note(order_clock *clock, uint32_t agent, uint32_t step)
{
  if (!grow(clock, agent + 1)) return false;
  if (clock->steps[agent] < step) clock->steps[agent] = step;
  return true;
}

void order_clock_free(order_clock *clock)
{
  free(clock->steps);
  *clock = (order_clock){ 0, NULL };
}

order_shadow *order_shadow_make(uint64_t bytes)
{
  order_shadow *shadow = malloc(sizeof *shadow);
  if (!shadow) return NULL;
  shadow->cells = calloc((size_t)(bytes / CELL + 1), sizeof *shadow->cells);
  if (shadow->cells) return shadow;
  free(shadow);
  return NULL;
}

void order_shadow_free(order_shadow *shadow)
{
  if (!shadow) return;
  free(shadow->cells);
  free(shadow);
}

static bool is_before(const access *a, const order_step *by)
{
  return a->agent == by->agent || order_known(by->clock, a->agent) >= a->step;
}

static bool clashes(const access *a, order_kind kind)
{
  if (a->kind == ORDER_READ && kind == ORDER_READ) return false;
  return !(a->kind == ORDER_ATOMIC && kind == ORDER_ATOMIC);
}

static bool is_same(const access *a, const order_step *by, order_kind kind)
{
  return a->agent == by->agent && a->step == by->step && a->kind == kind;
}

/* Whoever comes after the new access need not be compared with the old one:
 * a write stands for all before it, a read for reads. */
static void supersede(access *a, order_kind kind, uint64_t mask)
{
  if (kind == ORDER_WRITE || a->kind == ORDER_READ) a->mask &= ~mask;
}

static access *room_for(cell *c, const order_step *by)
{
  for (int i = 0; i < KEPT; i++)
    if (!c->kept[i].mask) return c->kept + i;
  for (int i = 0; i < KEPT; i++)
    if (is_before(c->kept + i, by)) return c->kept + i;
  return c->kept + by->step % KEPT;
}

static const access *visit(cell *c, const order_step *by, order_kind kind,
                           uint64_t mask)
{
  const access *clash = NULL;
  access *same = NULL;
  for (int i = 0; i < KEPT; i++) {
    access *a = c->kept + i;
    if (!a->mask) continue;
    if (is_same(a, by, kind)) {
      if ((a->mask & mask) == mask) return NULL;
      same = a;
    } else if (!(a->mask & mask)) {
      continue;
    } else if (is_before(a, by)) {
      supersede(a, kind, mask);
    } else if (clashes(a, kind) && !clash) {
      clash = a;
    }
  }
  if (clash) return clash;
  if (!same) {
    same = room_for(c, by);
    *same = (access){ .step = by->step, .tag = by->tag, .kind = (uint8_t)kind,
                      .agent = (uint16_t)by->agent };
  }
  same->mask |= mask;
  return NULL;
}

bool order_access(order_shadow *shadow, const order_step *by, order_kind kind,
                  uint64_t offset, uint64_t bytes, order_conflict *conflict)
{
  for (uint64_t at = offset, end = offset + bytes; at < end;) {
    uint64_t in = at % CELL, count = CELL - in;
    if (count > end - at) count = end - at;
    uint64_t mask = (UINT64_MAX >> (CELL - count)) << in;
    const access *a = visit(shadow->cells + at / CELL, by, kind, mask);
    if (a) {
      *conflict = (order_conflict){
        .agent = a->agent, .step = a->step, .tag = a->tag,
        .kind = (order_kind)a->kind,
        .offset = at - in + (uint64_t)__builtin_ctzll(a->mask & mask),
      };
      return false;
    }
    at += count;
  }
  return true;
}
