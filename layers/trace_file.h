/* The file of the trace layer: Chrome trace events in the form of Kineto's,
 * kept in a buffer of each thread and written when that is full, at most a
 * fifth of a second later when the thread has more events, and at the end.
 * After each write the file is whole. */
#ifndef TN_LAYERS_TRACE_FILE_H
#define TN_LAYERS_TRACE_FILE_H

#include "tenon/backend.h"

/* Nanoseconds since the trace began. */
uint64_t trace_now(void);

/* Names the file; another name than before is TN_INVALID_ARGUMENT. */
tn_status trace_file_name(const tn_host_api *host, const char *path);

/* Creates it, once; TN_INVALID_ARGUMENT with the reason if that fails. */
tn_status trace_file_open(const tn_host_api *host);

/* The text for good, fit for JSON, the same pointer for the same text; NULL
 * without memory. */
const char *trace_text(const char *name);

/* A new row of the process that stands for a device: {process, row}. */
void trace_name_process(int64_t process, const char *name);
void trace_name_row(int64_t process, int64_t row, const char *name);

/* A call on this thread. Texts are from trace_text or constants. */
typedef struct trace_call {
  const char *name;
  uint64_t begin, end;
  uint64_t correlation; /* 0: it queued no work */
  uint64_t bytes;       /* 0: not said */
  const char *status;   /* NULL: success */
  const char *detail;   /* name of a kernel or routine, or NULL */
} trace_call;

void trace_add_call(const trace_call *call);

/* What the call of that correlation made a stream do. */
typedef struct trace_run {
  const char *category, *name;
  uint64_t begin, end;
  uint64_t correlation, bytes;
  int64_t process, row;
  uint64_t stream;
  /* Where the flow comes from. */
  int64_t thread;
  uint64_t call_begin;
} trace_run;

void trace_add_run(const trace_run *run);

/* Bytes allocated of a device, from now on. */
void trace_add_memory(int64_t process, const char *name, uint64_t bytes);

int64_t trace_thread(void); /* the system's number of this thread */
int trace_thread_index(void); /* ours, from 0 */

/* Writes what all threads have. */
void trace_file_flush(void);

#endif
