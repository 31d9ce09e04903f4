/* Programs that end without cleaning up, on any device (rule X4; rows R10,
 * R43, R44). The program runs itself as each of those below. */
#include "config.h"

#include "tests/test_device.h"

#include <limits.h>
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "tests/tap.h"

static tn_device device;

enum { SIZE = 1 << 16, GOOD = 5 };

/* Held here, so that leak checkers see them as what they are: kept. */
static struct {
  tn_stream *stream;
  tn_event *event;
  tn_module *module;
  tn_kernel *kernel;
  tn_block *block;
  tn_graph *graph;
  char *memory, *pinned;
} kept;

static const char source[] =
    "TN_KERNEL(inc, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }";

static void make(void)
{
  kept.stream = tn_stream_new(device, 0);
  kept.event = tn_event_new(0);
  kept.module = tn_module_load(device, source);
  kept.kernel = tn_kernel_get(kept.module, "inc");
  kept.block = tn_block_new(device, SIZE);
  kept.memory = tn_malloc(device, SIZE);
  kept.pinned = tn_malloc_pinned(SIZE);
  kept.graph = tn_graph_new();
  tn_with_graph(kept.graph)
    tn_launch(kept.kernel, 1000, TN_ARGS(TN_ARG_PTR(kept.memory),
                                         TN_ARG_I64(1000)));
}

static void queue_work(void)
{
  for (int i = 0; i < 20; i++) {
    tn_copy(kept.memory, device, kept.pinned, test_host, SIZE, true);
    tn_launch(kept.kernel, 1000, TN_ARGS(TN_ARG_PTR(kept.memory),
                                         TN_ARG_I64(1000)));
    tn_graph_replay(kept.graph);
    tn_copy(kept.pinned, test_host, kept.memory, device, SIZE, true);
  }
  tn_event_record(kept.event, tn_current_stream(device));
}

/* Everything made, work queued, nothing released. */
static int leave_all(void)
{
  make();
  tn_set_stream(kept.stream);
  queue_work();
  return GOOD;
}

static void *leave_from_thread(void *unused)
{
  (void)unused;
  exit(leave_all());
}

static int leave_in_thread(void)
{
  pthread_t thread;
  pthread_create(&thread, NULL, leave_from_thread, NULL);
  pthread_join(thread, NULL);
  return 1;
}

/* Threads that use the library until it is no more. */
static sem_t began;

static void *go_on(void *argument)
{
  bool is_async = argument != NULL;
  tn_stream *stream = tn_stream_new(device, 0);
  if (is_async) tn_set_stream(stream);
  for (int i = 0; tn_last_status() != TN_SHUT_DOWN; i++) {
    void *memory = tn_malloc(device, SIZE);
    tn_fill_bytes(memory, device, 1, SIZE);
    tn_launch(kept.kernel, 1000, TN_ARGS(TN_ARG_PTR(memory),
                                         TN_ARG_I64(1000)));
    tn_free(memory);
    if (i == 3) sem_post(&began);
    if (i % 8 == 0 && !memory) break;
    if (i % 16 == 0) tn_stream_synchronize(stream);
  }
  return NULL;
}

static int leave_beside_threads(void)
{
  pthread_t thread;
  make();
  sem_init(&began, 0, 0);
  for (intptr_t i = 0; i < 3; i++) {
    pthread_create(&thread, NULL, go_on, (void *)(i % 2));
    pthread_detach(thread); /* nobody waits for them */
  }
  for (int i = 0; i < 3; i++)
    while (sem_wait(&began) != 0) {}
  return GOOD;
}

static int shut_down(void)
{
  make();
  tn_set_stream(kept.stream);
  queue_work();
  tn_shutdown();
  char bytes[4];
  float ms;
  bool is_refused =
      tn_stream_synchronize(kept.stream) == TN_SHUT_DOWN &&
      tn_stream_query(kept.stream) == TN_SHUT_DOWN &&
      tn_event_record(kept.event, kept.stream) == TN_SHUT_DOWN &&
      tn_launch(kept.kernel, 1, TN_ARGS(TN_ARG_PTR(kept.memory),
                                        TN_ARG_I64(1))) == TN_SHUT_DOWN &&
      tn_copy(bytes, test_host, kept.memory, device, 4, false) ==
          TN_SHUT_DOWN &&
      tn_fill_bytes(kept.memory, device, 0, 4) == TN_SHUT_DOWN &&
      !tn_malloc(device, 4) && tn_last_status() == TN_SHUT_DOWN &&
      !tn_stream_new(device, 0) && !tn_kernel_get(kept.module, "inc") &&
      !tn_module_load(device, source) && !tn_malloc_pinned(4) &&
      tn_last_status() == TN_SHUT_DOWN &&
      tn_synchronize(device) == TN_SHUT_DOWN &&
      tn_set_stream(kept.stream) == TN_SHUT_DOWN &&
      tn_graph_replay(kept.graph) == TN_SHUT_DOWN &&
      tn_event_elapsed(kept.event, kept.event, &ms) != TN_OK;
  tn_clear_error();
  tn_graph_release(kept.graph);
  tn_free(kept.memory);
  tn_free(kept.pinned);
  tn_block_release(kept.block);
  tn_kernel_release(kept.kernel);
  tn_module_release(kept.module);
  tn_event_release(kept.event);
  tn_stream_release(kept.stream);
  tn_shutdown();
  return is_refused && tn_last_status() == TN_OK ? GOOD : 1;
}

