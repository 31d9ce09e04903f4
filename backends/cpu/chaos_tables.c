/* The plugin's tables under chaos: every call is a tick. */
#include "backends/cpu/chaos.h"
#include "backends/cpu/quarantine.h"
#include "backends/cpu/stream.h"

static const tn_backend_api *inner;
static tn_backend_api outer;
static tn_backend_alloc_table alloc_table;
static tn_backend_copy_table copy_table;
static tn_backend_launch_table launch_table;
static tn_backend_stream_table stream_table;

static tn_status chaos_alloc(tn_backend_device *device,
                             const tn_alloc_desc *desc, tn_address *address)
{
  tn_cpu_chaos_tick();
  tn_status status = inner->alloc->alloc(device, desc, address);
  /* Memory in quarantine is to be missed by nobody. */
  if (status == TN_OUT_OF_MEMORY && tn_cpu_quarantine_empty())
    status = inner->alloc->alloc(device, desc, address);
  if (!status) tn_cpu_poison(*address, desc->bytes);
  return status;
}

static void chaos_free(tn_backend_device *device, const tn_alloc_desc *desc,
                       tn_address address)
{
  tn_cpu_chaos_tick();
  tn_cpu_quarantine_add(device, desc, address);
}

/* After a call that may have queued something. */
static tn_status queued(tn_backend_stream *stream, tn_status status)
{
  if (!stream->is_inline) tn_cpu_stream_hurry(stream);
  return status;
}

static tn_status chaos_copy(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_copy_desc *desc)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->copy->copy(stream, device, desc));
}

static tn_status chaos_fill(tn_backend_stream *stream,
                            tn_backend_device *device,
                            const tn_fill_desc *desc)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->copy->fill(stream, device, desc));
}

static tn_status chaos_launch(tn_backend_stream *stream,
                              tn_backend_kernel *kernel,
                              const tn_backend_launch_desc *desc,
                              const uint64_t *slots)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->launch->launch(stream, kernel, desc, slots));
}

static tn_status chaos_record(tn_backend_stream *stream, uint32_t flags,
                              tn_point *point)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->stream->record(stream, flags, point));
}

static tn_status chaos_wait(tn_backend_stream *stream, const tn_point *points,
                            size_t count)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->stream->wait(stream, points, count));
}

static tn_status chaos_query(tn_backend_device *device, const tn_point *point)
{
  tn_cpu_chaos_tick();
  return inner->stream->query(device, point);
}

static tn_status chaos_host_wait(tn_backend_device *device,
                                 const tn_point *point, uint64_t timeout)
{
  tn_cpu_chaos_tick();
  return inner->stream->host_wait(device, point, timeout);
}

static tn_status chaos_host_function(tn_backend_stream *stream,
                                     void (*function)(void *),
                                     void *argument, tn_tag tag)
{
  tn_cpu_chaos_tick();
  return queued(stream, inner->stream->host_function(stream, function,
                                                      argument, tag));
}

static void memory_tables_make(void)
{
  alloc_table = *inner->alloc;
  alloc_table.alloc = chaos_alloc;
  alloc_table.free = chaos_free;
  copy_table = *inner->copy;
  copy_table.copy = chaos_copy;
  copy_table.fill = chaos_fill;
}

static void work_tables_make(void)
{
  launch_table = *inner->launch;
  launch_table.launch = chaos_launch;
  stream_table = *inner->stream;
  stream_table.record = chaos_record;
  stream_table.wait = chaos_wait;
  stream_table.query = chaos_query;
  stream_table.host_wait = chaos_host_wait;
  stream_table.host_function = chaos_host_function;
}

const tn_backend_api *tn_cpu_chaos_wrap(const tn_backend_api *api)
{
  inner = api;
  memory_tables_make();
  work_tables_make();
  outer = *api;
  outer.alloc = &alloc_table;
  outer.copy = &copy_table;
  outer.launch = &launch_table;
  outer.stream = &stream_table;
  outer.graph = NULL; /* each command of a graph is to be late, too */
  return &outer;
}
