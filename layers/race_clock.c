#include "layers/race_clock.h"

#include <stdlib.h>
#include <string.h>

race_agent race_host = { RACE_HOST, 0, { 0, NULL } };

/* Agents ---------------------------------------------------------------- */

/* Steps of an agent go on when another stream takes its number. */
static race_agent *idle[ORDER_AGENTS];
static uint32_t idle_count, made = 1;

bool race_agent_begin(forward_stream *stream)
{
  race_agent *agent = NULL;
  if (idle_count) agent = idle[--idle_count];
  else if (made < ORDER_AGENTS && (agent = calloc(1, sizeof *agent)))
    agent->number = made++;
  stream->data = agent;
  return agent != NULL;
}

void race_agent_end(forward_stream *stream)
{
  race_agent *agent = stream->data;
  if (!agent) return;
  race_learn(&agent->clock);
  stream->data = NULL;
  idle[idle_count++] = agent;
}

race_agent *race_agent_of(forward_stream *stream)
{
  return stream && stream->data ? stream->data : &race_host;
}

void race_step(race_agent *agent)
{
  if (agent != &race_host) order_join(&agent->clock, &race_host.clock);
  order_note(&agent->clock, agent->number, ++agent->step);
}

void race_learn(const order_clock *clock)
{
  order_join(&race_host.clock, clock);
}

/* Points ---------------------------------------------------------------- */

typedef struct known_point {
  struct known_point *next;
  const forward_backend *backend;
  tn_point point;
  unsigned asked;
  unsigned holders; /* a backend may give equal points for one moment */
  order_clock clock;
} known_point;

enum { SLOTS = 4096, HELD_BACK = 8 };
static known_point *points[SLOTS];

static known_point **find(const forward_backend *backend,
                          const tn_point *point)
{
  uint64_t hash = (point->word[0] * UINT64_C(0x9e3779b97f4a7c15)) ^
                  (point->word[1] * UINT64_C(0xd1342543de82ef95));
  known_point **at = points + (hash >> 40) % SLOTS;
  while (*at && ((*at)->backend != backend ||
                 (*at)->point.word[0] != point->word[0] ||
                 (*at)->point.word[1] != point->word[1]))
    at = &(*at)->next;
  return at;
}

void race_point_recorded(const forward_backend *backend,
                         const tn_point *point, const race_agent *agent)
{
  known_point **at = find(backend, point);
  if (!*at) {
    *at = calloc(1, sizeof **at);
    if (!*at) return;
    (*at)->backend = backend;
    (*at)->point = *point;
  }
  (*at)->holders++;
  order_join(&(*at)->clock, &agent->clock);
}

void race_point_released(const forward_backend *backend,
                         const tn_point *point)
{
  known_point **at = find(backend, point);
  known_point *known = *at;
  if (!known || --known->holders) return;
  *at = known->next;
  order_clock_free(&known->clock);
  free(known);
}

const order_clock *race_point_clock(const forward_backend *backend,
                                    const tn_point *point)
{
  const known_point *known = *find(backend, point);
  return known ? &known->clock : NULL;
}

bool race_point_holds_back(const forward_backend *backend,
                           const tn_point *point)
{
  known_point *known = *find(backend, point);
  if (!known || known->asked == HELD_BACK) return false;
  for (uint32_t i = 0; i < known->clock.count; i++)
    if (known->clock.steps[i] > order_known(&race_host.clock, i)) {
      known->asked++;
      return true;
    }
  return false;
}
