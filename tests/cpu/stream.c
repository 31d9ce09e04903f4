/* Streams, points and host functions of the cpu backend. */
#include <pthread.h>
#include <semaphore.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#define THREADS 4
#define COMMANDS 20000

static tn_backend_device *device;
static tn_backend_stream *inline_stream;
static sem_t gate;

static void gate_pass(void *argument)
{
  (void)argument;
  sem_wait(&gate);
}

static tn_status call(tn_backend_stream *stream, void (*function)(void *),
                      void *argument)
{
  return plugin->stream->host_function(stream, function, argument, 7);
}

static tn_point record(tn_backend_stream *stream, uint32_t flags)
{
  tn_point point = { { 0, 0 } };
  if (plugin->stream->record(stream, flags, &point))
    tap_ok(false, "a point is recorded: %s", plugin_error());
  return point;
}

/* --- order --- */

/* Not atomic: the stream's order is all there is. */
typedef struct ordered_count {
  int value, wrong;
} ordered_count;

typedef struct counting_step {
  ordered_count *counter;
  int wanted;
} counting_step;

static void step_run(void *argument)
{
  counting_step *step = argument;
  step->counter->wrong += step->counter->value != step->wanted;
  step->counter->value++;
}

static void *commands_queue(void *argument)
{
  ordered_count *counter = argument;
  tn_backend_stream *stream = plugin_stream(device, 0, 0);
  counting_step *steps = calloc(COMMANDS, sizeof *steps);
  for (int i = 0; stream && i < COMMANDS; i++) {
    steps[i].counter = counter;
    steps[i].wanted = i;
    if (call(stream, step_run, &steps[i])) break;
    if (i % 5000 == 4999) plugin_synchronize(device, stream);
  }
  plugin_synchronize(device, stream);
  plugin->stream->destroy(stream);
  free(steps);
  return NULL;
}

static void test_order(void)
{
  pthread_t threads[THREADS];
  ordered_count counters[THREADS];
  memset(counters, 0, sizeof counters);
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, commands_queue, &counters[i]);
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], NULL);
    tap_ok(counters[i].value == COMMANDS && counters[i].wrong == 0,
           "S1: %d commands ran in order on stream %d", COMMANDS, i);
  }
}

/* Many more commands than one piece of a queue holds, none of which can
 * run. */
static void test_backlog(void)
{
  tn_backend_stream *stream = plugin_stream(device, 0, 0);
  ordered_count counter = { 0, 0 };
  counting_step *steps = calloc(COMMANDS, sizeof *steps);
  call(stream, gate_pass, NULL);
  for (int i = 0; i < COMMANDS; i++) {
    steps[i].counter = &counter;
    steps[i].wanted = i;
    call(stream, step_run, &steps[i]);
  }
  tn_point point = record(stream, 0);
  tap_is_int(plugin->stream->query(device, &point), TN_NOT_READY,
             "S1: queueing does not wait");
  tap_is_int(plugin->stream->host_wait(device, &point, 1000000), TN_TIMEOUT,
             "S4: a wait ends at its limit");
  tap_has(plugin_error(), "1.000 ms", "S4: and tells it");
  sem_post(&gate);
  tap_is_int(plugin->stream->host_wait(device, &point, UINT64_MAX), TN_OK,
             "S5: a wait without a limit");
  tap_is_int(counter.value, COMMANDS, "S1: all commands have run");
  tap_is_int(counter.wrong, 0, "S1: in order");
  plugin->stream->destroy(stream);
  tap_is_int(plugin->stream->query(device, &point), TN_OK,
             "S5: a point outlives its stream");
  plugin->stream->point_release(device, &point);
  free(steps);
}

/* --- between streams --- */

/* Two streams take turns, each waiting for the other's last point. */
static void test_turns(void)
{
  tn_backend_stream *streams[2] = { plugin_stream(device, 0, 0),
                                    plugin_stream(device, 0, -1) };
  const int turns = 2000;
  ordered_count counter = { 0, 0 };
  counting_step *steps = calloc((size_t)turns, sizeof *steps);
  tn_status status = TN_OK;
  for (int i = 0; i < turns && !status; i++) {
    tn_backend_stream *mine = streams[i % 2], *other = streams[(i + 1) % 2];
    tn_point point = record(other, 0);
    steps[i].counter = &counter;
    steps[i].wanted = i;
    status = plugin->stream->wait(mine, &point, 1);
    plugin->stream->point_release(device, &point);
    if (!status) status = call(mine, step_run, &steps[i]);
  }
  plugin_synchronize(device, streams[0]);
  plugin_synchronize(device, streams[1]);
  tap_ok(!status && counter.value == turns && counter.wrong == 0,
         "S5: two streams took %d turns", turns);
  plugin->stream->destroy(streams[0]);
  plugin->stream->destroy(streams[1]);
  free(steps);
}

static void flag_set(void *argument)
{
  atomic_store((atomic_int *)argument, 1);
}

static void *gate_open(void *argument)
{
  sem_post(&gate);
  return argument;
}

