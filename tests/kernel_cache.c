/* The cache of compiled kernels: entries that are whole or not there, folders
 * that are trusted or not, many processes at once. */
#include "config.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <dirent.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "core/launch/cache.h"
#include "tenon/kernel.h"
#include "tests/tap.h"

static char base[PATH_MAX]; /* of this test */

static const char key[] = "a key";
static const char payload[] = "the payload of an entry, of some bytes";

/* A new folder for the cache, which is not there yet. */
static const char *fresh(void)
{
  static char folder[PATH_MAX + 20];
  static int count;
  snprintf(folder, sizeof folder, "%s/cache%d", base, count++);
  return folder;
}

static tn_status find(const char *text, char *path, uint64_t *size)
{
  return tn_cache_find("test", text, strlen(text), path, PATH_MAX, size);
}

static tn_status store(const char *text, char *path)
{
  return tn_cache_store("test", text, strlen(text), payload, sizeof payload,
                        path, PATH_MAX);
}

static bool has_payload(const char *path)
{
  char got[sizeof payload] = { 0 };
  FILE *file = fopen(path, "r");
  bool is_right = file && fread(got, sizeof got, 1, file) == 1 &&
                  memcmp(got, payload, sizeof got) == 0;
  if (file) fclose(file);
  return is_right;
}

/* Each part has a process, since the folder is chosen once. */
static int in_child(void (*part)(void), const char *folder)
{
  int ends[2], status = -1;
  char line[2048];
  fflush(stdout);
  if (pipe(ends) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    tap_forget();
    dup2(ends[1], STDOUT_FILENO);
    close(ends[0]);
    close(ends[1]);
    if (folder) setenv("TENON_CACHE_DIR", folder, 1);
    part();
    exit(tap_done());
  }
  close(ends[1]);
  FILE *lines = fdopen(ends[0], "r");
  while (lines && fgets(line, sizeof line, lines)) {
    line[strcspn(line, "\n")] = 0;
    const char *text = strstr(line, " - ");
    if (strncmp(line, "1..", 3) == 0) continue;
    if (!text) tap_note("%s", line[0] == '#' ? line + 2 : line);
    else tap_ok(strncmp(line, "ok", 2) == 0, "%s", text + 3);
  }
  if (lines) fclose(lines);
  if (waitpid(child, &status, 0) != child) status = -1;
  return status;
}

static void run(void (*part)(void), const char *folder)
{
  int status = in_child(part, folder);
  if (!WIFEXITED(status) || WEXITSTATUS(status) > 1)
    tap_ok(false, "the part ends by itself: status %d", status);
}

static void test_entries(void)
{
  char path[PATH_MAX], again[PATH_MAX], other[PATH_MAX], folder[PATH_MAX];
  uint64_t size = 0;
  struct stat facts;
  tap_is_int(find(key, path, &size), TN_NOT_READY, "a cold cache has nothing");
  tap_is_int(store(key, path), TN_OK, "an entry is stored");
  tap_ok(has_payload(path), "and is a file that begins with the payload");
  tap_is_int(find(key, again, &size), TN_OK, "it is found");
  tap_is_text(again, path, "at its place");
  tap_is_int((long)size, sizeof payload, "with its size");
  tap_has(path, ".test", "its name ends with the kind");
  tap_is_int(tn_kernel_cache_folder(folder, sizeof folder), TN_OK,
             "the folder can be asked");
  tap_has(path, folder, "and has it");
  tap_ok(stat(folder, &facts) == 0 && (facts.st_mode & 0777) == 0700,
         "it was made for this user alone");
  tap_ok(stat(path, &facts) == 0 && (facts.st_mode & 0777) == 0600,
         "as the entry was");
  tap_is_int(tn_kernel_cache_folder(folder, 3), TN_INVALID_ARGUMENT,
             "a path that does not fit is refused");
  tap_is_int(find("another key", path, &size), TN_NOT_READY,
             "another key has nothing");
  tap_is_int(store("another key", other), TN_OK, "it is stored");
  tap_ok(strcmp(other, again) != 0, "elsewhere");
  tap_is_int(tn_cache_find("toast", key, strlen(key), path, sizeof path,
                           &size), TN_NOT_READY, "nor has another kind");
  tap_is_int(tn_cache_store("../x", key, 1, "", 0, path, sizeof path),
             TN_INVALID_ARGUMENT, "a kind is no path");
  tap_is_int(tn_cache_store("test", "", 0, "", 0, path, sizeof path), TN_OK,
             "an empty entry");
  tap_is_int(tn_cache_find("test", "", 0, path, sizeof path, &size), TN_OK,
             "is found");
  tap_is_int((long)size, 0, "with nothing in it");
  tap_is_int(tn_cache_find("test", key, strlen(key), path, 5, &size),
             TN_INVALID_ARGUMENT, "a path without room is refused");
}

