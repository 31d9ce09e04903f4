/* Copies within a device, and between devices of one backend. */
#include "config.h"

#include "core/copy/copy_job.h"
#include "core/copy/peer_path.h"
#include "core/memory/block.h"
#include "core/memory/pinned.h"

/* How much of an overlapping copy is set aside at once. */
#define ASIDE ((uint64_t)64 << 20)

/* A copy in two steps, by memory of the same stream. */
static tn_status copy_aside(tn_stream *stream, const tn_copy_side *dst,
                            const tn_copy_side *src,
                            const tn_copy_shape *shape, tn_block *block)
{
  tn_copy_shape in, out;
  tn_copy_pack(shape, &in, &out);
  tn_copy_side aside = {
    .state = stream->state,
    .stream = stream,
    .address = (tn_address)(uintptr_t)tn_block_address(block),
  };
  tn_status status = tn_copy_queue(stream, &aside, src, &in, 0);
  if (status != TN_OK) return status;
  return tn_copy_queue(stream, dst, &aside, &out, 0);
}

/* Piece by piece from the end that is not read again. */
static tn_status shift(tn_stream *stream, const tn_copy_job *job,
                       uint64_t piece, tn_block *block)
{
  uint64_t bytes = job->shape.row_bytes;
  bool is_upward = job->dst.address > job->src.address;
  tn_status status = TN_OK;
  for (uint64_t done = 0; done < bytes && status == TN_OK; done += piece) {
    uint64_t rest = bytes - done;
    uint64_t size = rest < piece ? rest : piece;
    uint64_t offset = is_upward ? rest - size : done;
    tn_copy_side dst = job->dst, src = job->src;
    dst.address += offset;
    src.address += offset;
    tn_copy_shape shape = { .row_bytes = size, .rows = 1, .depth = 1 };
    status = copy_aside(stream, &dst, &src, &shape, block);
  }
  return status;
}

static tn_status copy_onto_itself(tn_stream *stream, const tn_copy_job *job)
{
  const tn_copy_shape *shape = &job->shape;
  uint64_t count = shape->rows * shape->depth;
  uint64_t bytes = shape->row_bytes * count;
  if (count == 1 && bytes > ASIDE) bytes = ASIDE;
  tn_block *block = tn_block_for_stream(stream, bytes,
                                        __builtin_return_address(0));
  if (!block) return tn_last_status();
  tn_status status =
      count == 1 ? shift(stream, job, bytes, block)
                 : copy_aside(stream, &job->dst, &job->src, shape, block);
  tn_block_release(block);
  return status;
}

static tn_status copy_within(const tn_copy_job *job)
{
  tn_stream *stream = job->dst.stream;
  if (tn_copy_may_overlap(job)) return copy_onto_itself(stream, job);
  return tn_copy_queue(stream, &job->dst, &job->src, &job->shape, 0);
}

/* Pinned memory is that of a device whose memory is the host's, too. */
static tn_status note_pinned(const tn_copy_job *job, tn_stream *stream)
{
  const tn_copy_side *sides[] = { &job->dst, &job->src };
  tn_status status = TN_OK;
  for (int i = 0; i < 2 && status == TN_OK; i++)
    if (tn_device_is_host(sides[i]->state))
      status = tn_pinned_use((const void *)(uintptr_t)sides[i]->address,
                             stream);
  return status;
}

/* On the source's stream, unless only the other one is asynchronous. The
 * other one waits at the end: one that is eager by blocking the host, as its
 * memory is host memory that is not pinned. */
static tn_status copy_direct(const tn_copy_job *job, tn_stream **stream)
{
  tn_stream *dst = job->dst.stream, *src = job->src.stream;
  *stream = src->is_eager && !dst->is_eager ? dst : src;
  tn_stream *other = *stream == dst ? src : dst;
  tn_status status = tn_copy_order(*stream, other);
  if (status == TN_OK)
    status = tn_copy_queue(*stream, &job->dst, &job->src, &job->shape, 0);
  if (status == TN_OK) status = tn_copy_order(other, *stream);
  return status;
}

/* Host memory is what the program may look at next. */
static bool is_waited_for(const tn_copy_job *job)
{
  return !job->non_blocking && (tn_device_is_host(job->dst.state) ||
                                tn_device_is_host(job->src.state));
}

tn_status tn_copy_devices(const tn_copy_job *job)
{
  tn_stream *stream = job->dst.stream;
  tn_status status;
  if (job->dst.state == job->src.state)
    status = copy_within(job);
  else if (tn_peer_path_is_direct(job->dst.state, job->src.state))
    status = copy_direct(job, &stream);
  else
    status = tn_copy_staged(job);
  if (status == TN_OK) status = note_pinned(job, stream);
  if (status == TN_OK && is_waited_for(job)) return tn_copy_finish(stream);
  return tn_stream_settle(stream, status);
}