static void test_inline(void)
{
  tn_backend_stream *stream = plugin_stream(device, 0, 0);
  atomic_int flag = 0;
  call(stream, gate_pass, NULL);
  call(stream, flag_set, &flag);
  tn_point point = record(stream, 0), done = record(inline_stream, 0);
  tap_is_int(plugin->stream->query(device, &done), TN_OK,
             "S1: the default stream is always complete");
  tap_is_int(plugin->stream->wait(stream, &done, 1), TN_OK,
             "S5: waiting for it takes nothing");
  pthread_t opener;
  pthread_create(&opener, NULL, gate_open, NULL);
  tap_is_int(plugin->stream->wait(inline_stream, &point, 1), TN_OK,
             "S5: the default stream waits for another");
  tap_is_int(atomic_load(&flag), 1, "S5: which has then got there");
  pthread_join(opener, NULL);
  atomic_store(&flag, 0);
  call(inline_stream, flag_set, &flag);
  tap_is_int(atomic_load(&flag), 1, "S1: a host function runs at once there");
  plugin->stream->point_release(device, &point);
  plugin->stream->point_release(device, &done);
  plugin->stream->destroy(stream);
}

/* A blocked host function holds up no other stream. */
static void test_blocked(void)
{
  enum { MANY = 12 };
  tn_backend_stream *streams[MANY];
  atomic_int flag = 0;
  for (int i = 0; i < MANY; i++) {
    streams[i] = plugin_stream(device, 0, 0);
    if (i < MANY - 1) call(streams[i], gate_pass, NULL);
  }
  call(streams[MANY - 1], flag_set, &flag);
  plugin_synchronize(device, streams[MANY - 1]);
  tap_is_int(atomic_load(&flag), 1,
             "S1: %d streams that wait hold up no other", MANY - 1);
  for (int i = 0; i < MANY - 1; i++) sem_post(&gate);
  for (int i = 0; i < MANY; i++) {
    plugin_synchronize(device, streams[i]);
    plugin->stream->destroy(streams[i]);
  }
}

/* --- waiting from many threads --- */

static void *points_await(void *argument)
{
  tn_point *points = argument;
  long failures = 0;
  for (int i = 0; i < 1000; i++)
    failures +=
      plugin->stream->host_wait(device, &points[i], UINT64_MAX) != TN_OK;
  return (void *)failures;
}

static void test_waiters(void)
{
  tn_backend_stream *stream = plugin_stream(device, 0, 0);
  pthread_t threads[THREADS];
  tn_point points[1000];
  atomic_int flag = 0;
  call(stream, gate_pass, NULL);
  for (int i = 0; i < 1000; i++) {
    call(stream, flag_set, &flag);
    points[i] = record(stream, 0);
  }
  for (int i = 0; i < THREADS; i++)
    pthread_create(&threads[i], NULL, points_await, points);
  sem_post(&gate);
  void *failures = NULL;
  for (int i = 0; i < THREADS; i++) {
    pthread_join(threads[i], &failures);
    tap_ok(!failures, "S5: thread %d waited for 1000 points", i);
  }
  for (int i = 0; i < 1000; i++)
    plugin->stream->point_release(device, &points[i]);
  plugin->stream->destroy(stream);
}

/* --- time --- */

static void test_timing(void)
{
  tn_backend_stream *streams[2] = { inline_stream,
                                    plugin_stream(device, 0, 0) };
  for (int i = 0; i < 2; i++) {
    const char *which = i ? "queued" : "inline";
    tn_point start = record(streams[i], TN_RECORD_TIMING);
    tn_point middle = record(streams[i], 0);
    tn_point end = record(streams[i], TN_RECORD_TIMING);
    double ms = -1;
    plugin_synchronize(device, streams[i]);
    tap_is_int(plugin->stream->elapsed(device, &start, &end, &ms), TN_OK,
               "S5: elapsed time, %s", which);
    tap_ok(ms >= 0 && ms < 60000, "S5: it is %f ms", ms);
    tap_is_int(plugin->stream->elapsed(device, &start, &middle, &ms),
               TN_INVALID_ARGUMENT, "S5: not without timing, %s", which);
    plugin->stream->point_release(device, &start);
    plugin->stream->point_release(device, &middle);
    plugin->stream->point_release(device, &end);
  }
  call(streams[1], gate_pass, NULL);
  tn_point start = record(streams[1], TN_RECORD_TIMING), end = start;
  double ms;
  tap_is_int(plugin->stream->elapsed(device, &start, &end, &ms), TN_NOT_READY,
             "S5: not before the points are complete");
  plugin->stream->point_release(device, &start);
  sem_post(&gate);
  plugin_synchronize(device, streams[1]);
  tap_ok(true, "S5: a timed point may be released before it is reached");
  plugin->stream->destroy(streams[1]);
}

static void test_refusals(void)
{
  tn_stream_desc desc = { .struct_size = sizeof desc, .flags = 64 };
  tn_backend_stream *stream = NULL;
  tap_is_int(plugin->stream->create(device, &desc, &stream),
             TN_INVALID_ARGUMENT, "unknown flags of a stream are refused");
  tn_point point = { { 0, 0 } };
  tap_is_int(plugin->stream->record(inline_stream, 64, &point),
             TN_INVALID_ARGUMENT, "unknown flags of a record are refused");
  tap_is_int(plugin->stream->query(device, &point), TN_INVALID_ARGUMENT,
             "a point that was never recorded is refused");
  tn_error_info info = { .struct_size = sizeof info, .status = TN_TIMEOUT,
                         .tag = 9 };
  tap_is_int(plugin->stream->take_error(inline_stream, &info), TN_OK,
             "S6: a stream's error can be asked for");
  tap_ok(info.status == TN_OK && info.tag == 0 && !*info.text,
         "S6: there is none");
}

int main(void)
{
  sem_init(&gate, 0, 0);
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  if (device && inline_stream) {
    test_order();
    test_backlog();
    test_turns();
    test_inline();
    test_blocked();
    test_waiters();
    test_timing();
    test_refusals();
  }
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
