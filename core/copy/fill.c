/* Fills, and the public question about paths. */
#include "config.h"

#include "core/copy/fill.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "core/base/error.h"
#include "core/base/shutdown.h"
#include "core/copy/copy_job.h"
#include "core/copy/peer_path.h"
#include "core/device/mirror_gate.h"
#include "core/exec/capture.h"
#include "core/exec/tag.h"
#include "core/memory/allocator.h"
#include "core/memory/pinned.h"

/* Below this the host is done before a plugin would have begun. */
#define BY_HAND ((uint64_t)256 << 10)
/* Of a staging buffer, for plugins that cannot fill. */
#define STAGE ((uint64_t)1 << 20)

static void fill_by_hand(char *to, const tn_fill *fill)
{
  if (fill->pattern_bytes == 1) {
    memset(to, (int)(fill->pattern & 0xff), fill->count);
    return;
  }
  for (uint64_t i = 0; i < fill->count; i++)
    memcpy(to + i * fill->pattern_bytes, &fill->pattern, fill->pattern_bytes);
}

static tn_fill_desc describe(const tn_fill *fill)
{
  return (tn_fill_desc){
    .struct_size = sizeof(tn_fill_desc),
    .pattern_bytes = fill->pattern_bytes,
    .dst = fill->dst,
    .count = fill->count,
    .pattern = fill->pattern,
    .tag = TN_TAG_FILL,
  };
}

static tn_status queue(tn_stream *stream, const tn_fill *fill)
{
  tn_device_state *state = stream->state;
  const tn_fill_desc desc = describe(fill);
  tn_mirror_gate_enter(state->backend);
  tn_stream_lock(stream);
  tn_status status = state->backend->copy.fill(stream->queue, state->handle,
                                               &desc);
  tn_stream_unlock(stream);
  tn_mirror_gate_leave(state->backend);
  if (status != TN_OK)
    tn_plugin_error(state, status, "fill of %" PRIu64 " bytes",
                    fill->count * fill->pattern_bytes);
  return status;
}

/* One filled piece of pinned memory, copied as often as needed. */
static tn_status copy_piece(tn_stream *stream, const tn_fill *fill,
                            const void *memory, uint64_t piece)
{
  uint64_t bytes = fill->count * fill->pattern_bytes;
  const tn_copy_side src = { .address = (tn_address)(uintptr_t)memory };
  tn_copy_side dst = { .state = stream->state, .stream = stream };
  tn_status status = TN_OK;
  for (uint64_t done = 0; done < bytes && status == TN_OK; done += piece) {
    uint64_t rest = bytes - done;
    const tn_copy_shape shape = {
      .row_bytes = rest < piece ? rest : piece, .rows = 1, .depth = 1,
    };
    dst.address = fill->dst + done;
    status = tn_copy_queue(stream, &dst, &src, &shape, TN_COPY_PINNED);
  }
  tn_status used = tn_pinned_use(memory, stream);
  return status == TN_OK ? used : status;
}

static tn_status fill_staged(tn_stream *stream, const tn_fill *fill)
{
  uint64_t bytes = fill->count * fill->pattern_bytes;
  uint64_t piece = bytes < STAGE ? bytes : STAGE;
  void *memory = tn_pinned_alloc(stream->state, piece);
  if (!memory) return tn_last_status();
  tn_fill part = *fill;
  part.count = piece / fill->pattern_bytes;
  fill_by_hand(memory, &part);
  tn_status status = copy_piece(stream, fill, memory, piece);
  tn_pinned_free(memory);
  return status;
}

tn_status tn_fill_queue(tn_stream *stream, const tn_fill *fill)
{
  uint64_t bytes = fill->count * fill->pattern_bytes;
  const tn_device_state *state = stream->state;
  bool has_fill = state->backend->copy.fill != NULL;
  if (tn_is_captured(stream)) {
    const tn_fill_desc desc = describe(fill);
    return tn_capture_fill(stream, &desc);
  }
  if (stream->is_eager && state->info.capabilities & TN_CAP_HOST_ACCESS &&
      (bytes <= BY_HAND || !has_fill)) {
    fill_by_hand((char *)(uintptr_t)fill->dst, fill);
    return TN_OK;
  }
  tn_status status = has_fill ? queue(stream, fill)
                              : fill_staged(stream, fill);
  return tn_stream_settle(stream, status);
}

static tn_status check(const void *dst, int value, size_t bytes)
{
  uintptr_t address = (uintptr_t)dst;
  if (value < 0 || value > 255)
    return tn_error(TN_INVALID_ARGUMENT, "fill with %d: a byte is 0 to 255",
                    value);
  if (bytes != 0 && !dst)
    return tn_error(TN_INVALID_ARGUMENT, "fill of %zu bytes: the destination "
                    "is NULL", bytes);
  if (bytes > TN_LARGEST_REQUEST)
    return tn_error(TN_SIZE_OVERFLOW, "fill of %zu bytes: memory has at most "
                    "%" PRIu64, bytes, TN_LARGEST_REQUEST);
  if (address + bytes < address)
    return tn_error(TN_SIZE_OVERFLOW, "fill of %zu bytes at 0x%" PRIxPTR
                    " would end behind the last address", bytes, address);
  return TN_OK;
}

static tn_status fill_device(void *dst, tn_device device, int value,
                             size_t bytes)
{
  tn_device_state *state;
  tn_status status = tn_device_acquire(device, &state);
  if (status != TN_OK || bytes == 0) return status;
  status = tn_enter(state);
  if (status != TN_OK) return status;
  const tn_fill fill = {
    .dst = (tn_address)(uintptr_t)dst,
    .pattern_bytes = 1,
    .pattern = (uint64_t)value,
    .count = bytes,
  };
  tn_stream *stream = tn_stream_current_of(state);
  status = stream ? tn_fill_queue(stream, &fill) : tn_last_status();
  tn_leave();
  return status;
}

tn_status tn_fill_bytes(void *dst, tn_device device, int value, size_t bytes)
{
  tn_status status = check(dst, value, bytes);
  if (status != TN_OK) return status;
  if (device.backend != 0 || device.index != 0)
    return fill_device(dst, device, value, bytes);
  if (tn_is_shut_down()) return tn_refuse_shut_down();
  if (bytes != 0) memset(dst, value, bytes);
  return TN_OK;
}

static const char *reason_of(tn_device_state *dst, tn_device_state *src)
{
  if (dst == src) return "direct: one device";
  if (dst->backend == src->backend) return tn_peer_path_reason(dst, src);
  if (tn_device_is_host(dst) || tn_device_is_host(src))
    return "direct: one side is host memory";
  return "staged through pinned host memory: the devices are of different "
         "backends";
}

int tn_copy_path(tn_device dst, tn_device src, char *text, size_t size)
{
  tn_device_state *to, *from;
  if (!text && size != 0) {
    tn_error(TN_INVALID_ARGUMENT, "tn_copy_path: text is NULL, and is to have "
             "room for %zu bytes", size);
    return -1;
  }
  if (tn_device_acquire(dst, &to) != TN_OK) return -1;
  if (tn_device_acquire(src, &from) != TN_OK) return -1;
  if (tn_enter(to) != TN_OK) return -1;
  int length = snprintf(text, size, "%s", reason_of(to, from));
  tn_leave();
  return length;
}
