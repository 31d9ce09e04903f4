/* Copies and fills. With shared virtual memory everything has a pointer, and
 * rows are copied one by one (OpenCL has no call for them); otherwise the
 * device's side is a memory object and an offset. */
#include "config.h"

#include "backends/opencl/copy.h"

#include "backends/opencl/error.h"
#include "backends/opencl/range.h"
#include "backends/opencl/stream.h"

/* One side of a copy. */
typedef struct copy_side {
  void *pointer; /* NULL on a device without shared virtual memory */
  cl_mem memory;
  size_t offset; /* of the first byte in memory */
  size_t row_pitch, plane_pitch;
} copy_side;

static tn_status find_side(const tn_backend_device *device,
                           const tn_backend_device *owner, tn_address address,
                           uint64_t bytes, copy_side *side)
{
  if (!owner || device->has_svm) {
    side->pointer = (void *)(uintptr_t)address;
    return TN_OK;
  }
  tn_opencl_range *range = tn_opencl_range_find(address);
  if (!range || range->kind == TN_MEMORY_PINNED ||
      bytes > range->bytes - (address - range->begin))
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "%llu bytes at 0x%llx are not within memory of %s",
                          (unsigned long long)bytes,
                          (unsigned long long)address, owner->info.name);
  side->memory = range->memory;
  side->offset = (size_t)(address - range->begin);
  return TN_OK;
}

/* The start of a rectangle whose rows are `pitch` apart. */
static void set_origin(const copy_side *side, size_t origin[3])
{
  size_t offset = side->memory ? side->offset : 0;
  origin[0] = offset % side->row_pitch;
  origin[1] = offset / side->row_pitch;
  origin[2] = 0;
}

static cl_int queue_rows(cl_command_queue queue, const copy_side *dst,
                         const copy_side *src, size_t row_bytes, size_t rows,
                         cl_event *event)
{
  size_t region[3] = { row_bytes, rows, 1 }, to[3], from[3];
  set_origin(dst, to);
  set_origin(src, from);
  if (dst->pointer)
    return cl_.EnqueueReadBufferRect(queue, src->memory, CL_FALSE, from, to,
                                     region, src->row_pitch, 0,
                                     dst->row_pitch, 0, dst->pointer, 0, NULL,
                                     event);
  if (src->pointer)
    return cl_.EnqueueWriteBufferRect(queue, dst->memory, CL_FALSE, to, from,
                                      region, dst->row_pitch, 0,
                                      src->row_pitch, 0, src->pointer, 0,
                                      NULL, event);
  return cl_.EnqueueCopyBufferRect(queue, src->memory, dst->memory, from, to,
                                   region, src->row_pitch, 0, dst->row_pitch,
                                   0, 0, NULL, event);
}

static cl_int queue_row(cl_command_queue queue, const copy_side *dst,
                        const copy_side *src, size_t bytes, cl_event *event)
{
  if (dst->pointer && src->pointer)
    return cl_.EnqueueSVMMemcpy(queue, CL_FALSE, dst->pointer, src->pointer,
                                bytes, 0, NULL, event);
  if (dst->pointer)
    return cl_.EnqueueReadBuffer(queue, src->memory, CL_FALSE, src->offset,
                                 bytes, dst->pointer, 0, NULL, event);
  if (src->pointer)
    return cl_.EnqueueWriteBuffer(queue, dst->memory, CL_FALSE, dst->offset,
                                  bytes, src->pointer, 0, NULL, event);
  return cl_.EnqueueCopyBuffer(queue, src->memory, dst->memory, src->offset,
                               dst->offset, bytes, 0, NULL, event);
}

static void step_side(copy_side *side, size_t distance)
{
  if (side->pointer) side->pointer = (char *)side->pointer + distance;
  side->offset += distance;
}

static tn_status queue_copy(tn_backend_stream *stream,
                            const tn_copy_desc *desc, copy_side dst,
                            copy_side src, size_t rows, size_t row_bytes)
{
  /* Row by row where there is no call for many: between pointers, and in
   * one memory object, whose two pitches would have to be the same. */
  bool is_split = dst.memory == src.memory || rows == 1;
  for (uint64_t plane = 0; plane < desc->depth; plane++) {
    copy_side to = dst, from = src;
    for (size_t row = 0; row < (is_split ? rows : 1); row++) {
      cl_event *event = tn_opencl_stream_begin(stream);
      if (!event) return TN_OUT_OF_MEMORY;
      cl_command_queue queue = stream->queue;
      cl_int code = is_split
                        ? queue_row(queue, &to, &from, row_bytes, event)
                        : queue_rows(queue, &to, &from, row_bytes, rows,
                                     event);
      if (code) return tn_opencl_check(code, "a copy", stream->device);
      tn_opencl_stream_commit(stream, desc->tag);
      step_side(&to, to.row_pitch);
      step_side(&from, from.row_pitch);
    }
    step_side(&dst, dst.plane_pitch);
    step_side(&src, src.plane_pitch);
  }
  return TN_OK;
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
         *bytes <= SIZE_MAX;
}

