/* Copies and fills. A range that is not within one allocation is refused at
 * once; one that was freed before the command ran ends the context. */
#include "tests/cudaemu/transfer.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/access.h"
#include "tests/cudaemu/capture.h"

enum { PAGEABLE = -2 };

static void free_transfer(void *payload)
{
  emu_transfer *t = payload;
  if (t->dst.allocation) t->dst.allocation->uses--;
  if (t->src.allocation) t->src.allocation->uses--;
  free(t->staged);
  free(t);
}

static uint64_t extent(const emu_transfer *t, const emu_side *s)
{
  return (t->depth - 1) * s->plane + (t->rows - 1) * s->pitch + t->width;
}

/* Finds a side's memory; refuses what is no memory of that kind. */
static CUresult resolve(const emu_transfer *t, emu_side *s)
{
  char problem[256] = "memory of the host";
  uint64_t bytes = extent(t, s);
  emu_allocation *a = emu_memory_overlap(s->address, bytes);
  bool is_within = a && s->address >= a->address &&
                   s->address + bytes <= a->address + a->bytes;
  s->bytes = (unsigned char *)(uintptr_t)s->address;
  s->place = PAGEABLE;
  if (s->is_host && !a && s->address && !emu_is_in_window(s->address))
    return TN_CUDA_SUCCESS;
  if (is_within && (a->device < 0 || !s->is_host)) {
    s->allocation = a;
    s->place = a->device;
    a->uses++;
    s->bytes = a->host + (s->address - a->address);
    return TN_CUDA_SUCCESS;
  }
  if (!is_within)
    emu_memory_problem(s->address, bytes, problem, sizeof problem);
  emu_print("%s: %s of %" PRIu64 " bytes at 0x%" PRIx64 ": %s", t->what,
            s == &t->dst ? "destination" : "source", bytes, s->address,
            is_within ? "memory of a device, as that of the host" : problem);
  return TN_CUDA_ERROR_INVALID_VALUE;
}

static bool is_still_there(emu_command *command, const emu_side *s)
{
  if (!s->allocation || emu_is_live(s->allocation)) return true;
  emu_print("use after free: %s on stream %u: allocation %u of %" PRIu64
            " bytes at 0x%" PRIx64 " was freed before it ran",
            emu_tag_text(command->tag), command->stream->number,
            s->allocation->number, s->allocation->bytes,
            s->allocation->address);
  return false;
}

static void fill_row(const emu_transfer *t, unsigned char *to)
{
  for (uint64_t i = 0; i < t->width; i += t->unit)
    memcpy(to + i, &t->pattern, t->unit);
}

static void move_row(emu_command *command, const emu_transfer *t, uint64_t row,
                     uint64_t plane)
{
  uint64_t to = plane * t->dst.plane + row * t->dst.pitch;
  uint64_t from = plane * t->src.plane + row * t->src.pitch;
  if (t->dst.allocation)
    emu_access(command, t->dst.allocation, ORDER_WRITE, t->dst.address + to,
               t->width, NULL);
  if (t->unit) {
    fill_row(t, t->dst.bytes + to);
    return;
  }
  if (t->src.allocation)
    emu_access(command, t->src.allocation, ORDER_READ, t->src.address + from,
               t->width, NULL);
  const unsigned char *source = t->src.bytes + from;
  if (t->staged) source = t->staged + (plane * t->rows + row) * t->width;
  memmove(t->dst.bytes + to, source, (size_t)t->width);
}

static CUresult run_transfer(emu_command *command)
{
  const emu_transfer *t = command->payload;
  if (!is_still_there(command, &t->dst) || !is_still_there(command, &t->src))
    return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
  for (uint64_t plane = 0; plane < t->depth; plane++)
    for (uint64_t row = 0; row < t->rows; row++)
      move_row(command, t, row, plane);
  return TN_CUDA_SUCCESS;
}

