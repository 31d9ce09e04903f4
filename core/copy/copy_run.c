/* Which way a copy goes. */
#include "config.h"

#include <string.h>

#include "core/copy/copy_job.h"

/* Below this the host is done before a plugin would have begun. */
#define BY_HAND ((uint64_t)256 << 10)

uint64_t tn_copy_extent(const tn_copy_shape *shape, uint64_t row_pitch,
                        uint64_t plane_pitch)
{
  return (shape->depth - 1) * plane_pitch + (shape->rows - 1) * row_pitch +
         shape->row_bytes;
}

uint64_t tn_copy_pack(const tn_copy_shape *shape, tn_copy_shape *in,
                      tn_copy_shape *out)
{
  uint64_t plane = shape->row_bytes * shape->rows;
  *in = *out = *shape;
  in->dst_row_pitch = out->src_row_pitch = shape->row_bytes;
  in->dst_plane_pitch = out->src_plane_pitch = plane;
  return plane * shape->depth;
}

bool tn_copy_may_overlap(const tn_copy_job *job)
{
  const tn_copy_shape *shape = &job->shape;
  tn_address dst = job->dst.address, src = job->src.address;
  uint64_t dst_extent = tn_copy_extent(shape, shape->dst_row_pitch,
                                       shape->dst_plane_pitch);
  uint64_t src_extent = tn_copy_extent(shape, shape->src_row_pitch,
                                       shape->src_plane_pitch);
  return dst < src + src_extent && src < dst + dst_extent;
}

/* Host memory, with or without a device of its own. */
static bool is_host(const tn_copy_side *side)
{
  return !side->state || tn_device_is_host(side->state);
}

static bool is_eager(const tn_copy_side *side)
{
  return !side->stream || side->stream->is_eager;
}

static bool is_by_hand(const tn_copy_job *job)
{
  const tn_copy_side *dst = &job->dst, *src = &job->src;
  if (!is_host(dst) || !is_host(src)) return false;
  if (!dst->state && !src->state) return true;
  bool has_host_memory = !dst->state || !src->state;
  if (tn_copy_may_overlap(job) && has_host_memory) return true;
  if (!is_eager(dst) || !is_eager(src)) return false;
  return tn_copy_may_overlap(job) || job->shape.row_bytes * job->shape.rows *
         job->shape.depth <= BY_HAND;
}

tn_status tn_copy_run(const tn_copy_job *job)
{
  tn_device_state *dst = job->dst.state, *src = job->src.state;
  if (is_by_hand(job)) return tn_copy_by_hand(job);
  if (!dst || !src) return tn_copy_host(job);
  if (dst->backend == src->backend) return tn_copy_devices(job);
  if (is_host(&job->dst) || is_host(&job->src)) return tn_copy_host(job);
  return tn_copy_staged(job);
}
