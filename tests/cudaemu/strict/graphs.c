/* Graphs: what they are made of, and how they run. */
#include <string.h>

#include "tests/cudaemu/strict/strict.h"

/* What is in them */

static int type_of(CUgraphNode node)
{
  CUgraphNodeType type = (CUgraphNodeType)-1;
  need(cu.GraphNodeGetType(node, &type), "cuGraphNodeGetType");
  return (int)type;
}

static void call_nothing(void *data) { (void)data; }

static int types(void)
{
  CUgraphNode nodes[4];
  int all = 0;
  CUdeviceptr memory = take(64);
  CUfunction nothing = take_function("nothing");
  begin();
  launch(nothing, 1, 1, streams[0], 0, 0);
  cu.MemcpyDtoDAsync(memory, memory + 32, 4, streams[0]);
  cu.MemsetD8Async(memory, 0, 4, streams[0]);
  cu.LaunchHostFunc(streams[0], call_nothing, NULL);
  size_t count = nodes_of(end(), nodes, 4);
  for (size_t i = 0; i < count; i++) all = 10 * all + type_of(nodes[i]);
  return all;
}

/* An event is no node. */
static CUgraph diamond(void)
{
  begin_with_work(GLOBAL);
  put_in(streams[0]);
  come_after(streams[0], streams[1]);
  put_in(streams[0]);
  put_in(streams[1]);
  come_after(streams[1], streams[0]);
  put_in(streams[0]);
  return end();
}

static int fork_and_join(void)
{
  CUgraph graph = diamond();
  CUgraphNode from[8], to[8];
  size_t edges = 8, roots = 0;
  need(cu.GraphGetEdges(graph, from, to, &edges), "cuGraphGetEdges");
  need(cu.GraphGetRootNodes(graph, NULL, &roots), "cuGraphGetRootNodes");
  if (edges < 8 && (from[edges] || to[edges])) return -1;
  return (int)(100 * nodes_of(graph, NULL, 0) + 10 * edges + roots);
}

static int kernel_parameters(void)
{
  CUgraphNode node = NULL;
  CUDA_KERNEL_NODE_PARAMS got;
  CUdeviceptr memory = take(64), first;
  CUfunction put = take_function("put");
  begin();
  launch(put, 2, 16, streams[0], memory, 4);
  nodes_of(end(), &node, 1);
  need(cu.GraphKernelNodeGetParams(node, &got), "cuGraphKernelNodeGetParams");
  memcpy(&first, got.kernelParams[0], sizeof first);
  return got.func == put && got.gridDimX == 2 && got.blockDimX == 16 &&
         got.blockDimZ == 1 && first == memory ? 0 : 1;
}

static int instantiated_early(void)
{
  CUgraphExec exec;
  CUgraph graph = NULL;
  CUstreamCaptureStatus status;
  begin_in(streams[0], RELAXED);
  need(cu.StreamGetCaptureInfo(streams[0], &status, NULL, &graph, NULL, NULL),
       "cuStreamGetCaptureInfo");
  return (int)cu.GraphInstantiateWithFlags(&exec, graph, 0);
}

static int unknown_flags(void)
{
  CUgraphExec exec;
  begin();
  return (int)cu.GraphInstantiateWithFlags(&exec, end(), 64);
}

static int empty(void)
{
  begin();
  replay(instantiate(end()));
  return finish(streams[0]);
}

/* How they run. Captured work does nothing by itself, and all each time. */

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
  for (int i = 0; i < launches; i++) replay(exec);
  return word_at(other);
}

static int replayed_never(void) { return replayed(0); }
static int replayed_once(void) { return replayed(1); }
static int replayed_twice(void) { return replayed(2); }

/* Counts up without an atomic operation: two at once would lose some. */
static int one_at_a_time(void)
{
  CUdeviceptr memory = take(64);
  CUfunction count = take_function("count");
  need(cu.MemsetD32Async(memory, 0, 16, streams[0]), "cuMemsetD32");
  finish(streams[0]);
  begin();
  launch(count, 1, 32, streams[0], memory, 0);
  CUgraphExec exec = instantiate(end());
  for (int i = 0; i < 4; i++)
    need(cu.GraphLaunch(exec, streams[i % 2]), "cuGraphLaunch");
  finish(streams[1]);
  return word_at(memory) + reported();
}