/* Pageable memory is read before the call returns. */
static CUresult stage(emu_transfer *t)
{
  if (t->unit || !t->src.is_host || t->src.allocation) return TN_CUDA_SUCCESS;
  uint64_t bytes;
  if (__builtin_mul_overflow(t->width, t->rows, &bytes) ||
      __builtin_mul_overflow(bytes, t->depth, &bytes) ||
      !(t->staged = malloc((size_t)bytes)))
    return TN_CUDA_ERROR_OUT_OF_MEMORY;
  for (uint64_t plane = 0; plane < t->depth; plane++)
    for (uint64_t row = 0; row < t->rows; row++)
      memcpy(t->staged + (plane * t->rows + row) * t->width,
             t->src.bytes + plane * t->src.plane + row * t->src.pitch,
             (size_t)t->width);
  return TN_CUDA_SUCCESS;
}

/* A emu_transfer on the memory that is at its addresses now. */
static CUresult bind(const emu_transfer *wanted, emu_transfer **bound)
{
  emu_transfer *t = malloc(sizeof *t);
  if (!t) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  *t = *wanted;
  CUresult code = resolve(t, &t->dst);
  if (!code && !t->unit) code = resolve(t, &t->src);
  if (code) free_transfer(t);
  else *bound = t;
  return code;
}

/* Nodes */

static CUresult lose(const emu_transfer *wanted)
{
  emu_print("use after free: a graph has %s with memory that is gone",
            wanted->what);
  return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
}

/* What is there now must be of the same kind. */
static CUresult bind_node(const void *payload, void **bound)
{
  const emu_transfer *wanted = payload;
  emu_transfer *t = NULL;
  CUresult code = bind(wanted, &t);
  *bound = NULL;
  if (code == TN_CUDA_ERROR_INVALID_VALUE) return lose(wanted);
  if (code) return code;
  *bound = t;
  return t->dst.place == wanted->dst.place &&
                 (t->unit || t->src.place == wanted->src.place)
             ? TN_CUDA_SUCCESS
             : lose(wanted);
}

static bool is_flat(const emu_transfer *t)
{
  return t->rows == 1 && t->depth == 1;
}

static bool is_alike(const emu_transfer *a, const emu_transfer *b)
{
  return a->width == b->width && a->rows == b->rows && a->depth == b->depth;
}

/* Places stay. A call for one copy needs flat ones. Of fills the driver may
 * take more than addresses and values; it need not. */
static int refuse(const void *payload, const void *wanted, bool is_for_all)
{
  const emu_transfer *had = payload, *t = wanted;
  bool is_taken = had->dst.place == t->dst.place;
  if (had->unit)
    is_taken = is_taken && had->unit == t->unit && is_alike(had, t) &&
               (is_flat(had) || had->dst.pitch == t->dst.pitch);
  else
    is_taken = is_taken && had->src.place == t->src.place &&
               (is_for_all || (is_flat(had) && is_flat(t)));
  return is_taken ? TN_CU_GRAPH_EXEC_UPDATE_SUCCESS
                  : TN_CU_GRAPH_EXEC_UPDATE_ERROR_PARAMETERS_CHANGED;
}

static const emu_form copies = {
  .type = TN_CU_GRAPH_NODE_TYPE_MEMCPY, .run = run_transfer,
  .bind = bind_node, .unbind = free_transfer, .refuse = refuse,
};

static const emu_form fills = {
  .type = TN_CU_GRAPH_NODE_TYPE_MEMSET, .run = run_transfer,
  .bind = bind_node, .unbind = free_transfer, .refuse = refuse,
};

/* A node's work: where the memory is, is known, but what is there is not kept
 * from being freed. Gives up the transfer. */
static emu_work *unbind(emu_transfer *t, emu_context *context)
{
  emu_transfer *kept = malloc(sizeof *kept);
  const char *what = t->what;
  bool is_fill = t->unit != 0;
  if (kept) {
    *kept = *t;
    kept->dst.allocation = kept->src.allocation = NULL;
    kept->dst.bytes = kept->src.bytes = NULL;
  }
  free_transfer(t);
  return kept ? emu_work_make(is_fill ? &fills : &copies, what, context, kept)
              : NULL;
}

