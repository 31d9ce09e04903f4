#include "tests/cudaemu/exec.h"

#include <stdlib.h>

#include "tests/cudaemu/capture.h"

static emu_exec *execs;

bool emu_is_exec(const emu_exec *exec)
{
  const emu_exec *e = execs;
  while (e && e != exec) e = e->next;
  return e != NULL;
}

emu_exec_node *emu_exec_find(emu_exec *exec, const emu_node *node)
{
  for (size_t i = 0; i < exec->count; i++)
    if (exec->nodes[i].origin == node && emu_is_node(node))
      return exec->nodes + i;
  return NULL;
}

/* Instantiation */

static void drop(emu_exec *exec)
{
  if (--exec->references) return;
  for (size_t i = 0; i < exec->count; i++) {
    emu_work_drop(exec->nodes[i].work);
    free(exec->nodes[i].before);
    free(exec->nodes[i].after);
  }
  for (size_t i = 0; i < exec->path_count; i++)
    emu_agent_give(exec->paths[i].agent, exec->paths[i].step);
  order_clock_free(&exec->clock);
  free(exec->nodes);
  free(exec->paths);
  free(exec);
}

static bool add_after(emu_exec_node *node, uint32_t other)
{
  uint32_t *after =
      realloc(node->after, (node->after_count + 1) * sizeof *after);
  if (!after) return false;
  node->after = after;
  after[node->after_count++] = other;
  return true;
}

static bool add_edges(emu_exec *exec, uint32_t i, const emu_nodes *before)
{
  emu_exec_node *node = exec->nodes + i;
  node->before = calloc(before->count + 1, sizeof *node->before);
  if (!node->before) return false;
  node->before_count = before->count;
  for (size_t j = 0; j < before->count; j++) {
    node->before[j] = before->list[j]->number - 1;
    if (!add_after(exec->nodes + node->before[j], i)) return false;
  }
  return true;
}

/* A node goes on with a path that ends in one before it, or begins one. */
static bool add_path(emu_exec *exec, uint32_t i)
{
  emu_exec_node *node = exec->nodes + i;
  emu_path *path = NULL;
  for (size_t j = 0; j < node->before_count && !path; j++) {
    emu_path *p = exec->paths + exec->nodes[node->before[j]].path;
    if (p->last == node->before[j]) path = p;
  }
  if (!path) {
    path = exec->paths + exec->path_count;
    path->agent = emu_agent_take(&path->step);
    if (path->agent < 0) return false;
    exec->path_count++;
  }
  path->last = i;
  node->path = (uint32_t)(path - exec->paths);
  node->place = ++path->length;
  return true;
}

static emu_exec *instantiate(const emu_graph *graph)
{
  size_t count = graph->nodes.count;
  emu_exec *exec = calloc(1, sizeof *exec);
  if (!exec) return NULL;
  exec->references = 1;
  exec->nodes = calloc(count + 1, sizeof *exec->nodes);
  exec->paths = calloc(count + 1, sizeof *exec->paths);
  bool is_made = exec->nodes && exec->paths;
  for (uint32_t i = 0; is_made && i < count; i++) {
    const emu_node *node = graph->nodes.list[i];
    exec->nodes[i].origin = node;
    exec->nodes[i].work = emu_work_keep(node->work);
    exec->count++;
    is_made = add_edges(exec, i, &node->before) && add_path(exec, i);
  }
  if (is_made) return exec;
  drop(exec);
  return NULL;
}

CUresult emu_GraphInstantiateWithFlags(CUgraphExec *exec, CUgraph graph,
                                       unsigned long long flags)
{
  CUresult code =
      emu_enter(EMU_GraphInstantiateWithFlags, EMU_CONTEXT | EMU_UNSAFE);
  if (code) return code;
  if (!exec || !emu_is_graph(graph) || graph->is_capturing || flags & ~9u) {
    if (flags & ~9u)
      emu_print("cuGraphInstantiateWithFlags: flags 0x%llx are not emulated",
                flags);
    return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  }
  emu_exec *made = instantiate(graph);
  if (!made) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  made->next = execs;
  execs = *exec = made;
  return emu_leave(TN_CUDA_SUCCESS);
}

