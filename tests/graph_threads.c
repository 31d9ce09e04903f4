/* Captures of several threads at once, and forks meanwhile (G2, D9). What stops
 * here for good has taken its locks in two orders: alarm ends it. */
#include "config.h"

#include "tests/test_device.h"

#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/tap.h"

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define CHILD_CANNOT_RUN "gcc's ThreadSanitizer ends children of threads"
#endif

enum { SIZE = 4096, USES = 50, PATIENCE_S = 300 };

static tn_device device;
static int rounds = 200, forks = 20;

/* ---- memory that captured streams use ---- */

static void *capture_empty(void *argument)
{
  tn_status *failure = argument;
  tn_stream *stream = tn_stream_new(device, 0);
  for (int i = 0; i < rounds && *failure == TN_OK; i++) {
    tn_graph *graph = tn_graph_new();
    *failure = tn_graph_begin(graph, .stream = stream,
                              .mode = TN_GRAPH_THREAD_LOCAL);
    if (*failure == TN_OK) *failure = tn_graph_end(graph);
    tn_graph_release(graph);
  }
  tn_stream_release(stream);
  return NULL;
}

/* Each use but the first takes the place of one before, whose mark goes. */
static tn_status capture_uses(tn_stream *stream, void *memory)
{
  tn_graph *graph = tn_graph_new();
  tn_status status = tn_graph_begin(graph, .stream = stream,
                                    .mode = TN_GRAPH_THREAD_LOCAL);
  for (int i = 0; i < USES && status == TN_OK; i++) {
    status = tn_fill_bytes(memory, device, i, SIZE);
    if (status == TN_OK) status = tn_memory_record_stream(memory, stream);
  }
  if (status == TN_OK) status = tn_graph_end(graph);
  tn_graph_release(graph);
  return status;
}

static void test_uses(void)
{
  pthread_t thread;
  tn_status failure = TN_OK, other = TN_OK;
  tn_stream *stream = tn_stream_new(device, 0);
  void *memory = tn_malloc(device, SIZE);
  pthread_create(&thread, NULL, capture_empty, &other);
  for (int i = 0; i < rounds && failure == TN_OK; i++)
    failure = capture_uses(stream, memory);
  pthread_join(thread, NULL);
  tap_is_int(failure, TN_OK, "G2 M2 uses recorded in a capture: %s",
             tn_error_message());
  tap_is_int(other, TN_OK, "G2 M2 beside captures of another thread");
  tn_free(memory);
  tn_stream_release(stream);
}

/* ---- one end ---- */

typedef struct end {
  tn_graph *graph;
  pthread_barrier_t barrier;
} end;

static tn_status end_together(end *e)
{
  pthread_barrier_wait(&e->barrier);
  return tn_graph_end(e->graph);
}

static void *end_too(void *argument)
{
  return end_together(argument) == TN_OK ? argument : NULL;
}

static void test_ends(void)
{
  int wrong = 0;
  tn_stream *stream = tn_stream_new(device, 0);
  end e = { .graph = tn_graph_new() };
  pthread_barrier_init(&e.barrier, NULL, 2);
  for (int i = 0; i < rounds; i++) {
    pthread_t thread;
    void *other;
    tn_graph_begin(e.graph, .stream = stream, .mode = TN_GRAPH_RELAXED);
    pthread_create(&thread, NULL, end_too, &e);
    bool own = end_together(&e) == TN_OK;
    pthread_join(thread, &other);
    if (own == (other != NULL)) wrong++;
  }
  tap_is_int(wrong, 0, "G2 of two threads that end a capture one does");
  pthread_barrier_destroy(&e.barrier);
  tn_graph_release(e.graph);
  tn_stream_release(stream);
}

/* ---- forks ---- */

