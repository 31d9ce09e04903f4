/* Memory. With shared virtual memory the driver's pointer is the address.
 * Otherwise memory is an object without an address, and a range of address
 * space that nobody can touch stands for it, so that addresses are unique
 * and the core can do arithmetic on them. */
#include "config.h"

#include "backends/opencl/alloc.h"

#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "backends/opencl/error.h"
#include "backends/opencl/range.h"

/* OpenCL promises no more than the largest type's size for shared virtual
 * memory (128 bytes), so room is left to begin later. */
static tn_status alloc_svm(tn_opencl_range *range)
{
  tn_backend_device *device = range->device;
  uint64_t alignment = device->info.alignment;
  cl_svm_mem_flags flags = CL_MEM_READ_WRITE;
  if (range->kind == TN_MEMORY_HOST_VISIBLE)
    flags |= CL_MEM_SVM_FINE_GRAIN_BUFFER;
  range->base = cl_.SVMAlloc(device->context->handle, flags,
                             (size_t)(range->bytes + alignment), 0);
  if (!range->base)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "%llu bytes: clSVMAlloc answered NULL on %s",
                          (unsigned long long)range->bytes,
                          device->info.name);
  range->begin = ((tn_address)(uintptr_t)range->base + alignment - 1) &
                 ~(alignment - 1);
  return TN_OK;
}

/* Drivers give buffers memory only when they are first used; moving it to
 * the device at once makes a lack of memory show here. */
static cl_int settle_buffer(tn_opencl_range *range)
{
  cl_event event;
  cl_int code = cl_.EnqueueMigrateMemObjects(
      range->device->queue, 1, &range->memory,
      CL_MIGRATE_MEM_OBJECT_CONTENT_UNDEFINED, 0, NULL, &event);
  if (code) return code;
  code = cl_.WaitForEvents(1, &event);
  cl_.ReleaseEvent(event);
  return code;
}

static tn_status alloc_buffer(tn_opencl_range *range)
{
  tn_backend_device *device = range->device;
  range->base_bytes = range->bytes;
  range->base = mmap(NULL, (size_t)range->bytes, PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range->base == MAP_FAILED)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no address space for %llu bytes",
                          (unsigned long long)range->bytes);
  cl_int code;
  range->memory = cl_.CreateBuffer(device->context->handle, CL_MEM_READ_WRITE,
                                   (size_t)range->bytes, NULL, &code);
  if (code == CL_SUCCESS) {
    code = settle_buffer(range);
    if (code == CL_SUCCESS) {
      range->begin = (tn_address)(uintptr_t)range->base;
      return TN_OK;
    }
    cl_.ReleaseMemObject(range->memory);
  }
  munmap(range->base, (size_t)range->bytes);
  return tn_host->error(TN_OUT_OF_MEMORY,
                        "%llu bytes: clCreateBuffer answered %s on %s",
                        (unsigned long long)range->bytes,
                        tn_opencl_code_name(code), device->info.name);
}

/* Drivers copy fastest from memory they allocated and the host has mapped;
 * it stays mapped until it is freed. */
static tn_status alloc_pinned(tn_opencl_range *range)
{
  tn_backend_device *device = range->device;
  uint64_t alignment = device->info.alignment;
  size_t bytes = (size_t)(range->bytes + alignment);
  cl_int code;
  range->memory = cl_.CreateBuffer(device->context->handle,
                                   CL_MEM_READ_WRITE | CL_MEM_ALLOC_HOST_PTR,
                                   bytes, NULL, &code);
  if (code == CL_SUCCESS) {
    range->base = cl_.EnqueueMapBuffer(device->queue, range->memory, CL_TRUE,
                                       CL_MAP_READ | CL_MAP_WRITE, 0, bytes,
                                       0, NULL, NULL, &code);
    if (code) cl_.ReleaseMemObject(range->memory);
  }
  if (code)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "%llu bytes of pinned memory: the driver of %s "
                          "answered %s",
                          (unsigned long long)range->bytes,
                          device->info.name, tn_opencl_code_name(code));
  range->begin = ((tn_address)(uintptr_t)range->base + alignment - 1) &
                 ~(alignment - 1);
  return TN_OK;
}

