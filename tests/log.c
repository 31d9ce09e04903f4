/* The log on standard error, as TENON_LOG says. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/device.h"

static char said[8192];

/* In a child, since the level is read once: "auto" says at level info which
 * backends it passes over, and the fake what it is told to, at level debug. */
static void talk(const char *level, const char *path)
{
  int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
  if (fd < 0 || dup2(fd, STDERR_FILENO) < 0) _exit(1);
  if (level) setenv("TENON_LOG", level, 1);
  else unsetenv("TENON_LOG");
  tn_device_of("auto");
  _exit(0);
}

static void listen_to(const char *level, const char *path)
{
  int status = 1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) talk(level, path);
  said[0] = 0;
  if (child < 0 || waitpid(child, &status, 0) != child || status) return;
  FILE *log = fopen(path, "r");
  size_t size = log ? fread(said, 1, sizeof said - 1, log) : 0;
  if (log) fclose(log);
  said[size] = 0;
}

static int count_lines(void)
{
  int count = 0;
  for (const char *c = said; *c; c++) count += *c == '\n';
  return count;
}

static void check_levels(const char *path)
{
  static const char *const quiet[] = { NULL, "", "error", "warning" };
  for (int i = 0; i < 4; i++) {
    listen_to(quiet[i], path);
    tap_is_text(said, "", "TENON_LOG=%s: nothing is said",
                quiet[i] ? quiet[i] : "(unset)");
  }
  listen_to("info", path);
  tap_has(said, "tenon: info: auto: not other_major: ", "info is said");
  tap_ok(!strstr(said, "debug"), "and debug is not");
  tap_is_int(count_lines(), 1, "in one line");
  listen_to("debug", path);
  tap_has(said, "tenon: info: auto: not other_major: ", "debug: info too");
  tap_has(said, "tenon: debug: one\ntenon: debug: two\n",
          "a text of two lines is two lines");
  listen_to("Loud", path);
  tap_has(said, "tenon: warning: TENON_LOG is not understood: it is error, "
          "warning, info or debug\n", "a bad level is said");
  tap_is_int(count_lines(), 1, "once, and the level is warning");
}

static void check_length(const char *path)
{
  char text[3001];
  memset(text, 'x', 3000);
  text[1500] = '\n';
  text[3000] = 0;
  setenv("TENON_FAKE_SAYS", text, 1);
  listen_to("debug", path);
  tap_is_int(count_lines(), 3, "long lines are lines");
  const char *line = strstr(said, "debug: x");
  tap_ok(line && strcspn(line, "\n") > 1000, "cut after 1000 bytes or more");
}

int main(void)
{
  const char *folder = plugin_folder_make();
  char path[PATH_MAX];
  snprintf(path, sizeof path, "%s/log", folder);
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_folder_add(folder, PLUGIN_BAD, "other_major");
  plugin_path_set(folder, "");
  setenv("TENON_FAKE_SAYS", "one\ntwo", 1);
  check_levels(path);
  check_length(path);
  return tap_done();
}
