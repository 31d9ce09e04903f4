#include "config.h"

#include "core/memory/trace.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "core/base/error.h"
#include "core/base/refcount.h"
#include "tenon/memory.h"

struct tn_trace_note {
  tn_refcount refs;
  char text[];
};

const char *const tn_trace_action_names[TN_TRACE_ACTIONS] = {
  [TN_TRACE_ALLOC] = "alloc",
  [TN_TRACE_FREE_REQUESTED] = "free_requested",
  [TN_TRACE_FREE_COMPLETED] = "free_completed",
  [TN_TRACE_SEGMENT_ALLOC] = "segment_alloc",
  [TN_TRACE_SEGMENT_FREE] = "segment_free",
  [TN_TRACE_OOM] = "oom",
  [TN_TRACE_SNAPSHOT] = "snapshot",
};

/* Taken while an allocator's lock is held, and never the other way. */
static pthread_mutex_t note_lock = PTHREAD_MUTEX_INITIALIZER;
static tn_trace_note *current_note;

void tn_trace_note_lock(void) { pthread_mutex_lock(&note_lock); }
void tn_trace_note_unlock(void) { pthread_mutex_unlock(&note_lock); }

tn_trace_note *tn_trace_note_retain(tn_trace_note *note)
{
  if (note) tn_refcount_retain(&note->refs);
  return note;
}

void tn_trace_note_release(tn_trace_note *note)
{
  if (note && tn_refcount_release(&note->refs)) free(note);
}

const char *tn_trace_note_text(const tn_trace_note *note)
{
  return note ? note->text : "";
}

static tn_trace_note *note_now(void)
{
  pthread_mutex_lock(&note_lock);
  tn_trace_note *note = tn_trace_note_retain(current_note);
  pthread_mutex_unlock(&note_lock);
  return note;
}

static tn_trace_note *make_note(const char *text)
{
  size_t size = strlen(text) + 1;
  tn_trace_note *note = malloc(sizeof *note + size);
  if (!note) return NULL;
  tn_refcount_init(&note->refs);
  memcpy(note->text, text, size);
  return note;
}

tn_status tn_memory_set_metadata(const char *text)
{
  tn_trace_note *note = NULL;
  if (text && *text && (note = make_note(text)) == NULL)
    return tn_error(TN_OUT_OF_MEMORY, "no memory for the metadata");
  pthread_mutex_lock(&note_lock);
  tn_trace_note *before = current_note;
  current_note = note;
  pthread_mutex_unlock(&note_lock);
  tn_trace_note_release(before);
  return TN_OK;
}

tn_trace *tn_trace_new(size_t capacity, uint32_t skip)
{
  size_t size = 0;
  tn_trace *trace = NULL;
  if (!__builtin_mul_overflow(capacity, sizeof trace->events[0], &size) &&
      !__builtin_add_overflow(size, sizeof *trace, &size))
    trace = malloc(size);
  if (!trace) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a history of %zu events",
             capacity);
    return NULL;
  }
  *trace = (tn_trace){ .capacity = capacity, .skip = skip };
  return trace;
}

void tn_trace_free(tn_trace *trace)
{
  if (!trace) return;
  for (size_t i = 0; i < trace->count; i++)
    tn_trace_note_release(trace->events[i].note);
  free(trace);
}

static uint64_t now(void)
{
  struct timespec time;
  clock_gettime(CLOCK_REALTIME, &time);
  return (uint64_t)time.tv_sec * 1000000 + (uint64_t)time.tv_nsec / 1000;
}

void tn_trace_record(tn_trace *trace, tn_trace_event event)
{
  if (trace->skip >> event.action & 1) return;
  event.time = now();
  event.note = note_now();
  tn_trace_event *place = &trace->events[trace->next];
  if (trace->count == trace->capacity) tn_trace_note_release(place->note);
  else trace->count++;
  *place = event;
  trace->next = trace->next + 1 == trace->capacity ? 0 : trace->next + 1;
}

const tn_trace_event *tn_trace_event_at(const tn_trace *trace, size_t i)
{
  size_t first = trace->count == trace->capacity ? trace->next : 0;
  size_t place = first + i;
  return &trace->events[place < trace->capacity ? place
                                                : place - trace->capacity];
}
