/* Device strings: rules D1 to D4, A001 to A018, R02. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <regex.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "tenon/device.h"

static void accept(const char *text, const char *backend, int index)
{
  tn_device device = { 7, 7 };
  tn_status status = tn_device_parse(text, &device);
  tap_ok(status == TN_OK && device.index == index &&
             tn_device_equal(device, tn_device_of(text)),
         "D1 \"%s\" is a device with index %d", text, index);
  char again[TN_DEVICE_TEXT_SIZE], prefix[TN_DEVICE_TEXT_SIZE];
  int size = tn_device_format(device, again, sizeof again);
  tap_ok(size == (int)strlen(text) && strcmp(again, text) == 0,
         "A018 and is written \"%s\" again", text);
  tn_device_format((tn_device){ device.backend, -1 }, prefix, sizeof prefix);
  tap_is_text(prefix, backend, "of backend %s", backend);
}

static void refuse(const char *text, tn_status status, const char *part)
{
  tn_device device = { 7, 7 };
  tn_clear_error();
  tn_status got = tn_device_parse(text, &device);
  if (!tap_ok(got == status && tn_last_status() == status &&
                  device.backend == -1 && device.index == -1,
              "D1 \"%s\" is refused: %s", text, tn_status_name(status)))
    tap_note("got %s", tn_status_name(got));
  tap_has(tn_error_message(), part, "and says \"%s\"", part);
}

static void check_accepted(void)
{
  accept("cpu", "cpu", -1);     /* A001 */
  accept("cuda", "cuda", -1);
  accept("cpu:0", "cpu", 0);    /* A002 */
  accept("cuda:0", "cuda", 0);
  accept("cuda:1", "cuda", 1);
  accept("cpu:1", "cpu", 1);    /* A015 */
  accept("cuda:90", "cuda", 90); /* A012: not there, and parses */
  accept("cuda:100", "cuda", 100);
  accept("cuda:256", "cuda", 256);
  accept("cuda:511", "cuda", 511);
  accept("my_own", "my_own", -1);
  accept("_:3", "_", 3);
  accept("abcdefghijklmnopqrstuvwxyz_abcd:511",
         "abcdefghijklmnopqrstuvwxyz_abcd", 511);
}

