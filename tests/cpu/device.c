/* The cpu backend's devices and what the environment asks of it. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

static int count(void)
{
  int devices = -1;
  plugin_forget();
  tn_status status = plugin->device->count(plugin->self, &devices);
  return status ? -(int)status : devices;
}

static tn_backend_device_info info_of(int ordinal)
{
  tn_backend_device_info info;
  memset(&info, 0xaa, sizeof info);
  info.struct_size = sizeof info;
  tap_is_int(plugin->device->info(plugin->self, ordinal, &info), TN_OK,
             "info of device %d", ordinal);
  return info;
}

static void test_one(void)
{
  plugin_load();
  tap_is_text(plugin->name, "cpu", "X2: the backend is called cpu");
  tap_is_int(plugin->rank, 0, "D5: any accelerator is preferred to it");
  tap_is_int(count(), 1, "D2: there is one device");
  tn_backend_device_info info = info_of(0);
  tap_ok(*info.name && strlen(info.name) < sizeof info.name, "its name: %s",
         info.name);
  tap_has(info.driver, "level ", "the driver tells the level: %s",
          info.driver);
  tap_is_text(info.unavailable, "", "it is available");
  tap_is_text(info.not_reproducible, "", "N1: it keeps the rules");
  tap_ok(info.alignment >= 256, "addresses are aligned to 256");
  tap_ok(info.memory_total > 1u << 20, "it has memory");
  uint32_t wanted = TN_CAP_HOST_ACCESS | TN_CAP_F64 | TN_CAP_DENORMALS |
                    TN_CAP_EXACT_DIVIDE | TN_CAP_UNIFIED |
                    TN_CAP_INLINE_DEFAULT | TN_CAP_HOST_CORES;
  tap_is_int(info.capabilities & wanted, wanted, "it has what it should");

  _Alignas(8) uint8_t small[sizeof(tn_backend_device_info)];
  memset(small, 0xaa, sizeof small);
  const size_t size = 16;
  memcpy(small, &size, sizeof size);
  plugin->device->info(plugin->self, 0,
                       (tn_backend_device_info *)(void *)small);
  tap_ok(small[15] != 0xaa && small[16] == 0xaa,
         "an older core's shorter info is not written past");

  tn_backend_device *device = NULL;
  tap_is_int(plugin->device->open(plugin->self, 1, &device),
             TN_NO_SUCH_DEVICE, "D2: there is no second device");
  tap_has(plugin_error(), "cpu has 1 device", "D2: and it says how many");
  tap_is_int(plugin->device->open(plugin->self, -1, &device),
             TN_NO_SUCH_DEVICE, "D2: nor one before the first");
  device = plugin_device();
  if (device) plugin->device->close(device);
  plugin_unload();
}

static void test_several(void)
{
  setenv("TENON_CPU_DEVICES", "3", 1);
  plugin_load();
  tap_is_int(count(), 3, "TENON_CPU_DEVICES=3 makes 3");
  tn_backend_device_info first = info_of(0), last = info_of(2);
  tap_ok(memcmp(first.uuid, last.uuid, 4) != 0, "D7: their uuids differ");
  plugin_unload();
  plugin_load();
  last = info_of(0);
  tap_ok(memcmp(first.uuid, last.uuid, 16) == 0, "D7: and stay the same");
  plugin_unload();
  unsetenv("TENON_CPU_DEVICES");
}

/* A value that is refused by count, info and open alike. */
static void refused(const char *name, const char *value, const char *part)
{
  char text[64];
  snprintf(text, sizeof text, "%s=\"%s\"", name, value);
  setenv(name, value, 1);
  plugin_load();
  tap_is_int(count(), -TN_DEVICE_UNAVAILABLE, "D4: %s is refused", text);
  tap_has(plugin_error(), text, "D4: the error has what was asked for");
  tap_has(plugin_error(), part, "D4: and what would do");
  tn_backend_device *device = NULL;
  tap_ok(plugin->device->open(plugin->self, 0, &device) && !device,
         "D4: no device opens");
  plugin_unload();
  unsetenv(name);
}

/* What the driver text tells with a value. */
static void accepted(const char *name, const char *value, const char *part)
{
  setenv(name, value, 1);
  plugin_load();
  tap_is_int(count(), 1, "%s=%s is taken", name, value);
  tap_has(info_of(0).driver, part, "and used");
  plugin_unload();
  unsetenv(name);
}

static void test_values(void)
{
  static const char *const numbers[] = { "0",  "",   "abc", "1x",
                                         "-1", " 1", "01",  "99999999999" };
  for (size_t i = 0; i < sizeof numbers / sizeof *numbers; i++) {
    refused("TENON_CPU_DEVICES", numbers[i], "from 1 to 64");
    refused("TENON_NUM_THREADS", numbers[i], "from 1 to 1024");
    refused("TENON_CPU_CHAOS", numbers[i], "from 1 to 2147483647");
  }
  refused("TENON_CPU_DEVICES", "65", "from 1 to 64");
  accepted("TENON_NUM_THREADS", "7", "7 threads");
  accepted("TENON_NUM_THREADS", "1", "1 thread");
  refused("TENON_CPU_ISA", "v5", "unknown level: here it may be baseline");
  refused("TENON_CPU_ISA", "", "unknown level");
  accepted("TENON_CPU_ISA", "baseline", "level baseline");
}

/* A higher level is taken where the processor has it, and refused elsewhere:
 * there is nothing in between. */
static void test_levels(void)
{
  static const char *const levels[] = { "v3", "v4" };
  for (int i = 0; i < 2; i++) {
    char part[32];
    snprintf(part, sizeof part, "level %s", levels[i]);
    setenv("TENON_CPU_ISA", levels[i], 1);
    plugin_load();
    bool has = count() == 1;
    plugin_unload();
    unsetenv("TENON_CPU_ISA");
    if (has)
      accepted("TENON_CPU_ISA", levels[i], part);
    else
      refused("TENON_CPU_ISA", levels[i], "here it may be baseline");
  }
}

int main(void)
{
  unsetenv("TENON_CPU_DEVICES");
  unsetenv("TENON_NUM_THREADS");
  unsetenv("TENON_CPU_ISA");
  unsetenv("TENON_CPU_CHAOS");
  test_one();
  test_several();
  test_values();
  test_levels();
  return tap_done();
}
