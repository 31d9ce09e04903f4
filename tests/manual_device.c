#include "config.h"

#include "tests/manual_device.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

const manual_control *manual;
tn_device manual_first, manual_second, manual_host;

/* Before the other backends of the tests. */
static void put_first(const char *path)
{
  const char *rest = getenv("TENON_BACKEND_PATH");
  size_t size = strlen(path) + (rest ? strlen(rest) : 0) + 2;
  char *whole = malloc(size);
  if (!whole) abort();
  snprintf(whole, size, "%s%s%s", path, rest ? ":" : "", rest ? rest : "");
  setenv("TENON_BACKEND_PATH", whole, 1);
  free(whole);
}

static void open_manual(const char *options)
{
  char path[PATH_MAX];
  const char *build = getenv("top_builddir");
  snprintf(path, sizeof path, "%s/tests/plugins/manual/%stenon-manual.so",
           build ? build : ".", LT_OBJDIR);
  put_first(path);
  setenv("TENON_DEVICE", "manual", 1);
  setenv("TENON_MANUAL", options, 1);
  void *plugin = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  manual_control_function get;
  if (!plugin) {
    tap_ok(false, "%s", dlerror());
    exit(tap_done());
  }
  *(void **)&get = dlsym(plugin, MANUAL_CONTROL_NAME);
  manual = get();
  manual_first = tn_device_of("manual:0");
  manual_second = tn_device_of("manual:1");
}

static void run_child(const char *options, void (*part)(void), int output)
{
  fflush(stdout);
  dup2(output, STDOUT_FILENO);
  close(output);
  open_manual(options);
  part();
  /* Only waits without limit run what is queued, and the end has one. */
  tn_synchronize(manual_first);
  tn_synchronize(manual_second);
  exit(tap_done());
}

/* "ok 3 - text", passed on under our own number. */
static void pass_on(char *line)
{
  line[strcspn(line, "\n")] = 0;
  bool is_good = strncmp(line, "ok ", 3) == 0;
  if (is_good || strncmp(line, "not ok ", 7) == 0) {
    const char *text = strstr(line, " - ");
    tap_ok(is_good, "%s", text ? text + 3 : line);
  } else if (strncmp(line, "1..", 3) != 0) {
    tap_note("%s", line[0] == '#' ? line + 1 : line);
  }
}

static void read_child(int input)
{
  char line[2048];
  FILE *lines = fdopen(input, "r");
  while (lines && fgets(line, sizeof line, lines)) pass_on(line);
  if (lines) fclose(lines);
}

void manual_part(const char *options, void (*part)(void))
{
  int ends[2], status = -1;
  fflush(stdout);
  if (pipe(ends) != 0) abort();
  pid_t child = fork();
  if (child == 0) {
    close(ends[0]);
    tap_forget();
    run_child(options, part, ends[1]);
  }
  close(ends[1]);
  read_child(ends[0]);
  if (child < 0 || waitpid(child, &status, 0) != child) status = -1;
  tap_ok(WIFEXITED(status) && WEXITSTATUS(status) <= 1,
         "the part with options \"%s\" ends by itself", options);
}

tn_stream *manual_stream(int *number)
{
  *number = manual->stream_count();
  return tn_stream_new(manual_first, 0);
}
