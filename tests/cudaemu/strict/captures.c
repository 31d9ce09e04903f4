/* Captures: what may be done meanwhile, and how they end. Each answer of a case
 * is the code of the call that it is about, or 1000 times that one plus the
 * code of the end. */
#include <stdlib.h>

#include "tests/cudaemu/strict/strict.h"

static CUstream blocking(void)
{
  CUstream stream = NULL;
  need(cu.StreamCreateWithPriority(&stream, 0, 0), "cuStreamCreate");
  return stream;
}

/* Beginning and ending */

static int legacy(void)
{
  return (int)cu.StreamBeginCapture(NULL, (CUstreamCaptureMode)0);
}

static int mode_three(void)
{
  return (int)cu.StreamBeginCapture(streams[0], (CUstreamCaptureMode)3);
}

static int twice(void)
{
  begin();
  return with_end(cu.StreamBeginCapture(streams[0], (CUstreamCaptureMode)0));
}

static int forked_begins(void)
{
  begin();
  come_after(streams[0], streams[1]);
  return with_end(cu.StreamBeginCapture(streams[1], (CUstreamCaptureMode)0));
}

static int end_first(void) { return end_code(); }

static int end_of_nothing(void)
{
  begin();
  return end_code();
}

static int end_in_fork(void)
{
  CUgraph graph;
  begin();
  come_after(streams[0], streams[1]);
  return with_end(cu.StreamEndCapture(streams[1], &graph));
}

static int end_elsewhere(int mode)
{
  begin_in(streams[0], mode);
  return on_thread(end_code);
}

static int end_elsewhere_global(void)
{
  int code = end_elsewhere(GLOBAL);
  return 1000 * code + end_code();
}

static int end_elsewhere_local(void) { return end_elsewhere(THREAD_LOCAL); }
static int end_elsewhere_relaxed(void) { return end_elsewhere(RELAXED); }

/* Forks */

static int unjoined(void)
{
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  put_in(streams[1]);
  return end_code();
}

static int usable_after_unjoined(void)
{
  unjoined();
  put_in(streams[0]);
  put_in(streams[1]);
  int code = finish(streams[0]);
  return code ? code : finish(streams[1]);
}

static int fork_without_work(void)
{
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  come_after(streams[0], streams[1]);
  return end_code();
}

static int joined(void)
{
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  put_in(streams[1]);
  come_after(streams[1], streams[0]);
  return end_code();
}

static int joined_early(void)
{
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  put_in(streams[1]);
  come_after(streams[1], streams[0]);
  put_in(streams[1]);
  return end_code();
}

static int fork_status(void)
{
  begin();
  come_after(streams[0], streams[1]);
  return status_of(streams[1]);
}

static int fork_after_end(void)
{
  begin();
  come_after(streams[0], streams[1]);
  end_code();
  return status_of(streams[1]);
}

static int isolation(void)
{
  CUevent event = new_event();
  cu.EventRecord(event, streams[1]);
  begin();
  return with_end(cu.StreamWaitEvent(streams[0], event, 0));
}

static int never_recorded(void)
{
  CUevent event = new_event();
  begin();
  return (int)cu.StreamWaitEvent(streams[0], event, 0);
}

static CUresult merge(void)
{
  CUevent event = new_event();
  begin();
  begin_in(streams[1], GLOBAL);
  cu.EventRecord(event, streams[1]);
  return cu.StreamWaitEvent(streams[0], event, 0);
}

static int merged(void) { return with_end(merge()); }

static int merged_other(void)
{
  CUgraph graph;
  merge();
  return (int)cu.StreamEndCapture(streams[1], &graph);
}

static int wait_for_spoilt(void)
{
  CUevent event = new_event();
  begin();
  cu.EventRecord(event, streams[0]);
  cu.StreamQuery(streams[0]);
  return (int)cu.StreamWaitEvent(streams[1], event, 0);
}

static int wait_for_ended(void)
{
  CUevent event = new_event();
  begin();
  cu.EventRecord(event, streams[0]);
  end_code();
  return (int)cu.StreamWaitEvent(streams[1], event, 0);
}

static int wait_for_ended_capturing(void)
{
  CUevent event = new_event();
  begin();
  cu.EventRecord(event, streams[0]);
  end_code();
  begin_in(streams[1], GLOBAL);
  return (int)cu.StreamWaitEvent(streams[1], event, 0);
}

