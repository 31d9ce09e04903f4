#include "layers/forward_table.h"

#include <stdlib.h>

/* A call of an entry of this file. */
#define OF(entry_, backend_, ...) \
  { .entry = FORWARD_device_##entry_, .backend = (backend_), __VA_ARGS__ }

static tn_status device_count(void *self, int *count)
{
  forward_backend *b = self;
  forward_call call = OF(count, b, .device = NULL);
  return CALL_ON(&call, b->device.count(b->next_self, count));
}

static tn_status device_info(void *self, int ordinal,
                             tn_backend_device_info *info)
{
  forward_backend *b = self;
  forward_call call = OF(info, b, .device = NULL);
  return CALL_ON(&call, b->device.info(b->next_self, ordinal, info));
}

static tn_status opened(forward_call *call, int ordinal,
                        tn_backend_device *next, tn_backend_device **out)
{
  forward_device *device = calloc(1, sizeof *device);
  if (!device) {
    call->backend->device.close(next);
    return refuse_memory(call->backend, "device");
  }
  *device = (forward_device){ next, call->backend, ordinal, NULL };
  call->device = device;
  *out = (tn_backend_device *)device;
  return TN_OK;
}

static tn_status device_open(void *self, int ordinal,
                             tn_backend_device **device)
{
  forward_backend *b = self;
  forward_call call = OF(open, b, .device = NULL);
  tn_backend_device *next;
  if (!begin_call(&call)) return call.status;
  tn_status status = b->device.open(b->next_self, ordinal, &next);
  if (status == TN_OK) status = opened(&call, ordinal, next, device);
  return end_call(&call, status);
}

static void device_close(tn_backend_device *device)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(close, d->backend, .device = d);
  begin_call(&call);
  d->backend->device.close(d->next);
  end_call(&call, TN_OK);
  free(d);
}

static void device_shutdown(void *self)
{
  forward_backend *b = self;
  forward_call call = OF(shutdown, b, .device = NULL);
  begin_call(&call);
  if (b->device.shutdown) b->device.shutdown(b->next_self);
  end_call(&call, TN_OK);
}

static tn_status device_reset(tn_backend_device *device, uint64_t *generation)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(reset, d->backend, .device = d);
  return CALL_ON(&call, d->backend->device.reset(d->next, generation));
}

/* What the object of a kind is to the next backend. */
static const void *next_object(tn_native_kind kind, const void *object)
{
  if (!object) return NULL;
  switch (kind) {
  case TN_NATIVE_STREAM: return ((const forward_stream *)object)->next;
  case TN_NATIVE_MODULE: return ((const forward_module *)object)->next;
  case TN_NATIVE_KERNEL: return ((const forward_kernel *)object)->next;
  case TN_NATIVE_GRAPH: return ((const forward_graph *)object)->next;
  case TN_NATIVE_DEVICE:
  case TN_NATIVE_CONTEXT: return ((const forward_device *)object)->next;
  default: return object;
  }
}

static tn_status device_native_handle(tn_backend_device *device,
                                      tn_native_kind kind,
                                      const void *object, void **native)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(native_handle, d->backend, .device = d);
  return CALL_ON(&call, d->backend->device.native_handle(
                            d->next, kind, next_object(kind, object),
                            native));
}

static tn_status device_after_fork(void *self)
{
  forward_backend *b = self;
  forward_call call = OF(after_fork, b, .device = NULL);
  return CALL_ON(&call, b->device.after_fork(b->next_self));
}

const tn_backend_device_table forward_device_table = {
  .struct_size = sizeof(tn_backend_device_table),
  .count = device_count,
  .info = device_info,
  .open = device_open,
  .close = device_close,
  .shutdown = device_shutdown,
  .reset = device_reset,
  .native_handle = device_native_handle,
  .after_fork = device_after_fork,
};
