/* What layers are made of: a backend around another one, whose every entry
 * calls a hook, the same entry of the next backend, and a hook again. An
 * entry that the next one lacks is absent here too, but for device.shutdown.
 * Handles are wrapped, addresses and points are passed as they are. Each
 * layer has a copy of this code; it imports nothing from the core. */
#ifndef TN_LAYERS_FORWARD_H
#define TN_LAYERS_FORWARD_H

#include <stdbool.h>

#include "tenon/backend.h"

/* Every entry of every table. */
#define FORWARD_DEVICE_ENTRIES(X) \
  X(device, count) X(device, info) X(device, open) X(device, close) \
  X(device, shutdown) X(device, reset) X(device, native_handle) \
  X(device, after_fork)
#define FORWARD_ALLOC_ENTRIES(X) \
  X(alloc, alloc) X(alloc, free) X(alloc, mem_info) X(alloc, host_register) \
  X(alloc, host_unregister) X(alloc, granularity) X(alloc, reserve) \
  X(alloc, release) X(alloc, map) X(alloc, unmap) X(alloc, set_access) \
  X(alloc, export_memory) X(alloc, import_memory)
#define FORWARD_COPY_ENTRIES(X) \
  X(copy, copy) X(copy, fill) X(copy, peer_query) X(copy, peer_enable) \
  X(copy, peer_disable)
#define FORWARD_LAUNCH_ENTRIES(X) \
  X(launch, module_load) X(launch, module_unload) X(launch, kernel_get) \
  X(launch, kernel_info) X(launch, occupancy) X(launch, launch)
#define FORWARD_STREAM_ENTRIES(X) \
  X(stream, create) X(stream, destroy) X(stream, wrap) X(stream, flush) \
  X(stream, record) X(stream, wait) X(stream, query) X(stream, host_wait) \
  X(stream, point_release) X(stream, elapsed) X(stream, host_function) \
  X(stream, take_error)
#define FORWARD_GRAPH_ENTRIES(X) \
  X(graph, capture_begin) X(graph, capture_after) X(graph, capture_node) \
  X(graph, capture_end) X(graph, launch) X(graph, update) X(graph, destroy)
/* math.call: a function that math.routine gave. */
#define FORWARD_MATH_ENTRIES(X) X(math, routine)
#define FORWARD_ENTRIES(X) \
  FORWARD_DEVICE_ENTRIES(X) FORWARD_ALLOC_ENTRIES(X) \
  FORWARD_COPY_ENTRIES(X) FORWARD_LAUNCH_ENTRIES(X) \
  FORWARD_STREAM_ENTRIES(X) FORWARD_GRAPH_ENTRIES(X) \
  FORWARD_MATH_ENTRIES(X) X(math, call)

typedef enum forward_entry {
#define X(table, entry) FORWARD_##table##_##entry,
  FORWARD_ENTRIES(X)
#undef X
  FORWARD_ENTRY_COUNT
} forward_entry;

/* "launch.launch" */
extern const char *const forward_entry_names[FORWARD_ENTRY_COUNT];

typedef struct forward_backend forward_backend;
typedef struct forward_call forward_call;

/* Wrapped handles. `data` and `number` are the layer's own, 0 at first. */
typedef struct forward_device {
  tn_backend_device *next;
  forward_backend *backend;
  int ordinal;
  void *data;
} forward_device;

typedef struct forward_stream {
  tn_backend_stream *next;
  forward_device *device;
  bool is_default;
  bool is_captured; /* its commands become nodes of a graph */
  uint64_t number;
  void *data;
} forward_stream;

typedef struct forward_kernel {
  tn_backend_kernel *next;
  struct forward_module *module;
  struct forward_kernel *sibling; /* of the module */
  char *name;
  void *data;
} forward_kernel;

typedef struct forward_module {
  tn_backend_module *next;
  forward_device *device;
  forward_kernel *kernels;
  char *name;
  bool is_builtin; /* one of the library's own families */
} forward_module;

typedef struct forward_graph {
  tn_backend_graph *next;
  forward_device *device;
  void *data;
} forward_graph;

/* One call of an entry, as hooks see it; fields the entry has no argument
 * for are 0. Handles of the descriptors are wrapped ones. */
struct forward_call {
  forward_entry entry;
  tn_status status; /* after */
  forward_backend *backend;
  forward_device *device, *peer;
  forward_stream *stream; /* also NULL in a backend without streams */
  forward_module *module;
  forward_kernel *kernel;
  forward_graph *graph;
  const tn_alloc_desc *alloc;
  const tn_copy_desc *copy;
  const tn_fill_desc *fill;
  const tn_backend_launch_desc *launch;
  const uint64_t *slots;
  const tn_math_call *math;
  const char *name;        /* of a math routine */
  const tn_point *points;  /* also of record, after */
  uint64_t count;          /* of points */
  tn_address address;      /* of alloc, after */
  uint64_t bytes;
  uint32_t flags;          /* of record: before may add to them */
  void (*function)(void *); /* before may put others in their place */
  void *argument;
  tn_tag tag;
  tn_error_info *failure;  /* of take_error, after: may be filled in */
  bool is_done;            /* set by before: TN_OK is answered, and the next
                            * backend not asked; for entries that give
                            * nothing but a status */
  uint64_t kept[4]; /* before's own, for after */
};

typedef struct forward_hooks {
  /* Either may be NULL. A status other than TN_OK, its text given to
   * host->error, is answered instead of calling on; entries without a status
   * ignore it. After follows every call that went on. */
  tn_status (*before)(forward_call *call);
  void (*after)(forward_call *call);
  /* Supplies device.shutdown even where the next backend has none. */
  bool has_shutdown;
  /* Offers no graph table, whatever the next backend has: the core then makes
   * the calls of a graph one by one, and the hooks see each. */
  bool hides_graphs;
} forward_hooks;

struct forward_backend {
  const forward_hooks *hooks;
  const tn_host_api *host;
  const char *name;
  void *next_self, *data;
  /* The next backend's, zeros where it has less. */
  tn_backend_device_table device;
  tn_backend_alloc_table alloc;
  tn_backend_copy_table copy;
  tn_backend_launch_table launch;
  tn_backend_stream_table stream;
  tn_backend_graph_table graph;
  tn_backend_math_table math;
  /* What the core sees. */
  tn_backend_api api;
  tn_backend_device_table own_device;
  tn_backend_alloc_table own_alloc;
  tn_backend_copy_table own_copy;
  tn_backend_launch_table own_launch;
  tn_backend_stream_table own_stream;
  tn_backend_graph_table own_graph;
  tn_backend_math_table own_math;
};

/* The backend around `next`; NULL with the error given. It is never freed. */
forward_backend *forward_make(const tn_host_api *host,
                              const tn_backend_api *next,
                              const forward_hooks *hooks);

/* Whether the call's stream is being captured by its backend, so that work
 * becomes part of a graph. */
static inline bool forward_is_captured(const forward_call *call)
{
  return call->stream && call->stream->is_captured;
}

/* "(OUT, float, y), ..." of a kernel, NULL if the backend will not say. */
const char *forward_signature(const forward_kernel *kernel);

#endif
