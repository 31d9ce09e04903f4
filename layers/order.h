/* Which accesses happen before which: a vector clock for each agent (a
 * stream), and for each piece of memory who read and wrote which bytes last.
 * Knows nothing of CUDA. Callers exclude each other, but for accesses to
 * different shadows. */
#ifndef TN_LAYERS_ORDER_H
#define TN_LAYERS_ORDER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define ORDER_AGENTS 4096 /* at a time */

/* For each agent, up to which of its steps all is known to be done. */
typedef struct order_clock {
  uint32_t count;
  uint32_t *steps; /* [count]; beyond it, 0 */
} order_clock;

/* False without memory; `into` is then as before. */
bool order_join(order_clock *into, const order_clock *other);
bool order_note(order_clock *clock, uint32_t agent, uint32_t step);
void order_clock_free(order_clock *clock);

static inline uint32_t order_known(const order_clock *clock, uint32_t agent)
{
  return agent < clock->count ? clock->steps[agent] : 0;
}

typedef enum order_kind { ORDER_READ, ORDER_WRITE, ORDER_ATOMIC } order_kind;

/* One step of an agent, and what it knows. `tag` is the caller's, for
 * reports. */
typedef struct order_step {
  uint32_t agent, step, tag;
  const order_clock *clock;
} order_step;

/* Who else accessed a byte, unordered. */
typedef struct order_conflict {
  uint32_t agent, step, tag;
  order_kind kind;
  uint64_t offset;
} order_conflict;

typedef struct order_shadow order_shadow;

/* Of `bytes` of memory; NULL without memory. */
order_shadow *order_shadow_make(uint64_t bytes);
void order_shadow_free(order_shadow *shadow);

/* Notes an access to [offset, offset + bytes), which lies within. False when
 * there is one by another agent that is neither before nor after it, and one
 * of both writes (two atomic ones agree); the first such byte is told. */
bool order_access(order_shadow *shadow, const order_step *by, order_kind kind,
                  uint64_t offset, uint64_t bytes, order_conflict *conflict);

#endif
