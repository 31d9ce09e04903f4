/* Copies and fills. A range that is not within one allocation is refused at
 * once; one that was freed before the command ran ends the context. */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cudaemu/access.h"

/* One side: rows, `pitch` bytes apart, and planes of them. */
typedef struct side {
  bool is_host;
  uint64_t address;
  uint64_t pitch, plane;
  emu_allocation *allocation; /* NULL: pageable */
  unsigned char *bytes;       /* on the host */
} side;

typedef struct transfer {
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
static CUresult resolve(const transfer *t, side *s, const char *what)
{
  char problem[256] = "memory of the host";
  uint64_t bytes = extent(t, s);
  emu_allocation *a = emu_memory_overlap(s->address, bytes);
  bool is_within = a && s->address >= a->address &&
                   s->address + bytes <= a->address + a->bytes;
  s->bytes = (unsigned char *)(uintptr_t)s->address;
  if (s->is_host && !a && s->address && !emu_is_in_window(s->address))
    return TN_CUDA_SUCCESS;
  if (is_within && (a->device < 0 || !s->is_host)) {
    s->allocation = a;
    a->uses++;
    s->bytes = a->host + (s->address - a->address);
    return TN_CUDA_SUCCESS;
  }
  if (!is_within)
    emu_memory_problem(s->address, bytes, problem, sizeof problem);
  emu_print("%s: %s of %" PRIu64 " bytes at 0x%" PRIx64 ": %s", what,
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

/* Queues a transfer of which all but the memory is filled in. */
static CUresult queue(const transfer *wanted, CUstream handle,
                      const char *what)
{
  emu_stream *stream = emu_stream_find(handle);
  if (!stream) return TN_CUDA_ERROR_INVALID_HANDLE;
  if (stream->context->lost) return stream->context->lost;
  if (!wanted->width || !wanted->rows || !wanted->depth)
    return TN_CUDA_SUCCESS;
  transfer *t = malloc(sizeof *t);
  if (!t) return TN_CUDA_ERROR_OUT_OF_MEMORY;
  *t = *wanted;
  CUresult code = resolve(t, &t->dst, what);
  if (!code && !t->unit) code = resolve(t, &t->src, what);
  if (!code) code = stage(t);
  if (code) {
    free_transfer(t);
    return code;
  }
  /* Into pageable memory it may be done at return or later. */
  bool is_late = !t->dst.is_host || t->dst.allocation ||
                 emu_random(stream->number, stream->queued) % 2;
  code = emu_enqueue(stream, what, run_transfer, t, free_transfer);
  if (!code && !is_late) {
    emu_stream_wait(stream);
    code = emu_context_tell(stream->context);
  }
  return code;
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

CUresult emu_Memcpy3DAsync(const CUDA_MEMCPY3D *copy, CUstream stream)
{
  CUresult code = emu_enter(EMU_Memcpy3DAsync, EMU_CONTEXT);
  if (code) return code;
  if (!copy) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  transfer t = { .width = copy->WidthInBytes, .rows = copy->Height,
                 .depth = copy->Depth };
  box dst = { copy->dstMemoryType, copy->dstHost, copy->dstDevice,
              copy->dstXInBytes, copy->dstY, copy->dstZ, copy->dstLOD,
              copy->dstPitch, copy->dstHeight };
  box src = { copy->srcMemoryType, copy->srcHost, copy->srcDevice,
              copy->srcXInBytes, copy->srcY, copy->srcZ, copy->srcLOD,
              copy->srcPitch, copy->srcHeight };
  code = read_box(&dst, copy, &t.dst);
  if (!code) code = read_box(&src, copy, &t.src);
  return emu_leave(code ? code : queue(&t, stream, "a copy of rows"));
}

static CUresult fill(emu_call call, CUdeviceptr dst, size_t pitch,
                     uint32_t value, unsigned unit, size_t width,
                     size_t height, CUstream stream)
{
  uint64_t bytes;
  CUresult code = emu_enter(call, EMU_CONTEXT);
  if (code) return code;
  if (dst % unit || __builtin_mul_overflow(width, unit, &bytes) ||
      (height > 1 && (pitch < bytes || pitch % unit)))
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  transfer t = {
    .dst = { .address = dst, .pitch = pitch }, .width = bytes,
    .rows = height, .depth = 1, .unit = unit, .pattern = value,
  };
  return emu_leave(queue(&t, stream, "a fill"));
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
