#include "config.h"

#include "backends/cuda/device.h"

#include <stdint.h>
#include <string.h>

#include "backends/cuda/graph.h"
#include "backends/cuda/module.h"
#include "backends/cuda/stream.h"
#include "backends/cuda/survey.h"

static tn_status find_device(int ordinal, tn_backend_device **device)
{
  tn_backend_device *devices;
  int count;
  tn_status status = tn_cuda_survey(&devices, &count);
  if (status) return status;
  if (ordinal < 0 || ordinal >= count)
    return tn_host->error(TN_NO_SUCH_DEVICE,
                          "the driver has %d device%s, counted from 0, and "
                          "no device %d", count, count == 1 ? "" : "s",
                          ordinal);
  *device = devices + ordinal;
  return TN_OK;
}

static tn_status count_devices(void *self, int *count)
{
  (void)self;
  return tn_cuda_count(count);
}

static tn_status get_info(void *self, int ordinal,
                          tn_backend_device_info *info)
{
  (void)self;
  tn_backend_device_info facts;
  tn_status status = tn_cuda_info(ordinal, &facts);
  if (status) return status;
  size_t size = info->struct_size;
  memcpy(info, &facts, size < sizeof facts ? size : sizeof facts);
  info->struct_size = size;
  return TN_OK;
}

/* The primary context, which the runtime library and other users of the device
 * share, so its flags stay as they are. */
static tn_status prepare_context(tn_backend_device *device)
{
  CUcontext former = NULL;
  int least = 0, most = 0;
  CUresult code = tn_cuda_enter(device, &former);
  if (!code) code = cu_.CtxGetStreamPriorityRange(&least, &most);
  if (!code)
    code = cu_.StreamCreateWithPriority(&device->service,
                                        TN_CU_STREAM_NON_BLOCKING, 0);
  device->most_urgent = most;
  tn_cuda_leave(device, former);
  return tn_cuda_check(code, "preparing the primary context", device);
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self;
  tn_backend_device *opened = NULL;
  char text[TN_CUDA_CODE_TEXT_SIZE];
  tn_status status = find_device(ordinal, &opened);
  if (status == TN_OK) status = tn_cuda_check_told(ordinal, opened);
  if (status) return status;
  if (opened->info.unavailable[0])
    return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s: %s", opened->info.name,
                          opened->info.unavailable);
  CUresult code = cu_.DevicePrimaryCtxRetain(&opened->context, opened->id);
  if (code)
    return tn_host->error(TN_DEVICE_UNAVAILABLE,
                          "%s: cuDevicePrimaryCtxRetain answered %s",
                          opened->info.name, tn_cuda_code_text(code, text));
  status = prepare_context(opened);
  if (status) {
    cu_.DevicePrimaryCtxRelease(opened->id);
    opened->context = NULL;
    return status;
  }
  *device = opened;
  return TN_OK;
}

/* This thread must not keep a context that may be gone. */
static void forget_context(const tn_backend_device *device)
{
  CUcontext current = NULL;
  if (cu_.CtxGetCurrent(&current) == TN_CUDA_SUCCESS &&
      current == device->context)
    cu_.CtxSetCurrent(NULL);
}

static void close_device(tn_backend_device *device)
{
  CUcontext former;
  if (tn_cuda_enter(device, &former) == TN_CUDA_SUCCESS) {
    tn_cuda_events_free(device);
    cu_.StreamDestroy(device->service);
    tn_cuda_leave(device, former);
  }
  tn_cuda_trails_free(device);
  forget_context(device);
  cu_.DevicePrimaryCtxRelease(device->id);
  device->context = NULL;
}

static void end_backend(void *self)
{
  (void)self;
  tn_cuda_survey_end();
}

static tn_status get_native_handle(tn_backend_device *device,
                                   tn_native_kind kind, const void *object,
                                   void **native)
{
  switch (kind) {
    case TN_NATIVE_DEVICE: /* a number */
      *native = (void *)(intptr_t)device->id;
      return TN_OK;
    case TN_NATIVE_CONTEXT:
      *native = device->context;
      return TN_OK;
    case TN_NATIVE_STREAM:
      *native = tn_cuda_stream_handle(object);
      return TN_OK;
    case TN_NATIVE_MODULE:
      *native = tn_cuda_module_handle(object);
      return TN_OK;
    case TN_NATIVE_KERNEL:
      *native = tn_cuda_kernel_handle(object);
      return TN_OK;
    case TN_NATIVE_MEMORY: /* a CUdeviceptr */
      *native = (void *)(uintptr_t)object;
      return TN_OK;
    case TN_NATIVE_GRAPH: /* a CUgraphExec */
      *native = tn_cuda_graph_handle(object);
      return TN_OK;
  }
  return tn_host->error(TN_UNSUPPORTED, "cuda has no native handle of kind "
                        "%d: 0 to %d are known", (int)kind, TN_NATIVE_GRAPH);
}

const tn_backend_device_table tn_cuda_device_table = {
  .struct_size = sizeof tn_cuda_device_table,
  .count = count_devices,
  .info = get_info,
  .open = open_device,
  .close = close_device,
  .shutdown = end_backend,
  .native_handle = get_native_handle,
};
