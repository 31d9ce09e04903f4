/* Replays against the driver's own graphs of the same nodes: 100 small kernels
 * in a chain, and 100 side by side between a first and a last one. */
#include "config.h"

#include <string.h>

#include "bench/cuda.h"

#define NODES 100

typedef struct replay {
  tn_graph *graph;
  tn_stream *stream;
  CUgraph raw_graph;
  CUgraphExec raw_exec;
  CUgraphNode first; /* of the raw one */
  void *y, *x;
  float value;
} replay;

static void replay_run(void *argument, int64_t count)
{
  const replay *r = argument;
  tn_with_stream(r->stream)
    for (int64_t i = 0; i < count; i++)
      check(tn_graph_replay(r->graph), "replay");
  wait_for_gpu();
}

static void raw_replay_run(void *argument, int64_t count)
{
  const replay *r = argument;
  for (int64_t i = 0; i < count; i++)
    raw_check(raw.calls.GraphLaunch(r->raw_exec, raw.stream),
              "cuGraphLaunch");
  raw_wait();
}

/* Each replay with another argument of the first node. */
static void changed_run(void *argument, int64_t count)
{
  replay *r = argument;
  tn_with_stream(r->stream)
    for (int64_t i = 0; i < count; i++) {
      const tn_arg value = TN_ARG_F32(r->value += 1);
      check(tn_graph_set_argument(r->graph, 0, 2, value), "argument");
      check(tn_graph_replay(r->graph), "replay");
    }
  wait_for_gpu();
}

static void raw_changed_run(void *argument, int64_t count)
{
  replay *r = argument;
  CUdeviceptr y = address(r->y), x = address(r->x);
  int64_t n = 1;
  for (int64_t i = 0; i < count; i++) {
    r->value += 1;
    void *values[] = { &y, &x, &r->value, &n };
    const CUDA_KERNEL_NODE_PARAMS parameters = {
      .func = raw.axpy, .gridDimX = 1, .gridDimY = 1, .gridDimZ = 1,
      .blockDimX = 256, .blockDimY = 1, .blockDimZ = 1,
      .kernelParams = values,
    };
    raw_check(raw.calls.GraphExecKernelNodeSetParams(r->raw_exec, r->first,
                                                     &parameters),
              "cuGraphExecKernelNodeSetParams");
    raw_check(raw.calls.GraphLaunch(r->raw_exec, raw.stream),
              "cuGraphLaunch");
  }
  raw_wait();
}

/* ---- our side ---- */

static void add(const replay *r, tn_kernel *axpy, int at)
{
  check(tn_launch(axpy, 1,
                  TN_ARGS(TN_ARG_PTR((float *)r->y + at), TN_ARG_PTR(r->x),
                          TN_ARG_F32(0.5f), TN_ARG_I64(1))), "launch");
}

static void capture_chain(const replay *r, tn_kernel *axpy)
{
  tn_with_graph(r->graph, .stream = r->stream)
    for (int i = 0; i < NODES; i++) add(r, axpy, 0);
}

/* The library's own streams are fewer than that. */
static void open_streams(CUstream *raw_streams, tn_stream **streams)
{
  for (int i = 0; i < NODES; i++) {
    raw_check(raw.calls.StreamCreateWithPriority(&raw_streams[i],
                                                 TN_CU_STREAM_NON_BLOCKING,
                                                 0),
              "cuStreamCreateWithPriority");
    streams[i] = tn_stream_wrap(gpu, raw_streams[i]);
    check(streams[i] ? TN_OK : tn_last_status(), "a wrapped stream");
  }
}

static void close_streams(CUstream *raw_streams, tn_stream **streams)
{
  for (int i = 0; i < NODES; i++) {
    tn_stream_release(streams[i]);
    raw_check(raw.calls.StreamDestroy(raw_streams[i]), "cuStreamDestroy");
  }
}

static void capture_fork(const replay *r, tn_kernel *axpy)
{
  CUstream raw_streams[NODES];
  tn_stream *side[NODES];
  open_streams(raw_streams, side);
  tn_with_graph(r->graph, .stream = r->stream) {
    add(r, axpy, 0);
    for (int i = 0; i < NODES; i++) {
      tn_stream_wait_stream(side[i], r->stream);
      tn_with_stream(side[i]) add(r, axpy, i + 1);
    }
    for (int i = 0; i < NODES; i++) tn_stream_wait_stream(r->stream, side[i]);
    add(r, axpy, 0);
  }
  close_streams(raw_streams, side);
}

