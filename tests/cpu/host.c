#include "tests/cpu/host.h"

#include <dirent.h>
#include <dlfcn.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/tap.h"

const tn_backend_api *plugin;

static void *library;
static _Thread_local char error_text[TN_BACKEND_TEXT_SIZE];
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static char lines[65536];
static char folder[256];
static plugin_cache_counts counts;

/* --- services --- */

static TN_PRINTF(2, 3) void host_log(tn_log_level level, const char *format,
                                     ...)
{
  char line[1024];
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(line, sizeof line, format, arguments);
  va_end(arguments);
  pthread_mutex_lock(&lock);
  size_t used = strlen(lines);
  snprintf(lines + used, sizeof lines - used, "%d: %s\n", (int)level, line);
  pthread_mutex_unlock(&lock);
}

static TN_PRINTF(2, 3) tn_status host_error(tn_status status,
                                            const char *format, ...)
{
  va_list arguments;
  va_start(arguments, format);
  vsnprintf(error_text, sizeof error_text, format, arguments);
  va_end(arguments);
  return status;
}

static const char *host_environment(const char *name)
{
  return getenv(name);
}

static void count(int *number)
{
  pthread_mutex_lock(&lock);
  ++*number;
  pthread_mutex_unlock(&lock);
}

/* An entry's file is the payload and then the key. */
static void entry_path(const void *key, size_t size, char *path, size_t most)
{
  uint64_t hash = UINT64_C(0xcbf29ce484222325);
  for (size_t i = 0; i < size; i++)
    hash = (hash ^ ((const uint8_t *)key)[i]) * UINT64_C(0x100000001b3);
  snprintf(path, most, "%s/%016llx", folder, (unsigned long long)hash);
}

static tn_status host_cache_find(const char *kind, const void *key,
                                 size_t key_size, char *path,
                                 size_t path_size, uint64_t *payload_size)
{
  struct stat facts;
  tap_ok(strcmp(kind, "cpu") == 0, "the cache is asked for \"cpu\" entries");
  entry_path(key, key_size, path, path_size);
  if (stat(path, &facts) != 0) {
    count(&counts.missed);
    return TN_NOT_READY;
  }
  count(&counts.found);
  *payload_size = (uint64_t)facts.st_size - key_size;
  return TN_OK;
}

static tn_status host_cache_store(const char *kind, const void *key,
                                  size_t key_size, const void *payload,
                                  uint64_t payload_size, char *path,
                                  size_t path_size)
{
  char draft[512];
  (void)kind;
  entry_path(key, key_size, path, path_size);
  snprintf(draft, sizeof draft, "%s/draft-XXXXXX", folder);
  int descriptor = mkstemp(draft);
  FILE *file = descriptor < 0 ? NULL : fdopen(descriptor, "w");
  if (!file) return host_error(TN_INVALID_ARGUMENT, "cannot write %s", draft);
  fwrite(payload, 1, payload_size, file);
  fwrite(key, 1, key_size, file);
  fclose(file);
  rename(draft, path);
  count(&counts.stored);
  return TN_OK;
}

static int host_is_forked_child(void)
{
  return 0;
}

static const tn_host_api host = {
  .struct_size = sizeof(tn_host_api),
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .log = host_log,
  .error = host_error,
  .environment = host_environment,
  .cache_find = host_cache_find,
  .cache_store = host_cache_store,
  .is_forked_child = host_is_forked_child,
};

/* Calls `visit` with the path of each file of the cache. */
static void cache_visit(void (*visit)(const char *path))
{
  DIR *entries = opendir(folder);
  for (struct dirent *entry; entries && (entry = readdir(entries));) {
    char path[600];
    snprintf(path, sizeof path, "%s/%s", folder, entry->d_name);
    if (entry->d_name[0] != '.') visit(path);
  }
  if (entries) closedir(entries);
}

static void file_spoil(const char *path)
{
  FILE *file = fopen(path, "r+");
  if (!file || fputs("spoiled", file) < 0)
    tap_ok(false, "%s is spoiled", path);
  if (file) fclose(file);
}

static void file_remove(const char *path)
{
  unlink(path);
}

void plugin_cache_damage(void)
{
  cache_visit(file_spoil);
}

plugin_cache_counts plugin_cache(void)
{
  return counts;
}

/* --- loading --- */

static void bail_out(const char *why)
{
  printf("Bail out! %s\n", why ? why : "out of memory");
  exit(1);
}