static int behind_work(void)
{
  CUdeviceptr memory = take(64);
  uint32_t *gate = shut(streams[0]);
  begin_in(streams[1], GLOBAL);
  cu.MemsetD32Async(memory, 3, 1, streams[1]);
  CUgraph graph = NULL;
  need(cu.StreamEndCapture(streams[1], &graph), "cuStreamEndCapture");
  CUgraphExec exec = instantiate(graph);
  cu.MemsetD32Async(memory, 2, 1, streams[0]);
  replay(exec);
  int code = (int)cu.StreamQuery(streams[0]);
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  return 10 * code + word_at(memory);
}

static int graph_gone(void)
{
  CUdeviceptr memory = take(64);
  begin();
  cu.MemsetD32Async(memory, 3, 1, streams[0]);
  CUgraph graph = end();
  CUgraphExec exec = instantiate(graph);
  need(cu.GraphDestroy(graph), "cuGraphDestroy");
  replay(exec);
  return word_at(memory);
}

static int destroyed_on_its_way(void)
{
  CUdeviceptr memory = take(64);
  uint32_t *gate = shut(streams[0]);
  begin_in(streams[1], RELAXED);
  cu.MemsetD32Async(memory, 3, 1, streams[1]);
  CUgraph graph = NULL;
  need(cu.StreamEndCapture(streams[1], &graph), "cuStreamEndCapture");
  CUgraphExec exec = instantiate(graph);
  replay(exec);
  need(cu.GraphExecDestroy(exec), "cuGraphExecDestroy");
  __atomic_store_n(gate, 1, __ATOMIC_RELEASE);
  return word_at(memory);
}

static int launched_destroyed(void)
{
  begin();
  CUgraphExec exec = instantiate(end());
  cu.GraphExecDestroy(exec);
  return (int)cu.GraphLaunch(exec, streams[0]);
}

static int destroyed_twice(void)
{
  begin();
  CUgraph graph = end();
  cu.GraphDestroy(graph);
  return (int)cu.GraphDestroy(graph);
}

static int launched_in_capture(void)
{
  begin();
  CUgraphExec exec = instantiate(end());
  begin();
  return (int)cu.GraphLaunch(exec, streams[0]);
}

/* When arguments and the host's memory are read */

static int arguments(void)
{
  CUdeviceptr memory = take(64);
  CUfunction put = take_function("put");
  uint64_t to = memory, offset = 0;
  void *parameters[] = { &to, &offset };
  cu.MemsetD32Async(memory, 9, 16, streams[0]);
  begin();
  cu.LaunchKernel(put, 1, 1, 1, 16, 1, 1, 0, streams[0], parameters, NULL);
  to = offset = 0;
  replay(instantiate(end()));
  return word_at(memory + 4);
}

static int host_source(uint32_t *source)
{
  CUdeviceptr memory = take(64);
  *source = 1;
  begin();
  cu.MemcpyHtoDAsync(memory, source, 4, streams[0]);
  CUgraphExec exec = instantiate(end());
  *source = 2;
  replay(exec);
  return word_at(memory);
}

static int pinned_source(void) { return host_source(take_pinned(4)); }

static int pageable_source(void)
{
  static uint32_t word;
  return host_source(&word);
}

static int pageable_destination(void)
{
  static uint32_t word;
  CUdeviceptr memory = take(64);
  cu.MemsetD32Async(memory, 4, 1, streams[0]);
  begin();
  cu.MemcpyDtoHAsync(&word, memory, 4, streams[0]);
  CUgraphExec exec = instantiate(end());
  if (word) return -1;
  replay(exec);
  int code = finish(streams[0]);
  return code ? -code : (int)word;
}

/* Host functions */

static uint32_t *seen;
static int told;

static void see(void *data) { told = (int)*seen + *(int *)data; }

