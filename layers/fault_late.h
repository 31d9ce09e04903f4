/* Failures of the layer `fault` that are told when the stream has got there,
 * as those of a device are: by stream.take_error. */
#ifndef TN_LAYERS_FAULT_LATE_H
#define TN_LAYERS_FAULT_LATE_H

#include "layers/forward.h"

/* Whether an entry queues work. */
bool fault_can_be_late(forward_entry entry);

/* Puts a failure where the call's work would have been. False where work is
 * done when its call returns, where it is captured, and without memory: then
 * the call itself is to fail. Like all that follow, called by one thread at a
 * time for a stream. */
bool fault_queue(const forward_call *call, tn_status status,
                 const char *text);

/* Fills in the stream's first failure that its work has got to, unless one of
 * the backend's is there. */
void fault_tell(forward_stream *stream, tn_error_info *failure);

/* The stream ends. */
void fault_forget(forward_stream *stream);

#endif
