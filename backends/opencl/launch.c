#include "config.h"

#include <stdio.h>

#include "backends/opencl/error.h"
#include "backends/opencl/module.h"
#include "backends/opencl/range.h"
#include "backends/opencl/stream.h"

/* Loops in the kernels take what lies beyond. The limit is high, because host
 * processors run each item's loop by itself, in steps of all items. */
#define GROUPS_MAX (1 << 26)

typedef struct launch_shape {
  cl_uint dimensions;
  size_t global[3], local[3];
} launch_shape;

static tn_status shape_flat(const tn_backend_kernel *kernel, int64_t items,
                            launch_shape *shape)
{
  uint64_t size = kernel->group_size;
  uint64_t groups = ((uint64_t)items + size - 1) / size;
  if (groups > GROUPS_MAX) groups = GROUPS_MAX;
  shape->dimensions = 1;
  shape->local[0] = (size_t)size;
  shape->global[0] = (size_t)(groups * size);
  return TN_OK;
}

static tn_status shape_groups(const tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              launch_shape *shape)
{
  uint64_t threads = 1;
  bool is_chosen = desc->group_size[0] || desc->group_size[1] ||
                   desc->group_size[2];
  for (int i = 0; i < 3; i++) {
    uint64_t size = is_chosen ? desc->group_size[i] : 1;
    if (!is_chosen && i == 0) size = kernel->group_size;
    if (size == 0 || size > kernel->max_group_size || desc->groups[i] < 1 ||
        (threads *= size) > kernel->max_group_size)
      return tn_host->error(
          TN_INVALID_ARGUMENT,
          "kernel \"%s\": %lld x %lld x %lld groups of %u x %u x %u threads: "
          "at least 1 of each, and at most %u threads on %s", kernel->name,
          (long long)desc->groups[0], (long long)desc->groups[1],
          (long long)desc->groups[2], desc->group_size[0],
          desc->group_size[1], desc->group_size[2], kernel->max_group_size,
          kernel->module->device->info.name);
    int64_t groups = desc->groups[i] < GROUPS_MAX ? desc->groups[i]
                                                  : GROUPS_MAX;
    if (groups > 1 || size > 1) shape->dimensions = (cl_uint)i + 1;
    shape->local[i] = (size_t)size;
    shape->global[i] = (size_t)groups * (size_t)size;
  }
  if (!shape->dimensions) shape->dimensions = 1;
  return TN_OK;
}

static tn_status find_shape(const tn_backend_kernel *kernel,
                            const tn_backend_launch_desc *desc,
                            launch_shape *shape)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "launch flags 0x%x: none are known", desc->flags);
  if (desc->shared_bytes)
    return tn_host->error(TN_UNSUPPORTED,
                          "kernel \"%s\": opencl has no shared memory sized "
                          "at launch (%llu bytes)", kernel->name,
                          (unsigned long long)desc->shared_bytes);
  return desc->items > 0 ? shape_flat(kernel, desc->items, shape)
                         : shape_groups(kernel, desc, shape);
}

/* Why an argument was refused, so that the text can be written after the lock
 * is given back. */
typedef struct argument_trouble {
  uint32_t index;
  cl_int code;
  uint64_t offset; /* of a misaligned address in its memory */
} argument_trouble;

static cl_int set_buffer(const tn_backend_kernel *kernel, uint32_t index,
                         tn_address address, argument_trouble *trouble)
{
  cl_mem memory = NULL; /* of address 0 */
  if (address) {
    tn_opencl_range *range = tn_opencl_range_find(address);
    if (!range || range->kind == TN_MEMORY_PINNED ||
        range->device->context != kernel->module->device->context)
      return CL_INVALID_MEM_OBJECT;
    cl_int code;
    trouble->offset = address - range->begin;
    memory = tn_opencl_range_view(range, trouble->offset, &code);
    if (code) return code;
  }
  return cl_.SetKernelArg(kernel->handle, index, sizeof memory,
                          memory ? &memory : NULL);
}

