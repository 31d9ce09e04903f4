#include "config.h"

#include "backends/opencl/stream.h"

#include <stdio.h>
#include <stdlib.h>

#include "backends/opencl/error.h"

/* cl_khr_priority_hints */
#define QUEUE_PRIORITY_KHR 0x1096
#define QUEUE_PRIORITY_HIGH_KHR (1 << 0)

#define COMMANDS_CAPACITY 64

cl_command_queue tn_opencl_queue_new(tn_backend_device *device,
                                     cl_command_queue_properties properties,
                                     int priority, cl_int *code)
{
  cl_context context = device->context->handle;
  if (!cl_.CreateCommandQueueWithProperties)
    return cl_.CreateCommandQueue(context, device->id, properties, code);
  cl_queue_properties list[] = { CL_QUEUE_PROPERTIES, properties,
                                 QUEUE_PRIORITY_KHR, QUEUE_PRIORITY_HIGH_KHR,
                                 0 };
  if (priority >= 0 || !device->has_priorities) list[2] = 0;
  return cl_.CreateCommandQueueWithProperties(context, device->id, list,
                                              code);
}

static tn_backend_stream *new_stream(tn_backend_device *device,
                                     cl_command_queue queue)
{
  tn_backend_stream *stream = calloc(1, sizeof *stream);
  if (stream)
    stream->commands = calloc(COMMANDS_CAPACITY, sizeof *stream->commands);
  if (!stream || !stream->commands) {
    free(stream);
    tn_host->error(TN_OUT_OF_MEMORY, "no host memory for a stream");
    return NULL;
  }
  stream->device = device;
  stream->queue = queue;
  stream->capacity = COMMANDS_CAPACITY;
  return stream;
}

static tn_status create_stream(tn_backend_device *device,
                               const tn_stream_desc *desc,
                               tn_backend_stream **stream)
{
  if (desc->flags & ~TN_STREAM_DEFAULT)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "stream flags 0x%x: only 0x%x is known",
                          desc->flags, TN_STREAM_DEFAULT);
  cl_int code;
  cl_command_queue queue = tn_opencl_queue_new(device, 0, desc->priority,
                                               &code);
  if (code) return tn_opencl_check(code, "clCreateCommandQueue", device);
  tn_backend_stream *created = new_stream(device, queue);
  if (!created) {
    cl_.ReleaseCommandQueue(queue);
    return TN_OUT_OF_MEMORY;
  }
  *stream = created;
  return TN_OK;
}

static tn_status wrap_queue(tn_backend_device *device, void *native,
                            tn_backend_stream **stream)
{
  cl_context context = NULL;
  cl_device_id id = NULL;
  cl_command_queue_properties properties = 0;
  cl_int code = cl_.GetCommandQueueInfo(native, CL_QUEUE_CONTEXT,
                                        sizeof context, &context, NULL);
  if (code) return tn_opencl_check(code, "clGetCommandQueueInfo", device);
  cl_.GetCommandQueueInfo(native, CL_QUEUE_DEVICE, sizeof id, &id, NULL);
  cl_.GetCommandQueueInfo(native, CL_QUEUE_PROPERTIES, sizeof properties,
                          &properties, NULL);
  if (context != device->context->handle || id != device->id)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "the queue belongs to another context or device "
                          "than %s has here", device->info.name);
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "the queue is out of order; a stream needs one "
                          "that is in order");
  tn_backend_stream *created = new_stream(device, native);
  if (!created) return TN_OUT_OF_MEMORY;
  created->is_borrowed = true;
  *stream = created;
  return TN_OK;
}

static void destroy_stream(tn_backend_stream *stream)
{
  for (size_t i = 0; i < stream->count; i++)
    cl_.ReleaseEvent(
        stream->commands[(stream->first + i) & (stream->capacity - 1)].event);
  if (stream->timer) cl_.ReleaseCommandQueue(stream->timer);
  if (!stream->is_borrowed) cl_.ReleaseCommandQueue(stream->queue);
  free(stream->commands);
  free(stream);
}

