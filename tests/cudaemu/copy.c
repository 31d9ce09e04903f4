/* Copies and fills. A range that is not within one allocation is refused at
 * once; one that was freed before the command ran ends the context. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/access.h"
#include "tests/cudaemu/capture.h"
#include "tests/cudaemu/launch.h"

enum { PAGEABLE = -2 }; /* a place, beside devices and -1, pinned */

/* One side: rows, `pitch` bytes apart, and planes of them. */
typedef struct side {
  bool is_host;
  uint64_t address;
  uint64_t pitch, plane;
  int place;                  /* the device; -1: pinned */
  emu_allocation *allocation; /* NULL: pageable */
  unsigned char *bytes;       /* on the host */
} side;

/* Bound to memory when it is queued; a node's only when its graph is. */
typedef struct transfer {
  const char *what;
  side dst, src;
  uint64_t width, rows, depth;
  unsigned char *staged; /* the pageable source, as it was, close together */
  unsigned unit;         /* of a fill: bytes of its pattern; 0: a copy */
  uint32_t pattern;
} transfer;

static void free_transfer(void *payload)
{
  transfer *t = payload;
  if (t->dst.allocation) t->dst.allocation->uses--;
  if (t->src.allocation) t->src.allocation->uses--;
  free(t->staged);
  free(t);
}

static uint64_t extent(const transfer *t, const side *s)
{
  return (t->depth - 1) * s->plane + (t->rows - 1) * s->pitch + t->width;
}

/* Finds a side's memory; refuses what is no memory of that kind. */
static CUresult resolve(const transfer *t, side *s)
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

static bool is_still_there(emu_command *command, const side *s)
{
  if (!s->allocation || emu_is_live(s->allocation)) return true;
  emu_print("use after free: %s on stream %u: allocation %u of %" PRIu64
            " bytes at 0x%" PRIx64 " was freed before it ran",
            emu_tag_text(command->tag), command->stream->number,
            s->allocation->number, s->allocation->bytes,
            s->allocation->address);
  return false;
}

static void fill_row(const transfer *t, unsigned char *to)
{
  for (uint64_t i = 0; i < t->width; i += t->unit)
    memcpy(to + i, &t->pattern, t->unit);
}

static void move_row(emu_command *command, const transfer *t, uint64_t row,
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
  const transfer *t = command->payload;
  if (!is_still_there(command, &t->dst) || !is_still_there(command, &t->src))
    return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
  for (uint64_t plane = 0; plane < t->depth; plane++)
    for (uint64_t row = 0; row < t->rows; row++)
      move_row(command, t, row, plane);
  return TN_CUDA_SUCCESS;
}

/* Pageable memory is read before the call returns. */
static CUresult stage(transfer *t)
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

/* A transfer on the memory that is at its addresses now. */
static CUresult bind(const transfer *wanted, transfer **bound)
{
  transfer *t = malloc(sizeof *t);
  if (!t) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  *t = *wanted;
  CUresult code = resolve(t, &t->dst);
  if (!code && !t->unit) code = resolve(t, &t->src);
  if (code) free_transfer(t);
  else *bound = t;
  return code;
}

/* Nodes */

static CUresult bind_node(const void *payload, void **bound)
{
  transfer *t = NULL;
  CUresult code = bind(payload, &t);
  *bound = t;
  if (code != TN_CUDA_ERROR_INVALID_VALUE) return code;
  emu_print("use after free: memory of a node of a graph");
  return TN_CUDA_ERROR_ILLEGAL_ADDRESS;
}

static bool is_flat(const transfer *t) { return t->rows == 1 && t->depth == 1; }

static bool is_alike(const transfer *a, const transfer *b)
{
  return a->width == b->width && a->rows == b->rows && a->depth == b->depth;
}

/* Places stay. A call for one copy needs flat ones. Of fills the driver may
 * take more than addresses and values; it need not. */