static void release_late(void)
{
  tn_graph_release(kept.graph);
  tn_free(kept.memory);
  tn_free(kept.pinned);
  tn_block_release(kept.block);
  tn_kernel_release(kept.kernel);
  tn_event_release(kept.event);
}

/* Objects of static duration are released after the library's end. */
static int release_at_exit(void)
{
  atexit(release_late);
  return leave_all();
}

/* A kernel that no cache has: drivers start their compilers for it, and go on
 * compiling while the program ends. */
static int leave_compiling(void)
{
  char text[200];
  snprintf(text, sizeof text, "TN_KERNEL(inc, TN_OUT(int32, y), TN_VAL(int64, "
           "n)) { TN_PARALLEL_FOR(i, n) y[i] += %d; } /* %lld */",
           (int)getpid(), (long long)time(NULL));
  kept.module = tn_module_load(device, text);
  kept.kernel = tn_kernel_get(kept.module, "inc");
  kept.memory = tn_malloc(device, SIZE);
  tn_status status = tn_launch(kept.kernel, 1000,
                               TN_ARGS(TN_ARG_PTR(kept.memory),
                                       TN_ARG_I64(1000)));
  return status == TN_OK ? GOOD : 1;
}

static atomic_bool is_driver_gone;

static void end_driver(void) { atomic_store(&is_driver_gone, true); }

static void start_compiler(void *argument)
{
  *(pthread_t *)argument = pthread_self();
  atexit(end_driver);
}

static void need_driver(void *argument)
{
  (void)argument;
  while (tn_reset_peak_host_memory_stats() != TN_SHUT_DOWN)
    if (atomic_load(&is_driver_gone)) break;
  if (atomic_load(&is_driver_gone)) _exit(3);
}

/* A driver whose compiler starts with the first run of a kernel, in a thread
 * of its own (PoCL's does), and takes what it has away at the end. */
static int leave_driver(void)
{
  pthread_t thread = pthread_self();
  make();
  tn_status status = tn_stream_call(kept.stream, start_compiler, &thread);
  tn_stream_synchronize(kept.stream);
  if (pthread_equal(thread, pthread_self())) return GOOD; /* in the call */
  if (status == TN_OK)
    status = tn_stream_call(kept.stream, need_driver, NULL);
  return status == TN_OK ? GOOD : 1;
}

static const struct program {
  const char *name, *row, *what;
  int (*run)(void);
  int times;
} programs[] = {
  { "all", "R10", "that leaves everything behind", leave_all, 3 },
  { "thread", "R10", "that ends in a thread", leave_in_thread, 3 },
  { "beside", "R43", "that ends while threads use the library",
    leave_beside_threads, 10 },
  { "shutdown", "R44", "that ends the library, which then refuses all",
    shut_down, 1 },
  { "compiling", "R10", "that ends while its first kernel is compiled",
    leave_compiling, 2 },
  { "driver", "R10", "whose driver registered a handler in its own thread",
    leave_driver, 1 },
  { "late", "R44", "that releases after the end", release_at_exit, 2 },
};

static int run_self(const char *self, const char *name)
{
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) {
    execl(self, self, name, (char *)NULL);
    _exit(127);
  }
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

static bool can_run(void)
{
  tn_module *module = tn_module_load(device, source);
  bool can = module || tn_last_status() != TN_UNSUPPORTED;
  tn_module_release(module);
  return can;
}

int main(int count, char **arguments)
{
  enum { PROGRAMS = sizeof programs / sizeof *programs };
  device = test_device();
  tn_set_default_device(device);
  for (int i = 0; i < PROGRAMS && count > 1; i++)
    if (strcmp(arguments[1], programs[i].name) == 0) return programs[i].run();
  if (!can_run()) {
    tap_skip("X4 no portable kernels here");
    return tap_done();
  }
  char self[PATH_MAX]; /* not the link itself: that is valgrind's */
  bool is_found = realpath("/proc/self/exe", self);
  for (int i = 0; i < PROGRAMS; i++) {
    int status = is_found ? GOOD : -1;
    for (int j = 0; j < programs[i].times && status == GOOD; j++)
      status = run_self(self, programs[i].name);
    tap_is_int(status, GOOD, "X4 %s a program %s keeps its exit status",
               programs[i].row, programs[i].what);
  }
  return tap_done();
}