static void free_memory(tn_opencl_range *range)
{
  cl_context context = range->device->context->handle;
  for (size_t i = 0; i < range->view_count; i++)
    cl_.ReleaseMemObject(range->views[i].memory);
  free(range->views);
  if (!range->memory) {
    cl_.SVMFree(context, range->base);
  } else if (range->kind == TN_MEMORY_PINNED) {
    cl_.EnqueueUnmapMemObject(range->device->queue, range->memory,
                              range->base, 0, NULL, NULL);
    cl_.Finish(range->device->queue);
    cl_.ReleaseMemObject(range->memory);
  } else {
    cl_.ReleaseMemObject(range->memory);
    munmap(range->base, (size_t)range->base_bytes);
  }
}

/* Drivers promise more memory than there is (PoCL on a host: until the
 * kernel ends the process), so what is in use is counted here. */
static tn_status take_bytes(tn_backend_device *device, uint64_t bytes)
{
  uint64_t piece = device->piece_bytes;
  if (bytes > piece)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "%llu bytes: %s gives at most %llu bytes in one "
                          "piece", (unsigned long long)bytes,
                          device->info.name, (unsigned long long)piece);
  uint64_t before = __atomic_fetch_add(&device->allocated, bytes,
                                       __ATOMIC_RELAXED);
  uint64_t total = device->info.memory_total;
  if (before <= total && bytes <= total - before) return TN_OK;
  __atomic_fetch_sub(&device->allocated, bytes, __ATOMIC_RELAXED);
  return tn_host->error(TN_OUT_OF_MEMORY,
                        "%llu bytes: %llu of the %llu bytes of %s are "
                        "allocated", (unsigned long long)bytes,
                        (unsigned long long)before,
                        (unsigned long long)total, device->info.name);
}

static void give_bytes(const tn_opencl_range *range)
{
  if (range->kind != TN_MEMORY_PINNED)
    __atomic_fetch_sub(&range->device->allocated, range->bytes,
                       __ATOMIC_RELAXED);
}

static tn_status check_desc(const tn_backend_device *device,
                            const tn_alloc_desc *desc)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "allocation flags 0x%x: none are known",
                          desc->flags);
  switch (desc->kind) {
    case TN_MEMORY_DEVICE:
    case TN_MEMORY_PINNED:
      break;
    case TN_MEMORY_HOST_VISIBLE:
      if (device->has_svm && device->has_fine_svm) break;
      return tn_host->error(TN_UNSUPPORTED,
                            "%s has no memory that the host may use in "
                            "place (fine-grained shared virtual memory)",
                            device->info.name);
    default:
      return tn_host->error(TN_UNSUPPORTED,
                            "opencl has no memory of kind %d (managed)",
                            desc->kind);
  }
  if (desc->bytes == 0 || desc->bytes > SIZE_MAX / 2)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "an allocation of %llu bytes",
                          (unsigned long long)desc->bytes);
  return TN_OK;
}

static tn_status alloc_memory(tn_opencl_range *range)
{
  if (range->kind == TN_MEMORY_PINNED) return alloc_pinned(range);
  tn_status status = take_bytes(range->device, range->bytes);
  if (status) return status;
  status = range->device->has_svm ? alloc_svm(range) : alloc_buffer(range);
  if (status) give_bytes(range);
  return status;
}

static tn_status alloc_range(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  tn_status status = check_desc(device, desc);
  if (status) return status;
  tn_opencl_range *range = calloc(1, sizeof *range);
  if (!range)
    return tn_host->error(TN_OUT_OF_MEMORY,
                          "no host memory to note an allocation");
  range->device = device;
  range->kind = desc->kind;
  range->bytes = desc->bytes;
  status = alloc_memory(range);
  if (status) {
    free(range);
    return status;
  }
  status = tn_opencl_range_add(range);
  if (status) {
    free_memory(range);
    give_bytes(range);
    free(range);
    return status;
  }
  *address = range->begin;
  return TN_OK;
}

static void free_range(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address address)
{
  (void)desc;
  tn_opencl_range *range = tn_opencl_range_remove(address);
  if (!range) {
    tn_host->log(TN_LOG_ERROR,
                 "opencl: free of 0x%llx on %s: nothing was allocated there",
                 (unsigned long long)address, device->info.name);
    return;
  }
  free_memory(range);
  give_bytes(range);
  free(range);
}

const tn_backend_alloc_table tn_opencl_alloc_table = {
  .struct_size = sizeof tn_opencl_alloc_table,
  .alloc = alloc_range,
  .free = free_range,
};
