#include "layers/forward_table.h"

#include <stdlib.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_stream_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

tn_status stream_made(forward_call *call, tn_backend_stream *next,
                      tn_backend_stream **out)
{
  static uint64_t last;
  forward_stream *stream = calloc(1, sizeof *stream);
  if (!stream) {
    call->backend->stream.destroy(next);
    return refuse_memory(call->backend, "stream");
  }
  *stream = (forward_stream){
    .next = next,
    .device = call->device,
    .is_default = call->flags & TN_STREAM_DEFAULT,
    .number = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED),
  };
  call->stream = stream;
  *out = (tn_backend_stream *)stream;
  return TN_OK;
}

static tn_status stream_create(tn_backend_device *device,
                               const tn_stream_desc *desc,
                               tn_backend_stream **stream)
{
  forward_device *d = DEVICE(device);
  tn_backend_stream *next;
  forward_call call = OF(create, d, .flags = desc->flags);
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->stream.create(d->next, desc, &next);
  if (status == TN_OK) status = stream_made(&call, next, stream);
  return end_call(&call, status);
}

static void stream_destroy(tn_backend_stream *stream)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(destroy, s->device, .stream = s);
  begin_call(&call);
  call.backend->stream.destroy(s->next);
  end_call(&call, TN_OK);
  free(s);
}

static tn_status stream_wrap(tn_backend_device *device, void *native,
                             tn_backend_stream **stream)
{
  forward_device *d = DEVICE(device);
  tn_backend_stream *next;
  forward_call call = OF(wrap, d, .flags = 0);
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->stream.wrap(d->next, native, &next);
  if (status == TN_OK) status = stream_made(&call, next, stream);
  return end_call(&call, status);
}

static tn_status stream_flush(tn_backend_stream *stream)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(flush, s->device, .stream = s);
  return CALL_ON(&call, call.backend->stream.flush(s->next));
}

static tn_status stream_record(tn_backend_stream *stream, uint32_t flags,
                               tn_point *point)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(record, s->device, .stream = s, .flags = flags,
                         .points = point, .count = 1);
  return CALL_ON(&call, call.backend->stream.record(s->next, call.flags,
                                                    point));
}

static tn_status stream_wait(tn_backend_stream *stream,
                             const tn_point *points, size_t count)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(wait, s->device, .stream = s, .points = points,
                         .count = count);
  return CALL_ON(&call, call.backend->stream.wait(s->next, points, count));
}

static tn_status stream_query(tn_backend_device *device,
                              const tn_point *point)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(query, d, .points = point, .count = 1);
  return CALL_ON(&call, d->backend->stream.query(d->next, point));
}

static tn_status stream_host_wait(tn_backend_device *device,
                                  const tn_point *point, uint64_t timeout)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(host_wait, d, .points = point, .count = 1);
  return CALL_ON(&call, d->backend->stream.host_wait(d->next, point,
                                                     timeout));
}

static void stream_point_release(tn_backend_device *device,
                                 const tn_point *point)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(point_release, d, .points = point, .count = 1);
  begin_call(&call);
  d->backend->stream.point_release(d->next, point);
  end_call(&call, TN_OK);
}

static tn_status stream_elapsed(tn_backend_device *device,
                                const tn_point *start, const tn_point *end,
                                double *milliseconds)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(elapsed, d, .points = start, .count = 1);
  return CALL_ON(&call, d->backend->stream.elapsed(d->next, start, end,
                                                   milliseconds));
}

static tn_status stream_host_function(tn_backend_stream *stream,
                                      void (*function)(void *),
                                      void *argument, tn_tag tag)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(host_function, s->device, .stream = s,
                         .function = function, .argument = argument,
                         .tag = tag);
  return CALL_ON(&call, call.backend->stream.host_function(
                            s->next, call.function, call.argument, tag));
}

static tn_status stream_take_error(tn_backend_stream *stream,
                                   tn_error_info *info)
{
  forward_stream *s = STREAM(stream);
  forward_call call = OF(take_error, s->device, .stream = s,
                         .failure = info);
  return CALL_ON(&call, call.backend->stream.take_error(s->next, info));
}

const tn_backend_stream_table forward_stream_table = {
  .struct_size = sizeof(tn_backend_stream_table),
  .create = stream_create,
  .destroy = stream_destroy,
  .wrap = stream_wrap,
  .flush = stream_flush,
  .record = stream_record,
  .wait = stream_wait,
  .query = stream_query,
  .host_wait = stream_host_wait,
  .point_release = stream_point_release,
  .elapsed = stream_elapsed,
  .host_function = stream_host_function,
  .take_error = stream_take_error,
};