static int work_before(void)
{
  uint32_t *gate = shut(streams[1]);
  begin();
  come_after(streams[0], streams[1]);
  come_after(streams[1], streams[0]);
  int code = end_code();
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  return code;
}

/* Asking and waiting */

static int synchronised(int mode)
{
  begin_in(streams[0], mode);
  return with_end(cu.StreamSynchronize(streams[0]));
}

static int synchronised_global(void) { return synchronised(GLOBAL); }
static int synchronised_relaxed(void) { return synchronised(RELAXED); }

static int queried(int mode)
{
  begin_in(streams[0], mode);
  return with_end(cu.StreamQuery(streams[0]));
}

static int queried_local(void) { return queried(THREAD_LOCAL); }
static int queried_relaxed(void) { return queried(RELAXED); }

static int synchronise_context(void) { return (int)cu.CtxSynchronize(); }

static int context_own(void)
{
  begin_in(streams[0], RELAXED);
  return with_end(cu.CtxSynchronize());
}

static int context_other(void)
{
  begin_in(streams[0], RELAXED);
  return with_end((CUresult)on_thread(synchronise_context));
}

static CUevent captured_event(int mode)
{
  CUevent event = new_event();
  begin_in(streams[0], mode);
  need(cu.EventRecord(event, streams[0]), "cuEventRecord");
  return event;
}

static int event_queried(void)
{
  CUevent event = captured_event(RELAXED);
  return with_end(cu.EventQuery(event));
}

static int event_synchronised(void)
{
  CUevent event = captured_event(RELAXED);
  return with_end(cu.EventSynchronize(event));
}

static int event_after_end(void)
{
  CUevent event = captured_event(GLOBAL);
  end_code();
  return (int)cu.EventQuery(event);
}

static int event_recorded_anew(void)
{
  CUevent event = captured_event(GLOBAL);
  end_code();
  cu.EventRecord(event, streams[0]);
  return (int)cu.EventSynchronize(event);
}

/* The legacy stream */

static int legacy_launch(void)
{
  CUfunction nothing = take_function("nothing");
  CUstream stream = blocking();
  CUgraph graph;
  begin_in(stream, RELAXED);
  CUresult code = launch(nothing, 1, 1, NULL, 0, 0);
  return 1000 * (int)code + (int)cu.StreamEndCapture(stream, &graph);
}

static int legacy_synchronised(void)
{
  CUstream stream = blocking();
  begin_in(stream, RELAXED);
  return (int)cu.StreamSynchronize(NULL);
}

static int legacy_status(void)
{
  CUstream stream = blocking();
  CUstreamCaptureStatus status;
  CUgraph graph;
  begin_in(stream, GLOBAL);
  CUresult code = cu.StreamIsCapturing(NULL, &status);
  return 1000 * (int)code + (int)cu.StreamEndCapture(stream, &graph);
}

static int legacy_beside(void)
{
  CUfunction nothing = take_function("nothing");
  begin();
  return with_end(launch(nothing, 1, 1, NULL, 0, 0));
}

static int legacy_beside_wait(void)
{
  CUevent event = captured_event(RELAXED);
  return (int)cu.StreamWaitEvent(NULL, event, 0);
}

/* What is spoilt */

static int launch_when_spoilt(void)
{
  CUfunction nothing = take_function("nothing");
  begin();
  cu.StreamQuery(streams[0]);
  return (int)launch(nothing, 1, 1, streams[0], 0, 0);
}

static int record_when_spoilt(void)
{
  CUevent event = new_event();
  begin();
  cu.StreamQuery(streams[0]);
  return (int)cu.EventRecord(event, streams[0]);
}

static int status_when_spoilt(void)
{
  begin();
  cu.StreamQuery(streams[0]);
  return status_of(streams[0]);
}

static int status_after_spoilt(void)
{
  begin();
  cu.StreamQuery(streams[0]);
  end_code();
  return status_of(streams[0]);
}

static int graph_when_spoilt(void)
{
  CUgraph graph = (CUgraph)(uintptr_t)1;
  begin();
  cu.StreamQuery(streams[0]);
  cu.StreamEndCapture(streams[0], &graph);
  return graph != NULL;
}

static int abandoned(void)
{
  begin();
  come_after(streams[0], streams[1]);
  cu.StreamDestroy(streams[0]);
  return status_of(streams[1]);
}

