/* Every allocation that the core makes on the host fails in turn, once and
 * from then on: an error, nothing lost, and the next try works (rules M3, X3).
 * Linked with the library's objects, so that its calls can be counted. */
#define _GNU_SOURCE
#include "config.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tenon/tenon.h>

#include "tests/tap.h"

/* The linker's --wrap. */
void *__real_malloc(size_t size);
void *__real_calloc(size_t count, size_t size);
void *__real_realloc(void *memory, size_t size);
void __real_free(void *memory);
void *__wrap_malloc(size_t size);
void *__wrap_calloc(size_t count, size_t size);
void *__wrap_realloc(void *memory, size_t size);
char *__wrap_strdup(const char *text);
int __real_posix_memalign(void **memory, size_t alignment, size_t size);
int __wrap_posix_memalign(void **memory, size_t alignment, size_t size);
void __wrap_free(void *memory);

static atomic_long calls, live, fail_at, fail_from;

static bool fails(void)
{
  long call = ++calls;
  return call == fail_at || (fail_from && call >= fail_from);
}

static void *count(void *memory)
{
  if (memory) live++;
  return memory;
}

void *__wrap_malloc(size_t size)
{
  return fails() ? NULL : count(__real_malloc(size));
}

void *__wrap_calloc(size_t number, size_t size)
{
  return fails() ? NULL : count(__real_calloc(number, size));
}

void *__wrap_realloc(void *memory, size_t size)
{
  if (fails()) return NULL;
  void *moved = __real_realloc(memory, size);
  if (!memory) count(moved);
  return moved;
}

int __wrap_posix_memalign(void **memory, size_t alignment, size_t size)
{
  if (fails()) return ENOMEM;
  int error = __real_posix_memalign(memory, alignment, size);
  if (error == 0) live++;
  return error;
}

char *__wrap_strdup(const char *text)
{
  size_t size = strlen(text) + 1;
  char *copy = __wrap_malloc(size);
  return copy ? memcpy(copy, text, size) : NULL;
}

void __wrap_free(void *memory)
{
  if (memory) live--;
  __real_free(memory);
}

enum { COUNT = 1000, BYTES = COUNT * 4 };

static const tn_device nowhere;
static int failures; /* calls that failed in a scenario */
static bool is_silent; /* one of them without an error */

static bool note(bool is_good)
{
  if (is_good) return true;
  failures++;
  is_silent |= tn_last_status() == TN_OK || !tn_error_message()[0];
  return false;
}

static bool did(tn_status status) { return note(status == TN_OK); }

static void add_one(void *number) { ++*(int *)number; }

static const char source[] =
    "TN_KERNEL(up, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }";

/* True unless a result is wrong though nothing failed. */
static bool compute(tn_device device, tn_stream *stream, void *memory)
{
  int32_t got[COUNT] = { 0 };
  bool is_good = did(tn_fill_bytes(memory, device, 0, BYTES));
  tn_module *module = tn_module_load(device, source);
  tn_kernel *kernel = module ? tn_kernel_get(module, "up") : NULL;
  is_good &= note(kernel != NULL);
  if (kernel)
    is_good &= did(tn_launch(kernel, COUNT, TN_ARGS(TN_ARG_PTR(memory),
                                                    TN_ARG_I64(COUNT))));
  is_good &= did(tn_stream_synchronize(stream));
  is_good &= did(tn_copy(got, nowhere, memory, device, BYTES, false));
  tn_kernel_release(kernel);
  tn_module_release(module);
  return !is_good || (got[0] == 1 && got[COUNT - 1] == 1);
}

static void wait_around(tn_stream *stream, tn_stream *other)
{
  int number = 0;
  tn_event *event = tn_event_new(0);
  if (note(event != NULL)) {
    if (did(tn_event_record(event, stream)))
      did(tn_stream_wait_event(other, event));
    did(tn_event_synchronize(event));
  }
  did(tn_stream_wait_stream(other, stream));
  bool is_called = did(tn_stream_call(other, add_one, &number));
  if (!did(tn_stream_synchronize(other))) {
    fail_at = fail_from = 0;
    tn_stream_synchronize(other);
  }
  if (is_called && number != 1) abort();
  tn_event_release(event);
}

/* On two streams; node 0 is a launch. */
static void record(tn_device device, tn_stream *stream, tn_stream *other,
                   void *memory)
{
  tn_module *module = tn_module_builtin(device, "elementwise");
  tn_kernel *add = module ? tn_kernel_get(module, "add_scalar_f32") : NULL;
  if (note(add != NULL))
    did(tn_launch(add, COUNT, TN_ARGS(TN_ARG_PTR(memory), TN_ARG_PTR(memory),
                                      TN_ARG_F32(1), TN_ARG_I64(COUNT))));
  did(tn_stream_wait_stream(other, stream));
  tn_with_stream(other) did(tn_fill_bytes(memory, device, 3, BYTES));
  void *inside = tn_malloc(device, 5000);
  note(inside != NULL);
  if (inside) tn_free(inside);
  did(tn_stream_wait_stream(stream, other));
  tn_kernel_release(add);
  tn_module_release(module);
}

static void replay(tn_graph *graph, tn_stream *other)
{
  tn_arg two = TN_ARG_F32(2);
  did(tn_graph_replay(graph));
  did(tn_graph_set_argument(graph, 0, 2, two));
  tn_with_stream(other) did(tn_graph_replay(graph));
}

