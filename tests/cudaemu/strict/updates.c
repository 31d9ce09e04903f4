/* What of an instantiated graph may be changed. */
#include "tests/cudaemu/strict/strict.h"

/* A graph of one node, and how its node is named. */
typedef struct single {
  CUgraph graph;
  CUgraphNode node;
  CUgraphExec exec;
} single;

static single end_single(void)
{
  single made = { .graph = end() };
  if (nodes_of(made.graph, &made.node, 1) != 1) need((CUresult)-1, "one node");
  made.exec = instantiate(made.graph);
  return made;
}

/* Kernels */

static CUresult set_kernel(const single *s, CUfunction function,
                           unsigned threads, uint64_t first, uint64_t second)
{
  void *pointers[] = { &first, &second };
  CUDA_KERNEL_NODE_PARAMS wanted = {
    .func = function, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
    .blockDimX = threads, .blockDimY = 1, .blockDimZ = 1,
    .kernelParams = pointers,
  };
  return cu.GraphExecKernelNodeSetParams(s->exec, s->node, &wanted);
}

static single put_graph(CUdeviceptr memory)
{
  CUfunction put = take_function("put");
  begin();
  launch(put, 1, 4, streams[0], memory, 0);
  return end_single();
}

static CUdeviceptr nines(void)
{
  CUdeviceptr memory = take(64);
  need(cu.MemsetD32Async(memory, 9, 16, streams[0]), "cuMemsetD32");
  return memory;
}

static int other_pointer(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory);
  need(set_kernel(&s, take_function("put"), 4, other, 0), "an update");
  replay(s.exec);
  return 10 * word_at(memory) + word_at(other);
}

/* What was launched before is as it was. */
static int on_its_way(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory);
  CUfunction put = take_function("put");
  uint32_t *gate = shut(streams[0]);
  replay(s.exec);
  need(set_kernel(&s, put, 4, other, 0), "an update");
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  int first = word_at(memory);
  return 10 * first + word_at(other);
}

static int other_function(void)
{
  CUdeviceptr memory = nines(), other = take(64);
  single s = put_graph(other);
  need(set_kernel(&s, take_function("copy"), 4, other, memory), "an update");
  replay(s.exec);
  return word_at(other);
}

static int other_device(void)
{
  single s = put_graph(take(64));
  cu.CtxSetCurrent(contexts[1]);
  CUfunction put = take_function("put");
  CUdeviceptr memory = take(64);
  return (int)set_kernel(&s, put, 4, memory, 0);
}

static int too_many_threads(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory);
  return (int)set_kernel(&s, take_function("put"), 2000, memory, 0);
}

static int no_threads(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory);
  return (int)set_kernel(&s, take_function("put"), 0, memory, 0);
}

static int refused_kept(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory);
  CUresult code = set_kernel(&s, take_function("put"), 2000, other, 0);
  replay(s.exec);
  int old = word_at(memory);
  return 100 * (int)code + 10 * old + word_at(other);
}

static int launched_twice(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory);
  CUgraphExec second = instantiate(s.graph);
  need(set_kernel(&s, take_function("put"), 4, other, 0), "an update");
  replay(second);
  int first = word_at(memory);
  return 10 * first + word_at(other);
}

static int foreign_node(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory), other = put_graph(memory);
  s.node = other.node;
  return (int)set_kernel(&s, take_function("put"), 4, memory, 0);
}

static int gone_node(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory);
  cu.GraphDestroy(s.graph);
  return (int)set_kernel(&s, take_function("put"), 4, memory, 0);
}

static int node_itself(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory);
  uint64_t first = other, second = 0;
  void *pointers[] = { &first, &second };
  CUDA_KERNEL_NODE_PARAMS wanted = {
    .func = take_function("put"), .gridDimX = 1, .gridDimY = 1,
    .gridDimZ = 1, .blockDimX = 4, .blockDimY = 1, .blockDimZ = 1,
    .kernelParams = pointers,
  };
  need(cu.GraphKernelNodeSetParams(s.node, &wanted), "an update");
  replay(s.exec);
  int old = word_at(memory);
  replay(instantiate(s.graph));
  return 10 * old + word_at(other);
}

