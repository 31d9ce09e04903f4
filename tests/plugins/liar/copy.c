/* Lies about copies and fills. */
#include "config.h"

#include <pthread.h>
#include <string.h>

#include "tests/plugins/liar/liar.h"

/* Whether the copy is of the kind that the lie is about. */
static bool (*is_meant)(const tn_copy_desc *desc);

static bool is_to_device(const tn_copy_desc *d)
{
  return d->kind == TN_COPY_HOST_TO_DEVICE;
}

static bool is_to_host(const tn_copy_desc *d)
{
  return d->kind == TN_COPY_DEVICE_TO_HOST;
}

static bool is_within(const tn_copy_desc *d)
{
  return d->kind == TN_COPY_DEVICE_TO_DEVICE &&
         d->dst_device == d->src_device;
}

/* Small ones arrive whole, as does the pattern that the core tries. */
static bool is_large_between(const tn_copy_desc *d)
{
  return d->kind == TN_COPY_DEVICE_TO_DEVICE &&
         d->dst_device != d->src_device && d->row_bytes > 4 << 20;
}

static bool is_between(const tn_copy_desc *d)
{
  return d->kind == TN_COPY_DEVICE_TO_DEVICE &&
         d->dst_device != d->src_device;
}

static tn_status copy_short(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc)
{
  tn_copy_desc less = *desc;
  if (is_meant(desc) && desc->row_bytes > 16) less.row_bytes -= 3;
  return liar_base.copy.copy(stream, device, &less);
}

static tn_status copy_long(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_copy_desc *desc)
{
  tn_copy_desc more = *desc;
  if (is_meant(desc) && desc->row_bytes % 8) more.row_bytes |= 7;
  return liar_base.copy.copy(stream, device, &more);
}

/* One is kept until the next has gone, or somebody looks. */
static struct {
  pthread_mutex_t lock;
  tn_backend_stream *stream;
  tn_backend_device *device;
  tn_copy_desc desc;
} kept = { .lock = PTHREAD_MUTEX_INITIALIZER };

static tn_status let_go(tn_backend_stream *stream)
{
  tn_status status = TN_OK;
  pthread_mutex_lock(&kept.lock);
  if (kept.stream && kept.stream == stream) {
    status = liar_base.copy.copy(kept.stream, kept.device, &kept.desc);
    kept.stream = NULL;
  }
  pthread_mutex_unlock(&kept.lock);
  return status;
}

static tn_status copy_swapped(tn_backend_stream *stream,
                              tn_backend_device *device,
                              const tn_copy_desc *desc)
{
  pthread_mutex_lock(&kept.lock);
  bool keep = !kept.stream && is_within(desc);
  if (keep) {
    kept.stream = stream;
    kept.device = device;
    kept.desc = *desc;
  }
  pthread_mutex_unlock(&kept.lock);
  if (keep) return TN_OK;
  tn_status status = liar_base.copy.copy(stream, device, desc);
  return status == TN_OK ? let_go(stream) : status;
}

static tn_status record_after_kept(tn_backend_stream *stream, uint32_t flags,
                                   tn_point *point)
{
  tn_status status = let_go(stream);
  return status == TN_OK ? liar_base.stream.record(stream, flags, point)
                         : status;
}

/* Pageable memory is read when the copy runs. */
static tn_status copy_late(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_copy_desc *desc)
{
  tn_copy_desc pinned = *desc;
  if (is_to_device(desc)) pinned.flags |= TN_COPY_PINNED;
  return liar_base.copy.copy(stream, device, &pinned);
}

/* And a destination is written later, too. */
static tn_status copy_back_late(tn_backend_stream *stream,
                                tn_backend_device *device,
                                const tn_copy_desc *desc)
{
  tn_copy_desc pinned = *desc;
  if (is_to_host(desc) && !(desc->flags & TN_COPY_PINNED)) return TN_OK;
  return liar_base.copy.copy(stream, device, &pinned);
}

static tn_status copy_fails_quietly(tn_backend_stream *stream,
                                    tn_backend_device *device,
                                    const tn_copy_desc *desc)
{
  if (is_within(desc) && desc->row_bytes > 1 << 20) return TN_OK;
  return liar_base.copy.copy(stream, device, desc);
}

static tn_status fill_short(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc)
{
  tn_fill_desc less = *desc;
  if (desc->count > 8) less.count -= desc->count % 8;
  return liar_base.copy.fill(stream, device, &less);
}

static tn_status fill_long(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_fill_desc *desc)
{
  tn_fill_desc more = *desc;
  more.count = (desc->count + 3) / 4 * 4;
  return liar_base.copy.fill(stream, device, &more);
}

static tn_status fill_zero(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_fill_desc *desc)
{
  tn_fill_desc zero = *desc;
  zero.pattern &= 0x7f;
  return liar_base.copy.fill(stream, device, &zero);
}

static tn_status peers_all(tn_backend_device *device, tn_backend_device *peer,
                           int *possible)
{
  (void)device, (void)peer;
  *possible = 1;
  return TN_OK;
}

static void lie_short(bool (*kind)(const tn_copy_desc *))
{
  is_meant = kind;
  liar_own.copy.copy = copy_short;
}

static void lie_in_short(void) { lie_short(is_to_device); }
static void lie_out_short(void) { lie_short(is_to_host); }
static void lie_within_short(void) { lie_short(is_within); }
static void lie_between_short(void) { lie_short(is_large_between); }

static void lie_peers(void)
{
  lie_short(is_between);
  liar_own.copy.peer_query = peers_all;
}

static void lie_long(void)
{
  is_meant = is_within;
  liar_own.copy.copy = copy_long;
}

static void lie_swapped(void)
{
  liar_own.copy.copy = copy_swapped;
  liar_own.stream.record = record_after_kept;
}

static void lie_late(void) { liar_own.copy.copy = copy_late; }
static void lie_back_late(void) { liar_own.copy.copy = copy_back_late; }
static void lie_quiet(void) { liar_own.copy.copy = copy_fails_quietly; }
static void lie_fill_short(void) { liar_own.copy.fill = fill_short; }
static void lie_fill_long(void) { liar_own.copy.fill = fill_long; }
static void lie_fill_zero(void) { liar_own.copy.fill = fill_zero; }

const liar_lie liar_copy_lies[] = {
  { "copy_in_short", lie_in_short },
  { "copy_out_short", lie_out_short },
  { "copy_within_short", lie_within_short },
  { "copy_within_long", lie_long },
  { "copy_swapped", lie_swapped },
  { "copy_pageable_late", lie_late },
  { "copy_pageable_never", lie_back_late },
  { "copy_swallowed", lie_quiet },
  { "peer_short", lie_between_short },
  { "peer_damaged", lie_peers },
  { "fill_short", lie_fill_short },
  { "fill_long", lie_fill_long },
  { "fill_pattern", lie_fill_zero },
  { NULL, NULL },
};
