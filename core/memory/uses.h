/* What must pass before memory is handed out again: the moments of other
 * streams that use it. Not locked; the owner's lock guards it. */
#ifndef TN_CORE_MEMORY_USES_H
#define TN_CORE_MEMORY_USES_H

#include "core/exec/stream.h"

typedef struct tn_use {
  const tn_stream *stream; /* only compared: it may have ended since */
  tn_moment *moment;       /* referenced */
} tn_use;

typedef struct tn_uses {
  unsigned count, capacity;
  tn_use *items;
} tn_uses;

/* Takes over the moment's reference (also on failure, TN_OUT_OF_MEMORY). A
 * later moment of the same stream takes the former's place. */
tn_status tn_uses_add(tn_uses *uses, const tn_stream *stream,
                      tn_moment *moment);

/* Drops the uses that are past; true if none is left. Never blocks. */
bool tn_uses_are_past(tn_uses *uses);

/* Drops all. */
void tn_uses_clear(tn_uses *uses);

/* Waits for all and drops them; false if waiting failed (a lost device). */
bool tn_uses_wait(tn_uses *uses);

#endif