static int refuse(const void *payload, const void *wanted, bool is_for_all)
{
  const transfer *had = payload, *t = wanted;
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
static emu_work *unbind(transfer *t, emu_context *context)
{
  transfer *kept = malloc(sizeof *kept);
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

static CUresult make_work(const transfer *wanted, emu_context *context,
                          emu_work **work)
{
  transfer *t = NULL;
  if (!wanted->width || !wanted->rows || !wanted->depth)
    return TN_CUDA_ERROR_INVALID_VALUE;
  CUresult code = bind(wanted, &t);
  if (code) return code;
  *work = unbind(t, context);
  return *work ? TN_CUDA_SUCCESS : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

/* Queues a bound transfer. */
static CUresult enqueue(emu_stream *stream, transfer *t)
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

/* Queues a transfer of which all but the memory is filled in. */
static CUresult queue(transfer *wanted, CUstream handle, const char *what)
{
  transfer *t = NULL;
  emu_stream *stream = emu_stream_find(handle);
  if (!stream) return TN_CUDA_ERROR_INVALID_HANDLE;
  if (stream->context->lost) return stream->context->lost;
  CUresult code = emu_capture_admit(stream);
  if (code || !wanted->width || !wanted->rows || !wanted->depth) return code;
  wanted->what = what;
  code = bind(wanted, &t);
  if (code) return code;
  return stream->capture
             ? emu_capture_add(stream, unbind(t, stream->context))
             : enqueue(stream, t);
}

static transfer flat(bool to_host, uint64_t dst, bool from_host, uint64_t src,
                     size_t bytes)
{
  return (transfer){
    .dst = { .is_host = to_host, .address = dst, .pitch = bytes },
    .src = { .is_host = from_host, .address = src, .pitch = bytes },
    .width = bytes, .rows = 1, .depth = 1,
  };
}

CUresult emu_MemcpyHtoDAsync(CUdeviceptr dst, const void *src, size_t bytes,
                             CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyHtoDAsync, EMU_CONTEXT);
  if (code) return code;
  transfer t = flat(false, dst, true, (uint64_t)(uintptr_t)src, bytes);
  return emu_leave(queue(&t, stream, "a copy to the device"));
}

CUresult emu_MemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes,
                             CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyDtoHAsync, EMU_CONTEXT);
  if (code) return code;
  transfer t = flat(true, (uint64_t)(uintptr_t)dst, false, src, bytes);
  return emu_leave(queue(&t, stream, "a copy to the host"));
}

CUresult emu_MemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                             CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyDtoDAsync, EMU_CONTEXT);
  if (code) return code;
  transfer t = flat(false, dst, false, src, bytes);
  return emu_leave(queue(&t, stream, "a copy on the device"));
}

static bool is_memory_of(uint64_t address, const emu_context *context)
{
  const emu_allocation *a = emu_memory_at(address);
  return !a || a->device < 0 || a->device == context->device;
}

/* Needs no peer access: without it the driver goes by way of the host. */
CUresult emu_MemcpyPeerAsync(CUdeviceptr dst, CUcontext dst_context,
                             CUdeviceptr src, CUcontext src_context,
                             size_t bytes, CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyPeerAsync, EMU_CONTEXT);
  if (code) return code;
  if (!emu_is_context(dst_context) || !emu_is_context(src_context))
    return emu_leave((CUresult)EMU_ERROR_INVALID_CONTEXT);
  if (!is_memory_of(dst, dst_context) || !is_memory_of(src, src_context)) {
    emu_print("cuMemcpyPeerAsync: memory of another device than the "
              "context's");
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  }
  transfer t = flat(false, dst, false, src, bytes);
  return emu_leave(queue(&t, stream, "a copy between devices"));
}

/* The side of a cuMemcpy3D. */
typedef struct box {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  size_t x, y, z, lod, pitch, height;
} box;

static CUresult read_box(const box *b, const CUDA_MEMCPY3D *copy, side *s)
{
  bool is_host = (int)b->type == TN_CU_MEMORYTYPE_HOST;
  if (!is_host && (int)b->type != TN_CU_MEMORYTYPE_DEVICE) {
    emu_print("cuMemcpy3D: memory type %d is not emulated", (int)b->type);
    return TN_CUDA_ERROR_NOT_SUPPORTED;
  }
  size_t pitch = b->pitch ? b->pitch : b->x + copy->WidthInBytes;
  size_t height = b->height ? b->height : b->y + copy->Height;
  if (b->lod || pitch < b->x + copy->WidthInBytes ||
      pitch > 0x7fffffff || (copy->Depth > 1 &&
                             height < b->y + copy->Height))
    return TN_CUDA_ERROR_INVALID_VALUE;
  uint64_t base = is_host ? (uint64_t)(uintptr_t)b->host : b->device;
  *s = (side){
    .is_host = is_host,
    .address = base + b->x + pitch * (b->y + height * b->z),
    .pitch = pitch, .plane = pitch * height,
  };
  return TN_CUDA_SUCCESS;
}