static const strict_case begins[] = {
  { "a capture in the legacy stream", ASSUMED, 900, .run = legacy },
  { "a capture of unknown mode", DOCUMENTED, 1, .run = mode_three },
  { "a second capture in a stream spoils nothing", ASSUMED, 401000,
    .run = twice },
  { "nor one in a forked stream", ASSUMED, 401000, .run = forked_begins },
  { "an end without a beginning", ASSUMED, 401, .run = end_first },
  { "a capture of nothing", ASSUMED, 0, .run = end_of_nothing },
  { "an end in a forked stream spoils it", ASSUMED, 903901,
    .run = end_in_fork },
  { "an end by another thread spoils it", ASSUMED, 908901,
    .run = end_elsewhere_global },
  { "also of mode thread-local", DOCUMENTED, 908, .run = end_elsewhere_local },
  { "not of a relaxed one", DOCUMENTED, 0, .run = end_elsewhere_relaxed },
  { "a stream destroyed while it captures ends that", OURS, 0,
    .run = abandoned },
};

static const strict_case forks[] = {
  { "a fork is not joined", DOCUMENTED, 904, .run = unjoined },
  { "after which the streams work", DOCUMENTED, 0,
    .run = usable_after_unjoined },
  { "a fork without work", ASSUMED, 0, .run = fork_without_work },
  { "a fork is joined", DOCUMENTED, 0, .run = joined },
  { "a fork has work after it was joined", DOCUMENTED, 904,
    .run = joined_early },
  { "a stream that waits for a captured event captures", DOCUMENTED, 1,
    .run = fork_status },
  { "until the capture's end", DOCUMENTED, 0, .run = fork_after_end },
  { "a capturing stream waits for other work", DOCUMENTED, 905901,
    .run = isolation },
  { "or for an event never recorded", ASSUMED, 905, .run = never_recorded },
  { "two captures merge", DOCUMENTED, 902901, .run = merged },
  { "which spoils both", ASSUMED, 901, .run = merged_other },
  { "a wait for an event of a spoilt capture", ASSUMED, 1,
    .run = wait_for_spoilt },
  { "of one that has ended", ASSUMED, 1, .run = wait_for_ended },
  { "the same by a stream that captures", ASSUMED, 905,
    .run = wait_for_ended_capturing },
  { "what was queued before does not count", DOCUMENTED, 0,
    .run = work_before },
};

static const strict_case questions[] = {
  { "a capturing stream is waited for", DOCUMENTED, 900901,
    .run = synchronised_global },
  { "in mode relaxed", ASSUMED, 900901, .run = synchronised_relaxed },
  { "a capturing stream is queried", DOCUMENTED, 900901,
    .run = queried_local },
  { "in mode relaxed, too", ASSUMED, 900901, .run = queried_relaxed },
  { "a capturing stream's context is waited for", DOCUMENTED, 900901,
    .run = context_own },
  { "by another thread", DOCUMENTED, 900901, .run = context_other },
  { "a captured event is queried", DOCUMENTED, 907901, .run = event_queried },
  { "or waited for", DOCUMENTED, 907901, .run = event_synchronised },
  { "also when the capture has ended", ASSUMED, 907, .run = event_after_end },
  { "not when it was recorded anew", DOCUMENTED, 0,
    .run = event_recorded_anew },
};

static const strict_case legacies[] = {
  { "a launch in the legacy stream, a blocking one captures", DOCUMENTED,
    906901, .run = legacy_launch },
  { "a wait for it", DOCUMENTED, 906, .run = legacy_synchronised },
  { "whether it captures, which spoils nothing", DOCUMENTED, 906000,
    .run = legacy_status },
  { "beside a non-blocking stream it works", DOCUMENTED, 0,
    .run = legacy_beside },
  { "but does not become part of that capture", ASSUMED, 900,
    .run = legacy_beside_wait },
};

static const strict_case spoilt[] = {
  { "a launch in a spoilt capture", DOCUMENTED, 901,
    .run = launch_when_spoilt },
  { "a record in one", DOCUMENTED, 901, .run = record_when_spoilt },
  { "its status", DOCUMENTED, 2, .run = status_when_spoilt },
  { "after its end", DOCUMENTED, 0, .run = status_after_spoilt },
  { "which gives no graph", DOCUMENTED, 0, .run = graph_when_spoilt },
};

void strict_captures(void)
{
  STRICT_RUN(begins);
  STRICT_RUN(forks);
  STRICT_RUN(questions);
  STRICT_RUN(legacies);
  STRICT_RUN(spoilt);
}
