/* Calls that copy and fill, and what they are as nodes of graphs. */
#include "tests/cudaemu/launch.h"
#include "tests/cudaemu/transfer.h"

static emu_transfer flat(const char *what, bool to_host, uint64_t dst,
                         bool from_host, uint64_t src, size_t bytes)
{
  return (emu_transfer){
    .what = what,
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
  emu_transfer t = flat("a copy to the device", false, dst, true,
                        (uint64_t)(uintptr_t)src, bytes);
  return emu_leave(emu_transfer_queue(&t, stream));
}

CUresult emu_MemcpyDtoHAsync(void *dst, CUdeviceptr src, size_t bytes,
                             CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyDtoHAsync, EMU_CONTEXT);
  if (code) return code;
  emu_transfer t = flat("a copy to the host", true,
                        (uint64_t)(uintptr_t)dst, false, src, bytes);
  return emu_leave(emu_transfer_queue(&t, stream));
}

CUresult emu_MemcpyDtoDAsync(CUdeviceptr dst, CUdeviceptr src, size_t bytes,
                             CUstream stream)
{
  CUresult code = emu_enter(EMU_MemcpyDtoDAsync, EMU_CONTEXT);
  if (code) return code;
  emu_transfer t = flat("a copy on the device", false, dst, false, src,
                        bytes);
  return emu_leave(emu_transfer_queue(&t, stream));
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
  emu_transfer t = flat("a copy between devices", false, dst, false, src,
                        bytes);
  return emu_leave(emu_transfer_queue(&t, stream));
}

/* The side of a cuMemcpy3D. */
typedef struct box {
  CUmemorytype type;
  const void *host;
  CUdeviceptr device;
  size_t x, y, z, lod, pitch, height;
} box;

static CUresult read_box(const box *b, const CUDA_MEMCPY3D *copy, emu_side *s)
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
  *s = (emu_side){
    .is_host = is_host,
    .address = base + b->x + pitch * (b->y + height * b->z),
    .pitch = pitch, .plane = pitch * height,
  };
  return TN_CUDA_SUCCESS;
}

static CUresult read_copy(const CUDA_MEMCPY3D *copy, emu_transfer *t)
{
  if (!copy) return TN_CUDA_ERROR_INVALID_VALUE;
  *t = (emu_transfer){ .what = "a copy of rows", .width = copy->WidthInBytes,
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
  emu_transfer t;
  CUresult code = emu_enter(EMU_Memcpy3DAsync, EMU_CONTEXT);
  if (code) return code;
  code = read_copy(copy, &t);
  return emu_leave(code ? code : emu_transfer_queue(&t, stream));
}

CUresult emu_copy_work(const CUDA_MEMCPY3D *wanted, emu_context *context,
                       emu_work **work)
{
  emu_transfer t;
  CUresult code = read_copy(wanted, &t);
  return code ? code : emu_transfer_work(&t, context, work);
}

static CUresult read_fill(CUdeviceptr dst, size_t pitch, uint32_t value,
                          unsigned unit, size_t width, size_t height,
                          emu_transfer *t)
{
  uint64_t bytes;
  if (dst % unit || __builtin_mul_overflow(width, unit, &bytes) ||
      (height > 1 && (pitch < bytes || pitch % unit)))
    return TN_CUDA_ERROR_INVALID_VALUE;
  *t = (emu_transfer){
    .what = "a fill", .dst = { .address = dst, .pitch = pitch },
    .width = bytes, .rows = height, .depth = 1, .unit = unit,
    .pattern = value,
  };
  return TN_CUDA_SUCCESS;
}

CUresult emu_fill_work(const CUDA_MEMSET_NODE_PARAMS *wanted,
                       emu_context *context, emu_work **work)
{
  emu_transfer t;
  if (!wanted || (wanted->elementSize != 1 && wanted->elementSize != 2 &&
                  wanted->elementSize != 4))
    return TN_CUDA_ERROR_INVALID_VALUE;
  CUresult code = read_fill(wanted->dst, wanted->pitch, wanted->value,
                            wanted->elementSize, wanted->width,
                            wanted->height, &t);
  return code ? code : emu_transfer_work(&t, context, work);
}

static CUresult fill(emu_call call, CUdeviceptr dst, size_t pitch,
                     uint32_t value, unsigned unit, size_t width,
                     size_t height, CUstream stream)
{
  emu_transfer t;
  CUresult code = emu_enter(call, EMU_CONTEXT);
  if (code) return code;
  code = read_fill(dst, pitch, value, unit, width, height, &t);
  return emu_leave(code ? code : emu_transfer_queue(&t, stream));
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