/* Copies */

static single copy_graph(CUdeviceptr to, CUdeviceptr from)
{
  begin();
  cu.MemcpyDtoDAsync(to, from, 4, streams[0]);
  return end_single();
}

static CUDA_MEMCPY3D flat(CUdeviceptr to, CUdeviceptr from, size_t bytes)
{
  return (CUDA_MEMCPY3D){
    .srcMemoryType = (CUmemorytype)TN_CU_MEMORYTYPE_DEVICE, .srcDevice = from,
    .dstMemoryType = (CUmemorytype)TN_CU_MEMORYTYPE_DEVICE, .dstDevice = to,
    .WidthInBytes = bytes, .Height = 1, .Depth = 1,
  };
}

static CUresult set_copy(const single *s, const CUDA_MEMCPY3D *copy)
{
  return cu.GraphExecMemcpyNodeSetParams(s->exec, s->node, copy, contexts[0]);
}

static int copy_elsewhere(void)
{
  CUdeviceptr from = nines(), to = take(64);
  need(cu.MemsetD32Async(to, 1, 16, streams[0]), "cuMemsetD32");
  single s = copy_graph(to, from);
  CUDA_MEMCPY3D wanted = flat(to + 8, from, 8);
  need(set_copy(&s, &wanted), "an update");
  replay(s.exec);
  return 100 * word_at(to) + 10 * word_at(to + 8) + word_at(to + 12);
}

static int copy_nothing(void)
{
  CUdeviceptr memory = take(64);
  single s = copy_graph(memory, memory + 32);
  CUDA_MEMCPY3D wanted = flat(memory, memory + 32, 0);
  return (int)set_copy(&s, &wanted);
}

static int copy_rows(void)
{
  CUdeviceptr memory = take(64);
  single s = copy_graph(memory, memory + 32);
  CUDA_MEMCPY3D wanted = flat(memory, memory + 32, 4);
  wanted.Height = 2;
  wanted.srcPitch = wanted.dstPitch = 8;
  return (int)set_copy(&s, &wanted);
}

static int copy_of_host(void)
{
  CUdeviceptr memory = take(64);
  void *pinned = take_pinned(4);
  single s = copy_graph(memory, memory + 32);
  CUDA_MEMCPY3D wanted = flat(memory, 0, 4);
  wanted.srcMemoryType = (CUmemorytype)TN_CU_MEMORYTYPE_HOST;
  wanted.srcHost = pinned;
  return (int)set_copy(&s, &wanted);
}

static int copy_of_other_device(void)
{
  CUdeviceptr memory = take(64);
  single s = copy_graph(memory, memory + 32);
  cu.CtxSetCurrent(contexts[1]);
  CUDA_MEMCPY3D wanted = flat(memory, take(64), 4);
  cu.CtxSetCurrent(contexts[0]);
  return (int)set_copy(&s, &wanted);
}

static int copy_of_kernel(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory);
  CUDA_MEMCPY3D wanted = flat(memory, memory + 32, 4);
  return (int)set_copy(&s, &wanted);
}

/* Fills */

static CUresult set_fill(const single *s, CUdeviceptr to, unsigned value,
                         size_t width, size_t height)
{
  CUDA_MEMSET_NODE_PARAMS wanted = {
    .dst = to, .pitch = height > 1 ? 16 : 0, .value = value,
    .elementSize = 4, .width = width, .height = height,
  };
  return cu.GraphExecMemsetNodeSetParams(s->exec, s->node, &wanted,
                                         contexts[0]);
}

static single fill_graph(CUdeviceptr memory)
{
  begin();
  cu.MemsetD32Async(memory, 5, 2, streams[0]);
  return end_single();
}

