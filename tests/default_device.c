/* The default device and "auto": rule D5. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>

#include "tenon/device.h"

static const char *text_of(tn_device device)
{
  static char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(device, text, sizeof text);
  return text;
}

static void check_bad_environment(void)
{
  setenv("TENON_DEVICE", "cuda:01", 1);
  tap_is_int(tn_default_device().backend, -1, "a bad TENON_DEVICE: none");
  tap_is_int(tn_last_status(), TN_INVALID_DEVICE_STRING, "with its status");
  tap_has(tn_error_message(), "TENON_DEVICE=cuda:01: device \"cuda:01\": the "
          "ordinal has a leading zero", "and its text");
  setenv("TENON_DEVICE", "nobody", 1);
  tap_is_int(tn_default_device().backend, -1, "an unknown one: none");
  tap_is_int(tn_last_status(), TN_UNKNOWN_BACKEND, "with its status");
  setenv("TENON_DEVICE", "", 1);
  tap_is_int(tn_default_device().backend, -1, "D5 D4 no cpu, no fallback");
  tap_is_int(tn_last_status(), TN_UNKNOWN_BACKEND, "cpu is like any other");
}

static void check_auto(const char *folder)
{
  tap_is_int(tn_device_of("auto").backend, -1, "D5 auto without backends");
  tap_is_int(tn_last_status(), TN_DEVICE_UNAVAILABLE, "is unavailable");
  tap_has(tn_error_message(), folder, "and lists the places");
  plugin_folder_add(folder, PLUGIN_FAKE, "third");
  setenv("TENON_FAKE_RANK", "third:-1", 1);
  tap_is_int(tn_device_of("auto").backend, -1, "a rank below 0: never");
  tap_has(tn_error_message(), "only when it is named", "and it says so");
  plugin_folder_add(folder, PLUGIN_FAKE, "cpu");
  setenv("TENON_FAKE_RANK", "cpu:0", 1);
  tap_is_text(text_of(tn_device_of("auto")), "cpu", "D5 auto is cpu");
  plugin_folder_add(folder, PLUGIN_FAKE, "fast");
  setenv("TENON_FAKE_RANK", "fast:100", 1);
  tap_is_text(text_of(tn_device_of("auto")), "fast", "D5 or an accelerator");
  plugin_folder_add(folder, PLUGIN_FAKE, "slow");
  plugin_folder_add(folder, PLUGIN_BAD, "missing_entries");
  setenv("TENON_FAKE_RANK", "slow:50", 1);
  tn_clear_error();
  tap_is_text(text_of(tn_device_of("auto")), "fast", "D5 of highest rank");
  tap_is_int(tn_last_status(), TN_OK, "a bad plugin is no error then");
  setenv("TENON_FAKE_VISIBLE_DEVICES", "0", 1);
}

static void check_auto_facts(void)
{
  setenv("TENON_FAST_VISIBLE_DEVICES", "", 1);
  tap_is_text(text_of(tn_device_of("auto")), "slow",
              "D5 a backend without visible devices is none");
  unsetenv("TENON_FAST_VISIBLE_DEVICES");
  setenv("TENON_FAKE_UNAVAILABLE", "0", 1);
  tap_is_text(text_of(tn_device_of("auto")), "fast:1",
              "D5 the first usable device is named");
  unsetenv("TENON_FAKE_UNAVAILABLE");
  setenv("TENON_FAKE_HOST_CORES", "1", 1);
  tap_is_text(text_of(tn_device_of("auto")), "cpu",
              "D5 the host's cores by another name never precede cpu");
  unsetenv("TENON_FAKE_HOST_CORES");
}

static void check_setting(void)
{
  unsetenv("TENON_DEVICE");
  tap_is_text(text_of(tn_default_device()), "cpu", "D5 the default is cpu");
  setenv("TENON_DEVICE", "fast:1", 1);
  tap_is_text(text_of(tn_default_device()), "cpu", "once asked, it stays");
  tap_is_int(tn_set_default_device(tn_device_of("fast:1")), TN_OK,
             "it can be set");
  tap_is_text(text_of(tn_default_device()), "fast:1", "to a device");
  tap_is_int(tn_set_default_device(tn_device_of("fast")), TN_OK,
             "or to a backend's current one");
  tap_is_text(text_of(tn_default_device()), "fast", "as such");
  tap_is_int(tn_set_default_device(tn_device_of("fast:7")),
             TN_NO_SUCH_DEVICE, "not to one that is not there");
  tap_is_int(tn_set_default_device((tn_device){ 0, 0 }),
             TN_INVALID_ARGUMENT, "nor to none");
  tap_is_int(tn_set_default_device(tn_device_of("missing_entries")),
             TN_BAD_PLUGIN, "nor to a refused backend");
  tap_is_text(text_of(tn_default_device()), "fast", "and then it stays");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  plugin_path_set(folder, "");
  check_bad_environment();
  check_auto(folder);
  check_auto_facts();
  check_setting();
  return tap_done();
}
