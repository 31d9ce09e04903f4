/* Rules D9 and X4: fork, and programs that end without cleaning up. */
#include "config.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "conformance/check.h"

enum { SIZE = 100000, GOOD = 5 };

/* In a forked child the device works, or it is refused at once. */
static int use_or_refused(void *answer)
{
  tn_status *status = answer;
  double start = conform_now();
  for (int i = 0; i < 3; i++) {
    tn_clear_error();
    if (conform_works(conform_device)) return 0;
    *status = tn_last_status();
    if (*status != TN_FORKED) return 1;
  }
  return conform_now() - start < 3000 ? 0 : 2;
}

static void run_fork(void)
{
  tn_status status = TN_OK;
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_stream *stream = conform_stream_new(conform_device, 0);
  conform_ok(tn_fill_bytes(memory, conform_device, 7, SIZE), "a fill");
  conform_ok(tn_synchronize(conform_device), "synchronising");
  int code = conform_fork(use_or_refused, &status, sizeof status);
  conform_check(code != 1, "a forked child that uses the device is answered "
                "%s, neither served nor refused", tn_status_name(status));
  conform_check(code != 2, "it is refused slowly");
  conform_check(code == 0, "it ends with %d (signals are 1000 and more)",
                code);
  conform_check(strcmp(conform_backend, "cpu") != 0 || status == TN_OK,
                "cpu works in forked children");
  conform_all(conform_device, memory, 7, SIZE, "the parent's memory");
  tn_with_stream(stream)
    conform_ok(tn_fill_bytes(memory, conform_device, 8, SIZE), "a fill");
  conform_ok(tn_stream_synchronize(stream), "the parent goes on");
  conform_all(conform_device, memory, 8, SIZE, "the parent's memory");
}

static int leave_busy(void *unused)
{
  (void)unused;
  conform_open();
  unsigned char *pinned = conform_pinned_new(SIZE);
  unsigned char *memory = conform_memory_new(conform_device, SIZE);
  tn_event *event = conform_event_new(0);
  tn_set_stream(conform_stream_new(conform_device, 0));
  for (int i = 0; i < 20; i++) {
    tn_copy(memory, conform_device, pinned, conform_nowhere, SIZE, true);
    tn_fill_bytes(memory, conform_device, i, SIZE);
    tn_copy(pinned, conform_nowhere, memory, conform_device, SIZE, true);
  }
  tn_event_record(event, tn_current_stream(conform_device));
  return GOOD;
}

static void *leave_in_thread(void *unused)
{
  exit(leave_busy(unused));
}

static int leave_by_thread(void *unused)
{
  pthread_t thread;
  if (pthread_create(&thread, NULL, leave_in_thread, unused) != 0) return 1;
  pthread_join(thread, NULL);
  return 1;
}

static int leave_quickly(void *unused)
{
  _exit(leave_busy(unused));
}

static void *late;

static void release_late(void) { tn_free(late); }

static int leave_late(void *unused)
{
  atexit(release_late);
  int code = leave_busy(unused);
  late = tn_malloc(conform_device, 100);
  return late ? code : 1;
}

static int shut_down(void *unused)
{
  int code = leave_busy(unused);
  tn_stream *stream = tn_current_stream(conform_device);
  void *memory = tn_malloc(conform_device, 100);
  tn_shutdown();
  bool is_refused =
      tn_stream_synchronize(stream) == TN_SHUT_DOWN &&
      tn_fill_bytes(memory, conform_device, 0, 4) == TN_SHUT_DOWN &&
      !tn_malloc(conform_device, 4) && tn_last_status() == TN_SHUT_DOWN;
  tn_clear_error();
  tn_free(memory);
  tn_shutdown();
  return is_refused ? code : 1;
}

static void ends_well(int (*program)(void *), int times, const char *what)
{
  for (int i = 0; i < times; i++) {
    int code = conform_fork(program, NULL, 0);
    conform_check(code < 1000, "a program that %s is ended by signal %d",
                  what, code - 1000);
    conform_check(code == GOOD, "a program that %s ends with status %d in "
                  "place of %d", what, code, GOOD);
  }
}

static void run_busy(void)
{
  ends_well(leave_busy, 3, "leaves work and memory behind");
}

static void run_thread(void)
{
  ends_well(leave_by_thread, 2, "ends in a thread");
  ends_well(leave_quickly, 1, "runs no exit handler");
}

static void run_shutdown(void)
{
  ends_well(shut_down, 1, "ends the library first");
  ends_well(leave_late, 1, "releases after the library's end");
}

#define P CONFORM_PROCESS_BIT
static const conform_test tests[] = {
  { "D9", "fork", CONFORM_MINIMAL, P | CONFORM_DEVICE_BIT, false,
    "a forked child is served or refused at once, the parent unharmed",
    run_fork },
  { "X4", "busy", CONFORM_MINIMAL, P | CONFORM_STREAM_BIT, true,
    "programs that leave work behind end with their own status", run_busy },
  { "X4", "thread", CONFORM_MINIMAL, P, true,
    "programs that end in a thread do so, too", run_thread },
  { "X4", "shutdown", CONFORM_MINIMAL, P | CONFORM_MEMORY_BIT, true,
    "after the library's end all is refused, and releasing is legal",
    run_shutdown },
};
CONFORM_SECTION(conform_exits, tests);
