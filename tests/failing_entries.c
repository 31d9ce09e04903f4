/* Every entry of a plugin fails with every status, once and from then on: the
 * core tells, loses nothing, and goes on when it works again (rules S6, X3). */
#define _GNU_SOURCE
#include "config.h"

#include <dlfcn.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "tests/plugins/failing.h"
#include "tests/tap.h"

enum { COUNT = 1000, BYTES = COUNT * 4, STATUSES = TN_SHUT_DOWN + 2 };

static const tn_device nowhere;
static tn_device device, second;
static failing_control *control;
static char plugin_path[PATH_MAX];

/* Calls that failed in a scenario, and what the first one said. */
static int failures;
static tn_status first_status;
static char first_text[512];

static bool note(bool is_good)
{
  if (is_good) return true;
  if (failures++ == 0) {
    first_status = tn_last_status();
    snprintf(first_text, sizeof first_text, "%s", tn_error_message());
  }
  return false;
}

static bool did(tn_status status) { return note(status == TN_OK); }

static void add_one(void *calls) { ++*(int *)calls; }

static const char source[] =
    "TN_KERNEL(up, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }";

/* Compute on `memory`, already filled with 0, and look at the result. */
static bool compute(tn_stream *stream, void *memory, void *copy)
{
  int32_t got[COUNT] = { 0 };
  tn_module *module = tn_module_load(device, source);
  if (!note(module != NULL)) return false;
  tn_kernel *kernel = tn_kernel_get(module, "up");
  bool is_good = note(kernel != NULL);
  tn_with_stream(stream) {
    if (is_good)
      is_good &= did(tn_launch(kernel, COUNT, TN_ARGS(TN_ARG_PTR(memory),
                                                      TN_ARG_I64(COUNT))));
    is_good &= did(tn_copy(copy, device, memory, device, BYTES, true));
    is_good &= did(tn_copy(got, nowhere, copy, device, BYTES, false));
  }
  tn_kernel_release(kernel);
  tn_module_release(module);
  return !is_good || (got[0] == 1 && got[COUNT - 1] == 1);
}

static void wait_around(tn_stream *stream, tn_stream *other)
{
  int calls = 0;
  float ms;
  tn_event *start = tn_event_new(TN_EVENT_TIMING);
  tn_event *end = tn_event_new(TN_EVENT_TIMING);
  bool is_recorded = did(tn_event_record(start, stream));
  bool is_called = did(tn_stream_call(stream, add_one, &calls));
  is_recorded &= did(tn_event_record(end, stream));
  did(tn_stream_wait_event(other, end));
  did(tn_stream_wait_stream(other, stream));
  tn_status query = tn_stream_query(other);
  note(query == TN_OK || query == TN_NOT_READY);
  bool is_waited = did(tn_event_synchronize(end));
  if (is_recorded && is_waited) did(tn_event_elapsed(start, end, &ms));
  did(tn_stream_synchronize(other));
  did(tn_synchronize(device));
  /* The function's argument must not be left to a later call. */
  control->entry = NULL;
  tn_synchronize(device);
  tn_synchronize(second);
  if (is_called && failures == 0 && calls != 1) abort();
  tn_event_release(start);
  tn_event_release(end);
}

static void between(void)
{
  char *one = tn_malloc(device, 100), *two = tn_malloc(second, 100), got[100];
  bool are_there = note(one && two);
  if (are_there && did(tn_fill_bytes(one, device, 7, 100)) &&
      did(tn_copy(two, second, one, device, 100, true)) &&
      did(tn_copy(got, nowhere, two, second, 100, false)) && got[99] != 7)
    abort();
  if (did(tn_enable_peer_access(device, second)))
    did(tn_disable_peer_access(device, second));
  tn_free(one);
  tn_free(two);
}

