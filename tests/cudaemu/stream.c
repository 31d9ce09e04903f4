#include "tests/cudaemu/stream.h"

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/host.h"

enum { TAGS = 4096 };

static char *tags[TAGS] = { NULL };
static uint32_t tag_count;
static uint32_t agent_steps[ORDER_AGENTS]; /* of past streams */
static bool agent_taken[ORDER_AGENTS];
static emu_stream *past_streams;
static unsigned busy; /* workers that run a command of ours */

uint32_t emu_tag(const char *what)
{
  uint32_t i = 0;
  while (i < tag_count && strcmp(tags[i], what) != 0) i++;
  if (i < tag_count || tag_count == TAGS) return i < TAGS ? i : TAGS - 1;
  tags[i] = strdup(what);
  if (!tags[i]) return 0;
  return tag_count++;
}

const char *emu_tag_text(uint32_t tag)
{
  return tag < TAGS && tags[tag] ? tags[tag] : "a command";
}

/* Delays */

void emu_stream_pause(emu_stream *stream, uint64_t ns)
{
  struct timespec until;
  clock_gettime(CLOCK_REALTIME, &until);
  until.tv_nsec += (long)ns;
  until.tv_sec += until.tv_nsec / 1000000000;
  until.tv_nsec %= 1000000000;
  while (!emu.ended && pthread_cond_timedwait(&stream->wake, &emu.lock,
                                              &until) != ETIMEDOUT)
    continue;
}

/* Sometimes a command starts late, so that streams overtake each other. Which
 * ones is a matter of the seed. */
void emu_stream_lag(emu_stream *stream, uint64_t random)
{
  if (emu.settings.seed && random % 8 == 0)
    emu_stream_pause(stream, (random >> 8) % 300000);
}

/* Workers */

/* What the host knew when a wait for memory ended is known to all that comes
 * after, though it was queued before. */
static void learn(emu_command *command)
{
  emu_stream *stream = command->stream;
  for (size_t i = 0; i < command->wait_count; i++)
    order_join(&stream->passed, &command->waits[i].stream->passed);
  order_join(&command->clock, &stream->passed);
}

static bool is_ready(const emu_command *command)
{
  for (size_t i = 0; i < command->wait_count; i++)
    if (command->waits[i].stream->complete < command->waits[i].step)
      return false;
  return true;
}

static void free_command(emu_command *command)
{
  if (command->release) command->release(command->payload);
  order_clock_free(&command->clock);
  free(command->waits);
  free(command);
}

static void run_command(emu_command *command)
{
  emu_context *context = command->stream->context;
  CUresult code = command->planned;
  if (emu.ended) return;
  if (context->failed) {
    if (!command->stream->failed) command->stream->failed = command->step;
    return;
  }
  if (!code && command->run) {
    busy++;
    pthread_mutex_unlock(&emu.lock);
    code = command->run(command);
    pthread_mutex_lock(&emu.lock);
    busy--;
  }
  if (!code) return;
  command->stream->failed = command->step;
  emu_context_fail(context, code);
}

static void *work(void *argument)
{
  emu_stream *stream = argument;
  pthread_mutex_lock(&emu.lock);
  for (;;) {
    while (!stream->first && !stream->is_closed && !emu.ended)
      pthread_cond_wait(&stream->wake, &emu.lock);
    emu_command *command = stream->first;
    if (!command || emu.ended) break;
    while (!emu.ended && !is_ready(command))
      pthread_cond_wait(&emu.progress, &emu.lock);
    emu_stream_lag(stream, emu_random(stream->number, command->step));
    learn(command);
    run_command(command);
    stream->first = command->next;
    if (!stream->first) stream->last = NULL;
    stream->complete = command->step;
    free_command(command);
    pthread_cond_broadcast(&emu.progress);
  }
  emu_agent_give((int)stream->agent, stream->queued);
  stream->has_worker = false;
  pthread_cond_broadcast(&emu.progress);
  pthread_mutex_unlock(&emu.lock);
  return NULL;
}

static bool start_worker(emu_stream *stream)
{
  pthread_t thread;
  sigset_t all, former;
  sigfillset(&all);
  sigdelset(&all, SIGSEGV); /* its own, which a layer may wait for */
  pthread_sigmask(SIG_SETMASK, &all, &former);
  stream->has_worker = pthread_create(&thread, NULL, work, stream) == 0;
  pthread_sigmask(SIG_SETMASK, &former, NULL);
  if (stream->has_worker) pthread_detach(thread);
  return stream->has_worker;
}

/* Queuing */

