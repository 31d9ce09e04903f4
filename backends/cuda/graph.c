/* A stream capture, of one stream alone: what a command depends on is set, and
 * not made of events. The core has checked all of it, and nothing of it is
 * prohibited in relaxed mode. */
#include "config.h"

#include "backends/cuda/graph.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cuda/capture.h"
#include "backends/cuda/module.h"

struct tn_backend_graph {
  tn_backend_device *device;
  CUgraph graph; /* updates name its nodes */
  CUgraphExec exec;
  const tn_cuda_contents *contents;
};

struct tn_cuda_capture {
  CUgraphNode *nodes; /* room for what a command depends on */
  size_t capacity;
  tn_cuda_contents_list contents;
};

static bool has_graphs(void)
{
#define IS_THERE(name, version, parameters) &&cu_.name
  return true TN_CUDA_GRAPHS(IS_THERE);
#undef IS_THERE
}

/* ---- capture ---- */

static tn_status begin(tn_backend_stream *stream)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code) code = cu_.StreamBeginCapture(stream->handle, TN_CUDA_RELAXED);
  tn_cuda_leave(stream->device, former);
  return tn_cuda_check(code, "cuStreamBeginCapture", stream->device);
}

static tn_status capture_begin(tn_backend_stream *stream)
{
  if (!has_graphs())
    return tn_host->error(TN_UNSUPPORTED, "the driver lacks calls for graphs");
  tn_cuda_capture *capture = calloc(1, sizeof *capture);
  if (!capture)
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for a capture");
  tn_status status = begin(stream);
  if (status) free(capture);
  else stream->capture = capture;
  return status;
}

static bool reserve(tn_cuda_capture *capture, size_t count)
{
  if (count < capture->capacity) return true;
  CUgraphNode *nodes = realloc(capture->nodes, (count + 1) * sizeof *nodes);
  if (!nodes) return false;
  capture->nodes = nodes;
  capture->capacity = count + 1;
  return true;
}

static tn_status capture_after(tn_backend_stream *stream,
                               const uint64_t *nodes, size_t count)
{
  tn_cuda_capture *capture = stream->capture;
  CUcontext former;
  if (!reserve(capture, count))
    return tn_host->error(TN_OUT_OF_MEMORY, "no host memory for the %zu nodes "
                          "that one runs after", count);
  for (size_t i = 0; i < count; i++)
    capture->nodes[i] = (CUgraphNode)(uintptr_t)nodes[i];
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code)
    code = cu_.StreamUpdateCaptureDependencies(
        stream->handle, capture->nodes, count,
        TN_CU_STREAM_SET_CAPTURE_DEPENDENCIES);
  tn_cuda_leave(stream->device, former);
  return tn_cuda_check(code, "cuStreamUpdateCaptureDependencies",
                       stream->device);
}

/* What the next command would run after: just the latest one. */
static CUresult ask_latest(const tn_backend_stream *stream, CUgraphNode *node)
{
  CUstreamCaptureStatus state;
  const CUgraphNode *nodes = NULL;
  size_t count = 0;
  CUresult code = cu_.StreamGetCaptureInfo(stream->handle, &state, NULL, NULL,
                                           &nodes, &count);
  if (code) return code;
  if ((int)state != TN_CU_STREAM_CAPTURE_STATUS_ACTIVE || count != 1)
    return (CUresult)TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED;
  *node = nodes[0];
  return TN_CUDA_SUCCESS;
}

static tn_status capture_node(tn_backend_stream *stream, uint64_t *node)
{
  CUcontext former;
  CUgraphNode latest = NULL;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code) code = ask_latest(stream, &latest);
  tn_cuda_leave(stream->device, former);
  if (code) return tn_cuda_check(code, "cuStreamGetCaptureInfo",
                                 stream->device);
  tn_cuda_contents_note(&stream->capture->contents, stream->trail);
  *node = (uint64_t)(uintptr_t)latest;
  return TN_OK;
}

tn_status tn_cuda_capture_function(tn_backend_stream *stream,
                                   void (*function)(void *), void *argument)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code) code = cu_.LaunchHostFunc(stream->handle, function, argument);
  tn_cuda_leave(stream->device, former);
  return tn_cuda_check(code, "cuLaunchHostFunc", stream->device);
}

/* With the context current. Instantiating may allocate, which a capture of the
 * program's own would forbid. */
