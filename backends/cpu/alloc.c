#include "backends/cpu/alloc.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/cpu/device.h"
#include "backends/cpu/host.h"
#include "backends/cpu/machine.h"

#define HUGE_PAGE (UINT64_C(2) << 20)
/* From here on huge pages are asked for: the first touch of small ones is
 * several times slower, but that of the first huge one takes 100 us. */
#define HUGE_BYTES (UINT64_C(4) << 20)

/* Bytes that all devices hold. */
static _Atomic uint64_t held;

static bool bytes_take(uint64_t bytes, uint64_t capacity)
{
  uint64_t now = atomic_load_explicit(&held, memory_order_relaxed);
  do {
    if (bytes > capacity || now > capacity - bytes) return false;
  } while (!atomic_compare_exchange_weak(&held, &now, now + bytes));
  return true;
}

static void bytes_give(uint64_t bytes)
{
  atomic_fetch_sub(&held, bytes);
}

/* Memory at the start of a huge page. NULL with errno. */
static void *pages_map(uint64_t bytes)
{
  uint64_t span = bytes + HUGE_PAGE;
  if (span < bytes || span > SIZE_MAX) {
    errno = ENOMEM;
    return NULL;
  }
  char *start = mmap(NULL, span, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (start == MAP_FAILED) return NULL;
  uint64_t before = -(uintptr_t)start % HUGE_PAGE;
  if (before) munmap(start, before);
  if (HUGE_PAGE - before)
    munmap(start + before + bytes, HUGE_PAGE - before);
  if (bytes >= HUGE_BYTES) madvise(start + before, bytes, MADV_HUGEPAGE);
  return start + before;
}

/* Whole pages from the system for what is long; freeing gives them back. */
static bool is_mapped(uint64_t bytes)
{
  return bytes >= HUGE_PAGE;
}

static uint64_t bytes_round(uint64_t bytes, uint64_t to)
{
  uint64_t rounded = (bytes + to - 1) & ~(to - 1);
  return rounded < bytes ? UINT64_MAX : rounded;
}

static uint64_t desc_bytes(const tn_alloc_desc *desc)
{
  return bytes_round(desc->bytes, (uint64_t)sysconf(_SC_PAGESIZE));
}

static uint64_t desc_alignment(const tn_alloc_desc *desc)
{
  return desc->kind == TN_MEMORY_PINNED ? (uint64_t)sysconf(_SC_PAGESIZE)
                                        : TN_CPU_ALIGNMENT;
}

static tn_status kind_check(const tn_alloc_desc *desc)
{
  tn_status status = tn_cpu_flags_check("alloc", desc->flags, 0);
  if (status) return status;
  if (!desc->bytes)
    return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                              "0 bytes of memory: at least 1");
  if (desc->kind >= TN_MEMORY_DEVICE && desc->kind <= TN_MEMORY_MANAGED)
    return TN_OK;
  return tn_cpu_host->error(TN_UNSUPPORTED, "cpu has no memory of kind %d",
                            (int)desc->kind);
}

tn_status tn_cpu_alloc(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address *address)
{
  tn_status status = kind_check(desc);
  if (status) return status;
  uint64_t bytes = desc_bytes(desc);
  if (!bytes_take(bytes, device->memory))
    return tn_cpu_host->error(
      TN_OUT_OF_MEMORY,
      "cannot have %llu bytes: cpu devices hold %llu of %llu",
      (unsigned long long)desc->bytes,
      (unsigned long long)atomic_load(&held),
      (unsigned long long)device->memory);
  void *memory = NULL;
  if (is_mapped(desc->bytes))
    memory = pages_map(bytes);
  else
    errno = posix_memalign(&memory, desc_alignment(desc), desc->bytes);
  if (!memory) {
    bytes_give(bytes);
    return tn_cpu_host->error(TN_OUT_OF_MEMORY,
                              "the system gives no %llu bytes: %s",
                              (unsigned long long)desc->bytes,
                              strerror(errno));
  }
  *address = (uintptr_t)memory;
  return TN_OK;
}

void tn_cpu_free(tn_backend_device *device, const tn_alloc_desc *desc,
                 tn_address address)
{
  (void)device;
  void *memory = (void *)(uintptr_t)address;
  if (is_mapped(desc->bytes))
    munmap(memory, desc_bytes(desc));
  else
    free(memory);
  bytes_give(desc_bytes(desc));
}

tn_status tn_cpu_mem_info(tn_backend_device *device, uint64_t *free_bytes,
                          uint64_t *total_bytes)
{
  uint64_t now = atomic_load(&held);
  uint64_t left = now < device->memory ? device->memory - now : 0;
  uint64_t available = tn_cpu_machine_available("");
  *free_bytes = available && available < left ? available : left;
  *total_bytes = device->memory;
  return TN_OK;
}
