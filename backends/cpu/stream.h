/* Streams: an inline one does everything before a call returns and takes no
 * lock; the others are queues, each with a thread of its own, started at the
 * first command.
 *
 * Streams are never freed before shutdown but used again, and their counts of
 * commands go on. So a point (stream, count) means something for ever, and
 * costs nothing to make, copy or drop.
 *
 * Nothing that is queued on a cpu can fail: every command is checked, and its
 * memory taken, when it is queued. So take_error never finds anything. */
#ifndef TN_BACKENDS_CPU_STREAM_H
#define TN_BACKENDS_CPU_STREAM_H

#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>

#include "backends/cpu/host.h"
#include "backends/cpu/park.h"
#include "backends/cpu/queue.h"
#include "backends/cpu/recording.h"

struct tn_backend_stream {
  bool is_inline;
  bool is_urgent;
  uint32_t number; /* of those ever made */
  tn_backend_stream *next_free; /* under the lock of all streams */
  tn_backend_stream *next;      /* of all ever made; the same */
  tn_cpu_queue queue;
  bool has_thread;  /* the producer's, like the next */
  bool is_prepared; /* nothing is to be done before a command is queued */
  bool was_inline;  /* before it captured, when it is not */
  tn_cpu_recording *recording; /* while it captures; else NULL */
  uint32_t due;     /* under chaos: of the last command */
  pthread_t thread;
  _Alignas(64) _Atomic uint64_t completed; /* commands that have run */
  _Atomic uint64_t wake_at;  /* the least count a sleeper waits for */
  _Atomic uint32_t woken;    /* changes at every waking */
  _Atomic uint64_t wanted;   /* under chaos: commands not to be held back */
  /* Apart: the callers read it at every command. */
  _Alignas(64) _Atomic uint32_t sleeping; /* 1: the thread sleeps on it */
  _Atomic uint32_t stopping;
};

/* For the two below: under chaos before each command, otherwise once. */
tn_status tn_cpu_stream_prepare(tn_backend_stream *stream, size_t bytes);
tn_status tn_cpu_stream_refuse(void);
/* Of one that captures, which is not prepared. */
tn_status tn_cpu_stream_record(tn_backend_stream *stream,
                               void (*run)(tn_cpu_command *), size_t bytes,
                               tn_cpu_command **command);
void tn_cpu_stream_wake(tn_backend_stream *stream);

/* Room for a command of `bytes` bytes on an asynchronous stream: fill in what
 * follows its start, then submit it. Starts the thread if there is none.
 * TN_OUT_OF_MEMORY, also when no thread can be had. */
static inline tn_status tn_cpu_stream_reserve(tn_backend_stream *stream,
                                              void (*run)(tn_cpu_command *),
                                              size_t bytes,
                                              tn_cpu_command **command)
{
  if (!stream->is_prepared) {
    if (stream->recording)
      return tn_cpu_stream_record(stream, run, bytes, command);
    tn_status status = tn_cpu_stream_prepare(stream, bytes);
    if (status) return status;
  }
  *command = tn_cpu_queue_reserve(&stream->queue, bytes);
  if (!*command) return tn_cpu_stream_refuse();
  (*command)->run = run;
  return TN_OK;
}

static inline void tn_cpu_stream_submit(tn_backend_stream *stream)
{
  if (!stream->is_prepared && stream->recording) {
    tn_cpu_recording_publish(stream->recording);
    return;
  }
  tn_cpu_queue_publish(&stream->queue);
  tn_cpu_fence_light();
  if (atomic_load(&stream->sleeping)) tn_cpu_stream_wake(stream);
}

/* Under chaos: a command that overtakes others does so before its caller goes
 * on, if it can run at all. Called after each command. */
void tn_cpu_stream_hurry(tn_backend_stream *stream);

/* Whether all commands up to a count have run. */
static inline bool tn_cpu_stream_has_run(tn_backend_stream *stream,
                                         uint64_t count)
{
  return atomic_load_explicit(&stream->completed, memory_order_acquire) >=
         count;
}

/* Commands queued so far. */
static inline uint64_t tn_cpu_stream_queued(tn_backend_stream *stream)
{
  return atomic_load_explicit(&stream->queue.queued, memory_order_relaxed);
}

/* Blocks until the first `count` commands have run; false if the deadline
 * (of tn_cpu_clock) passes first. */
bool tn_cpu_stream_await(tn_backend_stream *stream, uint64_t count,
                         uint64_t deadline);

tn_status tn_cpu_stream_create(tn_backend_device *device,
                               const tn_stream_desc *desc,
                               tn_backend_stream **stream);
void tn_cpu_stream_destroy(tn_backend_stream *stream);
tn_status tn_cpu_stream_host_function(tn_backend_stream *stream,
                                      void (*function)(void *),
                                      void *argument, tn_tag tag);
tn_status tn_cpu_stream_take_error(tn_backend_stream *stream,
                                   tn_error_info *info);

/* Ends all threads and frees all streams. */
void tn_cpu_streams_stop(void);

/* In a forked child: the threads are gone; what was queued is the parent's to
 * run and counts as complete here; every stream is inline from now on. */
void tn_cpu_streams_after_fork(void);

#endif
