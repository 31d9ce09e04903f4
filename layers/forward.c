#include "layers/forward_table.h"

#include <stdlib.h>
#include <string.h>

const char *const forward_entry_names[FORWARD_ENTRY_COUNT] = {
#define X(table, entry) [FORWARD_##table##_##entry] = #table "." #entry,
  FORWARD_ENTRIES(X)
#undef X
};

tn_status refuse_memory(const forward_backend *backend, const char *what)
{
  return backend->host->error(TN_OUT_OF_MEMORY, "a layer has no memory for "
                              "a %s of backend \"%s\"", what, backend->name);
}

static void take(void *to, const void *from, size_t size)
{
  if (from) {
    size_t given;
    memcpy(&given, from, sizeof given);
    memcpy(to, from, given < size ? given : size);
  }
  memcpy(to, &size, sizeof size);
}

/* Fills ours with the entries that the next backend has. */
static void offer(forward_backend *b)
{
#define X(table, entry) \
  if (b->table.entry) b->own_##table.entry = forward_##table##_table.entry;
  FORWARD_DEVICE_ENTRIES(X)
  FORWARD_ALLOC_ENTRIES(X)
  FORWARD_COPY_ENTRIES(X)
  FORWARD_LAUNCH_ENTRIES(X)
  FORWARD_STREAM_ENTRIES(X)
  FORWARD_GRAPH_ENTRIES(X)
  FORWARD_MATH_ENTRIES(X)
#undef X
  if (b->hooks->has_shutdown)
    b->own_device.shutdown = forward_device_table.shutdown;
}

static void show(forward_backend *b, const tn_backend_api *next)
{
  tn_backend_api api = { .struct_size = sizeof api };
  take(&api, next, sizeof api);
  if (b->hooks->hides_graphs) api.graph = NULL;
  b->next_self = api.self;
  b->name = api.name;
#define TABLE(table) \
  take(&b->table, api.table, sizeof b->table); \
  b->own_##table.struct_size = sizeof b->own_##table; \
  if (api.table) api.table = &b->own_##table
  TABLE(device);
  TABLE(alloc);
  TABLE(copy);
  TABLE(launch);
  TABLE(stream);
  TABLE(graph);
  TABLE(math);
#undef TABLE
  api.self = b;
  b->api = api;
}

forward_backend *forward_make(const tn_host_api *host,
                              const tn_backend_api *next,
                              const forward_hooks *hooks)
{
  if (!next) {
    host->error(TN_BAD_PLUGIN, "is a layer, which wraps other backends: it "
                "is chosen by TENON_LAYERS");
    return NULL;
  }
  forward_backend *b = calloc(1, sizeof *b);
  if (!b) {
    host->error(TN_OUT_OF_MEMORY, "no memory for a layer of %zu bytes",
                sizeof *b);
    return NULL;
  }
  b->host = host;
  b->hooks = hooks;
  show(b, next);
  offer(b);
  return b;
}
