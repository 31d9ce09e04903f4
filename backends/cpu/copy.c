#include "backends/cpu/copy.h"

#include <stdlib.h>
#include <string.h>

#include "backends/cpu/bulk.h"
#include "backends/cpu/park.h"
#include "backends/cpu/stream.h"

/* Pageable sources up to this size are taken into a buffer when the stream is
 * busy; for longer ones the call waits until it is their turn. */
#define CAPTURE_MAX (64u << 20) /* bytes */

typedef struct copy_command {
  tn_cpu_command base;
  tn_cpu_copy copy;
  void *captured; /* a buffer to free, or NULL */
} copy_command;

static void copy_command_run(tn_cpu_command *command)
{
  copy_command *copy = (copy_command *)command;
  tn_cpu_copy_run(&copy->copy, copy->base.is_urgent);
  free(copy->captured);
}

static tn_status copy_submit(tn_backend_stream *stream,
                             const tn_cpu_copy *copy, void *captured)
{
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(stream, copy_command_run,
                                           sizeof(copy_command), &base);
  if (status) return status;
  copy_command *command = (copy_command *)base;
  command->copy = *copy;
  command->captured = captured;
  command->base.is_urgent = stream->is_urgent;
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

/* Whether `count` pitches and what follows stay within 64 bits; a row or plane
 * must not reach into the next. */
static bool pitch_fits(uint64_t count, uint64_t pitch, uint64_t bytes,
                       uint64_t *total)
{
  uint64_t span;
  if (count <= 1) {
    *total = bytes;
    return true;
  }
  return pitch >= bytes && !__builtin_mul_overflow(count - 1, pitch, &span) &&
         !__builtin_add_overflow(span, bytes, total);
}

static bool side_fits(const tn_copy_desc *desc, tn_address start,
                      uint64_t row_pitch, uint64_t plane_pitch)
{
  uint64_t plane, total;
  return pitch_fits(desc->rows, row_pitch, desc->row_bytes, &plane) &&
         pitch_fits(desc->depth, plane_pitch, plane, &total) &&
         !__builtin_add_overflow(start, total, &total);
}

static tn_status copy_check(const tn_copy_desc *desc)
{
  tn_status status = tn_cpu_flags_check("copy", desc->flags, TN_COPY_PINNED);
  if (status) return status;
  uint64_t rows;
  if (!__builtin_mul_overflow(desc->rows, desc->depth, &rows) &&
      rows <= INT64_MAX &&
      side_fits(desc, desc->dst, desc->dst_row_pitch,
                desc->dst_plane_pitch) &&
      side_fits(desc, desc->src, desc->src_row_pitch, desc->src_plane_pitch))
    return TN_OK;
  return tn_cpu_host->error(
    TN_SIZE_OVERFLOW,
    "copy of %llu x %llu x %llu bytes: pitches %llu, %llu and %llu, %llu: "
    "rows or planes overlap, or reach past the address space",
    (unsigned long long)desc->row_bytes, (unsigned long long)desc->rows,
    (unsigned long long)desc->depth, (unsigned long long)desc->dst_row_pitch,
    (unsigned long long)desc->dst_plane_pitch,
    (unsigned long long)desc->src_row_pitch,
    (unsigned long long)desc->src_plane_pitch);
}

static tn_cpu_copy copy_of(const tn_copy_desc *desc)
{
  return (tn_cpu_copy){
    .dst = (char *)(uintptr_t)desc->dst,
    .src = (const char *)(uintptr_t)desc->src,
    .row_bytes = desc->row_bytes, .rows = desc->rows, .depth = desc->depth,
    .dst_row_pitch = desc->dst_row_pitch,
    .dst_plane_pitch = desc->dst_plane_pitch,
    .src_row_pitch = desc->src_row_pitch,
    .src_plane_pitch = desc->src_plane_pitch,
  };
}

/* Puts what the source holds now into a buffer without gaps, from which the
 * copy is then made. NULL if it is too much, or there is no memory. */
static void *source_capture(tn_cpu_copy *copy)
{
  uint64_t plane = copy->rows * copy->row_bytes;
  uint64_t bytes = copy->depth * plane;
  char *buffer = bytes <= CAPTURE_MAX ? malloc(bytes) : NULL;
  if (!buffer) return NULL;
  tn_cpu_copy capture = *copy;
  capture.dst = buffer;
  capture.dst_row_pitch = copy->row_bytes;
  capture.dst_plane_pitch = plane;
  tn_cpu_copy_run(&capture, false);
  copy->src = buffer;
  copy->src_row_pitch = copy->row_bytes;
  copy->src_plane_pitch = plane;
  return buffer;
}

/* The host's side is finished with on return. */
static tn_status copy_pageable(tn_backend_stream *stream, int32_t kind,
                               tn_cpu_copy *copy)
{
  uint64_t queued = tn_cpu_stream_queued(stream);
  if (kind == TN_COPY_HOST_TO_DEVICE &&
      !tn_cpu_stream_has_run(stream, queued)) {
    void *captured = source_capture(copy);
    if (captured) {
      tn_status status = copy_submit(stream, copy, captured);
      if (status) free(captured);
      return status;
    }
  }
  tn_cpu_stream_await(stream, queued, TN_CPU_NO_DEADLINE);
  tn_cpu_copy_run(copy, stream->is_urgent);
  return TN_OK;
}

tn_status tn_cpu_copy_queue(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc)
{
  (void)device;
  tn_status status = copy_check(desc);
  if (status || !desc->row_bytes || !desc->rows || !desc->depth)
    return status;
  tn_cpu_copy copy = copy_of(desc);
  if (stream->is_inline) {
    tn_cpu_copy_run(&copy, stream->is_urgent);
    return TN_OK;
  }
  if (desc->kind != TN_COPY_DEVICE_TO_DEVICE &&
      !(desc->flags & TN_COPY_PINNED) && !stream->recording)
    return copy_pageable(stream, desc->kind, &copy);
  return copy_submit(stream, &copy, NULL);
}

/* --- fill --- */

typedef struct fill_command {
  tn_cpu_command base;
  void *dst;
  uint64_t pattern, bytes;
} fill_command;

static void fill_command_run(tn_cpu_command *command)
{
  fill_command *fill = (fill_command *)command;
  tn_cpu_fill_run(fill->dst, fill->pattern, fill->bytes,
                  fill->base.is_urgent);
}

/* The pattern of 1, 2, 4 or 8 bytes repeated to 8. */
static uint64_t pattern_widen(uint64_t pattern, uint32_t bytes)
{
  uint64_t most = UINT64_MAX >> (64 - 8 * bytes);
  return (pattern & most) * (UINT64_MAX / most);
}

static tn_status fill_check(const tn_fill_desc *desc, uint64_t *bytes)
{
  tn_status status = tn_cpu_flags_check("fill", desc->flags, 0);
  if (status) return status;
  uint32_t size = desc->pattern_bytes;
  uint64_t end;
  if (!size || size > 8 || (size & (size - 1)) || desc->dst % size)
    return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                              "fill at 0x%llx with a pattern of %u bytes: it "
                              "must be of 1, 2, 4 or 8, and the address "
                              "aligned to it",
                              (unsigned long long)desc->dst, size);
  if (__builtin_mul_overflow(desc->count, size, bytes) ||
      __builtin_add_overflow(desc->dst, *bytes, &end))
    return tn_cpu_host->error(TN_SIZE_OVERFLOW,
                              "fill of %llu patterns of %u bytes",
                              (unsigned long long)desc->count, size);
  return TN_OK;
}

