/* Graphs in the hands of several threads at once (rules G1, G2, G7): one of
 * those that begin a capture does, and what looks at the nodes, ends, resets
 * or replays meanwhile finds all of it or nothing. */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <sched.h>
#include <stdatomic.h>
#include <stdio.h>
#include <stdlib.h>

#include "tests/tap.h"

enum { THREADS = 4, TURNS = 50, NODES = 60, BYTES = 256 };

static tn_device device;
static tn_graph *shared;
static unsigned char *memory;
static pthread_barrier_t barrier;
static atomic_int busy; /* threads */

static void start(pthread_t *threads, int count, void *(*body)(void *),
                  void *argument)
{
  atomic_store(&busy, count);
  for (int i = 0; i < count; i++)
    if (pthread_create(&threads[i], NULL, body, argument)) abort();
}

static void join(const pthread_t *threads, int count)
{
  for (int i = 0; i < count; i++) pthread_join(threads[i], NULL);
}

static tn_status fill_at(unsigned char *at, int count)
{
  tn_status status = TN_OK;
  for (int i = 0; i < count && status == TN_OK; i++)
    status = tn_fill_bytes(at, device, 1, BYTES);
  return status;
}

static tn_status fill(int count) { return fill_at(memory, count); }

/* ---- one begins ---- */

static atomic_int began, refused, wrong;

static void note_failure(const char *call)
{
  if (atomic_fetch_add(&wrong, 1) == 0)
    tap_note("%s: %s", call, tn_error_message());
}

/* All are at the capture before one ends it. */
static void *begin_with_others(void *argument)
{
  tn_stream *own = tn_stream_new(device, 0);
  (void)argument;
  for (int i = 0; i < TURNS; i++) {
    pthread_barrier_wait(&barrier);
    tn_status status = tn_graph_begin(shared, .stream = own,
                                      .mode = TN_GRAPH_THREAD_LOCAL);
    if (status == TN_CAPTURE_VIOLATION) atomic_fetch_add(&refused, 1);
    else if (status != TN_OK || fill(1) != TN_OK) note_failure("begin");
    pthread_barrier_wait(&barrier);
    if (status == TN_OK && tn_graph_end(shared) != TN_OK) note_failure("end");
    else if (status == TN_OK) atomic_fetch_add(&began, 1);
    if (tn_current_stream(device) == own) atomic_fetch_add(&wrong, 1);
  }
  tn_stream_release(own);
  return NULL;
}

static void test_begin(void)
{
  pthread_t threads[THREADS];
  pthread_barrier_init(&barrier, NULL, THREADS);
  shared = tn_graph_new();
  start(threads, THREADS, begin_with_others, NULL);
  join(threads, THREADS);
  tap_is_int(began, TURNS, "G2 of %d threads that begin to capture a graph one "
             "does", THREADS);
  tap_is_int(refused, TURNS * (THREADS - 1), "G2 the others are refused");
  tap_is_int(wrong, 0, "G2 and each has its own current stream again");
  tap_is_int((long long)tn_graph_node_count(shared), 1,
             "G1 what was captured last is there");
  tn_graph_release(shared);
  pthread_barrier_destroy(&barrier);
}

/* ---- two captures of one device ---- */

static void test_beside(void)
{
  tn_stream *one = tn_stream_new(device, 0), *other = tn_stream_new(device, 0);
  tn_graph *first = tn_graph_new(), *second = tn_graph_new();
  tn_graph_begin(first, .stream = one, .mode = TN_GRAPH_THREAD_LOCAL);
  fill(1);
  tap_is_int(tn_graph_begin(second, .stream = one,
                            .mode = TN_GRAPH_THREAD_LOCAL),
             TN_CAPTURE_VIOLATION, "G2 a stream is of one capture");
  tap_is_int(tn_graph_begin(second, .stream = other), TN_CAPTURE_VIOLATION,
             "G2 one in global mode is alone");
  tap_is_int(tn_graph_begin(second, .stream = other,
                            .mode = TN_GRAPH_THREAD_LOCAL),
             TN_OK, "G2 others go side by side: %s", tn_error_message());
  fill(2);
  tap_is_int(tn_graph_end(second), TN_OK, "G2 the one within ends");
  fill(3);
  tap_is_int(tn_graph_end(first), TN_OK, "G2 the other one lost nothing: %s",
             tn_error_message());
  tap_is_int((long long)tn_graph_node_count(first), 4, "G1 it has its nodes");
  tap_is_int((long long)tn_graph_node_count(second), 2, "G1 and so has this");
  tap_ok(tn_graph_replay(first) == TN_OK && tn_graph_replay(second) == TN_OK &&
             tn_synchronize(device) == TN_OK, "G1 both are replayed");
  tn_graph_release(first);
  tn_graph_release(second);
  tn_stream_release(one);
  tn_stream_release(other);
}

/* ---- looking at one that is captured ---- */

