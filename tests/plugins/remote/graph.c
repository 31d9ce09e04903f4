/* Graphs: captured commands, run by the other side as one command. */
#include "tests/plugins/remote/remote.h"

#include <stdlib.h>
#include <string.h>

typedef struct remote_node {
  remote_command *command; /* owned; never queued itself */
  uint64_t *after;         /* owned: nodes that it runs after */
  size_t count;
} remote_node;

/* All of it is under remote_lock, but what the core's one call at a time
 * guards: nodes, and the arguments in their commands. */
struct tn_backend_graph {
  tn_backend_device *device;
  remote_node *nodes;
  size_t count, capacity;
  unsigned references;       /* the core's, and one for each queued run */
  uint64_t queued, ended;    /* runs */
  tn_backend_stream *latest; /* where the last run was queued */
};

typedef struct remote_capture {
  tn_backend_graph *graph;
  uint64_t *after; /* what capture_after said; NULL: nothing */
  size_t count;
  bool is_without_memory;
} remote_capture;

/* A queued run, with the arguments of its time. */
struct remote_run {
  tn_backend_graph *graph;
  uint64_t number;
  remote_command *commands; /* copies, a node each; slots owned */
};

/* ---- capture ---- */

static tn_status refuse_memory(void)
{
  return remote_host->error(TN_OUT_OF_MEMORY, "no memory for a graph");
}

static void graph_free(tn_backend_graph *graph)
{
  for (size_t i = 0; i < graph->count; i++) {
    remote_command *command = graph->nodes[i].command;
    if (command->kind == REMOTE_LAUNCH)
      remote_kernel_keep(command->as.launch.kernel, false);
    remote_command_free(command);
    free(graph->nodes[i].after);
  }
  atomic_fetch_sub(&graph->device->graphs, 1);
  free(graph->nodes);
  free(graph);
}

/* Lock held. */
static void graph_release(tn_backend_graph *graph)
{
  if (--graph->references == 0) graph_free(graph);
}

void remote_capture_check(const tn_backend_stream *stream, const char *entry)
{
  if (stream->capture)
    remote_broken("%s: on a stream that is captured", entry);
}

static bool reserve(tn_backend_graph *graph)
{
  if (graph->count < graph->capacity) return true;
  size_t room = graph->capacity ? 2 * graph->capacity : 16;
  remote_node *nodes = realloc(graph->nodes, room * sizeof *nodes);
  if (!nodes) return false;
  graph->nodes = nodes;
  graph->capacity = room;
  return true;
}

/* Without capture_after a command runs after the one before it. */
static bool take_after(remote_capture *capture, remote_node *node)
{
  size_t number = capture->graph->count;
  node->after = capture->after;
  node->count = capture->count;
  capture->after = NULL;
  capture->count = 0;
  if (node->after || number == 0) return true;
  node->after = malloc(sizeof *node->after);
  if (!node->after) return false;
  node->after[0] = number - 1;
  node->count = 1;
  return true;
}

void remote_capture_add(remote_capture *capture, remote_command *command)
{
  tn_backend_graph *graph = capture->graph;
  remote_node *node = reserve(graph) ? &graph->nodes[graph->count] : NULL;
  if (!node || !take_after(capture, node)) {
    capture->is_without_memory = true;
    remote_command_free(command);
    return;
  }
  node->command = command;
  if (command->kind == REMOTE_LAUNCH)
    remote_kernel_keep(command->as.launch.kernel, true);
  graph->count++;
}

static tn_status capture_begin(tn_backend_stream *stream)
{
  tn_status status = remote_device_check(stream->device);
  if (status) return status;
  remote_capture_check(stream, "graph.capture_begin");
  remote_capture *capture = calloc(1, sizeof *capture);
  tn_backend_graph *graph = calloc(1, sizeof *graph);
  if (!capture || !graph) {
    free(capture);
    free(graph);
    return refuse_memory();
  }
  graph->device = stream->device;
  graph->references = 1;
  atomic_fetch_add(&graph->device->graphs, 1);
  capture->graph = graph;
  stream->capture = capture;
  return TN_OK;
}

