#include "config.h"

#include "core/memory/uses.h"

#include <stdlib.h>

#include "core/base/error.h"

static tn_status reserve(tn_uses *uses)
{
  if (uses->count < uses->capacity) return TN_OK;
  unsigned capacity = uses->capacity ? 2 * uses->capacity : 2;
  tn_use *larger = realloc(uses->items, capacity * sizeof *larger);
  if (!larger)
    return tn_error(TN_OUT_OF_MEMORY, "no memory to record a stream");
  uses->items = larger;
  uses->capacity = capacity;
  return TN_OK;
}

tn_status tn_uses_add(tn_uses *uses, const tn_stream *stream,
                      tn_moment *moment)
{
  for (unsigned i = 0; i < uses->count; i++) {
    if (uses->items[i].stream != stream) continue;
    tn_moment_release(uses->items[i].moment);
    uses->items[i].moment = moment;
    return TN_OK;
  }
  tn_status status = reserve(uses);
  if (status == TN_OK) uses->items[uses->count++] = (tn_use){ stream, moment };
  else tn_moment_release(moment);
  return status;
}

bool tn_uses_are_past(tn_uses *uses)
{
  unsigned kept = 0;
  for (unsigned i = 0; i < uses->count; i++) {
    if (tn_moment_poll(uses->items[i].moment) == TN_NOT_READY)
      uses->items[kept++] = uses->items[i];
    else
      tn_moment_release(uses->items[i].moment);
  }
  uses->count = kept;
  if (kept == 0) tn_uses_clear(uses);
  return kept == 0;
}

void tn_uses_clear(tn_uses *uses)
{
  for (unsigned i = 0; i < uses->count; i++)
    tn_moment_release(uses->items[i].moment);
  free(uses->items);
  *uses = (tn_uses){ 0 };
}

bool tn_uses_wait(tn_uses *uses)
{
  bool done = true;
  for (unsigned i = 0; i < uses->count; i++)
    if (tn_moment_wait(uses->items[i].moment, TN_NO_LIMIT) != TN_OK)
      done = false;
  tn_uses_clear(uses);
  return done;
}