static bool add_wait(emu_command *command, const emu_stream *other,
                     uint32_t step, const order_clock *clock)
{
  size_t count = command->wait_count;
  emu_wait *waits = realloc(command->waits, (count + 1) * sizeof *waits);
  if (!waits) return false;
  command->waits = waits;
  waits[command->wait_count++] = (emu_wait){ other, step };
  return order_join(&command->clock, clock);
}

/* The legacy stream waits for all blocking streams of its context, and they
 * for it. */
static bool add_legacy_waits(emu_stream *stream, emu_command *command)
{
  const emu_stream *legacy = stream->context->legacy;
  if (stream->is_blocking && legacy)
    return add_wait(command, legacy, legacy->queued, &legacy->clock);
  if (!stream->is_legacy) return true;
  for (const emu_stream *s = emu.streams; s; s = s->next)
    if (s->context == stream->context && s->is_blocking &&
        !add_wait(command, s, s->queued, &s->clock))
      return false;
  return true;
}

static bool append(emu_stream *stream, emu_command *command)
{
  command->planned = emu_planned_failure();
  if (!add_legacy_waits(stream, command) ||
      !emu_host_teach(&command->clock) ||
      !order_join(&command->clock, &stream->clock) ||
      !order_note(&command->clock, stream->agent, stream->queued + 1) ||
      !order_join(&stream->clock, &command->clock))
    return false;
  command->stream = stream;
  command->context = stream->context;
  command->agent = stream->agent;
  command->step = ++stream->queued;
  if (stream->last) stream->last->next = command;
  else stream->first = command;
  stream->last = command;
  pthread_cond_signal(&stream->wake);
  return true;
}

static emu_command *new_command(const char *what, void *payload,
                                void (*release)(void *))
{
  emu_command *command = calloc(1, sizeof *command);
  if (!command) {
    if (release) release(payload);
    return NULL;
  }
  command->tag = emu_tag(what);
  command->payload = payload;
  command->release = release;
  return command;
}

