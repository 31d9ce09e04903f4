/* What queued work reads and writes. Callers exclude each other. */
#ifndef TN_LAYERS_RACE_ACCESS_H
#define TN_LAYERS_RACE_ACCESS_H

#include "layers/race_clock.h"

/* Whether the call queues work on memory. */
bool race_is_work(forward_entry entry);

/* Before the call: memory that was given back is reported, and refused. Where
 * the host could come to the memory too soon it is watched. The tag of the
 * call's site is kept in call->kept[0]. */
tn_status race_access_before(forward_call *call, race_agent *agent);
/* After it. */
void race_access_after(const forward_call *call, race_agent *agent);

#endif
