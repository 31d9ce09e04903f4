/* Who knows what is done: an agent for each stream, one for the host with all
 * its threads (its reasons: tests/cudaemu/host.h), and what points stand for.
 * Callers exclude each other. */
#ifndef TN_LAYERS_RACE_CLOCK_H
#define TN_LAYERS_RACE_CLOCK_H

#include "layers/forward.h"
#include "layers/order.h"

#define RACE_HOST 0 /* the host's agent */

typedef struct race_agent {
  uint32_t number, step;
  order_clock clock;
} race_agent;

extern race_agent race_host;

/* Of a new stream; false without memory or beyond ORDER_AGENTS. */
bool race_agent_begin(forward_stream *stream);
/* Its work is known to be done. */
void race_agent_end(forward_stream *stream);

/* The stream's agent, or the host's where work has run when its call
 * returns. */
race_agent *race_agent_of(forward_stream *stream);

/* One more step of it, after all the host knows. */
void race_step(race_agent *agent);

/* The host learns what the clock knows. */
void race_learn(const order_clock *clock);

void race_point_recorded(const forward_backend *backend,
                         const tn_point *point, const race_agent *agent);
void race_point_released(const forward_backend *backend,
                         const tn_point *point);
/* Whether a query may not yet tell the host that the point was passed: the
 * first few answer that it was not, so that what is found does not hang on how
 * fast the work was. Never where the host knows. */
bool race_point_holds_back(const forward_backend *backend,
                           const tn_point *point);

/* NULL: unknown. */
const order_clock *race_point_clock(const forward_backend *backend,
                                    const tn_point *point);

#endif