/* Uses every entry. False if a result is wrong though nothing failed. */
static bool scenario(void)
{
  size_t unused, total;
  bool is_right = true;
  failures = 0;
  first_text[0] = 0;
  tn_clear_error();
  tn_stream *stream = tn_stream_new(device, 0);
  tn_stream *other = tn_stream_new(device, -1);
  did(tn_mem_get_info(device, &unused, &total));
  between();
  if (note(stream && other)) {
    void *memory = NULL, *copy = NULL;
    tn_with_stream(stream) {
      memory = tn_malloc(device, 11 << 20);
      copy = tn_malloc(device, BYTES);
      note(memory && copy);
      if (memory) did(tn_fill_bytes(memory, device, 0, BYTES));
    }
    if (memory && copy) is_right = compute(stream, memory, copy);
    void *pinned = tn_malloc_pinned(BYTES);
    if (note(pinned != NULL) && memory)
      tn_with_stream(stream)
        did(tn_copy(pinned, nowhere, memory, device, BYTES, true));
    wait_around(stream, other);
    tn_free(pinned);
    tn_free(memory);
    tn_free(copy);
  }
  control->entry = NULL;
  tn_synchronize(device);
  tn_synchronize(second);
  tn_empty_cache(device);
  tn_empty_cache(second);
  tn_empty_host_cache();
  tn_stream_release(stream);
  tn_stream_release(other);
  tn_clear_error();
  return is_right || failures > 0;
}

static void set(const char *entry, int status, int most)
{
  *control = (failing_control){ entry, status, most, 0, 0 };
}

/* What the core may make good by itself, or a status that is an answer. */
static bool may_pass(const char *entry, int status, bool is_once)
{
  static const struct { const char *entry; int status; } answers[] = {
    { "copy.peer_query", -1 }, /* then copies are staged, with the reason */
    { "alloc.alloc", TN_UNSUPPORTED }, /* pinned memory is the host's */
    { "stream.query", TN_NOT_READY },
    { "stream.take_error", -1 }, /* nothing had failed */
  };
  for (size_t i = 0; i < sizeof answers / sizeof *answers; i++)
    if (strcmp(answers[i].entry, entry) == 0 &&
        (answers[i].status < 0 || answers[i].status == status))
      return true;
  return is_once && strcmp(entry, "alloc.alloc") == 0 &&
         status == TN_OUT_OF_MEMORY; /* tried again */
}

static size_t held(void)
{
  tn_memory_stats host = { 0 };
  tn_host_memory_get_stats(&host);
  return tn_memory_allocated(device) + tn_memory_reserved(device) +
         tn_memory_allocated(second) + (size_t)host.allocated.all.current;
}

/* One status, once or from the first call on. Gives NULL or what is wrong. */
static const char *try_status(const char *entry, int status, bool is_once)
{
  size_t before = held();
  bool is_right = true;
  int failed = 0;
  /* A wait is not asked for where what it waits for is past by then. */
  for (int i = 0; i < 50 && is_right && failed == 0; i++) {
    set(entry, status, is_once ? 1 : -1);
    is_right = scenario();
    failed = control->failed;
  }
  if (!is_right) return "a wrong result, and no error";
  if (failed == 0) return "the entry was not called";
  if (failures == 0 && !may_pass(entry, status, is_once))
    return "the failure was swallowed";
  if (failures && first_status == TN_OK) return "an error without a status";
  if (failures && !first_text[0]) return "an error without a text";
  if (failures && strchr(first_text, '\n')) return "a text of two lines";
  if (status != TN_DEVICE_LOST) {
    if (!scenario()) return "a wrong result afterwards";
    if (failures) return "it does not go on afterwards";
  }
  if (held() != before) return "memory is lost";
  return NULL;
}

static bool open_failing(void)
{
  void *plugin = dlopen(plugin_path, RTLD_NOW | RTLD_LOCAL);
  failing_control_function get = NULL;
  if (plugin) *(void **)&get = dlsym(plugin, FAILING_CONTROL_NAME);
  if (!get) return false;
  control = get();
  device = tn_device_of("failing:0");
  second = tn_device_of("failing:1");
  return device.backend > 0;
}

static int status_at(int i) { return i == TN_SHUT_DOWN + 1 ? 999 : i; }

/* All statuses but the one that takes the device away, which has a process of
 * its own. The exit status is the number of failed attempts. */