static void check_format(void)
{
  static const char *const bad[] = {
    "cpu:00", "cpu:01", "cuda:01",                                /* A003 */
    "cuda:", "cpu:0:", ":", "::", ":0",                           /* A004 */
    "cpu:0:0", "cuda:1:2",                                        /* A005 */
    "cpu:x", "cpu:foo", "cuda:cuda", "cpu:-1", /* A006 */
    "cuda:-1", "cuda:+1",
    "cuda:2 ", "cuda: 2", "cuda:2 2", "cuda:2.", "cuda:2?",       /* A007 */
    "cuda:?2", "cuda:2.232", "cuda:2 cuda:3", "cuda:2+cuda:3",
    "cuda:2cuda:3", " cuda:0", "cuda ", "\tcpu", "cpu\n",         /* A008 */
    "cuda0", "cuda-x", "0", "1:cuda", "c\xc3\xbc:0", "cpu:0x1",   /* A010 */
    "auto:1", "auto:0"
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(bad[i], TN_INVALID_DEVICE_STRING, "NAME or NAME:ORDINAL");
  refuse("", TN_INVALID_DEVICE_STRING, "the device string is empty");
  refuse("cuda0", TN_INVALID_DEVICE_STRING, "a name has no digits");
  refuse("cuda:", TN_INVALID_DEVICE_STRING, "is missing");
  refuse("cuda:01", TN_INVALID_DEVICE_STRING, "a leading zero");
  refuse("cuda:-1", TN_INVALID_DEVICE_STRING, "digits only");
}

static void check_unknown(const char *folder)
{
  static const char *const bad[] = {
    "other", "other:0", "CUDA:0", "Cuda", "CPU", "cud", "cudaa", "cpus:0",
    "Wrong", "abcdefghijklmnopqrstuvwxyz_abcdefg:0"       /* A009, A011 */
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(bad[i], TN_UNKNOWN_BACKEND, "unknown backend");
  refuse("other:0", TN_UNKNOWN_BACKEND, "device \"other:0\": ");
  refuse("other", TN_UNKNOWN_BACKEND, "cuda");
  refuse("other", TN_UNKNOWN_BACKEND, folder);
  refuse("other:99999999999", TN_UNKNOWN_BACKEND, "unknown"); /* then range */
}

static void check_range(void)
{
  static const char *const bad[] = {
    "cuda:512", "cuda:1000", "cuda:65535", "cuda:65536", "cuda:65537",
    "cuda:2147483647", "cuda:2147483648", "cuda:4294967296",
    "cuda:99999999999", "cuda:18446744073709551616",
    "cuda:100000000000000000000000000000000"      /* A013, A014, R02 */
  };
  for (size_t i = 0; i < sizeof bad / sizeof bad[0]; i++)
    refuse(bad[i], TN_NO_SUCH_DEVICE, "ordinals go up to 511");
}

static void check_values(void)
{
  static const char *const texts[] = { "cpu",    "cpu:0",  "cuda",
                                       "cuda:0", "cuda:1", "cuda:10",
                                       "cuda:100" };
  int different = 1;
  for (int i = 0; i < 7; i++)
    for (int j = 0; j < i; j++)
      different &= !tn_device_equal(tn_device_of(texts[i]),
                                    tn_device_of(texts[j]));
  tap_ok(different, "A016 D3 seven devices are seven values");
  char text[TN_DEVICE_TEXT_SIZE];
  tap_is_int(tn_device_format((tn_device){ 0, 0 }, text, sizeof text), 4,
             "a device not given has a text");
  tap_is_text(text, "none", "it is none");
  tn_device_format((tn_device){ -1, -1 }, text, sizeof text);
  tap_is_text(text, "invalid", "the invalid device is \"invalid\"");
  tn_device_format((tn_device){ 63, 0 }, text, sizeof text);
  tap_is_text(text, "invalid", "so is one of no backend");
  tn_device cuda = tn_device_of("cuda:12");
  tap_is_int(tn_device_format(cuda, text, 4), 7, "a cut text has its length");
  tap_is_text(text, "cud", "and its end");
  tap_is_int(tn_device_format(cuda, NULL, 0), 7, "no text, its length");
  tap_is_int(tn_device_format(cuda, NULL, 40), 7, "NULL has no room");
}

static void check_errors_kept(void)
{
  tn_device device;
  tap_ok(tn_device_parse(NULL, &device) == TN_INVALID_DEVICE_STRING &&
             device.backend == -1, "NULL is no device string");
  tap_is_int(tn_device_parse("cpu", NULL), TN_INVALID_ARGUMENT,
             "NULL is no place for the result");
  tn_device_of("cuda:");
  tn_status status = tn_device_parse("cpu:3", &device);
  tap_ok(status == TN_OK && tn_last_status() == TN_INVALID_DEVICE_STRING,
         "a call that succeeds leaves the last error alone");
}

/* Random texts, judged by a regular expression that knows the grammar. */
static void check_random(void)
{
  static const char letters[] = "cpuda:::0012359_AZz -+x\t";
  enum { TEXTS = 50000, LENGTH_MAX = 9 };
  regex_t grammar;
  unsigned seed = (unsigned)time(NULL);
  int wrong = 0, accepted = 0;
  tap_note("seed %u", seed);
  srand(seed);
  regcomp(&grammar, "^[A-Za-z_]+(:(0|[1-9][0-9]*))?$",
          REG_EXTENDED | REG_NOSUB);
  for (int i = 0; i < TEXTS; i++) {
    char text[LENGTH_MAX + 1] = "";
    int length = rand() % LENGTH_MAX;
    /* Half of them begin as devices do. */
    if (rand() % 2) strcpy(text, rand() % 2 ? "cpu" : "_");
    for (int at = (int)strlen(text); at < length; at++)
      text[at] = letters[rand() % (int)(sizeof letters - 1)];
    tn_device device;
    bool is_format =
        tn_device_parse(text, &device) != TN_INVALID_DEVICE_STRING;
    bool is_right = is_format == !regexec(&grammar, text, 0, NULL, 0);
    if (!is_right) tap_note("\"%s\"", text);
    wrong += !is_right;
    accepted += is_format;
  }
  regfree(&grammar);
  tap_is_int(wrong, 0, "D1 %d random texts follow the grammar", TEXTS);
  tap_ok(accepted > 100 && accepted < TEXTS - 100, "D1 or do not: %d do",
         accepted);
}

int main(void)
{
  const char *folder = plugin_folder_make();
  /* D2: files are looked for by name only, so empty ones will do. */
  plugin_folder_add(folder, NULL, "cpu");
  plugin_folder_add(folder, NULL, "cuda");
  plugin_folder_add(folder, NULL, "my_own");
  plugin_folder_add(folder, NULL, "_");
  plugin_folder_add(folder, NULL, "abcdefghijklmnopqrstuvwxyz_abcd");
  plugin_folder_add(folder, NULL, "abcdefghijklmnopqrstuvwxyz_abcde");
  plugin_folder_add(folder, NULL, "Wrong");
  plugin_path_set(folder, "");
  refuse("abcdefghijklmnopqrstuvwxyz_abcde", TN_UNKNOWN_BACKEND, "unknown");
  check_accepted();
  check_format();
  check_unknown(folder);
  check_range();
  check_values();
  check_errors_kept();
  check_random();
  return tap_done();
}