cl_int tn_opencl_event_status(cl_event event)
{
  cl_int status = CL_QUEUED;
  cl_int code = cl_.GetEventInfo(event, CL_EVENT_COMMAND_EXECUTION_STATUS,
                                 sizeof status, &status, NULL);
  return code ? code : status;
}

void tn_opencl_stream_sweep(tn_backend_stream *stream)
{
  while (stream->count) {
    tn_opencl_command *oldest = stream->commands + stream->first;
    cl_int status = tn_opencl_event_status(oldest->event);
    if (status > CL_COMPLETE) return;
    if (status < 0 && stream->failure == CL_SUCCESS) {
      stream->failure = status;
      stream->failure_tag = oldest->tag;
    }
    cl_.ReleaseEvent(oldest->event);
    stream->first = (stream->first + 1) & (stream->capacity - 1);
    stream->count--;
  }
}

static bool grow_commands(tn_backend_stream *stream)
{
  size_t capacity = stream->capacity;
  tn_opencl_command *grown = calloc(capacity * 2, sizeof *grown);
  if (!grown) return false;
  for (size_t i = 0; i < stream->count; i++)
    grown[i] = stream->commands[(stream->first + i) & (capacity - 1)];
  free(stream->commands);
  stream->commands = grown;
  stream->first = 0;
  stream->capacity = capacity * 2;
  return true;
}

cl_event *tn_opencl_stream_begin(tn_backend_stream *stream)
{
  if (stream->count == stream->capacity) {
    tn_opencl_stream_sweep(stream);
    if (stream->count == stream->capacity && !grow_commands(stream)) {
      tn_host->error(TN_OUT_OF_MEMORY, "no host memory to queue a command");
      return NULL;
    }
  }
  size_t next = (stream->first + stream->count) & (stream->capacity - 1);
  return &stream->commands[next].event;
}

void tn_opencl_stream_commit(tn_backend_stream *stream, tn_tag tag)
{
  size_t next = (stream->first + stream->count) & (stream->capacity - 1);
  stream->commands[next].tag = tag;
  stream->count++;
}

cl_event tn_opencl_stream_last(tn_backend_stream *stream)
{
  if (!stream->count) return NULL;
  size_t last = (stream->first + stream->count - 1) & (stream->capacity - 1);
  return stream->commands[last].event;
}

cl_int tn_opencl_stream_finish(tn_backend_stream *stream, tn_tag tag)
{
  cl_event last = tn_opencl_stream_last(stream);
  if (!last) return CL_SUCCESS;
  cl_int code = cl_.WaitForEvents(1, &last);
  cl_int status = tn_opencl_event_status(last);
  tn_opencl_stream_sweep(stream);
  if (status < 0) {
    if (stream->failure_tag == tag) stream->failure = CL_SUCCESS;
    return status;
  }
  return code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST ? CL_SUCCESS
                                                              : code;
}

cl_command_queue tn_opencl_stream_handle(const tn_backend_stream *stream)
{
  return stream->queue;
}

static tn_status flush_stream(tn_backend_stream *stream)
{
  return tn_opencl_check(cl_.Flush(stream->queue), "clFlush",
                         stream->device);
}

static tn_status take_error(tn_backend_stream *stream, tn_error_info *info)
{
  tn_opencl_stream_sweep(stream);
  cl_int failure = stream->failure;
  info->status = tn_opencl_code_status(failure);
  info->tag = failure ? stream->failure_tag : 0;
  info->text[0] = '\0';
  if (failure)
    snprintf(info->text, sizeof info->text, "%s ended a command with %s (%d)",
             stream->device->info.name, tn_opencl_code_name(failure),
             failure);
  stream->failure = CL_SUCCESS;
  return TN_OK;
}

const tn_backend_stream_table tn_opencl_stream_table = {
  .struct_size = sizeof tn_opencl_stream_table,
  .create = create_stream,
  .destroy = destroy_stream,
  .wrap = wrap_queue,
  .flush = flush_stream,
  .record = tn_opencl_point_record,
  .wait = tn_opencl_point_wait,
  .query = tn_opencl_point_query,
  .host_wait = tn_opencl_point_host_wait,
  .point_release = tn_opencl_point_release,
  .elapsed = tn_opencl_point_elapsed,
  .take_error = take_error,
};
