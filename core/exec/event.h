/* Events, for waits of streams. */
#ifndef TN_CORE_EXEC_EVENT_H
#define TN_CORE_EXEC_EVENT_H

#include "core/exec/moment.h"
#include "tenon/stream.h"

/* What the event means now, with a reference; NULL if that is past. Its
 * stream was flushed. */
tn_moment *tn_event_moment(tn_event *event);

#endif