#ifndef CHILD_CANNOT_RUN
static int capture_on_cpu(tn_graph *inherited)
{
  tn_device cpu;
  tn_device_parse("cpu", &cpu);
  tn_set_default_device(cpu);
  tn_graph_release(inherited);
  char *memory = tn_malloc(cpu, SIZE);
  if (!memory) return 1;
  tn_stream *stream = tn_stream_new(cpu, 0);
  for (int i = 0; i < 2; i++) {
    tn_graph *graph = tn_graph_new();
    tn_with_graph(graph, .stream = stream)
      tn_fill_bytes(memory, cpu, 7 + i, SIZE);
    tn_with_stream(stream)
      if (tn_graph_replay(graph) != TN_OK) return 2;
    if (tn_stream_synchronize(stream) != TN_OK || memory[9] != 7 + i) return 3;
    tn_graph_release(graph);
  }
  return 0;
}

/* What became of a child that gives a graph of its parent's back, if any, and
 * makes its own. */
static int child_status(tn_graph *inherited)
{
  int status;
  pid_t child = fork();
  if (child == 0) {
    alarm(PATIENCE_S / 2);
    int wrong = capture_on_cpu(inherited);
    if (wrong) fprintf(stderr, "# child %d: %s\n", wrong, tn_error_message());
    _exit(wrong);
  }
  waitpid(child, &status, 0);
  return status;
}

static tn_graph *filling_graph(tn_stream *stream, void *memory)
{
  tn_graph *graph = tn_graph_new();
  tn_with_graph(graph, .stream = stream)
    tn_fill_bytes(memory, device, 1, SIZE);
  return graph;
}

/* The child has the parent's graph, and does not have the threads. */
static void test_fork_beside_captures(void)
{
  int status = 0;
  pthread_t thread;
  tn_status failure = TN_OK;
  tn_stream *stream = tn_stream_new(device, 0);
  void *memory = tn_malloc(device, SIZE);
  tn_graph *graph = filling_graph(stream, memory);
  pthread_create(&thread, NULL, capture_empty, &failure);
  for (int i = 0; i < forks && !status; i++) status = child_status(graph);
  pthread_join(thread, NULL);
  tap_is_int(status, 0, "D9 children captured while another thread did");
  tn_graph_release(graph);
  tn_free(memory);
  tn_stream_release(stream);
}

typedef struct holder {
  tn_graph *graph;
  tn_stream *stream;
  pthread_barrier_t barrier;
  tn_status status;
} holder;

/* Between the barriers the capture goes on. */
static void *hold_capture(void *argument)
{
  holder *h = argument;
  tn_graph_begin(h->graph, .stream = h->stream);
  pthread_barrier_wait(&h->barrier);
  pthread_barrier_wait(&h->barrier);
  h->status = tn_graph_end(h->graph);
  return NULL;
}

static void test_fork_in_capture(void)
{
  pthread_t thread;
  holder h = { .graph = tn_graph_new(), .stream = tn_stream_new(device, 0) };
  pthread_barrier_init(&h.barrier, NULL, 2);
  pthread_create(&thread, NULL, hold_capture, &h);
  pthread_barrier_wait(&h.barrier);
  tap_is_int(child_status(NULL), 0,
             "D9 a child is free of a capture that forbids all else");
  pthread_barrier_wait(&h.barrier);
  pthread_join(thread, NULL);
  tap_is_int(h.status, TN_OK, "D9 which goes on in the parent");
  pthread_barrier_destroy(&h.barrier);
  tn_graph_release(h.graph);
  tn_stream_release(h.stream);
}
#endif

int main(void)
{
  if (getenv("TN_TEST_SMALL")) rounds = 20, forks = 2;
  alarm(PATIENCE_S);
  device = test_device();
  tn_set_default_device(device);
  test_uses();
  test_ends();
#ifdef CHILD_CANNOT_RUN
  tap_skip("D9 forks: %s", CHILD_CANNOT_RUN);
#else
  test_fork_beside_captures();
  test_fork_in_capture();
#endif
  return tap_done();
}
