/* The end of programs and of the library: X4, R08, R10. The program runs
 * itself as each of the programs below, and reads what its backend saw. */
#include "config.h"

#include "tests/plugin_folder.h"
#include "tests/tap.h"

#include <dlfcn.h>
#include <limits.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tenon/tenon.h"

static bool use(const char *text)
{
  tn_device device = tn_device_of(text);
  return tn_can_access_peer(device, device);
}

/* The programs ---------------------------------------------------------- */

static int leave_main(void) { return use("fake:0") && use("fake:1") ? 5 : 1; }

static int only_count(void) { return tn_device_count("fake") == 2 ? 5 : 1; }

static int only_parse(void) { return tn_device_of("fake").backend > 0 ? 5 : 1; }

static void *call_exit(void *argument)
{
  (void)argument;
  exit(use("fake:1") ? 5 : 1);
}

static int exit_in_thread(void)
{
  pthread_t thread;
  if (!use("fake:0")) return 1;
  pthread_create(&thread, NULL, call_exit, NULL);
  pthread_join(thread, NULL);
  return 2;
}

/* The program's own handlers, and those of drivers, run before and after. */
static void use_late(void)
{
  if (use("fake:0") || tn_last_status() != TN_SHUT_DOWN) _exit(3);
}

static int use_after_end(void)
{
  atexit(use_late);
  return use("fake:0") ? 5 : 1;
}

static int answers_shut_down(void)
{
  tn_device device = { 1, 0 };
  tn_device_info info;
  tn_clear_error();
  return tn_device_parse("fake", &device) == TN_SHUT_DOWN &&
         tn_device_of("auto").backend == -1 &&
         tn_set_device((tn_device){ 1, 1 }) == TN_SHUT_DOWN &&
         tn_device_get_info((tn_device){ 1, 0 }, &info) == TN_SHUT_DOWN &&
         tn_device_count("fake") == 0 && !tn_is_available("fake") &&
         tn_current_device("fake").backend == -1 &&
         !tn_device_push((tn_device){ 1, 1 }).active &&
         !tn_can_access_peer((tn_device){ 1, 0 }, (tn_device){ 1, 1 }) &&
         tn_set_default_device((tn_device){ 1, 0 }) == TN_SHUT_DOWN &&
         tn_device_reset((tn_device){ 1, 0 }) == TN_SHUT_DOWN &&
         tn_default_device().backend == -1 && !tn_backend_list(NULL, 0) &&
         strcmp(tn_error_message(), "the library has shut down") == 0;
}

/* What needs no device answers the same. */
static int host_side_answers_shut_down(void)
{
  const tn_device host = { 0, 0 };
  char from = 1, to = 2, path[PATH_MAX];
  tn_memory_stats stats;
  tn_clear_error();
  return !tn_event_new(0) && tn_last_status() == TN_SHUT_DOWN &&
         tn_copy(&to, host, &from, host, 1, false) == TN_SHUT_DOWN &&
         tn_copy(&to, host, &from, host, 0, false) == TN_SHUT_DOWN &&
         tn_fill_bytes(&to, host, 0, 1) == TN_SHUT_DOWN && to == 2 &&
         tn_host_memory_get_stats(&stats) == TN_SHUT_DOWN &&
         tn_kernel_cache_folder(path, sizeof path) == TN_SHUT_DOWN;
}

static int shut_down_early(void)
{
  tn_device_guard guard;
  if (!use("fake:0") || !use("fake:1")) return 1;
  guard = tn_device_push(tn_device_of("fake:1"));
  tn_shutdown();
  tn_device_pop(&guard);
  if (!answers_shut_down()) return 2;
  if (!host_side_answers_shut_down()) return 3;
  tn_shutdown();
  return 5;
}

static int shut_down_unused(void)
{
  tn_shutdown();
  return tn_device_of("fake").backend == -1 &&
         tn_last_status() == TN_SHUT_DOWN ? 5 : 1;
}

/* R08: a library that is linked with tenon comes and goes. */
static int open_and_close(void)
{
  for (int i = 0; i < 20; i++) {
    void *library = dlopen(getenv("TN_TEST_GUEST"), RTLD_NOW | RTLD_LOCAL);
    if (!library) return 1;
    int (*guest_use)(const char *);
    void *symbol = dlsym(library, "tn_test_guest_use");
    memcpy(&guest_use, &symbol, sizeof guest_use);
    if (!symbol || !guest_use(i % 2 ? "fake:0" : "fake:1")) return 2;
    if (dlclose(library) != 0) return 3;
  }
  return 5;
}

typedef struct test_program {
  const char *name;
  int (*run)(void);
  const char *calls; /* that the backend sees */
} test_program;

static const test_program programs[] = {
  { "leave_main", leave_main, "entry, open 0, open 1, close 1, close 0, "
    "shutdown" },
  { "only_count", only_count, "entry, shutdown" },
  { "only_parse", only_parse, "" },
  { "exit_in_thread", exit_in_thread, "entry, open 0, open 1, close 1, "
    "close 0, shutdown" },
  { "use_after_end", use_after_end, "entry, open 0, close 0, shutdown" },
  { "shut_down_early", shut_down_early, "entry, open 0, open 1, close 1, "
    "close 0, shutdown" },
  { "shut_down_unused", shut_down_unused, "" },
  { "open_and_close", open_and_close, "entry, open 1, open 0, close 0, "
    "close 1, shutdown" },
};
enum { PROGRAM_COUNT = sizeof programs / sizeof programs[0] };

/* Running them ---------------------------------------------------------- */

static int run(const char *self, const char *name)
{
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, name, (char *)NULL);
    _exit(127);
  }
  int status = -1;
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* The log's lines without the backend's name, separated by ", ". */
static void read_calls(const char *log, char *text, size_t size)
{
  char line[128];
  size_t used = 0;
  FILE *calls = fopen(log, "r");
  text[0] = 0;
  while (calls && fgets(line, sizeof line, calls)) {
    line[strcspn(line, "\n")] = 0;
    const char *call = strchr(line, ' ');
    used += (size_t)snprintf(text + used, size - used, "%s%s",
                             used ? ", " : "", call ? call + 1 : line);
  }
  if (calls) fclose(calls);
}

static void check(const char *self, const char *log,
                  const test_program *program)
{
  char calls[512];
  remove(log);
  tap_is_int(run(self, program->name), 5, "X4 R10 %s keeps its exit code",
             program->name);
  read_calls(log, calls, sizeof calls);
  tap_is_text(calls, program->calls, "X4 the backend sees [%s]",
              program->calls);
}

int main(int argc, char **argv)
{
  for (int i = 0; argc > 1 && i < PROGRAM_COUNT; i++)
    if (strcmp(argv[1], programs[i].name) == 0) return programs[i].run();
  const char *folder = plugin_folder_make();
  char log[PATH_MAX], guest[PATH_MAX];
  plugin_folder_add(folder, PLUGIN_FAKE, "fake");
  plugin_path_set(folder, "");
  snprintf(log, sizeof log, "%s/log", folder);
  setenv("TENON_FAKE_LOG", log, 1);
  snprintf(guest, sizeof guest, "%s/%s", getenv("top_builddir"),
           PLUGIN_GUEST);
  setenv("TN_TEST_GUEST", guest, 1);
  for (int i = 0; i < PROGRAM_COUNT; i++) check(argv[0], log, &programs[i]);
  return tap_done();
}
