/* Every allocation that the core makes on the host fails in turn, once and
 * from then on: an error, nothing lost, and the next try works (rules M3, X3).
 * Linked with the library's objects, so that its calls can be counted. */
#define _GNU_SOURCE
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "tests/failing_malloc.h"
#include "tests/host_memory_scenarios.h"
#include "tests/tap.h"

/* Where a scenario runs. */
typedef struct place {
  const char *first, *second;
} place;

static const place on_cpu = { "cpu:0", "cpu:1" };
static const place on_remote = { "remote:0", "remote:1" };

static void run(const scenario *of, const place *at)
{
  host_calls = 0;
  scenario_run(of, at->first, at->second);
}

/* NULL, or what is wrong. */
static const char *try_call(const scenario *of, const place *at, long number,
                            bool is_once)
{
  *(is_once ? &host_fail_at : &host_fail_from) = number;
  run(of, at);
  if (scenario_is_silent) return "a failure without an error";
  if (scenario_failures && scenario_first != TN_OUT_OF_MEMORY)
    return "another error than of memory comes first";
  tn_clear_error();
  run(of, at);
  return scenario_failures ? "it does not go on afterwards" : NULL;
}

static void tell(const scenario *of, long number, bool is_once,
                 const char *what)
{
  tap_note("%s, allocation %ld fails %s: %s: %s (%s)", of->name, number,
           is_once ? "once" : "and all after it", what, scenario_text,
           tn_status_name(scenario_first));
}

/* ---- once lists have their sizes ---- */

static void test_steady(const scenario *of, const place *at)
{
  int bad = 0;
  for (int i = 0; i < 36; i++) run(of, at); /* until its pools are full */
  run(of, at);
  long total = host_calls, before = host_live;
  if (scenario_failures) tap_note("without a failure: %s", scenario_text);
  tap_is_int(scenario_failures, 0, "M3 %s: %s work", at->first, of->name);
  for (int once = 1; once >= 0; once--)
    for (long i = 1; i <= total; i++) {
      const char *wrong = try_call(of, at, i, once);
      if (!wrong && host_live > before) wrong = "memory is lost";
      if (wrong) tell(of, i, once, wrong);
      bad += wrong != NULL;
      before = host_live;
    }
  tap_is_int(bad, 0, "M3 X3 R56 %s: %s: each of %ld allocations fails "
             "in turn", at->first, of->name, total);
}

/* ---- in a process that has not used the library ---- */

static int try_first(const scenario *of, const place *at, long number,
                     bool is_once)
{
  alarm(30);
  if (number == 0) {
    run(of, at);
    return (int)(host_calls / 4 + 1);
  }
  const char *wrong = try_call(of, at, number, is_once);
  if (wrong) tell(of, number, is_once, wrong);
  return wrong != NULL;
}