/* What is on its way ends as it would have. */
CUresult emu_GraphExecDestroy(CUgraphExec exec)
{
  CUresult code = emu_enter(EMU_GraphExecDestroy, 0);
  if (code) return code;
  if (!emu_is_exec(exec)) return emu_leave(TN_CUDA_ERROR_INVALID_VALUE);
  emu_exec **link = &execs;
  while (*link != exec) link = &(*link)->next;
  *link = exec->next;
  drop(exec);
  return emu_leave(TN_CUDA_SUCCESS);
}

/* Launches */

/* A node in one launch. */
typedef struct part {
  emu_work *work;
  void *bound;   /* NULL: the work's payload */
  CUresult code; /* why it cannot run */
  uint32_t step;
  size_t pending; /* nodes before it that have not run */
  order_clock clock;
} part;

typedef struct replay {
  emu_exec *exec;
  uint32_t *ready;
  part parts[];
} replay;

static void free_replay(void *payload)
{
  replay *r = payload;
  for (size_t i = 0; i < r->exec->count; i++) {
    part *p = r->parts + i;
    if (p->bound) p->work->form->unbind(p->bound);
    emu_work_drop(p->work);
    order_clock_free(&p->clock);
  }
  drop(r->exec);
  free(r->ready);
  free(r);
}

static replay *make_replay(emu_exec *exec)
{
  replay *r = calloc(1, sizeof *r + exec->count * sizeof *r->parts);
  if (!r) return NULL;
  r->ready = calloc(exec->count + 1, sizeof *r->ready);
  if (!r->ready) {
    free(r);
    return NULL;
  }
  r->exec = exec;
  exec->references++;
  for (size_t i = 0; i < exec->count; i++) {
    const emu_exec_node *node = exec->nodes + i;
    part *p = r->parts + i;
    p->work = emu_work_keep(node->work);
    p->pending = node->before_count;
    p->step = exec->paths[node->path].step + node->place;
    p->code = p->work->planned;
    if (!p->code && p->work->form->bind)
      p->code = p->work->form->bind(p->work->payload, &p->bound);
  }
  return r;
}

/* What it knows when it begins. */
static bool make_clock(const emu_command *command, replay *r, uint32_t i)
{
  const emu_exec_node *node = r->exec->nodes + i;
  order_clock *clock = &r->parts[i].clock;
  bool is_made = order_join(clock, &command->clock);
  for (size_t j = 0; is_made && j < node->before_count; j++)
    is_made = order_join(clock, &r->parts[node->before[j]].clock);
  int agent = r->exec->paths[node->path].agent;
  return is_made && order_note(clock, (uint32_t)agent, r->parts[i].step);
}

/* Sometimes nodes start late, as commands do. */
static CUresult await(emu_command *command, const part *p)
{
  pthread_mutex_lock(&emu.lock);
  emu_stream_lag(command->stream, emu_random(command->node, command->step));
  CUresult code = p->code ? p->code : p->work->context->failed;
  pthread_mutex_unlock(&emu.lock);
  return code;
}

static CUresult run_part(const emu_command *command, replay *r, uint32_t i)
{
  part *p = r->parts + i;
  if (!make_clock(command, r, i)) return TN_CUDA_ERROR_LAUNCH_FAILED;
  emu_command node = {
    .stream = command->stream, .context = p->work->context,
    .agent = (uint32_t)r->exec->paths[r->exec->nodes[i].path].agent,
    .step = p->step, .tag = p->work->tag, .node = i + 1, .clock = p->clock,
    .payload = p->bound ? p->bound : p->work->payload,
  };
  CUresult code = await(&node, p);
  if (!code) code = p->work->form->run(&node);
  p->clock = node.clock;
  if (!code || node.context == command->context) return code;
  pthread_mutex_lock(&emu.lock);
  emu_context_fail(node.context, code);
  pthread_mutex_unlock(&emu.lock);
  return code;
}

