/* Streams of any device (rules D6, S1, S5, S7, S8). */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

static tn_device device, second;

enum { POOL = 32 };

static int count_different(tn_stream **streams, int count)
{
  int different = 0;
  for (int i = 0; i < count; i++) {
    int j = 0;
    while (j < i && streams[j] != streams[i]) j++;
    different += j == i;
  }
  return different;
}

static void test_pool(void)
{
  enum { COUNT = 200 };
  tn_stream *streams[COUNT], *urgent[COUNT], *common = NULL;
  for (int i = 0; i < COUNT; i++) streams[i] = tn_stream_new(device, 0);
  for (int i = 0; i < COUNT; i++) urgent[i] = tn_stream_new(device, -1);
  tap_is_int(count_different(streams, COUNT), POOL,
             "A058 200 streams are the pool's 32, again and again");
  tap_is_int(count_different(streams, POOL), POOL, "A058 in turn");
  tap_ok(streams[0] == streams[POOL], "A058 the 33rd is the first again");
  tap_is_int(count_different(urgent, COUNT), POOL, "A058 for each priority");
  for (int i = 0; i < POOL; i++)
    for (int j = 0; j < POOL; j++)
      if (streams[i] == urgent[j]) common = streams[i];
  tap_ok(!common, "A058 of its own");
  tn_stream *clamped = tn_stream_new(device, -10);
  bool is_urgent = false;
  for (int i = 0; i < POOL; i++) is_urgent |= urgent[i] == clamped;
  tap_ok(is_urgent, "A059 priority -10 is the most urgent there is");
  clamped = tn_stream_new(device, 10);
  bool is_least = false;
  for (int i = 0; i < POOL; i++) is_least |= streams[i] == clamped;
  tap_ok(is_least, "A059 priority 10 is 0");
  tn_stream *standard = tn_default_stream(device);
  bool is_pooled = false;
  for (int i = 0; i < POOL; i++) is_pooled |= streams[i] == standard;
  tap_ok(standard && !is_pooled, "A050 the default stream is not of the pool");
  tn_stream_release(streams[0]);
  tn_stream_release(standard);
  tap_is_int(tn_stream_query(streams[0]), TN_OK,
             "A066 S7 the pool's outlive their release");
  tap_is_int(tn_stream_query(standard), TN_OK, "A050 and are idle");
}

static void test_current(void)
{
  tn_stream *standard = tn_default_stream(device);
  tn_stream *one = tn_stream_new(device, 0), *two = tn_stream_new(device, 0);
  tap_ok(tn_current_stream(device) == standard,
         "D6 a thread starts with the default stream");
  tn_with_stream(one) {
    tap_ok(tn_current_stream(device) == one, "A051 a block has its stream");
    tn_with_stream(two) {
      tap_ok(tn_current_stream(device) == two, "A053 also a nested one");
      tn_with_stream(one)
        tap_ok(tn_current_stream(device) == one,
               "A054 and the same stream again");
      tap_ok(tn_current_stream(device) == two, "A054 restored");
      tn_set_stream(standard);
    }
    tap_ok(tn_current_stream(device) == one,
           "A053 restored, whatever happened within");
  }
  tap_ok(tn_current_stream(device) == standard, "A053 to the default one");
  tap_is_int(tn_set_stream(two), TN_OK, "D6 set for good");
  tap_ok(tn_current_stream(device) == two, "D6 it is");
  tn_set_stream(standard);
  tap_is_int(tn_set_stream(NULL), TN_INVALID_ARGUMENT, "D6 no stream");
  bool entered = false;
  tn_with_stream(NULL) entered = true;
  tap_ok(!entered, "D6 a block without a stream is skipped");
}

static void test_names(void)
{
  char text[TN_DEVICE_TEXT_SIZE];
  tn_device_format(second, text, sizeof text);
  tn_stream *standard = tn_default_stream(second), *as_current = NULL;
  tn_with_device(second)
    as_current = tn_default_stream((tn_device){ second.backend, -1 });
  tap_ok(tn_default_stream(tn_device_of(text)) == standard &&
             as_current == standard,
         "A326 a device's stream by name, by number and as the current one");
}