static void library_open(void)
{
  const char *path = getenv("TENON_BACKEND_PATH");
  for (size_t length = 0; path && *path; path += length + !!path[length]) {
    char file[4096];
    length = strcspn(path, ":");
    snprintf(file, sizeof file, "%.*s/tenon-cpu.so", (int)length, path);
    if (access(file, R_OK) != 0) continue;
    library = dlopen(file, RTLD_NOW | RTLD_LOCAL);
    if (!library) bail_out(dlerror());
    return;
  }
  bail_out("no tenon-cpu.so in TENON_BACKEND_PATH");
}

void plugin_load(void)
{
  library_open();
  const char *place = getenv("TMPDIR");
  snprintf(folder, sizeof folder, "%s/tenon-test-XXXXXX",
           place ? place : "/tmp");
  if (!mkdtemp(folder)) bail_out("no folder for the cache");
  memset(&counts, 0, sizeof counts);
  union {
    void *object;
    tn_backend_entry_function function;
  } entry = { dlsym(library, TN_BACKEND_ENTRY_NAME) };
  if (!entry.object) bail_out(dlerror());
  plugin = entry.function(&host, NULL);
  if (!plugin) bail_out(error_text);
}

void plugin_unload(void)
{
  plugin->device->shutdown(plugin->self);
  dlclose(library);
  cache_visit(file_remove);
  rmdir(folder);
}

const char *plugin_error(void)
{
  return error_text;
}

void plugin_forget(void)
{
  error_text[0] = 0;
}

const char *plugin_log(void)
{
  return lines;
}

/* --- shorter calls --- */

tn_backend_device *plugin_device(void)
{
  tn_backend_device *device = NULL;
  tn_status status = plugin->device->open(plugin->self, 0, &device);
  if (status) tap_ok(false, "cpu:0 opens: %s", error_text);
  return device;
}

tn_backend_stream *plugin_stream(tn_backend_device *device, uint32_t flags,
                                 int32_t priority)
{
  tn_stream_desc desc = { .struct_size = sizeof desc, .flags = flags,
                          .priority = priority };
  tn_backend_stream *stream = NULL;
  if (plugin->stream->create(device, &desc, &stream))
    tap_ok(false, "a stream is made: %s", error_text);
  return stream;
}

static tn_alloc_desc device_memory(uint64_t bytes)
{
  return (tn_alloc_desc){ .struct_size = sizeof(tn_alloc_desc),
                          .kind = TN_MEMORY_DEVICE, .bytes = bytes };
}

void *plugin_alloc(tn_backend_device *device, uint64_t bytes)
{
  tn_alloc_desc desc = device_memory(bytes);
  tn_address address = 0;
  if (plugin->alloc->alloc(device, &desc, &address))
    tap_ok(false, "memory is had: %s", error_text);
  return (void *)(uintptr_t)address;
}

void plugin_free(tn_backend_device *device, void *memory, uint64_t bytes)
{
  tn_alloc_desc desc = device_memory(bytes);
  plugin->alloc->free(device, &desc, (uintptr_t)memory);
}

tn_backend_module *plugin_module(tn_backend_device *device, const char *name,
                                 const char *source)
{
  tn_module_desc desc = {
    .struct_size = sizeof desc,
    .kind = source ? TN_MODULE_PORTABLE : TN_MODULE_BUILTIN,
    .name = name, .data = source, .size = source ? strlen(source) : 0,
  };
  tn_backend_module *module = NULL;
  plugin->launch->module_load(device, &desc, &module);
  return module;
}

tn_backend_kernel *plugin_kernel(tn_backend_module *module, const char *name)
{
  tn_backend_kernel *kernel = NULL;
  if (module) plugin->launch->kernel_get(module, name, &kernel);
  return kernel;
}

tn_status plugin_launch(tn_backend_stream *stream, tn_backend_kernel *kernel,
                        int64_t items, const uint64_t *slots)
{
  tn_backend_launch_desc desc = { .struct_size = sizeof desc,
                                  .items = items };
  return plugin->launch->launch(stream, kernel, &desc, slots);
}

void plugin_synchronize(tn_backend_device *device, tn_backend_stream *stream)
{
  tn_point point;
  tn_status status = plugin->stream->record(stream, 0, &point);
  if (!status) status = plugin->stream->host_wait(device, &point, UINT64_MAX);
  if (status) {
    tap_ok(false, "the stream is waited for: %s", error_text);
    return;
  }
  plugin->stream->point_release(device, &point);
}
