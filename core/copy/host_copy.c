/* Copies with host memory on one side. */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"
#include "core/copy/copy_job.h"
#include "core/exec/capture.h"
#include "core/memory/pinned.h"

/* The rules in one place:
 *
 *   pinned    the copy is queued; the memory stays as it is until it has run.
 *   pageable  the plugin is done with it when its call returns. The stream is
 *             waited for first, outside its lock, so that a call that has to
 *             wait does not keep other threads from the stream. As a source
 *             of a non_blocking copy it is left to the plugin, which takes
 *             the bytes and does not wait.
 */
#define PAGEABLE "copy from or to pageable host memory"

typedef struct host_copy {
  const tn_copy_job *job;
  tn_copy_side host; /* without a state */
  tn_stream *stream; /* of the device's side */
  tn_stream *host_stream; /* of the host device; NULL: none is ordered */
  bool to_device, is_pinned;
} host_copy;

static bool is_pinned(const tn_copy_job *job, bool to_device)
{
  const tn_copy_shape *s = &job->shape;
  tn_address address = to_device ? job->src.address : job->dst.address;
  uint64_t extent = to_device
      ? tn_copy_extent(s, s->src_row_pitch, s->src_plane_pitch)
      : tn_copy_extent(s, s->dst_row_pitch, s->dst_plane_pitch);
  return tn_pinned_has((const void *)(uintptr_t)address, extent);
}

static host_copy describe(const tn_copy_job *job)
{
  /* Of two devices the one that is not the host's own works. */
  bool to_device = job->dst.state &&
                   (!job->src.state || tn_device_is_host(job->src.state));
  const tn_copy_side *device = to_device ? &job->dst : &job->src;
  const tn_copy_side *host = to_device ? &job->src : &job->dst;
  return (host_copy){
    .job = job,
    .host = { .address = host->address },
    .stream = device->stream,
    .host_stream = host->stream,
    .to_device = to_device,
    .is_pinned = is_pinned(job, to_device),
  };
}

static tn_status queue(const host_copy *copy, uint32_t flags)
{
  const tn_copy_job *job = copy->job;
  return tn_copy_queue(copy->stream,
                       copy->to_device ? &job->dst : &copy->host,
                       copy->to_device ? &copy->host : &job->src,
                       &job->shape, flags);
}

static tn_status copy_pinned(const host_copy *copy)
{
  tn_status status = tn_copy_order(copy->stream, copy->host_stream);
  if (status == TN_OK) status = queue(copy, TN_COPY_PINNED);
  if (status == TN_OK)
    status = tn_pinned_use((const void *)(uintptr_t)copy->host.address,
                           copy->stream);
  if (status != TN_OK) return status;
  if (!copy->job->non_blocking) return tn_copy_finish(copy->stream);
  /* An eager stream could only wait by blocking the host. */
  if (copy->host_stream && !copy->host_stream->is_eager)
    status = tn_copy_order(copy->host_stream, copy->stream);
  return status;
}

static tn_status copy_pageable(const host_copy *copy)
{
  tn_status status = TN_OK;
  if (tn_is_captured(copy->stream))
    return tn_capture_refuse(copy->stream, PAGEABLE);
  bool is_taken = copy->to_device && copy->job->non_blocking;
  if (copy->host_stream)
    status = tn_stream_wait_idle(copy->host_stream, TN_NO_LIMIT);
  if (status == TN_OK && !is_taken)
    status = tn_stream_wait_idle(copy->stream, TN_NO_LIMIT);
  if (status == TN_OK) status = queue(copy, 0);
  return status == TN_OK && !is_taken ? tn_copy_finish(copy->stream) : status;
}

tn_status tn_copy_host(const tn_copy_job *job)
{
  const host_copy copy = describe(job);
  tn_status status = copy.is_pinned ? copy_pinned(&copy)
                                    : copy_pageable(&copy);
  return tn_stream_settle(copy.stream, status);
}

static void move_rows(const tn_copy_shape *s, char *dst, const char *src)
{
  for (uint64_t plane = 0; plane < s->depth; plane++)
    for (uint64_t row = 0; row < s->rows; row++)
      memmove(dst + plane * s->dst_plane_pitch + row * s->dst_row_pitch,
              src + plane * s->src_plane_pitch + row * s->src_row_pitch,
              s->row_bytes);
}

/* One row is read before it is written, but not the rows behind it. */
static tn_status move(const tn_copy_job *job)
{
  const tn_copy_shape *s = &job->shape;
  char *dst = (char *)(uintptr_t)job->dst.address;
  const char *src = (const char *)(uintptr_t)job->src.address;
  if (s->rows * s->depth == 1 || !tn_copy_may_overlap(job)) {
    move_rows(s, dst, src);
    return TN_OK;
  }
  tn_copy_shape in, out;
  char *packed = malloc(tn_copy_pack(s, &in, &out));
  if (!packed)
    return tn_error(TN_OUT_OF_MEMORY, "no memory for a copy onto itself");
  move_rows(&in, packed, src);
  move_rows(&out, dst, packed);
  free(packed);
  return TN_OK;
}

tn_status tn_copy_by_hand(const tn_copy_job *job)
{
  tn_status status = TN_OK;
  if (job->dst.stream && tn_is_captured(job->dst.stream))
    return tn_capture_refuse(job->dst.stream, PAGEABLE);
  if (job->src.stream && tn_is_captured(job->src.stream))
    return tn_capture_refuse(job->src.stream, PAGEABLE);
  if (job->dst.stream)
    status = tn_stream_wait_idle(job->dst.stream, TN_NO_LIMIT);
  if (status == TN_OK && job->src.stream)
    status = tn_stream_wait_idle(job->src.stream, TN_NO_LIMIT);
  return status == TN_OK ? move(job) : status;
}
