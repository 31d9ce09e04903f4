/* Copies and fills. Rows that lie close together are one row; others go to
 * cuMemcpy3DAsync. */
#include "config.h"

#include "backends/cuda/copy.h"

#include "backends/cuda/stream.h"

static tn_status check_copy(const tn_copy_desc *desc)
{
  if (desc->flags & ~TN_COPY_PINNED)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "copy flags 0x%x: only 0x%x is known", desc->flags,
                          TN_COPY_PINNED);
  if (desc->kind < TN_COPY_HOST_TO_DEVICE ||
      desc->kind > TN_COPY_DEVICE_TO_DEVICE)
    return tn_host->error(TN_INVALID_ARGUMENT, "a copy of kind %d",
                          desc->kind);
  return TN_OK;
}

static bool is_between_devices(const tn_copy_desc *desc)
{
  return desc->kind == TN_COPY_DEVICE_TO_DEVICE &&
         desc->dst_device != desc->src_device;
}

static CUresult queue_row(const tn_backend_stream *stream,
                          const tn_copy_desc *desc, size_t bytes)
{
  CUstream handle = stream->handle;
  if (desc->kind == TN_COPY_HOST_TO_DEVICE)
    return cu_.MemcpyHtoDAsync(desc->dst, (void *)(uintptr_t)desc->src, bytes,
                               handle);
  if (desc->kind == TN_COPY_DEVICE_TO_HOST)
    return cu_.MemcpyDtoHAsync((void *)(uintptr_t)desc->dst, desc->src, bytes,
                               handle);
  if (is_between_devices(desc))
    return cu_.MemcpyPeerAsync(desc->dst, desc->dst_device->context,
                               desc->src, desc->src_device->context, bytes,
                               handle);
  return cu_.MemcpyDtoDAsync(desc->dst, desc->src, bytes, handle);
}

static CUmemorytype memory_type(bool is_host)
{
  return (CUmemorytype)(is_host ? TN_CU_MEMORYTYPE_HOST
                                : TN_CU_MEMORYTYPE_DEVICE);
}

static CUresult queue_rows(const tn_backend_stream *stream,
                           const tn_copy_desc *desc)
{
  bool from_host = desc->kind == TN_COPY_HOST_TO_DEVICE;
  bool to_host = desc->kind == TN_COPY_DEVICE_TO_HOST;
  CUDA_MEMCPY3D copy = {
    .srcMemoryType = memory_type(from_host),
    .srcHost = from_host ? (void *)(uintptr_t)desc->src : NULL,
    .srcDevice = from_host ? 0 : desc->src,
    .srcPitch = (size_t)desc->src_row_pitch,
    .srcHeight = (size_t)desc->rows,
    .dstMemoryType = memory_type(to_host),
    .dstHost = to_host ? (void *)(uintptr_t)desc->dst : NULL,
    .dstDevice = to_host ? 0 : desc->dst,
    .dstPitch = (size_t)desc->dst_row_pitch,
    .dstHeight = (size_t)desc->rows,
    .WidthInBytes = (size_t)desc->row_bytes,
    .Height = (size_t)desc->rows,
    .Depth = (size_t)desc->depth,
  };
  if (desc->depth > 1) {
    copy.srcHeight = (size_t)(desc->src_plane_pitch / desc->src_row_pitch);
    copy.dstHeight = (size_t)(desc->dst_plane_pitch / desc->dst_row_pitch);
  }
  return cu_.Memcpy3DAsync(&copy, stream->handle);
}

/* Whether cuMemcpy3DAsync can say it: planes are whole rows apart, rows do not
 * overlap, and pitches are within the device's limit. */
static bool is_regular(const tn_copy_desc *desc, uint64_t limit)
{
  const uint64_t sides[2][2] = {
    { desc->dst_row_pitch, desc->dst_plane_pitch },
    { desc->src_row_pitch, desc->src_plane_pitch },
  };
  for (int i = 0; i < 2; i++) {
    uint64_t row = sides[i][0], plane = sides[i][1];
    if (row < desc->row_bytes || row > limit || row == 0) return false;
    if (desc->depth > 1 && (plane % row || plane / row < desc->rows))
      return false;
  }
  return true;
}