static tn_status check_copy(const tn_backend_stream *stream,
                            const tn_copy_desc *desc)
{
  if (desc->flags & ~TN_COPY_PINNED)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "copy flags 0x%x: only 0x%x is known", desc->flags,
                          TN_COPY_PINNED);
  const tn_backend_device *sides[] = { desc->dst_device, desc->src_device };
  for (int i = 0; i < 2; i++)
    if (sides[i] && sides[i]->context != stream->device->context)
      return tn_host->error(TN_UNSUPPORTED,
                            "%s and %s do not share a context: copy by way "
                            "of the host", stream->device->info.name,
                            sides[i]->info.name);
  return TN_OK;
}

static tn_status copy_memory(tn_backend_stream *stream,
                             tn_backend_device *device,
                             const tn_copy_desc *desc)
{
  tn_status status = check_copy(stream, desc);
  if (status) return status;
  if (!desc->row_bytes || !desc->rows || !desc->depth) return TN_OK;
  uint64_t dst_bytes, src_bytes;
  if (!side_extent(desc, desc->dst_row_pitch, desc->dst_plane_pitch,
                   &dst_bytes) ||
      !side_extent(desc, desc->src_row_pitch, desc->src_plane_pitch,
                   &src_bytes))
    return tn_host->error(TN_SIZE_OVERFLOW,
                          "a copy of %llu rows of %llu bytes",
                          (unsigned long long)desc->rows,
                          (unsigned long long)desc->row_bytes);
  copy_side dst = { .row_pitch = (size_t)desc->dst_row_pitch,
                    .plane_pitch = (size_t)desc->dst_plane_pitch };
  copy_side src = { .row_pitch = (size_t)desc->src_row_pitch,
                    .plane_pitch = (size_t)desc->src_plane_pitch };
  status = find_side(device, desc->dst_device, desc->dst, dst_bytes, &dst);
  if (status == TN_OK)
    status = find_side(device, desc->src_device, desc->src, src_bytes, &src);
  if (status) return status;
  size_t rows = (size_t)desc->rows, row_bytes = (size_t)desc->row_bytes;
  if (dst.row_pitch == row_bytes && src.row_pitch == row_bytes) {
    row_bytes *= rows; /* no larger than the extent, which was checked */
    rows = 1;
  }
  status = queue_copy(stream, desc, dst, src, rows, row_bytes);
  if ((desc->flags & TN_COPY_PINNED) ||
      desc->kind == TN_COPY_DEVICE_TO_DEVICE)
    return status;
  /* Also after a failure: earlier rows may still use the host's memory. */
  cl_int code = tn_opencl_stream_finish(stream, desc->tag);
  return status ? status : tn_opencl_check(code, "a copy", stream->device);
}

static tn_status fill_memory(tn_backend_stream *stream,
                             tn_backend_device *device,
                             const tn_fill_desc *desc)
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
      bytes > SIZE_MAX)
    return tn_host->error(TN_SIZE_OVERFLOW, "a fill of %llu times %u bytes",
                          (unsigned long long)desc->count, width);
  if (!bytes) return TN_OK;
  copy_side side = { 0 };
  tn_status status = find_side(device, device, desc->dst, bytes, &side);
  if (status) return status;
  unsigned char pattern[8]; /* low bytes first, as every such device has it */
  for (int i = 0; i < 8; i++)
    pattern[i] = (unsigned char)(desc->pattern >> 8 * i);
  cl_event *event = tn_opencl_stream_begin(stream);
  if (!event) return TN_OUT_OF_MEMORY;
  cl_int code =
      side.pointer ? cl_.EnqueueSVMMemFill(stream->queue, side.pointer, pattern,
                                        width, (size_t)bytes, 0, NULL, event)
                : cl_.EnqueueFillBuffer(stream->queue, side.memory, pattern,
                                        width, side.offset, (size_t)bytes, 0,
                                        NULL, event);
  if (code) return tn_opencl_check(code, "a fill", stream->device);
  tn_opencl_stream_commit(stream, desc->tag);
  return TN_OK;
}

static tn_status query_peer(tn_backend_device *device,
                            tn_backend_device *peer, int *possible)
{
  *possible = device != peer && device->context == peer->context;
  return TN_OK;
}

/* Devices of one context see each other's memory at all times. */
static tn_status enable_peer(tn_backend_device *device,
                             tn_backend_device *peer)
{
  if (device->context == peer->context) return TN_OK;
  return tn_host->error(TN_UNSUPPORTED,
                        "%s and %s do not share a context",
                        device->info.name, peer->info.name);
}

static tn_status disable_peer(tn_backend_device *device,
                              tn_backend_device *peer)
{
  (void)device;
  (void)peer;
  return TN_OK;
}

const tn_backend_copy_table tn_opencl_copy_table = {
  .struct_size = sizeof tn_opencl_copy_table,
  .copy = copy_memory,
  .fill = fill_memory,
  .peer_query = query_peer,
  .peer_enable = enable_peer,
  .peer_disable = disable_peer,
};