static void test_two_devices(void)
{
  if (second.backend == 0) {
    tap_skip("A055 there is one device");
    return;
  }
  tn_device_info info;
  tn_device_get_info(device, &info);
  tn_stream *other = tn_stream_new(second, 0);
  test_names();
  if (strcmp(info.backend, "remote") == 0)
    tap_is_int(tn_device_count("remote"), 2, "A324 two rehearsal devices");
  tap_ok(tn_default_stream(device) != tn_default_stream(second),
         "A061 devices have default streams of their own");
  tn_set_stream(other);
  tap_is_int(tn_current_device(info.backend).index, 0,
             "A055 a current stream changes no current device");
  tap_ok(tn_current_stream(second) == other &&
             tn_current_stream(device) == tn_default_stream(device),
         "A055 and none of another device");
  tn_set_stream(tn_default_stream(second));
  tn_with_stream(other) {
    tap_is_int(tn_current_device(info.backend).index, second.index,
               "A051 a block changes both");
    tap_ok(tn_current_stream(device) == tn_default_stream(device),
           "A051 not the other device's stream");
  }
  tap_is_int(tn_current_device(info.backend).index, 0, "A051 and restores");
  tap_ok(tn_current_stream(second) == tn_default_stream(second),
         "A051 both");
  tn_set_stream(other);
  tn_with_device(second)
    tap_ok(tn_current_stream(second) == other,
           "A056 a device's block leaves streams alone");
  tn_set_stream(tn_default_stream(second));
  tap_is_int(tn_stream_synchronize(other), TN_OK,
             "A074 a stream of another device is synchronised");
  tap_is_int(tn_current_device(info.backend).index, 0, "A074 from here");
}

static void *look(void *stream)
{
  bool is_default = tn_current_stream(device) == tn_default_stream(device);
  tn_set_stream(stream);
  return is_default && tn_current_stream(device) == stream ? stream : NULL;
}

/* The first thing that a thread does. */
static void *copy_first(void *argument)
{
  int number = 7, seen = 0;
  void *memory = tn_malloc(*(const tn_device *)argument, sizeof number);
  tn_copy(memory, *(const tn_device *)argument, &number, test_host,
          sizeof number, false);
  tn_copy(&seen, test_host, memory, *(const tn_device *)argument, sizeof seen,
          false);
  tn_free(memory);
  return seen == 7 ? argument : NULL;
}

/* Nothing that a driver keeps for each thread is set up in a new one. */
static void test_first_calls(void)
{
  tn_device *devices[] = { &device, &second };
  for (int i = 0; i < (second.backend == 0 ? 1 : 2); i++) {
    pthread_t thread;
    void *result = NULL;
    pthread_create(&thread, NULL, copy_first, devices[i]);
    pthread_join(thread, &result);
    tap_ok(result != NULL, "D6 R46 a new thread begins with a copy, to device "
           "%d", devices[i]->index);
  }
}

static void test_thread(void)
{
  pthread_t thread;
  void *result;
  tn_stream *one = tn_stream_new(device, 0), *two = tn_stream_new(device, 0);
  tn_with_stream(one) {
    pthread_create(&thread, NULL, look, two);
    pthread_join(thread, &result);
    tap_ok(result == two, "A057 a new thread starts at the default stream");
    tap_ok(tn_current_stream(device) == one,
           "A057 what it sets is its own affair");
  }
}

/* Two streams may note at the same time. */
static char seen[16];
static void note(const char *what)
{
  static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
  pthread_mutex_lock(&lock);
  strcat(seen, what);
  pthread_mutex_unlock(&lock);
}
static void note_a(void *unused) { (void)unused, note("a"); }
static void note_b(void *unused) { (void)unused, note("b"); }

/* For waits that must be seen to begin. */
typedef struct patient {
  tn_stream *stream;
  pthread_t thread;
  sem_t began;
  tn_status status;
} patient;