/* Larger than what is read at once, with every byte of weight. */
static void test_large(void)
{
  enum { SIZE = 300001 };
  static char bytes[SIZE], long_key[SIZE];
  char path[PATH_MAX];
  uint64_t size;
  for (int i = 0; i < SIZE; i++) {
    bytes[i] = (char)(i * 7 + i / 256);
    long_key[i] = (char)(i * 3);
  }
  tap_is_int(tn_cache_store("test", long_key, SIZE, bytes, SIZE, path,
                            sizeof path), TN_OK, "a large entry");
  tap_is_int(tn_cache_find("test", long_key, SIZE, path, sizeof path, &size),
             TN_OK, "is found");
  tap_is_int((long)size, SIZE, "with its size");
  long_key[SIZE - 1] ^= 1;
  tap_is_int(tn_cache_find("test", long_key, SIZE, path, sizeof path, &size),
             TN_NOT_READY, "not by a key that differs in its last bit");
}

static char entry[PATH_MAX];

static void overwrite(long offset, int whence, int change)
{
  FILE *file = fopen(entry, "r+");
  if (!file) abort();
  fseek(file, offset, whence);
  int byte = fgetc(file);
  fseek(file, offset, whence);
  fputc(byte ^ change, file);
  fclose(file);
}

static void damage_payload(void) { overwrite(5, SEEK_SET, 1); }
static void damage_key(void) { overwrite(sizeof payload + 1, SEEK_SET, 1); }
static void damage_footer(void) { overwrite(-1, SEEK_END, 1); }
static void damage_size(void) { overwrite(-32, SEEK_END, 1); }

static void cut(void)
{
  if (truncate(entry, 60) != 0) abort();
}

static void empty(void)
{
  if (truncate(entry, 0) != 0) abort();
}

static void grow(void)
{
  FILE *file = fopen(entry, "a");
  fputs("more", file);
  fclose(file);
}

static void open_to_all(void) { chmod(entry, 0666); }
static void open_to_group(void) { chmod(entry, 0660); }

static void make_pipe(void)
{
  unlink(entry);
  if (mkfifo(entry, 0600) != 0) abort();
}

static void make_link(void)
{
  char target[PATH_MAX + 10];
  snprintf(target, sizeof target, "%s.real", entry);
  if (rename(entry, target) != 0 || symlink(target, entry) != 0) abort();
}

static void make_loop(void)
{
  unlink(entry);
  if (symlink(entry, entry) != 0) abort();
}

static void make_unreadable(void) { chmod(entry, 0); }

static void give_away(void)
{
  if (chown(entry, 12345, 12345) != 0) abort();
}

/* Counts as absent, and is replaced by the next store. */
static void hostile(void (*damage)(void), const char *what)
{
  uint64_t size;
  char path[PATH_MAX];
  if (store(key, entry) != TN_OK || find(key, path, &size) != TN_OK) {
    tap_ok(false, "before: %s", tn_error_message());
    return;
  }
  damage();
  tap_is_int(find(key, path, &size), TN_NOT_READY, "%s counts as none", what);
  tap_ok(store(key, path) == TN_OK && strcmp(path, entry) == 0 &&
             has_payload(path) && find(key, path, &size) == TN_OK,
         "and is replaced");
}

