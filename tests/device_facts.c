/* Facts of devices, and peers: A040, A041, D2, X3. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdlib.h>
#include <string.h>

#include "tenon/device.h"

static tn_device fake(int index)
{
  return (tn_device){ tn_device_of("fake").backend, (int16_t)index };
}

static void check_info(void)
{
  tn_device_info info;
  tap_is_int(tn_device_get_info(fake(1), &info), TN_OK, "a device's facts");
  tap_is_text(info.backend, "fake", "its backend");
  tap_is_text(info.backend_version, "1.2.3", "and that one's version");
  tap_is_text(info.name, "fake device 1", "its name");
  tap_is_text(info.driver, "no driver", "its driver");
  tap_is_text(info.unavailable, "", "it can be used");
  tap_is_text(info.uuid, "ab000000-0000-0000-0000-000000000002",
              "A041 16 bytes, 36 characters");
  tap_is_int((long long)info.memory_total, 1 << 30, "its memory");
  tap_ok(info.host_access && info.f64 && !info.unified && !info.atomic64,
         "its capabilities");
  tap_ok(!info.has_launch && !info.has_stream && !info.has_graph,
         "and what it leaves to the core");
  tap_is_int(info.numa_node, -1, "unknown is -1");
  tap_is_int(tn_set_device(fake(1)), TN_OK, "another current device");
  tap_is_int(tn_device_get_info(fake(-1), &info), TN_OK, "A040 no ordinal");
  tap_is_text(info.name, "fake device 1", "A040 means the current device");
  tap_is_int(tn_device_get_info(fake(0), NULL), TN_INVALID_ARGUMENT,
             "no place for the facts");
  tap_is_int(tn_device_get_info(fake(3), &info), TN_NO_SUCH_DEVICE,
             "no such device");
}

static void check_unavailable(void)
{
  tn_device_info info;
  setenv("TENON_FAKE_UNAVAILABLE", "2", 1);
  tap_is_int(tn_device_get_info(fake(2), &info), TN_OK,
             "R05 a device that cannot be used is described");
  tap_is_text(info.unavailable, "device 2 is out for repair", "with why");
  tap_ok(tn_is_available("fake"), "the backend has others");
  tap_is_int(tn_device_count("fake"), 3, "and counts it");
  tap_ok(!tn_can_access_peer(fake(2), fake(1)), "using it fails");
  tap_is_int(tn_last_status(), TN_DEVICE_UNAVAILABLE, "as unavailable");
  tap_is_text(tn_error_message(), "fake:2: device 2 is out for repair",
              "with why");
  unsetenv("TENON_FAKE_UNAVAILABLE");
  setenv("TENON_FAKE_COUNT", "no driver here", 1);
  tap_is_int(tn_device_count("other"), 0, "R05 a backend without driver");
  tap_is_text(tn_error_message(), "other: counting devices: no driver here",
              "says so");
  tap_is_int(tn_last_status(), TN_DEVICE_UNAVAILABLE, "it is unavailable");
  tap_ok(!tn_is_available("other"), "and not available");
  unsetenv("TENON_FAKE_COUNT");
}

static void check_peers(void)
{
  tap_ok(tn_can_access_peer(fake(0), fake(1)), "neighbours reach each other");
  tap_ok(tn_can_access_peer(fake(1), fake(1)), "a device reaches itself");
  tn_clear_error();
  tap_ok(!tn_can_access_peer(fake(0), fake(2)), "others do not");
  tap_ok(!tn_can_access_peer(fake(0), tn_device_of("other:0")),
         "devices of other backends neither");
  tap_is_int(tn_last_status(), TN_OK, "which is no failure");
  tap_ok(!tn_can_access_peer(fake(0), fake(7)) &&
             tn_last_status() == TN_NO_SUCH_DEVICE,
         "a device that is not there is one");
  tap_is_int(tn_disable_peer_access(fake(0), fake(1)), TN_INVALID_ARGUMENT,
             "disabling what was not enabled");
  tap_is_int(tn_enable_peer_access(fake(0), fake(1)), TN_OK, "enabling");
  tap_is_int(tn_enable_peer_access(fake(0), fake(1)), TN_OK, "again");
  tap_is_int(tn_disable_peer_access(fake(1), fake(0)), TN_INVALID_ARGUMENT,
             "the other direction is another thing");
  tap_is_int(tn_disable_peer_access(fake(0), fake(1)), TN_OK, "disabling");
  tap_is_int(tn_disable_peer_access(fake(0), fake(1)), TN_INVALID_ARGUMENT,
             "once");
  tap_is_int(tn_enable_peer_access(fake(0), fake(2)), TN_UNSUPPORTED,
             "what is not possible cannot be enabled");
  tap_is_int(tn_enable_peer_access(fake(0), fake(0)), TN_INVALID_ARGUMENT,
             "a device is no peer of itself");
  tap_is_int(tn_enable_peer_access(fake(0), tn_device_of("other:0")),
             TN_DEVICE_MISMATCH, "nor of another backend's");
}

static void check_absent(void)
{
  tn_device plain = tn_device_of("good:0");
  tap_is_int(tn_enable_peer_access(plain, tn_device_of("good:1")),
             TN_NO_SUCH_DEVICE, "one device only");
  void *native = &plain;
  tap_is_int(tn_device_native(plain, &native), TN_UNSUPPORTED,
             "X3 A329 an absent entry is refused");
  tap_is_text(tn_error_message(),
              "backend \"good\" has no device.native_handle",
              "X3 A322 naming backend and function");
  tap_ok(native == NULL, "and gives nothing");
  tap_is_int(tn_device_native(fake(0), &native), TN_OK, "a native handle");
  tap_ok(native != NULL, "is given");
  tap_is_int(tn_device_native_context(fake(0), &native), TN_UNSUPPORTED,
             "a kind that the backend does not know");
  tap_is_text(tn_error_message(), "fake:0: asking for a native handle: no "
              "handle of kind 1", "in the backend's words");
}

static void check_lost(void)
{
  setenv("TENON_FAKE_LOST", "1", 1);
  tap_ok(!tn_can_access_peer(fake(0), fake(1)), "a device falls out");
  tap_is_int(tn_last_status(), TN_DEVICE_LOST, "it is lost");
  tap_is_text(tn_error_message(), "fake:0: asking for access to peer 1: "
              "device 0 fell out", "as the backend says");
  unsetenv("TENON_FAKE_LOST");
  tap_ok(!tn_can_access_peer(fake(0), fake(1)) &&
             tn_last_status() == TN_DEVICE_LOST, "and stays lost");
  tap_has(tn_error_message(), "device \"fake:0\" is lost", "by name");
  tap_ok(tn_can_access_peer(fake(1), fake(2)), "others are not");
}

static void check_reset(void)
{
  tn_device_info info;
  tn_device_get_info(fake(0), &info);
  uint64_t before = info.generation;
  tap_is_int(tn_device_reset(fake(1)), TN_INVALID_ARGUMENT,
             "a device that is not lost is not reset");
  tap_is_int(tn_device_reset(fake(0)), TN_OK, "a lost one is");
  tap_ok(tn_can_access_peer(fake(0), fake(1)), "and can be used again");
  tn_device_get_info(fake(0), &info);
  tap_ok(info.generation != before, "its generation changed");
  tap_is_int(tn_disable_peer_access(fake(0), fake(1)), TN_INVALID_ARGUMENT,
             "its peers are forgotten");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_folder_add(folder, PLUGIN_FAKE, "other");
  plugin_folder_add(folder, PLUGIN_BAD, "good");
  plugin_path_set(folder, "");
  setenv("TENON_FAKE_DEVICES", "3", 1);
  setenv("TENON_FAKE_UUIDS", "aa,ab,cc", 1);
  check_info();
  check_unavailable();
  check_peers();
  check_absent();
  tn_enable_peer_access(fake(0), fake(1));
  check_lost();
  check_reset();
  return tap_done();
}
