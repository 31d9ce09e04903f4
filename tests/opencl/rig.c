#include "config.h"

#include "tests/opencl/rig.h"

#include <dlfcn.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/tap.h"

const tn_backend_api *api;
tn_backend_device *device;
tn_backend_stream *stream;
tn_backend_device_info info = { .struct_size = sizeof info };
int device_count, error_lines, cache_hits, cache_stores;
bool has_svm, is_basic, cache_is_damaged;
__thread char last_error[TN_BACKEND_TEXT_SIZE];
tn_backend_entry_function rig_entry;
rig_calls raw;

static tn_status host_error(tn_status status, const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(last_error, sizeof last_error, format, arguments);
  va_end(arguments);
  return status;
}

static void host_log(tn_log_level level, const char *format, ...)
{
  char text[2000];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(text, sizeof text, format, arguments);
  va_end(arguments);
  error_lines += level == TN_LOG_ERROR;
  text[strcspn(text, "\n")] = '\0';
  tap_note("log: %s", text);
}

static const char *host_environment(const char *name)
{
  return getenv(name);
}

/* One entry, in memory and, for its path, in a file. */
static struct {
  char *key;
  size_t key_size;
  uint64_t size;
  char path[64];
} entry = { .path = "/tmp/tenon-opencl-test.XXXXXX" };

static tn_status cache_find(const char *kind, const void *key,
                            size_t key_size, char *path, size_t path_size,
                            uint64_t *payload_size)
{
  (void)kind;
  if (!entry.key || entry.key_size != key_size ||
      memcmp(entry.key, key, key_size))
    return TN_NOT_READY;
  snprintf(path, path_size, "%s", entry.path);
  *payload_size = cache_is_damaged ? entry.size - 9 : entry.size;
  cache_hits++;
  return TN_OK;
}

static tn_status cache_store(const char *kind, const void *key,
                             size_t key_size, const void *payload,
                             uint64_t payload_size, char *path,
                             size_t path_size)
{
  (void)kind;
  static FILE *file;
  if (!file) {
    int fd = mkstemp(entry.path);
    if (fd < 0 || !(file = fdopen(fd, "w"))) abort();
  }
  rewind(file);
  fwrite(payload, 1, (size_t)payload_size, file);
  fflush(file);
  free(entry.key);
  entry.key = malloc(key_size);
  memcpy(entry.key, key, key_size);
  entry.key_size = key_size;
  entry.size = payload_size;
  snprintf(path, path_size, "%s", entry.path);
  cache_stores++;
  return TN_OK;
}

static int is_forked_child(void)
{
  return 0;
}

const tn_host_api rig_host = {
  .struct_size = sizeof rig_host,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .log = host_log,
  .error = host_error,
  .environment = host_environment,
  .cache_find = cache_find,
  .cache_store = cache_store,
  .is_forked_child = is_forked_child,
};

/* Finds the plugin in the tests' search path. */
static tn_backend_entry_function find_entry(void)
{
  char path[4096];
  const char *folder = getenv("TENON_BACKEND_PATH");
  while (folder && *folder) {
    int length = (int)strcspn(folder, ":");
    snprintf(path, sizeof path, "%.*s/tenon-opencl.so", length, folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      tn_backend_entry_function found;
      *(void **)&found = dlsym(library, TN_BACKEND_ENTRY_NAME);
      return found;
    }
    folder += length + (folder[length] == ':');
  }
  return NULL;
}

static void load_raw(void)
{
  void *library = dlopen("libOpenCL.so.1", RTLD_NOW);
  const struct {
    const char *name;
    void *slot;
  } calls[] = {
    { "clCreateUserEvent", &raw.create_user_event },
    { "clSetUserEventStatus", &raw.set_user_event_status },
    { "clEnqueueMarkerWithWaitList", &raw.enqueue_marker },
    { "clReleaseEvent", &raw.release_event },
    { "clCreateCommandQueue", &raw.create_queue },
    { "clReleaseCommandQueue", &raw.release_queue },
    { "clGetProgramInfo", &raw.get_program_info },
  };
  for (size_t i = 0; i < sizeof calls / sizeof *calls; i++)
    *(void **)calls[i].slot = dlsym(library, calls[i].name);
}