static int fill_elsewhere(void)
{
  CUdeviceptr memory = nines();
  single s = fill_graph(memory);
  need(set_fill(&s, memory + 4, 6, 2, 1), "an update");
  replay(s.exec);
  return 100 * word_at(memory) + 10 * word_at(memory + 4) +
         word_at(memory + 8);
}

static int fill_nothing(void)
{
  CUdeviceptr memory = take(64);
  single s = fill_graph(memory);
  return (int)set_fill(&s, memory, 6, 0, 1);
}

static int fill_rows(void)
{
  CUdeviceptr memory = take(64);
  single s = fill_graph(memory);
  return (int)set_fill(&s, memory, 6, 2, 2);
}

static int fill_more(void)
{
  CUdeviceptr memory = take(64);
  single s = fill_graph(memory);
  return (int)set_fill(&s, memory, 6, 3, 1);
}

static int fill_other_rows(void)
{
  CUdeviceptr memory = take(64);
  begin();
  cu.MemsetD2D32Async(memory, 16, 5, 2, 2, streams[0]);
  single s = end_single();
  return (int)set_fill(&s, memory, 6, 1, 2);
}

/* Host functions */

static int told;

static void tell(void *data) { told = *(int *)data; }

static int call_other(void)
{
  static int one = 1, two = 2;
  begin();
  cu.LaunchHostFunc(streams[0], tell, &one);
  single s = end_single();
  CUDA_HOST_NODE_PARAMS wanted = { tell, &two };
  need(cu.GraphExecHostNodeSetParams(s.exec, s.node, &wanted), "an update");
  replay(s.exec);
  finish(streams[0]);
  return told;
}

/* All at once: 1000 times the code, and why. */

static int whole(const single *s, CUgraph graph)
{
  CUgraphExecUpdateResultInfo info = { 0 };
  CUresult code = cu.GraphExecUpdate(s->exec, graph, &info);
  return 1000 * (int)code + (int)info.result;
}

static int whole_same(void)
{
  CUdeviceptr memory = nines(), other = nines();
  single s = put_graph(memory), wanted = put_graph(other);
  int code = whole(&s, wanted.graph);
  if (code) return code;
  replay(s.exec);
  return 10 * word_at(memory) + word_at(other);
}

static int whole_other_count(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory);
  begin();
  return whole(&s, end());
}

static int whole_other_edges(void)
{
  single s = { 0 };
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  put_in(streams[0]);
  s.exec = instantiate(end());
  begin();
  put_in(streams[0]);
  need(cu.StreamUpdateCaptureDependencies(streams[0], NULL, 0, 1),
       "cuStreamUpdateCaptureDependencies");
  put_in(streams[0]);
  return whole(&s, end());
}

static int whole_other_kind(void)
{
  CUdeviceptr memory = take(64);
  single s = put_graph(memory), wanted = fill_graph(memory);
  return whole(&s, wanted.graph);
}

static int whole_other_device(void)
{
  CUstream stream = NULL;
  CUgraph graph = NULL;
  single s = put_graph(take(64));
  cu.CtxSetCurrent(contexts[1]);
  CUfunction put = take_function("put");
  CUdeviceptr memory = take(64);
  need(cu.StreamCreateWithPriority(&stream, 1, 0), "cuStreamCreate");
  begin_in(stream, GLOBAL);
  launch(put, 1, 4, stream, memory, 0);
  need(cu.StreamEndCapture(stream, &graph), "cuStreamEndCapture");
  return whole(&s, graph);
}

/* A refusal is of all nodes: the first one, which would do, is as it was. */
static int whole_refused(void)
{
  CUdeviceptr memory = nines(), other = nines();
  CUfunction put = take_function("put");
  begin();
  launch(put, 1, 4, streams[0], memory, 0);
  cu.MemsetD8Async(memory + 32, 1, 4, streams[0]);
  CUgraphExec exec = instantiate(end());
  begin();
  launch(put, 1, 4, streams[0], other, 0);
  cu.MemcpyDtoDAsync(memory + 32, memory + 36, 4, streams[0]);
  CUgraphExecUpdateResultInfo info = { 0 };
  CUresult code = cu.GraphExecUpdate(exec, end(), &info);
  replay(exec);
  int old = word_at(memory);
  return 1000 * (int)code + 10 * old + word_at(other);
}

