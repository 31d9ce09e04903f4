/* Plugins that go wrong, one for each value of TN_CRASH, for the tests of
 * `tenon doctor`. */
#define _POSIX_C_SOURCE 200809L
#include <stdlib.h>
#include <unistd.h>

#include "tenon/backend.h"

#define ABORT 1 /* aborts in its entry */
#define HANG 2  /* never comes back from its entry */
#define LEAVE 3 /* ends the process in its entry, as if all were well */
#define LATE 4  /* is a sound plugin that aborts when asked for devices */

#if TN_CRASH == LATE

static tn_status count(void *self, int *result)
{
  (void)self, (void)result;
  abort();
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *facts)
{
  (void)self, (void)ordinal, (void)facts;
  return TN_DEVICE_UNAVAILABLE;
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self, (void)ordinal, (void)device;
  return TN_DEVICE_UNAVAILABLE;
}

static void close_device(tn_backend_device *device) { (void)device; }

static tn_status allocate(tn_backend_device *device,
                          const tn_alloc_desc *desc, tn_address *address)
{
  (void)device, (void)desc, (void)address;
  return TN_OUT_OF_MEMORY;
}

static void release(tn_backend_device *device, const tn_alloc_desc *desc,
                    tn_address address)
{
  (void)device, (void)desc, (void)address;
}

static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  (void)stream, (void)device, (void)desc;
  return TN_UNSUPPORTED;
}

static const tn_backend_device_table device_table = {
  .struct_size = sizeof device_table,
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof alloc_table,
  .alloc = allocate,
  .free = release,
};

static const tn_backend_copy_table copy_table = {
  .struct_size = sizeof copy_table,
  .copy = copy,
};

static const tn_backend_api api = {
  .struct_size = sizeof api,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "late",
  .version = "1",
  .rank = -1,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
};

#endif

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  (void)host, (void)next;
#if TN_CRASH == ABORT
  abort();
#elif TN_CRASH == HANG
  for (;;) pause();
#elif TN_CRASH == LEAVE
  exit(0);
#else
  return &api;
#endif
}
