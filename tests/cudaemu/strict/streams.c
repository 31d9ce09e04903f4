/* Streams and events. */
#include "tests/cudaemu/strict/strict.h"

static void open_gate(uint32_t *gate)
{
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
}

static CUevent event_of(unsigned flags)
{
  CUevent event = NULL;
  return cu.EventCreate(&event, flags) ? NULL : event;
}

static CUstream new_stream(unsigned flags)
{
  CUstream stream = NULL;
  return cu.StreamCreateWithPriority(&stream, flags, 0) ? NULL : stream;
}

static int stream_flags(void)
{
  CUstream stream;
  return (int)cu.StreamCreateWithPriority(&stream, 2, 0);
}

static int stream_destroyed(void)
{
  cu.StreamDestroy(streams[0]);
  return (int)cu.StreamQuery(streams[0]);
}

static int legacy_destroyed(void) { return (int)cu.StreamDestroy(NULL); }

/* What was queued on it still runs. */
static int destroyed_with_work(void)
{
  uint32_t *word = take_pinned(4), *gate = shut(streams[0]);
  CUdeviceptr memory = take(4);
  CUevent event = event_of(2);
  cu.MemsetD32Async(memory, 5, 1, streams[0]);
  cu.MemcpyDtoHAsync(word, memory, 4, streams[0]);
  cu.EventRecord(event, streams[0]);
  if (cu.StreamDestroy(streams[0])) return -1;
  open_gate(gate);
  if (cu.EventSynchronize(event)) return -2;
  return (int)*word;
}

/* What a stream says while another of that kind is shut. */
static int beside(CUstream shut_one, CUstream other)
{
  CUdeviceptr memory = take(64);
  CUevent event = event_of(2);
  uint32_t *gate = shut(shut_one);
  cu.MemsetD8Async(memory, 1, 64, other);
  cu.EventRecord(event, other);
  int code = 600;
  for (int i = 0; i < 2000 && code == 600; i++) {
    code = (int)cu.EventQuery(event);
    if (other == streams[1]) code = (int)cu.EventSynchronize(event);
  }
  open_gate(gate);
  return code;
}

static int legacy_after_blocking(void) { return beside(new_stream(0), NULL); }
static int blocking_after_legacy(void) { return beside(NULL, new_stream(0)); }
static int free_of_legacy(void) { return beside(NULL, streams[1]); }
static int free_of_others(void) { return beside(streams[0], streams[1]); }

static int query_busy(void)
{
  uint32_t *gate = shut(streams[0]);
  int code = (int)cu.StreamQuery(streams[0]);
  open_gate(gate);
  return code;
}

static int context_of_stream(void)
{
  CUcontext context = NULL;
  cu.CtxSetCurrent(contexts[1]);
  int code = (int)cu.StreamGetCtx(streams[0], &context);
  return code ? code : context == contexts[0] ? 0 : -1;
}

static int event_flags(void)
{
  CUevent event;
  return (int)cu.EventCreate(&event, 64);
}

static int event_destroyed(void)
{
  CUevent event = event_of(0);
  cu.EventDestroy(event);
  return (int)cu.EventRecord(event, streams[0]);
}

static int event_foreign(void)
{
  CUevent event = event_of(0);
  cu.CtxSetCurrent(contexts[1]);
  return (int)cu.EventRecord(event, new_stream(1));
}

static int event_never(void) { return (int)cu.EventQuery(event_of(0)); }

static int event_never_waited(void)
{
  return (int)cu.StreamWaitEvent(streams[0], event_of(0), 0);
}

static int event_pending(void)
{
  CUevent event = event_of(0);
  uint32_t *gate = shut(streams[0]);
  cu.EventRecord(event, streams[0]);
  int code = (int)cu.EventQuery(event);
  open_gate(gate);
  return code;
}

static int elapsed(unsigned flags, int records, int is_shut)
{
  float time = -1;
  CUevent from = event_of(flags), to = event_of(0);
  uint32_t *gate = NULL;
  if (records > 0) cu.EventRecord(from, streams[0]);
  if (is_shut) gate = shut(streams[0]);
  if (records > 1) cu.EventRecord(to, streams[0]);
  if (!is_shut) finish(streams[0]);
  int code = (int)cu.EventElapsedTime(&time, from, to);
  if (is_shut) open_gate(gate);
  return code ? code : time < 0;
}