bool rig_start(void)
{
  rig_entry = find_entry();
  if (!tap_ok(rig_entry != NULL, "the plugin is found")) return false;
  api = rig_entry(&rig_host, NULL);
  if (!tap_ok(api != NULL, "the plugin starts")) return false;
  if (api->device->count(api->self, &device_count)) {
    tap_skip("%s", last_error);
    return false;
  }
  load_raw();
  api->device->info(api->self, 0, &info);
  is_basic = strncmp(info.name, "basic", 5) == 0;
  tap_note("%d devices; device 0: %s, %s", device_count, info.name,
           info.driver);
  if (!tap_is_int(api->device->open(api->self, 0, &device), TN_OK,
                  "device 0 opens")) {
    tap_note("%s", last_error);
    return false;
  }
  tn_address address = rig_alloc(TN_MEMORY_DEVICE, 4096);
  void *native;
  has_svm = api->device->native_handle(device, TN_NATIVE_MEMORY,
                                       (const void *)(uintptr_t)address,
                                       &native) == TN_UNSUPPORTED;
  rig_free(TN_MEMORY_DEVICE, address);
  tap_note("addresses are %s", has_svm ? "shared virtual memory"
                                       : "reserved, for handles");
  stream = rig_stream(device);
  return stream != NULL;
}

void rig_end(void)
{
  api->stream->destroy(stream);
  api->device->close(device);
  api->device->shutdown(api->self);
  free(entry.key);
  unlink(entry.path);
}

void *rig_native(tn_native_kind kind, const void *object)
{
  void *native = NULL;
  api->device->native_handle(device, kind, object, &native);
  return native;
}

tn_address rig_alloc(int32_t kind, uint64_t bytes)
{
  tn_alloc_desc desc = { sizeof desc, 0, kind, bytes, NULL };
  tn_address address = 0;
  api->alloc->alloc(device, &desc, &address);
  return address;
}

void rig_free(int32_t kind, tn_address address)
{
  tn_alloc_desc desc = { sizeof desc, 0, kind, 1, NULL };
  api->alloc->free(device, &desc, address);
}

tn_copy_desc rig_copy_desc(tn_backend_device *to, tn_address dst,
                           tn_backend_device *from, tn_address src,
                           uint64_t bytes)
{
  return (tn_copy_desc){
    .struct_size = sizeof(tn_copy_desc),
    .kind = !from ? TN_COPY_HOST_TO_DEVICE
            : !to ? TN_COPY_DEVICE_TO_HOST
                  : TN_COPY_DEVICE_TO_DEVICE,
    .dst_device = to,
    .src_device = from,
    .dst = dst,
    .src = src,
    .row_bytes = bytes,
    .rows = 1,
    .depth = 1,
    .tag = 9,
  };
}

tn_status rig_copy(const tn_copy_desc *desc)
{
  return api->copy->copy(stream, device, desc);
}

tn_status rig_write(tn_address dst, const void *src, uint64_t bytes)
{
  tn_copy_desc desc = rig_copy_desc(device, dst, NULL, (uintptr_t)src, bytes);
  return rig_copy(&desc);
}

tn_status rig_read(void *dst, tn_address src, uint64_t bytes)
{
  tn_copy_desc desc = rig_copy_desc(NULL, (uintptr_t)dst, device, src, bytes);
  return rig_copy(&desc);
}

tn_backend_stream *rig_stream(tn_backend_device *of)
{
  tn_stream_desc desc = { .struct_size = sizeof desc };
  tn_backend_stream *made = NULL;
  api->stream->create(of, &desc, &made);
  return made;
}

tn_point rig_record(tn_backend_stream *of, uint32_t flags)
{
  tn_point point = { { 0, 0 } };
  api->stream->record(of, flags, &point);
  return point;
}

void rig_wait(tn_backend_stream *of)
{
  tn_point point = rig_record(of, 0);
  api->stream->host_wait(device, &point, UINT64_MAX);
  api->stream->point_release(device, &point);
}

tn_backend_module *rig_module(tn_module_kind kind, const char *name,
                              const char *text)
{
  tn_module_desc desc = {
    .struct_size = sizeof desc,
    .kind = kind,
    .name = name,
    .data = text,
    .size = text ? strlen(text) : 0,
  };
  tn_backend_module *module = NULL;
  if (api->launch->module_load(device, &desc, &module))
    tap_note("%s: %s", name, last_error);
  return module;
}

tn_backend_kernel *rig_kernel(tn_backend_module *module, const char *name)
{
  tn_backend_kernel *kernel = NULL;
  if (api->launch->kernel_get(module, name, &kernel))
    tap_note("%s: %s", name, last_error);
  return kernel;
}

tn_status rig_launch(tn_backend_kernel *kernel, int64_t items,
                     const uint64_t *slots)
{
  tn_backend_launch_desc desc = { .struct_size = sizeof desc,
                                  .items = items, .tag = 7 };
  return api->launch->launch(stream, kernel, &desc, slots);
}
