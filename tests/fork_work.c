/* cpu goes on in a forked child (rule D9): memory, copies, kernels, streams,
 * while the parent has work on its streams. */
#include "config.h"

#include "tests/test_device.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

static tn_device device;
static tn_stream *stream;
static tn_kernel *kernel;
static int32_t *memory;

enum { COUNT = 1000 };

static const char source[] =
    "TN_KERNEL(inc, TN_OUT(int32, y), TN_VAL(int64, n))"
    "{ TN_PARALLEL_FOR(i, n) y[i] += 1; }";

static tn_status increment(int32_t *at)
{
  return tn_launch(kernel, COUNT, TN_ARGS(TN_ARG_PTR(at),
                                          TN_ARG_I64(COUNT)));
}

static void set_seven(void *argument) { *(int *)argument = 7; }

/* Gives the number of what went wrong. */
static int use_in_child(void)
{
  int32_t got = 0, told = 0;
  int32_t *own = tn_malloc(device, COUNT * sizeof *own);
  if (!own) return 1;
  if (tn_fill_bytes(own, device, 0, COUNT * sizeof *own) != TN_OK) return 2;
  if (increment(own) != TN_OK) return 3;
  if (tn_copy(&got, test_host, own + COUNT - 1, device, 4, false) != TN_OK)
    return 4;
  if (got != 1) return 5;
  tn_stream *fresh = tn_stream_new(device, 0);
  if (!fresh) return 6;
  tn_status status = TN_OK;
  tn_with_stream(fresh) status = increment(own);
  if (status != TN_OK || tn_stream_synchronize(fresh) != TN_OK) return 7;
  if (own[0] != 2) return 8;
  if (tn_stream_call(fresh, set_seven, &told) != TN_OK) return 9;
  if (tn_stream_synchronize(fresh) != TN_OK || told != 7) return 10;
  tn_free(own);
  void *pinned = tn_malloc_pinned(100);
  if (!pinned) return 11;
  tn_free(pinned);
  tn_event *event = tn_event_new(0);
  if (tn_event_record(event, fresh) != TN_OK) return 12;
  if (tn_event_synchronize(event) != TN_OK) return 13;
  tn_event_release(event);
  if (tn_synchronize(tn_device_of("cpu:1")) != TN_OK) return 14;
  return 0;
}

static int in_child(int (*body)(void))
{
  int status = -1;
  fflush(stdout);
  pid_t child = fork();
  if (child == 0) exit(body());
  if (child < 0 || waitpid(child, &status, 0) != child) return -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

/* A child of the child. */
static int use_in_grandchild(void) { return in_child(use_in_child); }

int main(void)
{
  test_gate gate;
#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
  tap_skip("D9 gcc's ThreadSanitizer cannot run a threaded child");
  return tap_done();
#endif
  device = test_device();
  tn_module *module = tn_module_load(device, source);
  kernel = tn_kernel_get(module, "inc");
  tn_module_release(module);
  stream = tn_stream_new(device, 0);
  memory = tn_malloc(device, COUNT * sizeof *memory);
  tn_fill_bytes(memory, device, 0, COUNT * sizeof *memory);
  bool is_busy = test_gate_shut(&gate, stream);
  tap_ok(is_busy && kernel, "D9 a stream is busy when the process forks");
  tn_with_stream(stream) increment(memory);
  tap_is_int(in_child(use_in_child), 0, "D9 cpu works in the child");
  tap_is_int(in_child(use_in_grandchild), 0, "D9 and in a child of it");
  tap_is_int(memory[0], 0, "D9 the parent's stream waits");
  test_gate_open(&gate);
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "D9 and goes on");
  tap_is_int(memory[COUNT - 1], 1, "D9 with its work");
  tn_free(memory);
  tn_kernel_release(kernel);
  return tap_done();
}
