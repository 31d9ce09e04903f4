/* Pinned memory that queued copies are still to read: the host must not write
 * there before it knows that they have run. Its accesses cannot be seen, but
 * what they change can. Callers exclude each other. */
#ifndef TN_LAYERS_RACE_PINNED_H
#define TN_LAYERS_RACE_PINNED_H

#include "layers/forward.h"
#include "layers/order.h"

/* A copy of that agent's step reads host memory (no pitches). */
void race_pinned_read(const order_step *by, tn_address address,
                      uint64_t bytes);

/* Work that writes there is about to be queued: the host is not to blame for
 * changes. */
void race_pinned_written(tn_address address, uint64_t bytes);

/* It is given back, or the device goes. */
void race_pinned_forget(tn_address address, uint64_t bytes);

/* What its host did was told: that of the copy with this tag. */
void race_pinned_drop(uint32_t tag);

typedef void race_pinned_report(uint32_t tag, tn_address address);

/* Calls `report` for each whose copy the host now knows to be done, and which
 * is not as it was; all those are forgotten. */
void race_pinned_check(const order_clock *host, race_pinned_report *report);

/* A host function is about to be queued, which may write anywhere at any time
 * until it has ended: all are checked and forgotten, and none is noted. */
void race_pinned_function_queued(race_pinned_report *report);
void race_pinned_function_ended(void);

#endif
