#include "layers/trace_run.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/trace_file.h"

enum {
  PENDING = 1024, /* then the first is waited for */
  POLL_EACH = 32
};

typedef struct pending {
  tn_point point;
  trace_run run; /* no category: a wait, which only moves the time on */
} pending;

typedef struct trace_stream {
  uint64_t number, base; /* when base_point was passed */
  tn_point base_point;
  bool is_timed;  /* work is asynchronous, and the backend tells its times */
  bool is_inline; /* work has run when its call returns */
  uint64_t last_end;
  unsigned first, count, calls;
  pending ring[PENDING];
} trace_stream;

/* Rows ------------------------------------------------------------------ */

/* Threads that use an inline stream at the same time need a row each. */
static int64_t row_of(const trace_stream *stream)
{
  int index = stream->is_inline ? trace_thread_index() : 0;
  return (int64_t)(stream->number * 1000 + (uint64_t)index);
}

static void name_row(const trace_device *device, const trace_stream *stream,
                     bool is_default)
{
  char name[64];
  snprintf(name, sizeof name, "stream %llu%s",
           (unsigned long long)stream->number,
           is_default ? " (default)" : "");
  trace_name_row(device->process, row_of(stream), name);
}

/* Streams --------------------------------------------------------------- */

/* The shortest of a few tries knows best when the point was passed. */
static void calibrate(forward_device *device, forward_stream *stream,
                      trace_stream *s)
{
  const tn_backend_stream_table *table = &device->backend->stream;
  uint64_t best = UINT64_MAX;
  for (int i = 0; i < 3; i++) {
    tn_point point;
    uint64_t from = trace_now();
    if (table->record(stream->next, TN_RECORD_TIMING, &point) != TN_OK)
      continue;
    tn_status status = table->host_wait(device->next, &point, UINT64_MAX);
    uint64_t took = trace_now() - from;
    bool is_better = status == TN_OK && took < best;
    if (is_better && s->is_timed)
      table->point_release(device->next, &s->base_point);
    if (is_better) {
      best = took;
      s->is_timed = true;
      s->base_point = point;
      s->base = from + took / 2;
    } else table->point_release(device->next, &point);
  }
}

trace_stream *trace_stream_begin(forward_device *device,
                                 forward_stream *stream)
{
  trace_device *d = device->data;
  trace_stream *s = d ? calloc(1, sizeof *s) : NULL;
  if (!s) return NULL;
  bool is_default = !stream || stream->is_default;
  s->number = stream ? stream->number : 0;
  s->is_inline = !stream || (is_default && d->is_inline);
  if (!s->is_inline && device->backend->stream.elapsed)
    calibrate(device, stream, s);
  name_row(d, s, is_default);
  if (stream) stream->data = s;
  else d->synchronous = s;
  return s;
}

/* Reading times --------------------------------------------------------- */

static uint64_t end_of(const trace_stream *s, const forward_device *device,
                       const tn_point *point)
{
  double milliseconds;
  if (!s->is_timed ||
      device->backend->stream.elapsed(device->next, &s->base_point, point,
                                      &milliseconds) != TN_OK)
    return trace_now();
  double at = (double)s->base + milliseconds * 1e6;
  return at > 0 ? (uint64_t)at : 0;
}

/* Runs of a stream follow each other, whatever its clock says. */
static void settle(trace_stream *s, forward_device *device)
{
  pending *p = s->ring + s->first;
  uint64_t end = end_of(s, device, &p->point);
  device->backend->stream.point_release(device->next, &p->point);
  trace_run *run = &p->run;
  if (run->begin < s->last_end) run->begin = s->last_end;
  if (end < run->begin) end = run->begin;
  run->end = s->last_end = end;
  if (run->category) trace_add_run(run);
  s->first = (s->first + 1) % PENDING;
  s->count--;
}

static void wait_for_first(trace_stream *s, forward_device *device)
{
  device->backend->stream.host_wait(device->next, &s->ring[s->first].point,
                                    UINT64_MAX);
  settle(s, device);
}

