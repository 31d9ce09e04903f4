#include "config.h"

#include "backends/cuda/alloc.h"

#include "backends/cuda/capture.h"
#include "backends/cuda/device.h"

static tn_status check_desc(const tn_alloc_desc *desc)
{
  if (desc->flags)
    return tn_host->error(TN_INVALID_ARGUMENT,
                          "allocation flags 0x%x: none are known",
                          desc->flags);
  if (desc->kind != TN_MEMORY_DEVICE && desc->kind != TN_MEMORY_PINNED)
    return tn_host->error(TN_UNSUPPORTED,
                          "cuda has no memory of kind %d: device (%d) and "
                          "pinned (%d) are there", desc->kind,
                          TN_MEMORY_DEVICE, TN_MEMORY_PINNED);
  if (desc->bytes == 0 || desc->bytes > SIZE_MAX / 2)
    return tn_host->error(TN_INVALID_ARGUMENT, "an allocation of %llu bytes",
                          (unsigned long long)desc->bytes);
  return TN_OK;
}

static CUresult call_alloc(int32_t kind, size_t bytes, tn_address *address)
{
  CUdeviceptr device_memory = 0;
  void *host_memory = NULL;
  CUresult code;
  if (kind == TN_MEMORY_DEVICE) {
    code = cu_.MemAlloc(&device_memory, bytes);
    if (!code) *address = device_memory;
  } else {
    code = cu_.MemHostAlloc(&host_memory, bytes, TN_CU_MEMHOSTALLOC_PORTABLE);
    if (!code) *address = (tn_address)(uintptr_t)host_memory;
  }
  return code;
}

static tn_status refuse_bytes(tn_backend_device *device, uint64_t bytes)
{
  size_t free_bytes = 0, total = 0;
  if (cu_.MemGetInfo(&free_bytes, &total)) free_bytes = total = 0;
  return tn_host->error(TN_OUT_OF_MEMORY,
                        "%llu bytes: %zu of the %zu bytes of %s are free",
                        (unsigned long long)bytes, free_bytes, total,
                        device->info.name);
}

static tn_status alloc_memory(tn_backend_device *device,
                              const tn_alloc_desc *desc, tn_address *address)
{
  tn_status status = check_desc(desc);
  if (status) return status;
  bool is_device = desc->kind == TN_MEMORY_DEVICE;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (code) return tn_cuda_check(code, "binding the context", device);
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  code = call_alloc(desc->kind, (size_t)desc->bytes, address);
  if (is_device && (int)code == TN_CUDA_ERROR_OUT_OF_MEMORY)
    status = refuse_bytes(device, desc->bytes);
  else
    status = tn_cuda_check(code, is_device ? "cuMemAlloc" : "cuMemHostAlloc",
                           device);
  tn_cuda_relax(mode);
  tn_cuda_leave(device, former);
  return status;
}

/* After the driver's end, or that of the context, the memory is gone. */
static bool is_gone(CUresult code)
{
  return (int)code == TN_CUDA_ERROR_DEINITIALIZED || tn_cuda_is_sticky(code);
}

static void free_memory(tn_backend_device *device, const tn_alloc_desc *desc,
                        tn_address address)
{
  CUcontext former;
  if (tn_cuda_enter(device, &former)) return;
  CUstreamCaptureMode mode = tn_cuda_relax(TN_CUDA_RELAXED);
  CUresult code = desc->kind == TN_MEMORY_DEVICE
                      ? cu_.MemFree(address)
                      : cu_.MemFreeHost((void *)(uintptr_t)address);
  tn_cuda_relax(mode);
  tn_cuda_leave(device, former);
  if (code == TN_CUDA_SUCCESS) return;
  char text[TN_CUDA_CODE_TEXT_SIZE];
  if (tn_cuda_is_sticky(code)) tn_cuda_fail(device, code);
  if (!is_gone(code))
    tn_host->log(TN_LOG_ERROR, "cuda: free of 0x%llx on %s was answered by "
                 "%s", (unsigned long long)address, device->info.name,
                 tn_cuda_code_text(code, text));
}

static tn_status get_mem_info(tn_backend_device *device, uint64_t *free_bytes,
                              uint64_t *total_bytes)
{
  size_t now = 0, total = 0;
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = cu_.MemGetInfo(&now, &total);
  tn_cuda_leave(device, former);
  if (code) return tn_cuda_check(code, "cuMemGetInfo", device);
  *free_bytes = now;
  *total_bytes = total;
  return TN_OK;
}

static tn_status register_memory(tn_backend_device *device, void *memory,
                                 uint64_t bytes)
{
  if (bytes == 0 || bytes > SIZE_MAX / 2)
    return tn_host->error(TN_INVALID_ARGUMENT, "%llu bytes to register",
                          (unsigned long long)bytes);
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code)
    code = cu_.MemHostRegister(memory, (size_t)bytes,
                               TN_CU_MEMHOSTREGISTER_PORTABLE);
  tn_cuda_leave(device, former);
  return tn_cuda_check(code, "cuMemHostRegister", device);
}

static tn_status unregister_memory(tn_backend_device *device, void *memory)
{
  CUcontext former;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = cu_.MemHostUnregister(memory);
  tn_cuda_leave(device, former);
  return tn_cuda_check(code, "cuMemHostUnregister", device);
}

const tn_backend_alloc_table tn_cuda_alloc_table = {
  .struct_size = sizeof tn_cuda_alloc_table,
  .alloc = alloc_memory,
  .free = free_memory,
  .mem_info = get_mem_info,
  .host_register = register_memory,
  .host_unregister = unregister_memory,
};
