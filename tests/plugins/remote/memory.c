/* Memory of the other side: addresses from a window that nobody may touch,
 * bytes in a store at the same offsets. Allocations are whole pages with an
 * inaccessible page after each, so that a kernel that runs past its memory
 * faults. */
#include "tests/plugins/remote/remote.h"

#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#define PAGE UINT64_C(4096)
#define WINDOW_BYTES (8 * REMOTE_MEMORY_BYTES)
#define JUNK_MAX_BYTES (UINT64_C(32) << 20)

/* Pinned memory belongs to the backend, not to a device. */
static remote_extent *pinned; /* offset: the host address */
static size_t pinned_count, pinned_capacity;

static uint64_t pages(uint64_t bytes)
{
  return (bytes + PAGE - 1) / PAGE * PAGE;
}

static void *map(uint64_t bytes, int protection)
{
  void *memory = mmap(NULL, bytes, protection,
                      MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  return memory == MAP_FAILED ? NULL : memory;
}

tn_status remote_memory_open(remote_memory *memory)
{
  void *window = map(WINDOW_BYTES, PROT_NONE);
  memory->store = map(WINDOW_BYTES, PROT_NONE);
  memory->window = (uintptr_t)window;
  if (window && memory->store) return TN_OK;
  if (window) munmap(window, WINDOW_BYTES);
  if (memory->store) munmap(memory->store, WINDOW_BYTES);
  return remote_host->error(TN_OUT_OF_MEMORY,
                            "no address space of %llu bytes",
                            (unsigned long long)WINDOW_BYTES);
}

void remote_memory_close(remote_memory *memory)
{
  if (memory->count)
    remote_broken("device closed with %zu allocations", memory->count);
  munmap((void *)(uintptr_t)memory->window, WINDOW_BYTES);
  munmap(memory->store, WINDOW_BYTES);
  free(memory->extents);
}

/* Inserts an extent before index `at`. */
static bool insert(remote_extent **extents, size_t *count, size_t *capacity,
                   size_t at, remote_extent extent)
{
  if (*count == *capacity) {
    size_t room = *capacity ? 2 * *capacity : 16;
    remote_extent *more = realloc(*extents, room * sizeof **extents);
    if (!more) return false;
    *extents = more;
    *capacity = room;
  }
  remote_extent *place = *extents + at;
  memmove(place + 1, place, (*count - at) * sizeof *place);
  *place = extent;
  ++*count;
  return true;
}

static void erase(remote_extent *extents, size_t *count, size_t at)
{
  memmove(extents + at, extents + at + 1,
          (*count - at - 1) * sizeof *extents);
  --*count;
}

/* The first gap that holds `bytes` and a guard page. */
static bool gap(const remote_memory *memory, uint64_t bytes, size_t *at,
                uint64_t *offset)
{
  uint64_t begin = PAGE; /* offset 0 would look like the window itself */
  for (*at = 0; *at < memory->count; ++*at) {
    const remote_extent *extent = &memory->extents[*at];
    if (extent->offset - begin >= bytes + PAGE) break;
    begin = extent->offset + pages(extent->bytes) + PAGE;
  }
  *offset = begin;
  return WINDOW_BYTES - begin >= bytes + PAGE;
}

/* Lock held. */
static bool take(remote_memory *memory, uint64_t bytes, uint64_t *offset)
{
  size_t at;
  if (bytes > REMOTE_MEMORY_BYTES - memory->used ||
      !gap(memory, pages(bytes), &at, offset))
    return false;
  remote_extent extent = { *offset, bytes };
  char *store = memory->store + *offset;
  if (mprotect(store, pages(bytes), PROT_READ | PROT_WRITE) ||
      !insert(&memory->extents, &memory->count, &memory->capacity, at,
              extent))
    return false;
  memory->used += pages(bytes);
  return true;
}

static tn_status alloc_device(tn_backend_device *device, uint64_t bytes,
                              tn_address *address)
{
  uint64_t offset = 0;
  pthread_mutex_lock(&remote_lock);
  bool taken = take(&device->memory, bytes, &offset);
  uint64_t used = device->memory.used;
  pthread_mutex_unlock(&remote_lock);
  if (!taken)
    return remote_host->error(
        TN_OUT_OF_MEMORY, "%llu bytes asked for, %llu of %llu in use",
        (unsigned long long)bytes, (unsigned long long)used,
        (unsigned long long)REMOTE_MEMORY_BYTES);
  if (bytes <= JUNK_MAX_BYTES)
    memset(device->memory.store + offset, 0xa5, bytes);
  *address = device->memory.window + offset;
  return TN_OK;
}

static tn_status alloc_pinned(uint64_t bytes, tn_address *address)
{
  void *memory = bytes <= REMOTE_MEMORY_BYTES
                     ? map(pages(bytes), PROT_READ | PROT_WRITE)
                     : NULL;
  bool kept = false;
  pthread_mutex_lock(&remote_lock);
  if (memory)
    kept = insert(&pinned, &pinned_count, &pinned_capacity, pinned_count,
                  (remote_extent){ (uintptr_t)memory, bytes });
  pthread_mutex_unlock(&remote_lock);
  if (kept) {
    *address = (uintptr_t)memory;
    return TN_OK;
  }
  if (memory) munmap(memory, pages(bytes));
  return remote_host->error(TN_OUT_OF_MEMORY, "no pinned memory of %llu bytes",
                            (unsigned long long)bytes);
}

static tn_status alloc(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address *address)
{
  tn_status status = remote_desc_check("alloc", desc->struct_size,
                                       sizeof *desc, desc->flags, 0);
  if (!status) status = remote_device_check(device);
  if (status) return status;
  if (!desc->bytes) remote_broken("alloc of 0 bytes");
  switch (desc->kind) {
  case TN_MEMORY_DEVICE: return alloc_device(device, desc->bytes, address);
  case TN_MEMORY_PINNED: return alloc_pinned(desc->bytes, address);
  default:
    return remote_host->error(TN_UNSUPPORTED,
                              "remote has no memory of kind %d", desc->kind);
  }
}

/* The extent that holds an offset, or lies at most `past` before it. */
static bool find(const remote_extent *extents, size_t count, uint64_t offset,
                 uint64_t past, size_t *at)
{
  for (*at = 0; *at < count; ++*at)
    if (offset - extents[*at].offset < extents[*at].bytes + past) return true;
  return false;
}

/* Lock held. */
static void forget(remote_memory *memory, size_t at, uint64_t offset)
{
  uint64_t bytes = pages(memory->extents[at].bytes);
  erase(memory->extents, &memory->count, at);
  memory->used -= bytes;
  madvise(memory->store + offset, bytes, MADV_DONTNEED);
  mprotect(memory->store + offset, bytes, PROT_NONE);
}

static void free_device(tn_backend_device *device, tn_address address)
{
  remote_memory *memory = &device->memory;
  uint64_t offset = address - memory->window;
  size_t at;
  pthread_mutex_lock(&remote_lock);
  if (!find(memory->extents, memory->count, offset, 1, &at) ||
      memory->extents[at].offset != offset)
    remote_broken("free of 0x%llx, which alloc did not give",
                  (unsigned long long)address);
  forget(memory, at, offset);
  pthread_mutex_unlock(&remote_lock);
}

static void free_pinned(tn_address address)
{
  size_t at;
  pthread_mutex_lock(&remote_lock);
  if (!find(pinned, pinned_count, address, 0, &at) ||
      pinned[at].offset != address)
    remote_broken("free of pinned 0x%llx, which alloc did not give",
                  (unsigned long long)address);
  uint64_t bytes = pages(pinned[at].bytes);
  erase(pinned, &pinned_count, at);
  pthread_mutex_unlock(&remote_lock);
  munmap((void *)(uintptr_t)address, bytes);
}

static void give_back(tn_backend_device *device, const tn_alloc_desc *desc,
                      tn_address address)
{
  if (desc->kind == TN_MEMORY_PINNED)
    free_pinned(address);
  else
    free_device(device, address);
}

void *remote_memory_bytes(tn_backend_device *device, tn_address address,
                          uint64_t bytes)
{
  const remote_memory *memory = &device->memory;
  uint64_t offset = address - memory->window;
  size_t at;
  pthread_mutex_lock(&remote_lock);
  bool inside = find(memory->extents, memory->count, offset, 1, &at) &&
                bytes <= memory->extents[at].bytes -
                             (offset - memory->extents[at].offset);
  pthread_mutex_unlock(&remote_lock);
  return inside ? memory->store + offset : NULL;
}

void *remote_memory_pointer(tn_backend_device *device, tn_address address)
{
  return remote_memory_bytes(device, address, 0);
}

bool remote_is_pinned(tn_address address, uint64_t bytes)
{
  size_t at;
  pthread_mutex_lock(&remote_lock);
  bool inside = find(pinned, pinned_count, address, 0, &at) &&
                bytes <= pinned[at].bytes - (address - pinned[at].offset);
  pthread_mutex_unlock(&remote_lock);
  return inside;
}

const tn_backend_alloc_table remote_alloc_table = {
  .struct_size = sizeof(tn_backend_alloc_table),
  .alloc = alloc,
  .free = give_back,
};
