/* A thread that waits for a stream or a device keeps nobody from queueing, on
 * any device (rules S8, A039, A074, A082). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <unistd.h>

#include "tests/tap.h"

static tn_device device;
static tn_stream *slow, *other;
static int calls;

typedef struct waiter {
  tn_status (*wait)(void);
  pthread_t thread;
  sem_t begun;
  tn_status status;
} waiter;

static tn_status wait_for_stream(void) { return tn_stream_synchronize(slow); }
static tn_status wait_for_device(void) { return tn_synchronize(device); }

static void *wait_there(void *argument)
{
  waiter *w = argument;
  sem_post(&w->begun);
  w->status = w->wait();
  return NULL;
}

static void count_call(void *unused)
{
  (void)unused;
  calls++;
}

/* What other threads do meanwhile. If the waiter held a lock that this needs,
 * it would hang until the alarm. */
static void work_meanwhile(const char *what)
{
  tn_status status = TN_OK;
  for (int i = 0; i < 200 && status == TN_OK; i++)
    status = tn_stream_call(slow, count_call, NULL);
  tap_is_int(status, TN_OK, "S8 %s: its queue can be added to", what);
  void *memory = NULL;
  tn_with_stream(other) {
    memory = tn_malloc(device, 4096);
    status = tn_fill_bytes(memory, device, 1, 4096);
  }
  tap_is_int(status, TN_OK, "S8 %s: so can another", what);
  tap_is_int(tn_stream_synchronize(other), TN_OK,
             "A082 %s: which can be waited for", what);
  tap_is_int(tn_stream_query(slow), TN_NOT_READY,
             "A082 %s: while the first is busy", what);
  tn_free(memory);
}

static void test_wait(const char *what, tn_status (*wait)(void))
{
  test_gate gate;
  waiter w = { .wait = wait };
  calls = 0;
  if (!test_gate_shut(&gate, slow)) {
    tap_skip("S8 %s: the backend has no host functions", what);
    return;
  }
  sem_init(&w.begun, 0, 0);
  if (pthread_create(&w.thread, NULL, wait_there, &w) != 0) abort();
  while (sem_wait(&w.begun) != 0) {}
  work_meanwhile(what);
  test_gate_open(&gate);
  pthread_join(w.thread, NULL);
  tap_is_int(w.status, TN_OK, "S8 %s: the wait ends well", what);
  tap_is_int(tn_stream_synchronize(slow), TN_OK, "S8 %s: and the rest", what);
  tap_is_int(calls, 200, "S1 %s: every call was made", what);
  sem_destroy(&w.begun);
}

static void test_current_device(void)
{
  tn_device second = test_second_device();
  if (!second.backend) {
    tap_skip("A039 there is one device");
    return;
  }
  tn_set_device(device);
  tn_stream *there = tn_stream_new(second, 0);
  tn_event *event = tn_event_new(0);
  tn_event_record(event, there);
  tap_is_int(tn_stream_query(there), TN_OK, "A074 another device's stream");
  tap_is_int(tn_event_synchronize(event), TN_OK, "A074 and event");
  tap_is_int(tn_synchronize(second), TN_OK, "A039 and the device");
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device current = device;
  tn_device_format(device, text, sizeof text);
  for (char *c = text; *c; c++)
    if (*c == ':') *c = 0;
  current = tn_current_device(text);
  tap_ok(tn_device_equal(current, device),
         "S8 waiting changes no current device");
  tn_event_release(event);
  tn_stream_release(there);
}

int main(void)
{
  alarm(120);
  device = test_device();
  slow = tn_stream_new(device, 0);
  other = tn_stream_new(device, 0);
  test_wait("a stream", wait_for_stream);
  test_wait("a device", wait_for_device);
  test_current_device();
  tn_stream_release(slow);
  tn_stream_release(other);
  return tap_done();
}
