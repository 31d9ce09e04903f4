/* The layer `trace`: what every call did and when its work ran, as a file
 * that Perfetto, chrome://tracing and PyTorch's tools open. docs/layers.md. */
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "layers/forward.h"
#include "layers/option.h"
#include "layers/trace_file.h"
#include "layers/trace_run.h"

static const char *const status_names[] = {
#define X(name, meaning) [TN_##name] = #name,
  TN_STATUS_MAP(X)
#undef X
};

static const char *status_name(tn_status status)
{
  if (status == TN_OK) return NULL;
  size_t count = sizeof status_names / sizeof status_names[0];
  return (size_t)status < count ? status_names[status] : "unknown status";
}

static bool is_work(forward_entry entry)
{
  return entry == FORWARD_copy_copy || entry == FORWARD_copy_fill ||
         entry == FORWARD_launch_launch || entry == FORWARD_graph_launch ||
         entry == FORWARD_stream_host_function || entry == FORWARD_math_call;
}

static bool is_inline(const forward_device *device)
{
  tn_backend_device_info info = { .struct_size = sizeof info };
  const forward_backend *b = device->backend;
  return b->device.info(b->next_self, device->ordinal, &info) == TN_OK &&
         (info.capabilities & TN_CAP_INLINE_DEFAULT);
}

/* Numbers of processes that no process has: beyond Linux's largest. */
static int64_t next_process(void)
{
  static int64_t last = INT64_C(1) << 22;
  return __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
}

static void opened(forward_device *device)
{
  char name[TN_BACKEND_NAME_SIZE + 32];
  trace_device *d = device ? calloc(1, sizeof *d) : NULL;
  if (!d) return;
  d->process = next_process();
  d->is_inline = is_inline(device);
  device->data = d;
  snprintf(name, sizeof name, "%s:%d", device->backend->name,
           device->ordinal);
  trace_name_process(d->process, name);
  snprintf(name, sizeof name, "memory of %s:%d", device->backend->name,
           device->ordinal);
  d->name = trace_text(name);
  if (!device->backend->stream.create) trace_stream_begin(device, NULL);
}

static void count_memory(const forward_call *call, bool is_more)
{
  trace_device *d = call->device->data;
  if (!d || !d->name || call->alloc->kind == TN_MEMORY_PINNED) return;
  uint64_t change = is_more ? call->bytes : -call->bytes;
  trace_add_memory(d->process, d->name,
                   __atomic_add_fetch(&d->allocated, change,
                                      __ATOMIC_RELAXED));
}

static void begin_life(const forward_call *call)
{
  switch (call->entry) {
  case FORWARD_device_open: opened(call->device); break;
  case FORWARD_stream_create:
  case FORWARD_stream_wrap:
    trace_stream_begin(call->device, call->stream);
    break;
  case FORWARD_alloc_alloc: count_memory(call, true); break;
  case FORWARD_alloc_free: count_memory(call, false); break;
  case FORWARD_stream_wait:
    if (!forward_is_captured(call)) trace_stream_waits(call);
    break;
  default: break;
  }
}

static void close_device(forward_device *device)
{
  trace_device *d = device->data;
  if (!d) return;
  free(d->synchronous);
  free(d);
  device->data = NULL;
}

static tn_status before(forward_call *call)
{
  switch (call->entry) {
  case FORWARD_device_open: {
    tn_status status = trace_file_open(call->backend->host);
    if (status != TN_OK) return status;
    break;
  }
  case FORWARD_stream_destroy: trace_stream_end(call->stream); break;
  default: break;
  }
  call->kept[0] = trace_now();
  return TN_OK;
}

/* Facts are asked before a device is open, too: not worth a file. */
static bool is_told(const forward_call *call)
{
  return call->entry != FORWARD_device_count &&
         call->entry != FORWARD_device_info &&
         call->entry != FORWARD_device_shutdown;
}

static void after(forward_call *call)
{
  static uint64_t last;
  uint64_t begin = call->kept[0], end = trace_now(), correlation = 0;
  bool is_queued = call->status == TN_OK && call->device &&
                   call->device->data && is_work(call->entry) &&
                   !forward_is_captured(call);
  if (is_queued) correlation = __atomic_add_fetch(&last, 1, __ATOMIC_RELAXED);
  if (is_told(call))
    trace_add_call(&(trace_call){
        forward_entry_names[call->entry], begin, end, correlation,
        call->bytes, status_name(call->status), trace_name_of(call) });
  if (is_queued) trace_stream_queued(call, begin, end, correlation);
  if (call->status == TN_OK) begin_life(call);
  trace_stream_poll(call->entry == FORWARD_stream_destroy ? NULL
                                                          : call->stream);
  if (call->entry == FORWARD_device_close) close_device(call->device);
  if (call->entry == FORWARD_device_shutdown) trace_file_flush();
}

static const forward_hooks hooks[] = {
  { .before = before, .after = after, .has_shutdown = true,
    .hides_graphs = true },
  { .before = before, .after = after, .has_shutdown = true },
};

static tn_status check_graphs(const tn_host_api *host, const char *text)
{
  if (!*text || !strcmp(text, "nodes") || !strcmp(text, "whole"))
    return TN_OK;
  return host->error(TN_INVALID_ARGUMENT, "graphs=%s: nodes and whole are "
                     "accepted", text);
}

const tn_backend_api *tn_backend_entry(const tn_host_api *host,
                                       const tn_backend_api *next)
{
  char path[PATH_MAX] = "", graphs[16] = "";
  const layer_option options[] = {
    { "file", path, sizeof path, "PATH" },
    { "graphs", graphs, sizeof graphs, "nodes or whole" },
  };
  if (next && (layer_options_read(host, options, 2) != TN_OK ||
               check_graphs(host, graphs) != TN_OK ||
               trace_file_name(host, path) != TN_OK))
    return NULL;
  bool is_whole = strcmp(graphs, "whole") == 0;
  forward_backend *backend = forward_make(host, next, hooks + is_whole);
  return backend ? &backend->api : NULL;
}
