/* The least a backend can be: a device that holds memory and copies it. The
 * core supplies the rest and says so: streams that complete each call before
 * it returns, graphs, and kernels, which run on the cpu over copies of blocks.
 * The contract is in the comments of tenon/backend.h; the way on from here in
 * docs/writing-a-backend.md.
 *
 * The device is made up: memory of the host at addresses that the host cannot
 * use, so that nothing works by accident. "Yours" marks a driver's places. */
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <tenon/backend.h>

#define CAPACITY (UINT64_C(1) << 30) /* bytes */
#define ALIGNMENT UINT64_C(256)      /* at least 256 */
#define AWAY (UINT64_C(1) << 52)     /* from our addresses to the host's */

struct tn_backend_device {
  atomic_uint_least64_t used; /* bytes */
};

static const tn_host_api *host; /* services of the core */

/* ---- device: what there is ---- */

/* Opens nothing. Without a driver: TN_DEVICE_UNAVAILABLE, and why. */
static tn_status count(void *self, int *devices)
{
  (void)self;
  *devices = 1; /* Yours: ask the driver. */
  return TN_OK;
}

/* Opens nothing either. What is not set is unknown. */
static tn_status info(void *self, int ordinal, tn_backend_device_info *facts)
{
  (void)self;
  snprintf(facts->name, sizeof facts->name, "Template device %d", ordinal);
  facts->memory_total = CAPACITY;
  facts->alignment = ALIGNMENT;
  facts->max_group_size = 1;
  facts->numa_node = -1;
  return TN_OK;
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self, (void)ordinal;
  *device = calloc(1, sizeof **device); /* Yours: make a context. */
  return *device ? TN_OK : host->error(TN_OUT_OF_MEMORY, "no memory");
}

static void close_device(tn_backend_device *device) { free(device); }

static const tn_backend_device_table device_table = {
  .struct_size = sizeof(tn_backend_device_table),
  .count = count,
  .info = info,
  .open = open_device,
  .close = close_device,
};

/* ---- alloc: plain memory, in large pieces; caching is the core's ---- */

static void *at(tn_address a) { return (void *)(uintptr_t)(a - AWAY); }

static tn_status alloc(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address *address)
{
  uint64_t whole = (desc->bytes + ALIGNMENT - 1) & ~(ALIGNMENT - 1);
  void *memory = NULL;
  if (desc->flags)
    return host->error(TN_INVALID_ARGUMENT, "alloc flags 0x%x: none are known",
                       desc->flags);
  if (desc->kind != TN_MEMORY_DEVICE) /* the core has pinned memory itself */
    return host->error(TN_UNSUPPORTED, "memory of kind %d", desc->kind);
  uint64_t used = atomic_fetch_add(&device->used, desc->bytes);
  if (used <= CAPACITY && desc->bytes <= CAPACITY - used)
    memory = aligned_alloc(ALIGNMENT, whole); /* Yours. */
  if (!memory) {
    atomic_fetch_sub(&device->used, desc->bytes);
    return host->error(TN_OUT_OF_MEMORY, "%llu bytes: the device is full",
                       (unsigned long long)desc->bytes);
  }
  *address = (tn_address)(uintptr_t)memory + AWAY;
  return TN_OK;
}

static void give_back(tn_backend_device *device, const tn_alloc_desc *desc,
                      tn_address address)
{
  atomic_fetch_sub(&device->used, desc->bytes);
  free(at(address)); /* Yours. */
}

static const tn_backend_alloc_table alloc_table = {
  .struct_size = sizeof(tn_backend_alloc_table),
  .alloc = alloc,
  .free = give_back,
};

/* ---- copy ---- */

/* Without a stream table `stream` is NULL, and the copy is complete when the
 * call returns. What is refused as TN_UNSUPPORTED the core does row by row. */
static tn_status copy(tn_backend_stream *stream, tn_backend_device *device,
                      const tn_copy_desc *desc)
{
  (void)stream, (void)device;
  if (desc->flags & ~TN_COPY_PINNED)
    return host->error(TN_INVALID_ARGUMENT, "unknown copy flags in 0x%x",
                       desc->flags);
  if (desc->rows != 1 || desc->depth != 1)
    return host->error(TN_UNSUPPORTED, "copies of more than one row");
  memcpy(at(desc->dst_device ? desc->dst : desc->dst + AWAY), /* Yours. */
         at(desc->src_device ? desc->src : desc->src + AWAY),
         desc->row_bytes);
  return TN_OK;
}

static const tn_backend_copy_table copy_table = {
  .struct_size = sizeof(tn_backend_copy_table),
  .copy = copy,
};

/* ---- the backend ---- */

static const tn_backend_api api = {
  .struct_size = sizeof(tn_backend_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .name = "template", /* as in the file name, tenon-template.so */
  .version = "0.1",
  .rank = -1, /* never chosen by "auto" */
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
