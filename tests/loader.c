/* Finding and loading plugins: rules D4, X2, R04, R05, R07. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/device.h"

static const char *folder;

/* The plugin is found, and its first use is refused for that reason; twice,
 * in the same words. */
static void refuse(const char *name, tn_status status, const char *reason)
{
  tn_device device;
  char first[1024], path[64];
  tap_is_int(tn_device_parse(name, &device), TN_OK, "D2 \"%s\" parses", name);
  tn_clear_error();
  tn_device_info info;
  tap_is_int(tn_device_get_info(device, &info), status,
             "X2 R66 %s is refused: %s", name, tn_status_name(status));
  tap_has(tn_error_message(), reason, "X2 and says \"%s\"", reason);
  snprintf(path, sizeof path, "/tenon-%s.so: ", name);
  tap_has(tn_error_message(), path, "X2 and names the file");
  snprintf(first, sizeof first, "%s", tn_error_message());
  tap_is_int(tn_set_device(device), status, "X2 again at another use");
  tap_is_text(tn_error_message(), first, "in the same words");
}

static void use(const char *name, int count)
{
  tap_is_int(tn_device_count(name), count, "%s is used: %d devices", name,
             count);
}

typedef struct way {
  const char *name; /* of a copy of tests/plugins/bad.c */
  tn_status status;
  const char *reason;
} way;

static const way ways[] = {
  { "other_major", TN_ABI_MISMATCH, "speaks plugin interface 7." },
  { "newer_minor", TN_ABI_MISMATCH, "and this library 0." },
  { "no_name", TN_BAD_PLUGIN, "gives no name" },
  { "illegal_name", TN_BAD_PLUGIN, "calls itself \"Bad-Name9\": a name is "
    "lower-case letters and underscores, at most 31" },
  { "other_name", TN_BAD_PLUGIN, "calls itself \"somebody_else\", and its "
    "file name says \"other_name\"" },
  { "zero_size", TN_BAD_PLUGIN, "impossible struct_size 0" },
  { "huge_size", TN_BAD_PLUGIN, "impossible struct_size 1844674407370955160" },
  { "odd_size", TN_BAD_PLUGIN, "its device table has the impossible "
    "struct_size 13" },
  { "huge_table", TN_BAD_PLUGIN, "its copy table has the impossible "
    "struct_size 1099511627776" },
  { "no_tables", TN_BAD_PLUGIN, "ends before its mandatory tables" },
  { "missing_entries", TN_BAD_PLUGIN, "mandatory entries are missing: "
    "device.open, alloc.free, copy.peer_disable" },
  { "missing_table", TN_BAD_PLUGIN, "missing: copy (all of it)" },
  { "half_group", TN_BAD_PLUGIN, "missing: copy.peer_disable" },
  { "misaligned", TN_BAD_PLUGIN, "not aligned" },
  { "init_silent", TN_BAD_PLUGIN, "gave no tables and no reason" },
  { "init_fails", TN_DEVICE_LOST, "the device is on fire" },
  { "vendor_missing", TN_DEVICE_UNAVAILABLE, "libtn_no_such_vendor.so.1 is "
    "not installed" },
};
enum { WAY_COUNT = sizeof ways / sizeof ways[0] };

static void check_bad(void)
{
  for (int i = 0; i < WAY_COUNT; i++)
    plugin_folder_add(folder, PLUGIN_BAD, ways[i].name);
  for (int i = 0; i < WAY_COUNT; i++)
    refuse(ways[i].name, ways[i].status, ways[i].reason);
}

static void check_files(void)
{
  char path[PATH_MAX];
  plugin_folder_add(folder, NULL, "nothing");
  refuse("nothing", TN_BAD_PLUGIN, "is not a shared library");
  plugin_folder_add(folder, "tests/plugins/tenon-fake.la", "text");
  refuse("text", TN_BAD_PLUGIN, "is not a shared library");
  plugin_folder_add(folder, PLUGIN_EMPTY, "empty");
  refuse("empty", TN_BAD_PLUGIN, "exports no tn_backend_entry"); /* R07 */
  plugin_folder_add(folder, PLUGIN_NEEDS, "needs");
  refuse("needs", TN_DEVICE_UNAVAILABLE,
         "needs the library libvendor.so, which is not installed"); /* R05 */
  snprintf(path, sizeof path, "%s/tenon-folder.so", folder);
  mkdir(path, 0700);
  refuse("folder", TN_BAD_PLUGIN, "is not a regular file");
  plugin_folder_add(folder, PLUGIN_FAKE, "cut");
  snprintf(path, sizeof path, "%s/tenon-cut.so", folder);
  if (truncate(path, 600) != 0) tap_note("cannot cut %s", path);
  refuse("cut", TN_BAD_PLUGIN, "is cut short: it has 600 bytes of at least ");
}

static void check_good(void)
{
  plugin_folder_add(folder, PLUGIN_BAD, "good");
  plugin_folder_add(folder, PLUGIN_BAD, "older_minor");
  plugin_folder_add(folder, PLUGIN_BAD, "short_api");
  plugin_folder_add(folder, PLUGIN_BAD, "short_table");
  use("good", 1);
  use("older_minor", 1);
  use("short_api", 1);
  use("short_table", 1);
  bool reached = tn_can_access_peer(tn_device_of("short_table:0"),
                                    tn_device_of("short_table:0"));
  tap_ok(reached, "R07 a table's missing tail is absent, not junk");
  plugin_folder_add(folder, PLUGIN_BAD, "too_many");
  tap_is_int(tn_device_count("too_many"), 0, "too many devices are none");
  tap_has(tn_error_message(), "counts 513 devices: 0 to 512 are possible",
          "with the reason");
  plugin_folder_add(folder, PLUGIN_BAD, "odd_alignment");
  tn_device odd = tn_device_of("odd_alignment:0");
  tap_ok(!tn_can_access_peer(odd, odd), "odd alignments cannot be used");
  tap_has(tn_error_message(), "aligns memory to 384: a power of two",
          "with the reason");
  plugin_folder_add(folder, PLUGIN_BAD, "open_fails");
  tn_device failing = tn_device_of("open_fails:0");
  for (int i = 0; i < 2; i++) {
    tn_can_access_peer(failing, failing);
    tap_is_text(tn_error_message(),
                "open_fails:0: opening: memory is exhausted",
                "a failing open is an error with the status's meaning");
  }
}

