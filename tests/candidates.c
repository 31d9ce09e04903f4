/* What tn_backend_visit, _list and _probe say about plugins: X2, D4. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tenon/device.h"

typedef struct seen_row {
  char path[PATH_MAX], name[64], reason[512], remedy[512];
  bool is_shadowed;
} seen_row;

static seen_row rows[64];
static int row_count;

static void keep(const tn_backend_candidate *candidate, void *argument)
{
  int *calls = argument;
  ++*calls;
  if (row_count == 64) return;
  seen_row *row = &rows[row_count++];
  bool is_file = candidate->path != NULL;
  snprintf(row->path, sizeof row->path, "%s",
           is_file ? candidate->path : candidate->folder);
  snprintf(row->name, sizeof row->name, "%s",
           is_file && candidate->name ? candidate->name : "");
  snprintf(row->reason, sizeof row->reason, "%s", candidate->reason);
  snprintf(row->remedy, sizeof row->remedy, "%s", candidate->remedy);
  row->is_shadowed = candidate->is_shadowed;
}

static void survey(void)
{
  int calls = row_count = 0;
  tap_is_int(tn_backend_visit(keep, &calls), TN_OK, "a visit");
  tap_is_int(calls, row_count, "of %d rows", row_count);
}

static const seen_row *find(const char *folder, const char *file)
{
  static const seen_row none = { "", "", "there is no such row", "", false };
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s%s%s", folder, *file ? "/" : "", file);
  for (int i = 0; i < row_count; i++)
    if (strcmp(rows[i].path, path) == 0) return &rows[i];
  return &none;
}

static void check_places(const char *first, const char *second)
{
  tap_is_text(find(first, "")->reason, "", "a folder is looked into");
  tap_has(find("/nonexistent", "")->reason, "No such file",
          "a missing folder says so");
  tap_is_text(find(second, "")->reason, "", "another folder");
  int at_first = (int)(find(first, "") - rows);
  int at_second = (int)(find(second, "") - rows);
  tap_ok(at_first < at_second, "in order of search");
}

static void check_rows(const char *first, const char *second)
{
  const seen_row *row = find(first, "tenon-alpha.so");
  tap_ok(!*row->reason && !*row->remedy && !row->is_shadowed,
         "X2 a plugin that would be used has no reason against it");
  tap_is_text(row->name, "alpha", "and its name");
  row = find(second, "tenon-alpha.so");
  tap_has(row->reason, "was found before", "X2 the second of a name is not");
  tap_ok(row->is_shadowed, "it is shadowed, not bad");
  tap_has(row->remedy, "TENON_BACKEND_PATH", "and what to do");
  row = find(second, "tenon-beta.so");
  tap_has(row->reason, "is the same file as", "R04 nor the same file again");
  row = find(first, "tenon-Gamma9.so");
  tap_has(row->reason, "\"Gamma9\" cannot name a backend", "an illegal name");
  row = find(first, "tenon-auto.so");
  tap_has(row->reason, "cannot name a backend", "a reserved name");
  row = find(first, "tenon-open.so");
  tap_has(row->reason, "writable by everybody", "X2 others can write it");
  tap_has(row->remedy, "chmod o-w ", "X2 and the remedy");
  row = find(first, "tenon-dangling.so");
  tap_has(row->reason, "missing", "a link to nothing");
  tap_is_text(find(first, "notes.txt")->reason, "there is no such row",
              "other files are none of ours");
}

static void make_links(const char *first, const char *second)
{
  char from[PATH_MAX], to[PATH_MAX];
  snprintf(from, sizeof from, "%s/tenon-beta.so", first);
  snprintf(to, sizeof to, "%s/tenon-beta.so", second);
  if (link(from, to) != 0) tap_note("cannot link %s", to);
  snprintf(to, sizeof to, "%s/tenon-dangling.so", first);
  if (symlink("nowhere", to) != 0) tap_note("cannot link %s", to);
}

/* After a use that was refused, its reason stays on show. */
static void check_after_use(const char *first)
{
  char log[PATH_MAX];
  snprintf(log, sizeof log, "%s/log", first);
  tap_ok(access(log, F_OK) != 0, "D2 nothing was loaded by looking");
  tap_is_int(tn_device_count("other_major"), 0, "a bad plugin is refused");
  survey();
  const seen_row *row = find(first, "tenon-other_major.so");
  tap_has(row->reason, "speaks plugin interface 7",
          "X2 and the visit knows why");
  tap_has(row->remedy, "build it anew", "X2 and what to do");
}

static void check_list(void)
{
  const char *names[64], *again[64];
  int count = tn_backend_list(names, 64), found = 0;
  for (int i = 0; i < count && i < 64; i++)
    found += !strcmp(names[i], "alpha") || !strcmp(names[i], "beta") ||
             !strcmp(names[i], "open") || !strcmp(names[i], "other_major");
  tap_is_int(found, 4, "all backends found are listed");
  tap_is_int(tn_backend_list(NULL, 0), count, "their number alone");
  tn_backend_list(again, 1);
  tap_ok(again[0] == names[0], "the names stay where they are");
}

static void check_probe(const char *first)
{
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/tenon-newer_minor.so", first);
  tap_is_int(tn_backend_probe(path), TN_ABI_MISMATCH, "a probe refuses");
  tap_has(tn_error_message(), path, "naming the file");
  snprintf(path, sizeof path, "%s/tenon-probed.so", first);
  tap_is_int(tn_backend_probe(path), TN_OK, "a probe accepts");
  snprintf(path, sizeof path, "%s/tenon-nobody.so", first);
  tap_is_int(tn_backend_probe(path), TN_BAD_PLUGIN, "no file");
  tap_has(tn_error_message(), "No such file", "and says so");
  snprintf(path, sizeof path, "%s/notes.txt", first);
  tap_is_int(tn_backend_probe(path), TN_BAD_PLUGIN, "no plugin's name");
  tap_is_int(tn_backend_probe("tenon-x.so"), TN_INVALID_ARGUMENT,
             "no folder");
  tap_is_int(tn_backend_probe(NULL), TN_INVALID_ARGUMENT, "no path");
  tap_is_int(tn_backend_visit(NULL, NULL), TN_INVALID_ARGUMENT,
             "no visitor");
}

int main(void)
{
  const char *first = plugin_folder_make(), *second = plugin_folder_make();
  char path[3 * PATH_MAX], log[PATH_MAX];
  plugin_folder_add(first, PLUGIN_FAKE, "alpha");
  plugin_folder_add(first, PLUGIN_FAKE, "beta");
  plugin_folder_add(first, PLUGIN_FAKE, "Gamma9");
  plugin_folder_add(first, PLUGIN_FAKE, "auto");
  plugin_folder_add(first, PLUGIN_BAD, "other_major");
  plugin_folder_add(first, PLUGIN_BAD, "newer_minor");
  chmod(plugin_folder_add(first, PLUGIN_FAKE, "open"), 0666);
  plugin_folder_add(second, PLUGIN_FAKE, "alpha");
  make_links(first, second);
  snprintf(path, sizeof path, "%s:/nonexistent:%s", first, second);
  setenv("TENON_BACKEND_PATH", path, 1);
  snprintf(log, sizeof log, "%s/log", first);
  setenv("TENON_FAKE_LOG", log, 1);
  survey();
  check_places(first, second);
  check_rows(first, second);
  check_after_use(first);
  check_list();
  plugin_folder_add(first, PLUGIN_FAKE, "probed");
  check_probe(first);
  return tap_done();
}
