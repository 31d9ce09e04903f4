/* Forked children: rules D8, D9, A287, A288, R11. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/device.h"

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define NO_FORK "gcc's ThreadSanitizer cannot run a threaded child"
#endif

static char log_path[PATH_MAX];

/* Runs `body` in a child; its result is the exit status. */
static int in_child(int (*body)(void))
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(body());
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static bool is_usable(const char *text)
{
  tn_device device = tn_device_of(text);
  return tn_can_access_peer(device, device);
}

/* Each gives 0, or the number of what went wrong. */
static int use_freely(void)
{
  if (tn_device_count("counted") != 2) return 1;
  if (!tn_is_available("counted")) return 2;
  if (!is_usable("counted:1")) return 3;
  return 0;
}

static int is_refused(const char *name)
{
  tn_device device = tn_device_of(name);
  tn_device_info info;
  for (int i = 0; i < 2; i++) {
    tn_clear_error();
    if (is_usable(name) || tn_last_status() != TN_FORKED) return 1;
    if (!strstr(tn_error_message(), "before fork")) return 2;
    if (!strstr(tn_error_message(), "spawn")) return 3;
    if (tn_device_get_info(device, &info) != TN_FORKED) return 4;
  }
  return 0;
}

static int touch_used(void)
{
  if (tn_device_of("used").backend <= 0) return 9;
  if (is_refused("used:0")) return 10 + is_refused("used:0");
  if (is_refused("used:1")) return 20;
  if (tn_is_available("used")) return 30;
  tn_clear_error();
  if (tn_device_count("used") || tn_last_status() != TN_FORKED) return 31;
  return use_freely();
}

static int is_counted_refused(void) { return is_refused("counted:0"); }

/* A child that uses a backend first is to its own children what its parent
 * is to it. */
static int use_and_fork(void)
{
  if (!is_usable("counted:0")) return 100;
  return in_child(is_counted_refused);
}

static int end_at_once(void) { return 7; }

/* A copy of this program, begun anew. */
static int spawn(const char *self)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, "spawned", (char *)NULL);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + status;
}

static int count_lines(const char *wanted)
{
  char line[128];
  int count = 0;
  FILE *calls = fopen(log_path, "r");
  while (calls && fgets(line, sizeof line, calls))
    count += strncmp(line, wanted, strlen(wanted)) == 0;
  if (calls) fclose(calls);
  return count;
}

static void check(const char *self)
{
  tap_is_int(tn_device_count("counted"), 2, "D8 the parent counts");
  tap_ok(tn_is_available("counted"), "A287 and asks what is available");
  tap_is_int(in_child(use_freely), 0, "D8 A287 that does not harm a child");
  tap_ok(is_usable("used:0"), "the parent uses a device");
  tap_is_int(in_child(touch_used), 0,
             "D9 A288 R11 the child is refused, every time, at once, and may "
             "use what the parent did not");
  tap_is_int(count_lines("used open"), 1, "D9 without a call to its plugin");
  int exit_code = in_child(end_at_once);
  tap_is_int(exit_code, 7, "X4 a child that does nothing ends as it wants");
  tap_is_int(count_lines("used close"), 0,
             "X4 and closes nothing that is its parent's");
  tap_is_int(in_child(use_and_fork), 0,
             "D9 what a child used is refused to its own child");
  tap_ok(is_usable("used:1"), "D9 the parent is unharmed");
  tap_is_int(spawn(self), 0, "A289 a spawned child works");
}

int main(int argc, char **argv)
{
  if (argc > 1) return use_freely();
#ifdef NO_FORK
  (void)check;
  (void)argv;
  tap_skip("%s", NO_FORK);
#else
  const char *folder = plugin_folder_make();
  plugin_folder_add(folder, PLUGIN_FAKE, "used");
  plugin_folder_add(folder, PLUGIN_FAKE, "counted");
  plugin_path_set(folder, "");
  snprintf(log_path, sizeof log_path, "%s/log", folder);
  setenv("TENON_FAKE_LOG", log_path, 1);
  check(argv[0]);
#endif
  return tap_done();
}