static int whole_capturing(void)
{
  CUgraph graph = NULL;
  CUstreamCaptureStatus status;
  CUgraphExecUpdateResultInfo info = { 0 };
  single s = put_graph(take(64));
  begin_in(streams[0], RELAXED);
  need(cu.StreamGetCaptureInfo(streams[0], &status, NULL, &graph, NULL, NULL),
       "cuStreamGetCaptureInfo");
  return (int)cu.GraphExecUpdate(s.exec, graph, &info);
}

static int whole_other_memory(void)
{
  CUdeviceptr memory = take(64);
  void *pinned = take_pinned(4);
  single s = copy_graph(memory, memory + 32);
  begin();
  cu.MemcpyHtoDAsync(memory, pinned, 4, streams[0]);
  return whole(&s, end());
}

static const strict_case cases[] = {
  { "a kernel's arguments are changed", DOCUMENTED, 90, .run = other_pointer },
  { "not of a launch on its way", DOCUMENTED, 9, .run = on_its_way },
  { "another kernel in its place", DOCUMENTED, 9, .run = other_function },
  { "one of another device", DOCUMENTED, 1, .run = other_device,
    .devices = 2 },
  { "with too many threads", DOCUMENTED, 1, .run = too_many_threads },
  { "with no threads", DOCUMENTED, 1, .run = no_threads },
  { "a refused change changes nothing", DOCUMENTED, 109,
    .run = refused_kept },
  { "of two that a graph was instantiated to, one is changed", DOCUMENTED, 9,
    .run = launched_twice },
  { "a node of another graph", DOCUMENTED, 1, .run = foreign_node },
  { "a node that is gone", OURS, 1, .run = gone_node },
  { "a node itself is changed, not what was instantiated", DOCUMENTED, 0,
    .run = node_itself },
  { "a copy's addresses and size are changed", DOCUMENTED, 199,
    .run = copy_elsewhere },
  { "to no bytes", DOCUMENTED, 1, .run = copy_nothing },
  { "to rows", DOCUMENTED, 1, .run = copy_rows },
  { "to another kind of memory", DOCUMENTED, 1, .run = copy_of_host },
  { "to memory of another device", DOCUMENTED, 1,
    .run = copy_of_other_device, .devices = 2 },
  { "a kernel's node is changed to a copy", DOCUMENTED, 1,
    .run = copy_of_kernel },
  { "a fill's address and value are changed", DOCUMENTED, 966,
    .run = fill_elsewhere },
  { "to nothing", DOCUMENTED, 1, .run = fill_nothing },
  { "to rows", DOCUMENTED, 1, .run = fill_rows },
  { "to more, which a driver may take", OURS, 1, .run = fill_more },
  { "of rows to others", DOCUMENTED, 1, .run = fill_other_rows },
  { "a host function's data are changed", DOCUMENTED, 2, .run = call_other },
  { "all nodes are changed at once", DOCUMENTED, 90, .run = whole_same },
  { "to a graph with fewer nodes", DOCUMENTED, 910002,
    .run = whole_other_count },
  { "with other edges", DOCUMENTED, 910002, .run = whole_other_edges },
  { "with nodes of other kinds", DOCUMENTED, 910003,
    .run = whole_other_kind },
  { "with a kernel of another device", DOCUMENTED, 910007,
    .run = whole_other_device, .devices = 2 },
  { "with another kind of memory", DOCUMENTED, 910005,
    .run = whole_other_memory },
  { "which then changes nothing", DOCUMENTED, 910009, .run = whole_refused },
  { "to a graph that is still captured", ASSUMED, 1, .run = whole_capturing },
};

void strict_updates(void) { STRICT_RUN(cases); }