static void test_hostile_entries(void)
{
  hostile(damage_payload, "an entry with a wrong payload");
  hostile(damage_key, "with a wrong key");
  hostile(damage_footer, "with a wrong end");
  hostile(damage_size, "with a wrong size");
  hostile(cut, "one that was cut off");
  hostile(empty, "an empty file");
  hostile(grow, "one that has grown");
  hostile(open_to_all, "one that everybody can write");
  hostile(open_to_group, "or a group");
  hostile(make_pipe, "a pipe, which nobody waits for,");
  hostile(make_link, "a link to one");
  hostile(make_loop, "a link to itself");
  if (geteuid() == 0) {
    hostile(give_away, "one of another user");
  } else {
    hostile(make_unreadable, "one that cannot be read");
  }
  unlink(entry);
  if (mkdir(entry, 0700) != 0) abort();
  char path[PATH_MAX];
  uint64_t size;
  tap_is_int(find(key, path, &size), TN_NOT_READY, "a folder counts as none");
  tap_is_int(store(key, path), TN_OK, "what cannot be replaced");
  tap_ok(strcmp(path, entry) != 0 && has_payload(path),
         "is stored in a private folder");
  tap_is_int(find(key, path, &size), TN_OK, "and found there");
}

/* Folders ---------------------------------------------------------------- */

static const char *why; /* what the refusal says */
static char private_path[PATH_MAX + 20];

/* Stores all the same, somewhere safe, and finds it there. */
static void use_untrusted(void)
{
  char path[PATH_MAX], folder[PATH_MAX];
  uint64_t size;
  struct stat facts;
  tap_ok(tn_kernel_cache_folder(folder, sizeof folder) != TN_OK,
         "the folder is refused");
  tap_has(tn_error_message(), why, "for the reason");
  tap_is_int(store(key, path), TN_OK, "an entry is stored all the same");
  tap_ok(!strstr(path, base) && has_payload(path), "elsewhere");
  tap_is_int(find(key, path, &size), TN_OK, "and found");
  char *slash = strrchr(path, '/');
  *slash = 0;
  tap_ok(stat(path, &facts) == 0 && (facts.st_mode & 0777) == 0700,
         "in a folder of this process");
  FILE *note = fopen(private_path, "w");
  fputs(path, note);
  fclose(note);
}

static void untrusted(const char *folder, const char *reason)
{
  char gone[PATH_MAX] = "";
  struct stat facts;
  why = reason;
  run(use_untrusted, folder);
  FILE *note = fopen(private_path, "r");
  if (note && !fgets(gone, sizeof gone, note)) gone[0] = 0;
  if (note) fclose(note);
  unlink(private_path);
  tap_ok(gone[0] && stat(gone, &facts) != 0,
         "which goes away with the process");
}

static const char *make_folder(mode_t mode)
{
  const char *folder = fresh();
  if (mkdir(folder, 0700) != 0 || chmod(folder, mode) != 0) abort();
  return folder;
}

static void test_folders(void)
{
  char link[PATH_MAX + 40], below[PATH_MAX + 40];
  snprintf(private_path, sizeof private_path, "%s/private", base);
  untrusted(make_folder(0777), "others can write it");
  untrusted(make_folder(0770), "others can write it");
  untrusted(make_folder(01777), "others can write it");
  const char *folder = make_folder(0700);
  snprintf(link, sizeof link, "%s.link", folder);
  if (symlink(folder, link) != 0) abort();
  untrusted(link, "symbolic link");
  strcat(link, "/");
  untrusted(link, "symbolic link");
  snprintf(below, sizeof below, "%s/below", make_folder(0777));
  untrusted(below, "everybody can write a folder above it");
  folder = fresh();
  FILE *file = fopen(folder, "w");
  fclose(file);
  untrusted(folder, "no folder");
  untrusted("/proc/none/cache", "No such file or directory");
  if (geteuid() == 0) {
    folder = make_folder(0700);
    if (chown(folder, 12345, 12345) != 0) abort();
    untrusted(folder, "belongs to another user");
    snprintf(below, sizeof below, "%s/below", folder);
    if (mkdir(below, 0700) != 0) abort();
    untrusted(below, "a folder above it belongs to another user");
  } else {
    untrusted(make_folder(0500), "Permission denied");
  }
}

