/* Forks of forks, of other devices, of spoilt captures, and what the legacy
 * stream has to do with them. */
#include "tests/cudaemu/strict/strict.h"

static CUstream third(void)
{
  CUstream stream = NULL;
  need(cu.StreamCreateWithPriority(&stream, TN_CU_STREAM_NON_BLOCKING, 0),
       "cuStreamCreateWithPriority");
  return stream;
}

/* A fork of a fork; the first one is joined before or after the second joined
 * it, or the second one itself. */
static int nested(int is_joined_there, int is_joined_here)
{
  CUstream stream = third();
  put_in(stream);
  need((CUresult)finish(stream), "a fill");
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  come_after(streams[1], stream);
  put_in(stream);
  if (is_joined_there) come_after(stream, streams[1]);
  come_after(streams[1], streams[0]);
  if (is_joined_here) come_after(stream, streams[0]);
  return end_code();
}

static int nested_there(void) { return nested(1, 0); }
static int nested_here(void) { return nested(0, 1); }
static int nested_unjoined(void) { return nested(0, 0); }

static int nested_too_late(void)
{
  CUstream stream = third();
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  come_after(streams[1], stream);
  put_in(stream);
  come_after(streams[1], streams[0]);
  come_after(stream, streams[1]);
  return end_code();
}

static int fork_after_join(void)
{
  begin_with_work(GLOBAL);
  for (int i = 0; i < 2; i++) {
    come_after(streams[0], streams[1]);
    put_in(streams[1]);
    come_after(streams[1], streams[0]);
  }
  CUgraph graph = end();
  return (int)nodes_of(graph, NULL, 0);
}

/* The fork is of another context: a graph may have both. */
static int other_device(void)
{
  CUevent back = NULL;
  CUstream far = NULL;
  cu.CtxSetCurrent(contexts[1]);
  CUdeviceptr memory = take(64);
  uint32_t *word = take_pinned(4);
  far = third();
  need(cu.EventCreate(&back, TN_CU_EVENT_DISABLE_TIMING), "cuEventCreate");
  cu.CtxSetCurrent(contexts[0]);
  begin();
  come_after(streams[0], far);
  need(cu.MemsetD32Async(memory, 8, 1, far), "cuMemsetD32");
  need(cu.MemcpyDtoHAsync(word, memory, 4, far), "cuMemcpyDtoH");
  need(cu.EventRecord(back, far), "cuEventRecord");
  need(cu.StreamWaitEvent(streams[0], back, 0), "cuStreamWaitEvent");
  replay(instantiate(end()));
  int code = finish(streams[0]);
  return code ? -code : (int)*word;
}

/* Spoilt, with a fork */

static void spoil_with_fork(void)
{
  begin_with_work(GLOBAL);
  come_after(streams[0], streams[1]);
  cu.StreamQuery(streams[0]);
}

static int fork_of_spoilt(void)
{
  spoil_with_fork();
  return status_of(streams[1]);
}

static int work_in_fork(void)
{
  CUfunction nothing = take_function("nothing");
  spoil_with_fork();
  return (int)launch(nothing, 1, 1, streams[1], 0, 0);
}

static int fork_spoils(void)
{
  begin();
  come_after(streams[0], streams[1]);
  return with_end(cu.StreamSynchronize(streams[1]));
}

static int unsafe_for_fork(void)
{
  begin();
  come_after(streams[0], streams[1]);
  return with_end(cu.CtxSynchronize());
}

static int function_in_spoilt(void)
{
  spoil_with_fork();
  return (int)cu.LaunchHostFunc(streams[1], NULL, NULL);
}

static int dependencies_of_spoilt(void)
{
  spoil_with_fork();
  return (int)cu.StreamUpdateCaptureDependencies(streams[0], NULL, 0, 1);
}

static int merge_by_fork(void)
{
  CUstream stream = third();
  begin();
  begin_in(stream, GLOBAL);
  come_after(stream, streams[1]);
  CUevent event = new_event();
  cu.EventRecord(event, streams[1]);
  return with_end(cu.StreamWaitEvent(streams[0], event, 0));
}

