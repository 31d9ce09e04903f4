#include "layers/forward_table.h"

#include <string.h>

#define OF(entry_, device_, ...) \
  { .entry = FORWARD_alloc_##entry_, .backend = (device_)->backend, \
    .device = (device_), __VA_ARGS__ }

/* Bytes past what we know are the core's, and pass by as they are when no
 * handle need be changed. */
static const tn_alloc_desc *for_next(const tn_alloc_desc *desc,
                                     tn_alloc_desc *copy)
{
  if (!desc->stream) return desc;
  size_t size = desc->struct_size;
  if (size > sizeof *copy) size = sizeof *copy;
  memset(copy, 0, sizeof *copy);
  memcpy(copy, desc, size);
  copy->struct_size = size;
  copy->stream = next_stream(desc->stream);
  return copy;
}

static tn_status alloc_alloc(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  forward_device *d = DEVICE(device);
  tn_alloc_desc next;
  forward_call call = OF(alloc, d, .alloc = desc, .bytes = desc->bytes,
                         .stream = STREAM(desc->stream));
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->alloc.alloc(d->next, for_next(desc, &next),
                                             address);
  if (status == TN_OK) call.address = *address;
  return end_call(&call, status);
}

static void alloc_free(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address address)
{
  forward_device *d = DEVICE(device);
  tn_alloc_desc next;
  forward_call call = OF(free, d, .alloc = desc, .bytes = desc->bytes,
                         .address = address, .stream = STREAM(desc->stream));
  begin_call(&call);
  d->backend->alloc.free(d->next, for_next(desc, &next), address);
  end_call(&call, TN_OK);
}

static tn_status alloc_mem_info(tn_backend_device *device,
                                uint64_t *free_bytes, uint64_t *total_bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(mem_info, d, .bytes = 0);
  return CALL_ON(&call, d->backend->alloc.mem_info(d->next, free_bytes,
                                                   total_bytes));
}

static tn_status alloc_host_register(tn_backend_device *device, void *memory,
                                     uint64_t bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(host_register, d, .bytes = bytes,
                         .address = (uintptr_t)memory);
  return CALL_ON(&call, d->backend->alloc.host_register(d->next, memory,
                                                        bytes));
}

static tn_status alloc_host_unregister(tn_backend_device *device,
                                       void *memory)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(host_unregister, d, .address = (uintptr_t)memory);
  return CALL_ON(&call, d->backend->alloc.host_unregister(d->next, memory));
}

static tn_status alloc_granularity(tn_backend_device *device, uint64_t *bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(granularity, d, .bytes = 0);
  return CALL_ON(&call, d->backend->alloc.granularity(d->next, bytes));
}

static tn_status alloc_reserve(tn_backend_device *device, uint64_t bytes,
                               tn_address *address)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(reserve, d, .bytes = bytes);
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->alloc.reserve(d->next, bytes, address);
  if (status == TN_OK) call.address = *address;
  return end_call(&call, status);
}

static void alloc_release(tn_backend_device *device, tn_address address,
                          uint64_t bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(release, d, .address = address, .bytes = bytes);
  begin_call(&call);
  d->backend->alloc.release(d->next, address, bytes);
  end_call(&call, TN_OK);
}

static tn_status alloc_map(tn_backend_device *device, tn_address address,
                           uint64_t bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(map, d, .address = address, .bytes = bytes);
  return CALL_ON(&call, d->backend->alloc.map(d->next, address, bytes));
}

static tn_status alloc_unmap(tn_backend_device *device, tn_address address,
                             uint64_t bytes)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(unmap, d, .address = address, .bytes = bytes);
  return CALL_ON(&call, d->backend->alloc.unmap(d->next, address, bytes));
}

static tn_status alloc_set_access(tn_backend_device *device,
                                  tn_address address, uint64_t bytes,
                                  tn_backend_device *peer)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(set_access, d, .address = address, .bytes = bytes,
                         .peer = DEVICE(peer));
  return CALL_ON(&call, d->backend->alloc.set_access(d->next, address, bytes,
                                                     next_device(peer)));
}

static tn_status alloc_export_memory(tn_backend_device *device,
                                     tn_address address, int32_t kind,
                                     tn_share_handle *handle)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(export_memory, d, .address = address);
  return CALL_ON(&call, d->backend->alloc.export_memory(d->next, address,
                                                        kind, handle));
}

static tn_status alloc_import_memory(tn_backend_device *device,
                                     const tn_share_handle *handle,
                                     uint64_t bytes, tn_address *address)
{
  forward_device *d = DEVICE(device);
  forward_call call = OF(import_memory, d, .bytes = bytes);
  if (!begin_call(&call)) return call.status;
  tn_status status = d->backend->alloc.import_memory(d->next, handle, bytes,
                                                     address);
  if (status == TN_OK) call.address = *address;
  return end_call(&call, status);
}

const tn_backend_alloc_table forward_alloc_table = {
  .struct_size = sizeof(tn_backend_alloc_table),
  .alloc = alloc_alloc,
  .free = alloc_free,
  .mem_info = alloc_mem_info,
  .host_register = alloc_host_register,
  .host_unregister = alloc_host_unregister,
  .granularity = alloc_granularity,
  .reserve = alloc_reserve,
  .release = alloc_release,
  .map = alloc_map,
  .unmap = alloc_unmap,
  .set_access = alloc_set_access,
  .export_memory = alloc_export_memory,
  .import_memory = alloc_import_memory,
};