static int try_entry(const char *entry, bool is_lost, int only)
{
  int bad = 0;
  alarm(60);
  if (!open_failing()) return 100;
  set(NULL, 0, 0);
  if (!scenario() || failures) {
    tap_note("%s: without a failure: %s", entry, first_text);
    return 101;
  }
  for (int i = 1; i < STATUSES; i++)
    for (int once = 1; once >= 0; once--) {
      int status = status_at(i);
      if ((status == TN_DEVICE_LOST) != is_lost) continue;
      if ((is_lost && !once) || (only && status != only)) continue;
      const char *wrong = try_status(entry, status, once);
      if (!wrong) continue;
      bad++;
      tap_note("%s fails with %s %s: %s: %s", entry,
               tn_status_name((tn_status)status), once ? "once" : "always",
               wrong, first_text);
    }
  return bad;
}

/* Before the device is open. */
static int try_first(const char *entry, int status)
{
  alarm(60);
  if (!open_failing()) return 100;
  set(entry, status, -1);
  void *memory = tn_malloc(device, 100);
  if (memory || tn_last_status() == TN_OK || !tn_error_message()[0]) return 1;
  set(NULL, 0, 0);
  return 0;
}

static int in_child(const char *entry, int way, int status)
{
  int result = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int bad = way == 2 ? try_first(entry, status)
                       : try_entry(entry, way == 1, status);
    fflush(stdout);
    exit(bad > 125 ? 125 : bad);
  }
  if (child < 0 || waitpid(child, &result, 0) != child) return -1;
  return WIFEXITED(result) ? WEXITSTATUS(result) : 1000 + WTERMSIG(result);
}

static void test_first(const char *entry)
{
  int bad = 0;
  for (int i = 1; i < STATUSES; i++)
    if (in_child(entry, 2, status_at(i)) != 0) {
      bad++;
      tap_note("%s failing with status %d at first use", entry,
               status_at(i));
    }
  tap_is_int(bad, 0, "X3 %s fails at first use, with every status", entry);
}

/* Streams are made until the pool has them all, so each status needs a process
 * of its own there. */
static int try_all(const char *entry)
{
  int bad = 0;
  if (strcmp(entry, "stream.create") != 0) return in_child(entry, 0, 0);
  for (int i = 1; i < STATUSES; i++)
    if (status_at(i) != TN_DEVICE_LOST) bad += in_child(entry, 0, status_at(i));
  return bad;
}

static void test_entry(const char *entry)
{
  tap_is_int(try_all(entry), 0,
             "X3 S6 %s fails with every status, once and always", entry);
  tap_is_int(in_child(entry, 1, 0), 0, "X3 S6 %s loses its device", entry);
}

static void set_up(void)
{
  char base[PATH_MAX], path[3 * PATH_MAX];
  const char *build = getenv("top_builddir"), *rest =
      getenv("TENON_BACKEND_PATH");
  if (!build) build = ".";
  snprintf(base, sizeof base, "%s/backends/cpu/%stenon-cpu.so", build,
           LT_OBJDIR);
  snprintf(plugin_path, sizeof plugin_path,
           "%s/tests/plugins/failing/%stenon-failing.so", build, LT_OBJDIR);
  snprintf(path, sizeof path, "%s:%s", plugin_path, rest ? rest : "");
  setenv("TN_FAILING_BASE", base, 1);
  setenv("TENON_BACKEND_PATH", path, 1);
  setenv("TENON_DEVICE", "failing", 1);
  setenv("TENON_CPU_DEVICES", "2", 1);
}

int main(int count, char **arguments)
{
  static const char *const entries[] = {
#define FAILING_NAME_(table, entry, parameters, arguments) #table "." #entry,
    FAILING_ENTRIES(FAILING_NAME_)
#undef FAILING_NAME_
  };
  set_up();
  for (size_t i = 0; i < sizeof entries / sizeof *entries; i++) {
    if (count > 1 && strcmp(arguments[1], entries[i]) != 0) continue;
    if (strncmp(entries[i], "device.", 7) == 0) test_first(entries[i]);
    else test_entry(entries[i]);
  }
  return tap_done();
}
