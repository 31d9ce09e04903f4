/* Visible devices: rule D7, A280 to A286, R01. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "tenon/device.h"

/* The plugin's ordinals behind ours, as "2 0 1"; they are in the names of
 * the fake devices. */
static const char *visible(const char *mask, char text[256])
{
  if (mask) setenv("TENON_FAKE_VISIBLE_DEVICES", mask, 1);
  else unsetenv("TENON_FAKE_VISIBLE_DEVICES");
  int count = tn_device_count("fake"), used = 0;
  text[0] = 0;
  for (int i = 0; i < count && used < 240; i++) {
    tn_device_info info;
    tn_device device = { tn_device_of("fake").backend, (int16_t)i };
    if (tn_device_get_info(device, &info) != TN_OK) return "failed";
    used += snprintf(text + used, 256 - (size_t)used, "%s%s",
                     used ? " " : "", info.name + strlen("fake device "));
  }
  return text;
}

static void expect(const char *rule, const char *mask, const char *wanted)
{
  char text[256];
  tap_is_text(visible(mask, text), wanted, "%s \"%s\" shows [%s]", rule,
              mask ? mask : "(unset)", wanted);
}

static void check_ordinals(void)
{
  setenv("TENON_FAKE_DEVICES", "8", 1);
  expect("D7 A283", NULL, "0 1 2 3 4 5 6 7");
  expect("A282", "1gpu2,2ampere", "1 2");
  expect("A282", "0, 1, 2, -1, 3", "0 1 2");
  expect("A282", "0, 1, 2, 1", "");
  expect("A282", "2, +3, -0, 5", "2 3 0 5");
  expect("A282", "one,two,3,4", "");
  expect("A282", "4,3,two,one", "4 3");
  expect("A282", "", "");
  expect("A282", "0,,1", "0");
  expect("A282", "+", "");
  expect("A282", "\t 7 ,6", "7 6");
  expect("A286", "1, 0", "1 0");
  expect("A286", "3", "3");
  expect("A284", "1,99999999999999999999,0", "1");
  setenv("TENON_FAKE_DEVICES", "2", 1);
  expect("A284", "1, 0", "1 0");
  expect("A284", "1, 5, 0", "1");
  expect("A284", "2", "");
}

static void check_uuids(void)
{
  setenv("TENON_FAKE_DEVICES", "3", 1);
  setenv("TENON_FAKE_UUIDS", "aa,ab,cc", 1);
  expect("R01", "GPU-cc", "2");
  expect("R01", "GPU-a", "");
  expect("R01", "GPU-cc,GPU-zz,GPU-aa", "2");
  expect("A285", "GPU-cc,GPU-ab", "2 1");
  expect("A285", "GPU-CC", "2");
  expect("A285", "GPU-cc,GPU-a,GPU-aa", "2");
  expect("A285", "GPU-cc,GPU-c", "");
  expect("A283", "GPU-ab, 2", "1");
  expect("A283", "2,GPU-ab", "2");
  expect("A283", "MIG-ab", "");
  expect("D7", "ab000000-0000-0000-0000-000000000002", "1");
  expect("D7", "ab000000-,cc000000-", "1 2");
  expect("D7", "GPU-ab000000-0000-0000-0000-000000000003", "");
  setenv("TENON_FAKE_DEVICES", "8", 1);
  setenv("TENON_FAKE_UUIDS", "10,11,20,21,30,31,40,41", 1);
  expect("A285", "GPU-11,GPU-41,GPU-31", "1 7 5");
  expect("A285", "GPU-11,GPU-4,GPU-31", "1");
  expect("A285", "GPU-11,GPU-41,GPU-11", "");
}

static void check_errors(void)
{
  setenv("TENON_FAKE_DEVICES", "2", 1);
  setenv("TENON_FAKE_VISIBLE_DEVICES", "1", 1);
  tap_is_int(tn_set_device(tn_device_of("fake:1")), TN_NO_SUCH_DEVICE,
             "R42 a masked device is not there");
  tap_has(tn_error_message(), "fake has 1 device (fake:0); "
          "TENON_FAKE_VISIBLE_DEVICES=1 hides 1", "D2 and the mask is named");
  tap_is_int(tn_set_device(tn_device_of("fake:0")), TN_OK,
             "R42 the only one is ordinal 0");
  setenv("TENON_FAKE_DEVICES", "513", 1);
  tap_is_int(tn_device_count("fake"), 0, "513 devices are too many");
  tap_has(tn_error_message(), "0 to 512 are possible", "and 512 are not");
  setenv("TENON_FAKE_DEVICES", "-1", 1);
  tap_ok(tn_device_count("fake") == 0 && tn_last_status() == TN_BAD_PLUGIN,
         "minus one device is nonsense");
  setenv("TENON_FAKE_DEVICES", "512", 1);
  unsetenv("TENON_FAKE_VISIBLE_DEVICES");
  tap_is_int(tn_device_count("fake"), 512, "512 are counted");
}

/* Counting freezes nothing; the first use of a device does. */
static void check_freezing(void)
{
  setenv("TENON_FAKE_DEVICES", "32", 1);
  tap_is_int(tn_device_count("fake"), 32, "A281 all are counted");
  setenv("TENON_FAKE_VISIBLE_DEVICES", "32", 1);
  tap_is_int(tn_device_count("fake"), 0, "A280 the mask counts until use");
  tap_ok(!tn_is_available("fake"), "A280 and nothing is available");
  setenv("TENON_FAKE_VISIBLE_DEVICES", "1,0", 1);
  tap_is_int(tn_device_count("fake"), 2, "A281 until then it may change");
  tap_ok(!tn_can_access_peer(tn_device_of("fake:0"), tn_device_of("fake:7")),
         "a device is opened");
  setenv("TENON_FAKE_VISIBLE_DEVICES", "5", 1);
  tap_is_int(tn_device_count("fake"), 2, "D8 from then on it stays");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_path_set(folder, "");
  check_ordinals();
  check_uuids();
  check_errors();
  check_freezing();
  return tap_done();
}
