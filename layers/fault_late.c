#include "layers/fault_late.h"

#include <stdio.h>
#include <stdlib.h>

typedef struct late {
  tn_point point; /* behind the work before it */
  tn_status status;
  tn_tag tag;
  char text[120];
} late;

bool fault_can_be_late(forward_entry entry)
{
  return entry == FORWARD_launch_launch || entry == FORWARD_copy_copy ||
         entry == FORWARD_copy_fill || entry == FORWARD_graph_launch ||
         entry == FORWARD_math_call;
}

static bool is_done_on_return(const forward_stream *stream)
{
  tn_backend_device_info info = { .struct_size = sizeof info };
  const forward_device *device = stream->device;
  const forward_backend *b = device->backend;
  return stream->is_default &&
         b->device.info(b->next_self, device->ordinal, &info) == TN_OK &&
         info.capabilities & TN_CAP_INLINE_DEFAULT;
}

/* A second failure before the first was told is forgotten, as devices do. */
bool fault_queue(const forward_call *call, tn_status status, const char *text)
{
  forward_stream *stream = call->stream;
  if (!stream || is_done_on_return(stream) || forward_is_captured(call))
    return false;
  if (stream->data) return true;
  late *failure = malloc(sizeof *failure);
  if (!failure) return false;
  failure->status = status;
  failure->tag = call->tag;
  snprintf(failure->text, sizeof failure->text, "%s", text);
  if (call->backend->stream.record(stream->next, 0, &failure->point)) {
    free(failure);
    return false;
  }
  stream->data = failure;
  return true;
}

void fault_forget(forward_stream *stream)
{
  late *failure = stream->data;
  if (!failure) return;
  const forward_device *device = stream->device;
  device->backend->stream.point_release(device->next, &failure->point);
  free(failure);
  stream->data = NULL;
}

void fault_tell(forward_stream *stream, tn_error_info *failure)
{
  const late *mine = stream->data;
  const forward_device *device = stream->device;
  if (!mine || failure->status != TN_OK ||
      device->backend->stream.query(device->next, &mine->point) != TN_OK)
    return;
  failure->status = mine->status;
  failure->tag = mine->tag;
  snprintf(failure->text, sizeof failure->text, "%s", mine->text);
  fault_forget(stream);
}