/* ---- the driver's side ---- */

static CUgraphNode raw_add(const replay *r, int at)
{
  CUdeviceptr y = address((float *)r->y + at), x = address(r->x);
  CUstreamCaptureStatus state;
  const CUgraphNode *nodes = NULL;
  size_t count = 0;
  float a = 0.5f;
  int64_t n = 1;
  void *parameters[] = { &y, &x, &a, &n };
  raw_check(raw.calls.LaunchKernel(raw.axpy, 1, 1, 1, 256, 1, 1, 0,
                                   raw.stream, parameters, NULL),
            "cuLaunchKernel");
  raw_check(raw.calls.StreamGetCaptureInfo(raw.stream, &state, NULL, NULL,
                                           &nodes, &count),
            "cuStreamGetCaptureInfo");
  return count ? nodes[0] : NULL;
}

static void raw_after(CUgraphNode *nodes, size_t count)
{
  raw_check(raw.calls.StreamUpdateCaptureDependencies(
                raw.stream, nodes, count,
                TN_CU_STREAM_SET_CAPTURE_DEPENDENCIES),
            "cuStreamUpdateCaptureDependencies");
}

static void raw_capture_chain(replay *r)
{
  r->first = raw_add(r, 0);
  for (int i = 1; i < NODES; i++) raw_add(r, 0);
}

static void raw_capture_fork(replay *r)
{
  CUgraphNode ends[NODES];
  r->first = raw_add(r, 0);
  for (int i = 0; i < NODES; i++) {
    raw_after(&r->first, 1);
    ends[i] = raw_add(r, i + 1);
  }
  raw_after(ends, NODES);
  raw_add(r, 0);
}

static void raw_capture(replay *r, void (*nodes)(replay *))
{
  raw_check(raw.calls.StreamBeginCapture(
                raw.stream,
                (CUstreamCaptureMode)TN_CU_STREAM_CAPTURE_MODE_RELAXED),
            "cuStreamBeginCapture");
  nodes(r);
  raw_check(raw.calls.StreamEndCapture(raw.stream, &r->raw_graph),
            "cuStreamEndCapture");
  raw_check(raw.calls.GraphInstantiateWithFlags(&r->raw_exec, r->raw_graph,
                                                0),
            "cuGraphInstantiateWithFlags");
}

/* ---- rows ---- */

static void run_pair(const char *name, replay *r, bench_work ours,
                     bench_work theirs)
{
  bench_run(&(bench_case){ .name = name,
                           .subject = { "tn_graph_replay", ours, r },
                           .limit = { "cuGraphLaunch", theirs, r },
                           .goal = BENCH_AT_MOST, .wanted = 1.15 });
}

static void run_shape(const char *name, const char *changed,
                      void (*capture)(const replay *, tn_kernel *),
                      void (*raw_nodes)(replay *))
{
  tn_kernel *axpy = kernel_of("elementwise", "axpy_f32");
  replay r = { .graph = tn_graph_new(), .stream = tn_stream_new(gpu, 0),
               .y = zeros(4096), .x = zeros(4096) };
  check(r.graph && r.stream ? TN_OK : tn_last_status(), "a graph");
  capture(&r, axpy);
  char path[80] = "";
  check(tn_graph_path(r.graph, path, sizeof path) < 0 ? tn_last_status()
                                                      : TN_OK, name);
  if (strncmp(path, "native: ", 8) != 0) printf("%s: %s\n", name, path);
  raw_capture(&r, raw_nodes);
  run_pair(name, &r, replay_run, raw_replay_run);
  if (changed) run_pair(changed, &r, changed_run, raw_changed_run);
  tn_graph_release(r.graph);
  tn_stream_release(r.stream);
  raw_check(raw.calls.GraphExecDestroy(r.raw_exec), "cuGraphExecDestroy");
  raw_check(raw.calls.GraphDestroy(r.raw_graph), "cuGraphDestroy");
  tn_free(r.y);
  tn_free(r.x);
  tn_kernel_release(axpy);
}

void run_graphs(void)
{
  run_shape("replay, a chain of 100 kernels", "replay, an argument changed",
            capture_chain, raw_capture_chain);
  run_shape("replay, a fork 100 kernels wide", NULL, capture_fork,
            raw_capture_fork);
}
