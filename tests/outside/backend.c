/* A backend built outside the tree, against the installed headers alone: the
 * least there can be, memory and copies. See tests/out_of_tree.sh. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/backend.h>

#define MEMORY_BYTES (UINT64_C(64) << 20)

static const tn_host_api *host;

struct tn_backend_device {
  int ordinal;
};

static tn_status count(void *self, int *out)
{
  (void)self;
  *out = 1;
  return TN_OK;
}

static tn_status info(void *self, int ordinal, tn_backend_device_info *out)
{
  (void)self;
  (void)ordinal;
  snprintf(out->name, sizeof out->name, "Device from outside");
  out->memory_total = MEMORY_BYTES;
  out->alignment = 256;
  out->numa_node = -1;
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal, tn_backend_device **out)
{
  (void)self;
  *out = calloc(1, sizeof **out);
  if (!*out) return host->error(TN_OUT_OF_MEMORY, "no memory for a device");
  (*out)->ordinal = ordinal;
  return TN_OK;
}

static void close_device(tn_backend_device *device)
{
  free(device);
}

static tn_status alloc(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address *address)
{
  (void)device;
  if (desc->kind != TN_MEMORY_DEVICE)
    return host->error(TN_UNSUPPORTED, "no memory of kind %d", desc->kind);
  void *memory = NULL;
  if (desc->bytes > MEMORY_BYTES ||
      posix_memalign(&memory, 256, (size_t)desc->bytes))
    return host->error(TN_OUT_OF_MEMORY, "no memory of %llu bytes",
                       (unsigned long long)desc->bytes);
  *address = (uintptr_t)memory;
  return TN_OK;
}

static void give_back(tn_backend_device *device, const tn_alloc_desc *desc,
                      tn_address address)
{
  (void)device;
  (void)desc;
  free((void *)(uintptr_t)address);
}

static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  (void)stream;
  (void)device;
  if (desc->rows != 1 || desc->depth != 1)
    return host->error(TN_UNSUPPORTED, "plain copies only");
  memcpy((void *)(uintptr_t)desc->dst, (const void *)(uintptr_t)desc->src,
         (size_t)desc->row_bytes);
  return TN_OK;
}

static const tn_backend_device_table device_table = {
  .struct_size = sizeof(tn_backend_device_table),
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof(tn_backend_alloc_table),
  .alloc = alloc,
  .free = give_back,
};

static const tn_backend_copy_table copy_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = copy,
};

static const tn_backend_api api = {
  .struct_size = sizeof(tn_backend_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "outside",
  .version = "1",
  .rank = -1,
  .device = &device_table,
  .alloc = &alloc_table,
  .copy = &copy_table,
};

const tn_backend_api *tn_backend_entry(const tn_host_api *services,
                                       const tn_backend_api *next)
{
  (void)next;
  host = services;
  return &api;
}