static cl_int set_argument(const tn_backend_kernel *kernel, uint32_t index,
                           const uint64_t *slot, argument_trouble *trouble)
{
  uint32_t size = kernel->sizes[index];
  if (!size && !kernel->module->device->has_svm)
    return set_buffer(kernel, index, *slot, trouble);
  if (!size)
    return cl_.SetKernelArgSVMPointer(kernel->handle, index,
                                      (void *)(uintptr_t)*slot);
  const unsigned char *low = (const unsigned char *)slot;
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_BIG_ENDIAN__
  low += sizeof *slot - size;
#endif
  return cl_.SetKernelArg(kernel->handle, index, size, low);
}

/* Sets what changed since the last launch; a freed range makes all stale,
 * since new memory may have got its address. With the lock held. */
static cl_int set_arguments(tn_backend_kernel *kernel, const uint64_t *slots,
                            argument_trouble *trouble)
{
  uint64_t generation = tn_opencl_range_generation();
  bool is_stale = !kernel->has_slots || kernel->generation != generation;
  for (uint32_t i = 0; i < kernel->parameter_count; i++) {
    if (!is_stale && kernel->slots[i] == slots[i]) continue;
    cl_int code = set_argument(kernel, i, slots + i, trouble);
    if (code) {
      kernel->has_slots = false;
      trouble->index = i;
      trouble->code = code;
      return code;
    }
    kernel->slots[i] = slots[i];
  }
  kernel->has_slots = true;
  kernel->generation = generation;
  return CL_SUCCESS;
}

static tn_status report_argument(const tn_backend_kernel *kernel,
                                 const uint64_t *slots,
                                 const argument_trouble *trouble)
{
  const tn_backend_device *device = kernel->module->device;
  unsigned long long value = slots[trouble->index];
  if (trouble->code == CL_MISALIGNED_SUB_BUFFER_OFFSET)
    return tn_host->error(
        TN_UNSUPPORTED,
        "kernel \"%s\", argument %u: the address lies %llu bytes into its "
        "memory; without shared virtual memory %s takes multiples of %zu",
        kernel->name, trouble->index + 1,
        (unsigned long long)trouble->offset, device->info.name,
        device->base_alignment);
  if (trouble->code == CL_INVALID_MEM_OBJECT)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "kernel \"%s\", argument %u: 0x%llx is not in "
                          "memory of %s", kernel->name, trouble->index + 1,
                          value, device->info.name);
  return tn_host->error(tn_opencl_code_status(trouble->code),
                        "kernel \"%s\", argument %u (0x%llx): "
                        "clSetKernelArg answered %s", kernel->name,
                        trouble->index + 1, value,
                        tn_opencl_code_name(trouble->code));
}

tn_status tn_opencl_launch(tn_backend_stream *stream,
                           tn_backend_kernel *kernel,
                           const tn_backend_launch_desc *desc,
                           const uint64_t *slots)
{
  launch_shape shape = { 0 };
  tn_status status = find_shape(kernel, desc, &shape);
  if (status) return status;
  cl_event *event = tn_opencl_stream_begin(stream);
  if (!event) return TN_OUT_OF_MEMORY;
  argument_trouble trouble = { 0 };
  cl_int code = CL_SUCCESS;
  pthread_mutex_lock(&kernel->lock);
  cl_int set_code = set_arguments(kernel, slots, &trouble);
  if (!set_code)
    code = cl_.EnqueueNDRangeKernel(stream->queue, kernel->handle,
                                    shape.dimensions, NULL, shape.global,
                                    shape.local, 0, NULL, event);
  pthread_mutex_unlock(&kernel->lock);
  if (set_code) return report_argument(kernel, slots, &trouble);
  if (code)
    return tn_host->error(tn_opencl_code_status(code),
                          "kernel \"%s\": clEnqueueNDRangeKernel answered %s "
                          "on %s", kernel->name, tn_opencl_code_name(code),
                          stream->device->info.name);
  tn_opencl_stream_commit(stream, desc->tag);
  return TN_OK;
}