static void check_reentry(void)
{
  plugin_folder_add(folder, PLUGIN_GUEST, "guest");
  refuse("guest", TN_DEVICE_UNAVAILABLE, "it was told: backend \"guest\" is "
         "being loaded or opened by this thread");
}

/* A folder in which `name` must not be loaded, for a reason of the file
 * system. */
static const char *make_suspect(const char *name)
{
  const char *suspect = plugin_folder_make();
  plugin_folder_add(suspect, PLUGIN_FAKE, name);
  plugin_path_set(suspect, folder);
  return suspect;
}

static void check_trust(void)
{
  const char *suspect = make_suspect("open_folder");
  chmod(suspect, 0777);
  refuse("open_folder", TN_BAD_PLUGIN, "is writable by everybody");
  suspect = make_suspect("sticky_folder");
  chmod(suspect, 01777);
  refuse("sticky_folder", TN_BAD_PLUGIN, "is writable by everybody");
  suspect = make_suspect("open_file");
  char path[PATH_MAX], target[PATH_MAX];
  snprintf(path, sizeof path, "%s/tenon-open_file.so", suspect);
  chmod(path, 0646);
  refuse("open_file", TN_BAD_PLUGIN, "open_file.so is writable by everybody");
  /* A safe link leads to a target that others can replace. */
  chmod(path, 0644);
  chmod(suspect, 0777);
  snprintf(target, sizeof target, "%s", path);
  snprintf(path, sizeof path, "%s/tenon-linked.so", folder);
  if (symlink(target, path) != 0) tap_note("cannot link %s", path);
  refuse("linked", TN_BAD_PLUGIN, "is writable by everybody");
  if (geteuid() != 0) {
    tap_skip("foreign owners need root");
    return;
  }
  suspect = make_suspect("foreign");
  if (chown(suspect, 12345, 0) != 0) tap_note("cannot chown %s", suspect);
  refuse("foreign", TN_BAD_PLUGIN, "belongs to user 12345");
}

/* R04: the same folder by two names, and the same file by two. */
static void check_identity(void)
{
  char link[PATH_MAX], log[PATH_MAX], line[128];
  const char *first = plugin_folder_make();
  plugin_folder_add(first, PLUGIN_FAKE, "once");
  snprintf(link, sizeof link, "%s/again", folder);
  snprintf(log, sizeof log, "%s/log", folder);
  if (symlink(first, link) != 0) tap_note("cannot link %s", link);
  setenv("TENON_FAKE_LOG", log, 1);
  plugin_path_set(link, first);
  use("once", 2);
  plugin_path_set(first, link);
  use("once", 2);
  FILE *calls = fopen(log, "r");
  int lines = 0;
  while (calls && fgets(line, sizeof line, calls)) lines++;
  if (calls) fclose(calls);
  tap_is_int(lines, 1, "R04 a plugin reached twice is entered once");
  unsetenv("TENON_FAKE_LOG");
}

/* A file named in the path, and a relative folder. */
static void check_entries(void)
{
  char path[2 * PATH_MAX];
  const char *other = plugin_folder_make();
  snprintf(path, sizeof path, "%s",
           plugin_folder_add(other, PLUGIN_FAKE, "by_file"));
  plugin_folder_add(other, PLUGIN_FAKE, "beside_file");
  plugin_path_set(path, folder);
  use("by_file", 2);
  tap_is_int(tn_device_of("beside_file").backend, -1,
             "a named file brings only itself");
  char before[PATH_MAX];
  if (!getcwd(before, sizeof before) || chdir(other) != 0)
    tap_note("cannot go to %s", other);
  plugin_path_set(".", "");
  tap_ok(tn_device_of("beside_file").backend > 0, "a relative folder");
  if (chdir(before) != 0) tap_note("cannot go back to %s", before);
  plugin_path_set("", "");
  use("beside_file", 2);
}

static void check_unknown(void)
{
  plugin_path_set("/nonexistent/first", folder);
  tap_is_int(tn_device_count("stranger"), 0, "an unknown backend has none");
  tap_is_int(tn_last_status(), TN_UNKNOWN_BACKEND, "D4 it is unknown");
  tap_has(tn_error_message(), "unknown backend \"stranger\": installed are ",
          "D4 those installed are listed");
  tap_has(tn_error_message(), "/nonexistent/first, ",
          "D4 and every place, there or not");
  tap_has(tn_error_message(), "/tenon/backends", "D4 the library's own too");
  tap_ok(!tn_is_available("stranger"), "it is not available");
  tn_clear_error();
  tap_ok(!tn_is_available("zero_size") && !tn_is_available(NULL) &&
             tn_last_status() == TN_OK,
         "asking whether a bad one is available sets no error");
}

int main(void)
{
  folder = plugin_folder_make();
  plugin_path_set(folder, "");
  check_bad();
  check_files();
  check_good();
  check_reentry();
  check_trust();
  check_identity();
  check_entries();
  check_unknown();
  return tap_done();
}
