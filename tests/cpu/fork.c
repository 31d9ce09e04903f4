/* D9: the cpu backend in a forked child goes on without its threads. */
#include <semaphore.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/cpu/host.h"
#include "tests/tap.h"

#if defined(__SANITIZE_THREAD__) && !defined(__clang__)
#define CHILD_CANNOT_RUN "gcc's ThreadSanitizer ends children of threads"
#endif

#define COUNT 1000000

static tn_backend_device *device;
static tn_backend_stream *inline_stream, *stream;
static tn_backend_kernel *fill, *add;
static tn_backend_graph *graph;
static float counted;
static sem_t gate, inside;

static void gate_pass(void *argument)
{
  (void)argument;
  sem_post(&inside);
  sem_wait(&gate);
}

/* Fills on a stream and looks at the end. */
static bool fill_works(tn_backend_stream *on, float value)
{
  float *memory = plugin_alloc(device, COUNT * sizeof *memory);
  uint64_t slots[3] = { PLUGIN_POINTER(memory), 0, COUNT };
  memcpy(&slots[1], &value, sizeof value);
  bool works = !plugin_launch(on, fill, COUNT, slots);
  plugin_synchronize(device, on);
  works = works && memory[0] == value && memory[COUNT - 1] == value;
  plugin_free(device, memory, COUNT * sizeof *memory);
  return works;
}

/* A graph that adds 1 to *y. */
static tn_backend_graph *counting_graph(float *y)
{
  tn_backend_graph *made = NULL;
  const float one = 1;
  uint64_t slots[4] = { PLUGIN_POINTER(y), PLUGIN_POINTER(y), 0, 1 };
  memcpy(&slots[2], &one, sizeof one);
  tn_backend_stream *on = plugin_stream(device, 0, 0);
  plugin->graph->capture_begin(on);
  plugin_launch(on, add, 1, slots);
  plugin->graph->capture_end(on, &made);
  plugin->stream->destroy(on);
  return made;
}

/* In the child: a bit for each thing that went wrong. */
static int child_run(tn_point point)
{
  if (plugin->device->after_fork(plugin->self)) return 1;
  int wrong = 0;
  if (plugin->stream->query(device, &point)) wrong |= 2;
  if (!fill_works(inline_stream, 2)) wrong |= 4;
  if (!fill_works(stream, 3)) wrong |= 8;
  tn_backend_stream *fresh = plugin_stream(device, 0, 0);
  if (!fresh || !fill_works(fresh, 4)) wrong |= 16;
  plugin->stream->destroy(fresh);
  if (plugin->graph->launch(graph, stream) || counted != 1) wrong |= 32;
  return wrong;
}

static void test_fork(void)
{
  tn_point point;
  plugin->stream->host_function(stream, gate_pass, NULL, 0);
  sem_wait(&inside);
  graph = counting_graph(&counted);
  plugin->graph->launch(graph, stream); /* the parent's */
  plugin->stream->record(stream, 0, &point);
  pid_t child = fork();
  if (child == 0) _exit(child_run(point));
  int status = -1;
  waitpid(child, &status, 0);
  tap_is_int(status, 0, "D9: the child computes on every stream");
  tap_is_int(plugin->stream->query(device, &point), TN_NOT_READY,
             "D9: the parent's work is where it was");
  sem_post(&gate);
  plugin_synchronize(device, stream);
  tap_ok(fill_works(stream, 5), "D9: and the parent goes on");
  tap_ok(counted == 1, "D9: with the graph's run");
  plugin->graph->destroy(graph);
}

int main(void)
{
#ifdef CHILD_CANNOT_RUN
  tap_skip(CHILD_CANNOT_RUN);
  return tap_done();
#endif
  sem_init(&gate, 0, 0);
  sem_init(&inside, 0, 0);
  setenv("TENON_NUM_THREADS", "2", 1);
  plugin_load();
  device = plugin_device();
  inline_stream = plugin_stream(device, TN_STREAM_DEFAULT, 0);
  stream = plugin_stream(device, 0, 0);
  tn_backend_module *module = plugin_module(device, "elementwise", NULL);
  fill = plugin_kernel(module, "fill_f32");
  add = plugin_kernel(module, "add_scalar_f32");
  if (tap_ok(fill && add && stream && fill_works(inline_stream, 1),
             "fills work before the fork"))
    test_fork();
  plugin->launch->module_unload(module);
  plugin->stream->destroy(stream);
  plugin->stream->destroy(inline_stream);
  plugin->device->close(device);
  plugin_unload();
  return tap_done();
}