CUresult emu_enqueue_behind(emu_stream *stream, const char *what,
                            CUresult (*run)(emu_command *), void *payload,
                            void (*release)(void *),
                            const emu_stream *other, uint32_t step,
                            const order_clock *clock)
{
  emu_command *command = new_command(what, payload, release);
  if (!command) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  command->run = run;
  if ((!other || add_wait(command, other, step, clock)) &&
      append(stream, command))
    return TN_CUDA_SUCCESS;
  free_command(command);
  return TN_CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult emu_enqueue(emu_stream *stream, const char *what,
                     CUresult (*run)(emu_command *), void *payload,
                     void (*release)(void *))
{
  return emu_enqueue_behind(stream, what, run, payload, release, NULL, 0,
                            NULL);
}

CUresult emu_enqueue_wait(emu_stream *stream, const emu_stream *other,
                          uint32_t step, const order_clock *clock)
{
  return emu_enqueue_behind(stream, "a wait", NULL, NULL, NULL, other, step,
                            clock);
}

/* Waiting */

void emu_step_wait(const emu_stream *stream, uint32_t step,
                   const order_clock *clock)
{
  order_clock known = { 0, NULL }; /* the caller's may change meanwhile */
  order_join(&known, clock);
  while (stream->complete < step && !emu.ended)
    pthread_cond_wait(&emu.progress, &emu.lock);
  emu_host_learn(&known);
  emu_host_learn(&stream->passed);
  order_clock_free(&known);
}

void emu_stream_wait(const emu_stream *stream)
{
  emu_step_wait(stream, stream->queued, &stream->clock);
}

void emu_context_wait(const emu_context *context)
{
  const emu_stream *s = emu.streams;
  while (s) {
    if (s->context == context && s->complete < s->queued && !emu.ended) {
      pthread_cond_wait(&emu.progress, &emu.lock);
      s = emu.streams; /* others may have come or gone */
      continue;
    }
    if (s->context == context) {
      emu_host_learn(&s->clock);
      emu_host_learn(&s->passed);
    }
    s = s->next;
  }
}

/* Making and ending */

int emu_agent_take(uint32_t *step)
{
  for (int i = 0; i < ORDER_AGENTS; i++)
    if (!agent_taken[i]) {
      agent_taken[i] = true;
      *step = agent_steps[i];
      return i;
    }
  return -1;
}

void emu_agent_give(int agent, uint32_t step)
{
  agent_steps[agent] = step;
  agent_taken[agent] = false;
}

static emu_stream *make_stream(emu_context *context)
{
  static unsigned numbered;
  uint32_t step = 0;
  int agent = emu_agent_take(&step);
  emu_stream *stream = agent < 0 ? NULL : calloc(1, sizeof *stream);
  if (!stream) goto give_agent;
  stream->context = context;
  stream->agent = (uint32_t)agent;
  stream->queued = stream->complete = step;
  stream->number = ++numbered;
  pthread_cond_init(&stream->wake, NULL);
  if (!start_worker(stream)) {
    pthread_cond_destroy(&stream->wake);
    free(stream);
    goto give_agent;
  }
  stream->next = emu.streams;
  emu.streams = stream;
  return stream;

give_agent:
  if (agent >= 0) emu_agent_give(agent, step);
  return NULL;
}

static void close_stream(emu_stream *stream)
{
  emu_stream **link = &emu.streams;
  while (*link != stream) link = &(*link)->next;
  *link = stream->next;
  if (stream->capture) emu_capture_abandon(stream);
  stream->next = past_streams;
  past_streams = stream;
  stream->is_closed = true;
  pthread_cond_signal(&stream->wake);
}

void emu_streams_close(const emu_context *context)
{
  emu_context_wait(context);
  for (emu_stream *s = emu.streams, *next; s; s = next) {
    next = s->next;
    if (s->context == context) close_stream(s);
  }
}

void emu_streams_end(void)
{
  pthread_mutex_lock(&emu.lock);
  emu.ended = true;
  for (emu_stream *s = emu.streams; s; s = s->next)
    pthread_cond_signal(&s->wake);
  pthread_cond_broadcast(&emu.progress);
  while (busy) pthread_cond_wait(&emu.progress, &emu.lock);
  pthread_mutex_unlock(&emu.lock);
}

emu_stream *emu_stream_find(CUstream handle)
{
  emu_context *current = emu_current();
  uintptr_t number = (uintptr_t)handle;
  if (number == 2) {
    emu_print("the per-thread stream is not emulated");
    return NULL;
  }
  if (number <= 1) {
    if (!current->legacy) {
      current->legacy = make_stream(current);
      if (current->legacy) current->legacy->is_legacy = true;
    }
    return current->legacy;
  }
  emu_stream *stream = emu.streams;
  while (stream && stream != handle) stream = stream->next;
  return stream;
}

/* Calls */

CUresult emu_StreamCreateWithPriority(CUstream *stream, unsigned flags,
                                      int priority)
{
  CUresult code = emu_enter(EMU_StreamCreateWithPriority, EMU_CONTEXT);
  if (code) return code;
  if (!stream || flags > TN_CU_STREAM_NON_BLOCKING)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  emu_stream *made = make_stream(emu_current());
  if (!made) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  made->is_blocking = flags == 0;
  made->priority = priority > 0 ? 0 : priority < -5 ? -5 : priority;
  *stream = made;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_enter_stream(emu_call call, int needs, CUstream handle,
                          emu_stream **stream)
{
  CUresult code = emu_enter(call, EMU_CONTEXT | needs);
  if (code) return code;
  *stream = emu_stream_find(handle);
  if (!*stream) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  CUresult lost = (*stream)->context->lost;
  return lost ? emu_leave(lost) : TN_CUDA_SUCCESS;
}

/* At once; what is queued still runs. */
CUresult emu_StreamDestroy(CUstream handle)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamDestroy, 0, handle, &stream);
  if (code) return code;
  if (stream->is_legacy) return emu_leave(TN_CUDA_ERROR_INVALID_HANDLE);
  close_stream(stream);
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_StreamSynchronize(CUstream handle)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamSynchronize, EMU_UNSAFE, handle,
                                   &stream);
  if (code) return code;
  code = emu_capture_watch(stream);
  if (code) return emu_leave(code);
  emu_stream_wait(stream);
  return emu_leave(emu_context_tell(stream->context));
}

CUresult emu_StreamQuery(CUstream handle)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamQuery, EMU_UNSAFE, handle,
                                   &stream);
  if (code) return code;
  code = emu_capture_watch(stream);
  if (code) return emu_leave(code);
  if (stream->complete < stream->queued)
    return emu_leave(TN_CUDA_ERROR_NOT_READY);
  emu_stream_wait(stream);
  return emu_leave(emu_context_tell(stream->context));
}

CUresult emu_StreamGetCtx(CUstream handle, CUcontext *context)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamGetCtx, 0, handle, &stream);
  if (code) return code;
  *context = stream->context;
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_CtxSynchronize(void)
{
  CUresult code = emu_enter(EMU_CtxSynchronize, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  code = emu_capture_watch_context(emu_current());
  if (code) return emu_leave(code);
  emu_context_wait(emu_current());
  return emu_leave(emu_context_tell(emu_current()));
}
