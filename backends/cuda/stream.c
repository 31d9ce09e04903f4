#include "config.h"

#include "backends/cuda/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/cuda/graph.h"

static tn_backend_stream *new_stream(tn_backend_device *device)
{
  tn_backend_stream *stream = calloc(1, sizeof *stream);
  if (stream) stream->trail = tn_cuda_trail_take(device);
  if (!stream || !stream->trail) {
    free(stream);
    tn_host->error(TN_OUT_OF_MEMORY, "no host memory for a stream");
    return NULL;
  }
  stream->device = device;
  return stream;
}

static void free_stream(tn_backend_stream *stream)
{
  tn_cuda_trail_give(stream->device, stream->trail);
  free(stream);
}

/* The nearest priority there is: 0 is the least urgent one. */
static int priority_of(const tn_backend_device *device, int priority)
{
  if (priority > 0) return 0;
  return priority < device->most_urgent ? device->most_urgent : priority;
}

/* Non-blocking, the default stream too: the driver's legacy stream would wait
 * for all others. */
static tn_status create_stream(tn_backend_device *device,
                               const tn_stream_desc *desc,
                               tn_backend_stream **stream)
{
  if (desc->flags & ~TN_STREAM_DEFAULT)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "stream flags 0x%x: only 0x%x is known",
                          desc->flags, TN_STREAM_DEFAULT);
  tn_backend_stream *created = new_stream(device);
  if (!created) return TN_OUT_OF_MEMORY;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code)
    code = cu_.StreamCreateWithPriority(&created->handle,
                                        TN_CU_STREAM_NON_BLOCKING,
                                        priority_of(device, desc->priority));
  tn_cuda_leave(device, former);
  if (code) {
    free_stream(created);
    return tn_cuda_check(code, "cuStreamCreateWithPriority", device);
  }
  *stream = created;
  return TN_OK;
}

/* NULL is the legacy stream of the device's primary context. */
static tn_status wrap_stream(tn_backend_device *device, void *native,
                             tn_backend_stream **stream)
{
  CUcontext former, context = NULL;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = cu_.StreamGetCtx(native, &context);
  tn_cuda_leave(device, former);
  if (code) return tn_cuda_check(code, "cuStreamGetCtx", device);
  if (context != device->context)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "the stream belongs to another context than the "
                          "primary one of %s", device->info.name);
  tn_backend_stream *created = new_stream(device);
  if (!created) return TN_OUT_OF_MEMORY;
  created->handle = native;
  created->is_borrowed = true;
  *stream = created;
  return TN_OK;
}

static void destroy_stream(tn_backend_stream *stream)
{
  const tn_backend_device *device = stream->device;
  CUcontext former;
  if (tn_cuda_enter(device, &former) == TN_CUDA_SUCCESS) {
    tn_cuda_caller_free(stream->caller);
    if (!stream->is_borrowed) cu_.StreamDestroy(stream->handle);
    tn_cuda_leave(device, former);
  }
  free_stream(stream);
}

CUstream tn_cuda_stream_handle(const tn_backend_stream *stream)
{
  return stream->handle;
}

static tn_status queue_call(tn_backend_stream *stream,
                            void (*function)(void *), void *argument)
{
  tn_backend_device *device = stream->device;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (code) return tn_cuda_check(code, "binding the context", device);
  tn_status status =
      stream->caller ? TN_OK : tn_cuda_caller_new(device, &stream->caller);
  if (status == TN_OK)
    status = tn_cuda_caller_queue(stream->caller, stream->handle, function,
                                  argument);
  tn_cuda_leave(device, former);
  return status;
}

static tn_status queue_function(tn_backend_stream *stream,
                                void (*function)(void *), void *argument,
                                tn_tag tag)
{
  tn_status status =
      stream->capture ? tn_cuda_capture_function(stream, function, argument)
                      : queue_call(stream, function, argument);
  if (status == TN_OK)
    tn_cuda_trail_add(stream->trail, TN_CUDA_HOST_FUNCTION, NULL, tag);
  return status;
}

/* The driver answers any call with what ended the context; a query of the
 * stream is the cheapest. */
static CUresult look_for_failure(const tn_backend_stream *stream)
{
  CUcontext former;
  if (tn_cuda_is_lost(stream->device)) return TN_CUDA_SUCCESS;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (!code) code = cu_.StreamQuery(stream->handle);
  tn_cuda_leave(stream->device, former);
  return (int)code == TN_CUDA_ERROR_NOT_READY ? TN_CUDA_SUCCESS : code;
}

static tn_status take_error(tn_backend_stream *stream, tn_error_info *info)
{
  tn_backend_device *device = stream->device;
  CUresult code = look_for_failure(stream);
  if (tn_cuda_is_sticky(code)) tn_cuda_fail(device, code);
  else if (code) return tn_cuda_check(code, "cuStreamQuery", device);
  bool is_lost = tn_cuda_is_lost(device);
  info->status = is_lost ? TN_DEVICE_LOST : TN_OK;
  info->tag = is_lost ? device->failure.tag : 0;
  snprintf(info->text, sizeof info->text, "%s",
           is_lost ? device->failure.text : "");
  return TN_OK;
}

const tn_backend_stream_table tn_cuda_stream_table = {
  .struct_size = sizeof tn_cuda_stream_table,
  .create = create_stream,
  .destroy = destroy_stream,
  .wrap = wrap_stream,
  .record = tn_cuda_point_record,
  .wait = tn_cuda_point_wait,
  .query = tn_cuda_point_query,
  .host_wait = tn_cuda_point_host_wait,
  .point_release = tn_cuda_point_release,
  .elapsed = tn_cuda_point_elapsed,
  .host_function = queue_function,
  .take_error = take_error,
};
