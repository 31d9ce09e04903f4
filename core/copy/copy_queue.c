#include "config.h"

#include <inttypes.h>

#include "core/copy/copy_job.h"
#include "core/device/mirror_gate.h"
#include "core/exec/capture.h"
#include "core/exec/tag.h"

static const int32_t kinds[2][2] = { /* [has dst][has src] */
  { -1, TN_COPY_DEVICE_TO_HOST },
  { TN_COPY_HOST_TO_DEVICE, TN_COPY_DEVICE_TO_DEVICE },
};

static const tn_tag tags[] = {
  [TN_COPY_HOST_TO_DEVICE] = TN_TAG_COPY_TO_DEVICE,
  [TN_COPY_DEVICE_TO_HOST] = TN_TAG_COPY_TO_HOST,
  [TN_COPY_DEVICE_TO_DEVICE] = TN_TAG_COPY_BETWEEN,
};

static tn_copy_desc describe(const tn_copy_side *dst, const tn_copy_side *src,
                             const tn_copy_shape *shape, uint32_t flags)
{
  int32_t kind = kinds[dst->state != NULL][src->state != NULL];
  return (tn_copy_desc){
    .struct_size = sizeof(tn_copy_desc),
    .flags = flags,
    .kind = kind,
    .dst_device = dst->state ? dst->state->handle : NULL,
    .src_device = src->state ? src->state->handle : NULL,
    .dst = dst->address,
    .src = src->address,
    .row_bytes = shape->row_bytes,
    .rows = shape->rows,
    .depth = shape->depth,
    .dst_row_pitch = shape->dst_row_pitch,
    .dst_plane_pitch = shape->dst_plane_pitch,
    .src_row_pitch = shape->src_row_pitch,
    .src_plane_pitch = shape->src_plane_pitch,
    .tag = tags[kind],
  };
}

static tn_status loop(tn_device_state *state, tn_backend_stream *queue,
                      const tn_copy_desc *whole)
{
  tn_copy_desc row = *whole;
  tn_status status = TN_OK;
  row.rows = row.depth = 1;
  for (uint64_t plane = 0; plane < whole->depth; plane++)
    for (uint64_t i = 0; i < whole->rows && status == TN_OK; i++) {
      row.dst = whole->dst + plane * whole->dst_plane_pitch +
                i * whole->dst_row_pitch;
      row.src = whole->src + plane * whole->src_plane_pitch +
                i * whole->src_row_pitch;
      status = state->backend->copy.copy(queue, state->handle, &row);
    }
  return status;
}

tn_status tn_copy_call(tn_device_state *state, tn_backend_stream *queue,
                       const tn_copy_desc *desc)
{
  bool is_plain = desc->rows == 1 && desc->depth == 1;
  tn_status status = state->backend->copy.copy(queue, state->handle, desc);
  return status == TN_UNSUPPORTED && !is_plain ? loop(state, queue, desc)
                                               : status;
}

tn_status tn_copy_queue_desc(tn_stream *stream, const tn_copy_desc *desc)
{
  tn_mirror_gate_enter(stream->state->backend);
  tn_stream_lock(stream);
  tn_status status = tn_copy_call(stream->state, stream->queue, desc);
  tn_stream_unlock(stream);
  tn_mirror_gate_leave(stream->state->backend);
  if (status != TN_OK)
    tn_plugin_error(stream->state, status, "%s, %" PRIu64 " bytes",
                    tn_tag_text(desc->tag),
                    desc->row_bytes * desc->rows * desc->depth);
  return status;
}

tn_status tn_copy_queue(tn_stream *stream, const tn_copy_side *dst,
                        const tn_copy_side *src, const tn_copy_shape *shape,
                        uint32_t flags)
{
  const tn_copy_desc desc = describe(dst, src, shape, flags);
  return tn_is_captured(stream) ? tn_capture_copy(stream, &desc)
                                : tn_copy_queue_desc(stream, &desc);
}

tn_status tn_copy_order(tn_stream *waiter, tn_stream *other)
{
  if (!waiter || !other || waiter == other) return TN_OK;
  tn_moment *moment;
  tn_status status = tn_stream_moment(other, TN_MOMENT_FLUSH, &moment);
  if (status == TN_OK) status = tn_stream_wait_moment(waiter, moment);
  tn_moment_release(moment);
  return status;
}

tn_status tn_copy_finish(tn_stream *stream)
{
  tn_status status = tn_stream_wait_idle(stream, TN_NO_LIMIT);
  return status == TN_OK ? tn_stream_take_failure(stream) : status;
}
