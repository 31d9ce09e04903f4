#include "tests/cudaemu/capture.h"

#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/thread.h"

static emu_capture *captures; /* begun, and not ended */
static emu_capture *past_captures;

static unsigned this_thread(void)
{
  static unsigned numbered;
  if (!emu_here.number) emu_here.number = ++numbered;
  return emu_here.number;
}

static CUresult invalidate(emu_capture *capture, CUresult code)
{
  if (!capture->has_ended) capture->is_invalid = true;
  return code;
}

/* What may be done meanwhile */

static bool is_relaxed(const emu_capture *capture)
{
  return capture->mode == TN_CU_STREAM_CAPTURE_MODE_RELAXED;
}

/* Whether a capture keeps this thread from unsafe calls. */
static bool forbids(const emu_capture *capture)
{
  switch ((int)emu_here.capture_mode) {
    case TN_CU_STREAM_CAPTURE_MODE_RELAXED:
      return false;
    case TN_CU_STREAM_CAPTURE_MODE_THREAD_LOCAL:
      return capture->thread == this_thread() && !is_relaxed(capture);
    default:
      return (capture->thread == this_thread() && !is_relaxed(capture)) ||
             capture->mode == TN_CU_STREAM_CAPTURE_MODE_GLOBAL;
  }
}