static tn_status end(tn_backend_stream *stream, tn_backend_graph *graph)
{
  CUresult code = cu_.StreamEndCapture(stream->handle, &graph->graph);
  if (code) return tn_cuda_check(code, "cuStreamEndCapture", stream->device);
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  code = cu_.GraphInstantiateWithFlags(&graph->exec, graph->graph, 0);
  tn_cuda_relax(mode);
  if (!code) return TN_OK;
  cu_.GraphDestroy(graph->graph);
  return tn_cuda_check(code, "cuGraphInstantiateWithFlags", stream->device);
}

static tn_status end_capture(tn_backend_stream *stream,
                             tn_backend_graph *graph)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(stream->device, &former);
  tn_status status =
      code ? tn_cuda_check(code, "binding the context", stream->device)
           : end(stream, graph);
  tn_cuda_leave(stream->device, former);
  return status;
}

static tn_status capture_end(tn_backend_stream *stream,
                             tn_backend_graph **graph)
{
  tn_cuda_capture *capture = stream->capture;
  tn_backend_graph ended = {
    .device = stream->device,
    .contents = tn_cuda_contents_keep(&capture->contents),
  };
  tn_backend_graph *made = malloc(sizeof *made);
  stream->capture = NULL;
  tn_status status = end_capture(stream, &ended);
  free(capture->nodes);
  free(capture);
  if (status == TN_OK && made) {
    *made = ended;
    *graph = made;
    return TN_OK;
  }
  if (status == TN_OK) {
    cu_.GraphExecDestroy(ended.exec);
    cu_.GraphDestroy(ended.graph);
    status = tn_host->error(TN_OUT_OF_MEMORY, "no host memory for a graph");
  }
  free(made);
  return status;
}

/* ---- runs ---- */

static tn_status launch(tn_backend_graph *graph, tn_backend_stream *stream)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code) code = cu_.GraphLaunch(graph->exec, stream->handle);
  tn_cuda_leave(stream->device, former);
  if (code) return tn_cuda_check(code, "cuGraphLaunch", stream->device);
  tn_cuda_trail_add_graph(stream->trail, graph->contents);
  return TN_OK;
}

/* What a driver does not let be changed can still be captured anew, where what
 * is wrong by itself is refused again. */
static tn_status check_update(CUresult code, tn_backend_device *device)
{
  static const char call[] = "cuGraphExecKernelNodeSetParams";
  char text[TN_CUDA_CODE_TEXT_SIZE];
  switch ((int)code) {
    case TN_CUDA_ERROR_INVALID_VALUE:
    case TN_CUDA_ERROR_NOT_SUPPORTED:
    case TN_CUDA_ERROR_GRAPH_EXEC_UPDATE_FAILURE:
      return tn_host->error(TN_UNSUPPORTED, "%s answered %s on %s", call,
                            tn_cuda_code_text(code, text), device->info.name);
    default:
      return tn_cuda_check(code, call, device);
  }
}

static tn_status update(tn_backend_graph *graph, const tn_node_update *change)
{
  CUcontext former;
  CUDA_KERNEL_NODE_PARAMS parameters;
  void *slots[TN_CUDA_PARAMETERS_MAX];
  if (change->struct_size < sizeof *change)
    return tn_host->error(TN_INVALID_ARGUMENT, "the update of a node has %zu "
                          "bytes, and %zu are needed", change->struct_size,
                          sizeof *change);
  tn_status status = tn_cuda_launch_describe(change->kernel, change->launch,
                                             change->slots, slots,
                                             &parameters);
  if (status) return status;
  CUresult code = tn_cuda_enter(graph->device, &former);
  if (!code)
    code = cu_.GraphExecKernelNodeSetParams(
        graph->exec, (CUgraphNode)(uintptr_t)change->node, &parameters);
  tn_cuda_leave(graph->device, former);
  return check_update(code, graph->device);
}

/* The driver keeps what queued runs need until they have ended. */
static void destroy(tn_backend_graph *graph)
{
  CUcontext former;
  if (tn_cuda_enter(graph->device, &former) == TN_CUDA_SUCCESS) {
    cu_.GraphExecDestroy(graph->exec);
    cu_.GraphDestroy(graph->graph);
    tn_cuda_leave(graph->device, former);
  }
  free(graph);
}

void *tn_cuda_graph_handle(const void *graph)
{
  return ((const tn_backend_graph *)graph)->exec;
}

const tn_backend_graph_table tn_cuda_graph_table = {
  .struct_size = sizeof tn_cuda_graph_table,
  .capture_begin = capture_begin,
  .capture_after = capture_after,
  .capture_node = capture_node,
  .capture_end = capture_end,
  .launch = launch,
  .update = update,
  .destroy = destroy,
};
