#include "backends/cpu/graph.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "backends/cpu/graph_run.h"
#include "backends/cpu/park.h"
#include "backends/cpu/recording.h"
#include "backends/cpu/stream.h"
#include "backends/cpu/workers.h"

struct tn_backend_graph {
  tn_cpu_recording *recording; /* of runs that are queued from now on */
  tn_cpu_plan *plan;           /* the running one's */
  uint32_t queued;             /* runs, counted round; the caller's */
  _Atomic uint32_t ended;
  _Atomic uint32_t waiting; /* threads on `ended` */
  _Atomic int holders;      /* the core, and runs that are queued */
  tn_backend_graph *next, *before; /* of all; under lock */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static tn_backend_graph *all_graphs;

static tn_status refuse_memory(const char *what)
{
  return tn_cpu_host->error(TN_OUT_OF_MEMORY, "no memory for %s of a graph",
                            what);
}

/* --- capture --- */

tn_status tn_cpu_graph_capture_begin(tn_backend_stream *stream)
{
  if (stream->recording)
    return tn_cpu_host->error(TN_CAPTURE_VIOLATION,
                              "capture_begin: the stream captures already");
  stream->recording = tn_cpu_recording_new();
  if (!stream->recording) return refuse_memory("the commands");
  stream->was_inline = stream->is_inline;
  stream->is_inline = stream->is_prepared = false;
  return TN_OK;
}

static tn_status refuse_idle(const char *entry)
{
  return tn_cpu_host->error(TN_CAPTURE_VIOLATION,
                            "%s: the stream does not capture", entry);
}

tn_status tn_cpu_graph_capture_node(tn_backend_stream *stream, uint64_t *node)
{
  if (!stream->recording) return refuse_idle("capture_node");
  return tn_cpu_recording_node(stream->recording, node)
           ? TN_OK
           : refuse_memory("the nodes");
}

static void graph_free(tn_backend_graph *graph)
{
  tn_cpu_recording_drop(graph->recording);
  tn_cpu_plan_free(graph->plan);
  free(graph);
}

/* Of a recording, which is the graph's from now on, or gone. */
static tn_backend_graph *graph_make(tn_cpu_recording *recording)
{
  tn_backend_graph *graph = calloc(1, sizeof *graph);
  if (!graph) {
    tn_cpu_recording_drop(recording);
    return NULL;
  }
  graph->recording = recording;
  atomic_init(&graph->holders, 1);
  if (tn_cpu_recording_finish(recording))
    graph->plan = tn_cpu_plan_new(recording->count);
  if (graph->plan) return graph;
  graph_free(graph);
  return NULL;
}

tn_status tn_cpu_graph_capture_end(tn_backend_stream *stream,
                                   tn_backend_graph **out)
{
  if (!stream->recording) return refuse_idle("capture_end");
  tn_backend_graph *graph = graph_make(stream->recording);
  stream->recording = NULL;
  stream->is_inline = stream->was_inline;
  if (!graph) return refuse_memory("the nodes");
  pthread_mutex_lock(&lock);
  graph->next = all_graphs;
  if (graph->next) graph->next->before = graph;
  all_graphs = graph;
  pthread_mutex_unlock(&lock);
  *out = graph;
  return TN_OK;
}

static void graph_drop(tn_backend_graph *graph)
{
  if (atomic_fetch_sub(&graph->holders, 1) != 1) return;
  pthread_mutex_lock(&lock);
  if (graph->next) graph->next->before = graph->before;
  *(graph->before ? &graph->before->next : &all_graphs) = graph->next;
  pthread_mutex_unlock(&lock);
  graph_free(graph);
}

void tn_cpu_graph_destroy(tn_backend_graph *graph)
{
  graph_drop(graph);
}

/* --- runs, one after another --- */

static void turn_await(tn_backend_graph *graph, uint32_t turn)
{
  tn_cpu_spin spin = { 0 };
  uint32_t ended;
  while ((ended = atomic_load(&graph->ended)) != turn) {
    if (tn_cpu_spin_again(&spin)) continue;
    atomic_fetch_add(&graph->waiting, 1);
    if (atomic_load(&graph->ended) == ended)
      tn_cpu_park(&graph->ended, ended, TN_CPU_NO_DEADLINE);
    atomic_fetch_sub(&graph->waiting, 1);
  }
}

static void turn_end(tn_backend_graph *graph)
{
  atomic_fetch_add(&graph->ended, 1);
  if (atomic_load(&graph->waiting) > 0)
    tn_cpu_unpark(&graph->ended, INT_MAX);
}

typedef struct run_command {
  tn_cpu_command base;
  tn_backend_graph *graph;
  tn_cpu_recording *recording;
  uint32_t turn;
  bool is_urgent;
} run_command;

static void run_command_run(tn_cpu_command *command)
{
  run_command *run = (run_command *)command;
  tn_backend_graph *graph = run->graph;
  if (atomic_load(&graph->ended) != run->turn) {
    tn_cpu_workers_leave();
    turn_await(graph, run->turn);
    tn_cpu_workers_enter();
  }
  tn_cpu_graph_run(run->recording, graph->plan, run->is_urgent);
  turn_end(graph);
  tn_cpu_recording_drop(run->recording);
  graph_drop(graph);
}

static tn_status run_queue(tn_backend_graph *graph, tn_backend_stream *stream)
{
  tn_cpu_command *base;
  tn_status status = tn_cpu_stream_reserve(stream, run_command_run,
                                           sizeof(run_command), &base);
  if (status) return status;
  run_command *run = (run_command *)base;
  run->graph = graph;
  run->recording = graph->recording;
  run->turn = graph->queued++;
  run->is_urgent = stream->is_urgent;
  atomic_fetch_add(&graph->holders, 1);
  atomic_fetch_add(&graph->recording->holders, 1);
  tn_cpu_stream_submit(stream);
  return TN_OK;
}

tn_status tn_cpu_graph_launch(tn_backend_graph *graph,
                              tn_backend_stream *stream)
{
  if (!stream->is_inline) return run_queue(graph, stream);
  turn_await(graph, graph->queued++);
  tn_cpu_graph_run_inline(graph->recording, graph->plan, stream->is_urgent);
  turn_end(graph);
  return TN_OK;
}

/* --- changes --- */

/* Gives the graph a recording that no run holds. */
static bool recording_own(tn_backend_graph *graph)
{
  if (atomic_load(&graph->recording->holders) == 1) return true;
  tn_cpu_recording *copy = tn_cpu_recording_copy(graph->recording);
  if (!copy) return false;
  tn_cpu_recording_drop(graph->recording);
  graph->recording = copy;
  return true;
}

tn_status tn_cpu_graph_update(tn_backend_graph *graph,
                              const tn_node_update *update)
{
  uint64_t count = graph->recording->count;
  if (update->node >= count || !graph->recording->nodes[update->node].run)
    return tn_cpu_host->error(TN_INVALID_ARGUMENT,
                              "graph update: node %llu of %llu is no launch",
                              (unsigned long long)update->node,
                              (unsigned long long)count);
  if (!recording_own(graph)) return refuse_memory("the changed commands");
  tn_cpu_node *node = &graph->recording->nodes[update->node];
  memcpy(node->slots, update->slots, node->slot_count * sizeof *node->slots);
  return TN_OK;
}

void tn_cpu_graphs_after_fork(void)
{
  pthread_mutex_init(&lock, NULL);
  for (tn_backend_graph *graph = all_graphs; graph; graph = graph->next) {
    atomic_store(&graph->ended, graph->queued);
    atomic_store(&graph->waiting, 0);
  }
}