static int elapsed_right(void) { return elapsed(0, 2, 0); }
static int elapsed_untimed(void) { return elapsed(2, 2, 0); }
static int elapsed_never(void) { return elapsed(0, 1, 0); }
static int elapsed_early(void) { return elapsed(0, 2, 1); }

/* A wait is for what was recorded when it was queued. */
static int recorded_anew(void)
{
  CUevent event = event_of(2);
  cu.EventRecord(event, streams[0]);
  cu.StreamWaitEvent(streams[1], event, 0);
  uint32_t *gate = shut(streams[0]);
  cu.EventRecord(event, streams[0]);
  int code = finish(streams[1]);
  open_gate(gate);
  return code;
}

static int wait_across(void)
{
  CUevent event = event_of(2);
  uint32_t *gate = shut(streams[0]);
  cu.EventRecord(event, streams[0]);
  cu.CtxSetCurrent(contexts[1]);
  CUstream other = new_stream(1);
  if (cu.StreamWaitEvent(other, event, 0)) return -1;
  int code = (int)cu.StreamQuery(other);
  open_gate(gate);
  return finish(other) ? -2 : code;
}

static int wait_flags(void)
{
  return (int)cu.StreamWaitEvent(streams[0], event_of(0), 2);
}

static int wait_pageable(void)
{
  static uint32_t word;
  return (int)cu.StreamWaitValue32(
      streams[0], (CUdeviceptr)(uintptr_t)&word, 1, 0);
}

static int priorities(void)
{
  int least = 1, greatest = 1;
  cu.CtxGetStreamPriorityRange(&least, &greatest);
  return least == 0 && greatest <= 0 ? 0 : 1;
}

static const strict_case cases[] = {
  { "a stream with unknown flags", DOCUMENTED, 1, .run = stream_flags },
  { "a stream that was destroyed", ASSUMED, 400, .run = stream_destroyed },
  { "the legacy stream is destroyed", ASSUMED, 400, .run = legacy_destroyed },
  { "a stream destroyed with work queued does it", DOCUMENTED, 5,
    .run = destroyed_with_work },
  { "the legacy stream waits for a blocking one", DOCUMENTED, 600,
    .run = legacy_after_blocking },
  { "a blocking stream waits for the legacy one", DOCUMENTED, 600,
    .run = blocking_after_legacy },
  { "a non-blocking stream does not", DOCUMENTED, 0, .run = free_of_legacy },
  { "nor for another one", DOCUMENTED, 0, .run = free_of_others },
  { "a busy stream is queried", DOCUMENTED, 600, .run = query_busy },
  { "a stream's context is not the current one", DOCUMENTED, 0,
    .run = context_of_stream, .devices = 2 },
  { "an event with unknown flags", DOCUMENTED, 1, .run = event_flags },
  { "an event that was destroyed", ASSUMED, 400, .run = event_destroyed },
  { "an event is recorded on another device's stream", DOCUMENTED, 400,
    .run = event_foreign, .devices = 2 },
  { "an event never recorded is complete", DOCUMENTED, 0, .run = event_never },
  { "and not waited for", DOCUMENTED, 0, .run = event_never_waited },
  { "an event behind work", DOCUMENTED, 600, .run = event_pending },
  { "the time between two events", DOCUMENTED, 0, .run = elapsed_right },
  { "without timing", DOCUMENTED, 400, .run = elapsed_untimed },
  { "of one never recorded", DOCUMENTED, 400, .run = elapsed_never },
  { "before the second is complete", DOCUMENTED, 600, .run = elapsed_early },
  { "a wait is for the record before it", DOCUMENTED, 0, .run = recorded_anew },
  { "a stream waits for one of another device", DOCUMENTED, 600,
    .run = wait_across,
    .devices = 2 },
  { "a wait with unknown flags", ASSUMED, 1, .run = wait_flags },
  { "a wait for a word that is not pinned", ASSUMED, 1, .run = wait_pageable },
  { "priorities go down from 0", DOCUMENTED, 0, .run = priorities },
};

void strict_streams(void) { STRICT_RUN(cases); }