static int host_function(int is_captured)
{
  static int more = 30;
  CUdeviceptr memory = take(64);
  seen = take_pinned(4);
  if (is_captured) begin();
  cu.MemsetD32Async(memory, 4, 1, streams[0]);
  cu.MemcpyDtoHAsync(seen, memory, 4, streams[0]);
  need(cu.LaunchHostFunc(streams[0], see, &more), "cuLaunchHostFunc");
  if (is_captured) {
    CUgraphExec exec = instantiate(end());
    if (told) return -1;
    replay(exec);
  }
  int code = finish(streams[0]);
  return code ? -code : told;
}

static int function_queued(void) { return host_function(0); }
static int function_captured(void) { return host_function(1); }

static void call_driver(void *data)
{
  *(int *)data = (int)cu.StreamQuery(streams[1]);
}

static int function_calls(void)
{
  static int code = -1;
  cu.LaunchHostFunc(streams[0], call_driver, &code);
  finish(streams[0]);
  reported();
  return code;
}

static int function_null(void)
{
  return (int)cu.LaunchHostFunc(streams[0], NULL, NULL);
}

static int function_after_failure(void)
{
  static int more;
  static uint32_t word = 5;
  CUfunction stop = take_function("stop");
  seen = &word;
  launch(stop, 1, 1, streams[0], 0, 0);
  cu.LaunchHostFunc(streams[0], see, &more);
  finish(streams[0]);
  return told;
}

/* Failures */

static int failing_kernel(void)
{
  CUfunction stop = take_function("stop");
  begin();
  launch(stop, 1, 1, streams[0], 0, 0);
  replay(instantiate(end()));
  return finish(streams[0]);
}

static int freed_copied(void)
{
  CUdeviceptr memory = take(64), other = take(64);
  begin();
  cu.MemcpyDtoDAsync(other, memory, 64, streams[0]);
  CUgraphExec exec = instantiate(end());
  cu.MemFree(memory);
  replay(exec);
  return finish(streams[0]);
}

static int freed_pinned(void)
{
  CUdeviceptr memory = take(64);
  void *pinned = take_pinned(64);
  begin();
  cu.MemcpyHtoDAsync(memory, pinned, 64, streams[0]);
  CUgraphExec exec = instantiate(end());
  cu.MemFreeHost(pinned);
  replay(exec);
  return finish(streams[0]);
}

static int freed_in_kernel(void)
{
  CUdeviceptr memory = take(64);
  CUfunction put = take_function("put");
  begin();
  launch(put, 1, 16, streams[0], memory, 0);
  CUgraphExec exec = instantiate(end());
  replay(exec);
  if (finish(streams[0])) return -1;
  cu.MemFree(memory);
  replay(exec);
  return finish(streams[0]);
}

static int unloaded(void)
{
  CUmodule module = NULL;
  CUfunction function = NULL;
  static const char text[] = ".version 6.3\n.target sm_75\n"
                             ".address_size 64\n.visible .entry f() { ret; }\n";
  cu.ModuleLoadDataEx(&module, text, 0, NULL, NULL);
  cu.ModuleGetFunction(&function, module, "f");
  begin();
  launch(function, 1, 1, streams[0], 0, 0);
  CUgraphExec exec = instantiate(end());
  cu.ModuleUnload(module);
  replay(exec);
  return finish(streams[0]);
}

static int planned(void)
{
  begin();
  return (int)cu.GraphLaunch(instantiate(end()), streams[0]);
}

static int planned_late(void)
{
  begin();
  CUresult code = cu.GraphLaunch(instantiate(end()), streams[0]);
  return code ? -(int)code : finish(streams[0]);
}

static int planned_node(void)
{
  CUfunction nothing = take_function("nothing");
  begin();
  if (launch(nothing, 1, 1, streams[0], 0, 0)) return -1;
  CUgraphExec exec = instantiate(end());
  if (finish(streams[0])) return -2;
  replay(exec);
  return finish(streams[0]);
}

static int planned_capture(void)
{
  return (int)cu.StreamBeginCapture(streams[0], (CUstreamCaptureMode)0);
}

/* Order */

