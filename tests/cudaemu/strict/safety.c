/* Calls that are unsafe while something is captured, and who may make them. */
#include "tests/cudaemu/strict/strict.h"

static int allocate(void)
{
  CUdeviceptr address;
  return (int)cu.MemAlloc(&address, 64);
}

static int allocate_relaxed(void)
{
  CUstreamCaptureMode mode = (CUstreamCaptureMode)RELAXED;
  cu.ThreadExchangeStreamCaptureMode(&mode);
  int code = allocate();
  cu.ThreadExchangeStreamCaptureMode(&mode);
  return code;
}

static int allocate_local(void)
{
  CUstreamCaptureMode mode = (CUstreamCaptureMode)THREAD_LOCAL;
  cu.ThreadExchangeStreamCaptureMode(&mode);
  return allocate();
}

static int own(int mode, int (*call)(void))
{
  begin_in(streams[0], mode);
  return with_end((CUresult)call());
}

static int other(int mode, int (*call)(void))
{
  begin_in(streams[0], mode);
  return with_end((CUresult)on_thread(call));
}

static int own_global(void) { return own(GLOBAL, allocate); }
static int own_local(void) { return own(THREAD_LOCAL, allocate); }
static int own_relaxed(void) { return own(RELAXED, allocate); }
static int own_exchanged(void) { return own(GLOBAL, allocate_relaxed); }
static int own_to_local(void) { return own(GLOBAL, allocate_local); }
static int other_global(void) { return other(GLOBAL, allocate); }
static int other_local(void) { return other(THREAD_LOCAL, allocate); }
static int other_relaxed(void) { return other(RELAXED, allocate); }
static int other_to_local(void) { return other(GLOBAL, allocate_local); }
static int other_exchanged(void) { return other(GLOBAL, allocate_relaxed); }

static int exchanged(void)
{
  CUstreamCaptureMode mode = (CUstreamCaptureMode)RELAXED;
  cu.ThreadExchangeStreamCaptureMode(&mode);
  int first = (int)mode;
  cu.ThreadExchangeStreamCaptureMode(&mode);
  return 10 * first + (int)mode;
}

static int exchange_three(void)
{
  CUstreamCaptureMode mode = (CUstreamCaptureMode)3;
  return (int)cu.ThreadExchangeStreamCaptureMode(&mode);
}

static int unsafe_free(void)
{
  CUdeviceptr memory = take(64);
  begin();
  return (int)cu.MemFree(memory);
}

static int unsafe_pinned(void)
{
  void *memory;
  begin();
  return (int)cu.MemHostAlloc(&memory, 64, 0);
}

static int unsafe_unpin(void)
{
  void *memory = take_pinned(64);
  begin();
  return (int)cu.MemFreeHost(memory);
}

static int unsafe_register(void)
{
  static char memory[4096];
  begin();
  return (int)cu.MemHostRegister(memory, sizeof memory, 0);
}

static int unsafe_module(void)
{
  static const char text[] =
      ".version 6.3\n.target sm_75\n.address_size 64\n";
  CUmodule module;
  begin();
  return (int)cu.ModuleLoadDataEx(&module, text, 0, NULL, NULL);
}

static int unsafe_unregister(void)
{
  static char memory[4096];
  need(cu.MemHostRegister(memory, sizeof memory, 0), "cuMemHostRegister");
  begin();
  return (int)cu.MemHostUnregister(memory);
}

static int unsafe_unload(void)
{
  static const char text[] =
      ".version 6.3\n.target sm_75\n.address_size 64\n";
  CUmodule module = NULL;
  need(cu.ModuleLoadDataEx(&module, text, 0, NULL, NULL), "cuModuleLoadData");
  begin();
  return (int)cu.ModuleUnload(module);
}

static int unsafe_wait_event(void)
{
  CUevent event = new_event();
  cu.EventRecord(event, streams[1]);
  begin();
  return (int)cu.EventSynchronize(event);
}

static int unsafe_synchronise(void)
{
  begin();
  return (int)cu.StreamSynchronize(streams[1]);
}

