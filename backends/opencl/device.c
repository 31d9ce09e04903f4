#include "config.h"

#include "backends/opencl/device.h"

#include <pthread.h>
#include <string.h>

#include "backends/opencl/error.h"
#include "backends/opencl/module.h"
#include "backends/opencl/range.h"
#include "backends/opencl/stream.h"

static pthread_mutex_t context_lock = PTHREAD_MUTEX_INITIALIZER;

static tn_status find_device(int ordinal, tn_backend_device **device)
{
  tn_backend_device *devices;
  int count;
  tn_status status = tn_opencl_survey(&devices, &count);
  if (status) return status;
  if (ordinal < 0 || ordinal >= count)
    return tn_opencl_refuse_ordinal(ordinal, count);
  *device = devices + ordinal;
  return TN_OK;
}

static tn_status count_devices(void *self, int *count)
{
  (void)self;
  return tn_opencl_count(count);
}

static tn_status get_info(void *self, int ordinal,
                          tn_backend_device_info *info)
{
  (void)self;
  tn_backend_device_info whole;
  tn_status status = tn_opencl_info(ordinal, &whole);
  if (status) return status;
  size_t size = info->struct_size;
  memcpy(info, &whole, size < sizeof whole ? size : sizeof whole);
  info->struct_size = size;
  return TN_OK;
}

/* One context for all devices alike; made with the first that is opened. */
static cl_int retain_context(tn_backend_device *device)
{
  tn_backend_device *devices;
  int count;
  if (tn_opencl_survey(&devices, &count)) return CL_DEVICE_NOT_FOUND;
  cl_device_id ids[TN_BACKEND_DEVICES_MAX];
  cl_uint alike = 0;
  for (int i = 0; i < count; i++)
    if (devices[i].context == device->context) ids[alike++] = devices[i].id;
  cl_context_properties properties[] = {
    CL_CONTEXT_PLATFORM, (cl_context_properties)device->platform, 0
  };
  tn_opencl_context *context = device->context;
  cl_int code = CL_SUCCESS;
  pthread_mutex_lock(&context_lock);
  if (!context->handle)
    context->handle = cl_.CreateContext(properties, alike, ids, NULL, NULL,
                                        &code);
  if (code == CL_SUCCESS) context->open_count++;
  else context->handle = NULL;
  pthread_mutex_unlock(&context_lock);
  return code;
}

static void release_context(tn_opencl_context *context)
{
  pthread_mutex_lock(&context_lock);
  if (--context->open_count == 0) {
    cl_.ReleaseContext(context->handle);
    context->handle = NULL;
  }
  pthread_mutex_unlock(&context_lock);
}

static tn_status open_device(void *self, int ordinal,
                             tn_backend_device **device)
{
  (void)self;
  tn_backend_device *opened = NULL;
  tn_status status = find_device(ordinal, &opened);
  if (status == TN_OK) status = tn_opencl_check_listed(ordinal);
  if (status) return status;
  if (opened->info.unavailable[0])
    return tn_host->error(TN_DEVICE_UNAVAILABLE, "%s: %s", opened->info.name,
                          opened->info.unavailable);
  cl_int code = retain_context(opened);
  if (code)
    return tn_host->error(TN_DEVICE_UNAVAILABLE,
                          "%s: clCreateContext answered %s",
                          opened->info.name, tn_opencl_code_name(code));
  opened->queue = tn_opencl_queue_new(opened, 0, 0, &code);
  if (code) {
    release_context(opened->context);
    return tn_opencl_check(code, "clCreateCommandQueue", opened);
  }
  *device = opened;
  return TN_OK;
}

static void close_device(tn_backend_device *device)
{
  cl_.ReleaseCommandQueue(device->queue);
  device->queue = NULL;
  release_context(device->context);
}

static void end_backend(void *self)
{
  (void)self;
  tn_opencl_survey_end();
}

static void *memory_handle(const void *address)
{
  const tn_opencl_range *range =
      tn_opencl_range_find((tn_address)(uintptr_t)address);
  return range && range->kind != TN_MEMORY_PINNED ? range->memory : NULL;
}

static tn_status get_native_handle(tn_backend_device *device,
                                   tn_native_kind kind, const void *object,
                                   void **native)
{
  static const char *const names[] = { "device", "context", "stream",
                                       "module", "kernel", "memory",
                                       "graph" };
  void *handle = NULL;
  switch (kind) {
    case TN_NATIVE_DEVICE: handle = device->id; break;
    case TN_NATIVE_CONTEXT: handle = device->context->handle; break;
    case TN_NATIVE_STREAM: handle = tn_opencl_stream_handle(object); break;
    case TN_NATIVE_MODULE: handle = tn_opencl_module_handle(object); break;
    case TN_NATIVE_KERNEL: handle = tn_opencl_kernel_handle(object); break;
    case TN_NATIVE_MEMORY: handle = memory_handle(object); break;
    case TN_NATIVE_GRAPH: break;
  }
  if (!handle)
    return tn_host->error(TN_UNSUPPORTED,
                          "opencl has no native handle for this %s%s",
                          (unsigned)kind <= TN_NATIVE_GRAPH ? names[kind]
                                                            : "object",
                          kind == TN_NATIVE_MEMORY && device->has_svm
                              ? ": shared virtual memory has none"
                              : "");
  *native = handle;
  return TN_OK;
}

const tn_backend_device_table tn_opencl_device_table = {
  .struct_size = sizeof tn_opencl_device_table,
  .count = count_devices,
  .info = get_info,
  .open = open_device,
  .close = close_device,
  .shutdown = end_backend,
  .native_handle = get_native_handle,
};