/* Two fills, on two paths or on one. */
static int two_fills(int is_ordered)
{
  CUdeviceptr memory = take(64);
  begin();
  come_after(streams[0], streams[1]);
  cu.MemsetD8Async(memory, 1, 64, streams[0]);
  if (is_ordered) come_after(streams[0], streams[1]);
  cu.MemsetD8Async(memory, 2, 64, streams[1]);
  come_after(streams[1], streams[0]);
  replay(instantiate(end()));
  int code = finish(streams[0]);
  return code ? -code : reported();
}

static int unordered(void) { return two_fills(0); }
static int ordered(void) { return two_fills(1); }

static int after_the_join(void)
{
  CUdeviceptr memory = take(64), other = take(64);
  begin();
  come_after(streams[0], streams[1]);
  cu.MemsetD8Async(memory, 1, 64, streams[0]);
  cu.MemsetD8Async(other, 2, 64, streams[1]);
  come_after(streams[1], streams[0]);
  cu.MemcpyDtoDAsync(memory, other, 64, streams[0]);
  CUgraphExec exec = instantiate(end());
  replay(exec);
  replay(exec);
  cu.MemsetD8Async(other, 3, 64, streams[0]);
  int code = finish(streams[0]);
  return code ? -code : reported();
}

/* The kernel that another path reads of writes without being ordered. */
static int unordered_kernel(void)
{
  CUdeviceptr memory = take(64), other = take(64);
  CUfunction put = take_function("put"), copy = take_function("copy");
  begin();
  come_after(streams[0], streams[1]);
  launch(put, 1, 16, streams[0], memory, 0);
  launch(copy, 1, 16, streams[1], other, memory);
  come_after(streams[1], streams[0]);
  replay(instantiate(end()));
  int code = finish(streams[0]);
  return code ? -code : reported();
}

static CUgraphExec fill_graph(CUdeviceptr memory)
{
  begin();
  cu.MemsetD8Async(memory, 1, 64, streams[0]);
  return instantiate(end());
}

static int two_streams(int is_waited)
{
  CUdeviceptr memory = take(64);
  CUgraphExec first = fill_graph(memory), second = fill_graph(memory);
  replay(first);
  if (is_waited) come_after(streams[0], streams[1]);
  need(cu.GraphLaunch(second, streams[1]), "cuGraphLaunch");
  int code = finish(streams[0]);
  if (!code) code = finish(streams[1]);
  return code ? -code : reported();
}

static int two_graphs(void) { return two_streams(0); }
static int two_graphs_waited(void) { return two_streams(1); }

static int graph_and_fill(void)
{
  CUdeviceptr memory = take(64);
  replay(fill_graph(memory));
  cu.MemsetD8Async(memory, 1, 64, streams[1]);
  int code = finish(streams[0]);
  if (!code) code = finish(streams[1]);
  return code ? -code : reported();
}

static int graph_and_host(void)
{
  CUdeviceptr memory = take(64);
  replay(fill_graph(memory));
  finish(streams[0]);
  cu.MemsetD8Async(memory, 1, 64, streams[1]);
  int code = finish(streams[1]);
  return code ? -code : reported();
}

static void ignore(void *data) { (void)data; }

/* What comes after a host function knows what the host knew. */
static int through_function(void)
{
  CUdeviceptr memory = take(64);
  cu.MemsetD8Async(memory, 1, 64, streams[0]);
  cu.LaunchHostFunc(streams[0], ignore, NULL);
  while (cu.StreamQuery(streams[0])) continue;
  cu.MemsetD8Async(memory, 1, 64, streams[1]);
  finish(streams[1]);
  return reported();
}

static const strict_case contents[] = {
  { "kernel, copy, fill and host function", DOCUMENTED, 123, .run = types },
  { "fork and join: 4 nodes, 4 edges, 1 root", DOCUMENTED, 441,
    .run = fork_and_join },
  { "a kernel's node has its parameters", DOCUMENTED, 0,
    .run = kernel_parameters },
  { "a graph is instantiated before the capture's end", ASSUMED, 1,
    .run = instantiated_early },
  { "a graph is instantiated with unknown flags", DOCUMENTED, 1,
    .run = unknown_flags },
  { "an empty graph", ASSUMED, 0, .run = empty },
};