tn_status tn_cpu_fill_queue(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc)
{
  (void)device;
  uint64_t bytes = 0;
  tn_status status = fill_check(desc, &bytes);
  if (status || !bytes) return status;
  void *dst = (void *)(uintptr_t)desc->dst;
  uint64_t pattern = pattern_widen(desc->pattern, desc->pattern_bytes);
  if (stream->is_inline) {
    tn_cpu_fill_run(dst, pattern, bytes, stream->is_urgent);
    return TN_OK;
  }
  tn_cpu_command *base;
  status = tn_cpu_stream_reserve(stream, fill_command_run,
                                 sizeof(fill_command), &base);
  if (status) return status;
  fill_command *command = (fill_command *)base;
  command->dst = dst;
  command->pattern = pattern;
  command->bytes = bytes;
  command->base.is_urgent = stream->is_urgent;
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

/* --- peers --- */

tn_status tn_cpu_peer_query(tn_backend_device *device,
                            tn_backend_device *peer, int *possible)
{
  (void)device;
  (void)peer;
  *possible = 1;
  return TN_OK;
}

tn_status tn_cpu_peer_enable(tn_backend_device *device,
                             tn_backend_device *peer)
{
  (void)device;
  (void)peer;
  return TN_OK;
}

tn_status tn_cpu_peer_disable(tn_backend_device *device,
                              tn_backend_device *peer)
{
  (void)device;
  (void)peer;
  return TN_OK;
}