static CUresult read_copy(const CUDA_MEMCPY3D *copy, transfer *t)
{
  if (!copy) return TN_CUDA_ERROR_INVALID_VALUE;
  *t = (transfer){ .what = "a copy of rows", .width = copy->WidthInBytes,
                   .rows = copy->Height, .depth = copy->Depth };
  box dst = { copy->dstMemoryType, copy->dstHost, copy->dstDevice,
              copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstLOD,
              copy->dstPitch, copy->dstHeight };
  box src = { copy->srcMemoryType, copy->srcHost, copy->srcDevice,
              copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcLOD,
              copy->srcPitch, copy->srcHeight };
  CUresult code = read_box(&dst, copy, &t->dst);
  return code ? code : read_box(&src, copy, &t->src);
}

CUresult emu_Memcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
  transfer t;
  CUresult code = emu_enter(EMU_Memcpy3DAsync, EMU_CONTEXT);
  if (code) return code;
  code = read_copy(copy, &t);
  return emu_leave(code ? code : queue(&t, stream, t.what));
}

CUresult emu_copy_work(const CUDA_MEMCPY3D *wanted, emu_context *context,
                       emu_work **work)
{
  transfer t;
  CUresult code = read_copy(wanted, &t);
  return code ? code : make_work(&t, context, work);
}

static CUresult read_fill(CUdeviceptr dst, size_t pitch, uint32_t value,
                          unsigned unit, size_t width, size_t height,
                          transfer *t)
{
  uint64_t bytes;
  if (dst % unit || __builtin_mul_overflow(width, unit, &bytes) ||
      (height > 1 && (pitch < bytes || pitch % unit)))
    return TN_CUDA_ERROR_INVALID_VALUE;
  *t = (transfer){
    .what = "a fill", .dst = { .address = dst, .pitch = pitch },
    .width = bytes, .rows = height, .depth = 1, .unit = unit,
    .pattern = value,
  };
  return TN_CUDA_SUCCESS;
}

CUresult emu_fill_work(const CUDA_MEMSET_NODE_PARAMS *wanted,
                       emu_context *context, emu_work **work)
{
  transfer t;
  if (!wanted || (wanted->elementSize != 1 && wanted->elementSize != 2 &&
                  wanted->elementSize != 4))
    return TN_CUDA_ERROR_INVALID_VALUE;
  CUresult code = read_fill(wanted->dst, wanted->pitch, wanted->value,
                            wanted->elementSize, wanted->width,
                            wanted->height, &t);
  return code ? code : make_work(&t, context, work);
}

static CUresult fill(emu_call call, CUdeviceptr dst, size_t pitch,
                     uint32_t value, unsigned unit, size_t width,
                     size_t height, CUstream stream)
{
  transfer t;
  CUresult code = emu_enter(call, EMU_CONTEXT);
  if (code) return code;
  code = read_fill(dst, pitch, value, unit, width, height, &t);
  return emu_leave(code ? code : queue(&t, stream, t.what));
}

CUresult emu_MemsetD8Async(CUdeviceptr dst, unsigned char value, size_t count,
                           CUstream stream)
{
  return fill(EMU_MemsetD8Async, dst, 0, value, 1, count, 1, stream);
}

CUresult emu_MemsetD16Async(CUdeviceptr dst, unsigned short value,
                            size_t count, CUstream stream)
{
  return fill(EMU_MemsetD16Async, dst, 0, value, 2, count, 1, stream);
}

CUresult emu_MemsetD32Async(CUdeviceptr dst, unsigned value, size_t count,
                            CUstream stream)
{
  return fill(EMU_MemsetD32Async, dst, 0, value, 4, count, 1, stream);
}

CUresult emu_MemsetD2D32Async(CUdeviceptr dst, size_t pitch, unsigned value,
                              size_t width, size_t height, CUstream stream)
{
  return fill(EMU_MemsetD2D32Async, dst, pitch, value, 4, width, height,
              stream);
}

/* What is known of nodes */

static const transfer *find_transfer(const emu_node *node, const emu_form *form)
{
  return emu_is_node(node) && node->work->form == form ? node->work->payload
                                                       : NULL;
}

CUresult emu_GraphMemcpyNodeGetParams(CUgraphNode node, CUDA_MEMCPY3D *copy)
{
  CUresult code = emu_enter(EMU_GraphMemcpyNodeGetParams, 0);
  if (code) return code;
  const transfer *t = find_transfer(node, &copies);
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
  const transfer *t = find_transfer(node, &fills);
  if (!t || !wanted) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  *wanted = (CUDA_MEMSET_NODE_PARAMS){
    .dst = t->dst.address, .pitch = t->dst.pitch, .value = t->pattern,
    .elementSize = t->unit, .width = t->width / t->unit, .height = t->rows,
  };
  return emu_leave(TN_CUDA_SUCCESS);
}