static const strict_case runs[] = {
  { "captured work is not done", DOCUMENTED, 7, .run = replayed_never },
  { "but when the graph is launched", DOCUMENTED, 5, .run = replayed_once },
  { "each time", DOCUMENTED, 5, .run = replayed_twice },
  { "launches of one graph do not overlap", DOCUMENTED, 400,
    .run = one_at_a_time },
  { "a graph waits for the stream", DOCUMENTED, 6003, .run = behind_work },
  { "a graph is destroyed once it was instantiated", DOCUMENTED, 3,
    .run = graph_gone },
  { "a graph is destroyed on its way", DOCUMENTED, 3,
    .run = destroyed_on_its_way },
  { "a destroyed graph is launched", OURS, 1, .run = launched_destroyed },
  { "a graph is destroyed twice", OURS, 1, .run = destroyed_twice },
  { "a graph within a graph", OURS, 801, .run = launched_in_capture },
  { "arguments are read when they are captured", DOCUMENTED, 1,
    .run = arguments },
  { "pinned memory when the graph runs", ASSUMED, 2, .run = pinned_source },
  { "so is pageable memory", ASSUMED, 2, .run = pageable_source },
  { "or written", ASSUMED, 4, .run = pageable_destination },
};

static const strict_case functions[] = {
  { "a host function comes after work", DOCUMENTED, 34,
    .run = function_queued },
  { "captured too", DOCUMENTED, 34, .run = function_captured },
  { "a host function calls the driver", DOCUMENTED, 800,
    .run = function_calls },
  { "no host function", ASSUMED, 1, .run = function_null },
  { "a host function behind a failure", DOCUMENTED, 0,
    .run = function_after_failure },
};

static const strict_case failures[] = {
  { "a kernel of a graph fails", ASSUMED, 719, .run = failing_kernel },
  { "a graph copies freed memory", OURS, 700, .run = freed_copied,
    "use after free" },
  { "or memory that was pinned", OURS, 700, .run = freed_pinned,
    "use after free" },
  { "a graph's kernel writes to freed memory", OURS, 700,
    .run = freed_in_kernel, "freed" },
  { "a graph's kernel was unloaded", OURS, 719, .run = unloaded,
    "use after free" },
  { "a launch of a graph fails by plan", OURS, 2, .run = planned,
    .settings = "TENON_CUDAEMU_FAIL=cuGraphLaunch:1=2" },
  { "what it launches does", OURS, 719, .run = planned_late,
    .settings = "TENON_CUDAEMU_FAIL=cuGraphLaunch:1~719" },
  { "what was captured does", OURS, 719, .run = planned_node,
    .settings = "TENON_CUDAEMU_FAIL=cuLaunchKernel:1~719" },
  { "a capture does not begin, by plan", OURS, 999, .run = planned_capture,
    .settings = "TENON_CUDAEMU_FAIL=cuStreamBeginCapture:1=999" },
};

static const strict_case orders[] = {
  { "two paths of a graph fill one memory", OURS, 1, .run = unordered,
    " of a graph) on stream" },
  { "one after the other", OURS, 0, .run = ordered },
  { "what comes after both paths", OURS, 0, .run = after_the_join },
  { "a path reads what another writes", OURS, 1, .run = unordered_kernel,
    "and nothing says which comes first" },
  { "two graphs in two streams", OURS, 1, .run = two_graphs,
    "unordered: a fill" },
  { "one stream waits for the other", OURS, 0, .run = two_graphs_waited },
  { "a graph and a fill in two streams", OURS, 1, .run = graph_and_fill,
    "unordered: a fill" },
  { "with the host between them", OURS, 0, .run = graph_and_host },
  { "with a host function between them", OURS, 0, .run = through_function },
};

void strict_graphs(void)
{
  STRICT_RUN(contents);
  STRICT_RUN(runs);
  STRICT_RUN(functions);
  STRICT_RUN(failures);
  STRICT_RUN(orders);
}
