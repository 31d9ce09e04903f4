#include "config.h"

#include "core/graph/lowering.h"

#include <stdio.h>
#include <stdlib.h>

#include "core/base/environment.h"
#include "core/base/log.h"
#include "core/graph/native_capture.h"

/* ---- all that there are, for the end ---- */

static pthread_mutex_t list_lock = PTHREAD_MUTEX_INITIALIZER;
static tn_lowering *list;

void tn_lowerings_lock(void) { pthread_mutex_lock(&list_lock); }
void tn_lowerings_unlock(void) { pthread_mutex_unlock(&list_lock); }

/* The devices are idle by now. What the program still holds is empty then. */
static void finish(void)
{
  pthread_mutex_lock(&list_lock);
  for (tn_lowering *l = list; l; l = l->next) {
    l->state->backend->graph.destroy(l->handle);
    l->handle = NULL;
  }
  pthread_mutex_unlock(&list_lock);
}

static void arm(void) { tn_shutdown_hook(TN_SHUTDOWN_GRAPH, finish); }

static void enlist(tn_lowering *lowering)
{
  static pthread_once_t once = PTHREAD_ONCE_INIT;
  pthread_once(&once, arm);
  pthread_mutex_lock(&list_lock);
  lowering->next = list;
  if (list) list->before = lowering;
  list = lowering;
  pthread_mutex_unlock(&list_lock);
}

static void unlist(tn_lowering *lowering)
{
  pthread_mutex_lock(&list_lock);
  if (lowering->next) lowering->next->before = lowering->before;
  if (lowering->before) lowering->before->next = lowering->next;
  else list = lowering->next;
  pthread_mutex_unlock(&list_lock);
}

/* ---- whether ---- */

static void doubt_backend(const tn_backend *backend, char *text, size_t size)
{
  if (!backend->has_graph)
    snprintf(text, size, "backend \"%s\" has no graph table", backend->name);
  else if (!backend->has_launch || !backend->has_stream)
    snprintf(text, size, "backend \"%s\" has a graph table, but no tables "
             "launch and stream", backend->name);
  else if (tn_environment_is_on("TENON_GRAPH_CALLS"))
    snprintf(text, size, "TENON_GRAPH_CALLS is 1");
  else if (tn_is_launch_blocking())
    snprintf(text, size, "TENON_LAUNCH_BLOCKING is 1");
}

static void doubt_node(const tn_backend *backend, const tn_graph_node *node,
                       char *text, size_t size)
{
  const char *absent = NULL;
  if (node->kind == TN_GRAPH_FILL && !backend->copy.fill)
    absent = "copy.fill";
  if (node->kind == TN_GRAPH_HOST_FUNCTION && !backend->stream.host_function)
    absent = "stream.host_function";
  if (absent)
    snprintf(text, size, "%s: backend \"%s\" has no %s",
             tn_graph_node_name(node), backend->name, absent);
  else if (node->kind == TN_GRAPH_KERNEL && !node->kernel->launch)
    snprintf(text, size, "kernel \"%s\" is the library's own, not backend "
             "\"%s\"'s", node->kernel->name, backend->name);
}

void tn_lowering_doubt(const tn_device_state *state, const tn_nodes *nodes,
                       char *text, size_t size)
{
  text[0] = 0;
  doubt_backend(state->backend, text, size);
  for (size_t i = 0; i < nodes->count && !text[0]; i++)
    doubt_node(state->backend, &nodes->items[i], text, size);
}

/* ---- making ---- */

static void discard(tn_lowering *lowering)
{
  free(lowering->nodes);
  free(lowering->changed);
  free(lowering->is_changed);
  free(lowering);
}

static tn_lowering *allocate(size_t count)
{
  tn_lowering *lowering = calloc(1, sizeof *lowering);
  if (!lowering) return NULL;
  lowering->nodes = calloc(count + 1, sizeof *lowering->nodes);
  lowering->changed = calloc(count + 1, sizeof *lowering->changed);
  lowering->is_changed = calloc(count + 1, sizeof *lowering->is_changed);
  if (lowering->nodes && lowering->changed && lowering->is_changed)
    return lowering;
  discard(lowering);
  return NULL;
}

