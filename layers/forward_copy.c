#include "layers/forward_table.h"

#include <string.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_copy_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

tn_copy_desc copy_for_next(const tn_copy_desc *desc)
{
  tn_copy_desc next;
  size_t size = desc->struct_size;
  if (size > sizeof next) size = sizeof next;
  memset(&next, 0, sizeof next);
  memcpy(&next, desc, size);
  next.struct_size = size;
  next.dst_device = next_device(desc->dst_device);
  next.src_device = next_device(desc->src_device);
  return next;
}

static tn_status copy_copy(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_copy_desc *desc)
{
  forward_device *d = DEVICE(device);
  tn_copy_desc next = copy_for_next(desc);
  forward_call call = OF(copy, d, .stream = STREAM(stream), .copy = desc,
                         .tag = desc->tag,
                         .bytes = desc->row_bytes * desc->rows * desc->depth);
  return CALL_ON(&call, d->backend->copy.copy(next_stream(stream), d->next,
                                              &next));
}

static tn_status copy_fill(tn_backend_stream *stream,
                           tn_backend_device *device,
                           const tn_fill_desc *desc)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(fill, d, .stream = STREAM(stream), .fill = desc,
                         .tag = desc->tag,
                         .bytes = desc->count * desc->pattern_bytes);
  return CALL_ON(&call, d->backend->copy.fill(next_stream(stream), d->next,
                                              desc));
}

static tn_status copy_peer_query(tn_backend_device *device,
                                 tn_backend_device *peer, int *possible)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(peer_query, d, .peer = DEVICE(peer));
  return CALL_ON(&call, d->backend->copy.peer_query(
                            d->next, next_device(peer), possible));
}

static tn_status copy_peer_enable(tn_backend_device *device,
                                  tn_backend_device *peer)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(peer_enable, d, .peer = DEVICE(peer));
  return CALL_ON(&call, d->backend->copy.peer_enable(d->next,
                                                     next_device(peer)));
}

static tn_status copy_peer_disable(tn_backend_device *device,
                                   tn_backend_device *peer)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(peer_disable, d, .peer = DEVICE(peer));
  return CALL_ON(&call, d->backend->copy.peer_disable(d->next,
                                                      next_device(peer)));
}

const tn_backend_copy_table forward_copy_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = copy_copy,
  .fill = copy_fill,
  .peer_query = copy_peer_query,
  .peer_enable = copy_peer_enable,
  .peer_disable = copy_peer_disable,
};
