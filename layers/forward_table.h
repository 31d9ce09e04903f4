/* Between the parts of the forwarding backend. */
#ifndef TN_LAYERS_FORWARD_TABLE_H
#define TN_LAYERS_FORWARD_TABLE_H

#include "layers/forward.h"

extern const tn_backend_device_table forward_device_table;
extern const tn_backend_alloc_table forward_alloc_table;
extern const tn_backend_copy_table forward_copy_table;
extern const tn_backend_launch_table forward_launch_table;
extern const tn_backend_stream_table forward_stream_table;
extern const tn_backend_graph_table forward_graph_table;
extern const tn_backend_math_table forward_math_table;

/* The wrappers behind the core's handles. */
#define DEVICE(handle) ((forward_device *)(handle))
#define STREAM(handle) ((forward_stream *)(handle))
#define MODULE(handle) ((forward_module *)(handle))
#define KERNEL(handle) ((forward_kernel *)(handle))
#define GRAPH(handle) ((forward_graph *)(handle))

/* The next backend's handle; NULL stays NULL. */
static inline tn_backend_device *next_device(tn_backend_device *device)
{
  return device ? DEVICE(device)->next : NULL;
}

static inline tn_backend_stream *next_stream(tn_backend_stream *stream)
{
  return stream ? STREAM(stream)->next : NULL;
}

/* begin_call: whether to call on. */
static inline bool begin_call(forward_call *call)
{
  const forward_hooks *hooks = call->backend->hooks;
  call->status = hooks->before ? hooks->before(call) : TN_OK;
  return call->status == TN_OK && !call->is_done;
}

static inline tn_status end_call(forward_call *call, tn_status status)
{
  const forward_hooks *hooks = call->backend->hooks;
  call->status = status;
  if (hooks->after) hooks->after(call);
  return call->status;
}

#define CALL_ON(call, next) \
  (begin_call(call) ? end_call(call, next) : (call)->status)

tn_status refuse_memory(const forward_backend *backend, const char *what);

/* The wrapper of a new stream; what the next backend made is undone without
 * memory. */
tn_status stream_made(forward_call *call, tn_backend_stream *next,
                      tn_backend_stream **out);

/* The descriptor with the next backend's handles. */
tn_copy_desc copy_for_next(const tn_copy_desc *desc);

#endif
