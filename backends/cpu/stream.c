#include "backends/cpu/stream.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/chaos.h"
#include "backends/cpu/park.h"
#include "backends/cpu/recording.h"
#include "backends/cpu/workers.h"

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_backend_stream *all_streams, *free_streams;
static uint32_t stream_count; /* ever made; under lock */
static bool is_forked;

/* --- chaos --- */

/* The first `count` commands are not held back any more. */
static void commands_want(tn_backend_stream *stream, uint64_t count)
{
  uint64_t wanted = atomic_load(&stream->wanted);
  while (wanted < count &&
         !atomic_compare_exchange_weak(&stream->wanted, &wanted, count)) {
  }
}

static bool is_held(tn_backend_stream *stream, const tn_cpu_command *command,
                    uint64_t number)
{
  return !tn_cpu_chaos_is_due(command->due) &&
         atomic_load(&stream->wanted) <= number &&
         !atomic_load(&stream->stopping);
}

/* Returns when the command is to run. After that long a wait for nothing, what
 * is behind it is not held back either. */
static void command_hold(tn_backend_stream *stream,
                         const tn_cpu_command *command, uint64_t number)
{
  if (!is_held(stream, command, number)) return;
  int patience = TN_CPU_CHAOS_PATIENCE;
  tn_cpu_workers_leave();
  tn_cpu_chaos_hold_begin();
  while (patience-- && is_held(stream, command, number)) sched_yield();
  tn_cpu_chaos_hold_end();
  tn_cpu_workers_enter();
  if (patience < 0)
    commands_want(stream, atomic_load(&stream->queue.queued));
}

void tn_cpu_stream_hurry(tn_backend_stream *stream)
{
  uint64_t queued = tn_cpu_stream_queued(stream);
  if (!queued || !tn_cpu_chaos_is_due(stream->due) ||
      !tn_cpu_stream_has_run(stream, queued - 1))
    return;
  for (int i = 0; i < TN_CPU_CHAOS_PATIENCE / 64 &&
                  !tn_cpu_stream_has_run(stream, queued); i++)
    sched_yield();
}

/* --- the thread of a stream --- */

/* Counts one more command as run, and wakes those who wait for it. */
static void command_complete(tn_backend_stream *stream, uint64_t count)
{
  atomic_store_explicit(&stream->completed, count, memory_order_release);
  tn_cpu_fence_light();
  if (atomic_load(&stream->wake_at) > count) return;
  /* Sleepers with a later target are wiped out too: they look again and
   * register anew, because `woken` has changed. */
  atomic_store(&stream->wake_at, UINT64_MAX);
  atomic_fetch_add(&stream->woken, 1);
  tn_cpu_unpark(&stream->woken, INT_MAX);
}

static inline void commands_run(tn_backend_stream *stream, uint64_t queued,
                                bool is_chaotic)
{
  uint64_t done =
    atomic_load_explicit(&stream->completed, memory_order_relaxed);
  tn_cpu_workers_enter();
  while (done < queued) {
    tn_cpu_command *command = tn_cpu_queue_front(&stream->queue);
    if (is_chaotic) command_hold(stream, command, done);
    command->run(command);
    tn_cpu_queue_drop(&stream->queue);
    command_complete(stream, ++done);
  }
  tn_cpu_workers_leave();
}

static bool has_work(tn_backend_stream *stream, uint64_t done)
{
  return atomic_load(&stream->queue.queued) > done ||
         atomic_load(&stream->stopping);
}

/* Returns when there is work or the stream is stopping. */
static void work_await(tn_backend_stream *stream, uint64_t done)
{
  tn_cpu_spin spin = { 0 };
  while (!has_work(stream, done)) {
    if (tn_cpu_spin_again(&spin)) continue;
    atomic_store(&stream->sleeping, 1);
    tn_cpu_fence_all();
    if (!has_work(stream, done))
      tn_cpu_park(&stream->sleeping, 1, TN_CPU_NO_DEADLINE);
    atomic_store(&stream->sleeping, 0);
  }
}

