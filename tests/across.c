/* Between backends: streams that wait for each other, copies (rules S3, S5). */
#include "config.h"

#include "tests/manual_device.h"

#include <semaphore.h>
#include <stdlib.h>
#include <string.h>

static tn_device cpu;
static char seen[16];
static sem_t gate;

static void note_a(void *unused) { (void)unused, strcat(seen, "a"); }
static void note_b(void *unused) { (void)unused, strcat(seen, "b"); }

static void wait_gate(void *unused)
{
  (void)unused;
  while (sem_wait(&gate) != 0) {}
}

/* A cpu stream waits in its own thread for work that only runs there. */
static void test_cpu_waits(void)
{
  int number;
  tn_stream *other = manual_stream(&number);
  tn_stream *stream = tn_stream_new(cpu, 0);
  tn_event *event = tn_event_new(0);
  seen[0] = 0;
  tn_stream_call(other, note_a, NULL);
  tn_event_record(event, other);
  tap_is_int(tn_stream_wait_event(stream, event), TN_OK,
             "S5 a stream waits for an event of another backend");
  tap_is_int(tn_stream_call(stream, note_b, NULL), TN_OK, "S5 then works");
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "S5 and is waited for");
  tap_is_text(seen, "ab", "S5 in that order");
  tn_event_release(event);
}

static void test_manual_waits(void)
{
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_stream *busy = tn_stream_new(cpu, 0);
  seen[0] = 0;
  sem_init(&gate, 0, 0);
  tn_stream_call(busy, wait_gate, NULL);
  tn_stream_call(busy, note_a, NULL);
  tap_is_int(tn_stream_wait_stream(stream, busy), TN_OK,
             "S5 and the other way round");
  tn_stream_call(stream, note_b, NULL);
  tap_is_int(tn_stream_query(stream), TN_NOT_READY, "S5 without blocking");
  sem_post(&gate);
  tap_is_int(tn_stream_synchronize(stream), TN_OK, "S5 it is done");
  tap_is_text(seen, "ab", "S5 in order");
}

/* The inline stream can only wait by blocking its thread. */
static void test_inline_waits(void)
{
  int number;
  tn_stream *other = manual_stream(&number);
  seen[0] = 0;
  tn_stream_call(other, note_a, NULL);
  tap_is_int(tn_stream_wait_stream(tn_default_stream(cpu), other), TN_OK,
             "S5 the default stream of cpu waits at once");
  tap_is_text(seen, "a", "S5 on the spot");
}

static void test_copies(tn_device device)
{
  enum { SIZE = (5 << 20) + 3 };
  char name[TN_DEVICE_TEXT_SIZE];
  unsigned char *sent = malloc(SIZE), *got = malloc(SIZE);
  char *here = tn_malloc(manual_first, SIZE);
  char *there = tn_malloc(device, SIZE);
  tn_device_format(device, name, sizeof name);
  for (int i = 0; i < SIZE; i++) sent[i] = (unsigned char)(i * 13 + i / 251);
  memset(got, 0, SIZE);
  tn_copy(here, manual_first, sent, manual_host, SIZE, true);
  tap_is_int(tn_copy(there, device, here, manual_first, SIZE, true), TN_OK,
             "S3 a copy from manual:0 to %s", name);
  tn_fill_bytes(here, manual_first, 0, SIZE);
  tap_is_int(tn_copy(here, manual_first, there, device, SIZE, true), TN_OK,
             "S3 and back");
  tn_copy(got, manual_host, here, manual_first, SIZE, false);
  tap_ok(memcmp(sent, got, SIZE) == 0, "S3 whole, in order");
  char path[200];
  tap_ok(tn_copy_path(device, manual_first, path, sizeof path) > 0,
         "S3 the way: %s", path);
  tn_free(here);
  tn_free(there);
  free(sent);
  free(got);
}

static void test_all(void)
{
  cpu = tn_device_of("cpu:0");
  test_cpu_waits();
  test_manual_waits();
  test_inline_waits();
  test_copies(cpu);
  test_copies(tn_device_of("remote:0"));
  tn_synchronize(cpu);
}

static void test_no_host_functions(void)
{
  cpu = tn_device_of("cpu:0");
  int number;
  tn_stream *stream = manual_stream(&number);
  tn_stream *busy = tn_stream_new(cpu, 0);
  seen[0] = 0;
  tn_stream_call(busy, note_a, NULL);
  tap_is_int(tn_stream_wait_stream(stream, busy), TN_OK,
             "S5 a backend without host functions waits on the host");
  tap_is_text(seen, "a", "S5 which is done then");
}

int main(void)
{
  manual_part("", test_all);
  manual_part("nohost", test_no_host_functions);
  return tap_done();
}