static remote_capture *captured(tn_backend_stream *stream, const char *entry)
{
  if (!stream->capture)
    remote_broken("graph.%s: on a stream that is not captured", entry);
  return stream->capture;
}

static tn_status capture_after(tn_backend_stream *stream,
                               const uint64_t *nodes, size_t count)
{
  remote_capture *capture = captured(stream, "capture_after");
  for (size_t i = 0; i < count; i++)
    if (nodes[i] >= capture->graph->count)
      remote_broken("graph.capture_after: there is no node %llu",
                    (unsigned long long)nodes[i]);
  uint64_t *after = malloc((count + 1) * sizeof *after);
  if (!after) return refuse_memory();
  if (count) memcpy(after, nodes, count * sizeof *after);
  free(capture->after);
  capture->after = after;
  capture->count = count;
  return TN_OK;
}

static tn_status capture_node(tn_backend_stream *stream, uint64_t *node)
{
  const remote_capture *capture = captured(stream, "capture_node");
  if (capture->is_without_memory) return refuse_memory();
  if (!capture->graph->count)
    remote_broken("graph.capture_node: no command was queued");
  *node = capture->graph->count - 1;
  return TN_OK;
}

static tn_status capture_end(tn_backend_stream *stream,
                             tn_backend_graph **out)
{
  remote_capture *capture = captured(stream, "capture_end");
  tn_backend_graph *graph = capture->graph;
  bool is_whole = !capture->is_without_memory;
  stream->capture = NULL;
  free(capture->after);
  free(capture);
  if (is_whole) {
    *out = graph;
    return TN_OK;
  }
  pthread_mutex_lock(&remote_lock);
  graph_release(graph);
  pthread_mutex_unlock(&remote_lock);
  return refuse_memory();
}

/* ---- runs ---- */

void remote_run_free(remote_run *run)
{
  for (size_t i = 0; run->commands && i < run->graph->count; i++)
    if (run->commands[i].kind == REMOTE_LAUNCH)
      free(run->commands[i].as.launch.slots);
  free(run->commands);
  graph_release(run->graph);
  free(run);
}

/* The command of a node for one run: with its own arguments, which the other
 * side changes, and its turn to fail. */
static bool copy_command(remote_command *copy, const remote_command *from,
                         tn_backend_stream *stream)
{
  *copy = *from;
  copy->stream = stream;
  copy->latency = 0;
  if (copy->kind != REMOTE_FILL)
    copy->fault = remote_fault_next(copy->kind == REMOTE_LAUNCH);
  if (copy->kind != REMOTE_LAUNCH) return true;
  size_t size = remote_kernel_slots(copy->as.launch.kernel) *
                sizeof(uint64_t);
  copy->as.launch.slots = malloc(size + 1);
  if (!copy->as.launch.slots) return false;
  memcpy(copy->as.launch.slots, from->as.launch.slots, size);
  return true;
}

static bool copy_commands(remote_run *run, tn_backend_stream *stream)
{
  tn_backend_graph *graph = run->graph;
  bool is_whole = true;
  run->commands = calloc(graph->count + 1, sizeof *run->commands);
  if (!run->commands) return false;
  for (size_t i = 0; i < graph->count && is_whole; i++)
    is_whole = copy_command(&run->commands[i], graph->nodes[i].command,
                            stream);
  return is_whole;
}

/* NULL without memory. Lock held. */
static remote_run *run_new(tn_backend_graph *graph, tn_backend_stream *stream)
{
  remote_run *run = calloc(1, sizeof *run);
  if (!run) return NULL;
  run->graph = graph;
  graph->references++;
  if (!copy_commands(run, stream)) {
    remote_run_free(run);
    return NULL;
  }
  run->number = ++graph->queued;
  for (size_t i = 0; i < graph->count; i++)
    if (run->commands[i].kind == REMOTE_LAUNCH)
      remote_launch_begin(run->commands[i].as.launch.kernel);
  return run;
}

/* An earlier run that was not flushed would never end, and this one never
 * begin. */