/* Commands that came while others ran are likely to be followed by more. Each
 * look at the count takes it away from the caller who is queueing, which costs
 * more than a command: so it waits until there are several. */
static inline void work(tn_backend_stream *stream, bool is_chaotic)
{
  bool has_waited = true;
  tn_cpu_thread_begin("tenon-stream");
  for (;;) {
    uint64_t done =
      atomic_load_explicit(&stream->completed, memory_order_relaxed);
    uint64_t queued = atomic_load(&stream->queue.queued);
    if (queued > done) {
      commands_run(stream, queued, is_chaotic);
      if (!has_waited) tn_cpu_pause_briefly();
      has_waited = false;
    } else if (atomic_load(&stream->stopping)) {
      return;
    } else {
      work_await(stream, done);
      has_waited = true;
    }
  }
}

static void *thread_main(void *stream)
{
  work(stream, false);
  return NULL;
}

static void *chaos_main(void *stream)
{
  work(stream, true);
  return NULL;
}

void tn_cpu_stream_wake(tn_backend_stream *stream)
{
  if (atomic_exchange(&stream->sleeping, 0))
    tn_cpu_unpark(&stream->sleeping, 1);
}

/* --- its callers --- */

/* Says when the next command is due. Reserving again takes the same place. */
static void command_date(tn_backend_stream *stream, size_t bytes)
{
  tn_cpu_command *command = tn_cpu_queue_reserve(&stream->queue, bytes);
  if (!command) return; /* nor will there be one then */
  stream->due =
    tn_cpu_chaos_due(stream->number, tn_cpu_stream_queued(stream));
  command->due = stream->due;
}

/* Under chaos before each command, otherwise once. */
tn_status tn_cpu_stream_prepare(tn_backend_stream *stream, size_t bytes)
{
  bool is_chaotic = tn_cpu_chaos_seed != 0;
  int problem = 0;
  if (!stream->has_thread)
    problem = tn_cpu_thread_start(
      &stream->thread, is_chaotic ? chaos_main : thread_main, stream);
  if (problem)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                              "cannot start the thread of a stream: %s",
                              strerror(problem));
  stream->has_thread = true;
  stream->is_prepared = !is_chaotic;
  if (is_chaotic) command_date(stream, bytes);
  return TN_OK;
}

tn_status tn_cpu_stream_refuse(void)
{
  return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                            "no memory for the queue of a stream");
}

tn_status tn_cpu_stream_record(tn_backend_stream *stream,
                               void (*run)(tn_cpu_command *), size_t bytes,
                               tn_cpu_command **command)
{
  *command = tn_cpu_recording_reserve(stream->recording, bytes);
  if (!*command)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                              "no memory for the commands of a graph");
  (*command)->run = run;
  return TN_OK;
}

/* Lowers the count at which the stream wakes its sleepers. */
static void wake_request(tn_backend_stream *stream, uint64_t count)
{
  uint64_t at = atomic_load(&stream->wake_at);
  while (at > count &&
         !atomic_compare_exchange_weak(&stream->wake_at, &at, count)) {
  }
}

bool tn_cpu_stream_await(tn_backend_stream *stream, uint64_t count,
                         uint64_t deadline)
{
  tn_cpu_spin spin = { 0 };
  if (tn_cpu_chaos_seed) commands_want(stream, count);
  while (!tn_cpu_stream_has_run(stream, count)) {
    if (deadline != TN_CPU_NO_DEADLINE && tn_cpu_clock() >= deadline)
      return false;
    if (tn_cpu_spin_again(&spin)) continue;
    uint32_t woken = atomic_load(&stream->woken);
    wake_request(stream, count);
    tn_cpu_fence_all();
    if (atomic_load(&stream->completed) >= count) return true;
    tn_cpu_park(&stream->woken, woken, deadline);
  }
  return true;
}

/* --- the table --- */

