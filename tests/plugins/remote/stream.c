/* Streams: each a list of work that was not flushed yet, in front of the
 * hardware queue it is mapped onto. */
#include "tests/plugins/remote/remote.h"

#include <stdlib.h>

void remote_stream_enter(tn_backend_stream *stream, const char *entry)
{
  if (atomic_flag_test_and_set(&stream->busy))
    remote_broken("%s called while another call on the stream is under way",
                  entry);
}

void remote_stream_leave(tn_backend_stream *stream)
{
  atomic_flag_clear(&stream->busy);
}

tn_status remote_device_check(tn_backend_device *device)
{
  pthread_mutex_lock(&remote_lock);
  bool lost = device->lost;
  pthread_mutex_unlock(&remote_lock);
  if (!lost) return TN_OK;
  return remote_host->error(TN_DEVICE_LOST, "device %d of remote is lost",
                            device->ordinal);
}

static tn_status create(tn_backend_device *device, const tn_stream_desc *desc,
                        tn_backend_stream **out)
{
  tn_status status =
      remote_desc_check("stream", desc->struct_size, sizeof *desc,
                        desc->flags, TN_STREAM_DEFAULT);
  if (!status) status = remote_device_check(device);
  if (status) return status;
  tn_backend_stream *stream = calloc(1, sizeof *stream);
  if (!stream)
    return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a stream");
  stream->device = device;
  remote_list_init(&stream->pending);
  atomic_flag_clear(&stream->busy);
  pthread_mutex_lock(&remote_lock);
  stream->queue = &device->queues[device->next_queue++ % REMOTE_QUEUES];
  device->streams++;
  pthread_mutex_unlock(&remote_lock);
  *out = stream;
  return TN_OK;
}

/* Marks that nobody waited for may be left, and nothing else. */
static void check_idle(tn_backend_stream *stream)
{
  for (remote_command *command = stream->pending.head; command;
       command = command->next)
    if (command->kind != REMOTE_WAIT && command->kind != REMOTE_MARK)
      remote_broken("stream.destroy: work is pending");
}

static void destroy(tn_backend_stream *stream)
{
  remote_stream_enter(stream, "stream.destroy");
  remote_capture_check(stream, "stream.destroy");
  pthread_mutex_lock(&remote_lock);
  check_idle(stream);
  pthread_mutex_unlock(&remote_lock);
  remote_stream_drain(stream);
  pthread_mutex_lock(&remote_lock);
  stream->device->streams--;
  pthread_mutex_unlock(&remote_lock);
  free(stream);
}

static tn_status flush(tn_backend_stream *stream)
{
  remote_stream_enter(stream, "stream.flush");
  remote_capture_check(stream, "stream.flush");
  pthread_mutex_lock(&remote_lock);
  remote_stream_submit(stream);
  pthread_mutex_unlock(&remote_lock);
  remote_stream_leave(stream);
  return remote_device_check(stream->device);
}

static tn_status take_error(tn_backend_stream *stream, tn_error_info *info)
{
  size_t size = info->struct_size;
  if (size < sizeof *info)
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "error info has %zu bytes, remote needs %zu",
                              size, sizeof *info);
  pthread_mutex_lock(&remote_lock);
  *info = stream->error;
  info->struct_size = size;
  stream->error = (tn_error_info){ 0 };
  pthread_mutex_unlock(&remote_lock);
  return TN_OK;
}

const tn_backend_stream_table remote_stream_table = {
  .struct_size = sizeof(tn_backend_stream_table),
  .create = create,
  .destroy = destroy,
  .flush = flush,
  .record = remote_record,
  .wait = remote_wait,
  .query = remote_query,
  .host_wait = remote_host_wait,
  .point_release = remote_point_drop,
  .take_error = take_error,
};