/* Where it is by default ------------------------------------------------- */

static const char *wanted;

static void look_default(void)
{
  char folder[PATH_MAX];
  tap_is_int(tn_kernel_cache_folder(folder, sizeof folder), TN_OK,
             "a folder by default");
  tap_is_text(folder, wanted, "is there");
}

static void test_defaults(void)
{
  char home[PATH_MAX + 40], cache[PATH_MAX + 80];
  unsetenv("TENON_CACHE_DIR");
  unsetenv("XDG_CACHE_HOME");
  snprintf(home, sizeof home, "%s/home", base);
  setenv("HOME", home, 1);
  snprintf(cache, sizeof cache, "%s/.cache/tenon", home);
  wanted = cache;
  run(look_default, NULL);
  snprintf(cache, sizeof cache, "%s/xdg", base);
  setenv("XDG_CACHE_HOME", cache, 1);
  strcat(cache, "/tenon");
  run(look_default, NULL);
  unsetenv("XDG_CACHE_HOME");
  unsetenv("HOME");
  why = "set TENON_CACHE_DIR";
  untrusted(NULL, why);
}

/* Many processes ---------------------------------------------------------- */

enum { PROCESSES = 8, KEYS = 20, ROUNDS = 3 };

static bool use_once(int number)
{
  char text[32], path[PATH_MAX];
  uint64_t size;
  snprintf(text, sizeof text, "key %d", number);
  tn_status status = find(text, path, &size);
  if (status == TN_NOT_READY) status = store(text, path);
  return status == TN_OK && has_payload(path);
}

static int use_all(int first)
{
  bool is_right = true;
  for (int round = 0; round < ROUNDS; round++)
    for (int i = 0; i < KEYS; i++) is_right &= use_once((first + i) % KEYS);
  return is_right ? 0 : 1;
}

static void count_files(const char *folder, int *entries, int *others)
{
  DIR *all = opendir(folder);
  struct dirent *one;
  *entries = *others = 0;
  while (all && (one = readdir(all))) {
    if (strstr(one->d_name, ".test")) ++*entries;
    else if (one->d_name[0] != '.') ++*others;
  }
  if (all) closedir(all);
}

static void test_race(void)
{
  pid_t children[PROCESSES];
  const char *folder = fresh();
  int entries, others, good = 0;
  setenv("TENON_CACHE_DIR", folder, 1);
  fflush(stdout);
  for (int i = 0; i < PROCESSES; i++) {
    children[i] = fork();
    if (children[i] == 0) _exit(use_all(i * KEYS / PROCESSES));
  }
  for (int i = 0; i < PROCESSES; i++) {
    int status = -1;
    waitpid(children[i], &status, 0);
    good += status == 0;
  }
  tap_is_int(good, PROCESSES, "%d processes race on a cold cache", PROCESSES);
  count_files(folder, &entries, &others);
  tap_is_int(entries, KEYS, "each key has one entry");
  tap_is_int(others, 0, "and nothing is left lying about");
}

int main(void)
{
  const char *build = getenv("top_builddir");
  char made[PATH_MAX], command[PATH_MAX + 20];
  snprintf(made, sizeof made, "%s/tests/cache-test.XXXXXX",
           build ? build : ".");
  if (!mkdtemp(made) || !realpath(made, base)) {
    tap_ok(false, "%s: %s", made, strerror(errno));
    return tap_done();
  }
  umask(022);
  run(test_entries, fresh());
  run(test_large, fresh());
  run(test_hostile_entries, fresh());
  test_folders();
  test_race();
  test_defaults();
  snprintf(command, sizeof command, "rm -rf '%s'", base);
  if (system(command) != 0) tap_note("%s is left", base);
  return tap_done();
}