static tn_backend_stream *stream_new(void)
{
  tn_backend_stream *stream = aligned_alloc(64, sizeof *stream);
  if (!stream) return NULL;
  memset(stream, 0, sizeof *stream);
  if (!tn_cpu_queue_create(&stream->queue)) {
    free(stream);
    return NULL;
  }
  atomic_store(&stream->wake_at, UINT64_MAX);
  return stream;
}

/* A stream that was destroyed, or else a new one. */
static tn_backend_stream *stream_take(void)
{
  pthread_mutex_lock(&lock);
  tn_backend_stream *stream = free_streams;
  if (stream) free_streams = stream->next_free;
  pthread_mutex_unlock(&lock);
  if (stream) return stream;
  stream = stream_new();
  if (!stream) return NULL;
  pthread_mutex_lock(&lock);
  stream->number = stream_count++;
  stream->next = all_streams;
  all_streams = stream;
  pthread_mutex_unlock(&lock);
  return stream;
}

tn_status tn_cpu_stream_create(tn_backend_device *device,
                               const tn_stream_desc *desc,
                               tn_backend_stream **out)
{
  (void)device;
  tn_status status =
    tn_cpu_flags_check("stream", desc->flags, TN_STREAM_DEFAULT);
  if (status) return status;
  tn_backend_stream *stream = stream_take();
  if (!stream)
    return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for a stream");
  stream->is_inline = is_forked || (desc->flags & TN_STREAM_DEFAULT);
  stream->is_urgent = desc->priority < 0;
  *out = stream;
  return TN_OK;
}

void tn_cpu_stream_destroy(tn_backend_stream *stream)
{
  pthread_mutex_lock(&lock);
  stream->next_free = free_streams;
  free_streams = stream;
  pthread_mutex_unlock(&lock);
}

typedef struct host_command {
  tn_cpu_command base;
  void (*function)(void *);
  void *argument;
} host_command;

static void host_command_run(tn_cpu_command *command)
{
  host_command *host = (host_command *)command;
  /* It may wait for anything, so others may have the processor. */
  tn_cpu_workers_leave();
  host->function(host->argument);
  tn_cpu_workers_enter();
}

tn_status tn_cpu_stream_host_function(tn_backend_stream *stream,
                                      void (*function)(void *),
                                      void *argument, tn_tag tag)
{
  (void)tag;
  if (stream->is_inline) {
    function(argument);
    return TN_OK;
  }
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(stream, host_command_run,
                                           sizeof(host_command), &base);
  if (status) return status;
  host_command *command = (host_command *)base;
  command->function = function;
  command->argument = argument;
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

tn_status tn_cpu_stream_take_error(tn_backend_stream *stream,
                                   tn_error_info *info)
{
  (void)stream;
  info->status = TN_OK;
  info->tag = 0;
  info->text[0] = 0;
  return TN_OK;
}

/* --- the end, and forks --- */

static void stream_stop(tn_backend_stream *stream)
{
  if (stream->has_thread) {
    atomic_store(&stream->stopping, 1);
    tn_cpu_stream_wake(stream);
    pthread_join(stream->thread, NULL);
  }
  tn_cpu_queue_destroy(&stream->queue);
  free(stream);
}

void tn_cpu_streams_stop(void)
{
  pthread_mutex_lock(&lock);
  tn_backend_stream *stream = all_streams;
  all_streams = free_streams = NULL;
  pthread_mutex_unlock(&lock);
  while (stream) {
    tn_backend_stream *next = stream->next;
    stream_stop(stream);
    stream = next;
  }
}

void tn_cpu_streams_after_fork(void)
{
  pthread_mutex_init(&lock, NULL);
  is_forked = true;
  for (tn_backend_stream *stream = all_streams; stream;
       stream = stream->next) {
    stream->is_inline = true;
    stream->has_thread = stream->is_prepared = false;
    atomic_store(&stream->completed, tn_cpu_stream_queued(stream));
  }
}
