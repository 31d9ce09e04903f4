/* Streams: queues with a worker each. */
#ifndef TN_TESTS_CUDAEMU_STREAM_H
#define TN_TESTS_CUDAEMU_STREAM_H

#include "tests/cudaemu/emulator.h"

typedef struct emu_nodes {
  emu_node **list;
  size_t count;
} emu_nodes;

struct CUstream_st {
  emu_stream *next; /* among the live ones, or past ones */
  emu_context *context;
  unsigned number; /* counted from 1 */
  bool is_legacy, is_blocking, is_closed, has_worker;
  int priority;
  uint32_t agent, queued, complete; /* steps */
  uint32_t failed; /* from this step on nothing was done; 0: all was */
  emu_command *first, *last;
  pthread_cond_t wake;
  order_clock clock;  /* of what is queued */
  order_clock passed; /* what waits for memory have told */
  emu_capture *capture; /* that it is part of; NULL: it works */
  emu_nodes tips;       /* of it: what the next node comes after */
};

/* Where a command has to wait: for a step of another stream. */
typedef struct emu_wait {
  const emu_stream *stream;
  uint32_t step;
} emu_wait;

struct emu_command {
  emu_command *next;
  emu_stream *stream;
  emu_context *context; /* in which it runs */
  uint32_t agent, step, tag;
  unsigned node;        /* of a graph, from 1; 0: none */
  emu_wait *waits;
  size_t wait_count;
  CUresult planned;  /* fail so */
  bool is_reported;
  order_clock clock;
  /* Runs without the lock; NULL: nothing to do. What it answers ends the
   * context. */
  CUresult (*run)(emu_command *command);
  void (*release)(void *payload); /* with the lock; NULL: nothing */
  void *payload;
};

/* With the lock held, all of these. */

/* The stream of a handle, of the current context for the legacy one; NULL if
 * there is none such. */
emu_stream *emu_stream_find(CUstream handle);

/* Begins a call about a stream, as emu_enter does. */
CUresult emu_enter_stream(emu_call call, int needs, CUstream handle,
                          emu_stream **stream);

/* Takes over the payload, also when it fails: TN_CUDA_ERROR_OUT_OF_MEMORY. */
CUresult emu_enqueue(emu_stream *stream, const char *what,
                     CUresult (*run)(emu_command *), void *payload,
                     void (*release)(void *payload));

/* The same, after a step of another stream, if there is one. */
CUresult emu_enqueue_behind(emu_stream *stream, const char *what,
                            CUresult (*run)(emu_command *), void *payload,
                            void (*release)(void *payload),
                            const emu_stream *other, uint32_t step,
                            const order_clock *clock);

/* Queues a wait of `stream` for a step of another one, which knows `clock`. */
CUresult emu_enqueue_wait(emu_stream *stream, const emu_stream *other,
                          uint32_t step, const order_clock *clock);

/* Waits until the step is complete; the host then knows what it knew. */
void emu_step_wait(const emu_stream *stream, uint32_t step,
                   const order_clock *clock);
void emu_stream_wait(const emu_stream *stream); /* for all queued by now */
void emu_context_wait(const emu_context *context);
/* The end of a context's streams, with their work complete. */
void emu_streams_close(const emu_context *context);
/* At the end of the process. */
void emu_streams_end(void);

/* Stops the stream's worker, which calls it, for a while; others may have the
 * lock meanwhile. */
void emu_stream_pause(emu_stream *stream, uint64_t ns);
/* The same sometimes, as `random` and the seed say. */
void emu_stream_lag(emu_stream *stream, uint64_t random);

/* An agent of the happens-before engine, and its last step; -1: there are too
 * many. It is given back with the last step that it took. */
int emu_agent_take(uint32_t *step);
void emu_agent_give(int agent, uint32_t step);

/* What a command is, from its tag; for the whole process. */
uint32_t emu_tag(const char *what);
const char *emu_tag_text(uint32_t tag);

#endif