static void read_complete(trace_stream *s, forward_device *device)
{
  const tn_backend_stream_table *table = &device->backend->stream;
  while (s->count && table->query(device->next, &s->ring[s->first].point) !=
                         TN_NOT_READY)
    settle(s, device);
}

void trace_stream_poll(forward_stream *stream)
{
  trace_stream *s = stream ? stream->data : NULL;
  if (s && s->count && ++s->calls % POLL_EACH == 0)
    read_complete(s, stream->device);
}

void trace_stream_end(forward_stream *stream)
{
  trace_stream *s = stream->data;
  if (!s) return;
  while (s->count) wait_for_first(s, stream->device);
  if (s->is_timed)
    stream->device->backend->stream.point_release(stream->device->next,
                                                  &s->base_point);
  stream->data = NULL;
  free(s);
}

/* Noting work ----------------------------------------------------------- */

static const char *category_of(forward_entry entry)
{
  switch (entry) {
  case FORWARD_copy_copy: return "gpu_memcpy";
  case FORWARD_copy_fill: return "gpu_memset";
  case FORWARD_stream_host_function: return "host_function";
  default: return "kernel";
  }
}

static const char *copy_name(const tn_copy_desc *desc)
{
  switch (desc->kind) {
  case TN_COPY_HOST_TO_DEVICE: return "Memcpy HtoD";
  case TN_COPY_DEVICE_TO_HOST: return "Memcpy DtoH";
  default: return "Memcpy DtoD";
  }
}

static const char *kernel_name(forward_kernel *kernel)
{
  char text[256];
  const char *name = __atomic_load_n(&kernel->data, __ATOMIC_ACQUIRE);
  if (name) return name;
  snprintf(text, sizeof text, "%s/%s", kernel->module->name, kernel->name);
  name = trace_text(text);
  __atomic_store_n(&kernel->data, (void *)(uintptr_t)name, __ATOMIC_RELEASE);
  return name;
}

const char *trace_name_of(const forward_call *call)
{
  switch (call->entry) {
  case FORWARD_copy_copy: return copy_name(call->copy);
  case FORWARD_copy_fill: return "Memset";
  case FORWARD_stream_host_function: return "host function";
  case FORWARD_graph_launch: return "graph";
  case FORWARD_launch_module_load:
  case FORWARD_launch_kernel_get:
  case FORWARD_math_routine:
  case FORWARD_math_call: return call->name ? trace_text(call->name) : NULL;
  default: return call->kernel ? kernel_name(call->kernel) : NULL;
  }
}

/* NULL without memory: then the point is not kept. */
static void push(trace_stream *s, forward_stream *stream,
                 const trace_run *run)
{
  forward_device *device = stream->device;
  tn_point point;
  if (s->count == PENDING) wait_for_first(s, device);
  uint32_t flags = s->is_timed ? TN_RECORD_TIMING : 0;
  if (device->backend->stream.record(stream->next, flags, &point) != TN_OK)
    return;
  s->ring[(s->first + s->count++) % PENDING] = (pending){ point, *run };
}

void trace_stream_queued(const forward_call *call, uint64_t begin,
                         uint64_t end, uint64_t correlation)
{
  trace_device *d = call->device->data;
  trace_stream *s = call->stream ? call->stream->data : d->synchronous;
  if (!s) return;
  const char *name = trace_name_of(call);
  trace_run run = {
    .category = category_of(call->entry), .name = name ? name : "?",
    .begin = begin, .end = end, .correlation = correlation,
    .bytes = call->bytes, .process = d->process, .row = row_of(s),
    .stream = s->number, .thread = trace_thread(), .call_begin = begin
  };
  if (s->is_inline) trace_add_run(&run);
  else push(s, call->stream, &run);
}

void trace_stream_waits(const forward_call *call)
{
  trace_stream *s = call->stream ? call->stream->data : NULL;
  if (s && !s->is_inline) push(s, call->stream, &(trace_run){ .end = 0 });
}
