/* Memory of the cpu backend. */
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

static tn_backend_device *device;
static uint64_t capacity;

static tn_status allocate(int32_t kind, uint64_t bytes, tn_address *address)
{
  tn_alloc_desc desc = { .struct_size = sizeof desc, .kind = kind,
                         .bytes = bytes };
  *address = 0;
  plugin_forget();
  return plugin->alloc->alloc(device, &desc, address);
}

static void release(int32_t kind, uint64_t bytes, tn_address address)
{
  tn_alloc_desc desc = { .struct_size = sizeof desc, .kind = kind,
                         .bytes = bytes };
  plugin->alloc->free(device, &desc, address);
}

static uint64_t free_bytes(void)
{
  uint64_t left = 0, total = 0;
  tap_is_int(plugin->alloc->mem_info(device, &left, &total), TN_OK,
             "M7: figures of memory are told");
  tap_ok(total == capacity && left <= total, "M7: and make sense");
  return left;
}

static void test_kinds(void)
{
  static const uint64_t sizes[] = { 1, 255, 4096, 100000, 2u << 20,
                                    (2u << 20) + 1, 33u << 20 };
  for (int32_t kind = TN_MEMORY_DEVICE; kind <= TN_MEMORY_MANAGED; kind++)
    for (size_t i = 0; i < sizeof sizes / sizeof *sizes; i++) {
      tn_address address;
      uint64_t alignment = kind == TN_MEMORY_PINNED
                             ? (uint64_t)sysconf(_SC_PAGESIZE)
                             : 256;
      tn_status status = allocate(kind, sizes[i], &address);
      tap_ok(!status && address && address % alignment == 0,
             "kind %d: %llu bytes, aligned", (int)kind,
             (unsigned long long)sizes[i]);
      if (status) continue;
      memset((void *)(uintptr_t)address, 1, sizes[i]);
      release(kind, sizes[i], address);
    }
  tn_address address;
  tap_is_int(allocate(99, 64, &address), TN_UNSUPPORTED,
             "an unknown kind is refused");
  tap_has(plugin_error(), "kind 99", "by name");
  tap_is_int(allocate(TN_MEMORY_DEVICE, 0, &address), TN_INVALID_ARGUMENT,
             "0 bytes are refused");
  tn_alloc_desc desc = { .struct_size = sizeof desc, .flags = 4, .bytes = 1 };
  tap_is_int(plugin->alloc->alloc(device, &desc, &address),
             TN_INVALID_ARGUMENT, "unknown flags are refused");
}

/* Untouched memory costs nothing, so most of the capacity can be had. */
static void test_capacity(void)
{
  tn_address first, second;
  uint64_t most = capacity / 2 + (64u << 20);
  tap_is_int(allocate(TN_MEMORY_DEVICE, UINT64_MAX, &first),
             TN_OUT_OF_MEMORY, "M3: more than can be named");
  tap_is_int(allocate(TN_MEMORY_DEVICE, UINT64_MAX - 4096, &first),
             TN_OUT_OF_MEMORY, "M3: the same, rounded");
  tap_is_int(allocate(TN_MEMORY_DEVICE, capacity + 1, &first),
             TN_OUT_OF_MEMORY, "M3: one byte more than there is");
  tap_is_int(allocate(TN_MEMORY_DEVICE, most, &first), TN_OK,
             "M3: a little more than half");
  tap_is_int(allocate(TN_MEMORY_PINNED, most, &second), TN_OUT_OF_MEMORY,
             "M3: not twice, of whatever kind");
  tap_has(plugin_error(), "cpu devices hold", "M3: the error tells: %s",
          plugin_error());
  tap_ok(free_bytes() <= capacity - most, "M7: what is held is not free");
  release(TN_MEMORY_DEVICE, most, first);
  tap_is_int(allocate(TN_MEMORY_DEVICE, most, &second), TN_OK,
             "M3: after freeing it can be had");
  release(TN_MEMORY_DEVICE, most, second);
}

static void test_shared_capacity(void)
{
  tn_backend_device *other = NULL;
  tap_is_int(plugin->device->open(plugin->self, 1, &other), TN_OK,
             "cpu:1 opens");
  if (!other) return;
  tn_address first;
  uint64_t most = capacity / 2 + (64u << 20);
  tn_status status = allocate(TN_MEMORY_DEVICE, most, &first);
  tn_backend_device *saved = device;
  device = other;
  tn_address second;
  tap_is_int(allocate(TN_MEMORY_DEVICE, most, &second), TN_OUT_OF_MEMORY,
             "M3: all cpu devices share the machine's memory");
  device = saved;
  if (!status) release(TN_MEMORY_DEVICE, most, first);
  plugin->device->close(other);
}

/* The system itself refuses. */
static void test_address_space(void)
{
  const char *sanitizers = getenv("TN_SANITIZERS");
  if ((sanitizers && *sanitizers) || capacity < UINT64_C(2) << 30) {
    tap_skip("sanitizers need the address space; so does little memory");
    return;
  }
  struct rlimit saved, low;
  getrlimit(RLIMIT_AS, &saved);
  low = saved;
  low.rlim_cur = UINT64_C(1) << 30;
  setrlimit(RLIMIT_AS, &low);
  tn_address address;
  tn_status status = allocate(TN_MEMORY_DEVICE, UINT64_C(1) << 30, &address);
  setrlimit(RLIMIT_AS, &saved);
  tap_is_int(status, TN_OUT_OF_MEMORY, "M3: no address space is left");
  tap_has(plugin_error(), "the system gives no 1073741824 bytes",
          "M3: the error says whose limit it is");
  status = allocate(TN_MEMORY_DEVICE, 64u << 20, &address);
  tap_is_int(status, TN_OK, "M3: and memory can be had again");
  if (!status) release(TN_MEMORY_DEVICE, 64u << 20, address);
}

int main(void)
{
  setenv("TENON_CPU_DEVICES", "2", 1);
  plugin_load();
  device = plugin_device();
  tn_backend_device_info info = { .struct_size = sizeof info };
  plugin->device->info(plugin->self, 0, &info);
  capacity = info.memory_total;
  if (device) {
    test_kinds();
    test_capacity();
    test_shared_capacity();
    test_address_space();
    plugin->device->close(device);
  }
  plugin_unload();
  return tap_done();
}