static void try_graph(tn_device device, tn_stream *stream, tn_stream *other,
                      void *memory)
{
  tn_graph *graph = tn_graph_new();
  if (!note(graph != NULL)) return;
  if (did(tn_graph_begin(graph, .stream = stream))) {
    record(device, stream, other, memory);
    did(tn_graph_end(graph));
  }
  if (failures == 0) replay(graph, other);
  tn_graph_release(graph);
}

static void try_pool(tn_device device)
{
  tn_mem_pool *pool = tn_mem_pool_new(device);
  if (note(pool != NULL)) {
    void *inside = NULL;
    tn_with_pool(pool) inside = tn_malloc(device, 5000);
    note(inside != NULL);
    if (inside) tn_free(inside);
    tn_mem_pool_release(pool);
  }
}

static void tell(tn_device device)
{
  char *text = NULL;
  size_t size;
  FILE *file = open_memstream(&text, &size);
  did(tn_memory_snapshot(device, file));
  did(tn_memory_summary(device, file));
  fclose(file);
  __real_free(text);
}

static bool scenario(const char *name)
{
  bool is_right = true;
  failures = 0;
  is_silent = false;
  tn_clear_error();
  tn_device device = tn_device_of(name);
  if (!note(device.backend > 0)) {
    fail_at = fail_from = 0;
    return true;
  }
  tn_stream *stream = tn_stream_new(device, 0);
  tn_stream *other = tn_stream_new(device, -1);
  if (note(stream && other)) {
    void *memory = NULL, *pinned = tn_malloc_pinned(BYTES);
    note(pinned != NULL);
    tn_with_stream(stream) {
      memory = tn_malloc(device, 11 << 20);
      if (note(memory != NULL)) {
        did(tn_memory_record_stream(memory, other));
        is_right = compute(device, stream, memory);
        if (pinned)
          did(tn_copy(memory, device, pinned, nowhere, BYTES, true));
        try_graph(device, stream, other, memory);
        try_pool(device);
      }
    }
    wait_around(stream, other);
    tell(device);
    if (pinned) tn_free(pinned);
    if (memory) tn_free(memory);
  }
  fail_at = fail_from = 0;
  if (device.backend > 0) tn_synchronize(device);
  tn_empty_cache(device);
  tn_empty_host_cache();
  tn_stream_release(stream);
  tn_stream_release(other);
  return is_right || failures > 0;
}

static long measure(const char *name)
{
  calls = 0;
  if (!scenario(name) || failures)
    tap_note("without a failure: %s", tn_error_message());
  return calls;
}

/* NULL, or what is wrong. */
static const char *try_call(const char *name, long number, bool is_once)
{
  calls = 0;
  *(is_once ? &fail_at : &fail_from) = number;
  if (!scenario(name)) return "a wrong result, and no error";
  if (is_silent) return "a failure without an error";
  if (!scenario(name)) return "a wrong result afterwards";
  if (failures) return "it does not go on afterwards";
  return NULL;
}

/* After the first use, when lists have their sizes. */
static void test_steady(const char *name)
{
  int bad = 0;
  for (int i = 0; i < 40; i++) measure(name); /* until its pools are full */
  long total = measure(name), before = live;
  tap_ok(failures == 0 && total > 20, "M3 %s: a scenario with %ld allocations",
         name, total);
  for (int once = 1; once >= 0; once--)
    for (long i = 1; i <= total; i++) {
      const char *wrong = try_call(name, i, once);
      if (!wrong && live > before) wrong = "memory is lost";
      if (!wrong) continue;
      bad++;
      tap_note("allocation %ld fails %s: %s: %s (%ld more are live)", i,
               once ? "once" : "and all after it", wrong, tn_error_message(),
               (long)(live - before));
      before = live;
    }
  tap_is_int(bad, 0, "M3 X3 %s: each of %ld allocations fails in turn", name,
             total);
}

/* In a process that has not used the library. */
static int try_first(const char *name, long number, bool is_once)
{
  alarm(30);
  const char *wrong = try_call(name, number, is_once);
  if (!wrong) return 0;
  tap_note("allocation %ld fails %s, at first use: %s: %s", number,
           is_once ? "once" : "and all after it", wrong, tn_error_message());
  return 1;
}

static int in_child(const char *name, long number, bool is_once)
{
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    int code = number ? try_first(name, number, is_once)
                      : (int)(measure(name) / 10 + 1);
    fflush(stdout);
    exit(code);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static void test_first(const char *name)
{
  int bad = 0;
  long total = in_child(name, 0, true) * 10;
  for (int once = 1; once >= 0; once--)
    for (long i = 1; i <= total; i++) {
      int code = in_child(name, i, once);
      if (code > 1)
        tap_note("allocation %ld fails %s, at first use: status %d", i,
                 once ? "once" : "and all after it", code);
      bad += code != 0;
    }
  tap_is_int(bad, 0, "M3 X3 %s: each of some %ld allocations of a first use "
             "fails in turn", name, total);
}

/* With a number: only that allocation, at first use; for debuggers. */
int main(int argument_count, char **arguments)
{
  setenv("TENON_CPU_DEVICES", "2", 1);
  if (argument_count > 1)
    return try_first("cpu:0", atol(arguments[1]), argument_count > 2);
  test_first("cpu:0");
  /* At first use an argument is changed in the graph, here it is made anew. */
  setenv("TENON_LAYERS", "fault:entry=graph.update,n=1+,status=UNSUPPORTED",
         1);
  test_steady("cpu:0");
  return tap_done();
}
