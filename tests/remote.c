/* The rehearsal backend keeps its promises: driven by its tables alone, with
 * a host of our own, so that a test that runs on it proves what it seems to.
 */
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <sched.h>
#include <signal.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/backend.h"
#include "tests/tap.h"

static char last_error[TN_BACKEND_TEXT_SIZE];

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
  (void)level;
  (void)format;
}

/* The third copy fails, and the sixth takes the device away. */
static const char *host_environment(const char *name)
{
  return strcmp(name, "TENON_REMOTE_FAIL") ? NULL : "copy:3,lost_copy:6";
}

static const tn_host_api host = {
  .struct_size = sizeof host,
  .abi_major = TN_BACKEND_ABI_MAJOR,
  .abi_minor = TN_BACKEND_ABI_MINOR,
  .log = host_log,
  .error = host_error,
  .environment = host_environment,
};

static const tn_backend_api *api;
static tn_backend_device *device;
static tn_backend_stream *stream;

/* Finds the plugin in the tests' search path. */
static tn_backend_entry_function find_entry(void)
{
  char path[4096];
  const char *folder = getenv("TENON_BACKEND_PATH");
  while (folder && *folder) {
    int length = (int)strcspn(folder, ":");
    snprintf(path, sizeof path, "%.*s/tenon-remote.so", length, folder);
    void *library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
    if (library) {
      tn_backend_entry_function entry;
      void *symbol = dlsym(library, TN_BACKEND_ENTRY_NAME);
      memcpy(&entry, &symbol, sizeof entry);
      return entry;
    }
    folder += length + (folder[length] == ':');
  }
  return NULL;
}

static tn_address memory(int32_t kind, uint64_t bytes)
{
  tn_alloc_desc desc = { sizeof desc, 0, kind, bytes, NULL };
  tn_address address = 0;
  api->alloc->alloc(device, &desc, &address);
  return address;
}

static void release(int32_t kind, tn_address address)
{
  tn_alloc_desc desc = { sizeof desc, 0, kind, 1, NULL };
  api->alloc->free(device, &desc, address);
}

static tn_copy_desc to_device(tn_address dst, const void *src, uint64_t bytes)
{
  return (tn_copy_desc){
    .struct_size = sizeof(tn_copy_desc),
    .kind = TN_COPY_HOST_TO_DEVICE,
    .dst_device = device,
    .dst = dst,
    .src = (uintptr_t)src,
    .row_bytes = bytes,
    .rows = 1,
    .depth = 1,
    .tag = 42,
  };
}

static tn_copy_desc to_host(void *dst, tn_address src, uint64_t bytes)
{
  tn_copy_desc desc = to_device((uintptr_t)dst, NULL, bytes);
  desc.kind = TN_COPY_DEVICE_TO_HOST;
  desc.src = src;
  desc.src_device = device;
  desc.dst_device = NULL;
  return desc;
}

static tn_status copy(tn_copy_desc desc)
{
  return api->copy->copy(stream, device, &desc);
}

/* A point that is still not complete after many turns given to others. */
static bool stays_unready(const tn_point *point)
{
  for (int i = 0; i < 2000; i++) {
    if (api->stream->query(device, point) != TN_NOT_READY) return false;
    sched_yield();
  }
  return true;
}

static void test_flush(tn_address address)
{
  char text[] = "before", back[sizeof text] = "";
  tn_point point;
  tap_is_int(copy(to_device(address, text, sizeof text)), TN_OK,
             "S1 a copy is queued");
  memcpy(text, "behind", sizeof text);
  api->stream->record(stream, 0, &point);
  tap_ok(stays_unready(&point), "S1 work that is not flushed does not start");
  api->stream->flush(stream);
  tap_is_int(api->stream->host_wait(device, &point, UINT64_MAX), TN_OK,
             "S1 and completes once it is");
  tap_is_int(api->stream->query(device, &point), TN_OK,
             "S5 the point is complete");
  api->stream->point_release(device, &point);
  copy(to_host(back, address, sizeof back));
  tap_is_text(back, "before", "S2 the source was taken at the call");
}

/* The system reads where the program would fault. */
static void test_address(tn_address address)
{
  int ends[2];
  if (pipe(ends)) return;
  ssize_t written = write(ends[1], (const void *)(uintptr_t)address, 1);
  tap_ok(written < 0, "the host cannot read device memory");
  close(ends[0]);
  close(ends[1]);
}