static bool are_right(const tn_graph *graph)
{
  tn_graph_node_info info;
  size_t count = tn_graph_node_count(graph);
  for (size_t i = 0; i < count; i++) {
    if (tn_graph_get_node(graph, i, &info) != TN_OK) return true; /* reset */
    if (info.kind != TN_GRAPH_FILL || info.bytes != BYTES) return false;
  }
  return true;
}

static void *look(void *argument)
{
  char path[256];
  FILE *file = argument;
  while (atomic_load(&busy)) {
    rewind(file);
    if (!are_right(shared) || tn_graph_dump(shared, file) != TN_OK ||
        tn_graph_list(shared, file) != TN_OK)
      atomic_fetch_add(&wrong, 1);
    tn_graph_path(shared, path, sizeof path);
    sched_yield();
  }
  return NULL;
}

static void test_look(void)
{
  pthread_t thread;
  int failures = 0;
  FILE *file = tmpfile();
  tn_stream *stream = tn_stream_new(device, 0);
  shared = tn_graph_new();
  wrong = 0;
  start(&thread, 1, look, file);
  for (int i = 0; i < TURNS; i++) {
    tn_with_graph(shared, .stream = stream) failures += fill(NODES) != TN_OK;
    failures += tn_graph_node_count(shared) != NODES;
    if (i % 2) tn_graph_reset(shared);
  }
  atomic_store(&busy, 0);
  join(&thread, 1);
  tap_is_int(failures + wrong, 0, "G7 a graph is dumped while others capture "
             "and reset it");
  fclose(file);
  tn_graph_release(shared);
  tn_stream_release(stream);
}

/* ---- replays of one that is captured ---- */

static atomic_int replays;

static void *replay(void *argument)
{
  tn_stream *own = tn_stream_new(device, 0);
  (void)argument;
  while (atomic_load(&busy)) {
    tn_status status = TN_OK;
    tn_with_stream(own) status = tn_graph_replay(shared);
    if (status == TN_OK) atomic_fetch_add(&replays, 1);
    else if (status != TN_INVALID_ARGUMENT) atomic_fetch_add(&wrong, 1);
    /* Slow devices would have ever more to do, and ever less memory. */
    tn_stream_synchronize(own);
  }
  tn_stream_release(own);
  return NULL;
}

static void test_replay(void)
{
  pthread_t threads[THREADS];
  int failures = 0;
  tn_stream *stream = tn_stream_new(device, 0);
  shared = tn_graph_new();
  wrong = 0;
  start(threads, THREADS, replay, NULL);
  for (int i = 0; i < TURNS; i++) {
    failures += tn_graph_begin(shared, .stream = stream,
                               .mode = TN_GRAPH_RELAXED) != TN_OK;
    /* Nothing orders replays of what was captured before and of this. */
    failures += fill_at(memory + i * BYTES, NODES / 10) != TN_OK;
    failures += tn_graph_end(shared) != TN_OK;
    for (int before = replays; replays == before && !failures && !wrong; )
      sched_yield();
    if (i % 2) tn_graph_reset(shared);
  }
  atomic_store(&busy, 0);
  join(threads, THREADS);
  tap_is_int(failures + wrong, 0, "G1 a graph is captured and reset while "
             "others replay it, %d times", replays);
  tap_is_int(tn_synchronize(device), TN_OK, "G1 the device is well");
  tn_graph_release(shared);
  tn_stream_release(stream);
}

/* ---- its own pool, a full disk ---- */

static void test_own_pool(void)
{
  uint64_t before[2], after[2];
  tn_stream *stream = tn_stream_new(device, 0);
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream) fill(1);
  tn_mem_pool_id(tn_graph_pool(graph), before);
  tap_is_int(tn_graph_begin(graph, .stream = stream,
                            .pool = tn_graph_pool(graph)), TN_OK,
             "G4 a graph is captured again in the pool that it has");
  void *block = tn_malloc(device, BYTES);
  tap_is_int(tn_graph_end(graph), TN_OK, "G4 to the end");
  tn_mem_pool_id(tn_graph_pool(graph), after);
  tap_ok(block && before[0] == after[0] && before[1] == after[1] &&
             tn_mem_pool_use_count(tn_graph_pool(graph)) > 0,
         "G4 and the pool is the same");
  tn_free(block);
  tn_graph_release(graph);
  tn_stream_release(stream);
}

static void test_full_disk(void)
{
  FILE *full = fopen("/dev/full", "w");
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph) fill(2);
  if (full) {
    tap_ok(tn_graph_dump(graph, full) != TN_OK,
           "G7 a dump that finds the disk full says so");
    clearerr(full);
    tap_ok(tn_graph_list(graph, full) != TN_OK, "G7 and a list");
    fclose(full);
  } else tap_skip("no /dev/full");
  tn_graph_release(graph);
}

int main(void)
{
  device = test_device();
  memory = tn_malloc(device, TURNS * BYTES);
  tn_set_default_device(device);
  if (!tap_ok(memory != NULL, "G1 memory: %s", tn_error_message()))
    return tap_done();
  test_begin();
  test_beside();
  test_look();
  test_replay();
  test_own_pool();
  test_full_disk();
  tn_free(memory);
  return tap_done();
}