CUresult emu_capture_forbid(void)
{
  CUresult code = TN_CUDA_SUCCESS;
  for (emu_capture *c = captures; c; c = c->next)
    if (forbids(c))
      code = invalidate(c, TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return code;
}

/* The legacy stream is all blocking streams of its context. A capture that one
 * of them is part of, or NULL. */
static emu_capture *find_implied(const emu_stream *stream)
{
  if (!stream->is_legacy) return NULL;
  for (emu_stream *s = emu.streams; s; s = s->next)
    if (s->context == stream->context && s->is_blocking && s->capture)
      return s->capture;
  return NULL;
}

static CUresult imply(const emu_stream *stream)
{
  emu_capture *implied = find_implied(stream);
  return implied ? invalidate(implied, TN_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT)
                 : TN_CUDA_SUCCESS;
}

CUresult emu_capture_admit(emu_stream *stream)
{
  if (stream->capture && stream->capture->is_invalid)
    return TN_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  return imply(stream);
}

CUresult emu_capture_watch(emu_stream *stream)
{
  if (!stream->capture) return imply(stream);
  if (stream->capture->is_invalid)
    return TN_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  return invalidate(stream->capture, TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
}

CUresult emu_capture_watch_context(const emu_context *context)
{
  CUresult code = TN_CUDA_SUCCESS;
  for (emu_stream *s = emu.streams; s; s = s->next)
    if (s->context == context && s->capture)
      code = invalidate(s->capture, TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  return code;
}

/* Nodes and events */

CUresult emu_capture_add(emu_stream *stream, emu_work *work)
{
  if (!work) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  emu_node *node = emu_graph_add(stream->capture->graph, work, &stream->tips);
  if (!node) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  emu_nodes_clear(&stream->tips);
  return emu_nodes_add(&stream->tips, node) ? TN_CUDA_SUCCESS
                                            : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult emu_capture_mark(const emu_stream *stream, emu_mark *mark)
{
  emu_nodes_clear(&mark->nodes);
  mark->capture = stream->capture;
  return emu_nodes_add_all(&mark->nodes, &stream->tips)
             ? TN_CUDA_SUCCESS
             : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

/* A stream that captures is to come after what was not captured, or by another
 * capture. */
static CUresult refuse_join(emu_stream *stream, emu_capture *other)
{
  if (!other || other->has_ended)
    return invalidate(stream->capture,
                      TN_CUDA_ERROR_STREAM_CAPTURE_ISOLATION);
  invalidate(other, TN_CUDA_SUCCESS);
  return invalidate(stream->capture, TN_CUDA_ERROR_STREAM_CAPTURE_MERGE);
}

CUresult emu_capture_join(emu_stream *stream, const emu_mark *mark)
{
  if (stream->capture && stream->capture != mark->capture)
    return refuse_join(stream, mark->capture);
  if (mark->capture->has_ended || mark->capture->is_invalid)
    return TN_CUDA_ERROR_INVALID_VALUE;
  if (stream->is_legacy)
    return invalidate(mark->capture,
                      TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  stream->capture = mark->capture;
  return emu_nodes_add_all(&stream->tips, &mark->nodes)
             ? TN_CUDA_SUCCESS
             : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

CUresult emu_capture_watch_mark(const emu_mark *mark)
{
  return invalidate(mark->capture, TN_CUDA_ERROR_CAPTURED_EVENT);
}

/* What the next node is to come after, as the program says. */
static CUresult set_tips(emu_stream *stream, emu_node *const *nodes,
                         size_t count, unsigned flags)
{
  const emu_nodes *own = &stream->capture->graph->nodes;
  if ((count && !nodes) || flags > TN_CU_STREAM_SET_CAPTURE_DEPENDENCIES)
    return TN_CUDA_ERROR_INVALID_VALUE;
  for (size_t i = 0; i < count; i++)
    if (!emu_nodes_has(own, nodes[i])) return TN_CUDA_ERROR_INVALID_VALUE;
  emu_nodes former = stream->tips, tips = { NULL, 0 };
  bool is_made = flags || emu_nodes_add_all(&tips, &former);
  for (size_t i = 0; is_made && i < count; i++)
    is_made = emu_nodes_add(&tips, nodes[i]);
  if (!is_made) {
    emu_nodes_clear(&tips);
    return TN_CUDA_ERROR_OUT_OF_MEMORY;
  }
  for (size_t i = 0; i < former.count; i++)
    if (!emu_nodes_has(&tips, former.list[i])) former.list[i]->is_left = true;
  stream->tips = tips;
  emu_nodes_clear(&former);
  return TN_CUDA_SUCCESS;
}

static CUresult update_tips(emu_call call, CUstream handle,
                            CUgraphNode *nodes, size_t count, unsigned flags)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(call, 0, handle, &stream);
  if (code) return code;
  code = emu_capture_admit(stream);
  if (!code && !stream->capture) code = TN_CUDA_ERROR_ILLEGAL_STATE;
  return emu_leave(code ? code : set_tips(stream, nodes, count, flags));
}

CUresult emu_StreamUpdateCaptureDependencies(CUstream handle,
                                             CUgraphNode *nodes, size_t count,
                                             unsigned flags)
{
  return update_tips(EMU_StreamUpdateCaptureDependencies, handle, nodes,
                     count, flags);
}

CUresult
emu_StreamUpdateCaptureDependencies_v2(CUstream handle, CUgraphNode *nodes,
                                       const CUgraphEdgeData *edges,
                                       size_t count, unsigned flags)
{
  static const CUgraphEdgeData plain;
  for (size_t i = 0; edges && i < count; i++)
    if (memcmp(edges + i, &plain, sizeof plain) != 0) {
      emu_print("cuStreamUpdateCaptureDependencies: edges with data are not "
                "emulated");
      return TN_CUDA_ERROR_NOT_SUPPORTED;
    }
  return update_tips(EMU_StreamUpdateCaptureDependencies_v2, handle, nodes,
                     count, flags);
}

/* Beginning and ending */

static emu_capture *make_capture(emu_stream *origin, CUstreamCaptureMode mode)
{
  static uint64_t numbered;
  emu_capture *capture = calloc(1, sizeof *capture);
  if (!capture) return NULL;
  capture->graph = emu_graph_make();
  if (!capture->graph) {
    free(capture);
    return NULL;
  }
  capture->graph->is_capturing = true;
  capture->id = ++numbered;
  capture->mode = mode;
  capture->thread = this_thread();
  capture->origin = origin;
  capture->next = captures;
  return captures = capture;
}

CUresult emu_StreamBeginCapture(CUstream handle, CUstreamCaptureMode mode)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamBeginCapture, 0, handle, &stream);
  if (code) return code;
  if ((unsigned)mode > TN_CU_STREAM_CAPTURE_MODE_RELAXED)
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  if (stream->is_legacy)
    return emu_leave(TN_CUDA_ERROR_STREAM_CAPTURE_UNSUPPORTED);
  if (stream->capture) return emu_leave(TN_CUDA_ERROR_ILLEGAL_STATE);
  stream->capture = make_capture(stream, mode);
  return emu_leave(stream->capture ? TN_CUDA_SUCCESS
                                   : TN_CUDA_ERROR_OUT_OF_MEMORY);
}

/* Takes all streams out of it. */
static void end_capture(emu_capture *capture)
{
  emu_capture **link = &captures;
  while (*link != capture) link = &(*link)->next;
  *link = capture->next;
  capture->next = past_captures;
  past_captures = capture;
  capture->has_ended = true;
  capture->graph->is_capturing = false;
  for (emu_stream *s = emu.streams; s; s = s->next) {
    if (s->capture != capture) continue;
    s->capture = NULL;
    emu_nodes_clear(&s->tips);
  }
}

/* Whether the origin comes after all nodes: none but its own are last. */
static bool is_joined(const emu_capture *capture)
{
  const emu_nodes *nodes = &capture->graph->nodes;
  size_t last = 0;
  bool *is_followed = calloc(nodes->count + 1, sizeof *is_followed);
  if (!is_followed) return false;
  for (size_t i = 0; i < nodes->count; i++) {
    const emu_nodes *before = &nodes->list[i]->before;
    for (size_t j = 0; j < before->count; j++)
      is_followed[before->list[j]->number] = true;
  }
  for (size_t i = 0; i < nodes->count; i++)
    if (!is_followed[i + 1] && !nodes->list[i]->is_left &&
        !emu_nodes_has(&capture->origin->tips, nodes->list[i]))
      last++;
  free(is_followed);
  return last == 0;
}

/* What there is to say against the end by this thread in that stream. */
static CUresult check_end(emu_stream *stream)
{
  emu_capture *capture = stream->capture;
  if (!is_relaxed(capture) && capture->thread != this_thread())
    return invalidate(capture, TN_CUDA_ERROR_STREAM_CAPTURE_WRONG_THREAD);
  if (capture->origin != stream)
    return invalidate(capture, TN_CUDA_ERROR_STREAM_CAPTURE_UNMATCHED);
  return TN_CUDA_SUCCESS;
}

CUresult emu_StreamEndCapture(CUstream handle, CUgraph *graph)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamEndCapture, 0, handle, &stream);
  if (code) return code;
  emu_capture *capture = stream->capture;
  if (!capture) return emu_leave(TN_CUDA_ERROR_ILLEGAL_STATE);
  if (!graph) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *graph = NULL;
  code = check_end(stream);
  if (code) return emu_leave(code);
  if (capture->is_invalid) code = TN_CUDA_ERROR_STREAM_CAPTURE_INVALIDATED;
  else if (!is_joined(capture)) code = TN_CUDA_ERROR_STREAM_CAPTURE_UNJOINED;
  end_capture(capture);
  if (code) emu_graph_end(capture->graph);
  else *graph = capture->graph;
  capture->graph = NULL;
  return emu_leave(code);
}

/* Without its origin nothing can end it. */
void emu_capture_abandon(emu_stream *stream)
{
  emu_capture *capture = stream->capture;
  if (capture->origin == stream) {
    end_capture(capture);
    emu_graph_end(capture->graph);
    capture->graph = NULL;
  }
  stream->capture = NULL;
  emu_nodes_clear(&stream->tips);
}

/* What is known of them */

static CUresult describe(const emu_stream *stream,
                         CUstreamCaptureStatus *status)
{
  if (!status) return TN_CUDA_ERROR_INVALID_VALUE;
  if (find_implied(stream)) return TN_CUDA_ERROR_STREAM_CAPTURE_IMPLICIT;
  *status = (CUstreamCaptureStatus)(
      !stream->capture             ? TN_CU_STREAM_CAPTURE_STATUS_NONE
      : stream->capture->is_invalid ? TN_CU_STREAM_CAPTURE_STATUS_INVALIDATED
                                    : TN_CU_STREAM_CAPTURE_STATUS_ACTIVE);
  return TN_CUDA_SUCCESS;
}

CUresult emu_StreamIsCapturing(CUstream handle, CUstreamCaptureStatus *status)
{
  emu_stream *stream;
  CUresult code = emu_enter_stream(EMU_StreamIsCapturing, 0, handle, &stream);
  return code ? code : emu_leave(describe(stream, status));
}

static CUresult inform(const emu_stream *stream, CUstreamCaptureStatus *status,
                       uint64_t *id, CUgraph *graph,
                       const CUgraphNode **dependencies, size_t *count)
{
  CUresult code = describe(stream, status);
  if (code || *status != TN_CU_STREAM_CAPTURE_STATUS_ACTIVE) return code;
  if (id) *id = stream->capture->id;
  if (graph) *graph = stream->capture->graph;
  if (dependencies) *dependencies = stream->tips.list;
  if (count) *count = stream->tips.count;
  return TN_CUDA_SUCCESS;
}

CUresult emu_StreamGetCaptureInfo(CUstream handle,
                                  CUstreamCaptureStatus *status, uint64_t *id,
                                  CUgraph *graph,
                                  const CUgraphNode **dependencies,
                                  size_t *dependency_count)
{
  emu_stream *stream;
  CUresult code =
      emu_enter_stream(EMU_StreamGetCaptureInfo, 0, handle, &stream);
  if (code) return code;
  return emu_leave(inform(stream, status, id, graph, dependencies,
                          dependency_count));
}

/* Data of plain edges, for there are no others. NULL without memory. */
static const CUgraphEdgeData *plain_edges(size_t count)
{
  static CUgraphEdgeData *edges;
  static size_t room;
  if (room > count) return edges;
  CUgraphEdgeData *more = calloc(2 * count + 1, sizeof *more);
  if (!more) return NULL;
  free(edges);
  room = 2 * count + 1;
  return edges = more;
}

CUresult emu_StreamGetCaptureInfo_v3(CUstream handle,
                                     CUstreamCaptureStatus *status,
                                     uint64_t *id, CUgraph *graph,
                                     const CUgraphNode **dependencies,
                                     const CUgraphEdgeData **edges,
                                     size_t *dependency_count)
{
  emu_stream *stream;
  CUresult code =
      emu_enter_stream(EMU_StreamGetCaptureInfo_v3, 0, handle, &stream);
  if (code) return code;
  code = edges && !dependencies ? TN_CUDA_ERROR_INVALID_VALUE
                                : inform(stream, status, id, graph,
                                         dependencies, dependency_count);
  if (!code && edges) *edges = plain_edges(stream->tips.count);
  return emu_leave(code);
}