/* The legacy stream, when a blocking stream captures */

static CUstream begin_blocking(void)
{
  CUstream stream = NULL;
  need(cu.StreamCreateWithPriority(&stream, 0, 0), "cuStreamCreate");
  begin_in(stream, RELAXED);
  return stream;
}

static int with_blocking_end(CUstream stream, CUresult code)
{
  CUgraph graph;
  return 1000 * (int)code + (int)cu.StreamEndCapture(stream, &graph);
}

static int legacy_record(void)
{
  CUevent event = new_event();
  CUstream stream = begin_blocking();
  return with_blocking_end(stream, cu.EventRecord(event, NULL));
}

static int legacy_wait(void)
{
  CUevent event = new_event();
  cu.EventRecord(event, streams[0]);
  CUstream stream = begin_blocking();
  return with_blocking_end(stream, cu.StreamWaitEvent(NULL, event, 0));
}

static int legacy_graph(void)
{
  begin();
  CUgraphExec exec = instantiate(end());
  CUstream stream = begin_blocking();
  return with_blocking_end(stream, cu.GraphLaunch(exec, NULL));
}

static int legacy_of_fork(void)
{
  CUfunction nothing = take_function("nothing");
  CUstream stream = NULL;
  need(cu.StreamCreateWithPriority(&stream, 0, 0), "cuStreamCreate");
  begin();
  come_after(streams[0], stream);
  return with_end(launch(nothing, 1, 1, NULL, 0, 0));
}

static int legacy_elsewhere(void)
{
  CUstream stream = begin_blocking();
  cu.CtxSetCurrent(contexts[1]);
  CUfunction nothing = take_function("nothing");
  CUresult code = launch(nothing, 1, 1, NULL, 0, 0);
  cu.CtxSetCurrent(contexts[0]);
  return with_blocking_end(stream, code);
}

static const strict_case forks[] = {
  { "a fork of a fork is joined by the fork", DOCUMENTED, 0,
    .run = nested_there },
  { "or by the origin", DOCUMENTED, 0, .run = nested_here },
  { "by neither", DOCUMENTED, 904, .run = nested_unjoined },
  { "by the fork, when that was joined already", DOCUMENTED, 904,
    .run = nested_too_late },
  { "a stream is forked and joined twice: 2 nodes", DOCUMENTED, 2,
    .run = fork_after_join },
  { "a fork of another device", DOCUMENTED, 8, .run = other_device,
    .devices = 2 },
  { "an event of another capture's fork", DOCUMENTED, 902901,
    .run = merge_by_fork },
};

static const strict_case spoilt[] = {
  { "a spoilt capture's fork is spoilt", DOCUMENTED, 2,
    .run = fork_of_spoilt },
  { "work in it", DOCUMENTED, 901, .run = work_in_fork },
  { "a host function in it, even none", ASSUMED, 901,
    .run = function_in_spoilt },
  { "dependencies of a spoilt capture", ASSUMED, 901,
    .run = dependencies_of_spoilt },
  { "a fork that is waited for spoils all", DOCUMENTED, 900901,
    .run = fork_spoils },
  { "so does its context", DOCUMENTED, 900901, .run = unsafe_for_fork },
};

static const strict_case legacies[] = {
  { "a record in the legacy stream, a blocking one captures", DOCUMENTED,
    906901, .run = legacy_record },
  { "a wait of it", DOCUMENTED, 906901, .run = legacy_wait },
  { "a graph launched in it", DOCUMENTED, 906901, .run = legacy_graph },
  { "a launch in it, a blocking fork captures", DOCUMENTED, 906901,
    .run = legacy_of_fork },
  { "a launch in that of another device", DOCUMENTED, 0,
    .run = legacy_elsewhere, .devices = 2 },
};

void strict_forks(void)
{
  STRICT_RUN(forks);
  STRICT_RUN(spoilt);
  STRICT_RUN(legacies);
}
