/* A copy to be made: what tn_copy and, later, tensors ask for. */
#ifndef TN_CORE_COPY_COPY_JOB_H
#define TN_CORE_COPY_COPY_JOB_H

#include "core/exec/stream.h"
#include "tenon/copy.h"

/* One side. Without a state it is host memory that no stream orders. */
typedef struct tn_copy_side {
  tn_device_state *state;
  tn_stream *stream; /* the state's current one; NULL without a state */
  tn_address address;
} tn_copy_side;

/* `depth` planes of `rows` rows of `row_bytes` bytes. Pitches are distances
 * between starts, and do not matter where there is one row or plane. */
typedef struct tn_copy_shape {
  uint64_t row_bytes, rows, depth;
  uint64_t dst_row_pitch, dst_plane_pitch;
  uint64_t src_row_pitch, src_plane_pitch;
} tn_copy_shape;

typedef struct tn_copy_job {
  tn_copy_side dst, src;
  tn_copy_shape shape;
  bool non_blocking;
} tn_copy_job;

/* Makes the copy by the rules of tn_copy; the shape is not empty, its ranges
 * do not wrap. The caller is inside tn_enter for both states. */
tn_status tn_copy_run(const tn_copy_job *job);

/* Host memory as a device of the program: the host may use it in place, and
 * there is no other memory behind it. */
static inline bool tn_device_is_host(const tn_device_state *state)
{
  const uint32_t wanted = TN_CAP_HOST_ACCESS | TN_CAP_UNIFIED;
  return (state->info.capabilities & wanted) == wanted;
}

/* Bytes from the first to behind the last one of a side. */
uint64_t tn_copy_extent(const tn_copy_shape *shape, uint64_t row_pitch,
                        uint64_t plane_pitch);

/* Whether the ranges around both sides meet; addresses are unique among all
 * devices. */
bool tn_copy_may_overlap(const tn_copy_job *job);

/* Splits a copy in two, into packed memory and out of it; gives the bytes
 * of that. */
uint64_t tn_copy_pack(const tn_copy_shape *shape, tn_copy_shape *in,
                      tn_copy_shape *out);

/* ---- copy_queue.c: one plugin copy in a stream ---- */

/* Queues `shape` from `src` to `dst` on `stream`; the side without a state is
 * the host's. `flags`: TN_COPY_PINNED. Loops where the plugin takes no rows.
 * Ranges do not overlap. */
tn_status tn_copy_queue(tn_stream *stream, const tn_copy_side *dst,
                        const tn_copy_side *src, const tn_copy_shape *shape,
                        uint32_t flags);

/* The same of a description that the stream's device was given before. */
tn_status tn_copy_queue_desc(tn_stream *stream, const tn_copy_desc *desc);

/* The plugin's calls for that, and nothing else. */
tn_status tn_copy_call(tn_device_state *state, tn_backend_stream *queue,
                       const tn_copy_desc *desc);

/* Later work of `waiter` runs after what `other` has now. */
tn_status tn_copy_order(tn_stream *waiter, tn_stream *other);

/* Waits for the stream and takes its failure, as blocking copies do. */
tn_status tn_copy_finish(tn_stream *stream);

/* ---- host_copy.c: one side is host memory ---- */

/* By host memory's rules; the host side may belong to a host device, whose
 * stream is ordered too. */
tn_status tn_copy_host(const tn_copy_job *job);

/* The host moves the bytes itself, after both streams. */
tn_status tn_copy_by_hand(const tn_copy_job *job);

/* ---- device_copy.c: between or within devices ---- */

tn_status tn_copy_devices(const tn_copy_job *job);

/* ---- staged_copy.c ---- */

/* Through pinned memory, a few pieces at a time. */
tn_status tn_copy_staged(const tn_copy_job *job);

#endif
