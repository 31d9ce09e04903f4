/* The environment of privileged programs is ignored: X2, and the issue's
 * point 2. A copy of this program that runs as another user than its caller
 * must not look where the caller says. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/device.h"

enum { OTHER_USER = 65534 };

/* 10: the environment was used; 20: it was not; 30: not privileged. */
static int look(void)
{
  if (!getauxval(AT_SECURE)) return 30;
  return tn_device_of("fake").backend > 0 ? 10 : 20;
}

static int run(const char *path)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl(path, path, "look", (char *)NULL);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool copy_file(const char *from, const char *to)
{
  char bytes[4096];
  size_t size;
  FILE *in = fopen(from, "rb"), *out = fopen(to, "wb");
  bool ok = in && out;
  while (ok && (size = fread(bytes, 1, sizeof bytes, in)) > 0)
    ok = fwrite(bytes, 1, size, out) == size;
  if (in) fclose(in);
  if (out) ok = fclose(out) == 0 && ok;
  return ok;
}

/* A copy that runs as another user; the folder must be open to that one. */
static bool make_privileged(const char *folder, const char *copy)
{
  return copy_file("/proc/self/exe", copy) && chmod(folder, 0755) == 0 &&
         chown(copy, OTHER_USER, OTHER_USER) == 0 &&
         chmod(copy, 04755) == 0;
}

int main(int argc, char **argv)
{
  (void)argv;
  /* Not by return: LeakSanitizer would look into the process at exit, and
   * that is forbidden for privileged ones. */
  if (argc > 1) _exit(look());
  const char *folder = plugin_folder_make();
  char copy[PATH_MAX];
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_path_set(folder, "");
  snprintf(copy, sizeof copy, "%s/privileged", folder);
  tap_ok(tn_device_of("fake").backend > 0, "the environment names a folder");
  int result = 30;
  if (geteuid() == 0 && make_privileged(folder, copy)) result = run(copy);
  if (result == 30 || result == 127)
    tap_skip("a program of another user can be made by root only, and must "
             "reach the build tree");
  else
    tap_is_int(result, 20, "a privileged program does not look there");
  return tap_done();
}