static int in_child(const scenario *of, const place *at, long number,
                    bool is_once)
{
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int code = try_first(of, at, number, is_once);
    fflush(stdout);
    _exit(code);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_first(const scenario *of, const place *at, const char *how)
{
  int bad = 0;
  long step = getenv("TN_TEST_SMALL") ? 10 : 1; /* a process each */
  long total = in_child(of, at, 0, true) * 4;
  for (int once = 1; once >= 0; once--)
    for (long i = 1; i <= total; i += step) {
      int code = in_child(of, at, i, once);
      if (code > 1)
        tap_note("%s, allocation %ld fails %s: the process ends with %d "
                 "(signals are 1000 and more)", of->name, i,
                 once ? "once" : "and all after it", code);
      bad += code != 0;
    }
  tap_is_int(bad, 0, "M3 X3 %s: %s%s: each of some %ld allocations of a first "
             "use fails in turn%s", at->first, of->name, how, total,
             step > 1 ? ", or every tenth" : "");
}

static const scenario *named(const char *name)
{
  const scenario *of = scenarios;
  while (of->name && strcmp(of->name, name) != 0) of++;
  return of->name ? of : NULL;
}

static void test_first_with_graphs(void)
{
  setenv("TENON_REMOTE_GRAPHS", "1", 1);
  test_first(named("graphs"), &on_remote, " of the backend's");
  test_first(named("captures"), &on_remote, " of graphs of the backend's");
  unsetenv("TENON_REMOTE_GRAPHS");
}

/* With options that are read then. */
static void test_first_with_options(void)
{
  setenv("TENON_ALLOC_CONF", "max_split_size_mb:40", 1);
  setenv("TENON_CPU_VISIBLE_DEVICES", "1,0", 1);
  setenv("TENON_DEVICE", "auto", 1);
  setenv("TENON_LAYERS",
         "fault:entry=launch.launch,n=100000,status=LAUNCH_FAILED,late=yes",
         1);
  test_first(named("names and lists"), &on_cpu, " with options and a layer");
  test_first(named("memory"), &on_cpu, " with options and a layer");
  unsetenv("TENON_ALLOC_CONF");
  unsetenv("TENON_CPU_VISIBLE_DEVICES");
  unsetenv("TENON_DEVICE");
  unsetenv("TENON_LAYERS");
}

/* ---- at the end of the library ---- */

/* With memory, queued work and a recorded event that nobody gave back. */
static int shut_down(const char *device_text, long number, bool is_once)
{
  tn_device device = tn_device_of(device_text);
  tn_stream *own = tn_stream_new(device, 0);
  tn_event *event = tn_event_new(0);
  void *memory = tn_malloc(device, 5000), *pinned = tn_malloc_pinned(5000);
  if (!own || !event || !memory || !pinned) return 1;
  tn_with_stream(own) tn_fill_bytes(memory, device, 1, 5000);
  tn_memory_record_stream(memory, own);
  tn_event_record(event, own);
  tn_graph *graph = tn_graph_new();
  tn_graph_begin(graph, .stream = own);
  host_calls = 0;
  *(is_once ? &host_fail_at : &host_fail_from) = number;
  tn_shutdown();
  host_fail_at = host_fail_from = 0;
  tn_event_release(event);
  tn_graph_release(graph);
  tn_stream_release(own);
  return tn_malloc(device, 1) || tn_last_status() != TN_SHUT_DOWN;
}

static void test_shutdown(const char *device)
{
  int bad = 0;
  for (long i = 0; i < 8; i++) {
    int status = -1;
    fflush(stdout);
    pid_t child = fork();
    if (child == 0) {
      alarm(30);
      _exit(shut_down(device, i / 2 + 1, i % 2));
    }
    if (child > 0) waitpid(child, &status, 0);
    if (status) tap_note("allocation %ld: status %d", i / 2 + 1, status);
    bad += status != 0;
  }
  tap_is_int(bad, 0, "M3 X2 %s: allocations fail in the end of the library",
             device);
}

/* With a name and a number: only that, at first use; for debuggers. */
int main(int argument_count, char **arguments)
{
  setenv("TENON_CPU_DEVICES", "2", 1);
  setenv("TENON_LOG", "error", 0);
  if (argument_count > 3 && named(arguments[1]))
    return try_first(named(arguments[1]),
                     arguments[2][0] == 'r' ? &on_remote : &on_cpu,
                     atol(arguments[3]), argument_count > 4);
  for (const scenario *of = scenarios; of->name; of++)
    test_first(of, &on_cpu, "");
  test_first(named("copies"), &on_remote, "");
  test_first_with_graphs();
  test_first_with_options();
  test_shutdown("cpu:0");
  test_shutdown("remote:0");
  /* At first use an argument is changed in the graph, here it is made anew. */
  setenv("TENON_LAYERS", "fault:entry=graph.update,n=1+,status=UNSUPPORTED",
         1);
  for (const scenario *of = scenarios; of->name; of++) {
    test_steady(of, &on_cpu);
    test_steady(of, &on_remote);
  }
  return tap_done();
}
