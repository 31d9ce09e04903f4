/* Many threads on the same streams, events and memory, on any device: nothing
 * fails, and what each thread orders for itself is in order (rules S1, S5,
 * S8, M2, D10). Worth most under ThreadSanitizer. */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "tests/tap.h"

enum { THREADS = 4, STREAMS = 3, EVENTS = 4, STEPS = 300, SIZE = 2048 };

static tn_device device, second;
static tn_stream *streams[STREAMS];
static tn_event *events[EVENTS];
static pthread_barrier_t start;

typedef struct member {
  pthread_t thread;
  unsigned seed;
  int number, wrong; /* the first step that failed, from 1 */
  const char *what;
  char message[256];
} member;

static unsigned draw(member *m, unsigned below)
{
  m->seed = m->seed * 1103515245u + 12345u;
  return (m->seed >> 16) % below;
}

static void expect(member *m, int step, bool holds, const char *what)
{
  if (holds || m->wrong) return;
  m->wrong = step + 1;
  m->what = what;
  strncpy(m->message, tn_error_message(), sizeof m->message - 1);
}

/* A value through the device, on a stream that others use too. */
static void send_value(member *m, int step, tn_stream *stream)
{
  unsigned char value = (unsigned char)(step * THREADS + m->number), got = 0;
  unsigned char *pinned = tn_malloc_pinned(SIZE);
  tn_with_stream(stream) {
    char *memory = tn_malloc(device, SIZE);
    char *other = tn_malloc(device, SIZE);
    expect(m, step, memory && other && pinned, "memory");
    memset(pinned, value, SIZE);
    tn_copy(memory, device, pinned, test_host, SIZE, true);
    tn_copy(other, device, memory, device, SIZE, true);
    tn_status status = tn_copy(&got, test_host, other + SIZE - 1, device, 1,
                               false);
    expect(m, step, status == TN_OK && got == value, "a value sent");
    tn_free(memory);
    tn_free(other);
  }
  tn_free(pinned);
}

/* Memory of one stream, used on another. */
static void lend(member *m, int step, tn_stream *from, tn_stream *to)
{
  tn_block *block = NULL;
  tn_with_stream(from) {
    block = tn_block_new(device, SIZE);
    tn_fill_bytes(tn_block_address(block), device, m->number, SIZE);
  }
  expect(m, step, tn_stream_wait_stream(to, from) == TN_OK, "a wait");
  tn_with_stream(to)
    tn_fill_bytes(tn_block_address(block), device, 9, SIZE);
  expect(m, step, tn_block_record_stream(block, to) == TN_OK, "a record");
  tn_block_release(block);
}

static void touch(member *m, int step)
{
  tn_stream *stream = streams[draw(m, STREAMS)];
  tn_event *event = events[draw(m, EVENTS)];
  tn_status status = TN_OK;
  tn_memory_stats stats;
  switch (draw(m, 10)) {
  case 0: status = tn_event_record(event, stream); break;
  case 1: status = tn_stream_wait_event(stream, event); break;
  case 2: status = tn_event_query(event); break;
  case 3: status = tn_event_synchronize(event); break;
  case 4: status = tn_stream_query(stream); break;
  case 5: status = tn_stream_synchronize(stream); break;
  case 6: status = tn_empty_cache(device); break;
  case 7: status = tn_memory_get_stats(device, &stats); break;
  case 8: status = tn_synchronize(draw(m, 2) ? device : second); break;
  default: tn_event_device(event);
  }
  expect(m, step, status == TN_OK || status == TN_NOT_READY, "a call");
}

static void *take_part(void *argument)
{
  member *m = argument;
  pthread_barrier_wait(&start);
  for (int step = 0; step < STEPS; step++) {
    tn_stream *from = streams[draw(m, STREAMS)];
    tn_stream *to = streams[draw(m, STREAMS)];
    if (draw(m, 4) == 0) send_value(m, step, from);
    else if (draw(m, 3) == 0) lend(m, step, from, to);
    else touch(m, step);
  }
  return NULL;
}

int main(void)
{
  static member members[THREADS];
  device = test_device();
  second = test_second_device();
  if (second.backend == 0) second = device;
  tn_set_default_device(device);
  for (int i = 0; i < STREAMS; i++)
    streams[i] = i ? tn_stream_new(device, 0) : tn_default_stream(device);
  for (int i = 0; i < EVENTS; i++)
    events[i] = tn_event_new(i % 2 ? TN_EVENT_TIMING : 0);
  pthread_barrier_init(&start, NULL, THREADS);
  for (int i = 0; i < THREADS; i++) {
    members[i].number = i;
    members[i].seed = (unsigned)i + 1;
    tap_note("seed %u", members[i].seed);
    pthread_create(&members[i].thread, NULL, take_part, &members[i]);
  }
  for (int i = 0; i < THREADS; i++) {
    pthread_join(members[i].thread, NULL);
    tap_ok(!members[i].wrong, "S8 thread %d: %d steps among others", i,
           STEPS);
    if (members[i].wrong)
      tap_note("step %d: %s: %s", members[i].wrong, members[i].what,
               members[i].message);
  }
  tap_is_int(tn_synchronize(device), TN_OK, "S5 the device is done");
  tn_memory_stats stats;
  tn_memory_get_stats(device, &stats);
  tap_is_int((long)stats.allocations.all.current, 0, "A130 all is back");
  tap_is_int((long)stats.active.all.current, 0, "M2 and unused");
  for (int i = 0; i < EVENTS; i++) tn_event_release(events[i]);
  return tap_done();
}