/* Which of the nodes that may run is next: without a seed the first. */
static size_t choose(const emu_command *command, const uint32_t *ready,
                     size_t count, size_t round)
{
  size_t chosen = 0;
  if (emu.settings.seed)
    return emu_random(command->step, round ^ UINT64_C(0x6e0de5)) % count;
  for (size_t i = 1; i < count; i++)
    if (ready[i] < ready[chosen]) chosen = i;
  return chosen;
}

static CUresult run_replay(emu_command *command)
{
  replay *r = command->payload;
  const emu_exec *exec = r->exec;
  size_t count = 0;
  CUresult code = TN_CUDA_SUCCESS;
  for (uint32_t i = 0; i < exec->count; i++)
    if (!r->parts[i].pending) r->ready[count++] = i;
  for (size_t round = 0; count && !code && !emu.ended; round++) {
    size_t chosen = choose(command, r->ready, count, round);
    uint32_t i = r->ready[chosen];
    r->ready[chosen] = r->ready[--count];
    code = run_part(command, r, i);
    for (size_t j = 0; j < exec->nodes[i].after_count; j++) {
      uint32_t after = exec->nodes[i].after[j];
      if (!--r->parts[after].pending) r->ready[count++] = after;
    }
  }
  return code;
}

/* What comes after it knows the ends of all paths. */
static CUresult note_end(emu_exec *exec, emu_stream *stream)
{
  bool is_noted = true;
  for (size_t i = 0; i < exec->path_count; i++) {
    emu_path *path = exec->paths + i;
    path->step += path->length;
    is_noted = is_noted &&
               order_note(&stream->clock, (uint32_t)path->agent, path->step);
  }
  exec->stream = stream;
  exec->step = stream->queued;
  order_clock_free(&exec->clock);
  return is_noted && order_join(&exec->clock, &stream->clock)
             ? TN_CUDA_SUCCESS
             : TN_CUDA_ERROR_OUT_OF_MEMORY;
}

static CUresult enter_launch(emu_call call, CUgraphExec exec, CUstream handle,
                             emu_stream **stream)
{
  CUresult code = emu_enter_stream(call, 0, handle, stream);
  if (code) return code;
  code = emu_capture_admit(*stream);
  if (!code && !emu_is_exec(exec)) code = TN_CUDA_ERROR_INVALID_VALUE;
  if (!code && (*stream)->capture) {
    emu_print("a graph within a graph is not emulated");
    code = TN_CUDA_ERROR_NOT_SUPPORTED;
  }
  return code ? emu_leave(code) : TN_CUDA_SUCCESS;
}

CUresult emu_GraphLaunch(CUgraphExec exec, CUstream handle)
{
  emu_stream *stream;
  CUresult code = enter_launch(EMU_GraphLaunch, exec, handle, &stream);
  if (code) return code;
  replay *r = make_replay(exec);
  if (!r) return emu_leave(TN_CUDA_ERROR_OUT_OF_MEMORY);
  code = emu_enqueue_behind(stream, "a graph", run_replay, r, free_replay,
                            exec->stream, exec->step, &exec->clock);
  return emu_leave(code ? code : note_end(exec, stream));
}

CUresult emu_GraphUpload(CUgraphExec exec, CUstream handle)
{
  emu_stream *stream;
  CUresult code = enter_launch(EMU_GraphUpload, exec, handle, &stream);
  if (code) return code;
  return emu_leave(emu_enqueue_behind(stream, "an upload", NULL, NULL, NULL,
                                      exec->stream, exec->step,
                                      &exec->clock));
}