static bool is_close(const tn_copy_desc *desc)
{
  bool rows_are = desc->dst_row_pitch == desc->row_bytes &&
                  desc->src_row_pitch == desc->row_bytes;
  uint64_t plane;
  if (__builtin_mul_overflow(desc->rows, desc->row_bytes, &plane))
    return false;
  if (desc->depth > 1 && (desc->dst_plane_pitch != plane ||
                          desc->src_plane_pitch != plane))
    return false;
  return rows_are || desc->rows == 1;
}

/* Memory that the program has registered by itself counts as pageable for the
 * core, but the driver reads it as late as pinned memory. */
static bool is_registered(tn_address address, uint64_t bytes)
{
  const tn_address ends[] = { address, address + (bytes - 1) };
  for (int i = 0; i < 2; i++) {
    unsigned type = 0;
    if (cu_.PointerGetAttribute(
            &type, (CUpointer_attribute)TN_CU_POINTER_ATTRIBUTE_MEMORY_TYPE,
            ends[i]) == TN_CUDA_SUCCESS && type != 0)
      return true;
  }
  return false;
}

/* Pageable memory is the caller's again at return. As a source the driver has
 * then taken the bytes; as a destination it need not have written them. */
static bool has_to_wait(const tn_copy_desc *desc, uint64_t src_bytes)
{
  if (desc->flags & TN_COPY_PINNED) return false;
  if (desc->kind == TN_COPY_DEVICE_TO_HOST) return true;
  return desc->kind == TN_COPY_HOST_TO_DEVICE &&
         is_registered(desc->src, src_bytes);
}

/* With the context current. */
static tn_status queue_copy(tn_backend_stream *stream,
                            const tn_copy_desc *desc, uint64_t src_bytes)
{
  tn_backend_device *device = stream->device;
  size_t bytes = (size_t)(desc->row_bytes * desc->rows * desc->depth);
  CUresult code = is_close(desc) ? queue_row(stream, desc, bytes)
                                 : queue_rows(stream, desc);
  if (code) return tn_cuda_check(code, "a copy", device);
  tn_cuda_trail_add(stream->trail, TN_CUDA_COPY, NULL, desc->tag);
  if (!has_to_wait(desc, src_bytes)) return TN_OK;
  return tn_cuda_check(cu_.StreamSynchronize(stream->handle), "a copy",
                       device);
}

/* The bytes from the first to past the last of a side; false on overflow. */
static bool side_extent(const tn_copy_desc *desc, uint64_t row_pitch,
                        uint64_t plane_pitch, uint64_t *bytes)
{
  uint64_t rows, planes;
  return !__builtin_mul_overflow(desc->rows - 1, row_pitch, &rows) &&
         !__builtin_mul_overflow(desc->depth - 1, plane_pitch, &planes) &&
         !__builtin_add_overflow(rows, planes, bytes) &&
         !__builtin_add_overflow(*bytes, desc->row_bytes, bytes) &&
         *bytes <= SIZE_MAX / 2;
}

static tn_status copy_memory(tn_backend_stream *stream,
                             tn_backend_device *device,
                             const tn_copy_desc *desc)
{
  uint64_t dst_bytes, src_bytes;
  tn_status status = check_copy(desc);
  if (status) return status;
  if (!desc->row_bytes || !desc->rows || !desc->depth) return TN_OK;
  if (!side_extent(desc, desc->dst_row_pitch, desc->dst_plane_pitch,
                   &dst_bytes) ||
      !side_extent(desc, desc->src_row_pitch, desc->src_plane_pitch,
                   &src_bytes))
    return tn_host->error(TN_SIZE_OVERFLOW,
                          "a copy of %llu rows of %llu bytes",
                          (unsigned long long)desc->rows,
                          (unsigned long long)desc->row_bytes);
  if (!is_close(desc) && (is_between_devices(desc) ||
                          !is_regular(desc, device->limits.max_pitch)))
    return tn_host->error(TN_UNSUPPORTED,
                          "rows of %llu bytes, %llu and %llu apart, are "
                          "copied one by one",
                          (unsigned long long)desc->row_bytes,
                          (unsigned long long)desc->dst_row_pitch,
                          (unsigned long long)desc->src_row_pitch);
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  status = code ? tn_cuda_check(code, "binding the context", device)
                : queue_copy(stream, desc, src_bytes);
  tn_cuda_leave(device, former);
  return status;
}

