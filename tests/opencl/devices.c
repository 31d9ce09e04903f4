#include "config.h"

#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/opencl/rig.h"
#include "tests/tap.h"

static void test_info(void)
{
  tap_ok(info.name[0] && info.driver[0] && !info.unavailable[0],
         "D8 a device has a name, a driver, and nothing against it");
  tap_ok(info.memory_total && info.compute_units && info.max_group_size,
         "D8 and memory, compute units and a group size");
  tap_ok(info.alignment >= 256 && !(info.alignment & (info.alignment - 1)),
         "D8 its alignment is a power of two, at least 256");
  tn_backend_device_info small = { .struct_size = 48 };
  memset((char *)&small + 48, 0x5a, sizeof small - 48);
  api->device->info(api->self, 0, &small);
  bool is_kept = small.struct_size == 48;
  for (size_t i = 48; i < sizeof small; i++)
    is_kept &= ((char *)&small)[i] == 0x5a;
  tap_ok(is_kept, "no byte is written past the caller's struct_size");
  tap_is_int(api->device->info(api->self, device_count, &small),
             TN_NO_SUCH_DEVICE, "D2 an ordinal too far is refused");
  tap_has(last_error, "opencl has", "D2 saying how many there are");
  if (strncmp(info.driver, "Portable Computing", 18)) return;
  uint32_t wanted = TN_CAP_F64 | TN_CAP_FAST_FMA | TN_CAP_DENORMALS |
                    TN_CAP_EXACT_DIVIDE | TN_CAP_HOST_CORES;
  tap_is_int(info.capabilities & wanted, wanted,
             "N1 PoCL has f64, fma, denormals, exact division, host cores");
  tap_is_text(info.not_reproducible, "", "N1 and so nothing that differs");
}

static void test_handles(void)
{
  tap_ok(rig_native(TN_NATIVE_DEVICE, NULL) &&
             rig_native(TN_NATIVE_CONTEXT, NULL) &&
             rig_native(TN_NATIVE_STREAM, stream),
         "device, context and stream have native handles");
  void *native;
  tap_is_int(api->device->native_handle(device, TN_NATIVE_GRAPH, NULL,
                                        &native),
             TN_UNSUPPORTED, "X3 a graph has none");
  tap_has(last_error, "graph", "X3 which the error says");
}

static void test_fork(void)
{
  pid_t child = fork();
  if (child == 0) {
    int count;
    _exit(api->device->count(api->self, &count) == TN_FORKED ? 0 : 1);
  }
  int status = -1;
  waitpid(child, &status, 0);
  tap_is_int(status, 0, "D9 a forked child is refused at once");
  int count = 0;
  tap_is_int(api->device->count(api->self, &count), TN_OK,
             "D9 and the parent is unharmed");
}

void test_devices(void)
{
  tap_ok(!rig_entry(&rig_host, api), "X2 it does not wrap another backend");
  tap_has(last_error, "wraps", "X2 and says so");
  tap_is_text(api->name, "opencl", "X2 its name");
  test_info();
  test_handles();
  test_fork();
}