static int unsafe_query(void)
{
  begin();
  return (int)cu.StreamQuery(streams[1]);
}

static int unsafe_event(void)
{
  CUevent event = new_event();
  cu.EventRecord(event, streams[1]);
  begin();
  return (int)cu.EventQuery(event);
}

static int unsafe_instantiate(void)
{
  CUgraphExec exec;
  begin_in(streams[1], RELAXED);
  CUgraph graph = NULL;
  need(cu.StreamEndCapture(streams[1], &graph), "cuStreamEndCapture");
  begin();
  return (int)cu.GraphInstantiateWithFlags(&exec, graph, 0);
}

static int safe_relaxed(void)
{
  CUevent event = new_event();
  cu.EventRecord(event, streams[1]);
  begin_in(streams[0], RELAXED);
  int code = (int)cu.EventSynchronize(event);
  if (!code) code = (int)cu.StreamSynchronize(streams[1]);
  return code ? code : end_code();
}

static int safe_makes(void)
{
  CUevent event;
  CUstream stream;
  begin();
  int code = (int)cu.EventCreate(&event, 0);
  if (!code) code = (int)cu.StreamCreateWithPriority(&stream, 1, 0);
  return code ? code : end_code();
}

static int safe_launch_elsewhere(void)
{
  begin_with_work(GLOBAL);
  put_in(streams[1]);
  return end_code();
}

static const strict_case cases[] = {
  { "memory is taken while mode global captures", DOCUMENTED, 900901,
    .run = own_global },
  { "while mode thread-local does", DOCUMENTED, 900901, .run = own_local },
  { "while mode relaxed does", DOCUMENTED, 0, .run = own_relaxed },
  { "by a thread that is relaxed meanwhile", DOCUMENTED, 0,
    .run = own_exchanged },
  { "by one that is thread-local", DOCUMENTED, 900901, .run = own_to_local },
  { "by another thread, mode global", DOCUMENTED, 900901,
    .run = other_global },
  { "by another thread, mode thread-local", DOCUMENTED, 0,
    .run = other_local },
  { "by another thread, mode relaxed", DOCUMENTED, 0, .run = other_relaxed },
  { "by another thread that is thread-local", DOCUMENTED, 0,
    .run = other_to_local },
  { "by another thread that is relaxed", DOCUMENTED, 0,
    .run = other_exchanged },
  { "a thread's mode is global, and exchanged", DOCUMENTED, 2,
    .run = exchanged },
  { "for an unknown one", DOCUMENTED, 1, .run = exchange_three },
  { "unsafe: memory is given back", ASSUMED, 900, .run = unsafe_free },
  { "unsafe: pinned memory is taken", ASSUMED, 900, .run = unsafe_pinned },
  { "unsafe: pinned memory is given back", ASSUMED, 900,
    .run = unsafe_unpin },
  { "unsafe: memory is registered", ASSUMED, 900, .run = unsafe_register },
  { "unsafe: a module is loaded", ASSUMED, 900, .run = unsafe_module },
  { "unsafe: memory is registered no more", ASSUMED, 900,
    .run = unsafe_unregister },
  { "unsafe: a module is unloaded", ASSUMED, 900, .run = unsafe_unload },
  { "unsafe: another event is waited for", ASSUMED, 900,
    .run = unsafe_wait_event },
  { "unsafe: another stream is waited for", ASSUMED, 900,
    .run = unsafe_synchronise },
  { "unsafe: another stream is queried", ASSUMED, 900, .run = unsafe_query },
  { "unsafe: another event is queried", ASSUMED, 900, .run = unsafe_event },
  { "unsafe: a graph is instantiated", ASSUMED, 900,
    .run = unsafe_instantiate },
  { "all that is safe in mode relaxed", ASSUMED, 0, .run = safe_relaxed },
  { "safe: new events and streams", ASSUMED, 0, .run = safe_makes },
  { "safe: work elsewhere", ASSUMED, 0, .run = safe_launch_elsewhere },
};

void strict_safety(void) { STRICT_RUN(cases); }