tn_status tn_lowering_make(tn_device_state *state, const tn_nodes *nodes,
                           tn_lowering **out)
{
  *out = NULL;
  tn_lowering *lowering = allocate(nodes->count);
  if (!lowering) return tn_native_refuse_memory(nodes->count);
  tn_status status = tn_native_capture(state, nodes, lowering->nodes,
                                       &lowering->handle);
  if (status != TN_OK) {
    discard(lowering);
    return status;
  }
  lowering->state = state;
  lowering->is_anew = true;
  enlist(lowering);
  *out = lowering;
  return TN_OK;
}

void tn_lowering_free(tn_lowering *lowering)
{
  if (!lowering) return;
  bool is_inside = tn_enter_to_release(lowering->state);
  unlist(lowering);
  if (is_inside) {
    lowering->state->backend->graph.destroy(lowering->handle);
    tn_leave();
  }
  discard(lowering);
}

/* ---- running ---- */

void tn_lowering_touch(tn_lowering *lowering, size_t node)
{
  if (!lowering || lowering->is_changed[node]) return;
  lowering->is_changed[node] = true;
  lowering->changed[lowering->change_count++] = (uint32_t)node;
}

static void forget_changes(tn_lowering *lowering)
{
  while (lowering->change_count)
    lowering->is_changed[lowering->changed[--lowering->change_count]] = false;
}

/* For a backend that cannot change what it made. */
static tn_status remake(tn_lowering *lowering, const tn_nodes *nodes)
{
  tn_backend_graph *handle;
  uint64_t *numbers = calloc(nodes->count + 1, sizeof *numbers);
  if (!numbers) return tn_native_refuse_memory(nodes->count);
  tn_status status = tn_native_capture(lowering->state, nodes, numbers,
                                       &handle);
  if (status != TN_OK) {
    free(numbers);
    return status;
  }
  lowering->state->backend->graph.destroy(lowering->handle);
  free(lowering->nodes);
  lowering->handle = handle;
  lowering->nodes = numbers;
  lowering->is_anew = true;
  return TN_OK;
}

static tn_status update(const tn_lowering *lowering, uint32_t number,
                        const tn_graph_node *node)
{
  const tn_node_update change = {
    .struct_size = sizeof change,
    .node = lowering->nodes[number],
    .kernel = node->kernel->handle,
    .launch = &node->as.launch,
    .slots = node->slots,
  };
  const tn_backend *backend = lowering->state->backend;
  tn_status status = backend->graph.update(lowering->handle, &change);
  if (status != TN_OK)
    tn_plugin_error(lowering->state, status, "replay: new arguments of kernel "
                    "\"%s\"", node->kernel->name);
  return status;
}

/* TN_UNSUPPORTED: the backend cannot, for the reason that the error tells. */
static tn_status apply_changes(const tn_lowering *lowering,
                               const tn_nodes *nodes)
{
  const tn_backend *backend = lowering->state->backend;
  tn_status status = TN_OK;
  if (!backend->graph.update)
    return tn_error(TN_UNSUPPORTED, "backend \"%s\" has no graph.update",
                    backend->name);
  for (uint32_t i = 0; i < lowering->change_count && status == TN_OK; i++) {
    uint32_t number = lowering->changed[i];
    status = update(lowering, number, &nodes->items[number]);
  }
  return status;
}

tn_status tn_lowering_update(tn_lowering *lowering, const tn_nodes *nodes)
{
  if (!lowering->change_count) return TN_OK;
  tn_error_state before;
  tn_error_save(&before);
  tn_status status = apply_changes(lowering, nodes);
  if (status == TN_UNSUPPORTED) {
    tn_log(TN_LOG_INFO, "a graph of %zu nodes is made anew for other "
           "arguments: %s", nodes->count, tn_error_message());
    status = remake(lowering, nodes);
    if (status == TN_OK) tn_error_restore(&before);
  }
  if (status == TN_OK) forget_changes(lowering);
  return status;
}

tn_status tn_lowering_run(tn_lowering *lowering, const tn_nodes *nodes,
                          tn_stream *stream)
{
  tn_stream_lock(stream);
  tn_status status =
      lowering->state->backend->graph.launch(lowering->handle, stream->queue);
  tn_stream_unlock(stream);
  return status == TN_OK ? TN_OK
                         : tn_plugin_error(lowering->state, status, "replay "
                                           "of a graph of %zu nodes",
                                           nodes->count);
}
