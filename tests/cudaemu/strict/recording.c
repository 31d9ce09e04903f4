/* What tests of captures and graphs share. */
#include "tests/cudaemu/strict/strict.h"

void begin_in(CUstream stream, int mode)
{
  need(cu.StreamBeginCapture(stream, (CUstreamCaptureMode)mode),
       "cuStreamBeginCapture");
}

void begin(void) { begin_in(streams[0], TN_CU_STREAM_CAPTURE_MODE_GLOBAL); }

int end_code(void)
{
  CUgraph graph = NULL;
  int code = (int)cu.StreamEndCapture(streams[0], &graph);
  if (graph) cu.GraphDestroy(graph);
  return code;
}

CUgraph end(void)
{
  CUgraph graph = NULL;
  need(cu.StreamEndCapture(streams[0], &graph), "cuStreamEndCapture");
  return graph;
}

CUgraphExec instantiate(CUgraph graph)
{
  CUgraphExec exec = NULL;
  need(cu.GraphInstantiateWithFlags(&exec, graph, 0), "cuGraphInstantiate");
  return exec;
}

void replay(CUgraphExec exec)
{
  need(cu.GraphLaunch(exec, streams[0]), "cuGraphLaunch");
}

void come_after(CUstream first, CUstream second)
{
  CUevent event = new_event();
  need(cu.EventRecord(event, first), "cuEventRecord");
  need(cu.StreamWaitEvent(second, event, 0), "cuStreamWaitEvent");
}

int status_of(CUstream stream)
{
  CUstreamCaptureStatus status = (CUstreamCaptureStatus)-1;
  need(cu.StreamIsCapturing(stream, &status), "cuStreamIsCapturing");
  return (int)status;
}

size_t nodes_of(CUgraph graph, CUgraphNode *nodes, size_t room)
{
  size_t count = room;
  need(cu.GraphGetNodes(graph, nodes, &count), "cuGraphGetNodes");
  return count;
}

int word_at(CUdeviceptr memory)
{
  uint32_t *word = take_pinned(4);
  need(cu.MemcpyDtoHAsync(word, memory, 4, streams[0]), "cuMemcpyDtoH");
  int code = finish(streams[0]);
  return code ? -code : (int)*word;
}

int with_end(CUresult code) { return 1000 * (int)code + end_code(); }

void put_in(CUstream stream)
{
  static CUdeviceptr memory;
  if (!memory) memory = take(64);
  need(cu.MemsetD8Async(memory, 1, 64, stream), "cuMemsetD8");
}

void begin_with_work(int mode)
{
  put_in(streams[1]);
  need(cu.StreamSynchronize(streams[1]), "cuStreamSynchronize");
  begin_in(streams[0], mode);
}
