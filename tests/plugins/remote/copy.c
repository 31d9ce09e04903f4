/* Copies: plain ranges, one device; fills. */
#include "tests/plugins/remote/remote.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

static void *host(tn_address address)
{
  return (void *)(uintptr_t)address;
}

tn_status remote_copy_run(const remote_command *command, char *text)
{
  const remote_copy *copy = &command->as.copy;
  tn_backend_device *device = command->stream->device;
  bool to_host = copy->kind == TN_COPY_DEVICE_TO_HOST;
  bool from_host = copy->kind == TN_COPY_HOST_TO_DEVICE;
  void *dst = to_host ? host(copy->dst)
                      : remote_memory_bytes(device, copy->dst, copy->bytes);
  const void *src = remote_memory_bytes(device, copy->src, copy->bytes);
  if (from_host) src = copy->captured ? copy->captured : host(copy->src);
  if (dst && src) {
    memcpy(dst, src, copy->bytes);
    return TN_OK;
  }
  snprintf(text, TN_BACKEND_TEXT_SIZE,
           "memory was freed while a copy of it was queued");
  return TN_LAUNCH_FAILED;
}

static bool on_device(tn_backend_device *device, tn_address address,
                      uint64_t bytes)
{
  return remote_memory_bytes(device, address, bytes) != NULL;
}

/* What a device of this kind cannot do. */
static tn_status check_shape(const tn_copy_desc *desc)
{
  if (desc->rows != 1 || desc->depth != 1)
    return remote_host->error(TN_UNSUPPORTED,
                              "remote copies plain ranges only");
  if (desc->kind == TN_COPY_DEVICE_TO_DEVICE &&
      desc->dst_device != desc->src_device)
    return remote_host->error(TN_UNSUPPORTED,
                              "remote has no copies between devices");
  if (!desc->row_bytes) remote_broken("copy of 0 bytes");
  return TN_OK;
}

static tn_status check_ranges(tn_backend_device *device,
                              const tn_copy_desc *desc)
{
  bool to_host = desc->kind == TN_COPY_DEVICE_TO_HOST;
  bool from_host = desc->kind == TN_COPY_HOST_TO_DEVICE;
  uint64_t bytes = desc->row_bytes;
  if ((!to_host && !on_device(device, desc->dst, bytes)) ||
      (!from_host && !on_device(device, desc->src, bytes)))
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "copy of %llu bytes leaves its allocation",
                              (unsigned long long)bytes);
  if (!to_host && !from_host && desc->dst - desc->src + bytes - 1 <
                                    2 * bytes - 1)
    remote_broken("copy of %llu bytes overlaps itself",
                  (unsigned long long)bytes);
  return TN_OK;
}

/* A source that may change after the call is taken along, and so is one that
 * another backend pinned: this one cannot reach it later. */
static tn_status capture(const tn_backend_stream *stream, remote_copy *copy,
                         const tn_copy_desc *desc)
{
  if (desc->kind != TN_COPY_HOST_TO_DEVICE ||
      (desc->flags & TN_COPY_PINNED &&
       remote_is_pinned(copy->src, copy->bytes)))
    return TN_OK;
  if (stream->capture)
    return remote_host->error(TN_UNSUPPORTED,
                              "a graph of remote copies from its own pinned "
                              "memory only");
  copy->captured = malloc(copy->bytes);
  if (!copy->captured)
    return remote_host->error(TN_OUT_OF_MEMORY,
                              "no memory to capture %llu bytes",
                              (unsigned long long)copy->bytes);
  memcpy(copy->captured, host(copy->src), copy->bytes);
  return TN_OK;
}

static tn_status queue(tn_backend_stream *stream, const tn_copy_desc *desc)
{
  remote_command *command = remote_command_new(stream, REMOTE_COPY, desc->tag);
  if (!command) return TN_OUT_OF_MEMORY;
  remote_copy *copy = &command->as.copy;
  *copy = (remote_copy){ desc->dst, desc->src, desc->row_bytes, desc->kind,
                         NULL };
  tn_status status = capture(stream, copy, desc);
  if (status) {
    remote_command_free(command);
    return status;
  }
  if (!stream->capture) command->fault = remote_fault_next(false);
  remote_command_queue(command);
  if (desc->kind == TN_COPY_DEVICE_TO_HOST && !(desc->flags & TN_COPY_PINNED))
    remote_stream_drain(stream);
  return TN_OK;
}

static tn_status copy_checked(tn_backend_stream *stream,
                              tn_backend_device *device,
                              const tn_copy_desc *desc)
{
  tn_status status = remote_desc_check(
      "copy", desc->struct_size, sizeof *desc, desc->flags, TN_COPY_PINNED);
  if (!status) status = remote_device_check(device);
  if (!status) status = check_shape(desc);
  if (!status) status = check_ranges(device, desc);
  return status ? status : queue(stream, desc);
}

static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  if (stream->device != device)
    remote_broken("copy on a stream of another device");
  remote_stream_enter(stream, "copy");
  tn_status status = copy_checked(stream, device, desc);
  remote_stream_leave(stream);
  return status;
}

tn_status remote_fill_run(const remote_command *command, char *text)
{
  const remote_fill *fill = &command->as.fill;
  uint64_t size = fill->pattern_bytes;
  char *dst = remote_memory_bytes(command->stream->device, fill->dst,
                                  fill->count * size);
  for (uint64_t i = 0; dst && i < fill->count; i++)
    memcpy(dst + i * size, &fill->pattern, size);
  if (dst) return TN_OK;
  snprintf(text, TN_BACKEND_TEXT_SIZE,
           "memory was freed while a fill of it was queued");
  return TN_LAUNCH_FAILED;
}

static tn_status fill_checked(tn_backend_stream *stream,
                              tn_backend_device *device,
                              const tn_fill_desc *desc)
{
  uint64_t bytes;
  tn_status status = remote_desc_check("fill", desc->struct_size,
                                       sizeof *desc, desc->flags, 0);
  if (!status) status = remote_device_check(device);
  if (status) return status;
  if (__builtin_mul_overflow(desc->count, desc->pattern_bytes, &bytes) ||
      !on_device(device, desc->dst, bytes))
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "fill of %llu patterns leaves its allocation",
                              (unsigned long long)desc->count);
  remote_command *command = remote_command_new(stream, REMOTE_FILL, desc->tag);
  if (!command) return TN_OUT_OF_MEMORY;
  command->as.fill = (remote_fill){ desc->dst, desc->pattern, desc->count,
                                    desc->pattern_bytes };
  remote_command_queue(command);
  return TN_OK;
}

static tn_status fill(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_fill_desc *desc)
{
  if (stream->device != device)
    remote_broken("fill on a stream of another device");
  remote_stream_enter(stream, "fill");
  tn_status status = fill_checked(stream, device, desc);
  remote_stream_leave(stream);
  return status;
}

const tn_backend_copy_table remote_copy_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = copy,
};

const tn_backend_copy_table remote_copy_fill_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = copy,
  .fill = fill,
};
