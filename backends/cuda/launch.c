#include "config.h"

#include "backends/cuda/module.h"
#include "backends/cuda/stream.h"

/* Blocks of a flat launch for each multiprocessor: enough to fill it several
 * times over; loops in the kernels take what lies beyond. */
#define FLAT_BLOCKS_PER_UNIT 64

typedef struct launch_shape {
  uint32_t grid[3], block[3];
} launch_shape;

static void shape_flat(const tn_backend_kernel *kernel, int64_t items,
                       launch_shape *shape)
{
  const tn_cuda_limits *limits = &kernel->module->device->limits;
  uint64_t size = kernel->group_size;
  uint64_t blocks = ((uint64_t)items + size - 1) / size;
  uint64_t most = (uint64_t)limits->units * FLAT_BLOCKS_PER_UNIT;
  *shape = (launch_shape){
    .grid = { (uint32_t)(blocks < most ? blocks : most), 1, 1 },
    .block = { (uint32_t)size, 1, 1 },
  };
}

static tn_status refuse_shape(const tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc)
{
  const tn_cuda_limits *limits = &kernel->module->device->limits;
  return tn_host->error(
      TN_INVALID_ARGUMENT,
      "kernel \"%s\": %lld x %lld x %lld groups of %u x %u x %u threads: at "
      "least 1 of each and at most %u x %u x %u groups of %u x %u x %u "
      "threads, %u together", kernel->name, (long long)desc->groups[0],
      (long long)desc->groups[1], (long long)desc->groups[2],
      desc->group_size[0], desc->group_size[1], desc->group_size[2],
      limits->grid[0], limits->grid[1], limits->grid[2], limits->block[0],
      limits->block[1], limits->block[2], kernel->max_group_size);
}

static tn_status shape_groups(const tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              launch_shape *shape)
{
  const tn_cuda_limits *limits = &kernel->module->device->limits;
  bool is_chosen = desc->group_size[0] || desc->group_size[1] ||
                   desc->group_size[2];
  uint64_t threads = 1;
  for (int i = 0; i < 3; i++) {
    uint32_t size = is_chosen ? desc->group_size[i] : 1;
    int64_t groups = desc->groups[i];
    if (!is_chosen && i == 0) size = kernel->group_size;
    if (groups > limits->grid[i] && kernel->module->is_portable)
      groups = limits->grid[i];
    if (size == 0 || size > limits->block[i] || groups < 1 ||
        groups > limits->grid[i] ||
        (threads *= size) > kernel->max_group_size)
      return refuse_shape(kernel, desc);
    shape->block[i] = size;
    shape->grid[i] = (uint32_t)groups;
  }
  return TN_OK;
}

/* With the context current. More than the device's ordinary 48 KiB has to be
 * asked for once. */
static tn_status allow_shared(tn_backend_kernel *kernel, uint64_t bytes)
{
  tn_backend_device *device = kernel->module->device;
  uint64_t most = device->info.max_shared_bytes > kernel->shared_bytes
                      ? device->info.max_shared_bytes - kernel->shared_bytes
                      : 0;
  if (bytes > most)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "kernel \"%s\": %llu bytes of shared memory: at "
                          "most %llu on %s", kernel->name,
                          (unsigned long long)bytes,
                          (unsigned long long)most, device->info.name);
  CUresult code = cu_.FuncSetAttribute(
      kernel->function,
      (CUfunction_attribute)TN_CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES,
      (int)bytes);
  if (code) return tn_cuda_check(code, "cuFuncSetAttribute", device);
  __atomic_store_n(&kernel->dynamic_bytes, (uint32_t)bytes, __ATOMIC_RELAXED);
  return TN_OK;
}

static tn_status refuse_launch(const tn_backend_kernel *kernel, CUresult code)
{
  char text[TN_CUDA_CODE_TEXT_SIZE];
  tn_backend_device *device = kernel->module->device;
  if (tn_cuda_is_sticky(code))
    return tn_cuda_check(code, "cuLaunchKernel", device);
  return tn_host->error(tn_cuda_code_status(code),
                        "kernel \"%s\": cuLaunchKernel answered %s on %s",
                        kernel->name, tn_cuda_code_text(code, text),
                        device->info.name);
}

/* With the context current. The driver reads the values through the pointers
 * before it returns, as many bytes of each as the kernel's code says: the low
 * ones, on the little-endian hosts that it runs on. */
static inline tn_status launch(tn_backend_stream *stream,
                               tn_backend_kernel *kernel,
                               const launch_shape *shape,
                               const tn_backend_launch_desc *desc,
                               const uint64_t *slots)
{
  void *parameters[TN_CUDA_PARAMETERS_MAX];
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    parameters[i] = (void *)(uintptr_t)(slots + i);
  CUresult code = cu_.LaunchKernel(
      kernel->function, shape->grid[0], shape->grid[1], shape->grid[2],
      shape->block[0], shape->block[1], shape->block[2],
      (unsigned)desc->shared_bytes, stream->handle, parameters, NULL);
  if (__builtin_expect(code != TN_CUDA_SUCCESS, 0))
    return refuse_launch(kernel, code);
  tn_cuda_trail_add(stream->trail, TN_CUDA_KERNEL, kernel->name, desc->tag);
  return TN_OK;
}

static tn_status choose_shape(const tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              launch_shape *shape)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "launch flags 0x%x: none are known", desc->flags);
  if (desc->items <= 0) return shape_groups(kernel, desc, shape);
  shape_flat(kernel, desc->items, shape);
  return TN_OK;
}

tn_status tn_cuda_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                         const tn_backend_launch_desc *desc,
                         const uint64_t *slots)
{
  launch_shape shape;
  tn_status status = choose_shape(kernel, desc, &shape);
  if (status) return status;
  CUcontext former;
  CUresult code = tn_cuda_enter(stream->device, &former);
  if (code)
    return tn_cuda_check(code, "binding the context", stream->device);
  if (desc->shared_bytes >
      __atomic_load_n(&kernel->dynamic_bytes, __ATOMIC_RELAXED))
    status = allow_shared(kernel, desc->shared_bytes);
  if (status == TN_OK)
    status = launch(stream, kernel, &shape, desc, slots);
  tn_cuda_leave(stream->device, former);
  return status;
}

tn_status tn_cuda_launch_describe(tn_backend_kernel *kernel,
                                  const tn_backend_launch_desc *desc,
                                  const uint64_t *slots, void **parameters,
                                  CUDA_KERNEL_NODE_PARAMS *description)
{
  launch_shape shape;
  tn_status status = choose_shape(kernel, desc, &shape);
  if (status) return status;
  for (uint32_t i = 0; i < kernel->parameter_count; i++)
    parameters[i] = (void *)(uintptr_t)(slots + i);
  *description = (CUDA_KERNEL_NODE_PARAMS){
    .func = kernel->function,
    .gridDimX = shape.grid[0],
    .gridDimY = shape.grid[1],
    .gridDimZ = shape.grid[2],
    .blockDimX = shape.block[0],
    .blockDimY = shape.block[1],
    .blockDimZ = shape.block[2],
    .sharedMemBytes = (unsigned)desc->shared_bytes,
    .kernelParams = parameters,
  };
  return TN_OK;
}