static void *synchronize(void *argument)
{
  patient *p = argument;
  sem_post(&p->began);
  p->status = tn_stream_synchronize(p->stream);
  return NULL;
}

static void begin_waiting(patient *p, tn_stream *stream)
{
  p->stream = stream;
  sem_init(&p->began, 0, 0);
  pthread_create(&p->thread, NULL, synchronize, p);
  while (sem_wait(&p->began) != 0) {}
}

/* While one thread waits for a stream, others use it. */
static void test_locks(tn_stream *stream)
{
  tap_is_int(tn_stream_query(stream), TN_NOT_READY,
             "S8 a stream that a thread waits for can be asked");
  tap_is_int(tn_stream_call(stream, note_b, NULL), TN_OK,
             "S8 and given work");
  tap_is_int(tn_stream_synchronize_for(stream, 1), TN_TIMEOUT,
             "A082 two threads can wait at once; S4 within a limit");
  tn_stream *other = tn_stream_new(device, 0);
  tap_is_int(tn_stream_synchronize(other), TN_OK,
             "S8 other streams are not held up");
  void *memory = tn_malloc(device, 100);
  tap_ok(memory != NULL, "S8 nor is memory");
  tn_free(memory);
}

static void test_gated(void)
{
  test_gate gate;
  tn_stream *stream = tn_stream_new(device, 0);
  tn_stream *follower = tn_stream_new(device, 0);
  if (!test_gate_shut(&gate, stream)) {
    tap_skip("S8 the backend has no host functions to keep a stream busy");
    return;
  }
  patient one, two;
  seen[0] = 0;
  tn_stream_call(stream, note_a, NULL);
  tap_is_int(tn_stream_query(stream), TN_NOT_READY, "S5 a busy stream");
  tap_is_int(tn_stream_wait_stream(follower, stream), TN_OK,
             "S5 another waits for it");
  begin_waiting(&one, stream);
  test_locks(stream);
  tn_stream_call(follower, note_b, NULL);
  tap_is_int(tn_stream_query(follower), TN_NOT_READY, "S5 it waits");
  tap_is_text(seen, "", "S1 nothing ran");
  begin_waiting(&two, follower);
  test_gate_open(&gate);
  pthread_join(one.thread, NULL);
  pthread_join(two.thread, NULL);
  tap_is_int(one.status, TN_OK, "S5 synchronised by a thread");
  tap_is_int(two.status, TN_OK, "S5 and by another");
  tap_is_int(tn_stream_synchronize(follower), TN_OK, "S5 and here");
  tap_is_int(tn_synchronize(device), TN_OK, "S5 the device is done");
  tap_is_text(seen, "abb", "S1 all ran, in order");
}

static void test_refusals(void)
{
  tn_device invalid = { -1, -1 };
  tap_ok(!tn_stream_new(invalid, 0) &&
             tn_last_status() == TN_INVALID_ARGUMENT,
         "D1 no stream of the invalid device");
  tn_device far = { device.backend, 500 };
  tap_ok(!tn_current_stream(far) && tn_last_status() == TN_NO_SUCH_DEVICE,
         "A063 nor of one that is not there");
  tap_is_int(tn_stream_synchronize(NULL), TN_INVALID_ARGUMENT,
             "S5 NULL is no stream");
  tap_is_int(tn_stream_call(tn_default_stream(device), NULL, NULL),
             TN_INVALID_ARGUMENT, "S5 NULL is no function");
  tap_ok(tn_device_equal(tn_stream_device(NULL), invalid),
         "S5 NULL has no device");
  tn_stream_release(NULL);
  seen[0] = 0;
  tap_is_int(tn_stream_call(tn_default_stream(device), note_a, NULL), TN_OK,
             "S5 a function in the default stream");
  tn_stream_synchronize(tn_default_stream(device));
  tap_is_text(seen, "a", "S5 is called");
}

int main(void)
{
  device = test_device();
  second = test_second_device();
  if (device.index != 0) second = test_host;
  test_pool();
  test_current();
  test_two_devices();
  test_thread();
  test_first_calls();
  test_gated();
  test_refusals();
  return tap_done();
}
