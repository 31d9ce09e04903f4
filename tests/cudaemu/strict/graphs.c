/* Graphs: what they are made of, and how they run. */
#include <string.h>

#include "tests/cudaemu/strict/strict.h"

static void begin(void)
{
  need(cu.StreamBeginCapture(streams[0], (CUstreamCaptureMode)0),
       "cuStreamBeginCapture");
}

static CUgraph end(void)
{
  CUgraph graph = NULL;
  need(cu.StreamEndCapture(streams[0], &graph), "cuStreamEndCapture");
  return graph;
}

static CUgraphExec instantiate(CUgraph graph)
{
  CUgraphExec exec = NULL;
  need(cu.GraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  return exec;
}

static __attribute__((unused)) void order(CUstream first, CUstream second)
{
  CUevent event = new_event();
  need(cu.EventRecord(event, first), "cuEventRecord");
  need(cu.StreamWaitEvent(second, event, 0), "cuStreamWaitEvent");
}

static int first_word(CUdeviceptr memory)
{
  uint32_t *word = take_pinned(4);
  need(cu.MemcpyDtoHAsync(word, memory, 4, streams[0]), "cuMemcpyDtoH");
  int code = finish(streams[0]);
  return code ? -code : (int)*word;
}

/* Captured work does nothing by itself, and all each time it is launched. */
static int replayed(int launches)
{
  CUdeviceptr memory = take(64), other = take(64);
  CUfunction put = take_function("put"), copy = take_function("copy");
  need(cu.MemsetD32Async(memory, 0, 16, streams[0]), "cuMemsetD32");
  need(cu.MemsetD32Async(other, 7, 16, streams[0]), "cuMemsetD32");
  begin();
  launch(put, 1, 16, streams[0], memory, 0);
  cu.MemcpyDtoDAsync(memory, memory + 20, 4, streams[0]);
  launch(copy, 1, 16, streams[0], other, memory);
  CUgraphExec exec = instantiate(end());
  for (int i = 0; i < launches; i++)
    need(cu.GraphLaunch(exec, streams[0]), "cuGraphLaunch");
  return first_word(other);
}

static int replayed_never(void) { return replayed(0); }
static int replayed_once(void) { return replayed(1); }
static int replayed_twice(void) { return replayed(2); }

static const strict_case cases[] = {
  { "captured work is not done", DOCUMENTED, 7, .run = replayed_never },
  { "but when the graph is launched", DOCUMENTED, 5, .run = replayed_once },
  { "each time", DOCUMENTED, 5, .run = replayed_twice },
};

void strict_graphs(void) { STRICT_RUN(cases); }
