#include "config.h"

#include "core/copy/peer_pattern.h"

#include <stdlib.h>
#include <string.h>

#include "core/base/error.h"

/* Longer than what hardware is known to move at once. */
enum { SIZE = 1 << 18 };

/* One end: memory and a queue of the plugin's. */
typedef struct terminal {
  tn_device_state *state;
  tn_backend_stream *queue;
  tn_address address;
} terminal;

static tn_alloc_desc memory_desc(void)
{
  return (tn_alloc_desc){
    .struct_size = sizeof(tn_alloc_desc),
    .kind = TN_MEMORY_DEVICE,
    .bytes = SIZE,
  };
}

static tn_status open_end(terminal *end)
{
  tn_device_state *state = end->state;
  const tn_stream_desc stream = { .struct_size = sizeof stream };
  tn_alloc_desc memory = memory_desc();
  tn_status status = state->backend->stream.create(state->handle, &stream,
                                                   &end->queue);
  if (status != TN_OK) return tn_plugin_error(state, status, "new stream");
  status = state->backend->alloc.alloc(state->handle, &memory,
                                       &end->address);
  if (status == TN_OK) return TN_OK;
  state->backend->stream.destroy(end->queue);
  return tn_plugin_error(state, status, "memory of %d bytes", SIZE);
}

static void close_end(terminal *end)
{
  tn_device_state *state = end->state;
  tn_alloc_desc memory = memory_desc();
  state->backend->alloc.free(state->handle, &memory, end->address);
  state->backend->stream.destroy(end->queue);
}

static tn_status wait_for(terminal *end)
{
  tn_device_state *state = end->state;
  const tn_backend_stream_table *stream = &state->backend->stream;
  tn_point point;
  tn_error_info info = { .struct_size = sizeof info };
  tn_status status = stream->record(end->queue, 0, &point);
  if (status != TN_OK) return status;
  status = stream->host_wait(state->handle, &point, UINT64_MAX);
  stream->point_release(state->handle, &point);
  if (status != TN_OK) return status;
  status = stream->take_error(end->queue, &info);
  return status == TN_OK ? info.status : status;
}

/* On the queue of `at`, and waited for. */
static tn_status copy(terminal *at, tn_copy_desc desc)
{
  tn_device_state *state = at->state;
  desc.struct_size = sizeof desc;
  desc.row_bytes = SIZE;
  desc.rows = desc.depth = 1;
  tn_status status = state->backend->copy.copy(
      state->backend->has_stream ? at->queue : NULL, state->handle, &desc);
  if (status == TN_OK) status = wait_for(at);
  if (status != TN_OK) tn_plugin_error(state, status, "copy of a pattern");
  return status;
}

static tn_status write_end(terminal *end, const void *bytes)
{
  return copy(end, (tn_copy_desc){
    .kind = TN_COPY_HOST_TO_DEVICE,
    .dst_device = end->state->handle,
    .dst = end->address,
    .src = (tn_address)(uintptr_t)bytes,
  });
}

static tn_status read_end(terminal *end, void *bytes)
{
  return copy(end, (tn_copy_desc){
    .kind = TN_COPY_DEVICE_TO_HOST,
    .src_device = end->state->handle,
    .dst = (tn_address)(uintptr_t)bytes,
    .src = end->address,
  });
}

static tn_status send(terminal *dst, terminal *src)
{
  return copy(src, (tn_copy_desc){
    .kind = TN_COPY_DEVICE_TO_DEVICE,
    .dst_device = dst->state->handle,
    .src_device = src->state->handle,
    .dst = dst->address,
    .src = src->address,
  });
}

/* Every 8 bytes differ from all others and from what was there. */
static void draw(uint64_t *words)
{
  for (uint64_t i = 0; i < SIZE / 8; i++)
    words[i] = (i + 1) * 0x9e3779b97f4a7c15u;
}

static tn_status exchange(terminal *dst, terminal *src, uint64_t *sent,
                          uint64_t *got)
{
  memset(got, 0xa5, SIZE);
  draw(sent);
  tn_status status = write_end(dst, got);
  if (status == TN_OK) status = write_end(src, sent);
  if (status == TN_OK) status = send(dst, src);
  if (status == TN_OK) status = read_end(dst, got);
  return status;
}

tn_pattern_result tn_peer_pattern_send(tn_device_state *dst_state,
                                       tn_device_state *src_state)
{
  tn_pattern_result result = TN_PATTERN_NOT_SENT;
  terminal dst = { .state = dst_state }, src = { .state = src_state };
  uint64_t *sent = malloc(2 * SIZE);
  if (!sent) {
    tn_error(TN_OUT_OF_MEMORY, "no memory for a pattern");
    return result;
  }
  uint64_t *got = sent + SIZE / 8;
  if (open_end(&dst) != TN_OK) goto free_pattern;
  if (open_end(&src) != TN_OK) goto close_dst;
  if (exchange(&dst, &src, sent, got) == TN_OK)
    result = memcmp(sent, got, SIZE) == 0 ? TN_PATTERN_WHOLE
                                          : TN_PATTERN_DAMAGED;
  close_end(&src);
close_dst:
  close_end(&dst);
free_pattern:
  free(sent);
  return result;
}