static CUresult queue_fill(const tn_backend_stream *stream,
                           const tn_fill_desc *desc)
{
  size_t count = (size_t)desc->count;
  uint32_t low = (uint32_t)desc->pattern;
  uint32_t high = (uint32_t)(desc->pattern >> 32);
  switch (desc->pattern_bytes) {
    case 1:
      return cu_.MemsetD8Async(desc->dst, (unsigned char)low, count,
                               stream->handle);
    case 2:
      return cu_.MemsetD16Async(desc->dst, (unsigned short)low, count,
                                stream->handle);
    case 4:
      return cu_.MemsetD32Async(desc->dst, low, count, stream->handle);
  }
  if (low == high)
    return cu_.MemsetD32Async(desc->dst, low, count * 2, stream->handle);
  /* Two fills of columns one word wide. */
  CUresult code = cu_.MemsetD2D32Async(desc->dst, 8, low, 1, count,
                                       stream->handle);
  if (code) return code;
  return cu_.MemsetD2D32Async(desc->dst + 4, 8, high, 1, count,
                              stream->handle);
}

static tn_status check_fill(const tn_fill_desc *desc)
{
  uint64_t bytes;
  uint32_t width = desc->pattern_bytes;
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "fill flags 0x%x: none are known", desc->flags);
  if (width != 1 && width != 2 && width != 4 && width != 8)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "a fill pattern of %u bytes: 1, 2, 4 or 8", width);
  if (__builtin_mul_overflow(desc->count, (uint64_t)width, &bytes) ||
      bytes > SIZE_MAX / 2)
    return tn_host->error(TN_SIZE_OVERFLOW, "a fill of %llu times %u bytes",
                          (unsigned long long)desc->count, width);
  return TN_OK;
}

static tn_status fill_memory(tn_backend_stream *stream,
                             tn_backend_device *device,
                             const tn_fill_desc *desc)
{
  tn_status status = check_fill(desc);
  if (status || !desc->count) return status;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = queue_fill(stream, desc);
  tn_cuda_leave(device, former);
  if (code) return tn_cuda_check(code, "a fill", device);
  tn_cuda_trail_add(stream->trail, TN_CUDA_FILL, NULL, desc->tag);
  return TN_OK;
}

static tn_status query_peer(tn_backend_device *device,
                            tn_backend_device *peer, int *possible)
{
  int answer = 0;
  if (device != peer) {
    CUresult code = cu_.DeviceCanAccessPeer(&answer, device->id, peer->id);
    if (code) return tn_cuda_check(code, "cuDeviceCanAccessPeer", device);
  }
  *possible = answer != 0;
  return TN_OK;
}

static tn_status set_peer(tn_backend_device *device, tn_backend_device *peer,
                          bool enable)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code)
    code = enable ? cu_.CtxEnablePeerAccess(peer->context, 0)
                  : cu_.CtxDisablePeerAccess(peer->context);
  tn_cuda_leave(device, former);
  /* As it was asked for, by whomever. */
  if ((int)code == TN_CUDA_ERROR_PEER_ACCESS_ALREADY_ENABLED ||
      (int)code == TN_CUDA_ERROR_PEER_ACCESS_NOT_ENABLED)
    return TN_OK;
  return tn_cuda_check(code, enable ? "cuCtxEnablePeerAccess"
                                    : "cuCtxDisablePeerAccess", device);
}

static tn_status enable_peer(tn_backend_device *device,
                             tn_backend_device *peer)
{
  return set_peer(device, peer, true);
}

static tn_status disable_peer(tn_backend_device *device,
                              tn_backend_device *peer)
{
  return set_peer(device, peer, false);
}

const tn_backend_copy_table tn_cuda_copy_table = {
  .struct_size = sizeof tn_cuda_copy_table,
  .copy = copy_memory,
  .fill = fill_memory,
  .peer_query = query_peer,
  .peer_enable = enable_peer,
  .peer_disable = disable_peer,
};