static void submit_earlier(tn_backend_graph *graph, tn_backend_stream *stream)
{
  if (graph->ended < graph->queued && graph->latest != stream)
    remote_stream_submit(graph->latest);
  graph->latest = stream;
}

static tn_status queue_run(tn_backend_graph *graph, tn_backend_stream *stream)
{
  tn_status status = remote_device_check(stream->device);
  if (status) return status;
  remote_command *command = remote_command_new(stream, REMOTE_GRAPH, 0);
  if (!command) return TN_OUT_OF_MEMORY;
  pthread_mutex_lock(&remote_lock);
  submit_earlier(graph, stream);
  command->as.run = run_new(graph, stream);
  pthread_mutex_unlock(&remote_lock);
  if (!command->as.run) {
    free(command);
    return refuse_memory();
  }
  remote_command_queue(command);
  return TN_OK;
}

static tn_status launch(tn_backend_graph *graph, tn_backend_stream *stream)
{
  if (stream->device != graph->device)
    remote_broken("graph.launch: on a stream of another device");
  remote_stream_enter(stream, "graph.launch");
  remote_capture_check(stream, "graph.launch");
  tn_status status = queue_run(graph, stream);
  remote_stream_leave(stream);
  return status;
}

/* Whether all that the node runs after has run. */
static bool is_ready(const remote_node *node, const bool *has_run)
{
  for (size_t i = 0; i < node->count; i++)
    if (!has_run[node->after[i]]) return false;
  return true;
}

/* Any node that may run now, each as likely as the others. Looking at few keeps
 * large graphs cheap: the first that has not run is always ready. */
static size_t choose(const tn_backend_graph *graph, const bool *has_run,
                     size_t first)
{
  size_t rest = graph->count - first, reach = rest < 64 ? rest : 64;
  size_t chosen = first;
  unsigned ready = 0;
  for (size_t at = first; at < first + reach; at++)
    if (!has_run[at] && is_ready(&graph->nodes[at], has_run) &&
        remote_chance(++ready) == 0)
      chosen = at;
  return chosen;
}

void remote_run_finish(const remote_command *command)
{
  const remote_run *run = command->as.run;
  tn_backend_graph *graph = run->graph;
  bool *has_run = calloc(graph->count + 1, sizeof *has_run);
  if (!has_run) remote_broken("no memory to run a graph");
  while (graph->ended + 1 != run->number)
    pthread_cond_wait(&remote_changed, &remote_lock);
  for (size_t first = 0; first < graph->count;) {
    size_t at = choose(graph, has_run, first);
    remote_command_run(&run->commands[at]);
    has_run[at] = true;
    while (first < graph->count && has_run[first]) first++;
  }
  graph->ended = run->number;
  free(has_run);
}

static tn_status update(tn_backend_graph *graph, const tn_node_update *change)
{
  if (change->struct_size < sizeof *change)
    return remote_host->error(TN_INVALID_ARGUMENT,
                              "node update has %zu bytes, remote needs %zu",
                              change->struct_size, sizeof *change);
  if (change->node >= graph->count)
    remote_broken("graph.update: there is no node %llu",
                  (unsigned long long)change->node);
  remote_command *command = graph->nodes[change->node].command;
  if (command->kind != REMOTE_LAUNCH ||
      command->as.launch.kernel != change->kernel)
    remote_broken("graph.update: node %llu is another command",
                  (unsigned long long)change->node);
  pthread_mutex_lock(&remote_lock);
  memcpy(command->as.launch.slots, change->slots,
         remote_kernel_slots(change->kernel) * sizeof *change->slots);
  pthread_mutex_unlock(&remote_lock);
  return TN_OK;
}

static void destroy(tn_backend_graph *graph)
{
  pthread_mutex_lock(&remote_lock);
  graph_release(graph);
  pthread_mutex_unlock(&remote_lock);
}

const tn_backend_graph_table remote_graph_table = {
  .struct_size = sizeof(tn_backend_graph_table),
  .capture_begin = capture_begin,
  .capture_after = capture_after,
  .capture_node = capture_node,
  .capture_end = capture_end,
  .launch = launch,
  .update = update,
  .destroy = destroy,
};