CUresult emu_transfer_work(const emu_transfer *wanted, emu_context *context,
                           emu_work **work)
{
  emu_transfer *t = NULL;
  if (!wanted->width || !wanted->rows || !wanted->depth)
    return TN_CUDA_ERROR_INVALID_VALUE;
  CUresult code = bind(wanted, &t);
  if (code) return code;
  *work = unbind(t, context);
  return *work ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

/* Queues a bound transfer. */
static CUresult enqueue(emu_stream *stream, emu_transfer *t)
{
  /* Into pageable memory it may be done at return or later. */
  bool is_late = !t->dst.is_host || t->dst.allocation ||
                 emu_random(stream->number, stream->queued) % 2;
  CUresult code = stage(t);
  if (code) {
    free_transfer(t);
    return code;
  }
  code = emu_enqueue(stream, t->what, run_transfer, t, free_transfer);
  if (!code && !is_late) {
    emu_stream_wait(stream);
    code = emu_context_tell(stream->context);
  }
  return code;
}

CUresult emu_transfer_queue(const emu_transfer *wanted, CUstream handle)
{
  emu_transfer *t = NULL;
  emu_stream *stream = emu_stream_find(handle);
  if (!stream) return TN_CUDA_ERROR_INVALID_HANDLE;
  if (stream->context->lost) return stream->context->lost;
  CUresult code = emu_capture_admit(stream);
  if (code || !wanted->width || !wanted->rows || !wanted->depth) return code;
  code = bind(wanted, &t);
  if (code) return code;
  return stream->capture
             ? emu_capture_add(stream, unbind(t, stream->context))
             : enqueue(stream, t);
}

/* What is known of nodes */

static const emu_transfer *find_transfer(const emu_node *node,
                                         const emu_form *form)
{
  return emu_is_node(node) && node->work->form == form ? node->work->payload
                                                       : NULL;
}

CUresult emu_GraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
  CUresult code = emu_enter(EMU_GraphMemcpyNodeGetParams, 0);
  if (code) return code;
  const emu_transfer *t = find_transfer(node, &copies);
  if (!t || !copy) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  int host = TN_CU_MEMORYTYPE_HOST, device = TN_CU_MEMORYTYPE_DEVICE;
  *copy = (CUDA_MEMCPY3D){
    .srcMemoryType = (CUmemorytype)(t->src.is_host ? host : device),
    .srcHost = t->src.is_host ? (void *)(uintptr_t)t->src.address : NULL,
    .srcDevice = t->src.is_host ? 0 : t->src.address,
    .srcPitch = t->src.pitch,
    .srcHeight = t->src.plane ? t->src.plane / t->src.pitch : t->rows,
    .dstMemoryType = (CUmemorytype)(t->dst.is_host ? host : device),
    .dstHost = t->dst.is_host ? (void *)(uintptr_t)t->dst.address : NULL,
    .dstDevice = t->dst.is_host ? 0 : t->dst.address,
    .dstPitch = t->dst.pitch,
    .dstHeight = t->dst.plane ? t->dst.plane / t->dst.pitch : t->rows,
    .WidthInBytes = t->width, .Height = t->rows, .Depth = t->depth,
  };
  return emu_leave(TN_CUDA_SUCCESS);
}

CUresult emu_GraphMemsetNodeGetParams(CUgraphNode node,
                                      CUDA_MEMSET_NODE_PARAMS *wanted)
{
  CUresult code = emu_enter(EMU_GraphMemsetNodeGetParams, 0);
  if (code) return code;
  const emu_transfer *t = find_transfer(node, &fills);
  if (!t || !wanted) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *wanted = (CUDA_MEMSET_NODE_PARAMS){
    .dst = t->dst.address, .pitch = t->dst.pitch, .value = t->pattern,
    .elementSize = t->unit, .width = t->width / t->unit, .height = t->rows,
  };
  return emu_leave(TN_CUDA_SUCCESS);
}
