/* What an allocator did lately: a ring of a fixed number of events. Guarded
 * by the allocator's lock; made and freed outside of it. */
#ifndef TN_CORE_MEMORY_TRACE_H
#define TN_CORE_MEMORY_TRACE_H

#include <stddef.h>
#include <stdint.h>

#include "core/memory/holder.h"
#include "tenon/status.h"

typedef enum tn_trace_action {
  TN_TRACE_ALLOC,
  TN_TRACE_FREE_REQUESTED,
  TN_TRACE_FREE_COMPLETED,
  TN_TRACE_SEGMENT_ALLOC,
  TN_TRACE_SEGMENT_FREE,
  TN_TRACE_OOM,
  TN_TRACE_SNAPSHOT,
  TN_TRACE_ACTIONS
} tn_trace_action;

/* PyTorch's names of them. */
extern const char *const tn_trace_action_names[TN_TRACE_ACTIONS];

/* A text that events share; counted references. */
typedef struct tn_trace_note tn_trace_note;

typedef struct tn_trace_event {
  uint8_t action; /* tn_trace_action */
  uint64_t address; /* of an OOM: the device's free bytes */
  uint64_t size;    /* as asked for; segments': theirs */
  uint64_t stream;  /* as in snapshots */
  uint64_t pool[2];
  uint64_t time;    /* microseconds since 1970 */
  tn_holder holder;
  tn_trace_note *note; /* NULL: none */
} tn_trace_event;

typedef struct tn_trace {
  size_t capacity, count;
  size_t next;   /* the place of the next event */
  uint32_t skip; /* bit i: action i is left out */
  tn_trace_event events[];
} tn_trace;

/* NULL with the error set without memory. */
tn_trace *tn_trace_new(size_t capacity, uint32_t skip);
void tn_trace_free(tn_trace *trace);

/* Takes time and note from the process. */
void tn_trace_record(tn_trace *trace, tn_trace_event event);

/* The i-th oldest. */
const tn_trace_event *tn_trace_event_at(const tn_trace *trace, size_t i);

tn_trace_note *tn_trace_note_retain(tn_trace_note *note);
void tn_trace_note_release(tn_trace_note *note);
const char *tn_trace_note_text(const tn_trace_note *note);

/* Around fork. */
void tn_trace_note_lock(void);
void tn_trace_note_unlock(void);

#endif