static void test_refusals(tn_address address)
{
  char text[16] = "";
  tn_copy_desc desc = to_device(address, text, 4);
  desc.rows = 2;
  tap_is_int(copy(desc), TN_UNSUPPORTED, "X3 rows are refused");
  desc.rows = 1;
  desc.flags = 1u << 31;
  tap_is_int(copy(desc), TN_INVALID_ARGUMENT, "an unknown flag is refused");
  desc = to_device(address + 60, text, 16);
  tap_is_int(copy(desc), TN_INVALID_ARGUMENT,
             "a copy that leaves its allocation is refused");
  tap_is_int((long long)memory(TN_MEMORY_MANAGED, 64), 0,
             "X3 managed memory is refused");
  tap_has(last_error, "kind 3", "and says which kind");
}

/* Runs after two copies were made. */
static void test_failure(tn_address address)
{
  char text[4] = "abc";
  tn_error_info info = { .struct_size = sizeof info };
  tn_address pinned = memory(TN_MEMORY_PINNED, 64);
  tn_copy_desc desc = to_host((void *)(uintptr_t)pinned, address, 4);
  tap_is_int(copy(to_device(address, text, 4)), TN_OK,
             "S6 a copy that will fail is queued");
  desc.flags = TN_COPY_PINNED;
  copy(desc);
  tn_point point;
  api->stream->record(stream, 0, &point);
  api->stream->host_wait(device, &point, UINT64_MAX);
  api->stream->point_release(device, &point);
  api->stream->take_error(stream, &info);
  tap_is_int(info.status, TN_LAUNCH_FAILED, "S6 the failure is kept");
  tap_is_int((long long)info.tag, 42, "S6 with the tag of its command");
  api->stream->take_error(stream, &info);
  tap_is_int(info.status, TN_OK, "S6 and reported once");
  tap_is_text((char *)(uintptr_t)pinned, "befo",
              "S6 the failed copy moved nothing, the next one ran");
  release(TN_MEMORY_PINNED, pinned);
}

static void release_twice(const tn_point *point)
{
  api->stream->point_release(device, point);
  api->stream->point_release(device, point);
}

static void use_at_once(const tn_point *point)
{
  tn_backend_stream *other;
  tn_stream_desc desc = { sizeof desc, 0, 0 };
  if (!api->stream->create(device, &desc, &other))
    api->stream->wait(other, point, 1);
}

/* This program again, breaking a rule: see main. */
static void test_broken(const char *how, const char *rule)
{
  int status = 0;
  char self[PATH_MAX]; /* not the link itself: that is valgrind's */
  pid_t child = realpath("/proc/self/exe", self) ? fork() : -1;
  if (!child) {
    if (freopen("/dev/null", "w", stderr))
      execl(self, "remote", how, (char *)NULL);
    _exit(3);
  }
  waitpid(child, &status, 0);
  tap_ok(WIFSIGNALED(status) && WTERMSIG(status) == SIGABRT, "%s", rule);
}

/* Copies five and six; the last takes the device away. */
static void test_lost(tn_address address)
{
  char text[4] = "abc";
  tn_error_info info = { .struct_size = sizeof info };
  copy(to_device(address, text, 4));
  copy(to_device(address, text, 4));
  tn_point point;
  api->stream->record(stream, 0, &point);
  tap_is_int(api->stream->host_wait(device, &point, UINT64_MAX), TN_OK,
             "S6 points of a lost device complete");
  api->stream->point_release(device, &point);
  tap_is_int(copy(to_device(address, text, 4)), TN_DEVICE_LOST,
             "S6 a lost device takes no work");
  api->stream->take_error(stream, &info);
  tap_is_int(info.status, TN_DEVICE_LOST, "S6 and says so");
}

static int break_rule(const char *how)
{
  tn_point point;
  api->stream->record(stream, 0, &point);
  if (strcmp(how, "twice"))
    use_at_once(&point);
  else
    release_twice(&point);
  return 0;
}

int main(int argc, char **argv)
{
  tn_backend_entry_function entry = find_entry();
  api = entry ? entry(&host, NULL) : NULL;
  tn_stream_desc desc = { sizeof desc, 0, 0 };
  if (!api || api->device->open(api->self, 0, &device) ||
      api->stream->create(device, &desc, &stream)) {
    printf("Bail out! no remote backend in TENON_BACKEND_PATH\n");
    return 1;
  }
  if (argc > 1) return break_rule(argv[1]);
  tn_address address = memory(TN_MEMORY_DEVICE, 64);
  tap_ok(address != 0, "M1 memory has an address");
  test_address(address);
  test_flush(address);
  test_refusals(address);
  test_failure(address);
  test_broken("twice", "a point released twice ends the program");
  test_broken("unflushed", "so does a wait for work that is not flushed");
  test_lost(address);
  release(TN_MEMORY_DEVICE, address);
  api->stream->destroy(stream);
  api->device->close(device);
  return tap_done();
}
